"""Imported recurrent translators: names of their programs, and values of config fields.

Every imported translator has an encoder RNN, attention, a decoder RNN and an output layer. The fields of
`network.Seq2SeqConfig` say which form each part has, so that one network, one recomputation and one set of texts serve
all programs.
"""

from __future__ import annotations

from collections.abc import Mapping

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
LINEAR_READOUTS = ("joined", "affine")
"""Readouts that are linear in state, context and previous word, so that a logit splits into contributions."""
