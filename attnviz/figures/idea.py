"""Figures of a recurrent decoder step for the level of detail "Idea": bars without a scale, and percentages."""

from __future__ import annotations

from attnviz.analysis.measures import weight_order
from attnviz.figures.build import Spec, base_axis, base_layout
from attnviz.figures.energies import energy_template, energy_values
from attnviz.figures.source_rows import (
    MOST_ROWS,
    bar_numbers,
    bar_texts,
    piece_bars,
    short_name,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Recurrent
from attnviz.trace.attention_matrix import AttentionMatrix
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import percent


def fit_template(trace: Recurrent, theme: ThemeName) -> Spec:
    """Return the template of bars in proportion to the energies, without numbers."""
    return without_scale(energy_template(trace, theme))


def without_scale(spec: Spec) -> Spec:
    """Return a template of bars without its numbers."""
    (bars, *_), layout = spec["data"], spec["layout"]
    layout["xaxis"] |= {
        "showticklabels": False,
        "title": layout["xaxis"]["title"] | {"text": gettext("would help now")},
    }
    return {"data": [bars | {"hovertemplate": "%{customdata}<extra></extra>"}], "layout": layout}


def fit_values(trace: Recurrent, step: int) -> Values:
    """Return the values of `fit_template` at 0-based `step`."""
    return energy_values(trace, step) | {"alt": fit_alt(trace, step)}


def fit_alt(trace: AttentionMatrix, step: int) -> str:
    """Return the text alternative of the bars at 0-based `step`."""
    best = weight_order(trace, step)[0]
    return gettext(
        "How much each of {count} English pieces would help to choose the piece of step {step}. The longest bar "
        "is that of piece {number}, {name}.",
        count=len(trace.source_pieces),
        step=step + 1,
        number=best + 1,
        name=short_name(trace, best),
    )


def share_template(trace: AttentionMatrix, theme: ThemeName, *, draggable: bool = True) -> Spec:
    """Return the template of the weights as percentages; bars may be `draggable`."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("weights"), "α", ".1%") | {"marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("share of attention"), [0, 1.2]) | {
        "tickvals": [0, 0.5, 1],
        "ticktext": [percent(share) for share in (0, 0.5, 1)],
    }
    if draggable:
        pieces = [shorten(piece_name(piece), 40) for piece in trace.source_pieces]
        layout["meta"] |= {"weights": {"trace": 0, "axis": "xaxis", "pieces": pieces, "shares": True}}
    return {"data": [bars, *bar_numbers(trace, ink)], "layout": layout}


def share_values(trace: AttentionMatrix, step: int) -> Values:
    """Return the values of `share_template` at 0-based `step`."""
    alpha, best = trace.alignment[step], weight_order(trace, step)[0]
    alt = gettext(
        "Where step {step} looks. The largest share of the attention, {share}, goes to piece {number}, {name}.",
        step=step + 1,
        share=percent(float(alpha[best])),
        number=best + 1,
        name=short_name(trace, best),
    )
    values = {"weights": alpha} | bar_texts(alpha) | source_values(trace, step, alt)
    if len(alpha) <= MOST_ROWS:
        # No number for a bar that is too short to see.
        values["number_text"] = [f" {percent(share, short=True)}" if share >= 0.005 else "" for share in alpha.tolist()]
    return values


def kept_template(trace: Recurrent, theme: ThemeName) -> Spec:  # noqa: ARG001  the same for all traces
    """Return the template of one bar: the shares of the state that a step keeps and that are new."""
    ink = palette(theme)
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [0],
        "hoverinfo": "skip",
        "insidetextanchor": "middle",
        "textfont": {"size": 14, "color": ink.ink},
        "textangle": 0,
    }
    kept = {"x": Slot("kept"), "text": Slot("kept_text"), "marker": {"color": ink.decoder}}
    kept["textfont"] = {"size": 14, "color": ink.paper}
    new = {"x": Slot("new"), "text": Slot("new_text"), "marker": {"color": ink.decoder, "opacity": 0.25}}
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout = base_layout(ink) | {
        "height": 62,
        "margin": {"l": 2, "r": 2, "t": 8, "b": 8},
        "barmode": "stack",
        "bargap": 0,
        "xaxis": axis | {"range": [0, 1]},
        "yaxis": axis,
        "meta": {"alt": Slot("alt"), "narrowest": 240},
    }
    return {"data": [bar | kept, bar | new], "layout": layout}


def kept_values(trace: Recurrent, step: int) -> Values:
    """Return the values of `kept_template` at 0-based `step`: the mean of the update gate, and the rest."""
    kept = float(trace.kept_shares[step].mean())
    shares = {"kept": percent(kept), "new": percent(1 - kept)}
    return {
        "kept": [kept],
        "new": [1 - kept],
        "kept_text": [gettext("kept {kept}", kept=shares["kept"])],
        "new_text": [gettext("new {new}", new=shares["new"])],
        "alt": gettext("Step {step}: {kept} of the state is kept, {new} is new.", step=step + 1, **shares),
    }
