"""Attribute a translation to its source pieces: gradient × input, erasure of embeddings, and gradient norms.

Gradient × input is reverse-mode differentiation written out for all words of one sentence. Factors that all words share
are computed once, and each product with a weight matrix is one, with a row for each word that depends on the step.
Small parts use `torch.func.vjp`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import vjp, vmap
from torch.nn.functional import linear

from attnviz.arguments import check_each
from attnviz.decoding.applied_interventions import energy_change, forced_steps
from attnviz.errors import user_error
from attnviz.languages import gettext
from attnviz.network import Network, RNNsearch
from attnviz.network.derivatives import taking_derivatives
from attnviz.network.encoder import Encoder
from attnviz.network.products import FixedProduct
from attnviz.network.recurrence import gate_factors, gru_gates, gru_step
from attnviz.network.rnnsearch import Memory, StepDecoder
from attnviz.text import BOS, PAD
from attnviz.trace import Record, Trace
from attnviz.trace.interventions import Intervention
from attnviz.trace.parts import Attributions, GradientNorms


@torch.no_grad()
def gradient_times_input(
    network: RNNsearch,
    decoder: StepDecoder,
    source: Sequence[int],
    target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Tensor:
    """Return d log p(y_i) / d E x_j . E x_j, (Ty, Tx), for `target`, EOS last, as the translation of `source`.

    Gradient × input: Denil et al. 2014; Ding et al. 2019. `decoder` is the network's. `interventions` on the attention
    apply at their steps; replaced energies or weights do not depend on the source.
    """
    embedded, annotations, routes = _through_decoder(network, decoder, source, target, interventions)
    halves = _back_through_encoder(network.encoder, embedded, annotations, routes.start + routes.contexts)
    weights = (inner for inner, *_ in network.encoder.gru.all_weights)
    return _sum(
        (of_gates @ (embedded @ inner.t())[:, :, None])[:, :, 0].t()
        for of_gates, inner in zip(halves, weights, strict=True)
    )


@torch.no_grad()
def gradients_by_route(
    network: RNNsearch,
    decoder: StepDecoder,
    source: Sequence[int],
    target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> tuple[Tensor, Tensor]:
    """Return d log p(y_i) / d E x_j split into two parts, (Ty, Tx, m) each, which add up to it.

    The first enters the encoder through s_0, the second through the contexts c_1 to c_i and their weights. Arguments as
    for `gradient_times_input`.
    """
    embedded, annotations, routes = _through_decoder(network, decoder, source, target, interventions)
    # Both parts go back through the encoder together, as twice the rows.
    halves = _back_through_encoder(network.encoder, embedded, annotations, torch.cat(routes))
    weights = (inner for inner, *_ in network.encoder.gru.all_weights)
    gradients = _sum((of_gates @ inner).transpose(0, 1) for of_gates, inner in zip(halves, weights, strict=True))
    return gradients[: len(target)], gradients[len(target) :]


def _through_decoder(
    network: RNNsearch,
    decoder: StepDecoder,
    source: Sequence[int],
    target: Sequence[int],
    interventions: Sequence[Intervention],
) -> tuple[Tensor, Tensor, _Routes]:
    """Return the embeddings of `source` (Tx, m), its annotations (Tx, 2n), and the gradients by the annotations."""
    encoder = network.encoder
    embedded = encoder.embedding(torch.tensor(list(source), device=encoder.embedding.weight.device))
    lengths = torch.tensor([len(source)], device=embedded.device)
    annotations = encoder.annotate(embedded[None], lengths)
    routes = _back_through_decoder(decoder, decoder.memory(annotations, lengths), target, interventions)
    return embedded, annotations[0], routes


class _Routes(NamedTuple):
    """d log p(y_i) / d h_j, split by where it enters the encoder, (Ty, Tx, 2n) each; the parts add up to it."""

    start: Tensor
    """Through s_0."""
    contexts: Tensor
    """Through the contexts and their energies."""


class _Recurrence(NamedTuple):
    """A GRU over the T positions of one sentence, prepared for the backward pass."""

    factors: Tensor
    """The factors of `gate_factors`, (T, 4, n)."""
    update: Tensor
    """z_i, (T, n)."""

    @classmethod
    def of(cls, inputs: Tensor, previous_states: Tensor, recurrent: Tensor) -> _Recurrence:
        """Take the states before each position, (T, n), and both halves of the gates with biases, (T, 3n) each."""
        n = previous_states.shape[-1]
        reset, update, candidates = gru_gates(inputs, recurrent)
        factors = gate_factors(previous_states, torch.cat([reset, update], 1), candidates, recurrent[:, 2 * n :])
        return cls(factors.view(-1, 4, n), update)

    def back(self, place: int, of_state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients by the input half and the recurrent half of the gates at `place`, (R, 3n) each.

        `of_state` (R, n) is the gradient by the state after it.
        """
        candidate, *gates, inner = (self.factors[place] * of_state[:, None]).unbind(1)
        return torch.cat([*gates, candidate], dim=1), torch.cat([*gates, inner], dim=1)


