"""Figures and tables of energies, softmax, attention weights and posterior attention of one step, as bars."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent, significant, small
from attnviz.analysis.posterior import PosteriorAttention
from attnviz.figures.build import Spec, axis_labels, base_axis, base_layout, build_figure, escape, label_stride
from attnviz.figures.source_rows import (
    MOST_ROWS,
    WithEnergies,
    bar_numbers,
    bar_texts,
    energy_range,
    finite_energies,
    fit_alt,
    label_size,
    piece_bars,
    short_source_name,
    signed_colours,
    signs,
    source_layout,
    source_values,
    value_axis,
    without_scale,
)
from attnviz.figures.template import Slot, Values, figure_of, number_values, numbers
from attnviz.languages import format_share, gettext
from attnviz.palette import PALE, Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Aligned, Trace
from attnviz.trace.aligned import AttentionMatrix


def attention_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij (above, signed) and alpha_ij (below) of a step, one bar for each source piece.

    Args:
        trace: The translation.
        step: Step, 0-based.
        theme: "light" or "dark".

    Returns:
        The figure. `layout.meta` has `alt`, `narrowest`, and the 0-based column of the largest alpha (`peak`), to
        scroll to.
    """
    ink, count = palette(theme), len(trace.source_pieces)
    energies = np.where(np.isfinite(trace.energies[step]), trace.energies[step], np.nan)
    names = [piece_name(piece) for piece in trace.source_pieces]
    hover = [escape(shorten(name, 60)) for name in names]
    signs = [ink.minus if energy < 0 else ink.plus for energy in energies]
    bar = {"type": "bar", "x": np.arange(count, dtype=np.int32), "customdata": hover}
    traces = [
        bar | {"y": energies, "yaxis": "y2", "marker": {"color": signs}, "hovertemplate": _hover("e")},
        bar | {"y": trace.alignment[step], "marker": {"color": ink.bar}, "hovertemplate": _hover("α")},
    ]
    size = 13 if count <= 16 else 12 if count <= 30 else 11 if count <= 45 else 10
    longest = max(len(shorten(name)) for name in names) * size * 0.58
    stride = label_stride(count)
    angle = -90 if count > 14 else -50
    # 0.77 is the sine of 50 degrees; 0.37 is its cosine times 0.58.
    bottom = int(longest + 12 if angle == -90 else longest * 0.77 + 30)
    # Slanted labels extend to the left of their bars; only the first can extend past the axis.
    left = max(46, int(len(shorten(names[0])) * size * 0.37)) if angle == -50 else 46
    axis = base_axis(ink)
    layout = base_layout(ink) | {
        "height": 214 + bottom,
        "margin": {"l": left, "r": 6, "t": 6, "b": bottom},
        "bargap": 0.25,
        "xaxis": axis
        | {
            "tickvals": list(range(0, count, stride)),
            "ticktext": axis_labels(names[::stride]),
            "tickangle": angle,
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"size": size, "color": ink.encoder},
            "range": [-0.6, count - 0.4],
            "anchor": "y",
        },
        "yaxis": axis | {"domain": [0, 0.42], "range": [0, 1], "tickvals": [0, 0.5, 1], "title": _title("α", ink)},
        "yaxis2": axis
        | {
            "domain": [0.55, 1],
            "title": _title(gettext("energy e"), ink),
            "nticks": 4,
            "zerolinecolor": ink.quiet,
        },
        "meta": {
            "alt": _attention_alt(trace, step),
            "narrowest": 60 + min(13 * count, max(320, 8 * count), 4000),
            "peak": int(trace.alignment[step].argmax()),
        },
    }
    return build_figure(traces, layout)


def attention_table(trace: WithEnergies, step: int) -> pd.DataFrame:
    """Return e_ij and alpha_ij of a step.

    Args:
        trace: The translation.
        step: Step, 0-based.

    Returns:
        One row for each source piece j, counted from 1.
    """
    return pd.DataFrame(
        {
            "j": np.arange(1, len(trace.source_pieces) + 1),
            gettext("source piece"): list(trace.source_pieces),
            gettext("energy"): trace.energies[step],
            "alpha": trace.alignment[step],
        }
    ).set_index("j")


