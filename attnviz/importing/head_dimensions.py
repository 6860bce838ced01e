"""Find the dimensions of batch, layer and head of arrays, and the heads to show."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import user_error
from attnviz.trace import Array
from attnviz.trace.parts import Heads

_Array = NDArray[Any]


MEAN_OF_HEADS = Heads()
"""The mean over all heads of all layers."""


def split_batch(array: _Array, count: int) -> tuple[list[_Array], bool]:
    """Return the sentences of `array` (…, Ty, Tx), and whether it is a batch, whose matrices are padded to one size.

    `count` is the number of sentences, 0 where unknown.

    The batch dimension is the first leading dimension of size `count`. Among three leading dimensions the second is
    preferred, as in Hugging Face's (layer, batch, head, Ty, Tx). Without a count the array is one sentence.
    Raise AttnvizError where the number of dimensions is not 2 to 5, or none has size `count`.
    """
    leading = array.shape[:-2]
    if not 2 <= array.ndim <= 5 or not array.size:
        raise user_error(
            "An attention array has 2 to 5 dimensions; the last two are target and source tokens. This array "
            "has shape {shape}.",
            shape=_shape_name(array),
        )
    if count <= 1:
        return [array], len(leading) > 2 or leading[:1] == (1,)
    if count not in leading:
        raise user_error(
            "The array has shape {shape}, but there are {count} sentence pairs. One dimension before the "
            "last two must have size {count}.",
            shape=_shape_name(array),
            count=count,
        )
    axis = 1 if len(leading) == 3 and leading[1] == count else leading.index(count)
    return [*np.moveaxis(array, axis, 0)], True


def choose_heads(array: _Array, choice: Heads) -> tuple[Array, dict[str, int | None] | None, str]:
    """Return the weights of `array` (…, Ty, Tx) with the chosen layer and head, or the mean over several.

    Besides, return the heads to show among several, as in the open format, and the key of a remark or "".

    All heads are kept where the array has a dimension of layers and one of heads, (layers, heads, Ty, Tx), unless a
    head is chosen without its layer. Raise AttnvizError where the layer or head does not exist, or the meaning of the
    dimensions is unclear.
    """
    leading, head_alone = [*array.shape[:-2]], choice.layer is None and choice.head is not None
    while 1 in leading and len(leading) > (1 if head_alone else 2):
        # A batch of one sentence, which Hugging Face has after the layers; or, for a head alone, the only layer.
        leading.pop(1 if leading[1] == 1 else leading.index(1))
    in_layers = len(leading) == 2
    if len(leading) > 2 or (not in_layers and None not in (choice.layer, choice.head)):
        raise user_error(
            "The array has shape {shape}: it is not clear which dimensions are layers and heads. Save the "
            "array of one sentence pair as (layers, heads, target tokens, source tokens).",
            shape=_shape_name(array),
        )
    if not in_layers:
        leading.insert(1 if choice.head is None and choice.layer is not None else 0, 1)
    by_head = np.asarray(array, dtype=np.float64).reshape(*leading, *array.shape[-2:])  # (layers, heads, Ty, Tx)
    chosen, heads = by_head, asdict(choice)
    for axis, (name, index) in enumerate(asdict(choice).items()):
        if index is None:
            continue
        if not -leading[axis] <= index < leading[axis]:
            raise user_error(
                {
                    "layer": "The array of shape {shape} has no layer {number}. Layers are numbered from 0.",
                    "head": "The array of shape {shape} has no head {number}. Heads are numbered from 0.",
                }[name],
                number=index,
                shape=_shape_name(array),
            )
        heads[name] = index % leading[axis]
        chosen = chosen.take([index], axis)
    if in_layers and not head_alone and leading != [1, 1]:
        return by_head, heads, ""
    remark = "mean-of-heads" if chosen.shape[:2] != (1, 1) else "one-head" if choice != MEAN_OF_HEADS else ""
    return chosen.mean(axis=(0, 1)), None, remark


def _shape_name(array: _Array) -> str:
    """Return the shape of `array`, of any shape, for display, such as "2 × 3"."""
    return " × ".join(map(str, array.shape)) or "1"