def _back_through_decoder(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention]
) -> _Routes:
    """Return d log p(y_i) / d h_j of the one sentence in `memory`."""
    steps = list(forced_steps(decoder, memory, [target], interventions))
    start, gates = decoder.start(memory).state[0], decoder.gates
    states = torch.cat([step.state[0] for step in steps])
    previous_states, alignment = torch.cat([start, states[:-1]]), torch.cat([step.alignment[0] for step in steps])
    values, products = (
        decoder.values(memory.annotations[0, :, : decoder.attention.context_size]),
        decoder.recurrent(previous_states),
    )
    words = torch.tensor([BOS, *target[:-1]], device=states.device)
    incoming = torch.addmm(decoder.words(words), alignment, values)
    recurrence = _Recurrence.of(incoming[:, :gates], previous_states, products[:, :gates])

    current, query_end = decoder.config.readout_state == "current", gates + decoder.query_size
    readout_products = decoder.recurrent(states) if current else products
    of_wide = _readout_gradients(
        decoder, incoming[:, gates:] + readout_products[:, query_end:], torch.cat([s.readout[0] for s in steps]), target
    )
    by_context, by_state = (_transposed(product) for product in (decoder.values, decoder.recurrent))
    # The gradients of each word by the state; "current" readouts depend on the state after their step.
    of_state = of_wide @ decoder.recurrent.weight[:, query_end:].t() if current else torch.zeros_like(states)
    of_contexts = states.new_zeros(len(target), len(target), decoder.attention.context_size)
    of_keys = memory.keys.new_zeros(len(target), *memory.keys.shape[1:])
    of_weights = torch.zeros_like(alignment)  # from the next step's energies, which may depend on this step's weights
    weights_before = torch.cat([torch.zeros_like(alignment[:1]), alignment[:-1]])
    for i in reversed(range(len(target))):
        of_inputs, of_recurrent = recurrence.back(i, of_state[i:])
        own_readout = torch.zeros_like(of_wide[i:])
        own_readout[0] = of_wide[i]  # a step's readout affects its own word only
        of_incoming = torch.cat([of_inputs, own_readout], dim=1)
        of_contexts[i, i:] = by_context(of_incoming)
        back = _attention_backward(
            decoder, memory, previous_states[i], products[i, gates:query_end], weights_before[i], interventions, i
        )
        of_before, of_query, of_key, of_weights[i:] = back(of_incoming @ values.t() + of_weights[i:])
        of_keys[i:] += of_key
        through = torch.cat([of_recurrent, of_query, torch.zeros_like(own_readout) if current else own_readout], dim=1)
        of_state[i:] = of_state[i:] * recurrence.update[i] + of_before + by_state(through)
    return _annotation_gradients(
        decoder, memory, of_state, torch.einsum("ij,iwc->wjc", alignment, of_contexts), of_keys
    )


def _readout_gradients(decoder: StepDecoder, wide: Tensor, readouts: Tensor, target: Sequence[int]) -> Tensor:
    """Return d log p(y_i) / d t~_i, (Ty, 2l).

    For the winner of each maxout pair, the row of y_i in W_o minus the mean of all rows weighted by p; 0 for the loser.
    """
    rows = decoder.output.weight
    of_readouts = rows[list(target)] - decoder.output.log_probabilities(readouts).exp() @ rows
    first = wide[:, ::2] >= wide[:, 1::2]
    return torch.stack([of_readouts * first, of_readouts * ~first], dim=2).flatten(1)


