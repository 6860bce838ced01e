"""Figures and tables of a training run: model quality, measures of attention, and the attention in one sentence."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import LONGEST, NO_BREAK, capitalised, decimal
from attnviz.analysis.learning import (
    LINK_MEASURES,
    QUALITY_MEASURES,
    ROW_MEASURES,
    learning_measure_names,
    run_name,
)
from attnviz.figures.heatmap import PHONE, heatmap
from attnviz.figures.spec import (
    Part,
    Spec,
    Table,
    bare_axis,
    curve,
    escape,
    legend_above,
    line,
    numbered_rows,
    numbers,
    side_by_side,
    spaced,
    titled_axis,
)
from attnviz.languages import format_number, gettext, ngettext
from attnviz.trace.aligned import AttentionView
from attnviz.trace.snapshots import Curve, Snapshots

_TICKS = (0, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_TICK_CHARACTER = 6
"""Pixels that a character of a tick's label takes, with its part of the distance to the next."""


def update_positions(updates: ArrayLike) -> NDArray[np.float64]:
    """Return the positions of updates u, of any shape: log2(1 + u / 20), nearly linear up to 20, then logarithmic."""
    places: NDArray[np.float64] = np.log2(1 + np.asarray(updates, dtype=np.float64) / 20)
    return places


_Panel = tuple[str, list[Part], Part]
"""One of several plots over the same updates: title, traces, and properties of its vertical axis."""


def quality_curves(runs: Sequence[Snapshots], moments: Sequence[int], *, update: int | None = None) -> Spec:
    """Draw loss, BLEU and AER of `runs` over the updates, one below the other, where measured.

    The table has all measurements. `moments` are the updates that may be marked: `layout.meta.spans` has the edges of
    the mark at each. `update` is marked.
    """
    names, is_only = learning_measure_names(), len(runs) == 1
    axes: dict[str, Part] = {"loss": {}, "bleu": {"rangemode": "tozero"}, "aer": {"range": [0, 1.03]}}
    panels: list[_Panel] = []
    for name in QUALITY_MEASURES:
        lines = []
        for k, run in enumerate(runs):
            title = run_name(run, is_only)
            if name == "loss" and "training" in run.curves:
                training = _line(run.curves["training"], gettext("{run}, in training", run=title), k)
                lines.append(training | _thin(training["line"]["color"]) | {"opacity": 0.6})
            if name in run.curves:
                lines.append(_line(run.curves[name], title, k) | {"showlegend": not panels and not is_only})
        if lines:
            unit = f", {gettext('nats per piece')}" if name == "loss" else ""
            panels.append((names[name] + unit, lines, axes[name]))
    told = [
        gettext("{run}: {told}", run=run_name(run, is_only), told=", ".join(_ends(run, QUALITY_MEASURES)))
        for run in runs
    ]
    alt = gettext("Learning curves over the training updates. {told}.", told="; ".join(told))
    return Spec(*_stacked(panels, runs, moments, update), alt, _measurements(runs))


def attention_curves(
    run: Snapshots,
    moments: Sequence[int],
    *,
    runs: Sequence[Snapshots] = (),
    update: int | None = None,
) -> Spec:
    """Draw the measures of the attention of `run` over the updates.

    Above is the mean weight on gold links of each class; below are diagonality and the share of exchanged neighbours in
    the right order, all from 0. Dotted lines are baselines: uniform attention above, the gold links' diagonality below.
    The scale of the weights is the same for all `runs`. `moments`, `update`, the table and `layout.meta` are as in
    `quality_curves`. Raise ValueError where none of this was measured.
    """
    names = learning_measure_names()
    panels: list[_Panel] = []
    weights = [value for one in (run, *runs) for name in LINK_MEASURES for _, value in one.curves.get(name, ())]
    largest = next(end for end in (0.25, 0.5, 0.75, 1.0) if end == 1 or end >= max(weights, default=0))
    colours = ("quiet", "ink", "plus", "minus", "bar")
    for title, measures, first, end, baseline, level, levelled in (
        (gettext("weight on the gold links"), LINK_MEASURES, 0, largest, gettext("uniform"), "alike", LINK_MEASURES),
        (gettext("where attention lies"), ROW_MEASURES, 1, 1.0, gettext("the gold links"), "links", ("diagonal",)),
    ):
        measured = [name for name in measures if name in run.curves]
        lines = [_line(run.curves[name], names[name], k, colours[first + k]) for k, name in enumerate(measured)]
        if not lines:
            continue
        levels = [run.levels[name][level] for name in levelled if level in run.levels.get(name, {})]
        if levels:
            flat = tuple((at, float(np.mean(levels))) for at in (run.updates[0], run.updates[-1]))
            lines.append(_line(flat, baseline, 0) | _thin("quiet"))
        # Long names have several lines, each away from the mark at the line's end.
        texts = ["<br>".join(f"{2 * NO_BREAK}{part}" for part in textwrap.wrap(each["name"], 24)) for each in lines]
        at_ends = numbers([each["x"][-1] for each in lines], texts, 12) | {
            "y": _apart([each["y"][-1] for each in lines], end),
            "textfont": {"size": 12, "color": [each["line"]["color"] for each in lines]},
            "showlegend": False,
        }
        panels.append((title, [*lines, at_ends], {"range": [0, 1.03 * end]}))
    if not panels:
        raise ValueError("nothing was compared with links")
    alt = gettext(
        "What attention has learnt over the updates of this training run ({run}): {told}.",
        run=run_name(run),
        told="; ".join(_ends(run, (*LINK_MEASURES, *ROW_MEASURES))),
    )
    return Spec(*_stacked(panels, [run], moments, update, right=156), alt, _measurements([run]))


