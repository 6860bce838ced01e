"""Convert other programs' tokens to pieces in SentencePiece style, and undo the escapes of Moses' tokenizer.

Programs mark the beginning of a word in different ways: a visible space before it (SentencePiece), a sign for a space
(byte-level BPE), a mark on continuations (WordPiece, subword-nmt, joiners), or no mark where tokens are words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from attnviz.errors import AttnvizError, user_error
from attnviz.text import CONTINUED, SPACE, SPECIAL_PIECES, word_groups

LONGEST_TOKEN = 200
"""Characters of the longest accepted token."""
MOST_TOKENS = 1000
"""Largest number of tokens on a side; figures of more stop a browser."""
ENDS = frozenset({"</s>", "<eos>", "<EOS>", "[SEP]", "<sep>", "<|endoftext|>", "<end>"})
_SPECIAL = (
    dict.fromkeys(ENDS, "</s>")
    | dict.fromkeys(("<s>", "<sos>", "<SOS>", "<bos>", "<BOS>", "[CLS]", "<cls>", "<start>"), "<s>")
    | dict.fromkeys(("<unk>", "<UNK>", "[UNK]", "<|unk|>"), "<unk>")
    | dict.fromkeys(("<pad>", "<PAD>", "[PAD]", "<blank>"), "<pad>")
)
"""Other programs' names of the special pieces, and ours."""
_CONTROL = re.compile(r"<\|[^|]{1,40}\|>")
"""A special token of language models."""
_AT_AN_END = re.compile(
    r"__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}|>>[a-z]{2,3}(?:_[A-Za-z]{2,8})?<<|<2[a-z]{2,3}>|SOS|EOS"
)
"""A token that is special at the ends of a sentence only.

Language codes of M2M100, NLLB, mBART, MarianMT and MADLAD; the names in PyTorch's tutorial.
"""
_BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")
"""A byte piece (SentencePiece's byte fallback)."""
BYTES, JOINER, _CONTINUES, WORDPIECE = "Ġ", "￭", "@@", "##"
WORD_END = "</w>"
"""Mark of the last token of a word: XLM, FSMT and the first subword-nmt."""


class Pieces(NamedTuple):
    """The tokens of one side as pieces."""

    pieces: tuple[str, ...]
    words: tuple[int, ...]
    """0-based word of each piece; -1 for a special token, which is no word."""


def are_special(tokens: Sequence[str], special: Collection[str] = ()) -> list[bool]:
    """Return of each token whether it is special, and so no word: one of `special`, or one with a known spelling.

    `<s>`, `[CLS]`, `</s>`, `[SEP]` and `<pad>` are special anywhere, language codes such as `__fr__` at the ends of a
    sentence. `<unk>` stands for a word.
    """
    found = [
        token in special or (_SPECIAL.get(token, "<s>" if _CONTROL.fullmatch(token) else "<unk>") != "<unk>")
        for token in tokens
    ]
    for places in (range(len(tokens)), reversed(range(len(tokens)))):
        for place in places:
            if not found[place] and not _AT_AN_END.fullmatch(tokens[place]):
                break
            found[place] = True
    return found


def has_assumed_special(tokens: Sequence[str], special: Collection[str]) -> bool:
    """Return whether a token besides `special` is special by its spelling; an end at the end need not be said."""
    marks = are_special(tokens, special)
    if tokens[-1] in ENDS:
        marks[-1] = False
    return any(mark and token not in special for token, mark in zip(tokens, marks, strict=True))


def to_pieces(tokens: Sequence[str], special: Collection[str] = ()) -> Pieces:
    """Return `tokens` as pieces; those that `are_special` are no words.

    Raise AttnvizError where a token is empty, too long or no text.
    """
    for number, token in enumerate(tokens, 1):
        check_token(number, token)
    marks = are_special(tokens, special)
    found = _pieces_of_words_and_marks(["</s>" if mark else token for token, mark in zip(tokens, marks, strict=True)])
    numbers = dict[int, int]()
    return Pieces(
        tuple(
            _SPECIAL.get(token, token) if mark else piece
            for token, mark, piece in zip(tokens, marks, found.pieces, strict=True)
        ),
        tuple(
            -1 if mark else numbers.setdefault(word, len(numbers))
            for mark, word in zip(marks, found.words, strict=True)
        ),
    )


