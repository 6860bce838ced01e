"""`HeadViews`: base class of records of several heads; selects a head, or the mean of several, as the alignment."""

from __future__ import annotations

from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attnviz.arguments import check_each
from attnviz.errors import user_error
from attnviz.languages import gettext
from attnviz.trace.parts import FloatArray, Heads, fields_of_dataclass


class HeadViews:
    """Methods of a record with the attention weights of every head: `head_weights`, (L, H, Ty, Tx).

    Layers and heads count from 0. `heads` are those whose mean is the alignment.
    """

    if TYPE_CHECKING:
        # For type checkers only: at run time, these are fields or properties of the record.
        heads: Heads

        @property
        def head_weights(self) -> FloatArray:
            """Weights of every head."""

        @property
        def alignment(self) -> FloatArray:
            """Mean of the weights of the selected heads."""

    @cached_property
    def nearest_head(self) -> tuple[int, int]:
        """0-based layer and head that represent the displayed attention.

        Where several heads are averaged, the one with the smallest total variation from the mean, averaged over the
        steps.
        """
        first, shown = self.heads.layer or 0, self.heads
        weights = self.head_weights if shown.layer is None else self.head_weights[[first]]
        if shown.head is not None:
            return first, shown.head
        variations = np.abs(weights.astype(np.float64) - self.alignment).sum(axis=-1).mean(axis=-1) / 2
        layer, head = np.unravel_index(int(variations.argmin()), variations.shape)
        return first + int(layer), int(head)

    def select_heads(self, layer: int | None = None, head: int | None = None) -> Self:
        """Return this record with the `alignment` of other heads.

        Words, links, heatmap and files follow the alignment.

        Args:
            layer: Layer, 0-based; without it, the mean of all heads.
            head: Head of the layer, 0-based; without it, the mean of the layer's heads.

        Returns:
            The record.

        Raises:
            AttnvizError: There is no such head.
        """
        self._check_heads(layer, head)
        heads = Heads(layer if layer is None else layer % len(self.head_weights), head)
        if heads in self._views:
            return self._views[heads]
        # The constructor would copy all arrays; they are read-only, so both records may share them.
        view = object.__new__(type(self))
        vars(view).update(
            fields_of_dataclass(self) | self._changed_fields(heads) | {"heads": heads, "_views": self._views}
        )
        return self._views.setdefault(heads, view)

    def _changed_fields(self, _: Heads) -> dict[str, Any]:
        """Return the fields, besides `heads`, that differ in a view; subclasses override it."""
        return {}

    @property
    def whole(self) -> Self:
        """The record whose heads were selected; the record itself where none were."""
        return next(iter(self._views.values()))

    @cached_property
    def _views(self) -> dict[Heads, Self]:
        """Views of this record by selected heads, so that equal selections return the same object."""
        return {self.heads: self}

    def _check_heads(
        self, layer: int | None, head: int | None, kinds: tuple[type, ...] = (int, np.integer, NoneType)
    ) -> None:
        """Raise AttnvizError unless the layer exists and has such a head, both of one of the `kinds`."""
        if self.head_weights.ndim != 4:
            if layer is head is None:
                return
            raise user_error("This record has one attention matrix, not one for each head. Leave out layer and head.")
        layers, heads = self.head_weights.shape[:2]
        check_each(gettext("layers and heads"), (layer, head), kinds)
        if layer is None and head is not None:
            raise user_error("A head belongs to a layer: name the layer too, from 1 to {layers}.", layers=layers)
        if layer is not None and not -1 <= layer < layers:
            raise user_error(
                "Layer {number} (index {index}) does not exist: this transformer has layers 1 to {layers}.",
                number=layer + 1,
                index=layer,
                layers=layers,
            )
        if head is not None and not 0 <= head < heads:
            raise user_error(
                "Head {number} (index {index}) does not exist: each layer of this transformer has heads 1 to {heads}.",
                number=head + 1,
                index=head,
                heads=heads,
            )


def mean_of_heads(weights: FloatArray, heads: Heads) -> FloatArray:
    """Return the mean weights, (Ty, Tx), of the selected heads among `weights`, (L, H, Ty, Tx); read-only."""
    if heads.layer is None:
        mean: FloatArray = weights.mean(axis=(0, 1))
    else:
        mean = weights[heads.layer].mean(axis=0) if heads.head is None else weights[heads.layer, heads.head]
    mean.setflags(write=False)
    return mean
