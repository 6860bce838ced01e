"""Figures of perturbation tests: other attention weights of a step; shuffles and minimal changes of all steps."""

from __future__ import annotations

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import decimal, percent, quoted_name, shorten
from attnviz.analysis.perturbation_tests import (
    PermutationEffects,
    PerturbationTests,
    perturbation_results,
    shuffled_sentence,
)
from attnviz.analysis.step_evaluation import MinimalChange, PerturbedStep, Spelling
from attnviz.figures.spec import (
    TOP,
    Part,
    Spec,
    axis_labels,
    bars,
    blank_axis,
    escape,
    frame_of,
    in_colour,
    label_axis,
    label_size,
    line,
    numbered_rows,
    numbers,
    points,
    row_frames,
    row_height,
    rows_layout,
    sized_layout,
    spaced,
    text_at,
    titled_axis,
    value_axis,
)
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.palette import PALE, ROW_FRAME
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


def draw_perturbation_tests(subject: Subject) -> Spec:
    """Draw the perturbation tests of a step, with the attention that makes the word likeliest."""
    tests, best = subject.perturbation_tests, subject.best_attention
    return perturbation_tests_figure(subject.trace, tests, subject.piece_or_id, best, longest=subject.longest or _LABEL)


def perturbation_tests_figure(
    trace: Trace,
    tests: PerturbationTests,
    spelling: Spelling,
    best: PerturbedStep | None = None,
    *,
    width: int = PERTURBATION_WIDTH,
    longest: int = _LABEL,
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
        width: Width of the figure in pixels; as many source pieces are labelled as fit it.
        longest: Letters of the longest label.

    Returns:
        The figure. The table has a row for each test and each permutation: divergence of the weights, change of the
        output, p(y_i), and the piece that would be written.
    """
    real, word, count = tests.real, tests.real.piece_id, len(trace.source_pieces)
    results, source = perturbation_results(tests, spelling, best), list(map(piece_name, trace.source_surfaces))
    single = {name: result for name, result in results.items() if name != "permuted"}
    weights = np.stack([result.test.weights for result in results.values()])  # (rows, Tx)
    base_lines = np.arange(len(results))[:, None] + _WEIGHTS_Y  # (rows, 1)
    bar_places = {name: row + _BAR_Y for row, name in enumerate(results)}
    weight_texts = [
        f"{piece}<br>α = {decimal(weight, 3)}"
        for row in weights
        for piece, weight in zip(axis_labels(source, 40), row, strict=True)
    ]
    likeliest = [
        "<br>".join(f"{escape(shorten(piece_name(spelling(k)), 20))} {percent(p)}" for k, p in result.test.top(_TOP))
        for result in single.values()
    ]
    visible = np.flatnonzero(real.weights >= _VISIBLE)
    dash = {"symbol": "line-ew-open", "size": max(5, min(12, 180 // count)), **_stroke("encoder", 2)}
    permuted = [test.probabilities[word] for test in tests.permuted]
    # Jitter by multiples of the golden ratio, which separate neighbours and are reproducible.
    jitter = bar_places["permuted"] + 0.26 * ((np.arange(len(permuted)) * 0.618) % 1 - 0.5)
    tick = {"symbol": "line-ns-open", "size": 12, **_stroke("ink", 3)}
    right = {"xaxis": "x2", "hoverinfo": "skip"}
    data = [
        bars(
            np.tile(np.arange(count), len(results)),
            "bar",
            weight_texts,
            name="weights",
            orientation="v",
            base=base_lines.repeat(count),
            y=-_BAR_HEIGHT * weights.ravel(),
        ),
        points(
            np.tile(visible, len(results) - 1),
            (base_lines[1:] - _BAR_HEIGHT * real.weights[visible]).ravel(),
            dash,
            hoverinfo="skip",
        ),
        bars(
            [result.probability for result in single.values()],
            "bar",
            likeliest,
            name="probability",
            y=[bar_places[name] for name in single],
            width=0.16,
            xaxis="x2",
        ),
        points(permuted, jitter, {"size": 4, "color": "quiet"}, name="permutations", **right),
        points([results["permuted"].probability], [bar_places["permuted"]], tick, name="median", **right),
    ]

    notes, lines = [], []
    narrow = width < PERTURBATION_WIDTH
    broken = ";<br>" if narrow else "; "  # the outcome of permutations is wider than half a phone
    for row, (name, result) in enumerate(results.items()):
        outcome = broken.join(map(escape, result.outcome.split("; ")))
        drawn = ", " + gettext("drawn as {dash} below", dash=in_colour("━", "encoder")) if name == "real" else ""
        for span, y, text in (
            (_WEIGHTS_SPAN, row + _WEIGHTS_Y, f"<b>{escape(result.title)}</b>{drawn}"),
            (_BARS_SPAN, row + _BAR_Y, outcome),
        ):
            bottom = row + (0.13 if "<br>" in text else -0.12)  # two lines reach neither bar above nor bar below
            notes.append(text_at(text, span[0], bottom, xshift=-2, align="left"))
            lines.append(line(span, (y, y), "line", layer="below"))
        if name != "real":
            ends = row + _BAR_Y - 0.16, row + _BAR_Y + 0.16
            lines.append(line([results["real"].probability] * 2, ends, "encoder", 2, xref="x2"))
    # All pieces are labelled where they fit; otherwise those with the largest weights in any row, far enough apart.
    order = np.argsort(-weights.max(axis=0), kind="stable").tolist()
    distance = _LABEL_DISTANCE * count / (_WEIGHTS_SPAN[1] * (width - _LEFT - _RIGHT))
    labelled = sorted(order[k] for k in spaced(order, distance))
    layout = sized_layout(47 * len(results) + 64, (_LEFT, _RIGHT, 8, 56), 330 if narrow else 612) | {
        "bargap": 0.25,
        "barmode": "overlay",
        "xaxis": label_axis(
            axis_labels((source[j] for j in labelled), longest),
            "encoder",
            labelled,
            11,
            across=True,
            domain=list(_WEIGHTS_SPAN),
            range=[-0.6, count - 0.4],
            tickangle=-90,
        ),
        "xaxis2": titled_axis(
            gettext("probability of {piece}", piece=escape(quoted_name(shorten(spelling(word), 12)))),
            standoff=4,
            domain=list(_BARS_SPAN),
            range=[0, 1],
            tickvals=[0, 0.5, 1],
            ticktext=[percent(p) for p in (0, 0.5, 1)],
            showgrid=False,
            zeroline=False,
        ),
        "yaxis": blank_axis(len(results) - 0.5, -0.6),
        "shapes": lines,
        "annotations": notes,
    }
    alt = gettext(
        "Step {step} with other attention weights. Probability of {piece} in each test: {outcomes}.",
        step=tests.step + 1,
        piece=quoted_name(spelling(word)),
        outcomes="; ".join(f"{result.title}: {result.outcome}" for result in results.values()),
    )
    listed = [(result.title, result.test) for result in single.values()]
    listed += [(gettext("permutation {number}", number=k), test) for k, test in enumerate(tests.permuted, 1)]
    columns = {
        gettext("test"): [name for name, _ in listed],
        gettext("divergence of weights, bits"): [test.divergence for _, test in listed],
        gettext("total variation"): [test.total_variation for _, test in listed],
        gettext("probability of the word"): [test.likelihood for _, test in listed],
        gettext("writes"): [spelling(test.piece_id) for _, test in listed],
    }
    return Spec(data, layout, alt, numbered_rows(columns))


def _stroke(colour: str, width: float) -> Part:
    """Return the properties of a marker that is a line."""
    return {"color": colour, "line": {"width": width, "color": colour}}


def perturbation_tests_likeliest_table(
    tests: PerturbationTests, spelling: Spelling, best: PerturbedStep | None = None
) -> pd.DataFrame:
    """Return p(w) of the likeliest pieces of each test, a row for each piece with its rank.

    Of the permutations, it is the median one.
    """
    rows = [
        (result.title, rank, spelling(piece), p)
        for result in perturbation_results(tests, spelling, best).values()
        for rank, (piece, p) in enumerate(result.test.top(_TOP), 1)
    ]
    columns = [gettext("test"), gettext("rank"), gettext("piece"), gettext("probability")]
    return frame_of(numbered_rows(dict(zip(columns, zip(*rows, strict=True), strict=True))))


def shuffled_figure(trace: Trace, shuffled: PermutationEffects, *, step: int | None = None) -> Spec:
    """Draw a point for each step: max_j alpha_ij on x, the median change of its output on y, both from 0 to 1.

    A point is filled where most permutations write the same piece, and hollow otherwise; points are labelled where
    there is room.

    Args:
        trace: The translation.
        shuffled: Result of `analysis.shuffled`.
        step: Step, 0-based, that is ringed.

    Returns:
        The figure, whose table has a row for each step. For clicks, the points' `customdata` begins with the 0-based
        step; `layout.meta` has `narrowest`, `frame`, and for each step its number (`steps`) and its position
        (`points`).
    """
    x, y, kept = shuffled.largest, shuffled.change, shuffled.kept
    names = [shorten(piece_name(piece), 14) for piece in trace.target_pieces]
    steps = list(range(len(names)))
    hover = gettext(
        "{piece}<br>largest weight {largest}<br>probability change with shuffled weights {change}<br>{kept} of "
        "the shuffles write the same piece",
        piece="%{customdata[1]}",
        largest="%{x:.2f}",
        change="%{y:.2f}",
        kept="%{customdata[2]}",
    )
    symbols = ["circle" if share > 0.5 else "circle-open" for share in kept]
    data = [
        points(
            x,
            y,
            {"size": 9, **_stroke("decoder", 2), "symbol": symbols},
            mode="markers+text",
            cliponaxis=False,
            text=_point_labels(shuffled, names),
            textposition="middle right",
            textfont={"size": 12, "color": "decoder"},
            customdata=[[i, escape(names[i]), percent(kept[i])] for i in steps],
            hovertemplate=hover + "<extra></extra>",
        )
    ]
    if step is not None:
        ring = {"size": 18, "symbol": "circle-open", "color": ROW_FRAME, "line": {"width": 2.5}}
        data.append(points([x[step]], [y[step]], ring, hoverinfo="skip", cliponaxis=False))
    share: Part = {"range": [-0.02, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "zeroline": False, "standoff": 6}
    places = np.stack([x, y], axis=1).round(4).tolist()
    layout = sized_layout(420, (50, 40, 12, 46), 320, frame=ROW_FRAME, steps=steps, points=places) | {
        "xaxis": titled_axis(gettext("largest weight of the step"), **share),
        "yaxis": titled_axis(gettext("probability change by shuffling (total variation)"), **share),
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
    columns = {
        gettext("target piece"): trace.target_pieces,
        gettext("largest weight"): x,
        gettext("change when shuffled"): y,
        gettext("share of shuffles with the same piece"): kept,
    }
    return Spec(data, layout, alt, numbered_rows(columns, gettext("step")))


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
    spelling: Spelling,
    *,
    step: int | None = None,
) -> Spec:
    """Draw |alpha' - alpha|_1 of every step, from 0 to 2, as a bar that ends with the piece that would be written.

    Where no change was found, the bar is pale, has full length and ends with ∞.

    Args:
        trace: The translation.
        changes: Result of `analysis.minimal_change`.
        spelling: Function that returns the piece of an id.
        step: Step, 0-based, that is framed.

    Returns:
        The figure. The bars' `customdata` begins with the 0-based step; `layout.meta` has `narrowest`, `frame`, and the
        row of each step as `heatmap` has it (`steps`, `rows`). The table has a row for each step, with inf where no
        change was found.
    """
    distances, count = changes.distances, len(changes.distances)
    steps, unreachable = list(range(count)), np.isinf(distances)
    likeliest = [spelling(int(piece)) for piece in changes.first_ids]
    new = ["" if unreachable[i] else spelling(int(changes.second_ids[i])) for i in steps]
    names = axis_labels(map(piece_name, trace.target_pieces), 12)
    texts = []
    for i, (before, after) in enumerate(zip(likeliest, new, strict=True)):
        start, end = axis_labels(map(piece_name, (before, after)), 10)
        written = changes.first_ids[i] == trace.target_ids[i]  # else the step wrote another piece
        change = f"→ {end}" if written else f"{start} → {end}"
        texts.append(" ∞ " if unreachable[i] else f" {decimal(distances[i])} {change} ")

    ends, size = np.where(unreachable, 2.0, distances), label_size(count)
    data = [
        bars(
            ends,
            np.where(unreachable, "quiet", "bar").tolist(),
            [[i, names[i]] for i in steps],
            marker={"opacity": np.where(unreachable, PALE, 1).tolist()},
            hovertemplate="%{customdata[1]}<br>|α′ − α| = %{x:.3f}<extra></extra>",
        ),
        numbers(ends, texts, size - 1),
    ]
    layout = rows_layout(
        label_axis(names, "decoder", size=size),
        row_height(count),
        (96, 96, TOP, 8),
        320,
        value_axis(gettext("change needed, Σ |Δα|"), [0, 2], tickvals=[0, 0.5, 1, 1.5, 2]),
        frame=ROW_FRAME,
        steps=steps,
        rows=steps,
    ) | {"bargap": 0.42, "hovermode": "y"}
    layout["shapes"] = row_frames(layout["meta"], step)

    alt = gettext(
        "How much the attention weights of each of {count} steps must change so that another piece is written.",
        count=count,
    )
    if unreachable.any():
        alt += " " + gettext(
            "At {count} of the steps, no change was found that gives another piece.", count=unreachable.sum()
        )
    if not unreachable.all():
        smallest = distances.argmin()
        alt += " " + gettext(
            "Step {step}, {name}, needs the smallest change: {distance}.",
            step=smallest + 1,
            name=shorten(piece_name(trace.target_pieces[smallest]), 30),
            distance=decimal(distances[smallest]),
        )
    columns = {
        gettext("target piece"): trace.target_pieces,
        gettext("likeliest piece"): likeliest,
        "|α′ − α|": distances,
        gettext("new piece"): new,
    }
    return Spec(data, layout, alt, numbered_rows(columns, gettext("step")))
