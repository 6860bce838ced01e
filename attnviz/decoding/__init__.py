"""From a decoder to a target: greedy and beam search, and forced decoding."""

from attnviz.decoding.attribution import attributions_of
from attnviz.decoding.batching import batches
from attnviz.decoding.course import Course, course_of
from attnviz.decoding.forced import force
from attnviz.decoding.greedy import greedy
from attnviz.decoding.interventions import forced_target
from attnviz.decoding.recording import recorded
from attnviz.decoding.search import Finished, SearchStep, largest, longest_target, search

__all__ = [
    "Course",
    "Finished",
    "SearchStep",
    "attributions_of",
    "batches",
    "course_of",
    "force",
    "forced_target",
    "greedy",
    "largest",
    "longest_target",
    "recorded",
    "search",
]
