"""Gradient × input and erasure of embeddings: how each word of a given translation hangs on each source piece, through
the whole network."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.func import jvp, vmap

from attnviz.decoding.interventions import energy_change
from attnviz.errors import AttnvizError
from attnviz.languages import say
from attnviz.network import RNNsearch
from attnviz.network.stepping import Memory, Step, StepDecoder
from attnviz.text import BOS, PAD
from attnviz.trace import Trace
from attnviz.trace.attributions import Attributions
from attnviz.trace.interventions import Intervention


def attributions_of(network: RNNsearch, decoder: StepDecoder, weights_digest: str, trace: Trace) -> Attributions:
    """Return both measures of the translation in `trace`, with what was changed by hand.

    Raise AttnvizError where another model than this made it: one of another config, or of another `weights_digest`.
    """
    if dict(trace.config) != network.config.to_dict() or trace.weights_digest != weights_digest:
        raise AttnvizError(say("This translation was made by another model, “{model}”. Load that one.",
                               model=trace.model))  # fmt: skip
    given = network, decoder, trace.source_ids, trace.target_ids, trace.interventions
    gradient, erased = (measure(*given).cpu().double().numpy() for measure in (gradient_times_input, erased_embeddings))
    return Attributions(gradient, erased)


@torch.no_grad()
def gradient_times_input(
    network: RNNsearch, decoder: StepDecoder, source: Sequence[int], target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Tensor:  # fmt: skip
    """Return d log p(y_i) / d E x_j . E x_j, (Ty, Tx), when the pieces of `target`, EOS last, are the translation of
    `source`.

    It is the derivative along E x_j itself, so that one pass forward per source piece has it for all words at once, and
    all pieces go as one batch (torch's forward-mode differentiation). `decoder` is the network's; `interventions` on
    the attention act at their steps, and what they put in the place of the energies does not hang on the source.
    """
    embedded = network.encoder.embedding(torch.tensor(list(source), device=network.encoder.embedding.weight.device))

    def readouts(embedded: Tensor) -> Tensor:
        """Return t_i of every step, (Ty, l)."""
        lengths = torch.tensor([len(source)], device=embedded.device)
        memory = decoder.memory(network.encoder.gru(embedded[None])[0], lengths)
        return torch.stack([step.readout[0, 0] for step in led(decoder, memory, target, interventions)])

    # d log p(y_i) / d t_i is the row of y_i in W_o, less the mean of all rows by p.
    rows = decoder.output.weight.t()
    likely = decoder.output.log_probabilities(readouts(embedded)).exp()
    of_readouts = rows[list(target)] - likely @ rows
    along = torch.diag_embed(embedded.t()).permute(1, 2, 0)
    _make_ready()
    moved = vmap(lambda way: jvp(readouts, (embedded,), (way,))[1])(along)
    return torch.einsum("jil,il->ij", moved, of_readouts)


@functools.cache
def _make_ready() -> None:
    """Let torch load what it needs for forward-mode differentiation, which it warns of as it does so, at the first call
    of a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        jvp(torch.tanh, (torch.zeros(1),), (torch.zeros(1),))


@torch.no_grad()
def erased_embeddings(
    network: RNNsearch, decoder: StepDecoder, source: Sequence[int], target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Tensor:  # fmt: skip
    """Return by how much log p(y_i) falls where E x_j is the mean embedding of the vocabulary, (Ty, Tx), negative where
    it rises; arguments as for `gradient_times_input`.

    The whole network runs again for each source piece, all of them as one batch.
    """
    encoder, count = network.encoder, len(source)
    ids = torch.tensor([list(source)], device=encoder.embedding.weight.device)
    table = encoder.embedding.weight
    embedded = encoder.embedding(ids).repeat(count + 1, 1, 1)
    # One row for each piece that is erased, and the last as it is.
    embedded[range(count), range(count)] = table[torch.arange(len(table), device=table.device) != PAD].mean(0)
    lengths = torch.full((count + 1,), count, device=ids.device)
    memory = decoder.memory(encoder.annotate(embedded, lengths), lengths)
    likely = log_likelihoods(decoder, memory, target, interventions)
    return (likely[-1] - likely[:-1]).t()


def log_likelihoods(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Tensor:
    """Return log p(y_i) of each piece of `target`, EOS last, after each of the S sentences in `memory`, (S, Ty)."""
    steps = led(decoder, memory, target, interventions)
    found = [
        decoder.output.log_probabilities(step.readout[:, 0])[:, piece]
        for step, piece in zip(steps, target, strict=True)
    ]
    return torch.stack(found, dim=1)


def led(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Iterator[Step]:
    """Yield the steps through `target` of all S sentences in `memory` alike."""
    state = decoder.start(memory)
    for i, previous in enumerate((BOS, *target[:-1])):
        before = torch.full((len(memory.annotations), 1), previous, device=memory.annotations.device)
        step, state = decoder.step(memory, state, before, energy_change(interventions, i))
        yield step
