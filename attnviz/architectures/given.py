"""Attention that another program computed: two sentences and a matrix, of which nothing can be recomputed."""

from __future__ import annotations

from attnviz.architectures.declaration import Architecture, Told
from attnviz.trace import Attention
from attnviz.wording import imported_attention, stages

GIVEN = Architecture(
    "attention",
    Attention,
    told=Told(
        imported_attention.given_stage_titles,
        imported_attention.narrate_given,
        imported_attention.given_stage_titles,
        imported_attention.narrate_given,
        step_sentence=imported_attention.given_step_sentence,
        made_by=imported_attention.made_by,
        how=lambda trace: stages.capital(imported_attention.made_by(trace)),
    ),
    payloads=frozenset(["facts", "look", "energy", "softmax"]),
)
