"""Base classes of results: immutable arrays that are checked, saved and loaded; model, device and time."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, TextIO

import numpy as np

from attnviz.arguments import checked_path
from attnviz.errors import user_error
from attnviz.files import DAMAGED, replace_text
from attnviz.trace import storage
from attnviz.trace.parts import fields_of_dataclass
from attnviz.trace.quantity import Quantity, quantity_table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SavedResult(ABC):
    """An immutable result. All arrays are read-only copies, float32 except ids and counts."""

    saved_as: ClassVar[storage.FileFormat]
    """Format name and version of its files."""
    arrays: ClassVar[tuple[Quantity, ...]]
    """The quantities that it stores, each a field of the same name."""
    derived: ClassVar[tuple[Quantity, ...]] = ()
    """The quantities of its table that follow from those and the weights."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the table of quantities to the docstring of a class that stores some, for `help`."""
        super().__init_subclass__(**options)
        if cls.__doc__ and "arrays" in vars(cls):  # python -OO removes docstrings
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{quantity_table(cls.arrays, cls.derived)}"

    def __post_init__(self) -> None:
        """Copy the arrays and make them read-only."""
        for quantity in self.arrays:
            array = getattr(self, quantity.name).copy()
            array.setflags(write=False)
            object.__setattr__(self, quantity.name, array)

    def __repr__(self) -> str:
        """Return the class name and the sizes."""
        sizes = ", ".join(f"{symbol} = {size}" for symbol, size in self.sizes().items())
        return f"<{type(self).__name__}: {sizes}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that copies are immutable too."""
        fields = fields_of_dataclass(self).items()
        plain = {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in fields}
        return _restore, (type(self), plain)

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size.
        """

    @property
    @abstractmethod
    def architecture(self) -> str:
        """Name in `architectures.ARCHITECTURES` of what made it."""

    def describe(self, file: TextIO | None = None) -> None:
        """Print each quantity with symbol, shape, sizes, meaning and equation.

        Args:
            file: Where to print; None is standard output.
        """
        print(quantity_table(self.arrays, self.derived, self.sizes()), file=file)

    def check(self) -> None:
        """Raise ValueError, KeyError or IndexError unless array shapes, texts and numbers are consistent."""
        sizes = self.sizes()
        if not sizes["Tx"] or not sizes["Ty"]:
            raise ValueError("it contains no pieces")
        self.check_shapes()
        self.check_origin()
        self.check_texts()
        for quantity in self.arrays:
            array = getattr(self, quantity.name)
            # The energy of a masked position is minus infinity.
            if not np.isfinite(array[array != -np.inf]).all():
                raise ValueError(f"{quantity.name} contains values that are not numbers")
        self.check_numbers()

    def check_shapes(self) -> None:
        """Raise ValueError, naming the array, unless all arrays have the shapes of the table."""
        sizes = self.sizes()
        for quantity in self.arrays:
            actual = getattr(self, quantity.name).shape
            expected = tuple(sizes[size] for size in quantity.shape)
            if actual != expected and not (quantity.may_be_absent and actual == (0,)):
                raise ValueError(f"{quantity.name} has the shape {actual}, not {expected}")

    def check_origin(self) -> None:
        """Raise ValueError unless the stated origin can be displayed."""
        return

    @abstractmethod
    def check_texts(self) -> None:
        """Raise ValueError, KeyError or IndexError unless texts, pieces and ids fit one another and the config."""

    @abstractmethod
    def check_numbers(self) -> None:
        """Raise ValueError, KeyError or IndexError unless config and arrays are in range.

        Their shapes are checked before.
        """

    def _check_shares(self, *names: str) -> None:
        """Raise ValueError unless the numbers of these arrays are at least 0 and sum to 1 over the last axis."""
        for name in names:
            shares = getattr(self, name)
            if not np.allclose(shares.sum(axis=-1), 1, atol=1e-3) or shares.min() < 0:
                raise ValueError(f"a row of {name} does not sum to 1")

    def to_json(self) -> str:
        """Return the result as one JSON object; arrays are compressed little-endian bytes in base64."""
        return storage.encode_fields(fields_of_dataclass(self), self.saved_as)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read JSON that `to_json` wrote.

        Args:
            text: The JSON.

        Returns:
            The result.

        Raises:
            AttnvizError: The text is not a result of this class.
        """
        try:
            record = cls(**storage.decode(text, cls, cls.saved_as))
            record.check()
        except DAMAGED as error:
            raise user_error(
                "This trace is damaged ({kind}: {error}). Save the trace again.",
                kind=type(error).__name__,
                error=str(error)[:300],
            ) from error
        return record

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all fields except the computing time; results with the same fingerprint display the same."""
        digest = hashlib.sha256()
        for name, value in fields_of_dataclass(self).items():
            if isinstance(value, np.ndarray):
                digest.update(repr(value.shape).encode() + value.tobytes())
            elif name != "seconds":
                value = dict(value) if isinstance(value, Mapping) else value
                digest.update(repr(value).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the result to a file.

        Args:
            path: The file.
        """
        replace_text(checked_path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result from a file.

        Args:
            path: The file.

        Returns:
            The result.

        Raises:
            AttnvizError: The file cannot be read; the message names it.
        """
        return storage.read_file(checked_path(path), cls.from_json)


def _restore(kind: type[SavedResult], fields: dict[str, Any]) -> SavedResult:
    return kind(**fields)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Computation(SavedResult):
    """A result of one network that can be saved, and what identifies that network."""

    architectures: ClassVar[tuple[str, ...]]
    """Names of the architectures whose models make such results."""

    config: Mapping[str, Any]
    """The model's config, read-only."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of `model.safetensors` in hexadecimal; empty where unknown.

    Identifies the model that made this result.
    """
    device: str
    """The torch device that ran the network, such as "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of computing and recording, in seconds; in a batch, from the batch's start to this sentence's end."""

    def __post_init__(self) -> None:
        """Make the config read-only too; the parent class copies the arrays."""
        super().__post_init__()
        object.__setattr__(self, "config", MappingProxyType(dict(self.config)))

    @property
    def architecture(self) -> str:
        """Architecture of the model, as its config names it; RNNsearch where that names none."""
        return str(self.config.get("architecture", "rnnsearch"))

    def check_origin(self) -> None:
        """Raise ValueError unless model name, device and config can be displayed, and the architecture is known."""
        if self.architecture not in self.architectures:
            raise ValueError(f"{self.architecture} is no architecture of such a result")
        storage.check_characters((self.model, self.device))
        if not all(isinstance(value, (str, int, float)) for value in self.config.values()):
            raise ValueError("its model's config holds more than numbers and words")
