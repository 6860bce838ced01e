"""Read NumPy files: .npy with a matrix or an array with batch, layer and head dimensions, and .npz with tokens too.

Joey NMT's Python interface and others return such arrays. An .npz may also hold one array for each sentence. Nothing is
unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, ArchiveReader
from attnviz.importing.file_content import NPY, ZIP, Content
from attnviz.importing.format import Format
from attnviz.importing.formats.json_object import MATRICES, SOURCES, TARGETS
from attnviz.importing.heads import split_batch
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

LARGEST = 64 << 20
"""Largest total size of the arrays of a file, in bytes."""
MOST_NUMBERS = 16 << 20
"""Largest number of elements of one array: 128 MB in float64, whatever the file's type."""
_MOST_TEXTS = 1_000_000
"""Largest number of tokens of all sentences of a file."""
_EXTRAS = ("energies", "states", "gradient", "erased")
_PADDING = ("", "<pad>", "<PAD>", "[PAD]", "<blank>")


def detect(content: Content) -> str | None:
    """Return why the file is .npy, or an archive of such files; None otherwise."""
    if content.data.startswith(NPY):
        return gettext("The file begins like NumPy’s .npy files.")
    if content.data.startswith(ZIP) and any(name.endswith(".npy") for name in _names(content.data)):
        return gettext("The file is an archive of arrays, as numpy.savez writes them.")
    return None


def _names(data: bytes) -> list[str]:
    """Return the member names of an archive; none where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except DAMAGED:
        return []


def read(content: Content) -> Sentences:
    """Return the sentences of the file; their number is inferred from the tokens, and is one where there are none."""
    return sentences(content, None)


def sentences(content: Content, count: int | None) -> Sentences:
    """Return the sentences of the file; `count` is their number where known."""
    try:
        if content.data.startswith(NPY):
            return sentences_of({"matrix": _array(content.data)}, count)
        return sentences_of(_archive(content.data), count)
    except DAMAGED as error:
        raise AttnvizError(
            gettext("This NumPy file is damaged, or holds more than plain arrays ({error}).", error=str(error)[:80])
        ) from error


def sentences_of(fields: Mapping[str, Any], count: int | None, title: str = "") -> Sentences:
    """Return the sentences in arrays and tokens; tokens may be of one sentence or of several."""
    matrix = fields["matrix"]
    if isinstance(matrix, list):
        return Sentences(matrix, lambda one: SentencePair({"matrix": one}), title)
    tokens = {side: _tokens_by_sentence(fields[side]) for side in ("source", "target") if side in fields}
    several = [len(side) for side in tokens.values() if side is not None]
    batch = split_batch(matrix, max(several, default=count or 0) or None)
    items = []
    for index, one in enumerate(batch.sentences):
        pair: dict[str, Any] = {"matrix": one}
        for side in ("source", "target"):
            lists = tokens.get(side)
            if lists is not None:
                pair[side] = lists[index] if index < len(lists) else []
            elif side in fields:
                pair[side] = fields[side]
        pair |= {"kind": fields["kind"]} if "kind" in fields else {}
        pair |= {name: fields[name] for name in _EXTRAS if name in fields and len(batch.sentences) == 1}
        items.append(pair)
    rows = "either" if len(items) > 1 else "target"
    return Sentences(items, lambda one: SentencePair(one, rows=rows, padded=batch.padded), title)  # type: ignore[arg-type]


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
        fields |= {name: array(lowered[name]) for name in _EXTRAS if name in lowered}
        if "matrix" not in fields:
            numbered = [f"arr_{place}" for place in range(len(members))]
            if set(numbered) == set(members):
                several = [array(name) for name in numbered]
                fields["matrix"] = several if len(several) > 1 else several[0]
    if "matrix" not in fields:
        raise AttnvizError(
            gettext(
                "No float array of the file has a known name for weights, such as {names}. The arrays of the "
                "file are {found}.",
                names=", ".join(MATRICES[:4]),
                found=", ".join(members)[:80] or "–",
            )
        )
    return fields


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


FORMAT = Format("numpy", "NumPy", detect, read, near_miss_message, ("npy", "npz", "joey", "neuralmonkey"))
