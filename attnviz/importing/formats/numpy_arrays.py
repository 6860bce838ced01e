"""Read NumPy files: .npy with a matrix or an array with batch, layer and head dimensions, and .npz with tokens too.

Joey NMT's Python interface and others return such arrays. An .npz may also hold one array for each sentence. That of
one pair may have further arrays (`EXTRAS`, `PARTS`), named as the columns of `export.attention_table`. Nothing is
unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, ArchiveReader
from attnviz.importing.format import Format
from attnviz.importing.formats.json_object import MATRICES, SOURCES, TARGETS, link_pairs
from attnviz.importing.heads import HeadChoice, split_batch
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import NPY, ZIP, Content
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.link_text import Links
from attnviz.trace.parts import KINDS

LARGEST = 64 << 20
"""Largest total size of the arrays of a file, in bytes."""
MOST_NUMBERS = 16 << 20
"""Largest number of elements of one array: 128 MB in float64, whatever the file's type."""
_MOST_TEXTS = 1_000_000
"""Largest number of tokens of all sentences of a file."""
EXTRAS = ("energies", "states", "gradient", "erased")
_GOLD = ("sure", "possible")
_WORDS = ("source_word_of", "target_word_of")
TEXTS = ("format", "kind", "origin", "remarks")
PARTS = ("links", *_GOLD, *_WORDS, *HeadChoice._fields, *TEXTS)
"""Further arrays of one pair: links (N, 2) from 0, the word of each token, the heads to show, and texts."""
_OF_ONE = ("links", "gold", "words")
"""Fields that only an archive of one pair may have."""
_PADDING = ("", "<pad>", "<PAD>", "[PAD]", "<blank>")


def read(content: Content, count: int | None = None) -> Sentences | None:
    """Return the sentences of .npy, or of an archive of such files; None for another file. `count` is their number.

    Without it, their number is inferred from the tokens, and is one where there are none.
    """
    is_single = content.data.startswith(NPY)
    if not is_single and not (content.data.startswith(ZIP) and any(n.endswith(".npy") for n in _names(content.data))):
        return None
    try:
        fields = {"matrix": _array(content.data)} if is_single else _archive(content.data)
        found = sentences_of(fields, count)
    except DAMAGED as error:
        raise AttnvizError(
            gettext("This NumPy file is damaged, or holds more than plain arrays ({error}).", error=str(error)[:80])
        ) from error
    reason = gettext("The file is an archive of arrays, as numpy.savez writes them.")
    return replace(found, reason=gettext("The file begins like NumPy’s .npy files.") if is_single else reason)


def _names(data: bytes) -> list[str]:
    """Return the member names of an archive; none where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except DAMAGED:
        return []


def sentences_of(fields: Mapping[str, Any], count: int | None, title: str = "") -> Sentences:
    """Return the sentences in arrays and tokens; tokens may be of one sentence or of several."""
    matrix = fields.get("matrix")
    if isinstance(matrix, list):
        _check_single(len(matrix), fields)
        return Sentences(matrix, lambda one: SentencePair({"matrix": one}), title)
    tokens = {side: _tokens_by_sentence(fields[side]) for side in ("source", "target") if side in fields}
    several = [len(side) for side in tokens.values() if side is not None]
    if matrix is None:
        _check_single(max(several, default=1), fields)
        links = Links(frozenset(link_pairs(fields["links"])))
        known = {name: value for name, value in fields.items() if name != "links"}
        return Sentences([known], lambda one: SentencePair(one, links), title)
    batch = split_batch(matrix, max(several, default=count or 0) or None)
    _check_single(len(batch.sentences), fields)
    items, alone = [], len(batch.sentences) == 1
    for index, one in enumerate(batch.sentences):
        pair: dict[str, Any] = {"matrix": one}
        for side in ("source", "target"):
            lists = tokens.get(side)
            if lists is not None:
                pair[side] = lists[index] if index < len(lists) else []
            elif side in fields:
                pair[side] = fields[side]
        pair |= {name: value for name, value in fields.items() if name not in pair and (alone or name not in EXTRAS)}
        items.append(pair)
    rows = "target" if alone else "either"
    return Sentences(
        items,
        lambda one: SentencePair(one, rows=rows, padded=batch.padded),  # type: ignore[arg-type]
        title,
        remarks=() if alone or fields.keys().isdisjoint(EXTRAS) else ("pair-arrays-ignored",),
    )


def _check_single(count: int, fields: Mapping[str, Any]) -> None:
    """Raise AttnvizError where a file of several pairs has links or words, which are of one pair."""
    if count > 1 and (single := [name for name in _OF_ONE if name in fields]):
        raise AttnvizError(
            gettext(
                "The file has {count} sentence pairs, but its fields {names} fit only one pair. Save one file for "
                "each sentence pair.",
                count=count,
                names=", ".join(single),
            )
        )


def _tokens_by_sentence(tokens: Any) -> list[list[str]] | None:
    """Return the tokens of several sentences, without padding; None where they are of one sentence."""
    if not isinstance(tokens, Sequence) or isinstance(tokens, str) or not tokens or isinstance(tokens[0], str):
        return None
    return [[str(token) for token in sentence if str(token) not in _PADDING] for sentence in tokens]


def _archive(data: bytes) -> dict[str, Any]:
    """Return the arrays of a .npz file that have a known name, under their names in the open format."""
    fields: dict[str, Any] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist()}
        reader = ArchiveReader(archive, LARGEST)
        lowered = {name.lower(): name for name in members}

        def array(name: str) -> Any:
            return _array(reader.read(members[name]))

        for field, names in (("matrix", MATRICES), ("source", SOURCES), ("target", TARGETS)):
            for name in names:
                if name in lowered and field not in fields:
                    values = array(lowered[name])
                    if (values.dtype.kind == "f") == (field == "matrix"):
                        fields[field] = values if field == "matrix" else _texts(values)
        fields |= {name: array(lowered[name]) for name in EXTRAS if name in lowered}
        fields |= parts_of({name: array(lowered[name]) for name in PARTS if name in lowered})
        if "matrix" not in fields:
            numbered = [f"arr_{place}" for place in range(len(members))]
            if set(numbered) == set(members):
                several = [array(name) for name in numbered]
                fields["matrix"] = several if len(several) > 1 else several[0]
    if not {"matrix", "links"} & {*fields}:
        raise AttnvizError(
            gettext(
                "No float array of the file has a known name for weights, such as {names}. The arrays of the "
                "file are {found}.",
                names=", ".join(MATRICES[:4]),
                found=", ".join(members)[:80] or "–",
            )
        )
    return fields


def parts_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the fields of the open format in the arrays `PARTS`; raise AttnvizError where they have other values."""
    values = {name: _text(name, array) if name in TEXTS else _whole(name, array) for name, array in arrays.items()}
    fields: dict[str, Any] = {name: values[name] for name in ("links", "origin", "remarks") if name in values}
    fields |= {"kind": values["kind"]} if values.get("kind") in KINDS else {}
    fields |= {"format": values["format"]} if values.get("format") == Attention.saved_as.name else {}
    for field, names in (("gold", _GOLD), ("words", _WORDS), ("heads", HeadChoice._fields)):
        if found := {name.removesuffix("_word_of"): values[name] for name in names if name in values}:
            fields[field] = found
    return fields


