"""Figures and tables of perturbation tests: other attention weights of a step, and shuffled ones of all steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quoted_name, shorten
from attnviz.analysis.numbers import decimal, percent
from attnviz.analysis.perturbation_tests import (
    PermutationEffects,
    PerturbationTests,
    median_probability,
    outcome,
    perturbation_test_names,
    shuffled_sentence,
)
from attnviz.analysis.step_evaluation import PerturbedStep
from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape
from attnviz.languages import format_share, gettext
from attnviz.palette import ROW_FRAME, Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace

_ROW, _TOP, _BOTTOM = 47, 8, 56
"""Pixels of a test, above the first and below the last."""
_WEIGHTS_Y, _BAR_Y = 0.45, 0.3
"""Positions of the base line of the weights and of the bar of probability, downwards from the middle of the row."""
_VISIBLE = 0.03
"""Smallest weight of the step that is marked in the rows of the tests."""
_BAR_HEIGHT = 0.5
"""Height of a weight of 1 as a share of a row; the rest is for the name."""
_WEIGHTS_SPAN, _BARS_SPAN = (0.0, 0.5), (0.58, 1.0)
"""Shares of the width."""
_LABEL, _LABEL_DISTANCE, _LIKELIEST = 10, 13, 5
"""Characters of a piece's label, pixels between labels, and number of likeliest pieces in a hover text."""
PERTURBATION_WIDTH, _LEFT, _RIGHT = 720, 8, 20
"""Pixels of the figure where it is not narrow, and of the margins: as many pieces are labelled as fit then."""

_Spelling = Callable[[int], str]


def perturbation_tests_figure(
    trace: Trace,
    tests: PerturbationTests,
    spelling: _Spelling,
    best: PerturbedStep | None = None,
    *,
    theme: ThemeName = "light",
    width: int = PERTURBATION_WIDTH,
) -> go.Figure:
    """Draw the perturbation tests of a step, a row each: their weights over the source pieces, and p of the word.

    Weights are in [0, 1], with a dash at the step's own weight. The word is the step's likeliest piece; a line marks
    its probability with the step's own weights, and each row says which piece would be written. Of the permutations,
    the weights of the median one are drawn, and the probability of each as a point.

    Args:
        trace: The translation.
        tests: Result of `analysis.perturbation_tests`.
        spelling: Function that returns the piece of an id.
        best: Result of `analysis.best_attention`, for a row with the attention that makes the piece likeliest.
        theme: "light" or "dark".
        width: Width of the figure in pixels; as many source pieces are labelled as fit it.

    Returns:
        The figure. `layout.meta` has `alt`, `narrowest` and the names of the rows (`tests`).
    """
    ink, shown = palette(theme), _test_of_rows(tests, best)
    names = perturbation_test_names(len(tests.permuted))
    traces = [
        *_weight_bars(trace, tests, shown, ink),
        _probability_bars(tests, shown, spelling, ink),
        *_permutation_points(tests, shown, ink),
    ]
    layout = _layout(trace, tests, shown, spelling, width, ink) | {
        "annotations": _row_annotations(tests, shown, names, spelling, ink),
        "meta": {"alt": _alt(tests, shown, names, spelling), "narrowest": 330, "tests": list(shown)},
    }
    return build_figure(traces, layout)


def perturbation_tests_table(
    tests: PerturbationTests, spelling: _Spelling, best: PerturbedStep | None = None
) -> pd.DataFrame:
    """Return the perturbation tests of a step, a row each, and each permutation by its number.

    Args:
        tests: Result of `analysis.perturbation_tests`.
        spelling: Function that returns the piece of an id.
        best: Result of `analysis.best_attention`, for a row of its own.

    Returns:
        Columns are divergence of the weights, change of the output, p(y_i), and the piece that would be written.
    """
    names = perturbation_test_names(len(tests.permuted))
    rows = [(names[name], test) for name, test in _test_of_rows(tests, best).items() if name != "permuted"]
    rows += [(gettext("permutation {number}", number=k), test) for k, test in enumerate(tests.permuted, 1)]
    tests_of_rows = [test for _, test in rows]
    frame = {
        gettext("test"): [name for name, _ in rows],
        gettext("divergence of weights, bits"): [test.divergence for test in tests_of_rows],
        gettext("total variation"): [test.total_variation for test in tests_of_rows],
        gettext("probability of the word"): [test.likelihood for test in tests_of_rows],
        gettext("writes"): [spelling(test.piece_id) for test in tests_of_rows],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(rows) + 1, name=gettext("row")))


