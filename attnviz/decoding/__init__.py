"""Decoding in torch: greedy and beam search, forced decoding, recording, attribution, and padded batches of ids."""

from attnviz.decoding.applied_interventions import force, forced_target
from attnviz.decoding.attribution import attributions_of, gradient_norms_of
from attnviz.decoding.search import (
    Candidate,
    DecodingPath,
    FinishedHypothesis,
    SearchStep,
    beam_nodes,
    check_search,
    greedy,
    largest,
    longest_target,
    path_of,
    search,
)
from attnviz.decoding.sentences import all_sentence_ids, all_target_ids, batches, padded, sentence_ids, target_ids

__all__ = [
    "Candidate",
    "DecodingPath",
    "FinishedHypothesis",
    "SearchStep",
    "all_sentence_ids",
    "all_target_ids",
    "attributions_of",
    "batches",
    "beam_nodes",
    "check_search",
    "force",
    "forced_target",
    "gradient_norms_of",
    "greedy",
    "largest",
    "longest_target",
    "padded",
    "path_of",
    "search",
    "sentence_ids",
    "target_ids",
]
