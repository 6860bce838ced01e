"""`Saved`: what every record is, whatever it records: numbers that nobody can change, told from others, kept as
a file."""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import storage
from attnviz.trace.quantity import Quantity


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Saved(ABC):
    """An immutable record. All arrays are read-only copies, float32 but for ids and counts."""

    saved_as: ClassVar[storage.Format]
    """The mark of its files."""
    arrays: ClassVar[tuple[Quantity, ...]]
    """The rows of its table of quantities that it keeps."""

    def __post_init__(self) -> None:
        """Take copies that nobody else can change."""
        for quantity in self.arrays:
            array = getattr(self, quantity.name).copy()
            array.setflags(write=False)
            object.__setattr__(self, quantity.name, array)

    def __repr__(self) -> str:
        """Return its kind and its sizes: all its numbers would fill screens."""
        sizes = ", ".join(f"{symbol} = {size}" for symbol, size in self.sizes().items())
        return f"<{type(self).__name__}: {sizes}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that what comes back is as immutable."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain = {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in fields.items()}
        return _restore, (type(self), plain)

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Return the numbers that the symbols of the table's shapes stand for.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size.
        """

    def check_origin(self) -> None:
        """Raise ValueError unless what is said of where it comes from can be shown."""
        return

    @abstractmethod
    def check_texts(self) -> None:
        """Raise ValueError, KeyError or IndexError unless texts, pieces and ids fit one another and the config."""

    @abstractmethod
    def check_numbers(self) -> None:
        """Raise ValueError, KeyError or IndexError unless config and arrays, of the right shapes, make sense."""

    def to_json(self) -> str:
        """Return all of it as one JSON object; arrays are compressed little-endian bytes in base64."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return storage.encode(fields, self.saved_as)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote; raise AttnvizError where `text` is not a record of this kind."""
        hints = get_type_hints(cls)
        kinds = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
        try:
            record = cls(**storage.decode(text, kinds, cls.saved_as))
            storage.check(record)
        except (
            KeyError,
            ValueError,
            TypeError,
            IndexError,
            AttributeError,
            RecursionError,
            OverflowError,
            zlib.error,
        ) as error:
            message = gettext(
                "This trace is damaged ({kind}: {error}). Save it again.",
                kind=type(error).__name__,
                error=str(error)[:300],
            )
            raise AttnvizError(message) from error
        return record

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that is recorded, but for the time it took: two records of one fingerprint look the same."""
        digest = hashlib.sha256()
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                digest.update(repr(value.shape).encode() + value.tobytes())
            elif field.name != "seconds":
                value = dict(value) if isinstance(value, Mapping) else value
                digest.update(repr(value).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the whole record to `path`."""
        storage.write_file(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a record from `path`; raise AttnvizError, naming the file, where that fails."""
        return storage.read_file(path, cls.from_json)


def _restore(kind: type[Saved], fields: dict[str, Any]) -> Saved:
    return kind(**fields)