def _attention_alt(trace: Trace, step: int) -> str:
    alpha = trace.alignment[step]
    best = int(alpha.argmax())
    return gettext(
        "Energies and attention weights of step {step} over {count} source pieces. The largest weight, {weight:.2f}, "
        "is on piece {number}, {name}.",
        step=step + 1,
        count=len(alpha),
        weight=alpha[best],
        number=best + 1,
        name=shorten(piece_name(trace.source_pieces[best]), 30),
    )


def _hover(symbol: str) -> str:
    return f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>"


def _title(text: str, ink: Palette) -> Spec:
    return {"text": text, "font": {"size": 12, "color": ink.quiet}, "standoff": 4}


def energy_template(trace: WithEnergies, theme: ThemeName, *, simple: bool = False) -> Spec:
    """Return the template of e_ij, a signed bar for each source piece; the axis is the same at every step.

    If `simple`, the bars have no scale and no numbers.
    """
    ink = palette(theme)
    bars = piece_bars(trace, Slot("energies"), "e") | signed_colours(ink)
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("energy e"), energy_range(finite_energies(trace)))
    spec = {"data": [bars, *bar_numbers(trace, ink)], "layout": layout}
    return without_scale(spec) if simple else spec


def energy_values(trace: WithEnergies, step: int, *, simple: bool = False) -> Values:
    """Return the values of `energy_template`."""
    energies = finite_energies(trace)[step]
    best = weight_order(trace, step)[0]
    alt = (
        fit_alt(trace, step)
        if simple
        else gettext(
            "Energies of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
            "energy, {energy:.2f}.",
            step=step + 1,
            count=len(energies),
            energy=energies[best],
            number=best + 1,
            name=short_source_name(trace, best),
        )
    )
    return {"energies": energies} | signs(energies) | bar_texts(energies) | source_values(trace, step, alt)


def energy_table(trace: WithEnergies, step: int) -> pd.DataFrame:
    """Return e_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return attention_table(trace, step).drop(columns="alpha")


def softmax_template(trace: WithEnergies, theme: ThemeName) -> Spec:
    """Return the template of e_ij and, on the same rows, alpha_ij in [0, 1]; the axes are the same at every step."""
    ink = palette(theme)
    energy_bars = piece_bars(trace, Slot("energies"), "e") | signed_colours(ink, opacity=PALE)
    weight_bars = piece_bars(trace, Slot("weights"), "α") | {"xaxis": "x2", "marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    limits = energy_range(finite_energies(trace), padding=0.06)
    layout["xaxis"] = value_axis(ink, gettext("energy e"), limits) | {"domain": [0, 0.36]}
    layout["xaxis2"] = value_axis(ink, gettext("weight α"), [0, 1.16]) | {
        "domain": [0.44, 1],
        "tickvals": [0, 0.5, 1],
        "anchor": "y",
    }
    # Where the page lets the user drag the weights, these bars are dragged.
    pieces = [shorten(piece_name(piece), 40) for piece in trace.source_pieces]
    layout["meta"] |= {"weights": {"trace": 1, "axis": "xaxis2", "pieces": pieces}}
    return {
        "data": [energy_bars, weight_bars, *({**spec, "xaxis": "x2"} for spec in bar_numbers(trace, ink))],
        "layout": layout,
    }


def softmax_values(trace: WithEnergies, step: int) -> Values:
    """Return the values of `softmax_template`."""
    energies, alpha = finite_energies(trace)[step], trace.alignment[step]
    best = weight_order(trace, step)[0]
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        step=step + 1,
        weight=alpha[best],
        number=best + 1,
        name=short_source_name(trace, best),
    )
    numbers = {"energies": energies, "weights": alpha}
    return numbers | signs(energies) | bar_texts(alpha) | source_values(trace, step, alt)


def softmax_table(trace: WithEnergies, step: int) -> pd.DataFrame:
    """Return the softmax of 0-based `step`: e_ij, exp(e_ij - max_k e_ik), alpha_ij."""
    table = attention_table(trace, step)
    energies = trace.energies[step]
    table.insert(len(table.columns) - 1, "exp(e - max)", np.exp(energies - energies.max()))
    return table


def share_template(trace: AttentionMatrix, theme: ThemeName) -> Spec:
    """Return the template of the weights as percentages: the softmax for the level *Idea*."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("weights"), "α", ".1%") | {"marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("share of attention"), [0, 1.2]) | {
        "tickvals": [0, 0.5, 1],
        "ticktext": [percent(share) for share in (0, 0.5, 1)],
    }
    # Where the page lets the user drag the weights, these bars are dragged.
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
        name=short_source_name(trace, best),
    )
    values = {"weights": alpha} | bar_texts(alpha) | source_values(trace, step, alt)
    if len(alpha) <= MOST_ROWS:
        # No number for a bar that is too short to see.
        values["number_text"] = [f" {format_share(share)}" if share >= 0.005 else "" for share in alpha.tolist()]
    return values


