"""What a record of an imported translator holds: the name, shape, equation and meaning of every number."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.trace.quantity import Quantity

_TABLE = (
    Quantity(
        "annotations",
        r"h_j",
        ("Tx", "2m"),
        r"h_j = [\overrightarrow h_j ; \overleftarrow h_j]",
        "what the encoder noted of each source piece",
    ),
    Quantity(
        "initial_state",
        r"s_0",
        ("n",),
        r"s_0 = \tanh(W_s [\overrightarrow h_{T_x} ; \overleftarrow h_1] + b_s)",
        "the decoder's first state, in every layer",
    ),
    Quantity("keys", r"U_a h_j", ("Tx", "n'"), r"U_a h_j + b_a", "what an energy needs of each annotation"),
    Quantity("queries", r"W_a s", ("Ty", "n'"), r"W_a s_{i-1} \text{ or } W_a s_i", "what a state asks with"),
    Quantity("score_vector", r"v_a", ("v",), r"v_a", "what weighs the units of an energy", may_be_absent=True),
    Quantity(
        "energies",
        r"e_{ij}",
        ("Ty", "Tx"),
        r"e_{ij} = v_a^\top \tanh(W_a s + U_a h_j + b_a)",
        "how well state and annotation fit",
    ),
    Quantity(
        "alignment",
        r"\alpha_{ij}",
        ("Ty", "Tx"),
        r"\alpha_{ij} = \operatorname{softmax}_j(e_{ij})",
        "where each step looked; rows sum to 1",
    ),
    Quantity("contexts", r"c_i", ("Ty", "2m"), r"c_i = \sum_j \alpha_{ij} h_j", "what the decoder reads of the source"),
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
        "what an LSTM keeps beside its state, in every layer; a GRU has none",
    ),
    Quantity(
        "layer_states",
        r"s_i",
        ("Ty", "L", "n"),
        r"s_i = \operatorname{RNN}(s_{i-1}, x_i)",
        "the decoder's state after the step, in every layer",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "r"),
        r"t_i = [s_i ; c_i ; E y_{i-1}] \text{ or } \tanh(W_t [s_i ; c_i] + b_t)",
        "what the words are scored with",
    ),
    Quantity(
        "log_probabilities",
        r"\log p(y_i)",
        ("Ty",),
        r"\log p(y_i \mid y_{<i}, x)",
        "how likely the written piece was, in nats",
    ),
    Quantity(
        "top_ids", r"y", ("Ty", "k"), r"\operatorname{arg\,top}_k\, p(y)", "the likeliest pieces, likeliest first"
    ),
    Quantity(
        "top_probabilities",
        r"p(y)",
        ("Ty", "k"),
        r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)",
        "the likeliest pieces' probabilities",
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = _TABLE
"""What a record keeps: all of it."""
