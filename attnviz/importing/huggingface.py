"""Record the attention of every head of a Hugging Face model, and its attributions by gradient or erasure.

The embeddings are replaced by a forward hook on the embedding module, so that any scale or position that the model adds
afterwards stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from attnviz.arguments import check_whole_argument
from attnviz.errors import user_error
from attnviz.importing.huggingface_model import LanguageModel, Run, open_language_model
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Array, Attention
from attnviz.trace.attention_builder import check_kind
from attnviz.trace.attention_record import from_fields
from attnviz.trace.parts import HeadKind
from attnviz.trace.storage import LARGEST

_ROWS = 32
"""Largest number of sentences that the model reads together."""
_IDS = 4096
"""Number of embeddings that are averaged at a time."""


def from_huggingface(
    model: Any,
    tokenizer: Any = None,
    text: str = "",
    *,
    target: str | None = None,
    kind: HeadKind | None = None,
    layer: int | None = None,
    head: int | None = None,
    beam: int = 5,
    attributions: bool = False,
) -> Attention:
    """Return the attention of every head of a Hugging Face model for a text as one record.

    `record.head_weights` has the weights, (layers, heads, Ty, Tx). `record.select_heads(layer, head)` chooses other
    heads without another run. `record.states` are those of the last layer. The weights come from a forward pass with
    "eager" attention, because faster implementations return no weights.

    Args:
        model: A model of `transformers`, or the name of a folder or of a model on the hub, whose tokenizer is loaded
            with it.
        tokenizer: The tokenizer of the model.
        text: The text that the model reads.
        target: A text that is decoded by teacher forcing; without it, beam search generates one. A decoder-only model
            reads the text followed by the target, if there is one.
        kind: "cross" for the cross-attention of an encoder-decoder model, "encoder" for the self-attention of its
            encoder or of an encoder-only model such as BERT, "decoder" for that of its decoder or of a decoder-only
            model such as GPT-2. By default it is the one that links source and target, or the only one.
        layer: Layer of `record.alignment`, from 0; -1 is the last. Without it, the mean over all heads.
        head: Head of that layer, from 0. Without it, the mean over the heads of the layer.
        beam: Width of the beam search, from 1 (greedy) to 100.
        attributions: Whether to compute `gradient` and `erased`, those of `Translator.attributions`, for log p of each
            token.

    Returns:
        The record.

    Raises:
        AttnvizError: The model cannot be loaded, reads no text, or has no such attention, layer or head, or the text is
            blank or too long.
    """
    check_whole_argument(gettext("width of the beam"), beam, 1, 100)
    fields = _fields(open_language_model(model, tokenizer), text, target, kind, beam, attributions=attributions)
    return from_fields(fields).select_heads(layer, head)


def sentences_of_model(
    name: Any, texts: Sequence[Any], targets: Sequence[Any] | None, *, attributions: bool
) -> Sentences:
    """Return sentence pairs whose attention the model in a folder computes on access.

    A sentence may be a list of tokens. `targets` of None are generated.
    """
    language_model = open_language_model(name)

    @lru_cache(maxsize=32)  # scoring reads a pair several times
    def read(sentences: tuple[str, str | None]) -> SentencePair:
        return SentencePair(_fields(language_model, *sentences, None, 5, attributions=attributions))

    sides = (texts, targets or [None] * len(texts))
    joined = ([" ".join(one) if isinstance(one, (list, tuple)) else one for one in side] for side in sides)
    return Sentences([*zip(*joined, strict=True)], read, gettext("model {model}", model=language_model.name))


def _fields(
    language_model: LanguageModel,
    text: Any,
    target: Any,
    kind: HeadKind | None,
    beam: int,
    *,
    attributions: bool,
) -> dict[str, Any]:
    """Return the attention of a model in the open format (`attnviz.trace.attention_record`)."""
    if not isinstance(text, str) or not isinstance(target, str | None):
        raise user_error(
            "Text and target must be one string each. For several texts, call the function once for each text."
        )
    if not text.strip():
        raise user_error("There is no text: write a sentence.")
    if kind is not None:
        check_kind(kind)
    model, tokenizer = language_model
    is_pair = model.config.is_encoder_decoder
    with language_model.plain_attention():
        run = language_model.run(text, target, beam)
        if is_pair:
            kind = kind or "cross"
            weights = _weights(model, run.output, f"{kind}_")
            states = run.output.encoder_hidden_states if kind == "encoder" else run.output.decoder_hidden_states
        else:
            weights, states = _weights(model, run.output, ""), run.output.hidden_states
            kind = _only_kind(model, weights, kind)
        attributed = _attributions(language_model, run, kind) if attributions else {}
    ids = run.inputs["decoder_input_ids" if is_pair and kind == "decoder" else "input_ids"]
    source = _tokens(tokenizer, ids[0].tolist(), read=kind != "decoder")
    # An unknown or masked token stands for a word.
    words = {getattr(tokenizer, name, None) for name in ("unk_token", "mask_token")}
    return attributed | {
        "source": source,
        "target": _tokens(tokenizer, run.labels[0].tolist()) if kind == "cross" else source,
        "matrix": weights,
        "states": states[-1][0].float().cpu().numpy(),  # (Ty, n)
        "kind": kind,
        "origin": language_model.name,
        "special": [str(token) for token in tokenizer.all_special_tokens if token not in words],
    }


def _weights(model: Any, output: Any, side: str) -> Array:
    """Return the weights of every head, (L, H, Ty, Tx), of this side of a model's output."""
    import torch

    layers = getattr(output, f"{side}attentions", None)  # (1, H, Ty, Tx) each
    name = type(model).__name__
    if not layers or any(layer is None or layer.ndim != 4 for layer in layers):
        raise user_error(
            "{name} returned no attention weights. If the model has attention, load it with "
            'attn_implementation="eager".',
            name=name,
        )
    if len({layer.shape for layer in layers}) > 1:
        raise user_error("The layers of {name} have different numbers of heads.", name=name)
    if 4 * sum(layer.numel() for layer in layers) > LARGEST:
        raise user_error(
            "The attention of all heads takes more than {most} MB. Give a shorter text.", most=LARGEST // 10**6
        )
    weights = torch.stack([layer[0].double().cpu() for layer in layers])
    if layers[0].dtype.itemsize < 4:  # in half precision rows sum to 1 only approximately; an empty row stays empty
        weights = torch.nn.functional.normalize(weights, p=1, dim=-1)
    found: Array = weights.numpy()
    return found


