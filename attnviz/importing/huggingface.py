"""Record the cross-attention of Hugging Face encoder-decoder models as an `Attention`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import MOST_TOKENS, Attention, attention
from attnviz.trace.tokens import SPECIAL

_LONGEST = 400
"""Largest number of tokens that a model generates."""


def from_huggingface(
    model: Any,
    tokenizer: Any,
    text: str,
    *,
    target: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    beam: int = 1,
) -> Attention:
    """Return the cross-attention of `model` for `text`, from each generated token to each source token.

    The weights are those of 0-based `head` of 0-based `layer`, or the mean over that layer's heads, or over all heads
    of all layers; layer -1 is the last. The states are hidden states of the last decoder layer.

    `model` is an encoder-decoder model of `transformers`, with its `tokenizer`. A given `target` is decoded by teacher
    forcing; otherwise beam search of width `beam` generates it, 1 being greedy. The weights come from a second
    forward pass with "eager" attention, because the faster implementations return no weights.
    Raise AttnvizError where the model has no cross-attention, no such layer or head, or the text is blank or too long.
    """
    import torch

    _check(model, text, layer, head)
    with torch.inference_mode(), _plain_attention(model):
        encoded = tokenizer(text, return_tensors="pt")
        ids, mask = encoded["input_ids"].to(model.device), encoded["attention_mask"].to(model.device)
        _check_length(model, ids)
        written = _written(model, tokenizer, ids, mask, target, beam)
        _check_length(model, written[:, :-1])
        output = model(
            input_ids=ids,
            attention_mask=mask,
            decoder_input_ids=written[:, :-1],
            output_attentions=True,
            output_hidden_states=True,
            use_cache=False,
        )
    weights = _chosen(output.cross_attentions, layer, head)
    source, target_tokens = (_tokens(tokenizer, one.tolist()) for one in (ids[0], written[0, 1:]))
    return attention(
        source,
        target_tokens,
        weights.double().cpu().numpy(),
        states=output.decoder_hidden_states[-1][0].float().cpu().numpy(),
        normalise=model.dtype != torch.float32,  # in half precision rows sum to 1 only approximately
        origin=_origin(model, layer, head),
    )


def _check(model: Any, text: str, layer: int | None, head: int | None) -> None:
    if not getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        raise AttnvizError(
            gettext("{name} is not an encoder-decoder model, so it has no cross-attention.", name=type(model).__name__)
        )
    if not text.strip():
        raise AttnvizError(gettext("There is no text: write a sentence."))
    if layer is None and head is not None:
        raise AttnvizError(gettext("You gave a head without its layer: give the layer too."))


def _most(model: Any) -> int:
    """Return the largest number of tokens of a side that the model can read and the page can show."""
    return min(MOST_TOKENS, getattr(model.config, "max_position_embeddings", None) or MOST_TOKENS)


def _check_length(model: Any, ids: Any) -> None:
    """Raise AttnvizError where `ids` (1, T) has more tokens than `_most` allows."""
    if ids.shape[1] > _most(model):
        raise AttnvizError(
            gettext(
                "The source or the target has {count} tokens; at most {most} can be shown.",
                count=ids.shape[1],
                most=_most(model),
            )
        )


@contextlib.contextmanager
def _plain_attention(model: Any) -> Iterator[None]:
    """Set the model to "eager" attention and evaluation mode, and restore both afterwards."""
    previous_implementation, training = model.config._attn_implementation, model.training
    model.set_attn_implementation("eager")
    model.eval()
    try:
        yield
    finally:
        model.set_attn_implementation(previous_implementation)
        model.train(training)


def _written(model: Any, tokenizer: Any, ids: Any, mask: Any, target: str | None, beam: int) -> Any:
    """Return the decoder's token ids, (1, 1 + Ty): the start token, then the generated or given target."""
    import torch

    if target is None:
        written = model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=beam,
            do_sample=False,
            max_new_tokens=min(_LONGEST, _most(model) - 1),
        )
        if written.shape[1] < 2:
            raise AttnvizError(gettext("The model wrote nothing."))
        return written
    start = model.generation_config.decoder_start_token_id
    labels = tokenizer(text_target=target, return_tensors="pt")["input_ids"].to(ids.device)
    if start is None or not labels.numel():
        raise AttnvizError(
            gettext(
                "Forced decoding cannot begin: the target is empty, or the model has no start token for its decoder."
            )
        )
    return torch.cat([torch.full_like(labels[:, :1], start), labels], dim=1)


def _chosen(layers: Sequence[Any] | None, layer: int | None, head: int | None) -> Any:
    """Return the weights (Ty, Tx) of one head, or a mean; `layers` has one tensor (1, H, Ty, Tx) for each layer."""
    import torch

    if not layers or layers[0] is None:
        raise AttnvizError(gettext("The model returned no cross-attention."))
    if layer is None:
        return torch.stack([one[0] for one in layers]).mean(dim=(0, 1))
    if not -1 <= layer < len(layers):
        raise AttnvizError(
            gettext(
                "Layer {number} (index {index}) does not exist: this transformer has layers 1 to {layers}.",
                number=layer + 1,
                index=layer,
                layers=len(layers),
            )
        )
    heads = layers[layer][0]
    if head is None:
        return heads.mean(dim=0)
    if not 0 <= head < len(heads):
        raise AttnvizError(
            gettext(
                "Head {number} (index {index}) does not exist: each layer of this transformer has heads 1 to {heads}.",
                number=head + 1,
                index=head,
                heads=len(heads),
            )
        )
    return heads[head]


def _tokens(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return the tokens of `ids` as the tokenizer spells them; special tokens, such as language codes, become words."""
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(ids)]
    special = set(tokenizer.all_special_tokens) - set(SPECIAL)
    has_spaces = any(token.startswith(SPACE) for token in tokens)
    return [SPACE + token if has_spaces and token in special else token or "<unk>" for token in tokens]


def _origin(model: Any, layer: int | None, head: int | None) -> str:
    """Return the model's name and the chosen heads, for display."""
    name = str(getattr(model.config, "name_or_path", "") or type(model).__name__)[-80:]
    if layer is None:
        return f"{name}, mean of all heads"
    layer_name = "last layer" if layer == -1 else f"layer {layer + 1}"
    return f"{name}, mean of {layer_name}" if head is None else f"{name}, {layer_name}, head {head + 1}"
