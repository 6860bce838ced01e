"""Imported recurrent translators, for decoding only: the network, and its decoder step by step.

The config says which form each part has:

    h_j = [forward RNN ; backward RNN] of the last layer, or of the forward RNN alone
    query s_{i-1}:  e_ij, alpha_i and c_i, then s_i = RNN([E y_{i-1} ; c_i], s_{i-1}), or a layer of ReLU before the RNN
    query s_i:      s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}) or RNN(E y_{i-1}, s_{i-1}), then e_ij, alpha_i and c_i
    e_ij = v . tanh(W_a s + U_a h_j + b_a), s . U_a h_j, s . h_j, or [E y_{i-1} ; s ; 1] . w_j for each position j
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = [s_i ; c_i ; E y_{i-1}], W_t [s_i ; c_i] + b_t, tanh of that, or s_i;  o_i = W_o t_i + b_o

A `Seq2SeqStepDecoder` has no mutable state, so threads may share one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnviz.network.model_config import Seq2SeqConfig
from attnviz.network.output import OutputLayer
from attnviz.network.recurrence import gru_gates
from attnviz.network.searchable import SourceMemory, additive_mask, selected

_PAD = 0
"""Id of padding, `text.PAD`, which this layer does not import."""


class LayerOutputs(NamedTuple):
    """Output of all decoder layers for one input, for R rows."""

    states: Tensor
    """States after the step, (R, L, n)."""
    memories: Tensor
    """Cell states of an LSTM, (R, L, n); (R, 0, n) for a GRU, which has none."""
    gates: Tensor
    """Gates of each layer after sigmoid or tanh, in torch's order, (R, L, 3 or 4, n)."""


class LastStates(NamedTuple):
    """Last states of an encoder of L layers, for B sentences, those of both directions joined."""

    states: Tensor
    """[forward h_Tx ; backward h_1] of each layer, (B, L, 2m); (B, L, m) for an encoder of one direction."""
    memories: Tensor
    """The same of the cell states of an LSTM; (B, 0, 2m) for a GRU, which has none."""


