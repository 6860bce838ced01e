"""Read PyTorch files (.pt) with `weights_only=True`, and tensors in memory, such as what a Hugging Face model returns.

`generate` returns a tuple of layers for each step, each tensor (rows, heads, queries, keys). In beam search the rows
are beams, and `beam_indices` name the row of each step of a translation. In self-attention, the keys grow by one each
step.

Accepted are one tensor, a dict of tensors and tokens, the tuple of a forward pass (one tensor for each layer), that of
`generate` (one tuple of layers for each step), and the whole output of a forward pass or of `generate`.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import user_error
from attnviz.extras import naming_extra
from attnviz.file_kinds import ZIP
from attnviz.importing.format import Format
from attnviz.importing.formats.numpy_arrays import archive_members, fields_of, sentences_from_arrays
from attnviz.importing.sentence_pair import Sentences
from attnviz.languages import gettext
from attnviz.reading import LIMITS, Content
from attnviz.trace import Array

_ATTENTIONS = ("cross_attentions", "attentions", "decoder_attentions", "encoder_attentions")
"""Names of attention in an output, the preferred ones first."""
_LEGACY = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""PyTorch's magic number at the beginning of files written before version 1.6."""


def _read(content: Content, count: int | None = None) -> Sentences | None:
    """Return the sentences of a file by torch.save; None for another. `count` is their number where known.

    Raise AttnvizError where it is damaged.
    """
    head = content.data[:256]
    if _LEGACY not in head and not (head.startswith(ZIP) and b"/data.pkl" in head):
        return None
    with naming_extra():
        import torch

    # Compressed members may claim any size; torch.save never compresses.
    if any(
        member.compress_type != zipfile.ZIP_STORED or member.file_size > len(content.data)
        for member in archive_members(content)
    ):
        raise user_error(
            "This PyTorch file is compressed, which torch.save never does. Save the file again with torch.save."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecation warnings for old files
            value = torch.load(io.BytesIO(content.data), map_location="cpu", weights_only=True)
    # Damaged pickles raise nearly any exception, also those of the pickle module, which must not be imported here.
    except Exception as error:
        raise user_error(
            "This PyTorch file is damaged, or holds other things than tensors, numbers and strings. Save a tensor, "
            "a tuple of tensors, or a dict with source, target and matrix."
        ) from error
    return sentences_in(value, count, gettext("The file begins like a file written by torch.save."))


def sentences_in(value: Any, count: int | None, reason: str = "") -> Sentences:
    """Return the sentences in tensors or arrays in memory; raise AttnvizError where they hold no attention."""
    title = "Hugging Face, generate" if _is_generated(value) else "PyTorch"
    if _is_void(value) or hasattr(value, "to_tuple"):  # the output of a model of transformers
        title, fields = "Hugging Face", _output_fields(value)
    elif isinstance(value, Mapping):
        fields = fields_of(value, lambda entry: entry if _is_text(entry) else _fields(entry)["matrix"])
    else:
        fields = _fields(value)
    shape = np.shape(fields.get("matrix", ()))
    if title != "PyTorch" and len(shape) == 5 and shape[1] not in (1, count):
        raise user_error(
            "The attention has {rows} rows at each step of generate(), but the number of sentences given is "
            "{count}. If generate() searched with several beams, give its whole output, whose beam_indices name "
            "the beam of each step.",
            rows=shape[1],
            count=count or 1,
        )
    return sentences_from_arrays(fields, count, title, reason)


def _is_generated(value: Any) -> bool:
    """Return whether `value` is a tuple of layers for each step, as `generate` returns."""
    layers = value[0] if isinstance(value, (tuple, list)) and value else None
    return isinstance(layers, (tuple, list)) and bool(layers) and hasattr(layers[0], "shape")


def _is_void(value: Any) -> bool:
    """Return whether `value` is None or tuples of nothing else: SDPA and flash attention return no weights."""
    return value is None or (isinstance(value, (tuple, list)) and all(map(_is_void, value)))


def _is_text(value: Any) -> bool:
    """Return whether `value` is a text or a dict, or a list or tuple that has one, or is empty: it is no numbers."""
    if not isinstance(value, (tuple, list)):
        return isinstance(value, (str, Mapping))
    return not value or any(isinstance(one, (str, Mapping)) for one in value) or _is_text(value[0])


def _output_fields(output: Any) -> dict[str, Any]:
    """Return the attention in the output of a model, with its kind where it is self-attention."""
    name = next((name for name in _ATTENTIONS if not _is_void(getattr(output, name, None))), None)
    if name is None:
        raise user_error(
            'This output of a model has no attention. Load the model with attn_implementation="eager", and call it '
            "with output_attentions=True."
        )
    value = getattr(output, name)
    fields = _fields(value, getattr(output, "beam_indices", None))
    if name != "cross_attentions" and not _is_generated(value):
        fields["kind"] = "encoder" if np.triu(fields["matrix"], 1).any() else "decoder"
    return fields


def _fields(value: Any, beam_indices: Any = None) -> dict[str, Any]:
    """Return weights as one array, whose first axis is the layer where they have layers, and their kind where known."""
    if _is_generated(value):
        return _generated_fields(value, beam_indices)
    if isinstance(value, (tuple, list)) and hasattr(value[0], "shape"):
        return {"matrix": _stacked([_numbers(layer) for layer in value])}
    return {"matrix": _numbers(value)}


def _generated_fields(steps: Sequence[Sequence[Any]], beam_indices: Any) -> dict[str, Any]:
    """Return the attention of the steps of `generate`, (layers, sentences, heads, Ty, Tx), and its kind.

    Without `beam_indices` a sentence is a row. Rows after the end of a sentence are 0.
    """
    if len({len(step) for step in steps}) > 1:
        raise user_error("The steps returned by generate() have different numbers of layers.")
    layers = [[_numbers(step) for step in layer] for layer in zip(*steps, strict=True)]
    if any(step.ndim != 4 for step in layers[0]):
        raise user_error(
            "The tensors of a step of generate() must have four dimensions: sentence, head, target and source."
        )
    keys = [step.shape[-1] for step in layers[0]]
    grows = keys == list(range(keys[0], keys[0] + len(keys)))
    is_self = grows and layers[0][0].shape[-2] == keys[0] and (len(keys) > 1 or keys[0] > 1)
    if len(set(keys)) > 1 and not is_self:
        raise user_error(
            "The steps returned by generate() have different numbers of source tokens, and it is not clear why. "
            "Give the whole output of generate()."
        )
    rows = np.arange(len(layers[0][0]))[:, None].repeat(len(keys), 1)  # (sentences, steps)
    if beam_indices is not None:
        rows = _numbers(beam_indices).astype(np.int64)[:, : len(keys)]
    last = keys[rows.shape[1] - 1]
    joined = [_joined_steps(layer, rows, last) for layer in layers]
    return {"matrix": _stacked(joined), "kind": "decoder" if is_self else "cross"}


def _joined_steps(steps: Sequence[Array], rows: NDArray[np.int64], keys: int) -> Array:
    """Return the steps of one layer one below the other, (sentences, heads, Ty, keys); `rows` is (sentences, steps)."""
    parts = []
    for row, step in zip(rows.T, steps, strict=False):
        if row.max() >= len(step):
            raise user_error("The beam_indices name a beam that the tensors do not have.")
        chosen = step[row] * (row >= 0)[:, None, None, None]
        parts.append(np.pad(chosen, [(0, 0)] * 3 + [(0, keys - step.shape[-1])]))
    return np.concatenate(parts, axis=-2)


def _stacked(layers: Sequence[Array]) -> Array:
    """Return one array of all layers, (layers, ...); raise AttnvizError where their shapes differ."""
    if len({layer.shape for layer in layers}) > 1:
        raise user_error("The tensors of the layers have different shapes.")
    return np.stack(layers)


def _numbers(value: Any) -> Array:
    """Return one tensor, array or list in float64; raise AttnvizError where it is no numbers, or too large."""
    try:
        LIMITS.check(bytes=8 * math.prod(np.shape(value)))  # an expanded tensor in a small file may have any shape
        if hasattr(value, "detach"):
            value = value.detach().cpu().double().numpy()
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise user_error("The attention weights are not numbers: {error}.", error=str(error)[:80]) from error


TENSORS = Format(
    "torch",
    "PyTorch",
    _read,
    aliases=("pt", "huggingface", "generate"),
    example="`.pt` files of a tensor, a tuple of tensors or a dict; attnviz reads them with `weights_only`",
    written_by='`torch.save(out.cross_attentions, "a.pt")`, where `out` comes from a model or from `generate`',
)
