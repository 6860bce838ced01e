"""Declaration of imported recurrent translators, of every program in `imported_families.FAMILIES`."""

from __future__ import annotations

from attnviz.analysis.seq2seq_verification import Seq2SeqVerifier, check_seq2seq_fit
from attnviz.architectures.declaration import Architecture, StepTexts
from attnviz.architectures.recurrent import PAYLOADS, idea_figures
from attnviz.languages import gettext
from attnviz.trace import Seq2SeqTrace
from attnviz.wording import equations, idea, seq2seq_equations, seq2seq_stages
from attnviz.wording.idea import recurrent_terms

IMPORTED = Architecture(
    "seq2seq",
    Seq2SeqTrace,
    Seq2SeqVerifier,
    check_seq2seq_fit,
    StepTexts(
        seq2seq_stages.import_stage_titles,
        seq2seq_stages.narrate_import,
        idea.idea_titles,
        idea.idea_stages,
        seq2seq_equations.import_equations,
        seq2seq_equations.import_texts_of_step,
        equations.texts_of_source,
        equations.texts_of_cells,
        terms=recurrent_terms,
    ),
    {1: "energy", 2: "softmax", 3: "context", 4: "state", 5: "word"},
    idea_figures,
    PAYLOADS | {"word"},
    {
        "softmax": lambda: gettext(
            "You cannot change the attention weights of an imported translator by hand. You can try another word "
            "instead."
        ),
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a translator trained with attnviz. This model was imported "
            "from another program."
        ),
    },
)
