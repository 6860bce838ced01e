"""Read what a Hugging Face model returns: the output of a forward pass or of `generate`, or their tuples of tensors.

`generate` returns a tuple of layers for each step, each tensor (rows, heads, queries, keys). In beam search the rows
are beams, and `beam_indices` name the row of each step of a translation. In self-attention, the keys grow by one each
step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext

Numbers = Callable[[Any], NDArray[np.float64]]
"""Converts one tensor."""
_ATTENTIONS = ("cross_attentions", "attentions", "decoder_attentions", "encoder_attentions")
"""Names of attention in an output, the preferred ones first."""


def is_output(value: Any) -> bool:
    """Return whether `value` is the output of a model of transformers."""
    return isinstance(value, Mapping) and hasattr(value, "to_tuple")


def is_generated(value: Any) -> bool:
    """Return whether `value` is a tuple of layers for each step, as `generate` returns."""
    return (
        isinstance(value, (tuple, list))
        and bool(value)
        and isinstance(value[0], (tuple, list))
        and bool(value[0])
        and hasattr(value[0][0], "shape")
    )


def output_fields(output: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    """Return the attention in the output of a model, with its kind where it is self-attention."""
    name = next((name for name in _ATTENTIONS if output.get(name)), None)
    if name is None:
        raise AttnvizError(
            gettext(
                'This output of a model has no attention. Load the model with attn_implementation="eager", and call it '
                "with output_attentions=True."
            )
        )
    value = output[name]
    if is_generated(value):
        return generated_fields(value, output.get("beam_indices"), numbers)
    weights = stacked([numbers(tensor) for tensor in value])
    if name == "cross_attentions":
        return {"matrix": weights}
    return {"matrix": weights, "kind": "encoder" if np.triu(weights, 1).any() else "decoder"}


def generated_fields(steps: Sequence[Sequence[Any]], beam_indices: Any, numbers: Numbers) -> dict[str, Any]:
    """Return the attention of the steps of `generate`, (layers, sentences, heads, Ty, Tx), and its kind.

    Without `beam_indices` a sentence is a row. Rows after the end of a sentence are 0.
    """
    if len({len(step) for step in steps}) > 1:
        raise AttnvizError(gettext("The steps returned by generate() have different numbers of layers."))
    layers = [[numbers(step) for step in layer] for layer in zip(*steps, strict=True)]
    if any(step.ndim != 4 for step in layers[0]):
        raise AttnvizError(
            gettext("The tensors of a step of generate() must have dimensions of sentence, head, target and source.")
        )
    keys = [step.shape[-1] for step in layers[0]]
    grows = keys == list(range(keys[0], keys[0] + len(keys)))
    is_self = grows and layers[0][0].shape[-2] == keys[0] and (len(keys) > 1 or keys[0] > 1)
    if len(set(keys)) > 1 and not is_self:
        raise AttnvizError(
            gettext(
                "The steps returned by generate() have different numbers of source tokens, and it is not clear why. "
                "Give the whole output of generate()."
            )
        )
    rows = None if beam_indices is None else np.asarray(numbers(beam_indices), dtype=np.int64)
    last = keys[-1] if rows is None else keys[min(rows.shape[1], len(keys)) - 1]
    weights = stacked([_joined_steps(layer, rows, last) for layer in layers])
    return {"matrix": weights, "kind": "decoder"} if is_self else {"matrix": weights}


def _joined_steps(
    steps: Sequence[NDArray[np.float64]], rows: NDArray[np.int64] | None, keys: int
) -> NDArray[np.float64]:
    """Return the steps of one layer one below the other, (sentences, heads, Ty, keys); `rows` is (sentences, steps)."""
    parts = []
    for number, step in enumerate(steps if rows is None else steps[: rows.shape[1]]):
        chosen = step
        if rows is not None:
            if rows[:, number].max() >= len(step):
                raise AttnvizError(gettext("The beam_indices name a beam that the tensors do not have."))
            chosen = step[rows[:, number]] * (rows[:, number] >= 0)[:, None, None, None]
        parts.append(np.pad(chosen, [(0, 0)] * 3 + [(0, keys - step.shape[-1])]))
    return np.concatenate(parts, axis=-2)


def check_rows(matrix: NDArray[np.float64], count: int | None) -> None:
    """Raise AttnvizError where generated weights have more rows than the `count` of given sentences: they are beams.

    Weights of a batch are (layers, rows, heads, Ty, Tx); others pass.
    """
    if matrix.ndim == 5 and matrix.shape[1] not in (1, count):
        raise AttnvizError(
            gettext(
                "Rows of attention at each step of generate(): {rows}; sentences given: {count}. If generate() "
                "searched with several beams, give its whole output, whose beam_indices name the beam of each step.",
                rows=matrix.shape[1],
                count=count or 1,
            )
        )


def stacked(layers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return one array of all layers, (layers, ...); raise AttnvizError where their shapes differ."""
    if len({layer.shape for layer in layers}) > 1:
        raise AttnvizError(gettext("The tensors of the layers have different shapes."))
    return np.stack(layers)