def _whole(name: str, array: NDArray[Any]) -> Any:
    """Return whole numbers as a list, or one of them; raise AttnvizError for other values or dimensions."""
    dimensions = 2 if name in (*_GOLD, "links") else 1 if name in _WORDS else 0
    if not array.size and dimensions:
        return []
    plain = array.dtype.kind == "f" and array.ndim == dimensions
    if not plain or not (np.abs(array) < MOST_NUMBERS).all() or (array != np.round(array)).any():
        raise AttnvizError(
            gettext(
                "The array {name} has unexpected values. All values must be whole numbers from 0. Each link has two "
                "numbers, for its source token and its target token. Arrays of words have one number for each token. "
                "The layer and the head are one number each.",
                name=name,
            )
        )
    return array.astype(np.int64).tolist()


def _text(name: str, array: NDArray[Any]) -> Any:
    """Return a text, or the list of remarks; raise AttnvizError for other values or dimensions."""
    if array.dtype.kind != "U" or array.ndim != (name == "remarks"):
        raise AttnvizError(gettext("The array {name} must be a text.", name=name))
    return array.tolist()


def _texts(array: NDArray[Any]) -> Any:
    """Return the strings of an array: one sentence, or one for each row; a 0-dimensional array as one string.

    Raise AttnvizError where there are too many, before any is converted.
    """
    if array.ndim == 0:
        return str(array)
    several = array.ndim == 2 and len(array) > 1
    longest = array.shape[1] if several else array.size
    if longest > MOST_TOKENS + 1 or array.size > _MOST_TEXTS:
        raise AttnvizError(
            gettext(
                "The source or the target has {count} tokens; at most {most} can be shown.",
                count=longest,
                most=MOST_TOKENS,
            )
        )
    if several:
        return [[str(text) for text in row] for row in array]
    return [str(text) for text in array.ravel()]


def _array(content: bytes) -> NDArray[Any]:
    """Return an array of numbers or strings; raise ValueError for another type, or where the header claims too much."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in "fiubUS" or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    if math.prod(shape) * dtype.itemsize > min(LARGEST, len(content)):
        raise ValueError("an array claims more than the file has")
    if math.prod(shape) > MOST_NUMBERS:
        raise ValueError(f"an array of {math.prod(shape):,} numbers; at most {MOST_NUMBERS:,} are read")
    array: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    return array.astype(np.float64) if array.dtype.kind in "fiub" else array


def near_miss_message(content: Content) -> str | None:
    """Return the message for an archive without arrays; None for other content."""
    if not content.data.startswith(ZIP):
        return None
    names = ", ".join(_names(content.data))[:80]
    return gettext(
        "The file is an archive without NumPy or PyTorch arrays; it holds {names}. Unpack the archive; if the "
        "file is a spreadsheet, export it as CSV instead.",
        names=names or "–",
    )


FORMAT = Format("numpy", "NumPy", read, near_miss_message, ("npy", "npz", "joey", "neuralmonkey"))
