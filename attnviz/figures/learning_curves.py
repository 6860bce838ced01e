"""Figures and tables of a training run: model quality, measures of attention, and the attention in one sentence."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.grid import Grid
from attnviz.analysis.labels import shorten, size_text
from attnviz.analysis.learning import (
    LINK_MEASURES,
    QUALITY_MEASURES,
    ROW_MEASURES,
    grouped_digits,
    learning_measure_names,
    run_name,
)
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.numbers import decimal, significant
from attnviz.figures.heatmap import cells_layout, colour_bar
from attnviz.figures.heatmap_parts import cell_sizes
from attnviz.figures.legacy import Slot, Values, figure_of
from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape
from attnviz.languages import gettext, ngettext
from attnviz.palette import ColourScale, Palette, ThemeName, palette
from attnviz.trace.snapshots import Curve, Snapshots

_LINEAR_UPDATES = 20
"""Number of updates up to which the scale is nearly linear; after that it is logarithmic."""
_TICKS = (0, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_MIN_TICK_DISTANCE = 0.07
"""Smallest distance of two ticks, as a share of the width."""
_PANEL, _GAP, _TOP, _BOTTOM, _LEGEND = 150, 34, 26, 48, 24
"""Heights in pixels."""
_MARK_HALF_WIDTH = 0.006
"""Half the width of the mark, as a share of the width."""


def update_positions(updates: ArrayLike) -> NDArray[np.float64]:
    """Return the positions of updates u, of any shape: log2(1 + u / 20), nearly linear up to 20, then logarithmic."""
    places: NDArray[np.float64] = np.log2(1 + np.asarray(updates, dtype=np.float64) / _LINEAR_UPDATES)
    return places


def axes_of(place: int) -> dict[str, str]:
    """Return the axes of a panel by its position from the top."""
    return {"xaxis": "x", "yaxis": f"y{place + 1}" if place else "y"}


def panels_figure(
    runs: Sequence[Snapshots],
    moments: Sequence[int],
    traces: list[Part],
    titles: Mapping[str, str],
    ranges: Mapping[str, tuple[float, float | None]],
    update: int | None,
    ink: Palette,
    alt: str,
    right_margin: int = 16,
) -> go.Figure:
    """Return panels of `traces`, one below the other, with a title each, over the same updates; `update` is marked."""
    count = max(1, len(titles))
    inner, has_legend = count * _PANEL + (count - 1) * _GAP, any(trace.get("showlegend") for trace in traces)
    bottom = _BOTTOM + (_LEGEND if has_legend else 0)
    last_updates = [at for run in runs for curve in run.curves.values() for at, _ in curve[-1:]]
    last = float(update_positions(max([*moments, *last_updates])))
    spans = [
        [float(update_positions(at)) - _MARK_HALF_WIDTH * last, float(update_positions(at)) + _MARK_HALF_WIDTH * last]
        for at in moments
    ]
    layout = base_layout(ink) | {
        "height": _TOP + inner + bottom,
        "margin": {"l": 52, "r": right_margin, "t": _TOP, "b": bottom},
        "hovermode": "closest",
        "showlegend": has_legend,
        "legend": {"orientation": "h", "x": 0, "y": -_BOTTOM / inner, "yanchor": "top", "font": {"size": 12}},
        "meta": {"alt": alt, "narrowest": 320, "spans": spans, "selection_colour": ink.context},
        "xaxis": _update_axis(last, ink) | {"anchor": "y" if count == 1 else f"y{count}"},
        "annotations": [],
    }
    for place, (name, title) in enumerate(titles.items()):
        top = 1 - place * (_PANEL + _GAP) / inner
        low, high = ranges.get(name, (None, None))
        layout[f"yaxis{place + 1}" if place else "yaxis"] = (
            base_axis(ink)
            | {
                "domain": [max(0.0, top - _PANEL / inner), top],
                "rangemode": "tozero" if low == 0 else "normal",
                "nticks": 6,
                "zeroline": False,
            }
            | ({} if high is None else {"range": [low, high * 1.03]})
        )
        layout["annotations"].append(
            {
                "text": escape(title[:1].upper() + title[1:]),
                "showarrow": False,
                "font": {"size": 13, "color": ink.ink},
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "xanchor": "left",
                "xshift": -44,
                "y": top,
                "yanchor": "bottom",
            }
        )
    if update is not None:
        at = float(update_positions(update))
        layout["shapes"] = [
            {
                "type": "line",
                "x0": at,
                "x1": at,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": ink.context, "width": 2},
            }
        ]
    return build_figure(traces, layout)


def _update_axis(last: float, ink: Palette) -> Part:
    """Return the axis of updates, with ticks at round numbers where there is room."""
    ticks: list[int] = []
    for tick in _TICKS:
        place = float(update_positions(tick))
        if place <= last * 1.001 and (
            not ticks or place - float(update_positions(ticks[-1])) >= _MIN_TICK_DISTANCE * last
        ):
            ticks.append(tick)
    return base_axis(ink) | {
        "range": [-0.02 * last, 1.02 * last],
        "tickvals": update_positions(ticks),
        "zeroline": False,
        "ticktext": [grouped_digits(tick) for tick in ticks],
        "title": {
            "text": gettext("training updates (log scale)"),
            "font": {"size": 12, "color": ink.quiet},
            "standoff": 6,
        },
    }


_LABEL_LINE = 0.13
"""Height of a line of a label, as a share of a panel's height."""
_DASHES = ("solid", "dash", "dot", "dashdot", "7px,2px")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


