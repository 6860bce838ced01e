"""The architecture diagram as a file: the browser copies it from the page, adds a title and uses light colours."""

from __future__ import annotations

from dataclasses import asdict

from attnviz.architectures import step_texts
from attnviz.export.sheet import shortened_to_fit
from attnviz.figures.diagram_table import diagram_table
from attnviz.languages import gettext
from attnviz.palette import palette
from attnviz.ui.components.picture_files import PageDrawing, PictureFile
from attnviz.ui.page_state.view import View
from attnviz.wording.diagram import diagram_alt
from attnviz.wording.file_headings import step_heading

_NARROWEST, _HEADING, _SENTENCE = 760, 17, 13
"""Smallest width of the diagram and font sizes of the title, in pixels."""


def diagram_file(view: View, step: int, file: str) -> PictureFile:
    """Return the diagram of `view`, of a recurrent translator, at 0-based `step`, as a figure named `file`."""
    trace, ink = view.trace, palette("light")
    heading = step_heading(trace, step, gettext("Architecture diagram"))
    credit = gettext("attnviz, {made_by}", made_by=step_texts(trace).made_by(trace))
    lines = [(f"{heading} ({credit})", ink.ink, _HEADING, 600)]
    for sentence, colour in ((trace.source_text, ink.encoder), (trace.translation, ink.decoder)):
        lines.append((" ".join(sentence.split()), colour, _SENTENCE, 400))
    colours = {name: value for name, value in asdict(ink).items() if isinstance(value, str)} | {"paper": ink.sheet}
    drawing = PageDrawing(
        f".st-key-{view.key('diagram_box')}",
        _NARROWEST,
        colours,
        [(shortened_to_fit(text, _NARROWEST, size), colour, size, weight) for text, colour, size, weight in lines],
        diagram_alt(trace, step, step_texts(trace).narrate(trace, step)),
    )
    return PictureFile(gettext("Architecture diagram"), file, drawing, diagram_table(trace, step))
