"""Find the dimensions of batch, layer and head of arrays, and the heads to show."""

from __future__ import annotations

from typing import Any, NamedTuple

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


def split_batch(array: Array, count: int) -> Batch:
    """Return the sentences of `array` (…, Ty, Tx); `count` is their number, 0 where unknown.

    The batch dimension is the first leading dimension of size `count`. Among three leading dimensions the second is
    preferred, as in Hugging Face's (layer, batch, head, Ty, Tx). Without a count the array is one sentence.
    Raise AttnvizError where the number of dimensions is not 2 to 5, or none has size `count`.
    """
    leading = array.shape[:-2]
    if not 2 <= array.ndim <= 5 or not array.size:
        raise AttnvizError(
            gettext(
                "An attention array has 2 to 5 dimensions; the last two are target and source tokens. This array "
                "has shape {shape}.",
                shape=_shape_name(array),
            )
        )
    if count <= 1:
        return Batch([array], padded=len(leading) > 2 or leading[:1] == (1,))
    if count not in leading:
        raise AttnvizError(
            gettext(
                "The array has shape {shape}, but there are {count} sentence pairs. One dimension before the "
                "last two must have size {count}.",
                shape=_shape_name(array),
                count=count,
            )
        )
    axis = 1 if len(leading) == 3 and leading[1] == count else leading.index(count)
    return Batch([*np.moveaxis(array, axis, 0)], padded=True)


class Chosen(NamedTuple):
    """The attention of one sentence pair with the chosen heads."""

    weights: NDArray[np.float64]
    """One matrix, (Ty, Tx), or that of every head, (layers, heads, Ty, Tx)."""
    heads: Heads
    """The heads to show, where there are several."""
    remark: str
    """A key of REMARKS; empty where there was one matrix."""


def choose_heads(array: Array, choice: HeadChoice) -> Chosen:
    """Return the weights of `array` (…, Ty, Tx) with the chosen layer and head, or the mean over several.

    All heads are kept where the array has a dimension of layers and one of heads, (layers, heads, Ty, Tx), unless a
    head is chosen without its layer. Raise AttnvizError where the layer or head does not exist, or the meaning of the
    dimensions is unclear.
    """
    leading, head_alone = [*array.shape[:-2]], choice.layer is None and choice.head is not None
    while 1 in leading and len(leading) > (1 if head_alone else 2):
        # A batch of one sentence, which Hugging Face has after the layers; or, for a head alone, the only layer.
        leading.pop(1 if leading[1] == 1 else leading.index(1))
    in_layers = len(leading) == 2
    if len(leading) > 2 or (not in_layers and None not in choice):
        raise AttnvizError(
            gettext(
                "The array has shape {shape}: it is not clear which dimensions are layers and heads. Save the "
                "array of one sentence pair as (layers, heads, target tokens, source tokens).",
                shape=_shape_name(array),
            )
        )
    if not in_layers:
        leading.insert(1 if choice.head is None and choice.layer is not None else 0, 1)
    by_head = np.asarray(array, dtype=np.float64).reshape(*leading, *array.shape[-2:])  # (layers, heads, Ty, Tx)
    for (name, index), size in zip(choice._asdict().items(), leading, strict=True):
        if index is not None and not -size <= index < size:
            raise AttnvizError(_missing_message(name, index, array))
    heads = Heads(*(None if index is None else index % size for index, size in zip(choice, leading, strict=True)))
    if in_layers and not head_alone and leading != [1, 1]:
        return Chosen(by_head, heads, "")
    for axis, index in enumerate((heads.layer, heads.head)):
        by_head = by_head if index is None else by_head.take([index], axis)
    several = by_head.shape[:2] != (1, 1)
    remark = "mean-of-heads" if several else "one-head" if choice != MEAN else ""
    return Chosen(by_head.mean(axis=(0, 1)), Heads(), remark)


def _missing_message(name: str, number: int, array: Array) -> str:
    """Return that `array` has no layer or head of this number."""
    values = {"number": number, "shape": _shape_name(array)}
    if name == "layer":
        return gettext("The array of shape {shape} has no layer {number}. Layers are numbered from 0.", **values)
    return gettext("The array of shape {shape} has no head {number}. Heads are numbered from 0.", **values)


def _shape_name(array: Array) -> str:
    """Return the shape of `array`, of any shape, for display, such as "2 × 3"."""
    return " × ".join(map(str, array.shape)) or "1"
