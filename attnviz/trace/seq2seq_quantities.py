"""Table of the arrays that an imported recurrent translator records: symbol, shape, equation and meaning.

Sizes are those of `trace.seq2seq_trace.Seq2SeqTrace`.
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.trace.additive_energy import additive_energy, query_and_key
from attnviz.trace.quantity import Quantity

_TABLE = (
    Quantity(
        "annotations",
        r"h_j",
        ("Tx", "2m"),
        r"h_j = [\overrightarrow h_j ; \overleftarrow h_j]",
        "annotation: both encoder states at a source piece",
    ),
    Quantity(
        "initial_state",
        r"s_0",
        ("n",),
        r"s_0 = \tanh(W_s [\overrightarrow h_{T_x} ; \overleftarrow h_1] + b_s) \text{ or } \overrightarrow h_{T_x}",
        "decoder state before the first word, in the last layer",
    ),
    Quantity(
        "initial_states",
        r"s_0",
        ("L", "n"),
        r"s_0",
        "decoder state before the first word, in every layer",
    ),
    Quantity(
        "initial_memories",
        r"m_0",
        ("M", "n"),
        r"m_0",
        "cell state of an LSTM before the first word, in every layer",
    ),
    Quantity("keys", r"U_a h_j", ("Tx", "n'"), r"U_a h_j + b_a", "key: an annotation in the alignment space"),
    Quantity(
        "queries",
        r"W_a s",
        ("Ty", "n'"),
        r"W_a s_{i-1} \text{ or } W_a s_i",
        "query: a decoder state in the alignment space",
    ),
    Quantity("score_vector", r"v_a", ("v",), r"v_a", "weights of the alignment units in an energy", may_be_absent=True),
    Quantity(
        "energies",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"e_{{ij}} = {additive_energy(query_and_key('s', more=' + b_a'))}",
        "energy: how well a source piece fits the state",
    ),
    Quantity(
        "alignment",
        r"\alpha_{ij}",
        ("Ty", "Tx"),
        r"\alpha_{ij} = \operatorname{softmax}_j(e_{ij})",
        "attention; rows sum to 1",
    ),
    Quantity(
        "contexts",
        r"c_i",
        ("Ty", "2m"),
        r"c_i = \sum_j \alpha_{ij} h_j",
        "context vector: weighted sum of the annotations",
    ),
    Quantity(
        "gates",
        r"g_i",
        ("Ty", "L", "g", "n"),
        r"\sigma(W x + U s_{i-1} + b)",
        "gates and candidate of every layer, in torch's order",
    ),
    Quantity(
        "memories",
        r"m_i",
        ("Ty", "M", "n"),
        r"m_i = f_i \odot m_{i-1} + e_i \odot \tilde m_i",
        "cell state of an LSTM, in every layer; a GRU has none",
    ),
    Quantity(
        "layer_states",
        r"s_i",
        ("Ty", "L", "n"),
        r"s_i = \operatorname{RNN}(s_{i-1}, x_i)",
        "decoder state after the step, in every layer",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "r"),
        r"t_i = [s_i ; c_i ; E y_{i-1}] \text{, } W_t [s_i ; c_i] + b_t \text{, its tanh, or } s_i",
        "vector from which the logits are computed",
    ),
    Quantity(
        "log_probabilities",
        r"\log p(y_i)",
        ("Ty",),
        r"\log p(y_i \mid y_{<i}, x)",
        "log probability of the written piece, in nats",
    ),
    Quantity(
        "top_ids",
        r"y",
        ("Ty", "k"),
        r"\operatorname{arg\,top}_k\, p(y)",
        "ids of the likeliest pieces, likeliest first",
    ),
    Quantity(
        "top_probabilities",
        r"p(y)",
        ("Ty", "k"),
        r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)",
        "probabilities of the likeliest pieces",
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = _TABLE
"""The quantities that a trace stores as arrays: all of them."""
