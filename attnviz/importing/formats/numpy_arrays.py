"""Read NumPy files: .npy with a matrix or an array with batch, layer and head dimensions, and .npz with tokens too.

Joey NMT's Python interface and others return such arrays. An .npz may also hold one array for each sentence. That of
one pair may have further arrays (`_EXTRAS`, `_INDICES`, `_TEXTS`), named as the columns of `export.attention_table`.
Nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, ArchiveReader
from attnviz.importing.format import Format
from attnviz.importing.formats.json_formats import NAMES, by_name, pair_of
from attnviz.importing.heads import HeadChoice, split_batch
from attnviz.importing.sentence_pair import Orientation, SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import NPY, ZIP, Content
from attnviz.trace import MOST_TOKENS, Attention
from attnviz.trace.parts import KINDS

LARGEST = 64 << 20
"""Largest total size of the arrays of a file, in bytes."""
MOST_NUMBERS = 16 << 20
"""Largest number of elements of one array: 128 MB in float64, whatever the file's type."""
_MOST_TEXTS = 1_000_000
"""Largest number of tokens of all sentences of a file."""
_EXTRAS = ("energies", "states", "gradient", "erased")
"""Further arrays of numbers of one pair."""
_INDICES = {"links": 2, "sure": 2, "possible": 2, "source_word_of": 1, "target_word_of": 1, "layer": 0, "head": 0}
"""Numbers of dimensions of arrays of indices of one pair: links (N, 2), the word of each token, the heads to show."""
_TEXTS = ("format", "kind", "origin", "remarks")
_OBJECTS = {"gold": ("sure", "possible"), "words": ("source_word_of", "target_word_of"), "heads": HeadChoice._fields}
"""Fields of the open format that hold several arrays."""
_OF_ONE = ("links", "gold", "words")
"""Fields that only an archive of one pair may have."""
_PADDING = ("", "<pad>", "<PAD>", "[PAD]", "<blank>")


def read(content: Content, count: int | None = None) -> Sentences | None:
    """Return the sentences of .npy, or of an archive of such files; None for another file. `count` is their number.

    Without it, their number is inferred from the tokens, and is one where there are none.
    """
    try:
        if content.data.startswith(NPY):
            reason = gettext("The file begins like NumPy’s .npy files.")
            return sentences_of({"matrix": _array(content.data)}, count, reason=reason)
        names = _names(content)
        if not any(name.endswith(".npy") for name in names):
            return None
        reason = gettext("The file is an archive of arrays, as numpy.savez writes them.")
        with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
            reader, members = ArchiveReader(archive, LARGEST), {name.removesuffix(".npy"): name for name in names}

            def load(name: str) -> Any:
                array = _array(reader.read(members[name]))
                return array if array.dtype.kind == "f" else _texts(array)

            numbered = [f"arr_{place}" for place in range(len(members))]
            several = [load(name) for name in numbered] if {*numbered} == {*members} else []
            return sentences_of({"matrix": several} if several else fields_of(members, load), count, reason=reason)
    except DAMAGED as error:
        raise AttnvizError(
            gettext("This NumPy file is damaged, or holds more than plain arrays ({error}).", error=str(error)[:80])
        ) from error


def _names(content: Content) -> list[str]:
    """Return the member names of an archive; none of other content, or where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content.data if content.data.startswith(ZIP) else b"")) as archive:
            return archive.namelist()
    except DAMAGED:
        return []


def _array(content: bytes) -> NDArray[Any]:
    """Return an array of numbers or strings; raise ValueError for another type, or where the header claims too much."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.kind not in "fiubUS" or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    if math.prod(shape) * dtype.itemsize > min(LARGEST, len(content)):
        raise ValueError("an array claims more than the file has")
    if math.prod(shape) > MOST_NUMBERS:
        raise ValueError(f"an array of {math.prod(shape):,} numbers; at most {MOST_NUMBERS:,} are read")
    array: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    if dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    return array if dtype.kind == "U" else array.astype(np.float64)


def _texts(array: NDArray[Any]) -> Any:
    """Return the strings of an array: one sentence, or one for each row; a 0-dimensional array as one string.

    Raise AttnvizError where there are too many, before any is converted.
    """
    if array.ndim != 2 or len(array) == 1:
        array = array.ravel() if array.ndim else array
    longest = array.shape[-1] if array.ndim else 1
    if longest > MOST_TOKENS + 1 or array.size > _MOST_TEXTS:
        raise AttnvizError(
            gettext(
                "The source or the target has {count} tokens; at most {most} can be shown.",
                count=longest,
                most=MOST_TOKENS,
            )
        )
    return array.tolist()


