"""Recurrent translators: the form of their parts, and the programs whose translators can be imported.

Every recurrent translator has an encoder RNN, attention, a decoder RNN and an output layer. `form_of` says which form
each part has, in the words of `network.Seq2SeqConfig`, so that one trace, one recomputation and one set of equations
serve RNNsearch and all programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.attention_kinds import IMPORTED_KINDS

FAMILIES: Mapping[str, str] = {
    "tutorial": "seq2seq tutorial",
    "joey": "Joey NMT",
    "pytorch": "PyTorch tutorial",
    "pytorch-2017": "PyTorch tutorial before 2023",
    "d2l": "Dive into Deep Learning",
    "fairseq": "fairseq",
    "opennmt": "OpenNMT-py",
}
"""Name of each program, for display."""
NEVER_EMPTY = ("joey", "fairseq")
"""Programs whose search does not end a translation before its first word."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "family": tuple(FAMILIES),
    "cell": ("gru", "lstm"),
    "encoder_cell": ("gru", "lstm"),
    "attention": IMPORTED_KINDS,
    "query": ("previous", "new", "joined"),
    "first_state": ("bridge", "last", "zero", "layers", "projected", "rectified"),
    "readout": ("joined", "affine", "tanh", "state"),
}
"""Values of the fields that are words; `network.Seq2SeqConfig` explains them."""
LINEAR_READOUTS = ("joined", "affine", "maxout")
"""Readouts that are linear in state, context and previous word, so that a logit splits into contributions.

Maxout is linear once the larger of each pair is known.
"""
_IMPORTED: Mapping[str, Any] = {"readout_state": "current", "joiner": "@@", "writes_gates": True}
"""The parts that all imported translators share; the others are in their configs.

`joiner` ends a piece that continues in the next one (subword-nmt); SentencePiece needs none. `writes_gates`: the
equations write out the recurrence's input and gates, since programs differ in them.
"""
_RNNSEARCH: Mapping[str, Any] = {
    "cell": "gru",
    "encoder_cell": "gru",
    "encoder_layers": 1,
    "layers": 1,
    "directions": 2,
    "query": "previous",
    "combined": False,
    "input_feeding": False,
    "first_state": "backward",
    "readout": "maxout",
    "key_bias": False,
    "readout_bias": True,
    "output_bias": True,
    "source_scaled": False,
    "target_scaled": False,
    "source_length": 0,
    "attends_padding": False,
    "joiner": "",
    "writes_gates": False,
}
"""The parts of RNNsearch: s_0 = tanh(W_s backward h_1 + b_s), t_i is a maxout layer of s_{i-1} or, by config, s_i."""


def form_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `config` of a recurrent translator with the fields that its architecture fixes."""
    fixed = _IMPORTED if config.get("architecture") == "seq2seq" else _RNNSEARCH
    return {**fixed, **config}
