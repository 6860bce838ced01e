"""Forced decoding of many sentence pairs at once: attention, log probabilities, perplexity, and bits per character.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnviz.decoding import all_sentence_ids, all_target_ids, batches, largest, padded, sentence_ids, target_ids
from attnviz.network import Network, RNNsearch
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import BOS, EOS, PAD, SPECIAL_PIECES, UNK, Tokenizer, normalise
from attnviz.trace import Array, FloatArray, Words
from attnviz.trace.aligned import words_of
from attnviz.translator import Translator

LOGITS = 1 << 21
"""Number of logits computed at once: 8 MB in single precision, or 131 readouts at a vocabulary of 16,000."""
_BATCH = 64
"""Largest number of pairs computed together."""
_MOST_PIECES, _MOST_CELLS = 2000, 20_000
"""Target pieces of a batch, and pairs of a target and a source piece, padding included: 20 MB of readouts."""

Advance = Callable[[int], object]
"""Called with the number of sentences just finished."""
_LIKELIEST = 8
"""Pieces of each step whose ids posterior attention needs: with the written ones, they bound a normaliser."""


@dataclass(frozen=True)
class EncodedPair:
    """A sentence pair as ids, EOS last."""

    source: list[int]
    target: list[int]
    source_text: str
    target_text: str | None
    """The translation as it was typed; None where the model wrote it."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, source: str, target: str) -> EncodedPair:
        """Return a pair of texts as ids; raise AttnvizError where one is blank or too long."""
        return cls(sentence_ids(tokenizer, source), target_ids(tokenizer, target), source, target)