def fields_of(names: Iterable[Any], load: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the fields of the open format in the arrays of these names, ignoring case, of which `load` returns one.

    An array is numbers in float64, or texts as a string or list. Raise AttnvizError where there are neither weights
    nor links, or arrays have unexpected values.
    """
    known = by_name({name: name for name in names})
    fields = dict[str, Any]()
    for field in ("matrix", "source", "target"):
        for name in NAMES[field]:
            if name in known and field not in fields:
                value = load(known[name])
                if isinstance(value, np.ndarray) == (field == "matrix"):
                    fields[field] = value
    parts = {name: load(known[name]) for name in (*_EXTRAS, *_INDICES, *_TEXTS) if name in known}
    for name, values in (("kind", KINDS), ("format", (Attention.saved_as.name,))):
        if not isinstance(parts.get(name), str) or parts[name] not in values:
            parts.pop(name, None)
    parts |= {name: _indices(name, value) for name, value in parts.items() if name in _INDICES}
    parts |= {name: _text(name, value) for name, value in parts.items() if name in _TEXTS}
    for field, inner in _OBJECTS.items():
        if found := {name.removesuffix("_word_of"): parts.pop(name) for name in inner if name in parts}:
            fields[field] = found
    if not {"matrix", "links"} & {*fields, *parts}:
        raise AttnvizError(
            gettext(
                "No array of numbers has a known name for weights, such as {names}. The arrays are named {found}. "
                "Rename the array of the weights.",
                names=", ".join(NAMES["matrix"][:4]),
                found=", ".join(map(str, names))[:80] or "–",
            )
        )
    return fields | parts


def _indices(name: str, array: Any) -> Any:
    """Return whole numbers as a list, or one of them; raise AttnvizError for other values or dimensions."""
    fits = isinstance(array, np.ndarray) and (array.ndim == _INDICES[name] or not array.size)
    if not fits or not (np.abs(array) < MOST_NUMBERS).all() or (array != np.round(array)).any():
        raise AttnvizError(
            gettext(
                "The array {name} has unexpected values. All values must be whole numbers from 0. Each link has two "
                "numbers, for its source token and its target token. Arrays of words have one number for each token. "
                "The layer and the head are one number each.",
                name=name,
            )
        )
    return array.astype(np.int64).tolist()


def _text(name: str, value: Any) -> Any:
    """Return a text, or the list of remarks; raise AttnvizError for other values."""
    texts = value if name == "remarks" and isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise AttnvizError(gettext("The array {name} must be a text.", name=name))
    return texts if name == "remarks" else value


def sentences_of(fields: Mapping[str, Any], count: int | None, title: str = "", reason: str = "") -> Sentences:
    """Return the sentences in arrays and tokens; tokens may be of one sentence or of several."""
    matrix = fields.get("matrix")
    tokens = {side: _by_sentence(fields[side]) for side in ("source", "target") if side in fields}
    listed = {side: sentences for side, sentences in tokens.items() if sentences is not None}
    several = max(map(len, listed.values()), default=0)
    if isinstance(matrix, np.ndarray):
        sentences, padded = split_batch(matrix, several or count or 0)
    else:  # one array for each sentence, or links without weights
        sentences, padded = matrix or [fields] * several, False
    alone = len(sentences) < 2
    if not alone and (single := [name for name in _OF_ONE if name in fields]):
        raise AttnvizError(
            gettext(
                "The file has {count} sentence pairs, but its fields {names} fit only one pair. Save one file for "
                "each sentence pair.",
                count=len(sentences),
                names=", ".join(single),
            )
        )
    if matrix is None:
        return Sentences([fields], pair_of, title, reason=reason)
    common = {name: value for name, value in fields.items() if alone or name not in _EXTRAS}
    items = [
        common | {side: [*lists[index : index + 1], []][0] for side, lists in listed.items()} | {"matrix": one}
        for index, one in enumerate(sentences)
    ]
    rows: Orientation = "either" if padded and not alone else "target"
    return Sentences(
        items,
        lambda fields: SentencePair(fields, rows=rows, padded=padded),
        title,
        remarks=() if common.keys() == fields.keys() else ("pair-arrays-ignored",),
        reason=reason,
    )


def _by_sentence(tokens: Any) -> list[list[str]] | None:
    """Return the tokens of several sentences, without padding; None where they are of one sentence."""
    if not isinstance(tokens, Sequence) or not tokens or not all(isinstance(one, (list, tuple)) for one in tokens):
        return None
    return [[str(token) for token in sentence if str(token) not in _PADDING] for sentence in tokens]


def near_miss_message(content: Content) -> str | None:
    """Return the message for an archive without arrays; None for other content."""
    if not content.data.startswith(ZIP):
        return None
    return gettext(
        "The file is an archive without NumPy or PyTorch arrays; it holds {names}. Unpack the archive; if the "
        "file is a spreadsheet, export it as CSV instead.",
        names=", ".join(_names(content))[:80] or "–",
    )


FORMAT = Format(
    "numpy",
    "NumPy",
    read,
    near_miss_message,
    ("npy", "npz", "joey", "neuralmonkey"),
    example=(
        "`.npy` or `.npz` arrays of shape (Ty, Tx), which may also have dimensions for batch, layer and head before "
        "these two; arrays of Neural Monkey have shape (batch, Tx, Ty)"
    ),
    written_by='`np.savez("a.npz", source=…, target=…, attention=…)`, Joey NMT, Neural Monkey',
)
