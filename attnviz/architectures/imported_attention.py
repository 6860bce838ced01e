"""Declaration of attention that another program computed: two sentences and a matrix, which cannot be recomputed."""

from __future__ import annotations

from attnviz.architectures.declaration import Architecture, StepTexts
from attnviz.trace import Attention
from attnviz.wording import imported_attention, stages

IMPORTED_ATTENTION = Architecture(
    "attention",
    Attention,
    step_texts=StepTexts(
        imported_attention.attention_stage_titles,
        imported_attention.narrate_attention,
        imported_attention.attention_stage_titles,
        imported_attention.narrate_attention,
        heads_text=imported_attention.shown_heads,
        step_sentence=imported_attention.attention_step_sentence,
        made_by=imported_attention.made_by,
        how=lambda trace: stages.capitalised(imported_attention.made_by(trace)),
    ),
    payloads=frozenset(["facts", "look", "energy", "softmax"]),
)
