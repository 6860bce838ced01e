"""Text: normalisation, length limits, SentencePiece tokenizer, pieces grouped into words, labels, bidi isolates."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

from attnviz.errors import AttnvizError
from attnviz.files import file_errors
from attnviz.languages import gettext

PAD, UNK, BOS, EOS = 0, 1, 2, 3
"""Ids of the special pieces, the same in every tokenizer of this project."""

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
_UNKNOWN_SIGN = "\u2047"
"""Character that decoding writes for `<unk>`."""
SPACE = "\u2581"
"""SentencePiece's visible space, which begins every piece that follows a space."""

LONGEST_SENTENCE = 200
"""Words of the longest sentence that is translated; models are not trained for longer ones."""
LONGEST_TEXT = 20 * LONGEST_SENTENCE
"""Characters of the longest sentence."""


def sentence_placeholder() -> str:
    """Return what an empty box for a sentence says."""
    return gettext("Type an English sentence of up to {most} words.", most=LONGEST_SENTENCE)


_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201b": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "`": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u201f": '"',
        "\u00ab": '"',
        "\u00bb": '"',
    }
)

# A word is a French elided article or pronoun (l', qu', jusqu'), a run of letters and digits that may contain
# apostrophes, hyphens and decimal points, or one punctuation mark.
_WORD = re.compile(
    r"(?i:(?<!\w)(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w))|\w+(?:['.,-]\w+)*|[^\w\s]",
)


_UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9d"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
"""A letter of a script without spaces between words: Thai, Lao, Burmese, Khmer, Tai, Chinese, kana."""

CONTINUED = "\u2060"
"""Begins a piece with further bytes of the character before it, which follows; an invisible word joiner."""

ISOLATE, POP = "\u2068", "\u2069"
"""Unicode's first strong isolate and its end (UAX #9): text in between does not reorder text around it."""


_LISTED = 10
"""Number of items that `abbreviated` lists."""


def abbreviated(items: Iterable[object], separator: str = ", ", count: int | None = None) -> str:
    """Return a list as text: the first ten items, and the number of all where there are more.

    With `count`, this number, further items are not made.
    """
    texts = [str(item) for item in (items if count is None else islice(items, _LISTED))]
    count = len(texts) if count is None else count
    return separator.join(texts[:_LISTED]) + (f" … ({count})" if count > _LISTED else "")


def is_too_long(text: str) -> bool:
    """Return whether a sentence has more than LONGEST_SENTENCE words or LONGEST_TEXT characters."""
    return len(text) > LONGEST_TEXT or len(text.split()) > LONGEST_SENTENCE


class _CharacterMap(dict[int, int]):
    """Map for `str.translate` that a function makes, character by character, as they occur."""

    def __init__(self, change: Callable[[int], int]) -> None:
        self._change = change

    def __missing__(self, character: int) -> int:
        changed = self[character] = self._change(character)
        return changed


def _letter(character: int) -> int:
    """Return a letter in place of a combining mark or a joiner."""
    return (
        ord("a") if unicodedata.category(chr(character)).startswith("M") or character in (0x200C, 0x200D) else character
    )


_LETTERS = _CharacterMap(_letter)


def is_combining(character: str) -> bool:
    """Return whether a character is a combining mark or a joiner, which belongs to the letter before it."""
    return character.translate(_LETTERS) != character


@functools.lru_cache(maxsize=4096)
def isolated(text: str) -> str:
    """Return a text, with isolates where it has right-to-left letters, so that it does not reorder its surroundings."""
    if text.isascii() or text.startswith(ISOLATE):
        return text
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return f"{ISOLATE}{text}{POP}"
    return text


def without_isolates(text: str) -> str:
    """Return a text without the isolates that `isolated` adds."""
    return text.replace(ISOLATE, "").replace(POP, "")


def normalise(text: str) -> str:
    """Return `text` normalised as in tokenizer training.

    NFKC; typographic apostrophes and quotation marks become plain ones; control characters become spaces; invisible
    format characters are removed; lone surrogates become U+FFFD; white space collapses to single spaces.
    """
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    characters = []
    for character in text:
        category = unicodedata.category(character)
        if category == "Cf":
            continue
        if category == "Cs":
            character = "\ufffd"
        elif category == "Cc":
            character = " "
        characters.append(character)
    return " ".join("".join(characters).split())


def word_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return begin and end of each word of `text`.

    Words are runs of letters and digits, French elisions (`l'`), and single punctuation marks. Combining marks belong
    to the letter before them.
    """
    return tuple(match.span() for match in _WORD.finditer(text.translate(_LETTERS)))


class Tokenizer:
    """A SentencePiece model shared by both languages, with ids PAD, UNK, BOS, EOS at 0 to 3."""

    def __init__(self, model: bytes) -> None:
        """Take a serialised SentencePiece model; raise ValueError where it is invalid or has other special ids."""
        self.model = model
        self.source: Tokenizer = self
        """Tokenizer of source sentences: the same, unless a subclass has two vocabularies."""
        # Imported here: reading and drawing attention needs no SentencePiece.
        import sentencepiece

        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
            # Read all pieces: in a damaged file any of them may be invalid text.
            self._pieces = tuple(map(str, self._processor.IdToPiece([*range(len(self))])))
        except (RuntimeError, IndexError) as error:
            raise ValueError(f"not a SentencePiece model: {error}") from error
        if (special := self._pieces[: len(SPECIAL_PIECES)]) != SPECIAL_PIECES:
            raise ValueError(f"its first four pieces are {special}, not {SPECIAL_PIECES}")

    def __len__(self) -> int:
        """Return the number of pieces K, special ones included."""
        return int(self._processor.GetPieceSize())

    def encode(self, text: str) -> list[int]:
        """Return the ids of the pieces of the normalised `text`, without BOS or EOS."""
        return list(self._processor.EncodeAsIds(normalise(text)))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return `encode` of each text, computed in two threads."""
        return list(self._processor.Encode([normalise(text) for text in texts], num_threads=2))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`; special pieces except UNK are skipped."""
        return str(self._processor.DecodeIds([int(i) for i in ids if i not in (PAD, BOS, EOS)])).strip()

    def piece(self, index: int) -> str:
        """Return the piece with id `index`, as in `\u2581bicycle` or `</s>`."""
        return self._pieces[int(index)]

    def pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the pieces of `ids`."""
        return tuple(self.piece(i) for i in ids)

    def surfaces(self, text: str) -> tuple[str, ...]:
        """Return the pieces of `text` as `encode` splits it, with typed characters in place of unknown pieces."""
        return tuple(self._processor.EncodeAsPieces(normalise(text)))

    def sentence(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of a sentence with the special pieces at its ends."""
        return [*ids, EOS]

    def sentence_surfaces(self, text: str) -> tuple[str, ...]:
        """Return `surfaces` of a sentence with the special pieces at its ends."""
        return (*self.surfaces(text), SPECIAL_PIECES[EOS])

    def unknown_characters(self, text: str) -> tuple[str, ...]:
        """Return the character sequences of `text` that the tokenizer does not know, each once, in order."""
        cut = zip(self.surfaces(text), self.encode(text), strict=True)
        unknown = [piece.strip(SPACE) or piece for piece, index in cut if index == UNK]
        return tuple(dict.fromkeys(unknown))

    @classmethod
    def train(cls, sentences: Iterable[str], vocabulary_size: int, seed: int = 1) -> Tokenizer:
        """Train a byte-pair-encoding model of `vocabulary_size` pieces on `sentences` of both languages.

        Text that is too short for so many pieces gives fewer. Raise AttnvizError where it has more characters than
        that.
        """
        import io

        import sentencepiece

        sentencepiece.set_random_generator_seed(seed)
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=(normalise(sentence) for sentence in sentences),
                model_writer=model,
                model_type="bpe",
                vocab_size=vocabulary_size,
                hard_vocab_limit=False,
                normalization_rule_name="identity",
                character_coverage=0.9998,
                input_sentence_size=1_000_000,
                # Split digits: otherwise the full stop after a year forms a piece with its last digits.
                split_digits=True,
                shuffle_input_sentence=True,
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                pad_piece="<pad>",
                num_threads=2,
                minloglevel=2,
            )
        except (RuntimeError, OSError) as error:
            raise AttnvizError(
                f"The tokenizer cannot be trained with {vocabulary_size} pieces on this text ({error}). "
                "Give more text or a larger vocabulary."
            ) from error
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a tokenizer file; raise AttnvizError, naming the file, where that fails."""
        with file_errors(path):
            return cls(Path(path).read_bytes())


def word_groups(pieces: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the pieces of each word, in order; every piece is in exactly one group.

    A word is a run of letters and digits, a French elision (`l'`), or a punctuation mark; a piece that spans two words
    belongs to the one it begins in. In scripts without spaces each piece is a word. `<unk>`, `<s>` and `</s>` are words
    of their own.
    """
    surface, starts = "", []
    for piece in pieces:
        if piece in SPECIAL_PIECES:
            surface += " "
            starts.append(len(surface))
            surface += "\ue000 "
        elif piece.startswith(CONTINUED):
            starts.append(len(surface))
        else:
            blank = len(piece) - len(piece.lstrip(SPACE))
            starts.append(len(surface) + min(blank, len(piece) - 1))
            surface += piece.replace(SPACE, " ")
    ends = [end for _, end in word_spans(surface)]
    groups: list[list[int]] = []
    word, last = 0, -1
    for index, start in enumerate(starts):
        if pieces[index].startswith(CONTINUED) and groups:
            groups[-1].append(index)
            continue
        while word < len(ends) and ends[word] <= start:
            word += 1
        if word == last and not (index and _apart(surface, start)):
            groups[-1].append(index)
        else:
            groups.append([index])
        last = word
    return tuple(tuple(group) for group in groups)


def _apart(surface: str, start: int) -> bool:
    """Return whether a word begins inside a run of letters: a neighbouring letter is of a script without spaces."""
    around = surface[start - 1 : start + 1]
    if start < 1 or len(around) < 2 or around[0] == " " or is_combining(around[1]):
        return False
    return _UNSPACED.search(around) is not None


def typed_surfaces(pieces: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the pieces of `text`, with the typed characters in place of each `<unk>`.

    Pieces of another text, such as those of a search that chose `<unk>`, are returned unchanged.
    """
    pieces = tuple(pieces)
    unknown = SPECIAL_PIECES[UNK]
    if unknown not in pieces or _UNKNOWN_SIGN in text:
        return pieces
    remaining, offset, surfaces = SPACE + normalise(text).replace(" ", SPACE), 0, []
    for index, piece in enumerate(pieces):
        if piece == unknown:
            # An unknown stretch ends where the next piece begins: it has no known character.
            following = pieces[index + 1] if index + 1 < len(pieces) else SPECIAL_PIECES[EOS]
            end = len(remaining) if following in SPECIAL_PIECES else remaining.find(following, offset + 1)
            if end <= offset:
                return pieces
            piece, offset = remaining[offset:end], end
        elif piece not in SPECIAL_PIECES:
            if not remaining.startswith(piece, offset):
                return pieces
            offset += len(piece)
        surfaces.append(piece)
    return tuple(surfaces)