def _only_kind(model: Any, weights: Array, kind: HeadKind | None) -> HeadKind:
    """Return the kind of attention of a model without a separate decoder; raise AttnvizError for another `kind`."""
    causal = not np.triu(weights, 1).any() and (weights.shape[-1] > 1 or model.can_generate())
    found: HeadKind = "decoder" if causal else "encoder"
    if kind not in (None, found):
        raise user_error(
            "{name} has no attention of the kind “{kind}”. Leave out the kind, or give “{found}”.",
            name=type(model).__name__,
            kind=kind,
            found=found,
        )
    return found


def _tokens(tokenizer: Any, ids: list[int], *, read: bool = False) -> list[str]:
    """Return the tokens of `ids` as the tokenizer spells them; with `read`, of the text that the encoder reads."""
    spelled = tokenizer.convert_ids_to_tokens(ids)
    if read and getattr(tokenizer, "separate_vocabs", False):  # MarianTokenizer spells all ids by the target's
        vocabulary = {number: token for token, number in tokenizer.encoder.items()}
        spelled = [vocabulary.get(number) for number in ids]
    return [(token if token.strip() else SPACE) if token else "<unk>" for token in spelled]


def _attributions(language_model: LanguageModel, run: Run, kind: HeadKind) -> dict[str, Array]:
    """Return gradient × input and erasure of log p(y_i) for each token that the model or its encoder reads, (Ty, Tx).

    Without a separate decoder, both sides are the sequence. Of a causal model, y_i is token i given the tokens before
    it: the first row is 0. Of a masked language model, y_i is token i given all others, with the mask in its place,
    whose own attribution is 0. Raise AttnvizError where the model does not predict tokens.
    """
    import torch

    model, tokenizer = language_model
    is_pair, ids, labels = model.config.is_encoder_decoder, run.inputs["input_ids"], run.labels
    logits = getattr(run.output, "logits", None)
    if is_pair and kind != "cross":
        raise user_error("The attributions of an encoder-decoder model can be computed only with its cross-attention.")
    if logits is None or logits.ndim != 3 or logits.shape[-1] <= int(labels.max()):
        raise user_error(
            "{name} predicts no tokens, so there is no probability to attribute. Load the model with its "
            "language modelling head.",
            name=type(model).__name__,
        )
    if kind == "encoder" and tokenizer.mask_token_id is None:
        raise user_error("The tokenizer has no mask token, so the model cannot predict a hidden token.")
    embedding = (model.get_encoder() if is_pair else model).get_input_embeddings()

    def log_probabilities(rows: Any) -> Any:
        """Return log p of each target token, (R, Ty), where the model reads each of the embeddings (R, Tx, d)."""
        inputs = {name: value.expand(len(rows), -1) for name, value in run.inputs.items()}
        first = iter([rows])  # only the encoder's, because the decoder may use the same module
        with embedding.register_forward_hook(lambda *_: next(first, None)):
            logits = model(**inputs).logits  # (R, Ty, V)
        if kind == "decoder":
            logits = logits.roll(1, dims=1)
        likely = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
        return likely[:, range(labels.shape[1]), labels[0]]

    def attributed(ids: Any, predicted: Any) -> Any:
        """Return gradient × input and erasure of log p of P `predicted` tokens, (2, P, Tx), for `ids` (1, Tx)."""
        given = embedding(ids)[0]  # (Tx, d)

        def likely(factors: Any) -> Any:
            """Return log p, (P,), where each embedding is multiplied by its factor, (Tx,)."""
            return log_probabilities((factors[:, None] * given)[None])[0, predicted]

        ones = torch.ones_like(given[:, 0])
        gradient = torch.autograd.functional.jacobian(likely, ones)  # type: ignore[no-untyped-call]  # (P, Tx)
        without = []
        for part in torch.split(places, _ROWS):
            rows = given.repeat(len(part), 1, 1)  # (R, Tx, d)
            rows[range(len(part)), part] = mean.to(rows)
            without.append(log_probabilities(rows)[:, predicted])  # (R, P)
        return torch.stack([gradient, (likely(ones) - torch.cat(without)).T])

    places = torch.arange(ids.shape[1], device=ids.device)
    with torch.no_grad():
        vocabulary = torch.tensor([n for n in range(len(embedding.weight)) if n != tokenizer.pad_token_id])
        parts = torch.split(vocabulary.to(ids.device), _IDS)
        mean = sum(embedding(part).double().sum(0) for part in parts) / len(vocabulary)  # (d,)
        if kind == "encoder":
            hidden = torch.split(places, 1)
            rows = [attributed(ids.index_fill(1, place, tokenizer.mask_token_id), place) for place in hidden]
            found = torch.cat(rows, dim=1)  # (2, Ty, Tx)
            found.diagonal(dim1=1, dim2=2).zero_()
        else:
            found = attributed(ids, slice(None))  # (2, Ty, Tx)
            found = found.tril(-1) if kind == "decoder" else found
    gradient, erased = found.double().cpu().numpy()
    return {"gradient": gradient, "erased": erased}
