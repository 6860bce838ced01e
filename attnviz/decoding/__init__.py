"""Decoding in torch: greedy and beam search, forced decoding, recording, attribution, and padded batches of ids."""

from attnviz.decoding.attribution import attributions_of, signals_of
from attnviz.decoding.interventions import force, forced_target
from attnviz.decoding.prepared import rnnsearch_arrays
from attnviz.decoding.search import (
    Candidate,
    DecodingPath,
    Finished,
    SearchStep,
    check_beam,
    greedy,
    largest,
    longest_target,
    nodes_of,
    path_of,
    search,
)
from attnviz.decoding.sentences import all_sentence_ids, all_target_ids, batches, padded, sentence_ids, target_ids

__all__ = [
    "Candidate",
    "DecodingPath",
    "Finished",
    "SearchStep",
    "all_sentence_ids",
    "all_target_ids",
    "attributions_of",
    "batches",
    "check_beam",
    "force",
    "forced_target",
    "greedy",
    "largest",
    "longest_target",
    "nodes_of",
    "padded",
    "path_of",
    "rnnsearch_arrays",
    "search",
    "sentence_ids",
    "signals_of",
    "target_ids",
]