def _symbol(character: int) -> int:
    """Return a symbol in place of a character without a glyph."""
    if character <= 0x1F:
        return 0x2400 + character
    if character == 0x7F:
        return 0x2421
    has_none = unicodedata.category(chr(character)) in ("Cc", "Cs", "Zl", "Zp") or character & 0xFFFE == 0xFFFE
    return 0xFFFD if has_none else character


_SYMBOLS = _CharacterMap(_symbol)


def with_symbols(text: str) -> str:
    """Return `text` with symbols for control characters, such as ␛ for ESC, and U+FFFD for others without a glyph.

    XML, so SVG too, cannot hold most of them, and a page shows nothing in their place.
    """
    return text if text.isprintable() else text.translate(_SYMBOLS)


def follows_space(piece: str) -> bool:
    """Return whether a space precedes a piece in a text, unless it is the first."""
    return piece.startswith(SPACE) or piece in SPECIAL_PIECES


def join_pieces(pieces: Iterable[str]) -> str:
    """Return the text of consecutive pieces, without outer spaces; `\u2581bi`, `cycle` gives `bicycle`."""
    text = "".join(piece for place, piece in enumerate(pieces) if not place or not piece.startswith(CONTINUED))
    return with_symbols(text.removeprefix(CONTINUED).replace(SPACE, " ").strip())


BLANK_NAME = "␣"
"""Label of a piece that is only a space, for which SentencePiece has a black bar."""

CONTINUES = "·"
"""Begins the label of a piece that continues a word, unless that is only punctuation."""


def piece_name(piece: str) -> str:
    """Return the label of a piece: `bi`, which begins a word, `·cycle`, which continues one, or `.`, which is alone."""
    if piece in SPECIAL_PIECES:
        return piece
    piece = with_symbols(piece)
    if not piece.strip(SPACE):
        return BLANK_NAME
    if piece.startswith(SPACE):
        return piece.removeprefix(SPACE)
    bare = piece.removeprefix(CONTINUED)
    return CONTINUES + bare if any(map(str.isalnum, bare)) else bare