def _pieces_of_words_and_marks(tokens: Sequence[str]) -> Pieces:
    """Return the pieces of tokens, where a special token is a word of its own."""
    tokens = _decode_byte_pieces(tokens)
    plain = [token for token in tokens if token not in _SPECIAL]
    if any(SPACE in token for token in plain):
        return _pieces_of_marked_tokens(tokens, str)
    if any(token.startswith(BYTES) for token in plain):
        return _pieces_of_byte_tokens(tokens)
    if any(token.endswith(WORD_END) for token in plain):
        return _pieces_of_ended_words(tokens, WORD_END)
    ended = [len(token) > 1 and token.endswith("_") for token in plain]
    if sum(ended) > 1 and ended[-1] and not all(ended):  # tensor2tensor ends each word so, also the last
        return _pieces_of_ended_words(tokens, "_")
    if any(token.startswith(WORDPIECE) for token in plain):
        return _pieces_of_marked_tokens(
            tokens, lambda token: token[2:] if token.startswith(WORDPIECE) else SPACE + token
        )
    return _pieces_of_words(tokens)


def _decode_byte_pieces(tokens: Sequence[str]) -> Sequence[str]:
    """Return tokens with runs of byte pieces (`<0xC3>`, `<0xA9>`) decoded to characters."""
    if not any(_BYTE.fullmatch(token) for token in tokens):
        return tokens
    decoded = list[str]()
    for is_bytes, run in groupby(tokens, lambda token: _BYTE.fullmatch(token) is not None):
        group = list(run)
        decoded += spell_bytes([bytes([int(token[3:5], 16)]) for token in group], group) if is_bytes else group
    return decoded


def spell_bytes(parts: Sequence[bytes], otherwise: Sequence[str]) -> list[str]:
    """Return the texts of parts of a run of bytes.

    A character belongs to the part with its first byte; a part with only further bytes of it is CONTINUED and the
    character. `otherwise` spells a part with invalid UTF-8.
    """
    data = b"".join(parts)
    owners = [number for number, part in enumerate(parts) for _ in part]
    texts, continued, damaged = [""] * len(parts), dict[int, str](), set[int]()
    offset = 0
    while offset < len(data):
        size = next((n for n in (1, 2, 3, 4) if _is_utf8(data[offset : offset + n])), 0)
        character = data[offset : offset + size].decode("utf-8") if size else ""
        if not character or not (character.isprintable() or character == " "):
            damaged.add(owners[offset])
        else:
            texts[owners[offset]] += SPACE if character == " " else character
            for owner in owners[offset + 1 : offset + size]:
                continued.setdefault(owner, character)
        offset += max(size, 1)
    return [
        otherwise[number] if number in damaged else texts[number] or CONTINUED + continued.get(number, "\ufffd")
        for number in range(len(parts))
    ]


