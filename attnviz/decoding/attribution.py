"""Gradient × input and erasure of embeddings: how each word of a given translation hangs on each source piece, through
the whole network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.decoding.interventions import energy_change
from attnviz.network import RNNsearch
from attnviz.network.stepping import Memory, StepDecoder
from attnviz.text import BOS, PAD
from attnviz.trace.interventions import Intervention


def gradient_times_input(
    network: RNNsearch, decoder: StepDecoder, source: Sequence[int], target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Tensor:  # fmt: skip
    """Return d log p(y_i) / d E x_j . E x_j, (Ty, Tx), when the pieces of `target`, EOS last, are the translation of
    `source`.

    The chain rule is followed in two parts: from every log p(y_i) to the annotations, and from there, all steps side by
    side, to the embeddings. `decoder` is the network's; `interventions` on the attention act at their steps, and what
    they put in the place of the energies does not hang on the source.
    """
    encoder, count = network.encoder, len(target)
    ids = torch.tensor([list(source)], device=encoder.embedding.weight.device)
    lengths = torch.tensor([len(source)], device=ids.device)
    with torch.enable_grad():
        # A copy of the sentence for each step: their gradients flow back through the encoder as one batch.
        embedded = encoder.embedding(ids).detach().repeat(count, 1, 1).requires_grad_()
        annotations = encoder.annotate(embedded, lengths.expand(count))
        read = annotations[:1].detach().requires_grad_()
        likely = log_likelihoods(decoder, decoder.memory(read, lengths), target, interventions)
        (of_annotations,) = torch.autograd.grad(
            likely[0], read, torch.eye(count, dtype=likely.dtype, device=ids.device), is_grads_batched=True
        )
        (of_embedded,) = torch.autograd.grad(annotations, embedded, of_annotations[:, 0])
    return (of_embedded * embedded.detach()).sum(-1)


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
    state, found = decoder.start(memory), []
    for i, (previous, piece) in enumerate(zip((BOS, *target[:-1]), target, strict=True)):
        before = torch.full((len(memory.annotations), 1), previous, device=memory.annotations.device)
        step, state = decoder.step(memory, state, before, energy_change(interventions, i))
        found.append(decoder.output.log_probabilities(step.readout[:, 0])[:, piece])
    return torch.stack(found, dim=1)
