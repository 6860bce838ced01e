"""Figures of perturbation tests: other attention weights of a step; shuffles and minimal changes of all steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quoted_name, shorten
from attnviz.analysis.minimal_change import MinimalChange
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
from attnviz.figures.grammar import (
    TOP,
    bare_axis,
    bars,
    label_axis,
    label_size,
    line,
    numbers,
    points,
    row_height,
    sized_layout,
    text_at,
    titled_axis,
    value_axis,
)
from attnviz.figures.spec import Part, Spec, axis_labels, escape, in_colour, rectangle
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.palette import PALE, ROW_FRAME, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace

_WEIGHTS_Y, _BAR_Y = 0.45, 0.3
"""Positions of the base line of the weights and of the bar of probability, downwards from the middle of the row."""
_VISIBLE = 0.03
"""Smallest weight of the step that is marked in the rows of the tests."""
_BAR_HEIGHT = 0.5
"""Height of a weight of 1 as a share of a row; the rest is for the name."""
_WEIGHTS_SPAN, _BARS_SPAN = (0.0, 0.5), (0.58, 1.0)
"""Shares of the width."""
_LABEL, _LABEL_DISTANCE, _TOP = 10, 13, 5
"""Characters of a piece's label, pixels between labels, and number of likeliest pieces in a hover text."""
PERTURBATION_WIDTH, _LEFT, _RIGHT = 720, 8, 20
"""Pixels of the figure where it is not narrow, and of the margins: as many pieces are labelled as fit then."""

_Spelling = Callable[[int], str]


def draw_perturbation_tests(subject: Subject) -> Spec:
    """Draw the perturbation tests of a step, with the attention that makes the word likeliest."""
    tests, best = subject.perturbation_tests, subject.best_attention
    return perturbation_tests_figure(subject.trace, tests, subject.piece_or_id, best, theme=subject.theme)


