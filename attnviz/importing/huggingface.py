"""Record the attention of every head of a Hugging Face model, and attributions, as an `Attention`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.importing.huggingface_model import LanguageModel, Run, opened
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Attention
from attnviz.trace.attention_builder import check_kind
from attnviz.trace.open_format import from_fields
from attnviz.trace.parts import Kind
from attnviz.trace.storage import LARGEST
from attnviz.trace.tokens import BYTES, SPECIAL

_OUTPUTS = {"cross": "cross_attentions", "encoder": "encoder_attentions", "decoder": "decoder_attentions"}
"""Names of the outputs of an encoder-decoder model, by kind of attention."""


def from_huggingface(
    model: Any,
    tokenizer: Any = None,
    text: str = "",
    *,
    target: str | None = None,
    kind: Kind | None = None,
    layer: int | None = None,
    head: int | None = None,
    beam: int = 1,
    attributions: bool = False,
) -> Attention:
    """Return the attention of every head of `model` for `text` as one record.

    `record.head_weights` has the weights, (layers, heads, Ty, Tx). `record.alignment` is the attention of 0-based
    `head` of 0-based `layer`, or the mean over that layer's heads, or over all heads; layer -1 is the last.
    `record.seen_by(layer, head)` chooses others without another run. `record.states` are those of the last layer.

    `model` is a model of `transformers` with its `tokenizer`, or the name of a folder or of a model on the hub, whose
    tokenizer is loaded with it. `kind` is "cross" for the cross-attention of an encoder-decoder model, "encoder" for
    the self-attention of its encoder or of an encoder-only model such as BERT, "decoder" for that of its decoder or of
    a decoder-only model such as GPT-2. By default it is the one that links source and target, or the only one.

    A given `target` is decoded by teacher forcing; otherwise beam search of width `beam` generates it, 1 being greedy.
    A decoder-only model reads the text followed by the target, if there is one. With `attributions` the record has
    `gradient` and `erased`, those of `Translator.attributions`, for log p of each token.

    The weights come from a forward pass with "eager" attention, because faster implementations return no weights.
    Raise AttnvizError where the model cannot be loaded, reads no text, has no such attention, layer or head, or the
    text is blank or too long.
    """
    fields = _fields(opened(model, tokenizer), text, target, kind, beam, attributions=attributions)
    return from_fields(fields).seen_by(layer, head)


def sentences_of_model(
    name: Any, texts: Sequence[Any], targets: Sequence[Any] | None, *, attributions: bool = False
) -> Sentences:
    """Return sentence pairs whose attention the model in a folder computes on access.

    `targets` of None are generated.
    """
    language_model = opened(name)

    @lru_cache(maxsize=32)  # scoring reads a pair several times
    def read(index: int) -> SentencePair:
        text, target = (_plain(side[index]) if side else None for side in (texts, targets))
        return SentencePair(_fields(language_model, text or "", target, None, 1, attributions=attributions))

    return Sentences(range(len(texts)), read, gettext("model {model}", model=language_model.name))


def _plain(sentence: Any) -> str:
    """Return a sentence that may be a list of tokens as text."""
    return sentence if isinstance(sentence, str) else " ".join(sentence)


def _fields(
    language_model: LanguageModel,
    text: str,
    target: str | None,
    kind: Kind | None,
    beam: int,
    *,
    attributions: bool = False,
) -> dict[str, Any]:
    """Return the attention of a model in the open format (`attnviz.trace.open_format`)."""
    _check_texts(text, target)
    if kind is not None:
        check_kind(kind)
    with language_model.plain_attention():
        run = language_model.run(text, target, beam)
        weights, found = _weights(language_model, run, kind)
        attributed = {}
        if attributions:
            if found != "cross" and run.written is not None:
                raise AttnvizError(
                    gettext("The attributions of an encoder-decoder model belong to its cross-attention.")
                )
            # The module defines classes with torch, which loads slowly.
            from attnviz.importing.huggingface_attribution import attributions_of

            both = attributions_of(language_model, run, causal=found == "decoder")
            attributed = {"gradient": both.gradient, "erased": both.erased}
    tokens = partial(_tokens, language_model.tokenizer)
    read = run.ids if found != "decoder" or run.written is None else run.written[:, :-1]
    source = tokens(read[0].tolist())
    return attributed | {
        "source": source,
        "target": tokens(run.written[0, 1:].tolist()) if found == "cross" else source,
        "matrix": weights,
        "states": _states(run, found),
        "kind": found,
        "origin": language_model.name,
    }


def _check_texts(text: object, target: object) -> None:
    """Raise AttnvizError unless the text is a sentence, and the target one or None."""
    if not isinstance(text, str) or not isinstance(target, str | None):
        raise AttnvizError(
            gettext("Text and target must be one string each. For several texts, call the function once for each.")
        )
    if not text.strip():
        raise AttnvizError(gettext("There is no text: write a sentence."))


def _weights(language_model: LanguageModel, run: Run, kind: Kind | None) -> tuple[NDArray[np.float64], Kind]:
    """Return the weights of every head, (L, H, Ty, Tx), and the kind of attention."""
    name = type(language_model.model).__name__
    if language_model.has_decoder:
        chosen: Kind = kind or "cross"
        return _stacked(getattr(run.output, _OUTPUTS[chosen], None), language_model), chosen
    if kind == "cross":
        raise AttnvizError(gettext("{name} is not an encoder-decoder model, so it has no cross-attention.", name=name))
    weights = _stacked(getattr(run.output, "attentions", None), language_model)
    causal = not np.triu(weights, 1).any() and (weights.shape[-1] > 1 or language_model.model.can_generate())
    found: Kind = "decoder" if causal else "encoder"
    if kind not in (None, found):
        message = (
            gettext("{name} has only a decoder. Leave out the kind of attention, or give “decoder”.", name=name)
            if causal
            else gettext("{name} has only an encoder. Leave out the kind of attention, or give “encoder”.", name=name)
        )
        raise AttnvizError(message)
    return weights, found


def _stacked(layers: Sequence[Any] | None, language_model: LanguageModel) -> NDArray[np.float64]:
    """Return the weights of every head, (L, H, Ty, Tx), from a tensor (1, H, Ty, Tx) for each layer."""
    if not layers or any(layer is None or layer.ndim != 4 for layer in layers):
        raise AttnvizError(
            gettext(
                '{name} returned no attention weights. Load the model with attn_implementation="eager"; some models '
                "have no attention.",
                name=type(language_model.model).__name__,
            )
        )
    if len({layer.shape for layer in layers}) > 1:
        raise AttnvizError(
            gettext("The layers of {name} have different numbers of heads.", name=type(language_model.model).__name__)
        )
    if 4 * len(layers) * math.prod(layers[0].shape) > LARGEST:
        raise AttnvizError(
            gettext("The attention of all heads takes more than {most} MB. Give a shorter text.", most=LARGEST // 10**6)
        )
    weights: NDArray[np.float64] = np.stack([layer[0].double().cpu().numpy() for layer in layers])
    sums = weights.sum(axis=-1, keepdims=True)
    # In half precision rows sum to 1 only approximately; a row without weight stays empty.
    return weights if layers[0].dtype.itemsize >= 4 else weights / np.where(sums == 0, 1, sums)


def _states(run: Run, kind: Kind) -> NDArray[np.float32]:
    """Return the hidden states of the last layer of the side that attends, (Ty, n)."""
    side = "" if run.written is None else "encoder_" if kind == "encoder" else "decoder_"
    states: NDArray[np.float32] = getattr(run.output, f"{side}hidden_states")[-1][0].float().cpu().numpy()
    return states


def _tokens(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return the tokens of `ids` as the tokenizer spells them; special tokens, such as language codes, become words."""
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(ids)]
    tokens = [token if token.strip() else SPACE if token else "<unk>" for token in tokens]
    special = set(tokenizer.all_special_tokens) - set(SPECIAL)
    mark = next((mark for mark in (SPACE, BYTES) if any(token.startswith(mark) for token in tokens)), "")
    if not mark:
        return tokens
    marked = [mark + token if token in special else token for token in tokens]
    if mark == BYTES:  # byte-level BPE writes no mark at the beginning of a text, which is after a special token
        for place in range(1, len(tokens)):
            if tokens[place - 1] in special and not marked[place].startswith(mark) and tokens[place] not in SPECIAL:
                marked[place] = mark + marked[place]
    return marked
