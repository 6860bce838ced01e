"""Find the dimensions of batch, layer and head of arrays, and the heads to show."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace.parts import Heads

Array = NDArray[Any]


class HeadChoice(NamedTuple):
    """Layer and head to read, from 0; negative numbers count from the last, None averages over all."""

    layer: int | None = None
    head: int | None = None


MEAN = HeadChoice()


class Batch(NamedTuple):
    """Matrices of the sentences in an array, with their dimensions of layer and head."""

    sentences: list[Array]
    """One array per sentence, (…, Ty, Tx)."""
    padded: bool
    """Whether the array had a batch dimension, whose matrices are padded to one size."""


def split_batch(array: Array, count: int | None) -> Batch:
    """Return the sentences of `array` (…, Ty, Tx); `count` is their number where known.

    The batch dimension is the first leading dimension of size `count`. Among three leading dimensions the second is
    preferred, as in Hugging Face's (layer, batch, head, Ty, Tx). Without a count the array is one sentence.
    Raise AttnvizError where the number of dimensions is not 2 to 5, or none has size `count`.
    """
    if array.ndim < 2 or array.ndim > 5 or not array.size:
        raise AttnvizError(
            gettext(
                "An attention array has 2 to 5 dimensions; the last two are target and source tokens. This array "
                "has shape {shape}.",
                shape=shape_name(array),
            )
        )
    leading = array.shape[:-2]
    if count is not None and count > 1:
        axes = [axis for axis, size in enumerate(leading) if size == count]
        if len(leading) == 3 and 1 in axes:
            axes = [1]
        if axes:
            return Batch([array.take(n, axis=axes[0]) for n in range(count)], padded=True)
        raise AttnvizError(
            gettext(
                "The array has shape {shape}, but there are {count} sentence pairs. One dimension before the "
                "last two must have size {count}.",
                shape=shape_name(array),
                count=count,
            )
        )
    return Batch([array], padded=len(leading) > 2 or bool(leading and leading[0] == 1))


class Chosen(NamedTuple):
    """The attention of one sentence pair with the chosen heads."""

    weights: NDArray[np.float64]
    """One matrix, (Ty, Tx), or that of every head, (layers, heads, Ty, Tx)."""
    heads: Heads
    """The heads to show, where there are several."""
    remark: str
    """A key of REMARKS; empty where there was one matrix."""


def choose_heads(array: Array, choice: HeadChoice) -> Chosen:
    """Return the weights of `array` with the chosen layer and head, or the mean over several.

    All heads are kept where the array has a dimension of layers and one of heads, (layers, heads, Ty, Tx). Raise
    AttnvizError where the layer or head does not exist, or the meaning of the dimensions is unclear.
    """
    shape = shape_name(array)
    by_layer = array
    if array.ndim == 5 and 1 in array.shape[:3]:  # a batch of one sentence; Hugging Face has it after the layers
        by_layer = array.squeeze(axis=1 if array.shape[1] == 1 else array.shape.index(1))
    if by_layer.ndim == 4 and by_layer.shape[:2] != (1, 1) and (choice.layer is not None or choice.head is None):
        _select(by_layer, choice.layer, 0, shape, "layer")
        _select(by_layer, choice.head, 1, shape, "head")
        heads = Heads(*(None if n is None else n % count for n, count in zip(choice, by_layer.shape[:2], strict=True)))
        return Chosen(by_layer.astype(np.float64), heads, "")
    return _reduced(array, choice, shape)


def _reduced(array: Array, choice: HeadChoice, shape: str) -> Chosen:
    """Return one matrix of an array without separate dimensions of layers and heads, or of one head of all layers."""
    chosen_count = sum(one is not None for one in choice)
    # With two leading dimensions and a chosen layer, a first dimension of size 1 is the only layer: do not squeeze it.
    while (
        array.ndim - 2 > (1 if choice.layer is None else 2) and array.ndim - 2 > chosen_count and 1 in array.shape[:-2]
    ):
        array = array.squeeze(axis=array.shape[:-2].index(1))  # a batch of one sentence, or the only layer
    leading = array.ndim - 2
    if leading == 1 and array.shape[0] == 1 and not chosen_count:
        return Chosen(array[0].astype(np.float64), Heads(), "")
    if leading > 2 or chosen_count > leading:
        raise AttnvizError(
            gettext(
                "The array has shape {shape}: it is not clear which dimensions are layers and heads. Save the "
                "array of one sentence pair as (layers, heads, target tokens, source tokens).",
                shape=shape,
            )
        )
    if leading == 0:
        return Chosen(array.astype(np.float64), Heads(), "")
    chosen = _select(array, choice.layer, 0, shape, "layer")
    chosen = _select(chosen, choice.head, 1 if leading == 2 and choice.layer is None else 0, shape, "head")
    several = tuple(range(chosen.ndim - 2))
    if not several:
        return Chosen(chosen.astype(np.float64), Heads(), "one-head")
    return Chosen(chosen.astype(np.float64).mean(axis=several), Heads(), "mean-of-heads")


def _select(array: Array, index: int | None, axis: int, shape: str, of: Literal["layer", "head"]) -> Array:
    """Return `array` at the `index` of a layer or head along `axis`; all of it where `index` is None."""
    if index is None:
        return array
    count = array.shape[axis]
    if not -count <= index < count:
        values = {"number": index, "shape": shape}
        if of == "layer":
            raise AttnvizError(
                gettext("The array of shape {shape} has no layer {number}. Layers are numbered from 0.", **values)
            )
        raise AttnvizError(
            gettext("The array of shape {shape} has no head {number}. Heads are numbered from 0.", **values)
        )
    selected: Array = array.take(index, axis=axis)
    return selected


def shape_name(array: Array) -> str:
    """Return the shape of `array`, of any shape, for display, such as "2 × 3"."""
    return " × ".join(map(str, array.shape)) or "1"