def quality_figure(
    runs: Sequence[Snapshots], moments: Sequence[int], *, update: int | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw loss, BLEU and AER of `runs` over the updates, one below the other, where measured.

    Runs differ in dash and symbol, not only in colour. `moments` are the updates that may be marked:
    `layout.meta.spans` has the edges of the mark at each. `update` is marked. `layout.meta` also has `alt` and
    `narrowest`.
    """
    names, ink = learning_measure_names(), palette(theme)
    panels = [name for name in QUALITY_MEASURES if any(_is_measured(run, name) for run in runs)]
    traces: list[Part] = []
    for place, name in enumerate(panels):
        for number, run in enumerate(runs):
            traces += _run_lines(run, number, name, place, is_only=len(runs) == 1, ink=ink)
    titles = {name: names[name] + _unit(name) for name in panels}
    return panels_figure(
        runs, moments, traces, titles, {"bleu": (0, None), "aer": (0, 1)}, update, ink, _quality_alt(runs)
    )


def attention_measures_figure(
    run: Snapshots,
    moments: Sequence[int],
    *,
    other_runs: Sequence[Snapshots] = (),
    update: int | None = None,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw the measures of the attention of `run` over the updates.

    Above is the mean weight on gold links of each class; below are diagonality and the share of exchanged neighbours in
    the right order, all from 0. Dotted lines are baselines: uniform attention above, the gold links' diagonality below.
    The scale of the weights is the same for `other_runs`. `moments`, `update` and `layout.meta` are as in
    `quality_figure`. Raise ValueError where none of this was measured.
    """
    ink, panels = palette(theme), {"shares": LINK_MEASURES, "shapes": ROW_MEASURES}
    shown = {panel: [name for name in names if name in run.curves] for panel, names in panels.items()}
    shown = {panel: names for panel, names in shown.items() if names}
    if not shown:
        raise ValueError("nothing was compared with links")
    traces: list[Part] = []
    tops = {"shares": _scale_end([run, *other_runs]), "shapes": 1.0}
    for place, (panel, names) in enumerate(shown.items()):
        traces += _named_lines(run, names, _baseline(run, panel), place, tops[panel], ink)
    titles = {"shares": gettext("weight on the gold links"), "shapes": gettext("where attention lies")}
    titles = {panel: titles[panel] for panel in shown}
    ranges: dict[str, tuple[float, float | None]] = {panel: (0, top) for panel, top in tops.items()}
    return panels_figure([run], moments, traces, titles, ranges, update, ink, _learnt_alt(run), right_margin=156)


def learning_table(runs: Sequence[Snapshots]) -> pd.DataFrame:
    """Return all measurements at the moments of `runs`, a row for each run and moment."""
    names, frames = learning_measure_names(), []
    for run in runs:
        measured = {names.get(name, name): dict(curve) for name, curve in run.curves.items()}
        rows: dict[str, list[object]] = {gettext("run"): [run_name(run, is_only_run=len(runs) == 1)] * len(run.updates)}
        rows[gettext("update")] = list(run.updates)
        frames.append(
            pd.DataFrame(
                rows
                | {name: [values.get(update, np.nan) for update in run.updates] for name, values in measured.items()}
            )
        )
    table = pd.concat(frames, ignore_index=True)
    return table.set_index(pd.RangeIndex(1, len(table) + 1, name=gettext("row")))


def baselines_table(run: Snapshots) -> pd.DataFrame:
    """Return the baselines of each measure of `run`: untrained attention, and gold links."""
    names = learning_measure_names()
    columns = {
        "alike": gettext("uniform"),
        "diagonal": gettext("along the diagonal"),
        "links": gettext("on the gold links"),
    }
    rows = {
        names.get(name, name): {columns[key]: level[key] for key in columns if key in level}
        for name, level in run.levels.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(gettext("measure"))


def _is_measured(run: Snapshots, name: str) -> bool:
    return name in run.curves or (name == "loss" and "training" in run.curves)


def _unit(name: str) -> str:
    return f", {gettext('nats per piece')}" if name == "loss" else ""


def _run_lines(run: Snapshots, number: int, name: str, place: int, *, is_only: bool, ink: Palette) -> list[Part]:
    """Return the line of a run in a panel, and a thin line of its training loss."""
    colour, title = (ink.ink, ink.plus, ink.minus, ink.quiet)[number % 4], run_name(run, is_only)
    lines = []
    if name == "loss" and "training" in run.curves:
        lines.append(
            _line(run.curves["training"], gettext("{run}, in training", run=title), place)
            | {
                "mode": "lines",
                "line": {"color": colour, "width": 1, "dash": "dot"},
                "opacity": 0.6,
                "hoverinfo": "skip",
                "hovertemplate": None,
            }
        )
    if name in run.curves:
        lines.append(
            _line(run.curves[name], title, place)
            | {
                "line": {"color": colour, "width": 2, "dash": _DASHES[number % 4]},
                "marker": {"size": 6, "symbol": _SYMBOLS[number % 4]},
                "showlegend": place == 0 and not is_only,
            }
        )
    return lines


def _scale_end(runs: Sequence[Snapshots]) -> float:
    """Return the end of the scale of the weights of `runs`."""
    largest = max(value for run in runs for name in LINK_MEASURES for _, value in run.curves.get(name, ((0, 0.0),)))
    return next(top for top in (0.25, 0.5, 0.75, 1.0) if top >= largest or top == 1)


def _named_lines(
    run: Snapshots, names: Sequence[str], baseline: tuple[str, Curve] | None, place: int, top: float, ink: Palette
) -> list[Part]:
    """Return a line for each measure, and a dotted one for the baseline `baseline`, each with its name at its end."""
    titles = learning_measure_names()
    colours = (ink.quiet, ink.ink, ink.plus, ink.minus, ink.bar) if place == 0 else (ink.ink, ink.plus)
    lines = [
        _line(run.curves[name], titles[name], place)
        | {
            "line": {"color": colours[k], "width": 2, "dash": _DASHES[k]},
            "marker": {"size": 6, "symbol": _SYMBOLS[k]},
        }
        for k, name in enumerate(names)
    ]
    if baseline:
        lines.append(
            _line(baseline[1], baseline[0], place)
            | {
                "mode": "lines",
                "hoverinfo": "skip",
                "hovertemplate": None,
                "line": {"color": ink.quiet, "width": 1, "dash": "dot"},
            }
        )
    ends = _label_positions([line["y"][-1] for line in lines], top)
    names_of_lines = [
        {
            "type": "scatter",
            "mode": "text",
            "name": line["name"],
            "hoverinfo": "skip",
            "cliponaxis": False,
            "x": line["x"][-1:],
            "y": [end],
            "text": [" " + _wrapped(line["name"])],
            "showlegend": False,
            "textposition": "middle right",
            "textfont": {"size": 12, "color": line["line"]["color"]},
            **axes_of(place),
        }
        for line, end in zip(lines, ends, strict=True)
    ]
    return [*lines, *names_of_lines]


_LONGEST_NAME = 24
"""Most characters of a name on one line."""


def _wrapped(name: str) -> str:
    """Return a long name on two lines, both after a space."""
    cut = name.rfind(" ", 0, _LONGEST_NAME)
    return name if len(name) <= _LONGEST_NAME or cut < 0 else f"{name[:cut]}<br> {name[cut + 1 :]}"


def _label_positions(values: Sequence[float], top: float) -> list[float]:
    """Return positions for labels near these values, in [0, top], at least a line apart, in the same order."""
    order = np.argsort(values, kind="stable")
    positions = np.array(values, dtype=float)
    for below, above in itertools.pairwise(order):
        positions[above] = max(positions[above], positions[below] + _LABEL_LINE * top)
    # Centre the labels on their lines, within the panel.
    positions -= (positions - np.array(values)).mean()
    positions -= max(0.0, positions.max() - top) + min(0.0, positions.min())
    return [float(position) for position in positions]


def _baseline(run: Snapshots, panel: str) -> tuple[str, Curve] | None:
    """Return name and line of a panel's baseline over all updates of `run`; None where not measured.

    It is the mean level of uniform attention, or the gold links' diagonality.
    """
    shares = panel == "shares"
    kind, title = ("alike", gettext("uniform")) if shares else ("links", gettext("the gold links"))
    levels = [run.levels.get(name, {}) for name in (LINK_MEASURES if shares else ("diagonal",))]
    measured = [level[kind] for level in levels if kind in level]
    if not measured:
        return None
    level = float(np.mean(measured))
    return title, ((run.updates[0], level), (run.updates[-1], level))


def _line(curve: Curve, title: str, place: int) -> Part:
    updates, values = [at for at, _ in curve], [value for _, value in curve]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(title),
        "x": update_positions(updates),
        "y": values,
        "customdata": updates,
        "cliponaxis": False,
        "showlegend": False,
        "hovertemplate": gettext(
            "{run}, update {update}: {value}", run=escape(title), update="%{customdata}", value="%{y:.3f}"
        )
        + "<extra></extra>",
        **axes_of(place),
    }


def _quality_alt(runs: Sequence[Snapshots]) -> str:
    names, texts = learning_measure_names(), []
    for run in runs:
        ends = [
            gettext(
                "{name} from {first} to {last}",
                name=names[name],
                first=decimal(run.curves[name][0][1]),
                last=decimal(run.curves[name][-1][1]),
            )
            for name in QUALITY_MEASURES
            if name in run.curves
        ]
        texts.append(gettext("{run}: {told}", run=run_name(run, is_only_run=len(runs) == 1), told=", ".join(ends)))
    return gettext("Learning curves over the training updates. {told}.", told="; ".join(texts))


def _learnt_alt(run: Snapshots) -> str:
    names = learning_measure_names()
    ends = [
        gettext(
            "{name} from {first} to {last}",
            name=names[name],
            first=decimal(run.curves[name][0][1]),
            last=decimal(run.curves[name][-1][1]),
        )
        for name in (*LINK_MEASURES, *ROW_MEASURES)
        if name in run.curves
    ]
    return gettext(
        "What attention has learnt over the updates of this training run ({run}): {told}.",
        run=run_name(run),
        told="; ".join(ends),
    )


_COLOUR_BAR_TICKS = (0.25, 0.5, 1)
ROOT_GREYS: ColourScale = [((k / 16) ** 2, "#" + 3 * f"{round(255 * k / 16):02x}") for k in range(17)]
"""Grey scale from black 0 to white 1 by the square root of the weight, so that uniform rows are grey, not black."""


def learning_cells(run: Snapshots, sentence: int, moment: int) -> Grid:
    """Return the rows and columns of `sentence` at `moment`, by words."""
    pieces = run.alignments[sentence][moment]
    words = run.sentences[sentence].words(pieces)
    bits = entropy(pieces)
    entropies = np.array([bits[list(group)].mean() for group in words.target_groups])
    return Grid(
        words.source,
        words.target,
        words.alignment,
        "before",
        words.alignment,
        words.target_groups,
        words.source_groups,
        coverage(words.alignment),
        entropies,
    )


def learning_template(run: Snapshots, sentence: int, theme: ThemeName = "light") -> Part:
    """Return `data` and `layout` of the heatmap of `sentence`, with a Slot for what differs between moments."""
    cells, ink = learning_cells(run, sentence, 0), palette(theme)
    sizes = cell_sizes(cells)
    rows, columns = ([escape(shorten(name, 40)) for name in names] for names in (cells.target, cells.source))
    image = {
        "type": "heatmap",
        "z": Slot("weights"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": ROOT_GREYS,
        "xgap": 1,
        "ygap": 1,
        "text": [[f"{row} ← {column}" for column in columns] for row in rows],
        "hovertemplate": "%{text}<br>α = %{z:.4f}<extra></extra>",
        "colorbar": colour_bar([0, *_COLOUR_BAR_TICKS], ["α = 0", *map(significant, _COLOUR_BAR_TICKS)], ink),
    }
    meta = {"alt": Slot("alt"), "narrowest": sizes.narrowest, "widest": sizes.widest}
    return {"data": [image], "layout": cells_layout(cells, sizes, ink) | {"meta": meta}}


def learning_values(run: Snapshots, sentence: int, moment: int) -> Values:
    """Return the values of the template at a moment: alpha, (target words, source words), and the text alternative."""
    cells = learning_cells(run, sentence, moment)
    strongest = [
        gettext(
            "{target} on {source}: {alpha}",
            target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30),
            alpha=decimal(float(row.max())),
        )
        for word, row in zip(cells.target, cells.alpha, strict=True)
    ]
    alt = ngettext(
        "Alignment after {count} training update, a matrix of {size}. Largest weights: {shown}.",
        "Alignment after {count} training updates, a matrix of {size}. Largest weights: {shown}.",
        run.updates[moment],
        size=size_text("words", len(cells.target), len(cells.source)),
        shown="; ".join(strongest[:60]),
    )
    return {"weights": cells.alpha.astype(np.float64), "alt": alt}


def learning_heatmap(run: Snapshots, sentence: int, moment: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij of `sentence` at `moment`, both 0-based: a row for each target word, a column for each source word.

    The decoder is forced to write the sentence's fixed translation.
    """
    return figure_of(learning_template(run, sentence, theme), learning_values(run, sentence, moment))


def learning_heatmap_table(run: Snapshots, sentence: int, moment: int) -> pd.DataFrame:
    """Return the numbers of the heatmap: target down, source across, each name preceded by its number."""
    cells = learning_cells(run, sentence, moment)
    return pd.DataFrame(
        cells.alpha,
        index=pd.Index([f"{i} {name}" for i, name in enumerate(cells.target, 1)], name=gettext("target \\ source")),
        columns=[f"{j} {name}" for j, name in enumerate(cells.source, 1)],
    )
