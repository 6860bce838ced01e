"""Figures of a step at the level "Idea": energies without a scale, weights in percent, context mixtures, kept state."""

from __future__ import annotations

from attnviz.analysis.measures import weight_order
from attnviz.figures.attention import energy_template, energy_values
from attnviz.figures.build import Spec, base_axis, base_layout, escape, rectangle
from attnviz.figures.source_rows import (
    LABEL_LENGTH,
    LEFT,
    MOST_ROWS,
    WithEnergies,
    bar_numbers,
    bar_texts,
    piece_bars,
    row_names,
    short_name,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values
from attnviz.languages import format_share, gettext
from attnviz.palette import ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Recurrent
from attnviz.trace.aligned import AttentionMatrix
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import percent


def fit_template(trace: WithEnergies, theme: ThemeName) -> Spec:
    """Return the template of bars in proportion to the energies, without numbers."""
    spec = energy_template(trace, theme)
    (bars, *_), layout = spec["data"], spec["layout"]
    layout["xaxis"] |= {
        "showticklabels": False,
        "title": layout["xaxis"]["title"] | {"text": gettext("fit")},
    }
    return {"data": [bars | {"hovertemplate": "%{customdata}<extra></extra>"}], "layout": layout}


def fit_values(trace: WithEnergies, step: int) -> Values:
    """Return the values of `fit_template` at 0-based `step`."""
    best = weight_order(trace, step)[0]
    alt = gettext(
        "How well {count} English pieces fit the state at step {step}. The longest bar is that of piece {number}, "
        "{name}.",
        count=len(trace.source_pieces),
        step=step + 1,
        number=best + 1,
        name=short_name(trace, best),
    )
    return energy_values(trace, step) | {"alt": alt}


def share_template(trace: AttentionMatrix, theme: ThemeName) -> Spec:
    """Return the template of the weights as percentages, with bars that the page may let the user drag."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("weights"), "α", ".1%") | {"marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("share of attention"), [0, 1.2]) | {
        "tickvals": [0, 0.5, 1],
        "ticktext": [percent(share) for share in (0, 0.5, 1)],
    }
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
        values["number_text"] = [f" {format_share(share)}" if share >= 0.005 else "" for share in alpha.tolist()]
    return values


def mixtures_template(trace: Recurrent, theme: ThemeName) -> Spec:  # noqa: ARG001  the same for all traces
    """Return the template of three bars: what the mixtures of the step before, this step and the next are made of."""
    ink = palette(theme)
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [0, 1, 2],
        "insidetextanchor": "middle",
        "textangle": 0,
        "textposition": "inside",
        "constraintext": "none",
        "cliponaxis": False,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    fills = [(ink.encoder, 1, ink.paper), (ink.encoder, 0.45, ink.ink), (ink.encoder, 0.22, ink.ink)]
    bars = [
        bar
        | {
            "x": Slot(f"shares{rank}"),
            "text": Slot(f"texts{rank}"),
            "customdata": Slot(f"hovers{rank}"),
            "marker": {"color": colour, "opacity": opacity, "line": {"color": ink.paper, "width": 1}},
            "textfont": {"size": 13, "color": letters},
        }
        for rank, (colour, opacity, letters) in enumerate([*fills, (ink.line, 1, ink.quiet)])
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout = base_layout(ink) | {
        "height": 118,
        "margin": {"l": LEFT, "r": 2, "t": 4, "b": 4},
        "barmode": "stack",
        "bargap": 0.3,
        "xaxis": axis | {"range": [0, 1]},
        "yaxis": axis
        | {
            "range": [2.5, -0.5],
            "showticklabels": True,
            "tickvals": [0, 1, 2],
            "ticktext": Slot("names"),
            "tickfont": {"size": 13, "color": ink.decoder},
        },
        "shapes": [rectangle(0, 1, 0.62, 1.38, ink.context)],
        "meta": {"alt": Slot("alt"), "narrowest": 260},
    }
    return {"data": bars, "layout": layout}


def mixtures_values(trace: Recurrent, step: int) -> Values:
    """Return the values of `mixtures_template` at 0-based `step`: the largest weights of each row, and the rest."""
    values: Values = {"names": []}
    columns: list[list[tuple[float, str, str]]] = [[] for _ in range(_NAMED_PARTS + 1)]
    descriptions = []
    for other in (step - 1, step, step + 1):
        exists = 0 <= other < len(trace.target_pieces)
        name = escape(shorten(piece_name(trace.target_pieces[other]), LABEL_LENGTH)) if exists else ""
        values["names"].append(f"<b>{name}</b>" if other == step else name)
        parts = _mixture_parts(trace, other) if exists else [(0.0, "")] * len(columns)
        for column, (share, piece) in zip(columns, parts, strict=True):
            label = f"{piece} {format_share(share)}"
            # A part too short for its name has none; the bar is about 400 pixels long.
            column.append((share, label if len(label) * _LETTER < share * _BAR else "", label))
        if exists:
            named = ", ".join(f"{piece} {percent(share)}" for share, piece in parts[:-1] if piece)
            descriptions.append(gettext("{word}: {parts}", word=name, parts=named))
    for rank, column in enumerate(columns):
        values |= {
            f"shares{rank}": [share for share, _, _ in column],
            f"texts{rank}": [text for _, text, _ in column],
            f"hovers{rank}": [hover for _, _, hover in column],
        }
    return values | {"alt": gettext("Parts of each context vector. {mixtures}.", mixtures="; ".join(descriptions))}


def _mixture_parts(trace: Recurrent, step: int) -> list[tuple[float, str]]:
    """Return the largest weights of 0-based `step` with the labels of their pieces, and last the sum of the others."""
    alpha, names = trace.alignment[step], row_names(trace)
    order = weight_order(trace, step)
    parts = [(float(alpha[j]), names[j]) for j in order[:_NAMED_PARTS]]
    parts += [(0.0, "")] * (_NAMED_PARTS - len(parts))
    return [*parts, (max(0.0, 1 - sum(share for share, _ in parts)), gettext("others"))]


_NAMED_PARTS = 3
"""Source pieces that are named in each mixture."""
_LETTER, _BAR = 7, 400
"""Width of a letter and of a whole bar in pixels, about."""


def state_shares_template(trace: Recurrent, theme: ThemeName) -> Spec:  # noqa: ARG001  the same for all traces
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


def state_shares_values(trace: Recurrent, step: int) -> Values:
    """Return the values of `state_shares_template` at 0-based `step`: the mean of the update gate, and the rest."""
    kept = float(trace.kept_shares[step].mean())
    shares = {"kept": percent(kept), "new": percent(1 - kept)}
    return {
        "kept": [kept],
        "new": [1 - kept],
        "kept_text": [gettext("kept {kept}", kept=shares["kept"])],
        "new_text": [gettext("new {new}", new=shares["new"])],
        "alt": gettext("Step {step}: {kept} of the state is kept, {new} is new.", step=step + 1, **shares),
    }
