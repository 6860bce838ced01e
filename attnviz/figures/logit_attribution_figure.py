"""Figures of a logit attribution and of a contrast: a waterfall, with the attention beside each source piece."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.labels import shorten
from attnviz.analysis.logit_attribution import LogitAttribution, logit_attribution_title
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.grammar import bars, sum_range, value_axis, waterfall, waterfall_layout
from attnviz.figures.spec import Spec, axis_labels, escape, in_colour, numbered_rows
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, ngettext
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
    trace, source = subject.trace, attribution.source
    alpha, pieces = trace.alignment[subject.step], [piece_name(piece) for piece in trace.source_pieces]
    own = _own_rows(subject) if trace.attends else []
    others = [j for j in range(len(source)) if j not in own]
    rest = ngettext("{count} other", "{count} others", len(others)) if own else gettext("c, the sentence")
    groups = [[j] for j in own] + [others] * bool(others)
    title = logit_attribution_title(*compared, longest=subject.longest or _COMPARED)
    terms = [attribution.bias, attribution.state, attribution.previous_word]
    values = [*terms, *(float(source[group].sum()) for group in groups)]
    weights, of_source = [float(alpha[group].sum()) for group in groups], "encoder" if own else "context"
    rows = [
        (gettext("bias"), "quiet"),
        (gettext("through sᵢ") if trace.reads_new_state else gettext("state sᵢ₋₁"), "decoder"),
        (gettext("after {piece}", piece=piece_name(trace.previous_pieces[subject.step])), "decoder"),
        *((rest if group is others else pieces[group[0]], of_source) for group in groups),
        (title, "ink"),
    ]
    hover = [
        gettext("{name}: {amount}", name=escape(shorten(name, 60)), amount=signed(amount, 4))
        for (name, _), amount in zip(rows, [*values, attribution.logit], strict=True)
    ]
    if own:
        hover[3:-1] = [f"{text}<br>α = {decimal(weight, 4)}" for text, weight in zip(hover[3:-1], weights, strict=True)]
    labels = axis_labels((name for name, _ in rows), subject.longest or _LABEL)
    labels[-1] = f"<b>{labels[-1]}</b>"
    labels = [in_colour(label, colour) for label, (_, colour) in zip(labels, rows, strict=True)]

    data, span, entries = waterfall(values, hover), [0.19, 1] if own else [0, 1], None
    axes = {"xaxis": value_axis(gettext("running sum"), sum_range(values), domain=span, nticks=5)}
    if own:
        places = list(range(3, len(values)))
        data.append(bars(weights, "bar", hover[3:-1], name="alpha", xaxis="x2", y=places))
        axes["xaxis2"] = value_axis("α", [0, 1], domain=[0, 0.14], tickvals=[0, 1])
        entries = [3 + own.index(j) if j in own else None for j in range(len(source))]
    layout = waterfall_layout(labels, 118, 320, selection_colour="encoder", entries=entries) | axes

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
    columns = {
        gettext("entry"): [gettext("bias"), state, gettext("previous word"), *pieces, gettext("sum")],
        gettext("adds"): [*terms, *source, attribution.logit],
        "alpha": [None, None, None, *alpha.tolist(), None],
    }
    return Spec(data, layout, alt, numbered_rows(columns))


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
