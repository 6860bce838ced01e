"""`Trace` and `TransformerTrace`: one immutable record of a translation each, with every number there is of it; and
`Judgement`, that of a verdict on one.

They are written by translator and detector and read by everything else. They save to one JSON file and open again
without the model and without torch.
"""

from attnviz.trace.beam_tree import BeamNode, BeamTree
from attnviz.trace.branches import Branch, Branches
from attnviz.trace.computation import Computation
from attnviz.trace.judgement import Judgement
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
    "Computation",
    "FloatArray",
    "Hypothesis",
    "IntArray",
    "Judgement",
    "Record",
    "Search",
    "Trace",
    "TransformerTrace",
    "Words",
]
