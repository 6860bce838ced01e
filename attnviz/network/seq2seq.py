"""Imported recurrent translators, for decoding only: PyTorch's seq2seq tutorial and Joey NMT.

    h_j = [forward RNN ; backward RNN] of the last layer; s_0 from the last states of both directions
    tutorial: e_ij = v . tanh(W_a s_{i-1} + U_a h_j + b), s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),
              o_i = W_o [s_i ; c_i ; E y_{i-1}] + b_o
    joey:     s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}), e_ij = v . tanh(W_a s_i + U_a h_j) or s_i . U_a h_j,
              t_i = tanh(W_t [s_i ; c_i] + b_t), o_i = W_o t_i

with alpha_i = softmax(e_i) and c_i = sum_j alpha_ij h_j in both.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnviz.network.seq2seq_config import Seq2SeqConfig


class Moved(NamedTuple):
    """Output of all decoder layers for one input, for R rows."""

    states: Tensor
    """States after the step, (R, L, n)."""
    memories: Tensor
    """Cell states of an LSTM, (R, L, n); (R, 0, n) for a GRU, which has none."""
    gates: Tensor
    """Gates of each layer after sigmoid or tanh, in torch's order, (R, L, 3 or 4, n)."""


class Encoder(nn.Module):
    """Bidirectional RNN: annotations h_j and the last states of both directions."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.scale = config.source_embedding_size**0.5 if config.source_scaled else 1.0
        self.embedding = nn.Embedding(config.source_vocabulary_size, config.source_embedding_size)
        self.rnn = _RNN[config.encoder_cell](
            config.source_embedding_size,
            config.encoder_size,
            config.encoder_layers,
            batch_first=True,
            bidirectional=True,
        )

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the annotations (B, Tx, 2m) and [forward h_Tx ; backward h_1] of the last layer, (B, 2m).

        Row b of the `source` ids (B, Tx) has `lengths[b]` pieces.
        """
        words = self.embedding(source) * self.scale
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, last = self.rnn(packed)
        annotations, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.shape[1])
        ends = last[0] if isinstance(last, tuple) else last
        return annotations, torch.cat([ends[-2], ends[-1]], dim=-1)


