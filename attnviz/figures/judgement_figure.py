"""Figures and tables of decomposable attention (Parikh et al. 2016): attend, compare, aggregate, verdict."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.judgement import pair_attention
from attnviz.analysis.labels import quoted_name, shorten
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal
from attnviz.figures.heatmap import heatmap
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import APART, Part, axis_labels, base_axis, base_layout, build_figure
from attnviz.languages import gettext
from attnviz.palette import STRONGEST, Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Judgement
from attnviz.trace.aligned import AttentionView

_ROW = 17
"""Height of a strip in pixels."""


def attend_figure(attention: AttentionView, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the attention of one sentence to the other; English is green and French violet in either direction."""
    figure = heatmap(attention, end=True, theme=theme).figure()
    if attention.name == "source":
        ink = palette(theme)
        figure.layout.xaxis.tickfont.color, figure.layout.yaxis.tickfont.color = ink.decoder, ink.encoder
    return figure


def compared_template(judgement: Judgement, theme: ThemeName) -> Part:
    """Return the template of a target piece's comparison: its vector, its weighted sum, and their comparison."""
    ink, units = palette(theme), judgement.target_projected.shape[1]
    strips = _strips(Slot("rows"), [0, 1, 2], _colour_limit(judgement.target_projected), ink)
    layout = _layout(ink, 44 + 34 * 3 + 8, 148) | {
        "xaxis": _units_axis(ink, units),
        "yaxis": _names_axis(ink, Slot("names"), 3),
        "meta": {"alt": Slot("alt"), "narrowest": 320},
    }
    return {"data": [strips], "layout": layout}


def compared_values(judgement: Judgement, step: int) -> Values:
    """Return the values of `compared_template` for 0-based target piece `step`."""
    rows = np.stack(
        [judgement.target_projected[step], judgement.target_aligned[step], judgement.target_comparisons[step]]
    )
    alt = gettext(
        "Strips of {count} units for French piece {number}, {name}: its vector, the mean of the English vectors "
        "weighted by its attention, and the comparison of its vector with this mean. The comparison has norm {length}.",
        count=rows.shape[1],
        number=step + 1,
        name=piece_name(judgement.target_pieces[step]),
        length=decimal(float(np.linalg.norm(rows[2]))),
    )
    name = shorten(piece_name(judgement.target_pieces[step]), 10)
    return {
        "rows": rows,
        "names": axis_labels([f"b  {name}", gettext("α  it sees"), gettext("v  compared")], 20),
        "alt": alt,
    }


def compared_table(judgement: Judgement, step: int) -> pd.DataFrame:
    """Return the strips of `compared_template` as columns, one row for each unit (counted from 1)."""
    unit = pd.RangeIndex(1, judgement.target_projected.shape[1] + 1, name=gettext("unit"))
    return pd.DataFrame(
        {
            "b": judgement.target_projected[step],
            "alpha": judgement.target_aligned[step],
            "v": judgement.target_comparisons[step],
        },
        index=unit,
    )


def compared_sentence(judgement: Judgement, step: int) -> str:
    """Return where 0-based target piece `step` attends, and the length of its comparison."""
    attention = pair_attention(judgement)
    best = weight_order(attention, step)[0]
    lengths = np.linalg.norm(judgement.target_comparisons, axis=1)
    return gettext(
        "{name} attends most to {other}, with weight {weight}. b is the vector of {name}. α is the mean of the "
        "English vectors, weighted by the attention of {name}. The network G compares b with α and returns v, of "
        "length {length}. The vectors v of all {count} pieces are added up.",
        name=quoted_name(judgement.target_pieces[step]),
        other=quoted_name(judgement.source_pieces[best]),
        weight=decimal(float(attention.alignment[step, best])),
        length=decimal(float(lengths[step])),
        count=len(lengths),
    )