class Seq2SeqEncoder(nn.Module):
    """RNN in one or both directions: annotations h_j and the last states of each layer and direction."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.scale = config.source_embedding_size**0.5 if config.source_scaled else 1.0
        self.source_length, self.attends_padding = config.source_length, config.attends_padding
        self.embedding = nn.Embedding(config.source_vocabulary_size, config.source_embedding_size)
        self.rnn = _RNN[config.encoder_cell](
            config.source_embedding_size,
            config.encoder_size,
            config.encoder_layers,
            batch_first=True,
            bidirectional=config.directions == 2,
        )

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, LastStates]:
        """Return the annotations (B, Tx, 2m) and the last states.

        An encoder of one direction has only the forward half of both. Row b of the `source` ids (B, Tx) has
        `lengths[b]` pieces; the others are PAD. Where attention reaches padding, its annotations are 0.
        """
        size = source.shape[1]
        if self.attends_padding:
            lengths = (source != _PAD).sum(1).clamp(min=1)
        elif self.source_length:
            source = pad(source, (0, max(self.source_length - size, 0)), value=_PAD)
            lengths = lengths.clamp(min=self.source_length)
        words = self.embedding(source) * self.scale
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, last = self.rnn(packed)
        annotations, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.shape[1])
        states, memories = last if isinstance(last, tuple) else (last, last[:0])
        return annotations[:, :size], LastStates(self._joined(states), self._joined(memories))

    def _joined(self, ends: Tensor) -> Tensor:
        """Return the states of each layer (L x directions, B, m) with those of its directions joined, (B, L, 2m)."""
        directions = 1 + self.rnn.bidirectional
        layers: Tensor = ends.unflatten(0, (len(ends) // directions, directions))
        return layers.permute(2, 0, 1, 3).flatten(2)


class Seq2SeqDecoder(nn.Module):
    """Weights of the decoder, and the functions of a step."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        annotation_size, n, units = config.annotation_size, config.hidden_size, config.alignment_size
        self.config = config
        self.scale = config.embedding_size**0.5 if config.target_scaled else 1.0
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size)
        self.rnn = _RNN[config.cell](config.input_size, n, config.layers)
        self.key = nn.Linear(annotation_size, units) if config.attention in ("additive", "general") else nn.Identity()
        has_score_vector = config.has_score_vector
        self.query = nn.Linear(n, units, bias=False) if has_score_vector else nn.Identity()
        self.score = nn.Parameter(torch.zeros(units)) if has_score_vector else None
        self.place = nn.Linear(units, config.source_length, bias=False) if config.attends_places else None
        self.combine = nn.Linear(config.embedding_size + annotation_size, n) if config.combined else None
        rows, columns = config.bridge_shape
        if rows:
            self.bridge = nn.Linear(columns, rows)
        if rows and config.takes_layers and config.cell == "lstm":
            self.memory_bridge = nn.Linear(columns, rows)
        if config.readout in ("affine", "tanh"):
            self.readout = nn.Linear(n + annotation_size, n)
        self.output = nn.Linear(config.readout_size, config.vocabulary_size)

    def first_states(self, ends: LastStates) -> tuple[Tensor, Tensor]:
        """Return s_0, and the cell states of an LSTM, of each layer: (B, L, n), and (B, L or 0, n)."""
        config = self.config
        if config.takes_layers:
            states, memories = ends
            if config.bridge_shape[0]:
                states = self._bridged(self.bridge, states)
                memories = self._bridged(self.memory_bridge, memories) if config.cell == "lstm" else states[:, :0]
            return states, memories
        if config.first_state == "bridge":
            state = torch.tanh(self.bridge(ends.states[:, -1]))
        elif config.first_state == "last":
            state = ends.states[:, -1, : config.hidden_size]
        else:
            state = ends.states.new_zeros(len(ends.states), config.hidden_size)
        states = state[:, None].expand(-1, config.layers, -1)
        return states, states if config.cell == "lstm" else states[:, :0]

    def _bridged(self, bridge: nn.Linear, ends: Tensor) -> Tensor:
        """Return W h + b of each layer's last states (B, L, 2m), or max(0, W s + b) of all of them, (B, L, n)."""
        if self.config.first_state == "projected":
            projected: Tensor = bridge(ends)
            return projected
        rectified: Tensor = torch.relu(bridge(ends.reshape(len(ends), -1, bridge.in_features)))
        return rectified.reshape(ends.shape)

    def words(self, previous: Tensor) -> Tensor:
        """Return E y_{i-1}, (..., embedding size), of ids (...,)."""
        embedded: Tensor = self.embedding(previous) * self.scale
        return embedded

    def keys(self, annotations: Tensor) -> Tensor:
        """Return U_a h_j + b_a, h_j itself, or w_j: (S, Tx, 2m) to (S, Tx, n')."""
        if self.place is not None:
            return self.place.weight.expand(len(annotations), -1, -1)
        keys: Tensor = self.key(annotations)
        return keys

    def queries(self, states: Tensor, words: Tensor) -> Tensor:
        """Return W_a s, s, or [E y_{i-1} ; s ; 1]: (..., n) and (..., embedding size) to (..., n')."""
        if self.config.query == "joined":
            return torch.cat([words, states, torch.ones_like(states[..., :1])], dim=-1)
        queries: Tensor = self.query(states)
        return queries

    def inputs(self, words: Tensor, context: Tensor) -> Tensor:
        """Return the RNN's input after attention: [E y_{i-1} ; c_i], or max(0, W_x [E y_{i-1} ; c_i] + b_x)."""
        joined = torch.cat([words, context], dim=-1)
        return joined if self.combine is None else torch.relu(self.combine(joined))

    @property
    def score_vector(self) -> Tensor:
        """v, (n',); (0,) where energies are dot products."""
        return self.output.weight.new_zeros(0) if self.score is None else self.score

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        if self.score is None:
            return (keys @ queries.unsqueeze(-1)).squeeze(-1)
        return torch.tanh(queries.unsqueeze(-2) + keys) @ self.score

    def run_layers(self, inputs: Tensor, states: Tensor, memories: Tensor) -> LayerOutputs:
        """Run all layers on an input (R, i), with states (R, L, n) and cell states (R, L or 0, n)."""
        layer_outputs: list[LayerOutputs] = []
        for layer, weights in enumerate(self.rnn.all_weights):
            cell_state = memories[:, layer] if memories.shape[1] else states.new_zeros(0)
            layer_outputs.append(_cell(cast("list[Tensor]", weights), inputs, states[:, layer], cell_state))
            inputs = layer_outputs[-1].states
        new_states, cell_states, gates = (torch.stack(parts, dim=1) for parts in zip(*layer_outputs, strict=True))
        return LayerOutputs(new_states, cell_states if memories.shape[1] else memories, gates)

    def readout_of(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """Return t_i, (..., readout size), from s_i (..., n), c_i (..., 2m) and E y_{i-1} (..., embedding size)."""
        if self.config.readout == "joined":
            return torch.cat([state, context, word], dim=-1)
        if self.config.readout == "state":
            return state
        affine: Tensor = self.readout(torch.cat([state, context], dim=-1))
        return torch.tanh(affine) if self.config.readout == "tanh" else affine


class Seq2Seq(nn.Module):
    """An imported recurrent translator."""

    attends = True
    """Whether the decoder has attention."""
    writes_unk = True
    """Whether a search may write `<unk>` by default, as in the programs that the models come from."""
    attends_once = False
    """False: interventions and posterior attention are not available for imports."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder, self.decoder = Seq2SeqEncoder(config), Seq2SeqDecoder(config)

    @property
    def output(self) -> nn.Linear:
        """W_o and b_o, which turn readouts (..., r) into the logits of all tokens (..., K)."""
        return self.decoder.output

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts t_i (B, Ty, r) and alignment (B, Ty, Tx) under teacher forcing.

        `source` ids (B, Tx), `lengths` (B,), `previous` (B, Ty): ids of y_{i-1}.
        """
        decoder = Seq2SeqStepDecoder(self)
        annotations, ends = self.encoder(source, lengths)
        memory = decoder.memory(annotations, ends, lengths)
        state, readouts, alignment = decoder.start(memory), list[Tensor](), list[Tensor]()
        for word in previous.unbind(1):
            step, state = decoder.step(memory, state, word[:, None])
            readouts.append(step.readout[:, 0])
            alignment.append(step.alignment[:, 0])
        return torch.stack(readouts, dim=1), torch.stack(alignment, dim=1)


def _cell(weights: list[Tensor], inputs: Tensor, state: Tensor, cell_state: Tensor) -> LayerOutputs:
    """Return state, cell state and gates of one layer, (R, n), (R, n) and (R, 3 or 4, n).

    For a GRU, the cell state returned is its state.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    input_part, recurrent_part, n = (
        linear(inputs, weight_ih, bias_ih),
        linear(state, weight_hh, bias_hh),
        state.shape[-1],
    )
    if input_part.shape[-1] == 3 * n:
        reset, update, candidate = gru_gates(input_part, recurrent_part)
        new_state = torch.lerp(candidate, state, update)
        return LayerOutputs(new_state, new_state, torch.stack([reset, update, candidate], dim=-2))
    input_gate, forget_gate, candidate_cell, output_gate = (input_part + recurrent_part).split(n, dim=-1)
    input_gate, forget_gate, output_gate, candidate_cell = (
        torch.sigmoid(input_gate),
        torch.sigmoid(forget_gate),
        torch.sigmoid(output_gate),
        torch.tanh(candidate_cell),
    )
    cell_state = forget_gate * cell_state + input_gate * candidate_cell
    return LayerOutputs(
        output_gate * torch.tanh(cell_state),
        cell_state,
        torch.stack([input_gate, forget_gate, candidate_cell, output_gate], dim=-2),
    )


_RNN: dict[str, type[nn.GRU] | type[nn.LSTM]] = {"gru": nn.GRU, "lstm": nn.LSTM}


@dataclass(frozen=True)
class Seq2SeqMemory(SourceMemory):
    """The encoder's output for S sentences; the mask is (S, 1, Tx)."""

    keys: Tensor
    """U_a h_j + b_a, (S, Tx, n')."""
    states: Tensor
    """s_0 of all layers, (S, L, n)."""
    memories: Tensor
    """Cell states before the first step, (S, L, n); (S, 0, n) for GRUs."""


class Seq2SeqState(NamedTuple):
    """Decoder state between steps, for k hypotheses of each of S sentences."""

    states: Tensor
    """s_{i-1} of all layers, (S, k, L, n)."""
    memories: Tensor
    """Cell states of LSTMs, (S, k, L, n); (S, k, 0, n) for GRUs."""
    readout: Tensor
    """t_{i-1}, (S, k, r); 0 before the first step."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> Seq2SeqState:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""
        return Seq2SeqState(*selected(self, sentences, hypotheses))


class Seq2SeqStep(NamedTuple):
    """Numbers of one step, for k hypotheses of S sentences."""

    energies: Tensor
    """e_ij, (S, k, Tx); -inf where masked."""
    alignment: Tensor
    """alpha_ij, (S, k, Tx)."""
    query: Tensor
    """The query, (S, k, n')."""
    context: Tensor
    """c_i, (S, k, 2m)."""
    gates: Tensor
    """Gates of all layers, (S, k, L, 3 or 4, n)."""
    states: Tensor
    """s_i of all layers, (S, k, L, n)."""
    memories: Tensor
    """Cell states, (S, k, L or 0, n)."""
    readout: Tensor
    """t_i, (S, k, r)."""


class Seq2SeqStepDecoder:
    """A network's decoder, prepared for single steps."""

    def __init__(self, network: Seq2Seq) -> None:
        """Take a network in evaluation mode; its weights must not change afterwards."""
        self.config, self.decoder = network.config, network.decoder
        self.output = OutputLayer(network.output)

    def memory(self, annotations: Tensor, ends: LastStates, lengths: Tensor) -> Seq2SeqMemory:
        """Return the memory of `annotations` (S, Tx, 2m) with `lengths` (S,) pieces each, and the encoder's `ends`."""
        padded = torch.arange(annotations.shape[1], device=lengths.device) >= lengths[:, None]
        keys, first = self.decoder.keys(annotations), self.decoder.first_states(ends)
        return Seq2SeqMemory(annotations, additive_mask(padded)[:, None], keys, *first)

    def start(self, memory: Seq2SeqMemory) -> Seq2SeqState:
        """Return s_0 of every layer, one hypothesis for each sentence."""
        readout = memory.states.new_zeros(len(memory.states), 1, self.config.readout_size)
        return Seq2SeqState(memory.states[:, None], memory.memories[:, None], readout)

    def step(
        self,
        memory: Seq2SeqMemory,
        state: Seq2SeqState,
        previous_ids: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[Seq2SeqStep, Seq2SeqState]:
        """Return step i and its state, given the state before it and the ids `previous_ids` (S, k) of y_{i-1}.

        `intervention` maps energies (S, k, Tx) to changed energies before the softmax.
        """
        words, shape = self.decoder.words(previous_ids), previous_ids.shape
        if self.config.queries_previous_state:
            query, energies, alignment, context = self._attend(memory, state.states[:, :, -1], words, intervention)
            inputs = self.decoder.inputs(words, context)
        else:
            inputs = torch.cat([words, state.readout], dim=-1) if self.config.input_feeding else words
        states, memories, gates = (
            part.unflatten(0, shape)
            for part in self.decoder.run_layers(
                inputs.flatten(0, 1), state.states.flatten(0, 1), state.memories.flatten(0, 1)
            )
        )
        if not self.config.queries_previous_state:
            query, energies, alignment, context = self._attend(memory, states[:, :, -1], words, intervention)
        readout = self.decoder.readout_of(states[:, :, -1], context, words)
        step = Seq2SeqStep(energies, alignment, query, context, gates, states, memories, readout)
        return step, Seq2SeqState(states, memories, readout)

    def _attend(
        self, memory: Seq2SeqMemory, state: Tensor, words: Tensor, intervention: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return query, energies, alignment and context for a querying state, (S, k, n), and embedded `words`."""
        query = self.decoder.queries(state, words)
        energies = self.decoder.energies(query, memory.keys[:, None]) + memory.mask
        alignment = torch.softmax(energies if intervention is None else intervention(energies), -1)
        return query, energies, alignment, torch.bmm(alignment, memory.annotations)
