"""Encode results as JSON with compressed arrays, and decode and validate such JSON."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from attnviz.arguments import check_version
from attnviz.errors import AttnvizError, locate_errors, user_error
from attnviz.languages import gettext
from attnviz.trace.interventions import Intervention, from_json_dict, to_json_dict

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class FileFormat:
    """Format name and version of the files of one class."""

    name: str
    version: int


LARGEST = 2**28
"""Largest size of all arrays of a result together, in bytes.

Three times the size for the longest sentence with 1000 units. Without a limit, a small file could claim sizes that fill
the memory.
"""

FORMAT_NAMES: Mapping[str, Callable[[], str]] = {
    "attnviz-trace": lambda: gettext("recurrent translator"),
    "attnviz-transformer-trace": lambda: "transformer",
    "attnviz-judgement": lambda: gettext("decomposable attention"),
}
"""Format name of the results of each class, with a function that returns their models in words."""


def read_file(path: str | Path, read: Callable[[str], _Result]) -> _Result:
    """Return `read` of the text in `path`; raise AttnvizError, naming the file, where that fails."""
    try:
        with locate_errors(str(path)):
            return read(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise AttnvizError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise AttnvizError(f"{path} is not a text file, so it cannot be a trace file.") from error


def encode_fields(fields: Mapping[str, Any], saved_as: FileFormat) -> str:
    """Return the fields of a result as JSON."""
    record: dict[str, Any] = {"format": saved_as.name, "version": saved_as.version} | {
        name: _encode(value) for name, value in fields.items()
    }
    return json.dumps(record, separators=(",", ":"))


def decode(text: str, kind: Any, saved_as: FileFormat) -> dict[str, Any]:
    """Return the fields that `encode_fields` wrote of a result of this `kind`.

    Raise AttnvizError where `text` is no trace or has another version; ValueError, KeyError, TypeError and the like
    where it is damaged.
    """
    record: Any = json.loads(text) if text.lstrip()[:1] == "{" else None
    format_name = record.get("format") if isinstance(record, dict) else None
    if format_name != saved_as.name:
        if isinstance(format_name, str) and format_name in FORMAT_NAMES:
            raise user_error(
                "This file is the trace of a translation by another kind of model, {kind}. It cannot be opened here.",
                kind=FORMAT_NAMES[format_name](),
            )
        raise user_error(
            "This is not an attnviz trace file: its field “format” is missing or unknown. Save a trace with "
            "Trace.save, or with “Whole trace, JSON” in the box “Share and save”."
        )
    check_version(gettext("This trace"), record.get("version"), saved_as.version)
    return decode_fields(record, kind)


def decode_fields(record: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return the fields of a dataclass of this `kind` in the object that `encode_fields` wrote, each of its type.

    Raise ValueError, KeyError, TypeError and the like where they are damaged.
    """
    claimed = sum(packed_size(value) for value in record.values() if isinstance(value, dict) and "zlib" in value)
    if claimed > LARGEST:
        raise ValueError("it claims to have more numbers than a translation can have")
    hints = get_type_hints(kind)
    return {
        field.name: _decoded(field.name, record[field.name], hints[field.name]) for field in dataclasses.fields(kind)
    }


def check_characters(*texts: Iterable[str]) -> None:
    """Raise UnicodeEncodeError (a ValueError) where a text holds a lone surrogate, which cannot be displayed."""
    for group in texts:
        "".join(group).encode("utf-8")


def check_ids(ids: Iterable[int], size: int) -> None:
    """Raise ValueError unless all `ids` are within a vocabulary of this size."""
    distinct = {*ids}
    if min(distinct) < 0 or max(distinct) >= size:
        raise ValueError("a piece id is not in the vocabulary")


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return pack(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Intervention):
        return to_json_dict(value)
    if isinstance(value, tuple):
        return [_encode(one) for one in value]
    return dataclasses.asdict(value) if hasattr(value, "__dataclass_fields__") else value


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array of any shape as a JSON object: its type, its shape, and its compressed numbers in base64."""
    packed = zlib.compress(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes(), 1)
    return {"dtype": array.dtype.name, "shape": array.shape, "zlib": base64.b64encode(packed).decode("ascii")}


def unpack(name: str, value: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array that `pack` wrote.

    Raise ValueError (with the `name`), KeyError, TypeError or zlib.error where it is damaged.
    """
    if value["dtype"] not in ("float32", "int32"):
        raise ValueError(f"{name} has an unknown number type")
    dtype, size = np.dtype(value["dtype"]).newbyteorder("<"), packed_size(value)
    if size > LARGEST:
        raise ValueError(f"{name} claims to have more numbers than is possible")
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(base64.b64decode(value["zlib"], validate=True), max(size, 1))
    if len(raw) != size or unpacker.unconsumed_tail:
        raise ValueError(f"{name} has the wrong length")
    return np.frombuffer(raw, dtype=dtype).reshape(value["shape"]).astype(dtype.newbyteorder("="))


def packed_size(packed: Mapping[str, Any]) -> int:
    """Return the number of bytes that a packed array claims to have."""
    if any(type(length) is not int or length < 0 for length in packed["shape"]):
        raise ValueError("an array has a length that is none")
    return int(4 * math.prod(packed["shape"]))


def _decoded(name: str, value: Any, kind: Any) -> Any:
    """Return the value of type `kind` that `_encode` wrote, for the types that fields of a result have.

    Raise ValueError, with the `name`, where it is of another type, and what `unpack` raises.
    """
    origin, choices = get_origin(kind), get_args(kind)
    found: Any = value
    if (element := element_type(kind)) is not None:
        found = unpack(name, value)
        fits = found.dtype == np.dtype(element)
    elif origin is tuple:
        fits = isinstance(value, list)
        found = tuple(_decoded(name, one, choices[0]) for one in value)
    elif hasattr(kind, "__dataclass_fields__"):
        hints, fits = get_type_hints(kind), True
        found = kind(**{part: _decoded(name, one, hints[part]) for part, one in value.items()})
    elif kind == Intervention:
        return from_json_dict(value)
    elif origin is UnionType:
        fits = isinstance(value, choices) and type(value) is not bool
    elif kind is float:
        fits = type(value) in (int, float) and math.isfinite(value)
    else:
        fits = type(value) is (dict if origin is Mapping else kind)
    if not fits:
        raise ValueError(f"{name} is of the wrong type")
    return found


def element_type(kind: Any) -> type | None:
    """Return the element type of an array annotation such as `NDArray[np.float32]`; None for other annotations."""
    while hasattr(alias := get_origin(kind), "__value__"):  # NDArray from NumPy 2.5 on, which needs Python 3.12
        kind = alias.__value__[get_args(kind)]
    if get_origin(kind) is not np.ndarray:
        return None
    element: type = get_args(get_args(kind)[1])[0]
    return element