def perturbation_tests_figure(
    trace: Trace,
    tests: PerturbationTests,
    spelling: _Spelling,
    best: PerturbedStep | None = None,
    *,
    theme: ThemeName = "light",
    width: int = PERTURBATION_WIDTH,
) -> Spec:
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
        The figure. `layout.meta` has `narrowest` and the names of the rows (`tests`). The table has a row for each test
        and each permutation: divergence of the weights, change of the output, p(y_i), and the piece that would be
        written.
    """
    ink, real, word, count = palette(theme), tests.real, tests.real.piece_id, len(trace.source_pieces)
    titles, shown = perturbation_test_names(len(tests.permuted)), _test_of_rows(tests, best)
    places = {name: row + _BAR_Y for row, name in enumerate(shown)}
    written = quoted_name(shorten(spelling(word), 12))
    probabilities = {name: float(test.probabilities[word]) for name, test in shown.items()}
    probabilities["permuted"] = median_probability(tests)
    permuted = [float(test.probabilities[word]) for test in tests.permuted]
    shares = {name: format_share(p) for name, p in probabilities.items()}
    outcomes = {name: f"{shares[name]}, {outcome(real, test, spelling)}" for name, test in shown.items()}
    outcomes["real"] = gettext("{p}, writes {name}", p=shares["real"], name=written)
    outcomes["permuted"] = gettext(
        "median {p}; the same piece in {share}", p=shares["permuted"], share=percent(tests.kept_when_permuted)
    )

    pieces = axis_labels(map(piece_name, trace.source_pieces), 40)
    weights = [
        {
            "type": "bar",
            "name": name,
            "x": np.arange(count),
            "y": -_BAR_HEIGHT * test.weights,
            "base": row + _WEIGHTS_Y,
            "customdata": [list(pair) for pair in zip(pieces, test.weights.tolist(), strict=True)],
            "marker": {"color": ink.bar},
            "hovertemplate": "%{customdata[0]}<br>α = %{customdata[1]:.3f}<extra></extra>",
        }
        for row, (name, test) in enumerate(shown.items())
    ]
    visible, others = np.flatnonzero(real.weights >= _VISIBLE), np.arange(1, len(shown))
    dash = {"symbol": "line-ew-open", "size": max(5, min(12, 180 // count)), "color": ink.encoder}
    dashes = points(
        np.tile(visible, len(others)),
        (others[:, None] + _WEIGHTS_Y - _BAR_HEIGHT * real.weights[visible]).ravel(),
        dash | {"line": {"width": 2, "color": ink.encoder}},
        name="weights of the step",
        hoverinfo="skip",
    )
    single = [name for name in shown if name != "permuted"]
    probability = bars(
        [probabilities[name] for name in single],
        {"color": ink.bar},
        [
            "<br>".join(
                f"{escape(shorten(piece_name(spelling(k)), 20))} {percent(p)}" for k, p in shown[name].top(_TOP)
            )
            for name in single
        ],
        name="probability",
        y=[places[name] for name in single],
        width=0.16,
        xaxis="x2",
    )
    # Jitter by multiples of the golden ratio, which separate neighbours and are reproducible.
    jitter = places["permuted"] + 0.26 * ((np.arange(len(permuted)) * 0.618) % 1 - 0.5)
    tick = {"symbol": "line-ns-open", "size": 12, "color": ink.ink, "line": {"width": 3, "color": ink.ink}}
    right = {"xaxis": "x2", "hoverinfo": "skip"}
    data = [
        *weights,
        dashes,
        probability,
        points(permuted, jitter, {"size": 4, "color": ink.quiet}, name="permutations", **right),
        points([probabilities["permuted"]], [places["permuted"]], tick, name="median", **right),
    ]

    notes, lines = [], []
    for row, name in enumerate(shown):
        drawn = ", " + gettext("drawn as {dash} below", dash=in_colour("━", ink.encoder)) if name == "real" else ""
        notes += [
            text_at(f"<b>{escape(titles[name])}</b>{drawn}", _WEIGHTS_SPAN[0], row - 0.12, ink.ink, xshift=-2),
            text_at(escape(outcomes[name]), _BARS_SPAN[0], row - 0.12, ink.ink, xshift=-2),
        ]
        lines += [
            line(_WEIGHTS_SPAN, [row + _WEIGHTS_Y] * 2, ink.line, layer="below"),
            line(_BARS_SPAN, [places[name]] * 2, ink.line, layer="below"),
        ]
    for name in list(shown)[1:]:
        ends = places[name] - 0.16, places[name] + 0.16
        lines.append(line([probabilities["real"]] * 2, ends, ink.encoder, 2, xref="x2"))
    largest = np.max([test.weights for test in shown.values()], axis=0)
    labelled = _labelled_pieces(largest, _WEIGHTS_SPAN[1] * (width - _LEFT - _RIGHT))
    layout = sized_layout(ink, 47 * len(shown) + 64, (_LEFT, _RIGHT, 8, 56), 330, tests=list(shown)) | {
        "bargap": 0.25,
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": bare_axis(
            ink,
            domain=list(_WEIGHTS_SPAN),
            range=[-0.6, count - 0.4],
            tickangle=-90,
            tickvals=labelled,
            ticktext=axis_labels((piece_name(trace.source_pieces[j]) for j in labelled), _LABEL),
            tickfont={"size": 11, "color": ink.encoder},
        ),
        "xaxis2": titled_axis(
            ink,
            gettext("probability of {piece}", piece=escape(written)),
            standoff=4,
            domain=list(_BARS_SPAN),
            range=[0, 1],
            tickvals=[0, 0.5, 1],
            ticktext=[percent(p) for p in (0, 0.5, 1)],
            anchor="y",
            showgrid=False,
            zeroline=False,
        ),
        "yaxis": bare_axis(ink, range=[len(shown) - 0.5, -0.6], showticklabels=False),
        "shapes": lines,
        "annotations": notes,
    }
    alt = gettext(
        "Step {step} with other attention weights. Probability of {piece} in each test: {outcomes}.",
        step=tests.step + 1,
        piece=quoted_name(spelling(word)),
        outcomes="; ".join(f"{titles[name]}: {text}" for name, text in outcomes.items()),
    )
    all_tests = {titles[name]: shown[name] for name in single}
    all_tests |= {gettext("permutation {number}", number=k): test for k, test in enumerate(tests.permuted, 1)}
    columns = {
        gettext("divergence of weights, bits"): "divergence",
        gettext("total variation"): "total_variation",
        gettext("probability of the word"): "likelihood",
    }
    table = {
        gettext("row"): range(1, len(all_tests) + 1),
        gettext("test"): list(all_tests),
        **{title: [getattr(test, name) for test in all_tests.values()] for title, name in columns.items()},
        gettext("writes"): [spelling(test.piece_id) for test in all_tests.values()],
    }
    return Spec(data, layout, alt, table)


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
        for rank, (piece, p) in enumerate(test.top(_TOP), 1)
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


def shuffled_figure(
    trace: Trace, shuffled: PermutationEffects, *, step: int | None = None, theme: ThemeName = "light"
) -> Spec:
    """Draw a point for each step: max_j alpha_ij on x, the median change of its output on y, both from 0 to 1.

    A point is filled where most permutations write the same piece, and hollow otherwise; points are labelled where
    there is room.

    Args:
        trace: The translation.
        shuffled: Result of `analysis.shuffled`.
        step: Step, 0-based, that is ringed.
        theme: "light" or "dark".

    Returns:
        The figure, whose table has a row for each step. For clicks, the points' `customdata` begins with the 0-based
        step; `layout.meta` has `narrowest`, `frame`, and for each step its number (`steps`) and its position
        (`points`).
    """
    ink, x, y, kept = palette(theme), shuffled.largest, shuffled.change, shuffled.kept
    names = [shorten(piece_name(piece), 14) for piece in trace.target_pieces]
    template = gettext(
        "{piece}<br>largest weight {largest}<br>probability change with shuffled weights {change}<br>{kept} of "
        "the shuffles write the same piece",
        piece="%{customdata[1]}",
        largest="%{x:.2f}",
        change="%{y:.2f}",
        kept="%{customdata[2]}",
    )
    symbols = ["circle" if share > 0.5 else "circle-open" for share in kept]
    marker = {"size": 9, "color": ink.decoder, "line": {"width": 2, "color": ink.decoder}, "symbol": symbols}
    steps = points(x, y, marker, name="steps", cliponaxis=False) | {
        "mode": "markers+text",
        "text": _point_labels(shuffled, names),
        "textposition": "middle right",
        "textfont": {"size": 12, "color": ink.decoder},
        "customdata": [[i, escape(names[i]), percent(float(kept[i]))] for i in range(len(names))],
        "hovertemplate": template + "<extra></extra>",
    }
    data = [steps]
    if step is not None:
        ring = {"size": 18, "symbol": "circle-open", "color": ROW_FRAME, "line": {"width": 2.5}}
        data.append(points([x[step]], [y[step]], ring, name="this step", hoverinfo="skip", cliponaxis=False))
    share: Part = {"range": [-0.02, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "zeroline": False, "standoff": 6}
    numbered = list(range(len(names)))
    place = np.stack([x, y], axis=1).round(4).tolist()
    layout = sized_layout(ink, 420, (50, 40, 12, 46), 320, frame=ROW_FRAME, steps=numbered, points=place) | {
        "hovermode": "closest",
        "xaxis": titled_axis(ink, gettext("largest weight of the step"), **share),
        "yaxis": titled_axis(ink, gettext("probability change by shuffling (total variation)"), **share),
    }
    alt = gettext(
        "One point for each of {count} steps. The largest weight of a step lies between {least} and {most}. "
        "Shuffling the weights of a step changes the probabilities by {small} to {large}. {told}",
        count=len(names),
        least=decimal(x.min()),
        most=decimal(x.max()),
        small=decimal(y.min()),
        large=decimal(y.max()),
        told=shuffled_sentence(shuffled),
    )
    table = {
        gettext("step"): range(1, len(names) + 1),
        gettext("target piece"): trace.target_pieces,
        gettext("largest weight"): x.tolist(),
        gettext("change when shuffled"): y.tolist(),
        gettext("share of shuffles with the same piece"): kept.tolist(),
    }
    return Spec(data, layout, alt, table)


def _point_labels(shuffled: PermutationEffects, names: list[str]) -> list[str]:
    """Return the label of each point that has room for it, and "" for the others; isolated points come first.

    The pixels are those of a narrow page: 6.5 for a letter, and 6 before a label for the ring around the step.
    """
    x, y = shuffled.largest * 300, (1 - shuffled.change) * 330
    distances = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distances, np.inf)
    texts = [""] * len(names)
    # Left and right end, height, and the distance of a label from it: first of the points.
    taken = [(left, left + 4, height, 13) for left, height in zip(x, y, strict=True)]
    for i in np.argsort(-distances.min(axis=1), kind="stable").tolist():
        left, right = x[i] + 8, x[i] + 18 + 6.5 * len(names[i])
        if right < 360 and all(
            right <= start or end <= left or abs(y[i] - height) >= least for start, end, height, least in taken
        ):
            texts[i] = f"\u2002{escape(names[i])}"
            taken.append((left, right, y[i], 15))
    return texts


def minimal_change_figure(
    trace: Trace,
    changes: MinimalChange,
    spelling: _Spelling,
    *,
    step: int | None = None,
    theme: ThemeName = "light",
) -> Spec:
    """Draw |alpha' - alpha|_1 of every step, from 0 to 2, as a bar that ends with the piece that would be written.

    Where no change was found, the bar is pale, has full length and ends with ∞.

    Args:
        trace: The translation.
        changes: Result of `analysis.minimal_change`.
        spelling: Function that returns the piece of an id.
        step: Step, 0-based, that is framed.
        theme: "light" or "dark".

    Returns:
        The figure. The bars' `customdata` begins with the 0-based step; `layout.meta` has `narrowest`, `frame`, and the
        row of each step as `heatmap` has it (`steps`, `rows`). The table has a row for each step, with inf where no
        change was found.
    """
    ink, distances, count = palette(theme), changes.distances, len(changes.distances)
    steps, unreachable = list(range(count)), np.isinf(distances).tolist()
    likeliest = [spelling(int(piece)) for piece in changes.first_ids]
    new = ["" if unreachable[i] else spelling(int(changes.second_ids[i])) for i in steps]
    names = axis_labels(map(piece_name, trace.target_pieces), 12)
    before, after = (axis_labels(map(piece_name, pieces), 10) for pieces in (likeliest, new))
    # The piece before the change is named where the step wrote another one.
    before = [f"{before[i]} " if changes.first_ids[i] != trace.target_ids[i] else "" for i in steps]
    texts = [" ∞ " if unreachable[i] else f" {decimal(distances[i])} {before[i]}→ {after[i]} " for i in steps]

    ends = np.where(unreachable, 2.0, distances)
    marker = {
        "color": [ink.quiet if pale else ink.bar for pale in unreachable],
        "opacity": [PALE if pale else 1.0 for pale in unreachable],
    }
    hover = [[i, names[i]] for i in steps]
    template = "%{customdata[1]}<br>|α′ − α| = %{x:.3f}<extra></extra>"
    data = [
        bars(ends, marker, hover, name="minimal-change", hovertemplate=template),
        numbers(ends, texts, label_size(count) - 1, ink),
    ]
    frame = [] if step is None else [rectangle(0, 1, step - 0.5, step + 0.5, ROW_FRAME) | {"xref": "paper"}]
    height = TOP + row_height(count) * count + 8
    layout = sized_layout(ink, height, (96, 96, TOP, 8), 320, frame=ROW_FRAME, steps=steps, rows=steps) | {
        "bargap": 0.42,
        "hovermode": "y",
        "shapes": frame,
        "xaxis": value_axis(ink, gettext("change needed, Σ |Δα|"), [0, 2], tickvals=[0, 0.5, 1, 1.5, 2]),
        "yaxis": label_axis(names, ink, ink.decoder, size=label_size(count)),
    }

    alt = gettext(
        "How much the attention weights of each of {count} steps must change so that another piece is written.",
        count=count,
    )
    if any(unreachable):
        alt += " " + gettext(
            "At {count} of the steps, no change was found that gives another piece.", count=sum(unreachable)
        )
    if not all(unreachable):
        smallest = int(distances.argmin())
        alt += " " + gettext(
            "Step {step}, {name}, needs the smallest change: {distance}.",
            step=smallest + 1,
            name=shorten(piece_name(trace.target_pieces[smallest]), 30),
            distance=decimal(distances[smallest]),
        )
    table = {
        gettext("step"): range(1, count + 1),
        gettext("target piece"): trace.target_pieces,
        gettext("likeliest piece"): likeliest,
        "|α′ − α|": distances.tolist(),
        gettext("new piece"): new,
    }
    return Spec(data, layout, alt, table)
