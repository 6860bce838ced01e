"""`RNNsearch`, the recurrent translator of Bahdanau, Cho & Bengio (2014), and its decoder step by step.

`StepDecoder` computes exactly the equations of `RNNsearchDecoder` in another order, since matrix products distribute
over sums:

- The previous word's part of gates and readout is computed once for each piece, and kept in a table.
- The context is a weighted sum, so its matrices are applied to the annotations once per sentence, and a step sums rows:
  W (sum_j alpha_j h_j) = sum_j alpha_j (W h_j). For many sentences a step multiplies all contexts at once instead: that
  costs the same and sums shorter rows.
- The three products with a state (gates, query, readout) are one.

Threads may share a `StepDecoder`: only that table changes, and every thread would write the same numbers into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from attnviz.network.encoder import Encoder
from attnviz.network.model_config import ModelConfig
from attnviz.network.output import OutputLayer
from attnviz.network.products import FixedProduct
from attnviz.network.recurrence import gru_gates
from attnviz.network.scorers import scorer_class
from attnviz.network.searchable import SourceMemory, selected


class RNNsearchDecoder(nn.Module):
    """The decoder of Bahdanau, Cho & Bengio (2014), A.2.2, with torch's GRU.

    s_0 = tanh(W_s backward h_1 + b_s);  s_i = GRU(s_{i-1}; [E y_{i-1} ; c_i])
    t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i + b), where s is s_{i-1} or, by config, s_i
    p(y_i) = softmax(W_o t_i + b_o)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        m, n, wide = config.embedding_size, config.hidden_size, 2 * config.maxout_size
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, m, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)
        self.attention = scorer_class(config.attention)(config)
        context_size = self.attention.context_size
        self.initial = nn.Linear(config.encoder_size, n)
        self.gru = nn.GRUCell(m + context_size, n)
        self.readout_state = nn.Linear(n, wide)
        self.readout_word = nn.Linear(m, wide, bias=False)
        self.readout_context = nn.Linear(context_size, wide, bias=False)
        self.output = nn.Linear(config.maxout_size, config.vocabulary_size)

    def initial_state(self, annotations: Tensor) -> Tensor:
        """Return s_0 = tanh(W_s backward h_1 + b_s): (B, Tx, 2n) to (B, n)."""
        return torch.tanh(self.initial(annotations[:, 0, self.config.encoder_size :]))

    def forward(self, annotations: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return the readouts t_i (B, Ty, l) and the alignment (B, Ty, Tx) under teacher forcing.

        `annotations` (B, Tx, 2n), `lengths` (B,): source pieces of each row, `previous` (B, Ty): ids of y_{i-1}.
        """
        m = self.config.embedding_size
        annotations = self.dropout(annotations)
        words = self.dropout(self.embedding(previous)).transpose(0, 1)
        initial = self.initial_state(annotations).to(self.gru.weight_hh.dtype)
        word_matrix, context_matrix = self.gru.weight_ih.split([m, self.attention.context_size], dim=1)
        inputs = linear(words, word_matrix, self.gru.bias_ih)
        states, alignment, contexts = self.attention.unroll(
            inputs, initial, annotations, lengths, context_matrix, self.gru
        )
        readout_states = states if self.config.readout_state == "current" else torch.cat([initial[None], states[:-1]])
        wide = self.readout_state(readout_states) + self.readout_word(words) + self.readout_context(contexts)
        readouts = wide.unflatten(-1, (-1, 2)).amax(-1)
        return self.dropout(readouts).transpose(0, 1), alignment.transpose(0, 1)


class RNNsearch(nn.Module):
    """A BiGRU encoder and an attentive GRU decoder (Bahdanau, Cho & Bengio 2014)."""

    writes_unk = False
    """Whether a search may write `<unk>` by default."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = RNNsearchDecoder(config)

    @property
    def output(self) -> nn.Linear:
        """W_o and b_o, which turn readouts (..., l) into the logits of all pieces (..., K)."""
        return self.decoder.output

    @property
    def attends(self) -> bool:
        """Whether the decoder has attention."""
        return self.decoder.attention.attends

    @property
    def attends_once(self) -> bool:
        """Whether each step has one attention distribution, open to interventions and with a posterior."""
        return self.attends

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts t_i (B, Ty, l) and alignment (B, Ty, Tx) under teacher forcing.

        `source` ids (B, Tx), `lengths` (B,), `previous` (B, Ty): ids of y_{i-1}.
        """
        readouts: tuple[Tensor, Tensor] = self.decoder(self.encoder(source, lengths), lengths, previous)
        return readouts

    @torch.no_grad()
    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Initialise all weights.

        Recurrent matrices are orthogonal, other matrices Glorot-uniform, embeddings N(0, 1/sqrt(m)), biases 0. This
        follows the paper's B.1, except that Glorot's scale suits smaller sizes.
        """
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                for block in parameter.chunk(3):
                    nn.init.orthogonal_(block, generator=generator)
            elif "embedding" in name:
                nn.init.normal_(parameter, std=self.config.embedding_size**-0.5, generator=generator)
                parameter[0].zero_()
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("score"):
                nn.init.uniform_(parameter, -(len(parameter) ** -0.5), len(parameter) ** -0.5, generator=generator)
            else:
                parameter.zero_()


_MANY = 16
"""Number of sentences from which steps multiply the contexts."""


@dataclass(frozen=True)
class Memory(SourceMemory):
    """The encoder's output for S sentences; the mask is (S, 1, Tx)."""

    keys: Tensor
    """Keys of the annotations, (S, Tx, n')."""
    values: Tensor | None
    """Each annotation's contribution to gates and readout, (S, Tx, 3n + 2l); None where steps multiply the contexts.

    Without attention, that of the annotation's forward half.
    """


class DecoderState(NamedTuple):
    """s_{i-1} of k hypotheses for each of S sentences, and its products."""

    state: Tensor
    """s_{i-1}, (S, k, n)."""
    products: Tensor
    """Concatenation of U s + b of the gates, W_a s, and U_o s + b of the readout, (S, k, 3n + n' + 2l)."""
    alignment: Tensor
    """alpha_{i-1}, (S, k, Tx), 0 before the first step; (S, k, 0) for kinds of attention that do not depend on it."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> DecoderState:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""
        return DecoderState(*selected(self, sentences, hypotheses))


class Step(NamedTuple):
    """Numbers of one step, for k hypotheses of S sentences."""

    energies: Tensor
    """e_ij before interventions, (S, k, Tx); -inf where masked."""
    alignment: Tensor
    """alpha_ij after interventions, (S, k, Tx)."""
    features: Tensor
    """Features f_ij, (S, k, Tx, r); (S, k, 0) for kinds of attention without features."""
    query: Tensor
    """The query, (S, k, n')."""
    reset_gate: Tensor
    """r_i, (S, k, n)."""
    update_gate: Tensor
    """z_i, (S, k, n)."""
    candidate: Tensor
    """The candidate state, (S, k, n)."""
    state: Tensor
    """s_i, (S, k, n)."""
    readout: Tensor
    """t_i, (S, k, l), the input of `StepDecoder.output`."""


class StepDecoder:
    """A network's decoder, prepared for single steps."""

    def __init__(self, network: RNNsearch) -> None:
        """Precompute the products; the network's weights must not change afterwards."""
        self.config = network.config
        decoder = self.decoder = network.decoder
        self.attention = decoder.attention
        m, n = self.config.embedding_size, self.config.hidden_size
        with torch.no_grad():
            words, contexts = decoder.gru.weight_ih.split([m, self.attention.context_size], dim=1)
            self._by_word = torch.cat([words, decoder.readout_word.weight])
            self._offset = torch.cat([decoder.gru.bias_ih, torch.zeros_like(decoder.readout_state.bias)])
            values = torch.cat([contexts, decoder.readout_context.weight])
            self.values = FixedProduct(values, values.new_zeros(len(values)))
            """The context's matrices of gates and readout: (R, context size) to (R, 3n + 2l)."""
            query = self.attention.query_weight
            self.query_size = 0 if query is None else len(query)
            parts: list[Tensor] = [decoder.gru.weight_hh, decoder.readout_state.weight]
            biases: list[Tensor] = [decoder.gru.bias_hh, decoder.readout_state.bias]
            if query is not None:
                parts.insert(1, query)
                biases.insert(1, query.new_zeros(self.query_size))
            self.recurrent = FixedProduct(torch.cat(parts), torch.cat(biases))
            """Products of a state for gates, query and readout: (R, n) to (R, 3n + n' + 2l)."""
            self.output = OutputLayer(decoder.output)
        self.gates = 3 * n
        self._tabulated = np.zeros(self.config.vocabulary_size, bool)

    def words(self, ids: Tensor) -> Tensor:
        """Return the contribution of pieces, as the previous word, to gates and readout: ids (...) to (..., 3n + 2l).

        On the CPU each piece is computed at its first use. A row takes memory once it is written: a translation needs a
        hundred, and all rows of a vocabulary of 16,000 take 131 MB.
        """
        if ids.device.type == "cpu":
            numbers = ids.flatten().numpy()
            for number in set(numbers[~self._tabulated[numbers]].tolist()):
                # One by one: rounding depends on the number of rows, and results must not depend on earlier sentences.
                self._table[number] = self.words_of(torch.tensor([number]))[0]
                self._tabulated[number] = True
        return embedding(ids, self._table)

    @cached_property
    def _table(self) -> Tensor:
        """Contribution of each piece, (K, 3n + 2l); on the CPU only the rows in `_tabulated`."""
        size, device = self.config.vocabulary_size, self._offset.device
        # The first access may happen in inference mode, while a later one needs gradients.
        with torch.inference_mode(False):
            if device.type == "cpu":
                return self._offset.new_empty(size, len(self._offset))
            return self.words_of(torch.arange(size, device=device))  # finding new ids would wait for the device

    @torch.no_grad()
    def words_of(self, ids: Tensor) -> Tensor:
        """Return the rows of `words` for `ids` (...), without the table: (..., 3n + 2l)."""
        rows = embedding(ids.flatten(), self.decoder.embedding.weight)
        words: Tensor = torch.addmm(self._offset, rows, self._by_word.t())
        return words.view(*ids.shape, -1)

    @cached_property
    def into_readout(self) -> FixedProduct:
        """The context's matrix of the readout, C_o h_j: (R, context size) to (R, 2l)."""
        weight = self.decoder.readout_context.weight
        return FixedProduct(weight, weight.new_zeros(len(weight)))

    def memory(self, annotations: Tensor, lengths: Tensor) -> Memory:
        """Return the memory of `annotations` (S, Tx, 2n) with `lengths` (S,) pieces each."""
        attended = annotations[..., : self.attention.context_size]
        values = self.values(attended.flatten(0, 1)).unflatten(0, attended.shape[:2]) if len(attended) < _MANY else None
        mask = self.attention.mask(lengths, annotations.shape[1])
        return Memory(annotations, mask[:, None], self.attention.keys(annotations), values)

    def start(self, memory: Memory) -> DecoderState:
        """Return s_0, one hypothesis for each sentence."""
        state = self.decoder.initial_state(memory.annotations)[:, None]
        return self._with_products(state, memory.annotations.new_zeros(memory.mask.shape))

    def step(
        self,
        memory: Memory,
        state: DecoderState,
        previous_ids: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
        words: Tensor | None = None,
    ) -> tuple[Step, DecoderState]:
        """Return step i and its state, given s_{i-1} and the ids `previous_ids` (S, k) of y_{i-1}.

        `words` are the `words_of` of `previous_ids`, where already computed. `intervention` maps energies (S, k, Tx) to
        changed energies before the softmax; the step's `energies` stay unchanged.
        """
        gates, products = self.gates, state.products
        query = self.attention.queries(state.state, products[..., gates : gates + self.query_size])
        features = self.attention.features(state.alignment) if self.attention.reads_before else state.alignment
        energies = self.attention.energies(query, memory.keys[:, None], features) + memory.mask
        alignment = torch.softmax(energies if intervention is None else intervention(energies), -1)
        incoming = self._incoming(memory, alignment, self.words(previous_ids) if words is None else words)
        reset, update, candidate = gru_gates(incoming[..., :gates], products[..., :gates])
        next_state = self._with_products(torch.lerp(candidate, state.state, update), alignment)
        readout_state = next_state if self.config.readout_state == "current" else state
        wide = incoming[..., gates:] + readout_state.products[..., gates + self.query_size :]
        readout = torch.maximum(wide[..., ::2], wide[..., 1::2])
        return Step(
            energies, alignment, features, query, reset, update, candidate, next_state.state, readout
        ), next_state

    def _incoming(self, memory: Memory, alignment: Tensor, words: Tensor) -> Tensor:
        """Return the previous word's part of gates and readout, `words` (S, k, 3n + 2l), plus the context's."""
        if memory.values is not None:
            return torch.baddbmm(words, alignment, memory.values)
        contexts = torch.bmm(alignment, memory.annotations[..., : self.attention.context_size])
        return words + self.values(contexts.flatten(0, 1)).view(words.shape)

    def _with_products(self, state: Tensor, alignment: Tensor) -> DecoderState:
        products = self.recurrent(state.flatten(0, 1)).view(*state.shape[:2], -1)
        return DecoderState(state, products, alignment if self.attention.reads_before else alignment[..., :0])
