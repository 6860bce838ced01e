"""`Trace`: one immutable record of a translation, with every number the pages show.

It is written by the translator and read by everything else. It saves to one JSON file and opens again without the
model and without torch.
"""

from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search, Words
from attnviz.trace.record import STORED_CANDIDATES, Record
from attnviz.trace.trace import Trace

__all__ = ["STORED_CANDIDATES", "FloatArray", "Hypothesis", "IntArray", "Record", "Search", "Trace", "Words"]
