"""Gradient × input and erasure of the tokens that a model of Hugging Face reads, as `Translator.attributions` has them.

The embeddings are replaced by a forward hook on the embedding module, so that any scale or position that the model adds
afterwards stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.importing.huggingface_model import LanguageModel, Run
from attnviz.languages import gettext
from attnviz.trace.attributions import Attributions

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
                    "{name} predicts no tokens, so there is no probability to attribute. Load it with its language "
                    "modelling head.",
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