def bag_figure(judgement: Judgement, other: Judgement | None = None, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the comparisons of all English pieces with their sum, for one judgement or before and after a swap of words.

    A swap shows the same strips in another order.
    """
    ink, limit = palette(theme), _colour_limit(judgement.source_comparisons)
    bags, units = [_bag(each) for each in (judgement, other) if each], judgement.source_comparisons.shape[1]
    data, axes = [], {}
    for k, (names, rows) in enumerate(bags):
        suffix = "" if k == 0 else "2"
        # A gap separates the sum from its terms, like the line under a sum on paper.
        positions = [*range(len(names) - 1), len(names) - 0.4]
        data.append(_strips(rows, positions, limit, ink) | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
        axes[f"xaxis{suffix}"] = _units_axis(ink, units) | {"anchor": f"y{suffix}"}
        if other:
            title = gettext("original order") if k == 0 else gettext("two words swapped")
            axes[f"xaxis{suffix}"] |= {
                "domain": ([0, 0.4], [0.6, 1])[k],
                "title": {"text": title, "font": {"size": 13, "color": ink.ink}, "standoff": 2},
            }
        axes[f"yaxis{suffix}"] = _names_axis(ink, axis_labels(names, 14), len(names)) | {
            "tickvals": positions,
            "range": [positions[-1] + 0.55, -0.55],
            "anchor": f"x{suffix}",
        }
    count = max(len(names) for names, _ in bags)
    meta = {"alt": _bag_alt(count - 1, units, swapped=bool(other)), "narrowest": 640 if other else 320}
    return build_figure(data, _layout(ink, 40 + _ROW * (count + 1) + 8, 104) | axes | {"meta": meta})


def _bag_alt(count: int, units: int, *, swapped: bool) -> str:
    if swapped:
        return gettext(
            "Comparisons of {count} English pieces with French pieces, as strips of {units} units, before and "
            "after two words were swapped. Below the strips of each word order, one more strip shows their sum.",
            count=count,
            units=units,
        )
    return gettext(
        "The comparisons of {count} English pieces with French pieces, as strips of {units} units, with their "
        "sum below.",
        count=count,
        units=units,
    )


def bag_table(one: Judgement, other: Judgement | None = None) -> pd.DataFrame:
    """Return the lengths of the strips of `bag_figure` and their first three units, a row for each piece."""
    frames = []
    for title, judgement in ((gettext("original order"), one), (gettext("two words swapped"), other)):
        if judgement is None:
            continue
        names, rows = _bag(judgement)
        frame = pd.DataFrame(rows[:, :3], columns=[gettext("unit {k}", k=k) for k in (1, 2, 3)])
        frame.insert(0, gettext("piece"), names)
        frame.insert(0, gettext("order"), title)
        frame[gettext("length")] = np.linalg.norm(rows, axis=1)
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    table.index = pd.RangeIndex(1, len(table) + 1)
    return table


def aggregated_table(judgement: Judgement) -> pd.DataFrame:
    """Return v_1 and v_2, the sums of comparisons, and the hidden layer h, a row for each unit (counted from 1)."""
    unit = pd.RangeIndex(1, len(judgement.hidden) + 1, name=gettext("unit"))
    return pd.DataFrame({"v₁": judgement.source_sum, "v₂": judgement.target_sum, "h": judgement.hidden}, index=unit)


def verdict_table(judgement: Judgement) -> pd.DataFrame:
    """Return the logits o and the probabilities p, a row for each class."""
    verdicts = pd.Index([gettext("not a translation"), gettext("translation")], name=gettext("verdict"))
    return pd.DataFrame({"o": judgement.logits, "p": judgement.probabilities}, index=verdicts)


def _bag(judgement: Judgement) -> tuple[list[str], FloatArray]:
    names = [piece_name(piece) for piece in judgement.source_pieces]
    return [*names, gettext("sum")], np.concatenate([judgement.source_comparisons, judgement.source_sum[None]])


def _colour_limit(vectors: NDArray[np.floating]) -> float:
    return float(np.quantile(np.abs(vectors), STRONGEST)) or 1.0


def _strips(rows: FloatArray | Slot, positions: list[float] | list[int], limit: float, ink: Palette) -> Part:
    return {
        "type": "heatmap",
        "z": rows,
        "y": positions,
        "x0": 1,
        "dx": 1,
        "zmin": -limit,
        "zmax": limit,
        "ygap": 2,
        "colorscale": ink.signed_root_scale,
        "showscale": False,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }


def _layout(ink: Palette, height: int, left: int) -> Part:
    return base_layout(ink) | {"height": height, "margin": {"l": left, "r": 6, "t": 36, "b": 8}}


def _units_axis(ink: Palette, units: int) -> Part:
    return base_axis(ink) | {
        "showgrid": False,
        "zeroline": False,
        "range": [0.5, units + 0.5],
        "showticklabels": False,
        "side": "top",
        "title": {
            "text": gettext("{count} units", count=units),
            "font": {"size": 12, "color": ink.quiet},
            "standoff": 2,
        },
    }


def _names_axis(ink: Palette, names: list[str] | Slot, count: int) -> Part:
    return (
        base_axis(ink)
        | APART
        | {
            "showgrid": False,
            "zeroline": False,
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": names,
            "tickfont": {"size": 12, "color": ink.ink},
        }
    )
