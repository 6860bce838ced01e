"""Read NumPy files: .npy with a matrix or an array with batch, layer and head dimensions, and .npz with tokens too.

Joey NMT's Python interface and others return such arrays. An .npz may also hold one array for each sentence. That of
one pair may have further arrays (`PARTS`), named as the columns of `export.attention_files`.
Nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import user_error
from attnviz.file_kinds import NPY, ZIP
from attnviz.files import DAMAGED, ArchiveReader
from attnviz.importing.format import Format
from attnviz.importing.formats.json_formats import FIELD_NAMES, MOST_INDEX, by_name, pair_from_json
from attnviz.importing.head_dimensions import split_batch
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import LIMITS, Content
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.attention_record import FURTHER
from attnviz.trace.parts import HEAD_KINDS
from attnviz.trace.tokens import too_many_tokens

_MOST_TEXTS = 1_000_000
"""Largest number of tokens of all sentences of a file."""
_INDICES = ("links", "sure", "possible", "source_word_of", "target_word_of", "layer", "head")
"""Arrays of indices of one pair: links (N, 2), the word of each token, the heads to show."""
PARTS = (*FURTHER, *_INDICES, "format", "kind", "origin", "remarks")
"""Names of all further arrays of one pair."""
_OBJECTS = {"gold": ("sure", "possible"), "words": ("source_word_of", "target_word_of"), "heads": ("layer", "head")}
"""Fields of the open format that hold several arrays."""
_OF_ONE = ("links", "gold", "words")
"""Fields that only an archive of one pair may have."""
_PADDING = ("", "<pad>", "<PAD>", "[PAD]", "<blank>")


def _read(content: Content, count: int | None = None) -> Sentences | None:
    """Return the sentences of .npy, or of an archive of such files; None for another file. `count` is their number.

    Without it, their number is inferred from the tokens, and is one where there are none.
    """
    names = [member.filename for member in archive_members(content)]
    try:
        if content.data.startswith(NPY):
            reason = gettext("The file begins like NumPy’s .npy files.")
            fields = {"matrix": _array(content.data)}
        elif any(name.endswith(".npy") for name in names):
            reason = gettext("The file is an archive of arrays, as numpy.savez writes them.")
            fields = _fields(content, {name.removesuffix(".npy"): name for name in names})
        else:
            return None
    except DAMAGED as error:
        raise user_error(
            "This NumPy file is damaged, or holds more than plain arrays ({error}).", error=str(error)[:80]
        ) from error
    return sentences_from_arrays(fields, count, reason=reason)


def archive_members(content: Content) -> list[zipfile.ZipInfo]:
    """Return the members of an archive; none of other content, or where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content.data if content.data.startswith(ZIP) else b"")) as archive:
            return archive.infolist()
    except DAMAGED:
        return []


