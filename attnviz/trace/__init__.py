"""`Trace` and `TransformerTrace`: one immutable record of a translation each, with every number there is of it.

They are written by the translator and read by everything else. They save to one JSON file and open again without the
model and without torch.
"""

from attnviz.trace.beam_tree import BeamNode, BeamTree
from attnviz.trace.branches import Branch, Branches
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search, Words
from attnviz.trace.record import STORED_CANDIDATES, Record
from attnviz.trace.trace import Trace
from attnviz.trace.transformer_trace import TransformerTrace

__all__ = [
    "STORED_CANDIDATES",
    "BeamNode",
    "BeamTree",
    "Branch",
    "Branches",
    "FloatArray",
    "Hypothesis",
    "IntArray",
    "Record",
    "Search",
    "Trace",
    "TransformerTrace",
    "Words",
]
