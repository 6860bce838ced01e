"""Imported recurrent translators: names of their programs, values of config fields, and fields that old files lack.

Every imported translator has an encoder RNN, attention, a decoder RNN and an output layer. The fields of
`network.Seq2SeqConfig` say which form each part has, so that one network, one recomputation and one set of texts serve
all programs.
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
LINEAR_READOUTS = ("joined", "affine")
"""Readouts that are linear in state, context and previous word, so that a logit splits into contributions."""
_TUTORIAL = {
    "query": "previous",
    "readout": "joined",
    "directions": 2,
    "key_bias": True,
    "readout_bias": False,
    "output_bias": True,
    "source_length": 0,
    "attends_padding": False,
    "combined": False,
}
_BEFORE: Mapping[str, Mapping[str, Any]] = {
    "tutorial": _TUTORIAL,
    "pytorch": _TUTORIAL | {"readout": "state", "directions": 1},
    "joey": _TUTORIAL
    | {"query": "new", "readout": "tanh", "key_bias": False, "readout_bias": True, "output_bias": False},
}
"""Fields that files of earlier versions lack, by family: then, the family determined them."""


def completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config` with the fields that files of earlier versions lack."""
    family = config.get("family")
    return {**_BEFORE.get(family, {}), **config} if isinstance(family, str) else dict(config)