def _attention_backward(
    decoder: StepDecoder,
    memory: Memory,
    previous_state: Tensor,
    product: Tensor,
    previous_weights: Tensor,
    interventions: Sequence[Intervention],
    i: int,
) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Return the backward function of one step's attention, which maps gradients by alpha_i, (R, Tx).

    The results are the gradients by s_{i-1} (R, n), by `product`, W_a s_{i-1}, (R, n'), by the keys (R, Tx, n') and by
    `previous_weights`, alpha_{i-1}, (R, Tx).
    """
    change, scorer = energy_change(interventions, i), decoder.attention

    def attention_weights(state: Tensor, product: Tensor, keys: Tensor, previous_weights: Tensor) -> Tensor:
        features = scorer.features(previous_weights) if scorer.reads_before else None
        energies = scorer.energies(scorer.queries(state, product), keys, features) + memory.mask[0, 0]
        return torch.softmax(energies if change is None else change(energies[None, None])[0, 0], -1)

    with taking_derivatives():
        return vmap(vjp(attention_weights, previous_state, product, memory.keys[0], previous_weights)[1])


def _annotation_gradients(
    decoder: StepDecoder, memory: Memory, of_start: Tensor, of_seen: Tensor, of_keys: Tensor
) -> _Routes:
    """Return the gradients by the annotations.

    They come from those by s_0 (R, n), by the context's part of the annotations (R, Tx, context size), and by the keys
    (R, Tx, n').
    """
    annotations = memory.annotations[0]
    from_start = vjp(lambda vectors: decoder.decoder.initial_state(vectors[None])[0], annotations)[1]
    from_keys = vjp(decoder.attention.keys, annotations)[1]
    contexts: Tensor = vmap(from_keys)(of_keys)[0].contiguous()
    contexts[..., : of_seen.shape[-1]] += of_seen
    return _Routes(vmap(from_start)(of_start)[0], contexts)


def _back_through_encoder(
    encoder: Encoder, embedded: Tensor, annotations: Tensor, of_annotations: Tensor
) -> Iterator[Tensor]:
    """Yield the gradients by W E x_j, (Tx, R, 3n), for the forward and the backward GRU.

    `of_annotations` (R, Tx, 2n) are the gradients by the `annotations` (Tx, 2n). W E x_j is an embedding's part of the
    gates.
    """
    halves = zip(encoder.gru.all_weights, annotations.chunk(2, -1), of_annotations.chunk(2, -1), strict=True)
    for reverse, ((inner, outer, inner_bias, outer_bias), states, of_states) in enumerate(halves):
        order = range(len(embedded))[:: -1 if reverse else 1]
        states, input_parts = states[list(order)], embedded[list(order)] @ inner.t()
        previous_states = torch.cat([torch.zeros_like(states[:1]), states[:-1]])
        recurrence = _Recurrence.of(input_parts + inner_bias, previous_states, previous_states @ outer.t() + outer_bias)
        by_state = FixedProduct(outer.t(), torch.zeros_like(previous_states[0]), lasting=False)
        of_state = torch.zeros_like(of_states[:, 0])
        gradients = of_states.new_empty(len(embedded), len(of_states), len(inner))
        for place, j in reversed(list(enumerate(order))):
            of_state += of_states[:, j]
            gradients[j], of_recurrent = recurrence.back(place, of_state)
            of_state = of_state * recurrence.update[place] + by_state(of_recurrent)
        yield gradients


def _sum(parts: Iterable[Tensor]) -> Tensor:
    return torch.stack(list(parts)).sum(0)


def _transposed(product: FixedProduct) -> FixedProduct:
    """Return the transposed product, which takes gradients back: (R, o) to (R, i)."""
    return FixedProduct(product.weight, product.weight.new_zeros(len(product.weight)), lasting=False)


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


def gradient_norms_of(network: Network, decoder: StepDecoder, weights_digest: str, trace: Trace) -> GradientNorms:
    """Return the gradient norms of each word of the translation in `trace` by each source piece.

    Its interventions are repeated. Raise AttnvizError as `attributions_of`.
    """
    network = _recurrent(network, weights_digest, trace)
    start, contexts = gradients_by_route(network, decoder, trace.source_ids, trace.target_ids, trace.interventions)
    lengths = (part.norm(dim=-1).cpu().double().numpy() for part in (start + contexts, start, contexts))
    return GradientNorms(*lengths)


def _recurrent(network: Network, weights_digest: str, trace: Trace) -> RNNsearch:
    """Return `network`; raise AttnvizError unless it is recurrent and made `trace`."""
    check_each(gettext("translations"), (trace,), (Record,))
    if not isinstance(network, RNNsearch):
        raise user_error(
            "Attributions need an RNNsearch model; “{model}” is a transformer, or was imported from another toolkit.",
            model=trace.model,
        )
    if dict(trace.config) != network.config.to_dict() or trace.weights_digest != weights_digest:
        raise user_error("This translation was made by another model: load “{model}”.", model=trace.model)
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
