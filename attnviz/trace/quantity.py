"""`Quantity`: one kind of number of a record, under its one name; a table of them says what a record holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.trace.saved import Saved


@dataclass(frozen=True)
class Quantity:
    """One kind of number: row i of those whose shape begins with Ty belongs to 0-based step i."""

    name: str
    """The field of the record, or, where none holds it, what proof and recomputation call it."""
    symbol: str
    """LaTeX."""
    shape: tuple[str, ...]
    """Sizes by their symbols."""
    equation: str
    """LaTeX; with additive attention where kinds differ."""
    meaning: str
    recorded: bool = True
    """Whether it is an array of a record; the others follow from what a record keeps and the weights."""
    may_be_absent: bool = False
    """Whether an array of length 0 may stand for it."""

    @property
    def per_step(self) -> bool:
        """Whether each step has its own."""
        return self.shape[0] == "Ty"

    @property
    def of_positions(self) -> bool:
        """Whether the first index, of one step where there are steps, is a source position."""
        return self.shape[self.per_step :][:1] == ("Tx",)


def check_shapes(record: Saved) -> None:
    """Raise ValueError, with the name of one, unless all arrays of `record` have the shapes of its table."""
    known = record.sizes()
    for quantity in record.arrays:
        found = getattr(record, quantity.name).shape
        shape = tuple(known[size] for size in quantity.shape)
        if found != shape and not (quantity.may_be_absent and found == (0,)):
            raise ValueError(f"{quantity.name} has the shape {found}, not {shape}")
