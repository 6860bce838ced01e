"""Read files of Inseq's `FeatureAttributionOutput.save`: tokens and source attributions (Tx, Ty, …) of each sequence.

Arrays are stored by json-tricks.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, objects
from attnviz.trace import MOST_TOKENS

_LARGEST = 64 << 20
"""Largest size of an array, in bytes."""
_KINDS = ("float16", "float32", "float64", "int32", "int64")


def _attributes(value: Any) -> Mapping[str, Any]:
    """Return the attributes of an instance stored by json-tricks; a plain object is returned unchanged."""
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("attributes")
    return inner if "__instance_type__" in value and isinstance(inner, Mapping) else value


def _sequences(content: Content) -> list[Any] | None:
    values = objects(content)
    if not values or len(values) != 1:
        return None
    sequences = _attributes(values[0]).get("sequence_attributions")
    return sequences if isinstance(sequences, list) and sequences else None


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each sequence; None where the file has no sequence attributions."""
    sequences = _sequences(content)
    reason = gettext("The file has the field sequence_attributions, as Inseq’s files do.")
    return Sentences(sequences, _read, reason=reason) if sequences else None


def _read(sequence: Any) -> SentencePair:
    fields = _attributes(sequence)
    if fields.get("source_attributions") is None:
        raise AttnvizError(
            gettext(
                "The file has no source attributions. Inseq saves source attributions for encoder-decoder "
                "models, but not for decoder-only models."
            )
        )
    source, target = (_tokens(fields.get(side)) for side in ("source", "target"))
    array = _array(fields["source_attributions"])
    if array.ndim < 2:
        raise AttnvizError(
            gettext("The attributions must have at least two dimensions: source tokens and target tokens.")
        )
    # (Tx, Ty, …) becomes (…, Ty, Tx); the other axes are layers and heads, or units of an embedding.
    array = array.transpose(*range(2, array.ndim), 1, 0)
    begin, end = (fields.get(f"attr_pos_{name}") for name in ("start", "end"))
    begin = begin if isinstance(begin, int) else 0
    attributed = target[begin : end if isinstance(end, int) else None]
    if len(attributed) == array.shape[-2]:
        target = attributed
    return SentencePair({"source": source, "target": target, "matrix": array, "origin": "Inseq"})


def _tokens(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_TOKENS + 10:
        raise AttnvizError(gettext("Tokens must be a list of strings, or one string with spaces between the tokens."))
    return [one if isinstance(one, str) else str(_attributes(one).get("token", "")) for one in value]


def _array(value: Any) -> NDArray[np.float64]:
    """Return an array that json-tricks stored as lists or as base64 bytes; raise AttnvizError where it is damaged."""
    try:
        if not isinstance(value, Mapping):
            return np.asarray(value, dtype=np.float64)
        stored = value["__ndarray__"]
        if not isinstance(stored, str):
            return np.asarray(stored, dtype=np.float64)
        shape = tuple(value["shape"])
        kind, _, packed = stored.rpartition(":")
        data = base64.b64decode(packed, validate=True)
        if kind.endswith("gz"):
            data = zlib.decompressobj(wbits=31).decompress(data, _LARGEST)
        if value["dtype"] not in _KINDS or math.prod(shape) * np.dtype(value["dtype"]).itemsize != len(data):
            raise ValueError("the array is not of its shape")
        stored_type = np.dtype(value["dtype"]).newbyteorder(">" if value.get("endian") == "big" else "<")
        numbers: NDArray[np.float64] = np.frombuffer(data, stored_type).astype(np.float64)
        return numbers.reshape(shape, order="C" if value.get("Corder", True) else "F")
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, binascii.Error, zlib.error) as error:
        raise AttnvizError(gettext("An array of the file is damaged: {error}.", error=str(error)[:80])) from error


FORMAT = Format(
    "inseq", "Inseq", read, example="JSON of a `FeatureAttributionOutput`", written_by='`out.save("file.json")`'
)
