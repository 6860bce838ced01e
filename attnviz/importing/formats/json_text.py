"""Parse JSON text for several formats: one object, a list of objects, JSON lines, or concatenated values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attnviz.importing.file_content import Content

_FAILURES = (ValueError, RecursionError)


def json_values(content: Content) -> list[Any] | None:
    """Return the values in JSON text; None for other text.

    A single list of objects is returned as its objects. Values may follow one another with or without line breaks.
    """
    text = content.text.strip()
    if text[:1] not in ("{", "["):
        return None
    return _values(text)


@lru_cache(maxsize=1)
def _values(text: str) -> list[Any] | None:
    # Cached because every JSON detector parses the same file.
    decoder, values, position = json.JSONDecoder(), list[Any](), 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            values.append(value)
            while position < len(text) and (text[position].isspace() or text[position] == ","):
                position += 1
    except _FAILURES:
        return None
    if len(values) == 1 and isinstance(values[0], list) and all(isinstance(one, Mapping) for one in values[0]):
        return values[0]
    return values


def json_error(content: Content) -> str | None:
    """Return the error message for text that begins like JSON but is invalid; None for other text or valid JSON."""
    text = content.text.strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except _FAILURES as error:
        return str(error)[:80]
    return None


def objects(content: Content) -> list[Mapping[str, Any]] | None:
    """Return the objects in JSON text; None where a value is no object, or there is none."""
    values = json_values(content)
    if not values or not all(isinstance(value, Mapping) for value in values):
        return None
    return values
