"""Record the attention of every head of a Hugging Face model, and its attributions by gradient or erasure.

The embeddings are replaced by a forward hook on the embedding module, so that any scale or position that the model adds
afterwards stays.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.importing.huggingface_model import LanguageModel, Run, opened
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.text import SPACE
from attnviz.trace import Attention
from attnviz.trace.attention_builder import check_kind
from attnviz.trace.open_format import from_fields
from attnviz.trace.parts import Attributions, Kind
from attnviz.trace.storage import LARGEST
from attnviz.trace.tokens import BYTES

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
    `record.select_heads(layer, head)` chooses others without another run. `record.states` are those of the last layer.

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
    return from_fields(fields).select_heads(layer, head)


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
                    gettext(
                        "The attributions of an encoder-decoder model can be computed only with its cross-attention."
                    )
                )
            # The module defines classes with torch, which loads slowly.
            from attnviz.importing.huggingface import attributions_of

            both = attributions_of(language_model, run, causal=found == "decoder")
            attributed = {"gradient": both.gradient, "erased": both.erased}
    tokens = partial(_tokens, language_model.tokenizer)
    read = run.ids if found != "decoder" or run.written is None else run.written[:, :-1]
    source = tokens(read[0].tolist(), read=found != "decoder")
    return attributed | {
        "source": source,
        "target": tokens(run.written[0, 1:].tolist()) if found == "cross" else source,
        "matrix": weights,
        "states": _states(run, found),
        "kind": found,
        "origin": language_model.name,
        "special": _special(language_model.tokenizer),
    }


def _check_texts(text: object, target: object) -> None:
    """Raise AttnvizError unless the text is a sentence, and the target one or None."""
    if not isinstance(text, str) or not isinstance(target, str | None):
        raise AttnvizError(
            gettext("Text and target must be one string each. For several texts, call the function once for each text.")
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
                "{name} returned no attention weights. If the model has attention, load it with "
                'attn_implementation="eager".',
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


def _special(tokenizer: Any) -> list[str]:
    """Return the special tokens of a tokenizer that are no words; an unknown or masked token stands for a word."""
    words = {getattr(tokenizer, "unk_token", None), getattr(tokenizer, "mask_token", None)}
    return [str(token) for token in tokenizer.all_special_tokens if token not in words]


def _tokens(tokenizer: Any, ids: list[int], *, read: bool = False) -> list[str]:
    """Return the tokens of `ids` as the tokenizer spells them; with `read`, of the text that the encoder reads."""
    vocabulary: dict[int, str] = {}
    if read and getattr(tokenizer, "separate_vocabs", False):  # MarianTokenizer spells all ids by the target's
        vocabulary = {number: token for token, number in tokenizer.encoder.items()}
    spelled = [vocabulary.get(number) for number in ids] if vocabulary else tokenizer.convert_ids_to_tokens(ids)
    tokens = [token if token and token.strip() else SPACE if token else "<unk>" for token in map(_text, spelled)]
    if any(token.startswith(BYTES) for token in tokens):
        # Byte-level BPE writes no mark at the beginning of a text, which is after a special token.
        special = {*_special(tokenizer)}
        for place in range(1, len(tokens)):
            if tokens[place - 1] in special and not {tokens[place]} & special and not tokens[place].startswith(BYTES):
                tokens[place] = BYTES + tokens[place]
    return tokens


def _text(token: Any) -> str:
    return "" if token is None else str(token)


_ROWS = 32
"""Largest number of sentences that the model reads together."""
_IDS = 4096
"""Number of embeddings that are averaged at a time."""


def attributions_of(language_model: LanguageModel, run: Run, *, causal: bool) -> Attributions:
    """Return the attributions of log p(y_i) to each token that the model or its encoder reads, (Ty, Tx).

    Without a separate decoder, both sides are the sequence. Of a causal model, y_i is token i given the tokens before
    it: the first row is 0. Of a masked language model, y_i is token i given all others, with the mask in its place,
    whose own attribution is 0. Raise AttnvizError where the model does not predict tokens.
    """
    scorer = _Scorer(language_model, run, causal)
    vectors = scorer.vectors()
    if run.written is None and not causal:
        rows = [scorer.attribution(vectors_i, [i]) for i, vectors_i in scorer.masked(vectors)]
        gradient, erased = (torch.cat(parts) * (1 - torch.eye(len(rows))) for parts in zip(*rows, strict=True))
    else:
        gradient, erased = scorer.attribution(vectors, list(range(scorer.labels.shape[1])))
    if run.written is None and causal:
        gradient, erased = (torch.nn.functional.pad(part, (0, 0, 1, 0)).tril(-1) for part in (gradient, erased))
    return Attributions(*(part.numpy().astype(np.float64) for part in (gradient, erased)))


class _Scorer:
    """Log probabilities of the target tokens, given the embeddings of the tokens that are read."""

    def __init__(self, language_model: LanguageModel, run: Run, causal: bool) -> None:
        self.model, self.tokenizer, self.run, self.causal = language_model.model, language_model.tokenizer, run, causal
        self.reader = self.model if run.written is None else self.model.get_encoder()
        self.embedding = self.reader.get_input_embeddings()
        if run.written is not None:
            self.labels = run.written[:, 1:]
        else:
            self.labels = run.ids[:, 1:] if causal else run.ids
        self._check()

    def _check(self) -> None:
        """Raise AttnvizError unless the model predicts tokens."""
        logits = getattr(self.run.output, "logits", None)
        if logits is None or logits.ndim != 3 or logits.shape[-1] <= int(self.labels.max()):
            raise AttnvizError(
                gettext(
                    "{name} predicts no tokens, so there is no probability to attribute. Load the model with its "
                    "language modelling head.",
                    name=type(self.model).__name__,
                )
            )
        if self.run.written is None and not self.causal and self.tokenizer.mask_token_id is None:
            raise AttnvizError(gettext("The tokenizer has no mask token, so the model cannot predict a hidden token."))

    def vectors(self) -> Tensor:
        """Return the embeddings of the tokens that are read, (Tx, d)."""
        with torch.no_grad():
            embedded: Tensor = self.embedding(self.run.ids)[0]
        return embedded

    def masked(self, vectors: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield each position and the embeddings with the mask token in its place."""
        with torch.no_grad():
            mask = self.embedding(torch.full_like(self.run.ids[:, :1], self.tokenizer.mask_token_id))[0, 0]
        for position in range(len(vectors)):
            hidden = vectors.clone()
            hidden[position] = mask
            yield position, hidden

    def attribution(self, vectors: Tensor, targets: list[int]) -> tuple[Tensor, Tensor]:
        """Return gradient × input and erasure for 0-based `targets`, (targets, Tx) each."""
        return self._gradient(vectors, targets), self._erased(vectors, targets)

    def _gradient(self, vectors: Tensor, targets: list[int]) -> Tensor:
        parts = []
        for start in range(0, len(targets), _ROWS):
            chosen = targets[start : start + _ROWS]
            with torch.enable_grad():
                rows = vectors.expand(len(chosen), -1, -1).clone().requires_grad_()
                likely = self.log_likelihoods(rows)[range(len(chosen)), chosen]
                (gradient,) = torch.autograd.grad(likely.sum(), rows)
            parts.append((gradient * rows).detach().double().sum(-1).cpu())
        return torch.cat(parts) if parts else torch.zeros(0, len(vectors))

    @torch.no_grad()
    def _erased(self, vectors: Tensor, targets: list[int]) -> Tensor:
        rows = vectors.repeat(len(vectors) + 1, 1, 1)
        places = torch.arange(len(vectors))
        rows[places + 1, places] = self.mean_embedding
        likely = torch.cat([self.log_likelihoods(part)[:, targets].cpu() for part in torch.split(rows, _ROWS)])
        return (likely[0] - likely[1:]).t()

    @cached_property
    def mean_embedding(self) -> Tensor:
        """The mean embedding of the vocabulary without the padding token, (d,)."""
        ids = torch.arange(len(self.embedding.weight), device=self.run.ids.device)
        ids = ids[ids != (-1 if self.tokenizer.pad_token_id is None else self.tokenizer.pad_token_id)]
        with torch.no_grad():
            sums = [self.embedding(part).double().sum(0) for part in torch.split(ids, _IDS)]
        return (torch.stack(sums).sum(0) / len(ids)).to(self.embedding.weight.dtype)

    def log_likelihoods(self, vectors: Tensor) -> Tensor:
        """Return log p of each target token, (R, Ty), where the model reads each of the `vectors` (R, Tx, d)."""
        count = len(vectors)
        inputs = {"input_ids": self.run.ids.expand(count, -1), "attention_mask": self.run.mask.expand(count, -1)}
        with _embedding(self.embedding, vectors):
            output = self.reader(**inputs)
        if self.run.written is not None:
            output = self.model(
                encoder_outputs=output,
                attention_mask=inputs["attention_mask"],
                decoder_input_ids=self.run.written[:, :-1].expand(count, -1),
                use_cache=False,
            )
        logits = output.logits[:, :-1] if self.run.written is None and self.causal else output.logits
        log_probabilities = (logits.float() if logits.dtype.itemsize < 4 else logits).log_softmax(-1)
        labels = self.labels.expand(count, -1)[..., None]
        likely: Tensor = log_probabilities.gather(-1, labels)[..., 0]
        return likely


@contextlib.contextmanager
def _embedding(module: Any, vectors: Tensor) -> Iterator[None]:
    """Make an embedding module return `vectors`."""
    hook = module.register_forward_hook(lambda *_: vectors)
    try:
        yield
    finally:
        hook.remove()
