"""Attribute a translation to its source pieces: gradient × input, erasure of embeddings, and gradient norms."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear

from attnviz.decoding.forced import forced_steps
from attnviz.decoding.gradient import gradient_times_input, gradients_by_route
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.network import Network, RNNsearch
from attnviz.network.encoder import Encoder
from attnviz.network.products import FixedProduct
from attnviz.network.recurrence import gru_step
from attnviz.network.stepping import Memory, StepDecoder
from attnviz.text import PAD
from attnviz.trace import Trace
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import Attributions, Signals


def attributions_of(network: Network, decoder: StepDecoder, weights_digest: str, trace: Trace) -> Attributions:
    """Return gradient × input and erasure for the translation in `trace`, with its interventions.

    Raise AttnvizError where the network is a transformer, or where config or `weights_digest` differ from those of the
    trace.
    """
    network = _recurrent(network, weights_digest, trace)
    arguments = network, decoder, trace.source_ids, trace.target_ids, trace.interventions
    gradient, erased = (
        measure(*arguments).cpu().double().numpy() for measure in (gradient_times_input, erased_embeddings)
    )
    return Attributions(gradient, erased)


def signals_of(network: Network, decoder: StepDecoder, weights_digest: str, trace: Trace) -> Signals:
    """Return the gradient norms of each word of the translation in `trace` by each source piece.

    Its interventions are repeated. Raise AttnvizError as `attributions_of`.
    """
    network = _recurrent(network, weights_digest, trace)
    start, contexts = gradients_by_route(network, decoder, trace.source_ids, trace.target_ids, trace.interventions)
    lengths = (part.norm(dim=-1).cpu().double().numpy() for part in (start + contexts, start, contexts))
    return Signals(*lengths)


def _recurrent(network: Network, weights_digest: str, trace: Trace) -> RNNsearch:
    """Return `network`; raise AttnvizError unless it is recurrent and made `trace`."""
    if not isinstance(network, RNNsearch):
        raise AttnvizError(
            gettext(
                "Attributions need an RNNsearch model; “{model}” is a transformer, or was imported from another "
                "toolkit.",
                model=trace.model,
            )
        )
    if dict(trace.config) != network.config.to_dict() or trace.weights_digest != weights_digest:
        raise AttnvizError(
            gettext("This translation was made by another model, “{model}”. Load that model.", model=trace.model)
        )
    return network


@torch.no_grad()
def erased_embeddings(
    network: RNNsearch,
    decoder: StepDecoder,
    source: Sequence[int],
    target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Tensor:
    """Return the drop of log p(y_i) when E x_j becomes the vocabulary's mean embedding, (Ty, Tx).

    Negative where the probability rises. Arguments as for `gradient_times_input`. The whole network runs once for each
    source piece, as one batch.
    """
    table = network.encoder.embedding.weight
    mean = table[torch.arange(len(table), device=table.device) != PAD].mean(0)
    annotations = erased_annotations(network.encoder, source, mean)
    lengths = torch.full((len(source) + 1,), len(source), device=table.device)
    likely = log_likelihoods(decoder, decoder.memory(annotations, lengths), target, interventions)
    return (likely[0] - likely[1:]).t()


def erased_annotations(encoder: Encoder, source: Sequence[int], replacement_embedding: Tensor) -> Tensor:
    """Return the annotations of `source`, unchanged and with each piece's embedding replaced, (Tx + 1, Tx, 2n).

    Row 0 is unchanged; in row j + 1 the embedding of piece j is `replacement_embedding` (m,). In each direction, states
    before a replaced piece equal those of row 0 and are computed once.
    """
    embedded = encoder.embedding(torch.tensor(list(source), device=replacement_embedding.device))
    directions = []
    for reverse, (inner, outer, inner_bias, outer_bias) in enumerate(encoder.gru.all_weights):
        recurrent = FixedProduct(outer, outer_bias, lasting=False)
        inputs, replacement = (linear(vectors, inner, inner_bias) for vectors in (embedded, replacement_embedding))
        state, states = inputs.new_zeros(1, encoder.hidden_size), []
        for position, incoming in enumerate(inputs.flip(0) if reverse else inputs, 1):
            # The new last row lacks this piece; rows that lack a later piece still equal the first.
            state = torch.cat([state, state[:1]])
            rows = torch.cat([incoming.expand(position, -1), replacement[None]])
            state = gru_step(rows, recurrent(state), state)
            states.append(torch.cat([state, state[:1].expand(len(inputs) - position, -1)]))
        direction_states = torch.stack(states, dim=1)
        directions.append(
            torch.cat([direction_states[:1], direction_states[1:].flip(0)]).flip(1) if reverse else direction_states
        )
    return torch.cat(directions, dim=-1)


def log_likelihoods(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Tensor:
    """Return log p(y_i) of each piece of `target`, EOS last, for each of the S sentences in `memory`, (S, Ty)."""
    steps = forced_steps(decoder, memory, [target] * len(memory.annotations), interventions)
    columns = [
        decoder.output.log_probabilities(step.readout[:, 0])[:, piece]
        for step, piece in zip(steps, target, strict=True)
    ]
    return torch.stack(columns, dim=1)
