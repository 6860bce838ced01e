"""Declaration of RNNsearch (Bahdanau et al. 2014) with all its kinds of attention (`attention_kinds`)."""

from __future__ import annotations

from attnviz.analysis.fit import check_model
from attnviz.analysis.verification import RNNsearchVerifier
from attnviz.architectures.declaration import Architecture, StepTexts
from attnviz.architectures.recurrent import PAYLOADS, idea_figures
from attnviz.trace import Trace
from attnviz.wording import equations, idea, stages
from attnviz.wording.idea import recurrent_terms

RNNSEARCH = Architecture(
    "rnnsearch",
    Trace,
    RNNsearchVerifier,
    check_model,
    StepTexts(
        stages.stage_titles,
        stages.narrate,
        idea.idea_titles,
        idea.idea_stages,
        equations.equation_templates,
        equations.texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        terms=recurrent_terms,
    ),
    {1: "energy", 2: "softmax", 3: "context", 4: "state", 5: "maxout and word"},
    idea_figures,
    PAYLOADS | {"posterior", "equation-after", "weight_controls", "changed", "context", "maxout"},
)