@dataclass(frozen=True, eq=False)
class ForcedPair:
    """A sentence pair under forced decoding: the fields of a `Trace` that measures need, without states."""

    source_pieces: tuple[str, ...]
    source_surfaces: tuple[str, ...]
    """The pieces with the typed characters in place of each `<unk>`."""
    target_pieces: tuple[str, ...]
    target_surfaces: tuple[str, ...]
    alignment: FloatArray
    """Attention alpha, (Ty, Tx); the last column is 0 where the model does not read `</s>`."""
    log_probabilities: FloatArray
    """Log probabilities log p(y_i), (Ty,), in nats."""
    posterior: Array | None
    """Posterior attention, (Ty, Tx), where it was computed."""
    attends: bool
    attends_once: bool
    translated: ClassVar[bool] = True
    imported: ClassVar[bool] = False

    @property
    def probabilities(self) -> FloatArray:
        """Probabilities p(y_i), (Ty,)."""
        probabilities: FloatArray = np.exp(self.log_probabilities)
        return probabilities

    @property
    def log_likelihood(self) -> float:
        """Sum over the Ty pieces of the target, `</s>` included, of log p(y_i), in nats."""
        return float(self.log_probabilities.sum(dtype=np.float64))

    def words(self) -> Words:
        """Return the alignment by words, as `Trace.words` does."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        return words_of(self.source_surfaces, self.target_surfaces, self.alignment)


Posterior = Callable[["DecodedBatch", Sequence[EncodedPair]], Sequence[Array]]
"""Returns the posterior attention of each pair of a batch, (Ty, Tx) each."""


def force_pairs(
    translator: Translator[Any], pairs: Sequence[tuple[str, str]], progress: Advance = lambda _: None
) -> list[ForcedPair]:
    """Force the decoder to write the target of each (source, target).

    Raise AttnvizError, with the number of the pair, where a text is blank or too long.
    """
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    tokenizer = translator.tokenizer
    ids = all_sentence_ids(tokenizer, sources), all_target_ids(tokenizer, targets, len(pairs))
    return force_encoded(translator, list(map(EncodedPair, *ids, sources, targets)), progress=progress)


def force_encoded(
    translator: Translator[Any],
    pairs: Sequence[EncodedPair],
    posterior: Posterior | None = None,
    batch_size: int = _BATCH,
    progress: Advance = lambda _: None,
) -> list[ForcedPair]:
    """Force the decoder to write each target, in batches of similar length, of at most `batch_size` pairs.

    `posterior` computes the posterior attention of a batch.
    """
    forced: dict[int, ForcedPair] = {}
    for places in _batches(pairs, batch_size):
        batch = [pairs[place] for place in places]
        decoded = force_decode(translator, batch, likeliest=_LIKELIEST if posterior else 0)
        posteriors = posterior(decoded, batch) if posterior else [None] * len(batch)
        for row, (place, pair) in enumerate(zip(places, batch, strict=True)):
            rows, columns = len(pair.target), len(pair.source)
            forced[place] = ForcedPair(
                *pieces_of(translator.tokenizer.source, pair.source, pair.source_text),
                *pieces_of(translator.tokenizer, pair.target, pair.target_text),
                with_end(decoded.alignment[row, :rows, :columns], pair.source),
                decoded.log_probabilities[row, :rows],
                posteriors[row],
                translator.network.attends,
                translator.network.attends_once,
            )
        progress(len(batch))
    return [forced[place] for place in range(len(pairs))]


def _batches(pairs: Sequence[EncodedPair], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of at most `batch_size` pairs of each batch."""
    for indices in batches([len(pair.target) for pair in pairs], _MOST_PIECES):
        cells = max(len(pairs[index].target) for index in indices) * max(len(pairs[index].source) for index in indices)
        size = max(1, min(batch_size, _MOST_CELLS // cells))
        for start in range(0, len(indices), size):
            yield indices[start : start + size]


def pieces_of(tokenizer: Tokenizer, ids: list[int], text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pieces of a sentence, `</s>` last, and the same with the typed characters in place of each `<unk>`.

    A leading `<s>`, which some imported models read, is left out: it is no word of the sentence.
    Both are equal where the `text` is None.
    """
    count = ids.index(EOS) if EOS in ids else len(ids)  # padding may follow, and some models do not read </s>
    first = int(ids[:1] == [BOS])
    pieces = (*tokenizer.pieces(ids[first:count]), SPECIAL_PIECES[EOS])
    if text is None or UNK not in ids:
        return pieces, pieces
    return pieces, (*tokenizer.sentence_surfaces(text)[first:count], SPECIAL_PIECES[EOS])


def with_end(alignment: FloatArray, source: Sequence[int]) -> FloatArray:
    """Return an alignment (Ty, Tx) of `source` ids whose last column is `</s>`: 0 where the model does not read it.

    Columns of padding, which the attention of some imported models reaches, and of a leading `<s>` are left out.
    """
    first = int(bool(source) and source[0] == BOS)
    if EOS in source:
        return alignment[:, first : source.index(EOS) + 1]
    return np.pad(alignment[:, first:], ((0, 0), (0, 1)))


@dataclass(frozen=True)
class Steps:
    """Terms of the readouts of S pairs, padded; a context enters a readout linearly."""

    rest: Tensor
    """U_o s_{i-1} + b + V_o E y_{i-1}, (S, Ty, 2l); with `readout_state="current"` V_o E y_{i-1} alone."""
    by_context: Tensor
    """C_o h_j, (S, Tx, 2l)."""
    states: Tensor
    """s_{i-1}, (S, Ty, n)."""
    recurrent: Tensor
    """U s_{i-1} + b of the gates, (S, Ty, 3n)."""
    by_word: Tensor
    """W E y_{i-1} + b of the gates, (S, Ty, 3n)."""
    into_gates: Tensor | None
    """C h_j of the gates, (S, Tx, 3n), where the readout sees s_i; None where it does not."""
    annotations: Tensor
    """Terms of the contexts: h_j, (S, Tx, 2n), or without attention its forward half."""
    last: Tensor
    """s_Ty, (S, 1, n), which `states` lacks."""


@dataclass(frozen=True)
class DecodedBatch:
    """S pairs under forced decoding."""

    alignment: FloatArray
    """alpha, (S, Ty, Tx), padded."""
    log_probabilities: FloatArray
    """Log p(y_i), (S, Ty); 0 at padding."""
    likeliest: NDArray[np.int64]
    """Ids of the likeliest pieces at each step, (S, Ty, count); 0 at padding."""
    steps: Steps | None
    """None where a step does not have exactly one context."""


@torch.inference_mode()
def force_decode(translator: Translator[Any], pairs: Sequence[EncodedPair], likeliest: int = 0) -> DecodedBatch:
    """Force the decoder to write the targets of S pairs; store the ids of the `likeliest` pieces at each step."""
    device = translator.device
    lengths = torch.tensor([len(pair.source) for pair in pairs], device=device)
    source = padded([pair.source for pair in pairs]).to(device)
    target = padded([pair.target for pair in pairs]).to(device)
    previous = target.roll(1, dims=1)
    previous[:, 0] = BOS
    network: Network = translator.network
    steps = None
    if isinstance(network, RNNsearch):
        readouts, alignment, steps = _stepwise(translator, source, lengths, previous)
    else:
        readouts, alignment = network(source, lengths, previous)
    chosen, ids = _target_logs_and_likeliest(translator, readouts, target, likeliest)
    return DecodedBatch(alignment.float().cpu().numpy(), chosen.cpu().numpy(), ids.cpu().numpy(), steps)


def _stepwise(
    translator: Translator[Any], source: Tensor, lengths: Tensor, previous: Tensor
) -> tuple[Tensor, Tensor, Steps]:
    """Return readouts (S, Ty, l), alignment (S, Ty, Tx) and the steps, computed by the faster `StepDecoder`."""
    prepared: Any = translator.prepared
    decoder: StepDecoder = prepared.decoder
    memory = prepared.memory(source, lengths)
    state = decoder.start(memory)
    # Few pieces occur in a batch: a table of all would take more memory than the model.
    words = decoder.words_of(previous)
    states, products, readouts, alignment = [], [], [], []
    for i, ids in enumerate(previous.unbind(1)):
        states.append(state.state)
        products.append(state.products)
        step, state = decoder.step(memory, state, ids[:, None], words=words[:, i : i + 1])
        readouts.append(step.readout)
        alignment.append(step.alignment)
    product, gates = torch.cat(products, 1), decoder.gates
    rest = words[..., gates:].clone()
    current = decoder.config.readout_state == "current"
    if not current:
        rest += product[..., gates + decoder.query_size :]
    annotations = memory.annotations[..., : decoder.attention.context_size]
    # If the readout does not use s_i, three quarters of the context's products are not needed again.
    added = (decoder.values if current else decoder.into_readout)(annotations.flatten(0, 1)).unflatten(
        0, annotations.shape[:2]
    )
    steps = Steps(
        rest,
        added[..., gates:] if current else added,
        torch.cat(states, 1),
        product[..., :gates],
        words[..., :gates],
        added[..., :gates] if current else None,
        annotations,
        state.state,
    )
    return torch.cat(readouts, 1), torch.cat(alignment, 1), steps


def _target_logs_and_likeliest(
    translator: Translator[Any], readouts: Tensor, target: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Return log p of the pieces of the targets (S, Ty), and ids of the likeliest, (S, Ty, count); 0 at padding."""
    output = translator.prepared.decoder.output
    is_piece = target != PAD
    rows, ids = readouts[is_piece], target[is_piece]
    count = min(count, translator.network.config.vocabulary_size)
    log_probabilities = torch.zeros(target.shape, device=target.device)
    likeliest = torch.zeros((*target.shape, count), dtype=torch.long, device=target.device)
    chosen_logs, best, rows_at_once = [], [], max(1, LOGITS // translator.network.config.vocabulary_size)
    for part, chosen in zip(rows.split(rows_at_once), ids.split(rows_at_once), strict=True):
        logs = output.log_probabilities(part)
        chosen_logs.append(logs.gather(1, chosen[:, None])[:, 0])
        best.append(largest(logs, count)[1] if count else likeliest.new_empty(len(part), 0))
    log_probabilities[is_piece], likeliest[is_piece] = torch.cat(chosen_logs), torch.cat(best)
    return log_probabilities, likeliest


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of given translations under a model."""

    nats: float
    """Negative log likelihood of all of them, in nats."""
    pieces: int
    """Number of target pieces, with a `</s>` for each sentence."""
    characters: int
    """Characters of the normalised targets, counting the end of each as one."""

    @property
    def perplexity(self) -> float:
        """Perplexity per piece, from 1; it compares models with the same tokenizer only."""
        return math.exp(self.nats / self.pieces)

    @property
    def bits_per_character(self) -> float:
        """Cross-entropy in bits per target character; it compares models with any tokenizer."""
        return self.nats / math.log(2) / self.characters


def likelihoods(forced: Iterable[ForcedPair], targets: Iterable[str]) -> list[Likelihood]:
    """Return the likelihood of each pair, given its target text."""
    return [
        Likelihood(-pair.log_likelihood, len(pair.alignment), len(normalise(target)) + 1)
        for pair, target in zip(forced, targets, strict=True)
    ]


def total_likelihood(parts: Iterable[Likelihood]) -> Likelihood:
    """Return the likelihood of all of these together."""
    nats, pieces, characters = zip(*((part.nats, part.pieces, part.characters) for part in parts), strict=True)
    return Likelihood(math.fsum(nats), sum(pieces), sum(characters))
