"""Figures of a logit attribution and of a contrast: a waterfall, with the attention beside each source piece."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.labels import shorten
from attnviz.analysis.logit_attribution import LogitAttribution, logit_attribution_title
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.grammar import bars, panel, rows_layout, sum_range, waterfall
from attnviz.figures.spec import Spec, axis_labels, escape, in_colour
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.text import piece_name

SOURCES = 12
"""Number of source pieces with a bar of their own, those with the largest contributions; the others share one."""
_LABEL, _COMPARED = 15, 9
"""Characters of a row's label, the same at every step, so that the bars begin at one position; of a piece in the last.
"""


def draw_logit_attribution(subject: Subject) -> Spec:
    """Draw what each term adds to the logit of the word, minus the mean logit: see `_attribution`."""
    return _attribution(subject, subject.logit_attribution, (subject.name(subject.word_id),))


def draw_contrast(subject: Subject) -> Spec:
    """Draw what each term adds to the logit of the word, minus that of the foil: see `_attribution`."""
    return _attribution(subject, subject.contrast, contrast_names(subject))


def contrast_names(subject: Subject) -> tuple[str, str]:
    """Return the labels of the word and of the foil."""
    assert subject.foil_id is not None  # the requirement FOIL ensures it
    return subject.name(subject.word_id), subject.name(subject.foil_id)


def _attribution(subject: Subject, attribution: LogitAttribution, compared: tuple[str, ...]) -> Spec:
    """Draw a logit from the bias down to the sum, whose label has the `compared` pieces, the word and any foil.

    A source piece has a row with its contribution, and on the left its alpha_ij as a bar, which shows attention without
    effect; small contributions share a row. Without attention, one row is the whole sentence. For marks and clicks,
    `layout.meta` has the row of each piece, None where it shares one (`entries`), and the mark's colour
    (`selection_colour`).
    """
    trace, ink, source = subject.trace, subject.ink, attribution.source
    alpha, pieces = trace.alignment[subject.step], [piece_name(piece) for piece in trace.source_pieces]
    own = _own_rows(subject) if trace.attends else []
    others = [j for j in range(len(source)) if j not in own]
    rest = gettext("{n} more", n=len(others)) if own else gettext("c, the sentence")
    groups = [*([j] for j in own), *([others] if others else [])]
    title = logit_attribution_title(*compared, longest=subject.longest or _COMPARED)
    names = [
        gettext("bias"),
        gettext("through sᵢ") if trace.reads_new_state else gettext("state sᵢ₋₁"),
        gettext("after {piece}", piece=piece_name(trace.previous_pieces[subject.step])),
        *(rest if group is others else pieces[group[0]] for group in groups),
        title,
    ]
    terms = [attribution.bias, attribution.state, attribution.previous_word]
    values = [*terms, *(float(source[group].sum()) for group in groups)]
    rows, weights = range(3, len(values)), [float(alpha[group].sum()) for group in groups]
    hover = [
        gettext("{name}: {amount}", name=escape(shorten(name, 60)), amount=signed(amount, 4))
        for name, amount in zip(names, [*values, attribution.logit], strict=True)
    ]
    if own:
        hover[3:-1] = [f"{text}<br>α = {decimal(weight, 4)}" for text, weight in zip(hover[3:-1], weights, strict=True)]
    labels = axis_labels(names, subject.longest or _LABEL)
    labels[-1] = f"<b>{labels[-1]}</b>"
    colours = [ink.quiet, ink.decoder, ink.decoder, *[ink.encoder if own else ink.context] * len(groups), ink.ink]
    labels = [in_colour(label, colour) for label, colour in zip(labels, colours, strict=True)]

    data = waterfall(values, hover, ink)
    axes = {"xaxis": panel(ink, [0, 1], gettext("running sum"), range=sum_range(values), nticks=5)}
    if own:
        data.append(bars(weights, {"color": ink.bar}, hover[3:-1], name="alpha", xaxis="x2", y=list(rows)))
        axes["xaxis"]["domain"] = [0.19, 1]
        axes["xaxis2"] = panel(ink, [0, 0.14], "α", range=[0, 1], tickvals=[0, 1])
    entries = [3 + own.index(j) if j in own else None for j in range(len(source))] if own else None
    layout = rows_layout(labels, 118, 320, ink, selection_colour=ink.encoder, entries=entries) | axes

    largest = int(np.abs(source).argmax())
    fields = {"title": shorten(title, 60), "step": subject.step + 1, "logit": attribution.logit}
    if own:
        alt = gettext(
            "{title}: what each term of step {step} adds to the total of {logit:.2f}. The largest source term, "
            "{entry:+.2f}, is that of {piece}, whose attention weight is {weight:.2f}.",
            entry=source[largest],
            piece=shorten(pieces[largest]),
            weight=alpha[largest],
            **fields,
        )
    else:
        alt = gettext("{title}: what each term of step {step} adds to the total of {logit:.2f}.", **fields)
    state = gettext("through s_i") if trace.reads_new_state else gettext("state s_{i-1}")
    table = {
        gettext("row"): range(1, len(pieces) + 5),
        gettext("entry"): [gettext("bias"), state, gettext("previous word"), *pieces, gettext("sum")],
        gettext("adds"): [*terms, *source, attribution.logit],
        "alpha": [None, None, None, *alpha.tolist(), None],
    }
    return Spec(data, layout, alt, table)


def _own_rows(subject: Subject) -> list[int]:
    """Return the source pieces with a row of their own, in sentence order: the largest contributions, and the chosen.

    They are the largest in attribution or contrast, so that both have the same rows.
    """
    contrast = [] if subject.foil_id is None else [subject.contrast]
    amounts = np.max([np.abs(each.source) for each in [subject.logit_attribution, *contrast]], axis=0)
    # A piece without weight contributes nothing and gets no bar.
    count = min(SOURCES, max(int(np.count_nonzero(amounts)), 1))
    rows = np.argsort(-amounts, kind="stable")[:count].tolist()
    if subject.source_piece not in rows:
        rows = [*rows[: SOURCES - 1], subject.source_piece]
    return sorted(rows)