def _is_utf8(part: bytes) -> bool:
    try:
        return len(part.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def too_many_tokens(count: int) -> AttnvizError:
    """Return the error for a side with more tokens than can be shown."""
    return user_error(
        "The source or the target has {count} tokens; at most {most} can be shown.", count=count, most=MOST_TOKENS
    )


def check_token(number: int, token: object) -> None:
    """Raise AttnvizError unless `token` is displayable text that is not blank; `number` counts from 1."""
    if not isinstance(token, str) or not token.strip():
        raise user_error(
            "Token {number} is empty or not a string: every token must have at least one visible character.",
            number=number,
        )
    if len(token) > LONGEST_TOKEN:
        raise user_error(
            "Token {number} has {count} characters; at most {most} can be shown.",
            number=number,
            count=len(token),
            most=LONGEST_TOKEN,
        )
    if any("\ud800" <= character <= "\udfff" for character in token):
        raise user_error(
            "Token {number} holds half a character (a lone surrogate), which cannot be shown.", number=number
        )


def _pieces_of_marked_tokens(tokens: Sequence[str], piece: Callable[[str], str]) -> Pieces:
    """Return tokens whose marks encode spaces; words are found in the joined text, as in this program's own pieces."""
    pieces = tuple(_SPECIAL.get(token) or piece(token) or token for token in tokens)
    return Pieces(pieces, tuple(word for word, group in enumerate(word_groups(pieces)) for _ in group))


def _pieces_of_ended_words(tokens: Sequence[str], mark: str) -> Pieces:
    """Return tokens of which the last of each word ends in `mark`: `bi cycle</w>`."""
    pieces, words, word, begins = list[str](), list[int](), -1, True
    for token in tokens:
        bare = token.removesuffix(mark) or token
        word += begins or token in _SPECIAL
        pieces.append(_SPECIAL.get(token) or (SPACE + bare if begins else bare))
        words.append(word)
        begins = token in _SPECIAL or token.endswith(mark)
    return Pieces(tuple(pieces), tuple(words))


def _pieces_of_byte_tokens(tokens: Sequence[str]) -> Pieces:
    """Return tokens of byte-level BPE, whose letters stand for bytes and Ġ for a space.

    The first of a text, which stands after a special token, has no Ġ.
    """
    spelled = list[str]()
    for special, run in groupby(tokens, lambda token: token in _SPECIAL):
        group = list(run)
        spelled += group if special else _from_bytes(group)
    for place, before in enumerate(["</s>", *spelled[:-1]]):
        if before == "</s>" and spelled[place] not in _SPECIAL and not spelled[place].startswith(SPACE):
            spelled[place] = SPACE + spelled[place]
    return _pieces_of_marked_tokens(spelled, str)


def _from_bytes(tokens: Sequence[str]) -> list[str]:
    """Return the texts of consecutive tokens of byte-level BPE, whose letters stand for bytes."""
    byte_of_letter = _letters_of_bytes()
    plain = [token.replace(BYTES, SPACE) for token in tokens]
    parts = [bytes(byte_of_letter.get(letter, 0xFF) for letter in token) for token in tokens]
    if any(letter not in byte_of_letter for token in tokens for letter in token):
        return plain
    return spell_bytes(parts, [part.decode("utf-8", "replace").replace(" ", SPACE) for part in parts])


@cache
def _letters_of_bytes() -> dict[str, int]:
    """Return the byte of each letter of byte-level BPE (Radford et al. 2019).

    Printable bytes stand for themselves; the others map in order to the characters from U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


def _pieces_of_words(tokens: Sequence[str]) -> Pieces:
    """Return tokens that are words, or parts of words with a joining mark: `bi@@ cycle`, `bicycle ￭,`."""
    pieces, words, word, joined = list[str](), list[int](), -1, False
    for token in tokens:
        if token in _SPECIAL:
            pieces.append(_SPECIAL[token])
            word, joined = word + 1, False
        else:
            core = token.removeprefix(JOINER)
            continues = token.startswith(CONTINUED) or joined or (core != token and bool(core))
            bare = core.removesuffix(_CONTINUES).removesuffix(JOINER)
            joined = bool(bare) and bare != core
            pieces.append(bare or token)
            if not continues or word < 0 or pieces[-2] in SPECIAL_PIECES:
                pieces[-1] = SPACE + pieces[-1]
                word += 1
        words.append(word)
    return Pieces(tuple(pieces), tuple(words))


_ESCAPES = {
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&bar;": "|",
    "&bra;": "[",
    "&ket;": "]",
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&quot;": '"',
    "&amp;": "&",
}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))
_HYPHEN = re.compile("@(\\S)@")
"""A hyphen or slash split off by the tokenizer's option -a."""


def is_escaped(tokens: Iterable[str]) -> bool:
    """Return whether any token has escapes of Moses' tokenizer."""
    return any(_ESCAPE.search(token) or _HYPHEN.fullmatch(token) for token in tokens)


def unescaped(tokens: Sequence[str], joiner: str = JOINER) -> list[str]:
    """Return `tokens` without escapes; `@-@` becomes a hyphen between two of `joiner`, as in `￭-￭`."""
    plain = [_ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], token) for token in tokens]
    return [_HYPHEN.sub(rf"{joiner}\1{joiner}", token) if _HYPHEN.fullmatch(token) else token for token in plain]


def unescaped_text(text: str) -> str:
    """Return a text of tokens separated by spaces without escapes; `@-@` joins the words beside it."""
    return " ".join(unescaped(text.split())).replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def detokenise(words: Sequence[str]) -> str:
    """Return tokenised `words` as text: punctuation and elided words joined to their neighbours."""
    text = " ".join(words)
    text = re.sub(r" ([,.;:!?%)\]]|'(?:s|re|ve|ll|d|m)\b|n't\b)", r"\1", text)
    text = re.sub(r"([(\[]|(?<!\w)(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)') ", r"\1", text, flags=re.IGNORECASE)
    return re.sub(r"(?<=\w) - (?=\w)", "-", text)
