"""JSON with one wrong field, for tests of what reads files."""

import json
from collections.abc import Iterator
from typing import Any

_VALUES: tuple[Any, ...] = (None, True, 7, "x", [], {})
"""One value of each type that JSON has."""


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def _fields(holder: Any, path: str = "") -> Iterator[tuple[Any, str, str]]:
    """Yield each object within `holder`, of lists in the first entry, with each of its fields and the field's path."""
    for name, value in holder.items():
        yield holder, name, path + name
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from _fields(inner, f"{path}{name}.")


def with_one_wrong_field(text: str) -> Iterator[tuple[str, str]]:
    """Yield the JSON with a field left out or of another type, after what is wrong, for each field at any depth."""
    record = json.loads(text)
    for holder, name, path in [*_fields(record)]:
        value = holder.pop(name)
        yield f"{path} left out", json.dumps(record)
        for other in _VALUES:
            if _type(other) is not _type(value):
                holder[name] = other
                yield f"{path} {json.dumps(other)}", json.dumps(record)
        holder[name] = value
