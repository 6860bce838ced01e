"""Attention that another program computed: two sentences and a matrix, of which nothing can be recomputed."""

from __future__ import annotations

from attnviz.architectures.declaration import Architecture, Told
from attnviz.trace import Attention
from attnviz.wording import given, stages

GIVEN = Architecture(
    "attention",
    Attention,
    told=Told(
        given.given_stage_titles,
        given.narrate_given,
        given.given_stage_titles,
        given.narrate_given,
        step_sentence=given.given_step_sentence,
        made_by=given.made_by,
        how=lambda trace: stages.capital(given.made_by(trace)),
    ),
    payloads=frozenset(["facts", "look", "energy", "softmax"]),
)
