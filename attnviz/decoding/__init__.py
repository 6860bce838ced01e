"""From a decoder to a target: greedy and beam search, and forced decoding."""

from attnviz.decoding.batching import batches
from attnviz.decoding.forced import force
from attnviz.decoding.greedy import greedy
from attnviz.decoding.interventions import forced_target
from attnviz.decoding.search import Finished, SearchStep, largest, longest_target, search

__all__ = [
    "Finished",
    "SearchStep",
    "batches",
    "force",
    "forced_target",
    "greedy",
    "largest",
    "longest_target",
    "search",
]
