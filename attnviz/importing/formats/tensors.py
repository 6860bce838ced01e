"""Read PyTorch files (.pt) with `weights_only=True`, and tensors in memory.

Accepted are one tensor, a dict of tensors and tokens, the tuple of a forward pass (one tensor for each layer), that of
`generate` (one tuple of layers for each step), and the whole output of a forward pass or of `generate`, whose
`beam_indices` say which beam each step of a translation belongs to.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED
from attnviz.importing.file_content import ZIP, Content
from attnviz.importing.format import Format
from attnviz.importing.formats.generated import (
    check_rows,
    generated_fields,
    is_generated,
    is_output,
    output_fields,
    stacked,
)
from attnviz.importing.formats.json_object import MATRICES, SOURCES, TARGETS, named
from attnviz.importing.formats.numpy_arrays import sentences_of
from attnviz.importing.sentence_pair import Sentences
from attnviz.languages import gettext

_LEGACY = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""PyTorch's magic number at the beginning of files written before version 1.6."""
LARGEST = 64 * 10**6
"""Largest size of all numbers, in bytes."""


def detect(content: Content) -> str | None:
    """Return why the file was written by torch.save; None otherwise."""
    head = content.data[:256]
    if (content.data.startswith(ZIP) and b"/data.pkl" in head) or (head[:1] == b"\x80" and _LEGACY in head):
        return gettext("The file begins like a file written by torch.save.")
    return None


def read(content: Content) -> Sentences:
    """Return the sentences of the file; their number is inferred."""
    return sentences(content, None)


def sentences(content: Content, count: int | None) -> Sentences:
    """Return the sentences of the file; `count` is their number where known. Raise AttnvizError where it is damaged."""
    import torch

    if _is_compressed(content.data):
        raise AttnvizError(
            gettext(
                "This PyTorch file is compressed, which torch.save never does. Save the file again with torch.save."
            )
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecation warnings for old files
            value = torch.load(io.BytesIO(content.data), map_location="cpu", weights_only=True)
    # Damaged pickles raise nearly any exception, also those of the pickle module, which must not be imported here.
    except Exception as error:
        raise AttnvizError(
            gettext(
                "This PyTorch file is damaged, or holds other things than tensors, numbers and strings. Save a tensor, "
                "a tuple of tensors, or a dict with source, target and matrix."
            )
        ) from error
    return sentences_in(value, count)


def sentences_in(value: Any, count: int | None) -> Sentences:
    """Return the sentences in tensors or arrays in memory; raise AttnvizError where they hold no attention."""
    title = "PyTorch"
    if is_output(value):
        fields = output_fields(value, _numbers)
        check_rows(fields["matrix"], count)
        return sentences_of(fields, count, "Hugging Face")
    if is_generated(value):
        fields = generated_fields(value, None, _numbers)
        check_rows(fields["matrix"], count)
        return sentences_of(fields, count, "Hugging Face, generate")
    if isinstance(value, Mapping):
        fields = {}
        for field, names in (("matrix", MATRICES), ("source", SOURCES), ("target", TARGETS)):
            if (entry := named({str(name): tensor for name, tensor in value.items()}, names)) is not None:
                fields[field] = _array(entry[1]) if field == "matrix" else entry[1]
        if "matrix" not in fields:
            raise AttnvizError(
                gettext(
                    "No tensor has a known name for weights, such as {names}. The names found are {found}. "
                    "Rename one tensor.",
                    names=", ".join(MATRICES[:4]),
                    found=", ".join(map(str, value))[:80] or "–",
                )
            )
        return sentences_of(fields, count, title)
    return sentences_of({"matrix": _array(value)}, count, title)


def _array(value: Any) -> NDArray[np.float64]:
    """Return weights as one array: layers stacked on the first axis, steps of `generate` concatenated as rows."""
    if is_generated(value):
        weights: NDArray[np.float64] = generated_fields(value, None, _numbers)["matrix"]
        return weights
    if not isinstance(value, (tuple, list)):
        return _numbers(value)
    if not value:
        raise AttnvizError(gettext("The list of tensors is empty."))
    if isinstance(value[0], (tuple, list)):
        return _numbers(value)  # plain lists of numbers
    return stacked([_numbers(tensor) for tensor in value])


def _numbers(value: Any) -> NDArray[np.float64]:
    """Return one tensor, array or list in float64; raise AttnvizError where it is no numbers, or too large."""
    try:
        if hasattr(value, "detach"):
            # An expanded tensor in a small file may stand for any number of elements.
            if 8 * value.numel() > LARGEST:
                raise _too_large()
            value = value.detach().to("cpu").double().numpy()
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise AttnvizError(gettext("The attention weights are not numbers: {error}.", error=str(error)[:80])) from error
    if array.nbytes > LARGEST:
        raise _too_large()
    return array


def _too_large() -> AttnvizError:
    return AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST // 10**6))


def _is_compressed(data: bytes) -> bool:
    """Return whether an archive has compressed members, which may claim any size; torch.save never compresses."""
    if not data.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(
                member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data)
                for member in archive.infolist()
            )
    except DAMAGED:
        return False  # torch.load raises a clearer error


FORMAT = Format("torch", "PyTorch", detect, read, aliases=("pt", "huggingface", "generate"))
