"""Reduce arrays with dimensions of batch, layer and head to one attention matrix per sentence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext

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


def choose_heads(array: Array, choice: HeadChoice) -> tuple[NDArray[np.float64], str]:
    """Return the matrix (Ty, Tx) of one layer and head, or a mean over several, and a key of REMARKS.

    Raise AttnvizError where the layer or head does not exist, or the meaning of the dimensions is unclear.
    """
    shape = shape_name(array)
    chosen_count = sum(one is not None for one in choice)
    # With two leading dimensions and a chosen layer, a first dimension of size 1 is the only layer: do not squeeze it.
    while (
        array.ndim - 2 > (1 if choice.layer is None else 2) and array.ndim - 2 > chosen_count and 1 in array.shape[:-2]
    ):
        array = array.squeeze(axis=array.shape[:-2].index(1))  # a batch of one sentence, or the only layer
    leading = array.ndim - 2
    if leading == 1 and array.shape[0] == 1 and not chosen_count:
        return array[0].astype(np.float64), ""
    if leading > 2 or chosen_count > leading:
        raise AttnvizError(
            gettext(
                "The array has shape {shape}: it is not clear which dimensions are layers and heads. Save the "
                "array of one sentence pair as (layers, heads, target tokens, source tokens).",
                shape=shape,
            )
        )
    if leading == 0:
        return array.astype(np.float64), ""
    chosen = array
    if leading == 2:
        chosen = _select(chosen, choice.layer, 0, shape)
        chosen = _select(chosen, choice.head, 0 if choice.layer is not None else 1, shape)
    else:
        chosen = _select(chosen, choice.layer if choice.head is None else choice.head, 0, shape)
    several = tuple(range(chosen.ndim - 2))
    if not several:
        return chosen.astype(np.float64), "one-head"
    return chosen.astype(np.float64).mean(axis=several), "mean-of-heads"


def _select(array: Array, index: int | None, axis: int, shape: str) -> Array:
    """Return `array` at `index` along `axis`; all of it where `index` is None."""
    if index is None:
        return array
    count = array.shape[axis]
    if not -count <= index < count:
        raise AttnvizError(
            gettext(
                "The array of shape {shape} has no layer or head {number}. Numbers start at 0.",
                number=index,
                shape=shape,
            )
        )
    selected: Array = array.take(index, axis=axis)
    return selected


def shape_name(array: Array) -> str:
    """Return the shape of `array`, of any shape, for display, such as "2 × 3"."""
    return " × ".join(map(str, array.shape)) or "1"