def _stacked(
    panels: Sequence[_Panel],
    runs: Sequence[Snapshots],
    moments: Sequence[int],
    update: int | None,
    right: int = 16,
) -> tuple[list[Part], Part]:
    """Return data and layout of `panels`, one below the other, over the same updates; `update` is marked."""
    has_legend = any(trace["showlegend"] for _, traces, _ in panels for trace in traces)
    last_updates = [measured[-1][0] for run in runs for measured in run.curves.values()]
    last = float(update_positions(max(*moments, *last_updates, 0)))
    half = 0.006 * last
    places = update_positions(_TICKS)
    places = places[places <= last * 1.001]
    labels = [format_number(update) for update in _TICKS[: len(places)]]
    ticks = spaced(places.tolist(), _TICK_CHARACTER * max(map(len, labels)) / (PHONE - 52 - right) * last)
    updates_axis = titled_axis(
        gettext("training updates (log scale)"),
        standoff=6,
        range=[-0.02 * last, 1.02 * last],
        tickvals=places[ticks],
        ticktext=[labels[k] for k in ticks],
        zeroline=False,
    )
    without_labels = updates_axis | {"title": {}, "showticklabels": False}
    layout, axes = side_by_side(
        {
            title: (
                escape(capitalised(title)),
                updates_axis if title == panels[-1][0] else without_labels,
                bare_axis(showgrid=True, nticks=6) | axis,
            )
            for title, _, axis in panels
        },
        1,
        (28, 0, 150, 6),
        (52, right, 24 * has_legend, 42),
        112,
    )
    if has_legend:
        layout |= legend_above(1)
    spans = [[at - half, at + half] for at in update_positions(moments)]
    layout["meta"] |= {"spans": spans, "selection_colour": "context"}
    if update is not None:
        at = float(update_positions(update))
        layout["shapes"] = [line((at, at), (0, 1), "context", 2, xref="x", yref="paper")]
    return [trace | axes[title] for title, traces, _ in panels for trace in traces], layout


def _line(measured: Curve, title: str, k: int, colour: str = "") -> Part:
    """Return the line of a measure over the updates."""
    updates, values = zip(*measured, strict=True)
    drawn = curve(update_positions(updates), values, title, k, colour, customdata=updates, showlegend=False)
    drawn["marker"]["size"] = 6
    hover = gettext("{run}, update {update}: {value}", run=drawn["name"], update="%{customdata}", value="%{y:.3f}")
    return drawn | {"hovertemplate": f"{hover}<extra></extra>"}


def _thin(colour: str) -> Part:
    """Return the properties of a thin dotted line without hover texts."""
    dotted = {"color": colour, "width": 1, "dash": "dot"}
    return {"mode": "lines", "hoverinfo": "skip", "hovertemplate": None, "line": dotted}


def _apart(values: Sequence[float], top: float) -> NDArray[np.float64]:
    """Return positions for labels near these values, in [0, top], at least a line apart, in the same order.

    A line is 0.13 of the height of a panel.
    """
    positions = np.array(values)
    for below, above in itertools.pairwise(np.argsort(values, kind="stable")):
        positions[above] = max(positions[above], positions[below] + 0.13 * top)
    positions -= positions.mean() - np.mean(values)  # the labels are centred on their lines
    positions -= max(0, positions.max() - top) + min(0, positions.min())  # within the panel
    return positions


def _ends(run: Snapshots, measures: Sequence[str]) -> list[str]:
    """Return the first and last value of each measure of a run, for the text alternative."""
    names = learning_measure_names()
    ends = {name: (run.curves[name][0][1], run.curves[name][-1][1]) for name in measures if name in run.curves}
    return [
        gettext("{name} from {first} to {last}", name=names[name], first=decimal(first), last=decimal(last))
        for name, (first, last) in ends.items()
    ]


def _measurements(runs: Sequence[Snapshots]) -> Table:
    """Return all measurements at the moments of `runs`, a row for each run and moment."""
    names, rows = learning_measure_names(), [(run, update) for run in runs for update in run.updates]
    table: dict[str, Sequence[Any]] = {
        gettext("run"): [run_name(run, is_only_run=len(runs) == 1) for run, _ in rows],
        gettext("update"): [update for _, update in rows],
    }
    for name in dict.fromkeys(name for run in runs for name in run.curves):
        table[names.get(name, name)] = [
            measured.get(update, np.nan)
            for run in runs
            for measured in [dict(run.curves.get(name, ()))]
            for update in run.updates
        ]
    return numbered_rows(table)


def baselines_table(run: Snapshots) -> pd.DataFrame:
    """Return the baselines of each measure of `run`: untrained attention, and gold links."""
    columns = {
        "alike": gettext("uniform"),
        "diagonal": gettext("along the diagonal"),
        "links": gettext("on the gold links"),
    }
    table: pd.DataFrame = pd.DataFrame(dict(run.levels)).T.filter(items=list(columns))
    return table.rename(index=learning_measure_names(), columns=columns).rename_axis(gettext("measure"))


def learning_heatmap(run: Snapshots, sentence: int, moment: int) -> Spec:
    """Draw alpha_ij of `sentence` at `moment`, both 0-based: a row for each target word, a column for each source word.

    The decoder is forced to write the sentence's fixed translation.
    """
    pieces = run.sentences[sentence]
    view = AttentionView(
        record=run,
        name=f"{sentence}-{moment}",
        source_pieces=pieces.source_pieces,
        source_surfaces=pieces.source_pieces,
        target_pieces=pieces.target_pieces,
        alignment=run.alignments[sentence][moment],
    )
    drawn = heatmap(view, by="words", end=True, root=True, longest=LONGEST)
    updates = run.updates[moment]
    after = ngettext("After {count} training update:", "After {count} training updates:", updates)
    return replace(drawn, alt=f"{after} {drawn.alt}")
