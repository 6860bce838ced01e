"""Read PyTorch files (.pt) with `weights_only=True`, and tensors in memory, such as what a Hugging Face model returns.

`generate` returns a tuple of layers for each step, each tensor (rows, heads, queries, keys). In beam search the rows
are beams, and `beam_indices` name the row of each step of a translation. In self-attention, the keys grow by one each
step.

Accepted are one tensor, a dict of tensors and tokens, the tuple of a forward pass (one tensor for each layer), that of
`generate` (one tuple of layers for each step), and the whole output of a forward pass or of `generate`.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED
from attnviz.importing.format import Format
from attnviz.importing.formats.json_object import MATRICES, SOURCES, TARGETS, named
from attnviz.importing.formats.numpy_arrays import EXTRAS, PARTS, TEXTS, parts_of, sentences_of
from attnviz.importing.sentence_pair import Sentences
from attnviz.languages import gettext
from attnviz.reading import ZIP, Content

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


def _is_void(value: Any) -> bool:
    """Return whether `value` is None or tuples of nothing else: SDPA and flash attention return no weights."""
    return value is None or (isinstance(value, (tuple, list)) and all(map(_is_void, value)))


def _no_attention() -> AttnvizError:
    return AttnvizError(
        gettext(
            'This output of a model has no attention. Load the model with attn_implementation="eager", and call it '
            "with output_attentions=True."
        )
    )


def output_fields(output: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    """Return the attention in the output of a model, with its kind where it is self-attention."""
    name = next((name for name in _ATTENTIONS if not _is_void(output.get(name))), None)
    if name is None:
        raise _no_attention()
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
            gettext("The tensors of a step of generate() must have four dimensions: sentence, head, target and source.")
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
                "The attention has {rows} rows at each step of generate(), but the number of sentences given is "
                "{count}. If generate() searched with several beams, give its whole output, whose beam_indices name "
                "the beam of each step.",
                rows=matrix.shape[1],
                count=count or 1,
            )
        )


def stacked(layers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return one array of all layers, (layers, ...); raise AttnvizError where their shapes differ."""
    if len({layer.shape for layer in layers}) > 1:
        raise AttnvizError(gettext("The tensors of the layers have different shapes."))
    return np.stack(layers)


_LEGACY = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""PyTorch's magic number at the beginning of files written before version 1.6."""
LARGEST = 64 * 10**6
"""Largest size of all numbers, in bytes."""


def read(content: Content, count: int | None = None) -> Sentences | None:
    """Return the sentences of a file by torch.save; None for another. `count` is their number where known.

    Raise AttnvizError where it is damaged.
    """
    head = content.data[:256]
    if not (content.data.startswith(ZIP) and b"/data.pkl" in head) and not (head[:1] == b"\x80" and _LEGACY in head):
        return None
    import torch

    if _is_compressed(content.data):
        raise AttnvizError(
            gettext(
                "This PyTorch file is compressed, which torch.save never does. Save the file again with torch.save."
            )
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecation warnings for old files
            value = torch.load(io.BytesIO(content.data), map_location="cpu", weights_only=True)
    # Damaged pickles raise nearly any exception, also those of the pickle module, which must not be imported here.
    except Exception as error:
        raise AttnvizError(
            gettext(
                "This PyTorch file is damaged, or holds other things than tensors, numbers and strings. Save a tensor, "
                "a tuple of tensors, or a dict with source, target and matrix."
            )
        ) from error
    reason = gettext("The file begins like a file written by torch.save.")
    return replace(sentences_in(value, count), reason=reason)


def sentences_in(value: Any, count: int | None) -> Sentences:
    """Return the sentences in tensors or arrays in memory; raise AttnvizError where they hold no attention."""
    title = "PyTorch"
    if _is_void(value):
        raise _no_attention()
    if is_output(value):
        fields = output_fields(value, _numbers)
        check_rows(fields["matrix"], count)
        return sentences_of(fields, count, "Hugging Face")
    if is_generated(value):
        fields = generated_fields(value, None, _numbers)
        check_rows(fields["matrix"], count)
        return sentences_of(fields, count, "Hugging Face, generate")
    if isinstance(value, Mapping):
        fields = {}
        for field, names in (("matrix", MATRICES), ("source", SOURCES), ("target", TARGETS)):
            if (entry := named({str(name): tensor for name, tensor in value.items()}, names)) is not None:
                fields[field] = _array(entry[1]) if field == "matrix" else entry[1]
        lowered = {str(name).lower(): entry for name, entry in value.items() if entry is not None}
        fields |= {name: _array(lowered[name]) for name in EXTRAS if name in lowered}
        parts = {name: lowered[name] for name in PARTS if name in lowered}
        fields |= parts_of({name: np.array(e, str) if name in TEXTS else _numbers(e) for name, e in parts.items()})
        if not {"matrix", "links"} & {*fields}:
            raise AttnvizError(
                gettext(
                    "No tensor has a known name for weights, such as {names}. The tensors are named {found}. Rename "
                    "the tensor of the weights.",
                    names=", ".join(MATRICES[:4]),
                    found=", ".join(map(str, value))[:80] or "–",
                )
            )
        return sentences_of(fields, count, title)
    return sentences_of({"matrix": _array(value)}, count, title)


def _array(value: Any) -> NDArray[np.float64]:
    """Return weights as one array: layers stacked on the first axis, steps of `generate` concatenated as rows."""
    if is_generated(value):
        weights: NDArray[np.float64] = generated_fields(value, None, _numbers)["matrix"]
        return weights
    if not isinstance(value, (tuple, list)):
        return _numbers(value)
    if isinstance(value[0], (tuple, list)):
        return _numbers(value)  # plain lists of numbers
    return stacked([_numbers(tensor) for tensor in value])


def _numbers(value: Any) -> NDArray[np.float64]:
    """Return one tensor, array or list in float64; raise AttnvizError where it is no numbers, or too large."""
    try:
        if hasattr(value, "detach"):
            # An expanded tensor in a small file may stand for any number of elements.
            if 8 * value.numel() > LARGEST:
                raise _too_large()
            value = value.detach().to("cpu").double().numpy()
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise AttnvizError(gettext("The attention weights are not numbers: {error}.", error=str(error)[:80])) from error
    if array.nbytes > LARGEST:
        raise _too_large()
    return array


def _too_large() -> AttnvizError:
    return AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST // 10**6))


def _is_compressed(data: bytes) -> bool:
    """Return whether an archive has compressed members, which may claim any size; torch.save never compresses."""
    if not data.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(
                member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data)
                for member in archive.infolist()
            )
    except DAMAGED:
        return False  # torch.load raises a clearer error


FORMAT = Format(
    "torch",
    "PyTorch",
    read,
    aliases=("pt", "huggingface", "generate"),
    example="`.pt` files of a tensor, a tuple of tensors or a dict; attnviz reads them with `weights_only`",
    written_by='`torch.save(out.cross_attentions, "a.pt")`, where `out` comes from a model or from `generate`',
)