def _fields(content: Content, members: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields in the arrays of an archive, whose members have these names."""
    with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
        reader = ArchiveReader(archive, LIMITS.bytes)

        def load(name: str) -> Any:
            return _array(reader.read(name))

        numbered = [members[name] for place in range(len(members)) if (name := f"arr_{place}") in members]
        return {"matrix": [*map(load, numbered)]} if len(numbered) == len(members) else fields_of(members, load)


def _array(content: bytes) -> Any:
    """Return an array of numbers in float64, or the texts of one of strings.

    Raise ValueError for another type, or where the header claims too much, and AttnvizError where it is too large.
    """
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.kind not in "fiubUS" or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    count = math.prod(shape)
    if count * dtype.itemsize > len(content):
        raise ValueError("an array claims more than the file has")
    LIMITS.check(values=count)
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if dtype.kind in "US":
        return _texts(array if dtype.kind == "U" else np.char.decode(array, "utf-8"))
    return array.astype(np.float64)


def _texts(array: NDArray[Any]) -> Any:
    """Return the strings of an array: one sentence, or one for each row; a 0-dimensional array as one string.

    Raise AttnvizError where there are too many, before any is converted.
    """
    if array.ndim > 2 or array.shape[:-1] == (1,):
        array = array.ravel()
    longest = array.shape[-1] if array.ndim else 1
    if longest > MOST_TOKENS + 1 or array.size > _MOST_TEXTS:
        raise too_many_tokens(longest)
    return array.tolist()


def fields_of(stored: Mapping[Any, Any], load: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the fields of the open format in `stored`, by their names, ignoring case.

    `load` returns a value: an array of numbers, or texts as a string or list. Raise AttnvizError where there are
    neither weights nor links.
    """
    known = by_name(stored)
    fields, further = dict[str, Any](), False
    for field in ("matrix", "source", "target"):
        names = [name for name in FIELD_NAMES[field] if name in known]
        for place, name in enumerate(names, 1):
            value = load(known[name])
            if isinstance(value, np.ndarray) == (field == "matrix"):
                fields[field] = value
                further |= field == "matrix" and place < len(names)
                break
    parts = {name: load(known[name]) for name in PARTS if name in known}
    parts |= {name: _indices(parts[name]) for name in _INDICES if name in parts}
    for field, inner in _OBJECTS.items():
        if found := {name.removesuffix("_word_of"): parts.pop(name) for name in inner if name in parts}:
            fields[field] = found
    for name, values in (("kind", HEAD_KINDS), ("format", (Attention.saved_as.name,))):
        if str(parts.get(name)) not in values:
            parts.pop(name, None)
    if isinstance(parts.get("remarks"), str):
        parts["remarks"] = [parts["remarks"]]
    if further:
        parts["remarks"] = [*(parts.get("remarks") or []), "one-of-several"]
    if not {"matrix", "links"} & {*fields, *parts}:
        raise user_error(
            "No array of numbers has a known name for weights, such as {names}. The arrays are named {found}. "
            "Rename the array of the weights; such a file holds one pair.",
            names=", ".join(FIELD_NAMES["matrix"][:4]),
            found=", ".join(map(str, stored))[:80] or "–",
        )
    return fields | parts


def _indices(values: Any) -> Any:
    """Return whole numbers as an int or lists of int, and [None], which `from_fields` refuses, for other values."""
    fits = isinstance(values, np.ndarray) and values.size <= 2 * MOST_TOKENS**2
    if not fits or not ((np.abs(values) < MOST_INDEX) & (values == np.round(values))).all():
        return [None]
    return values.astype(np.int64).tolist()


def sentences_from_arrays(fields: Mapping[str, Any], count: int | None, title: str = "", reason: str = "") -> Sentences:
    """Return the sentences in arrays and tokens; tokens may be of one sentence or of several."""
    matrix = fields.get("matrix")
    listed = {side: found for side in ("source", "target") if (found := _by_sentence(fields.get(side)))}
    several = max(map(len, listed.values()), default=0)
    if isinstance(matrix, np.ndarray):
        sentences, padded = split_batch(matrix, several or count or 0)
    else:  # one array for each sentence, or links without weights
        sentences, padded = matrix or [None] * max(several, 1), False
    alone = len(sentences) == 1
    if not alone and (single := [name for name in _OF_ONE if name in fields]):
        raise user_error(
            "The file has {count} sentence pairs, but its fields {names} fit only one pair. Save one file for "
            "each sentence pair.",
            count=len(sentences),
            names=", ".join(single),
        )
    common = {name: value for name, value in fields.items() if alone or name not in FURTHER}
    items = [
        common | {side: [*lists[index : index + 1], []][0] for side, lists in listed.items()} | {"matrix": one}
        for index, one in enumerate(sentences)
    ]

    def read(item: Mapping[str, Any]) -> SentencePair:
        if matrix is None:
            return pair_from_json(item)
        return SentencePair(item, rows="either" if padded and not alone else "target", padded=padded)

    remarks = () if common.keys() == fields.keys() else ("pair-arrays-ignored",)
    return Sentences(items, read, title, remarks=remarks, reason=reason)


def _by_sentence(tokens: Any) -> list[list[str]]:
    """Return the tokens of several sentences, without padding; none where they are of one sentence."""
    if not isinstance(tokens, Sequence) or not tokens or not all(isinstance(one, (list, tuple)) for one in tokens):
        return []
    return [[str(token) for token in sentence if str(token) not in _PADDING] for sentence in tokens]


def _near_miss_message(content: Content) -> str | None:
    """Return the message for an archive without arrays; None for other content."""
    if not content.data.startswith(ZIP):
        return None
    return gettext(
        "The file is an archive without NumPy or PyTorch arrays; it holds {names}. Unpack the archive; if the "
        "file is a spreadsheet, export it as CSV instead.",
        names=", ".join(member.filename for member in archive_members(content))[:80] or "–",
    )


NUMPY_ARRAYS = Format(
    "numpy",
    "NumPy",
    _read,
    _near_miss_message,
    ("npy", "npz", "joey", "neuralmonkey"),
    example=(
        "`.npy` or `.npz` arrays of shape (Ty, Tx), which may also have dimensions for batch, layer and head before "
        "these two; arrays of Neural Monkey have shape (batch, Tx, Ty)"
    ),
    written_by='`np.savez("a.npz", source=…, target=…, attention=…)`, Joey NMT, Neural Monkey',
)
