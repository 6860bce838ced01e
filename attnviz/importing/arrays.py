"""Attention in NumPy's files: a matrix alone (.npy), or with its tokens (.npz), as Joey NMT's Python interface and
others' return them. Nothing is unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED
from attnviz.importing.found import AttentionFile, Found
from attnviz.languages import gettext

NPY, NPZ = b"\x93NUMPY", b"PK\x03\x04"
"""How the files begin."""
LARGEST = 64 << 20
"""Bytes of one array."""
_MATRICES = ("matrix", "alignment", "attention", "attention_probs", "attentions", "weights")
_NAMES = {
    **dict.fromkeys(_MATRICES, "matrix"),
    "source": "source",
    "src": "source",
    "source_tokens": "source",
    "target": "target",
    "trg": "target",
    "tgt": "target",
    "target_tokens": "target",
    "tokens": "target",
    "energies": "energies",
    "states": "states",
}
"""The names that arrays may have, and what each is in the open format; `attention_probs` and `tokens` are Joey's."""


def array_file(content: bytes) -> AttentionFile:
    """Return the one sentence of a .npy or .npz file; raise AttnvizError where it holds none."""
    try:
        if content.startswith(NPY):
            return AttentionFile("NumPy", [{"matrix": _array(content)}], _found)
        return AttentionFile("NumPy", [_archive(content)], _found)
    except DAMAGED as error:
        raise AttnvizError(
            gettext("This NumPy file is damaged, or holds more than plain arrays ({error}).", error=str(error)[:80])
        ) from error


def _found(fields: dict[str, Any]) -> Found:
    matrix = fields["matrix"]
    if matrix.ndim == 3 and len(matrix) == 1:
        return Found(fields | {"matrix": matrix[0]})
    if matrix.ndim == 3:
        raise AttnvizError(
            gettext("The array holds {count} matrices: give one, of a head or the mean of several.", count=len(matrix))
        )
    return Found(fields)


def _archive(content: bytes) -> dict[str, Any]:
    """Return the arrays of a .npz file that have a name known here, by their names in the open format."""
    fields: dict[str, Any] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {one.filename.removesuffix(".npy"): one for one in archive.infolist()}
        for name, field in _NAMES.items():
            if name in members and field not in fields:
                if members[name].file_size > LARGEST:
                    raise ValueError("an array is too large")
                array = _array(archive.read(members[name]))
                fields[field] = array if array.dtype.kind == "f" else [str(text) for text in array.ravel()]
    if "matrix" not in fields or isinstance(fields["matrix"], list):
        raise AttnvizError(
            gettext(
                "The file has no array of weights named {names}; it has {found}.",
                names=", ".join(_MATRICES[:3]),
                found=", ".join(members)[:80] or "–",
            )
        )
    return fields


def _array(content: bytes) -> NDArray[Any]:
    """Return an array of numbers or texts; ValueError where it is of another kind, or claims more than it has."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in "fiubU" or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    if math.prod(shape) * dtype.itemsize > min(LARGEST, len(content)):
        raise ValueError("an array claims more than the file has")
    array: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return array.astype(np.float64) if array.dtype.kind in "fiub" else array
