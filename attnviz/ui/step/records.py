"""The records of the step room: what the browser may fetch of a translation, and how it is made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attnviz.trace import Aligned, Attention, Record, Recurrent, Seq2SeqTrace, Trace, TransformerTrace
from attnviz.ui.components.context_growth.context_growth import growth_record, values_record
from attnviz.ui.components.step_summary.step_summary import summary_record
from attnviz.ui.records import Asked, Maker, UnknownRecordError
from attnviz.ui.step import idea
from attnviz.ui.step.bench import changes_record, other_words_record
from attnviz.ui.step.context_units import NAME as UNITS
from attnviz.ui.step.context_units import context_units_record
from attnviz.ui.step.ledger import ledger_record
from attnviz.ui.step.looking_back import EQUATION, PICTURE, after_equation_record, posterior_record
from attnviz.ui.step.machine import drawing_record
from attnviz.ui.step.microscope import cell_record
from attnviz.ui.step.proof_badge import proof_record
from attnviz.ui.step.stages import equation_record, narration, picture_record, sentences_of
from attnviz.ui.step.tour import tour_stops_record
from attnviz.ui.step.what_changed import changed_record
from attnviz.wording.kinds import told


def _facts(asked: Asked) -> dict[str, Any]:
    return summary_record(asked.trace, narration(asked.trace, asked.steps), told(asked.trace).step_sentence)


def _growth(asked: Asked) -> dict[str, Any]:
    return growth_record(asked.trace, sentences_of(asked.trace, 3, asked.steps), asked.theme)


def _values(asked: Asked) -> dict[str, Any]:
    return values_record(asked.trace, sentences_of(asked.trace, 3, asked.steps), asked.theme)


def _only(kind: type[Aligned] | tuple[type[Aligned], ...], maker: Maker, asked: Asked) -> Mapping[str, Any]:
    """Return what `maker` makes of a record of this `kind`; raise UnknownRecordError for one of another."""
    if not isinstance(asked.trace, kind):
        raise UnknownRecordError(type(asked.trace).__name__)
    return maker(asked)


OF_ALL: Mapping[str, Maker] = {
    "proof": proof_record,
    "rivals": other_words_record,
    "tour": tour_stops_record,
    "candidates": partial(picture_record, "candidates"),
    **{f"equation-{stage}": partial(equation_record, stage) for stage in range(1, 6)},
    **idea.OF_ALL,
}
"""Those of every translation, by the names in their addresses."""
ONE_LOOK: Mapping[str, Maker] = {
    "growth": _growth,
    UNITS: context_units_record,
    "machine": drawing_record,
    "microscope": cell_record,
    "state": partial(picture_record, "state"),
    **{name: partial(ledger_record, name) for name in ("ledger", "contrast")},
    **idea.OF_RECURRENT,
}
"""Those of recurrent translators, whoever trained them."""
RECURRENT: Mapping[str, Maker] = {
    PICTURE: posterior_record,
    EQUATION: after_equation_record,
    "bench": changes_record,
    "changed": changed_record,
    **{name: partial(picture_record, name) for name in ("context", "maxout")},
}
"""Those of RNNsearch alone."""
HEADS: Mapping[str, Maker] = {
    "values": _values,
    **{name: partial(picture_record, name) for name in ("scores", "weights", "stream")},
    **idea.OF_HEADS,
}
"""Those of transformers alone."""

MAKERS: Mapping[str, Maker] = {
    "facts": _facts,
    "look": partial(_only, Attention, partial(picture_record, "look")),
    "word": partial(_only, (TransformerTrace, Seq2SeqTrace), partial(picture_record, "candidates", stage=5)),
    **{name: partial(_only, (Recurrent, Attention), partial(picture_record, name)) for name in ("energy", "softmax")},
    **{name: partial(_only, Record, maker) for name, maker in OF_ALL.items()},
    **{name: partial(_only, Recurrent, maker) for name, maker in ONE_LOOK.items()},
    **{name: partial(_only, Trace, maker) for name, maker in RECURRENT.items()},
    **{name: partial(_only, TransformerTrace, maker) for name, maker in HEADS.items()},
}
"""By the names in their addresses."""
