"""`WordTokenizer`: tokenizer of an imported translator, with a word vocabulary for each side, and its file.

Text is split at spaces. A token that the vocabulary lacks is looked up in lower case, and then split at punctuation.
The tokens themselves come from the other program's tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attnviz import bounds
from attnviz.errors import user_error
from attnviz.text import BOS, EOS, PAD, SPACE, SPECIAL_PIECES, UNK, Tokenizer, normalise, word_spans

_CONTINUES = "@@"
"""Ends a token that continues in the next one (subword-nmt)."""


class WordTokenizer(Tokenizer):
    """The target vocabulary, with the source vocabulary as `source`."""

    def __init__(self, model: bytes) -> None:
        """Take the output of `serialised`; raise ValueError where it is damaged."""
        fields = json.loads(model)
        if not isinstance(fields, dict) or not all(isinstance(fields.get(name), bool) for name in ("opened", "closed")):
            raise ValueError("it is no pair of vocabularies")
        source, target = (_tokens(fields, side) for side in ("source", "target"))
        filled: Any = fields.get("filled")
        bounds.check_whole("filled", filled, 0, bounds.LONGEST_PADDING)
        self._take(model, target, opened=False, closed=True)
        self.source = WordTokenizer.__new__(WordTokenizer)
        self.source._take(model, source, opened=fields["opened"], closed=fields["closed"], filled=filled)
        self.source.source = self.source

    def _take(self, model: bytes, tokens: Sequence[str], *, opened: bool, closed: bool, filled: int = 0) -> None:
        self._filled = filled
        self.model, self._tokens, self._opened, self._closed = model, tuple(tokens), opened, closed
        self._ids = {token: index for index, token in reversed(list(enumerate(tokens)))}
        self._spelled = any(SPACE in token for token in tokens)

    def __len__(self) -> int:
        """Return the number of tokens K, special ones included."""
        return len(self._tokens)

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of `text`, without the special pieces at its ends."""
        return [self._ids.get(token, UNK) for token in self._cut(text)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return `encode` of each text."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`; special pieces except UNK are skipped.

        Tokens are joined by spaces, or, in SentencePiece vocabularies, at the spaces that they contain.
        """
        tokens = [self._tokens[int(i)] for i in ids if i not in (PAD, BOS, EOS)]
        if self._spelled:
            return "".join(tokens).replace(SPACE, " ").strip()
        return " ".join(tokens).replace(f"{_CONTINUES} ", "")

    def piece(self, index: int) -> str:
        """Return the piece with id `index`, as in `\u2581bicycle` or `</s>`."""
        return self._piece(self._tokens[int(index)])

    def surfaces(self, text: str) -> tuple[str, ...]:
        """Return the pieces of `text` as `encode` splits it, with typed characters in place of unknown pieces."""
        return tuple(map(self._piece, self._cut(text)))

    def sentence(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of a sentence with the special pieces at its ends."""
        sentence = [*([BOS] if self._opened else []), *ids, *([EOS] if self._closed else [])]
        if self._filled and len(sentence) > self._filled:
            raise user_error(
                "This model has attention weights for {most} positions, but the sentence has {count} tokens with "
                "its end mark. Shorten the sentence.",
                most=self._filled,
                count=len(sentence),
            )
        return [*sentence, *[PAD] * (self._filled - len(sentence))]

    def sentence_surfaces(self, text: str) -> tuple[str, ...]:
        """Return `surfaces` of a sentence with the special pieces at its ends."""
        pieces = (
            *(SPECIAL_PIECES[BOS],) * self._opened,
            *self.surfaces(text),
            *(SPECIAL_PIECES[EOS],) * self._closed,
        )
        return *pieces, *(SPECIAL_PIECES[PAD],) * (self._filled - len(pieces))

    def _piece(self, token: str) -> str:
        return token if self._spelled or token in SPECIAL_PIECES else SPACE + token

    def _cut(self, text: str) -> list[str]:
        """Return the tokens of `text`, in the vocabulary's spelling where it has them."""
        tokens: list[str] = []
        for chunk in text.split():
            if known := self._known(chunk):
                tokens.append(known)
                continue
            plain = normalise(chunk)
            parts = [plain[begin:end] for begin, end in word_spans(plain)]
            tokens += [self._known(part) or part for part in parts]
        return [token if self._ids.get(token, UNK) > EOS else _plain(token) for token in tokens]

    def _known(self, token: str) -> str | None:
        return next((form for form in (token, token.lower()) if self._ids.get(form, UNK) > EOS), None)


def serialised(
    source: Sequence[str], target: Sequence[str], *, opened: bool, closed: bool = True, filled: int = 0
) -> bytes:
    """Return two vocabularies in the format of their file, each with the special pieces first.

    `opened` says that a source sentence begins with `<s>`, `closed` that it ends with `</s>`. It is `filled` with
    padding up to so many pieces.
    """
    fields = {"source": list(source), "target": list(target), "opened": opened, "closed": closed, "filled": filled}
    return (json.dumps(fields, ensure_ascii=False, indent=0) + "\n").encode("utf-8")


def _tokens(fields: Mapping[str, Any], side: str) -> list[str]:
    tokens = fields.get(side)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"the tokens of the {side} must be texts")
    if tuple(tokens[:4]) != SPECIAL_PIECES:
        raise ValueError(f"the first four tokens of the {side} must be {', '.join(SPECIAL_PIECES)}")
    "".join(tokens).encode("utf-8")  # a lone surrogate cannot be displayed
    return tokens


def _plain(token: str) -> str:
    """Return an unknown token for display; one spelled like a special piece gets other brackets."""
    return "\u2039" + token[1:-1] + "\u203a" if token in SPECIAL_PIECES else token
