"""Encode sentences and translations as ids, and collect them into padded batches; refuse blank and too long ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from attnviz import bounds
from attnviz.arguments import check_text, check_texts
from attnviz.errors import locate_errors, user_error
from attnviz.languages import gettext
from attnviz.text import BOS, EOS, LONGEST_SENTENCE, LONGEST_TEXT, PAD, UNK, Tokenizer, is_too_long

T = TypeVar("T")

_LONGEST_PIECES = 1200


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the indices of the sentences of each batch, of similar `lengths` in pieces, longest first.

    A batch has at most `most` pieces, padding included; a longer sentence is a batch of its own.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and (len(groups[-1]) + 1) * lengths[index] <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [batch[::-1] for batch in groups]


def padded(sentences: Sequence[Any]) -> Tensor:
    """Return B sequences of ids as one int64 tensor (B, longest), filled with PAD."""
    rows = np.full((len(sentences), max(map(len, sentences))), PAD, dtype=np.int64)
    for row, ids in zip(rows, sentences, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(rows)


def sentence_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the ids of a source sentence, EOS last; raise AttnvizError where it is blank or too long."""
    return _ids(tokenizer.source, text, gettext("sentence"))


def all_sentence_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the ids of each sentence, EOS last.

    Raise AttnvizError, with the sentence's number, where one is blank or too long.
    """
    check_texts(texts)
    return _numbered("Sentence", texts, lambda text: sentence_ids(tokenizer, text))


def target_ids(tokenizer: Tokenizer, target: str | Sequence[int]) -> list[int]:
    """Return the ids, EOS last, of a translation given as text or as ids.

    Raise AttnvizError where it is blank, too long or no translation.
    """
    what = gettext("translation")
    if isinstance(target, str):
        return _ids(tokenizer, target, what)
    if not isinstance(target, Sequence | np.ndarray) or not all(hasattr(piece, "__index__") for piece in target):
        raise user_error(
            "A translation must be a text or a sequence of piece ids, not {found}.",
            found=bounds.shortened_repr(target),
        )
    ids = [int(piece) for piece in target]
    _check_pieces(what, len(ids) - 1)
    inside = all(UNK <= piece < len(tokenizer) and piece not in (BOS, EOS) for piece in ids[:-1])
    if not inside or ids[-1:] != [EOS]:
        raise user_error("A translation given as piece ids must use ids of the vocabulary and end with the id of </s>.")
    return ids


def all_target_ids(tokenizer: Tokenizer, targets: Sequence[str | Sequence[int]], count: int) -> list[list[int]]:
    """Return the ids of each of `count` translations, EOS last.

    Raise AttnvizError, with the translation's number, as `target_ids`, and where there are more or fewer.
    """
    if isinstance(targets, str) or not isinstance(targets, Sized) or len(targets) != count:
        raise user_error(
            "The number of translations must be {count}: one for each sentence, in the same order.", count=count
        )
    return _numbered("Translation", targets, lambda target: target_ids(tokenizer, target))


def _numbered(what: str, items: Iterable[T], encode: Callable[[T], list[int]]) -> list[list[int]]:
    """Return the ids of each item; the message of an error begins with `what` it is and its number, from 1."""
    encoded = []
    for number, item in enumerate(items, 1):
        with locate_errors(f"{what} {number}"):
            encoded.append(encode(item))
    return encoded


def _ids(tokenizer: Tokenizer, text: str, what: str) -> list[int]:
    """Return the ids of `text` with the special pieces at its ends.

    Raise AttnvizError, which calls the text `what`, where it is no text, blank or too long.
    """
    check_text(what, text)
    if is_too_long(text):
        words = len(text.split())
        raise user_error(
            "The {what} has {count} words; at most {most} can be shown. Shorten the {what}."
            if words > LONGEST_SENTENCE
            else "The {what} has {count} characters; at most {most} can be shown. Shorten the {what}.",
            what=what,
            count=words if words > LONGEST_SENTENCE else len(text),
            most=LONGEST_SENTENCE if words > LONGEST_SENTENCE else LONGEST_TEXT,
        )
    ids = tokenizer.encode(text)
    if not ids:
        raise user_error("The {what} is empty. Type a {what}.", what=what)
    _check_pieces(what, len(ids))
    return tokenizer.sentence(ids)


def _check_pieces(what: str, count: int) -> None:
    """Raise AttnvizError where a text, which the message calls `what`, has too many pieces before EOS."""
    if count > _LONGEST_PIECES:
        raise user_error(
            "The {what} splits into {count} pieces; at most {most} can be shown. Shorten the {what}.",
            what=what,
            count=count,
            most=_LONGEST_PIECES,
        )