class Decoder(nn.Module):
    """Weights of the decoder, and the functions of a step."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        annotation_size, n = 2 * config.encoder_size, config.hidden_size
        self.config = config
        self.scale = config.embedding_size**0.5 if config.target_scaled else 1.0
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size)
        input_size = config.embedding_size + (
            annotation_size if config.queries_previous_state else n * config.input_feeding
        )
        self.rnn = _RNN[config.cell](input_size, n, config.layers)
        self.key = nn.Linear(annotation_size, config.alignment_size)
        has_score_vector = config.has_score_vector
        self.query = nn.Linear(n, config.alignment_size, bias=False) if has_score_vector else nn.Identity()
        self.score = nn.Parameter(torch.zeros(config.alignment_size)) if has_score_vector else None
        if config.first_state == "bridge":
            self.bridge = nn.Linear(annotation_size, n)
        if not config.linear:
            self.readout = nn.Linear(n + annotation_size, n)
        self.output = nn.Linear(config.readout_size, config.vocabulary_size)

    def first_state(self, ends: Tensor) -> Tensor:
        """Return s_0, the same in every layer: (B, 2m) to (B, n)."""
        if self.config.first_state == "bridge":
            return torch.tanh(self.bridge(ends))
        if self.config.first_state == "last":
            return ends[..., : self.config.hidden_size]
        return ends.new_zeros(*ends.shape[:-1], self.config.hidden_size)

    def words(self, previous: Tensor) -> Tensor:
        """Return E y_{i-1}, (..., embedding size), of ids (...,)."""
        embedded: Tensor = self.embedding(previous) * self.scale
        return embedded

    def queries(self, states: Tensor) -> Tensor:
        """Return W_a s, or s itself: (..., n) to (..., n')."""
        queries: Tensor = self.query(states)
        return queries

    @property
    def score_vector(self) -> Tensor:
        """v, (n',); (0,) where energies are dot products."""
        return self.key.weight.new_zeros(0) if self.score is None else self.score

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        if self.score is None:
            return (keys @ queries.unsqueeze(-1)).squeeze(-1)
        return torch.tanh(queries.unsqueeze(-2) + keys) @ self.score

    def move(self, inputs: Tensor, states: Tensor, memories: Tensor) -> Moved:
        """Run all layers on an input (R, i), with states (R, L, n) and cell states (R, L or 0, n)."""
        moved: list[Moved] = []
        for layer, weights in enumerate(self.rnn.all_weights):
            before = memories[:, layer] if memories.shape[1] else states.new_zeros(0)
            moved.append(_cell(cast("list[Tensor]", weights), inputs, states[:, layer], before))
            inputs = moved[-1].states
        after, cell_states, gates = (torch.stack(parts, dim=1) for parts in zip(*moved, strict=True))
        return Moved(after, cell_states if memories.shape[1] else memories, gates)

    def read(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """Return t_i, (..., readout size), from s_i (..., n), c_i (..., 2m) and E y_{i-1} (..., embedding size)."""
        if self.config.linear:
            return torch.cat([state, context, word], dim=-1)
        return torch.tanh(self.readout(torch.cat([state, context], dim=-1)))


class Seq2Seq(nn.Module):
    """An imported recurrent translator."""

    attends = True
    """Whether the decoder has attention."""
    attends_once = False
    """False: interventions and posterior attention are not available for imports."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder, self.decoder = Encoder(config), Decoder(config)

    @property
    def output(self) -> nn.Linear:
        """W_o and b_o, which turn readouts (..., r) into the logits of all tokens (..., K)."""
        return self.decoder.output

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts t_i (B, Ty, r) and alignment (B, Ty, Tx) under teacher forcing.

        `source` ids (B, Tx), `lengths` (B,), `previous` (B, Ty): ids of y_{i-1}.
        """
        from attnviz.network.seq2seq_stepping import Seq2SeqStepDecoder

        decoder = Seq2SeqStepDecoder(self)
        annotations, ends = self.encoder(source, lengths)
        memory = decoder.memory(annotations, ends, lengths)
        state, readouts, alignment = decoder.start(memory), list[Tensor](), list[Tensor]()
        for word in previous.unbind(1):
            step, state = decoder.step(memory, state, word[:, None])
            readouts.append(step.readout[:, 0])
            alignment.append(step.alignment[:, 0])
        return torch.stack(readouts, dim=1), torch.stack(alignment, dim=1)

    def logits(self, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """Return W_o t_i + b_o, (B, Ty, K); arguments as for `forward`."""
        logits: Tensor = self.output(self(source, lengths, previous)[0])
        return logits


def _cell(weights: list[Tensor], inputs: Tensor, state: Tensor, memory: Tensor) -> Moved:
    """Return state, cell state and gates of one layer, (R, n), (R, n) and (R, 3 or 4, n).

    For a GRU, the cell state returned is its state.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    incoming, own, n = linear(inputs, weight_ih, bias_ih), linear(state, weight_hh, bias_hh), state.shape[-1]
    if incoming.shape[-1] == 3 * n:
        reset, update = torch.sigmoid(incoming[..., : 2 * n] + own[..., : 2 * n]).split(n, dim=-1)
        candidate = torch.tanh(incoming[..., 2 * n :] + reset * own[..., 2 * n :])
        after = torch.lerp(candidate, state, update)
        return Moved(after, after, torch.stack([reset, update, candidate], dim=-2))
    enter, forget, candidate_cell, out = (incoming + own).split(n, dim=-1)
    enter, forget, out, candidate_cell = (
        torch.sigmoid(enter),
        torch.sigmoid(forget),
        torch.sigmoid(out),
        torch.tanh(candidate_cell),
    )
    memory = forget * memory + enter * candidate_cell
    return Moved(out * torch.tanh(memory), memory, torch.stack([enter, forget, candidate_cell, out], dim=-2))


_RNN: dict[str, type[nn.GRU] | type[nn.LSTM]] = {"gru": nn.GRU, "lstm": nn.LSTM}