def perturbation_tests_likeliest_table(
    tests: PerturbationTests, spelling: _Spelling, best: PerturbedStep | None = None
) -> pd.DataFrame:
    """Return p(w) of the likeliest pieces of each test, a row for each piece with its rank.

    Of the permutations, it is the median one.
    """
    names = perturbation_test_names(len(tests.permuted))
    rows = [
        (names[name], rank, spelling(piece), p)
        for name, test in _test_of_rows(tests, best).items()
        for rank, (piece, p) in enumerate(test.top(_LIKELIEST), 1)
    ]
    columns = [gettext("test"), gettext("rank"), gettext("piece"), gettext("probability")]
    return pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name=gettext("row")))


def _test_of_rows(tests: PerturbationTests, best: PerturbedStep | None) -> dict[str, PerturbedStep]:
    """Return the test that is drawn in each row, from the top."""
    order = np.argsort([test.total_variation for test in tests.permuted], kind="stable")
    middle = tests.permuted[int(order[(len(order) - 1) // 2])]
    shown = {
        "real": tests.real,
        "uniform": tests.uniform,
        "permuted": middle,
        "without_strongest": tests.without_strongest,
        "adversary": tests.adversary,
    }
    return shown if best is None else shown | {"best": best}


def _weight_bars(trace: Trace, tests: PerturbationTests, shown: dict[str, PerturbedStep], ink: Palette) -> list[Part]:
    """Return the weights of each row as bars on its base line, and the step's own as dashes."""
    count = len(trace.source_pieces)
    places, names = np.arange(count), [escape(shorten(piece_name(piece), 40)) for piece in trace.source_pieces]
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": places,
            "y": -_BAR_HEIGHT * test.weights,
            "base": row + _WEIGHTS_Y,
            "customdata": [[piece, weight] for piece, weight in zip(names, test.weights.tolist(), strict=True)],
            "marker": {"color": ink.bar},
            "hovertemplate": "%{customdata[0]}<br>α = %{customdata[1]:.3f}<extra></extra>",
        }
        for row, (name, test) in enumerate(shown.items())
    ]
    rows = range(1, len(shown))
    visible = np.flatnonzero(tests.real.weights >= _VISIBLE)
    dashes = {
        "type": "scatter",
        "mode": "markers",
        "name": "weights of the step",
        "hoverinfo": "skip",
        "x": np.tile(visible, len(rows)),
        "y": np.concatenate([row + _WEIGHTS_Y - _BAR_HEIGHT * tests.real.weights[visible] for row in rows]),
        "marker": {
            "symbol": "line-ew-open",
            "size": max(5, min(12, 180 // count)),
            "color": ink.encoder,
            "line": {"width": 2, "color": ink.encoder},
        },
    }
    return [*bars, dashes]


def _probability_bars(
    tests: PerturbationTests, shown: dict[str, PerturbedStep], spelling: _Spelling, ink: Palette
) -> Part:
    """Return p of the word in each row as a bar with its likeliest pieces as hover text; permutations are points."""
    rows = [(row, test) for row, (name, test) in enumerate(shown.items()) if name != "permuted"]
    return {
        "type": "bar",
        "orientation": "h",
        "name": "probability",
        "x": [_probability(tests, test) for _, test in rows],
        "y": [row + _BAR_Y for row, _ in rows],
        "width": 0.16,
        "xaxis": "x2",
        "marker": {"color": ink.bar},
        "customdata": [[_likeliest(test, spelling)] for _, test in rows],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
    }


def _probability(tests: PerturbationTests, test: PerturbedStep) -> float:
    """Return the probability in `test` of the piece that is likeliest with the step's own weights."""
    return float(test.probabilities[tests.real.piece_id])


def _likeliest(test: PerturbedStep, spelling: _Spelling) -> str:
    return "<br>".join(
        f"{escape(shorten(piece_name(spelling(piece)), 20))} {percent(p)}" for piece, p in test.top(_LIKELIEST)
    )


def _permutation_points(tests: PerturbationTests, shown: dict[str, PerturbedStep], ink: Palette) -> list[Part]:
    """Return p of the word in every permutation as a point, and a mark at the median."""
    row, count = list(shown).index("permuted") + _BAR_Y, len(tests.permuted)
    # Jitter by multiples of the golden ratio, which separate neighbours and are reproducible.
    spread = (np.arange(count) * 0.618) % 1 - 0.5
    point = {"type": "scatter", "mode": "markers", "xaxis": "x2", "hoverinfo": "skip"}
    return [
        point
        | {
            "name": "permutations",
            "x": [_probability(tests, test) for test in tests.permuted],
            "y": row + 0.26 * spread,
            "marker": {"size": 4, "color": ink.quiet},
        },
        point
        | {
            "name": "median",
            "x": [median_probability(tests)],
            "y": [row],
            "marker": {"symbol": "line-ns-open", "size": 12, "color": ink.ink, "line": {"width": 3, "color": ink.ink}},
        },
    ]


def _row_annotations(
    tests: PerturbationTests, shown: dict[str, PerturbedStep], names: dict[str, str], spelling: _Spelling, ink: Palette
) -> list[Part]:
    """Return the name of each row above its weights, and the outcome above its bar."""
    note = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "yref": "y", "xref": "paper", "xshift": -2}
    notes: list[Part] = []
    dash = f'<span style="color:{ink.encoder}">━</span>'
    for row, (name, test) in enumerate(shown.items()):
        text = escape(_outcome_text(tests, name, test, spelling))
        title = f"<b>{escape(names[name])}</b>"
        if name == "real":
            title += ", " + gettext("drawn as {dash} below", dash=dash)
        notes += [
            note | {"text": words, "x": span[0], "y": row - 0.12, "font": {"size": 12, "color": ink.ink}}
            for words, span in ((title, _WEIGHTS_SPAN), (text, _BARS_SPAN))
        ]
    return notes


def _outcome_text(tests: PerturbationTests, name: str, test: PerturbedStep, spelling: _Spelling) -> str:
    """Return the probability of the word in a row, and which piece would be written."""
    if name == "permuted":
        return gettext(
            "median {p}; the same piece in {share}",
            p=format_share(median_probability(tests)),
            share=percent(tests.kept_when_permuted),
        )
    p = format_share(_probability(tests, test))
    if name == "real":
        return gettext("{p}, writes {name}", p=p, name=quoted_name(shorten(spelling(test.piece_id), 12)))
    return f"{p}, {outcome(tests.real, test, spelling)}"


def _layout(
    trace: Trace,
    tests: PerturbationTests,
    shown_tests: dict[str, PerturbedStep],
    spelling: _Spelling,
    width: int,
    ink: Palette,
) -> Part:
    rows, count = len(shown_tests), len(trace.source_pieces)
    panel_width = _WEIGHTS_SPAN[1] * (width - _LEFT - _RIGHT)
    labelled_pieces = _labelled_pieces(np.max([test.weights for test in shown_tests.values()], axis=0), panel_width)
    axis = base_axis(ink) | {"zeroline": False, "showgrid": False}
    title = {"font": {"size": 12, "color": ink.quiet}, "standoff": 4}
    return base_layout(ink) | {
        "height": _TOP + _ROW * rows + _BOTTOM,
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _TOP, "b": _BOTTOM},
        "bargap": 0.25,
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": axis
        | {
            "domain": list(_WEIGHTS_SPAN),
            "range": [-0.6, count - 0.4],
            "side": "bottom",
            "tickangle": -90,
            "tickvals": labelled_pieces,
            "ticktext": [escape(shorten(piece_name(trace.source_pieces[j]), _LABEL)) for j in labelled_pieces],
            "tickfont": {"size": 11, "color": ink.encoder},
        },
        "xaxis2": axis
        | {
            "domain": list(_BARS_SPAN),
            "range": [0, 1],
            "side": "bottom",
            "tickvals": [0, 0.5, 1],
            "ticktext": [percent(p) for p in (0, 0.5, 1)],
            "title": title
            | {
                "text": gettext(
                    "probability of {piece}",
                    piece=escape(quoted_name(shorten(spelling(tests.real.piece_id), 12))),
                )
            },
            "anchor": "y",
        },
        "yaxis": axis | {"range": [rows - 0.5, -0.6], "showticklabels": False},
        "shapes": [
            {
                "type": "line",
                "xref": "paper",
                "x0": span[0],
                "x1": span[1],
                "y0": row + height,
                "y1": row + height,
                "line": {"color": ink.line, "width": 1},
                "layer": "below",
            }
            for row in range(rows)
            for span, height in ((_WEIGHTS_SPAN, _WEIGHTS_Y), (_BARS_SPAN, _BAR_Y))
        ]
        + [
            {
                "type": "line",
                "xref": "x2",
                "x0": _probability(tests, tests.real),
                "x1": _probability(tests, tests.real),
                "y0": row + _BAR_Y - 0.16,
                "y1": row + _BAR_Y + 0.16,
                "line": {"color": ink.encoder, "width": 2},
            }
            for row in range(1, rows)
        ],
    }


def _labelled_pieces(weights: np.ndarray[tuple[int], np.dtype[np.float64]], space: float) -> list[int]:
    """Return the source pieces that are labelled in `space` pixels.

    All where they fit; otherwise those with the largest weights in any row, at a minimal distance.
    """
    distance = _LABEL_DISTANCE * len(weights) / space
    labelled: list[int] = []
    for j in np.argsort(-weights, kind="stable").tolist():
        if all(abs(j - other) >= distance for other in labelled):
            labelled.append(j)
    return sorted(labelled)


def _alt(tests: PerturbationTests, shown: dict[str, PerturbedStep], names: dict[str, str], spelling: _Spelling) -> str:
    return gettext(
        "Step {step} with other attention weights. Probability of {piece} in each test: {outcomes}.",
        step=tests.step + 1,
        piece=quoted_name(spelling(tests.real.piece_id)),
        outcomes="; ".join(
            f"{names[name]}: {_outcome_text(tests, name, test, spelling)}" for name, test in shown.items()
        ),
    )


_PLOT = (300, 330)
"""Width and height in pixels of the plot on a narrow page, for which labels are placed without overlap."""
_LETTER, _LINE = 6.5, 15
"""Pixels of a letter and of a line of a label."""
_GAP = 6
"""Pixels of the space before a label, which keeps it off the ring around the current step."""


def shuffled_figure(
    trace: Trace, shuffled: PermutationEffects, *, step: int | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw a point for each step: max_j alpha_ij on x, the median change of its output on y, both from 0 to 1.

    A point is filled where most permutations write the same piece, and hollow otherwise; points are labelled where
    there is room.

    Args:
        trace: The translation.
        shuffled: Result of `analysis.shuffled`.
        step: Step, 0-based, that is ringed.
        theme: "light" or "dark".

    Returns:
        The figure. For clicks, the points' `customdata` begins with the 0-based step; `layout.meta` has `alt`,
        `narrowest`, `frame`, and for each step its number (`steps`) and its position (`points`).
    """
    ink, keeps_piece = palette(theme), shuffled.kept > 0.5
    names = [shorten(piece_name(piece), 14) for piece in trace.target_pieces]
    hover = [
        [i, escape(name), percent(float(share))]
        for i, (name, share) in enumerate(zip(names, shuffled.kept, strict=True))
    ]
    points = {
        "type": "scatter",
        "mode": "markers+text",
        "name": "steps",
        "x": shuffled.largest,
        "y": shuffled.change,
        "text": _point_labels(shuffled, names),
        "textposition": "middle right",
        "cliponaxis": False,
        "textfont": {"size": 12, "color": ink.decoder},
        "customdata": hover,
        "marker": {
            "size": 9,
            "color": ink.decoder,
            "line": {"width": 2, "color": ink.decoder},
            "symbol": ["circle" if filled else "circle-open" for filled in keeps_piece],
        },
        "hovertemplate": gettext(
            "{piece}<br>largest weight {largest}<br>probability change with shuffled weights {change}<br>{kept} of "
            "the shuffles write the same piece",
            piece="%{customdata[1]}",
            largest="%{x:.2f}",
            change="%{y:.2f}",
            kept="%{customdata[2]}",
        )
        + "<extra></extra>",
    }
    traces: list[Part] = [points]
    if step is not None:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "this step",
                "hoverinfo": "skip",
                "x": [shuffled.largest[step]],
                "y": [shuffled.change[step]],
                "cliponaxis": False,
                "marker": {"size": 18, "symbol": "circle-open", "color": ROW_FRAME, "line": {"width": 2.5}},
            }
        )
    axis = base_axis(ink) | {"range": [-0.02, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "zeroline": False}
    title = {"font": {"size": 12, "color": ink.quiet}, "standoff": 6}
    layout = base_layout(ink) | {
        "height": 420,
        "margin": {"l": 50, "r": 40, "t": 12, "b": 46},
        "hovermode": "closest",
        "xaxis": axis | {"title": title | {"text": gettext("largest weight of the step")}},
        "yaxis": axis | {"title": title | {"text": gettext("probability change by shuffling (total variation)")}},
        "meta": {
            "alt": _shuffled_alt(shuffled),
            "narrowest": 320,
            "frame": ROW_FRAME,
            "steps": list(range(len(names))),
            "points": np.stack([shuffled.largest, shuffled.change], axis=1).round(4).tolist(),
        },
    }
    return build_figure(traces, layout)


def shuffled_table(trace: Trace, shuffled: PermutationEffects) -> pd.DataFrame:
    """Return the numbers of the figure, a row for each step (counted from 1).

    Args:
        trace: The translation.
        shuffled: Result of `analysis.shuffled`.
    """
    frame = {
        gettext("target piece"): list(trace.target_pieces),
        gettext("largest weight"): shuffled.largest,
        gettext("change when shuffled"): shuffled.change,
        gettext("share of shuffles with the same piece"): shuffled.kept,
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(shuffled.change) + 1, name=gettext("step")))


def _point_labels(shuffled: PermutationEffects, names: list[str]) -> list[str]:
    """Return the label of each point that has room for it, and "" for the others; isolated points come first."""
    x, y = shuffled.largest * _PLOT[0], (1 - shuffled.change) * _PLOT[1]
    distances = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distances, np.inf)
    texts = [""] * len(names)
    label_extents: list[tuple[float, float, float]] = []
    for i in np.argsort(-distances.min(axis=1), kind="stable").tolist():
        left, right = x[i] + 8, x[i] + 12 + _GAP + _LETTER * len(names[i])
        overlaps_label = any(
            left < end and start < right and abs(y[i] - height) < _LINE for start, end, height in label_extents
        )
        covers_point = np.any((x > left - 4) & (x < right) & (np.abs(y - y[i]) < 13) & (np.arange(len(x)) != i))
        if right < _PLOT[0] + 60 and not overlaps_label and not covers_point:
            texts[i] = f"\u2002{escape(names[i])}"
            label_extents.append((left, right, y[i]))
    return texts


def _shuffled_alt(shuffled: PermutationEffects) -> str:
    return gettext(
        "One point for each of {count} steps. The largest weight of a step lies between {least} and {most}. "
        "Shuffling the weights of a step changes the probabilities by {small} to {large}. {told}",
        count=len(shuffled.change),
        least=decimal(float(shuffled.largest.min())),
        most=decimal(float(shuffled.largest.max())),
        small=decimal(float(shuffled.change.min())),
        large=decimal(float(shuffled.change.max())),
        told=shuffled_sentence(shuffled),
    )