def imported_template(trace: Aligned, theme: ThemeName) -> Spec:
    """Return the template of the weights: a bar in [0, 1] for each source piece, with the same axis at every step."""
    ink = palette(theme)
    bars = piece_bars(trace, Slot("weights"), "α") | {"marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    layout["xaxis"] = value_axis(ink, gettext("weight α"), [0, 1.16]) | {"tickvals": [0, 0.5, 1]}
    return {"data": [bars, *bar_numbers(trace, ink)], "layout": layout}


def imported_values(trace: Aligned, step: int) -> Values:
    """Return the values of `imported_template` at 0-based `step`: alpha_ij."""
    alpha = trace.alignment[step]
    best = weight_order(trace, step)[0]
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the largest "
        "weight, {weight:.2f}.",
        step=step + 1,
        count=len(alpha),
        weight=alpha[best],
        number=best + 1,
        name=short_source_name(trace, best),
    )
    return {"weights": alpha} | bar_texts(alpha) | source_values(trace, step, alt)


def imported_table(trace: Aligned, step: int) -> pd.DataFrame:
    """Return alpha_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return pd.DataFrame(
        {
            "j": np.arange(1, len(trace.source_pieces) + 1),
            gettext("source piece"): list(trace.source_pieces),
            "alpha": trace.alignment[step],
        }
    ).set_index("j")


_SPANS = {"prior": (0.0, 0.26), "likelihood": (0.33, 0.63), "posterior": (0.71, 1.0)}
"""Horizontal extents of the three columns, as shares of the width."""
_AXIS_LENGTH = 1.5
"""Length of the axes relative to the longest bar, for the numbers at the ends."""
_VISIBLE = 0.02
"""Smallest posterior attention of the heatmap that has a mark."""


def posterior_template(trace: Trace, theme: ThemeName) -> Spec:
    """Return the template of `posterior_bars`."""
    ink, count = palette(theme), len(trace.source_pieces)
    prior_spec = piece_bars(trace, Slot("prior"), "α") | {"marker": {"color": ink.bar}}
    likelihood_spec = piece_bars(trace, Slot("likelihood"), "p(y | h)", ".3~g") | {
        "xaxis": "x2",
        "marker": {"color": ink.decoder},
    }
    posterior_spec = piece_bars(trace, Slot("posterior"), "p(j | y)") | {"xaxis": "x3", "marker": {"color": ink.bar}}
    heatmap_marks = piece_bars(trace, Slot("seen"), gettext("α′ of the heatmap")) | {
        "type": "scatter",
        "mode": "markers",
        "xaxis": "x3",
        "marker": {"symbol": "diamond", "size": 9, "color": ink.paper, "line": {"width": 1.5, "color": ink.ink}},
    }
    del heatmap_marks["orientation"]
    axis, layout = value_axis(ink, "α", [0, _AXIS_LENGTH]), source_layout(trace, ink)
    layout["xaxis"] = axis | {"domain": list(_SPANS["prior"]), "tickvals": [0, 1]}
    layout["xaxis2"] = value_axis(ink, "× p(y | h)", []) | {
        "domain": list(_SPANS["likelihood"]),
        "range": Slot("likelihoods"),
        "tickvals": Slot("likelihood_ticks"),
        "ticktext": Slot("likelihood_names"),
        "anchor": "y",
    }
    layout["xaxis3"] = value_axis(ink, "→ p(j | y),  ◇ α′", [0, _AXIS_LENGTH]) | {
        "domain": list(_SPANS["posterior"]),
        "tickvals": [0, 1],
        "anchor": "y",
    }
    layout["meta"]["narrowest"] = 300
    texts = [
        numbers(label_size(count) - 1, ink, f"{name}_number") | {"xaxis": axis}
        for name, axis in zip(_SPANS, ("x", "x2", "x3"), strict=True)
    ]
    return {
        "data": [prior_spec, likelihood_spec, posterior_spec, heatmap_marks, *(texts if count <= MOST_ROWS else [])],
        "layout": layout,
    }


def posterior_values(trace: Trace, attention: PosteriorAttention, step: int) -> Values:
    """Return the values of `posterior_bars`."""
    rows = {name: getattr(attention, name)[step] for name in (*_SPANS, "heatmap_posterior")}
    largest = _axis_end(float(rows["likelihood"].max()))
    # Marks at 0 would carry no information.
    marks = np.where(rows["heatmap_posterior"] >= _VISIBLE, rows.pop("heatmap_posterior"), np.nan)
    values = rows | {
        "seen": marks,
        "likelihoods": [0, _AXIS_LENGTH * 1.2 * largest],
        "likelihood_ticks": [0, largest],
        "likelihood_names": ["0", significant(largest, 1) if largest >= 0.001 else small(largest)],
    }
    if len(trace.source_pieces) <= MOST_ROWS:
        for name in _SPANS:
            write = small if name == "likelihood" else decimal
            has_mark = np.isfinite(marks) if name == "posterior" else np.zeros(len(marks), bool)
            ends = np.where(has_mark, np.fmax(rows[name], marks), rows[name])
            # Place the number after the mark too.
            texts = [
                f"{'  ' * (1 + mark)}{write(value)} "[1:] for value, mark in zip(rows[name], has_mark, strict=True)
            ]
            values |= number_values(ends, texts, prefix=f"{name}_number")
    return values | source_values(trace, step, _alt(trace, attention, step))


def posterior_bars(trace: Trace, attention: PosteriorAttention, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij of 0-based `step`, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    return figure_of(posterior_template(trace, theme), posterior_values(trace, attention, step))


def posterior_table(trace: Trace, attention: PosteriorAttention, step: int) -> pd.DataFrame:
    """Return prior, likelihood, product, posterior and the heatmap's posterior of 0-based `step`.

    There is one row for each source piece j (counted from 1).
    """
    table = attention_table(trace, step).drop(columns=[gettext("energy")])
    return table.assign(
        **{
            gettext("likelihood p(y | h)"): attention.likelihood[step],
            gettext("product"): attention.prior[step] * attention.likelihood[step],
            gettext("posterior p(j | y)"): attention.posterior[step],
            gettext("α′ of the heatmap"): attention.heatmap_posterior[step],
        }
    )


def _axis_end(largest: float) -> float:
    """Return the round number at which the axis of likelihoods ends, for the largest."""
    if largest > 0.5:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(max(largest, 1e-300)))
    return float(unit * np.ceil(largest / unit * (1 - 1e-9)))


def _alt(trace: Trace, attention: PosteriorAttention, step: int) -> str:
    first, last = int(attention.prior[step].argmax()), int(attention.posterior[step].argmax())
    return gettext(
        "Attention of step {step}, before and after its word is known. The posterior of a source piece is "
        "proportional to its weight α times the likelihood of the word, given the annotation of this piece alone. "
        "{piece} has the largest weight, {weight:.2f}. {other} has the largest posterior, {posterior:.2f}; given its "
        "annotation alone, the word has likelihood {likelihood}.",
        step=step + 1,
        weight=attention.prior[step, first],
        piece=short_source_name(trace, first),
        posterior=attention.posterior[step, last],
        other=short_source_name(trace, last),
        likelihood=small(float(attention.likelihood[step, last])),
    )
