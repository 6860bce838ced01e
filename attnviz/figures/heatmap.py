"""The heatmap of a translation (Bahdanau et al., Fig. 3): source on top, target at the side.

A translation without attention has a figure of its one context vector instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.gold import GoldLinks, as_gold_links, link_count_texts, link_errors, marker_names, validated
from attnviz.analysis.grid import (
    Bracket,
    Grid,
    LinkKind,
    LinkMarkers,
    check_posterior,
    grid,
    link_markers,
    places_of_pieces,
)
from attnviz.analysis.labels import (
    SYMBOLS,
    decimal,
    face_names,
    merged_cell_text,
    merging_text,
    shorten,
    signed,
    significant,
    size_text,
)
from attnviz.analysis.measures import drifts
from attnviz.analysis.posterior import posterior as posterior_attention
from attnviz.analysis.recomputation import Weights
from attnviz.figures.spec import (
    FRAMED,
    Part,
    Spec,
    Table,
    axis_labels,
    bare_axis,
    bars,
    blank_axis,
    colour_limit,
    cursor,
    escape,
    label_axis,
    label_height,
    label_stride,
    label_width,
    numbered_rows,
    path,
    points,
    rectangle,
    row_frames,
    rows_layout,
    signed_colours,
    sized_layout,
    strips,
    text_at,
    texts_at,
    titled_axis,
    width,
)
from attnviz.languages import format_number, gettext, ngettext
from attnviz.palette import (
    LIGHT,
    MARKER,
    MARKER_EDGE,
    ROW_FRAME,
    ROW_FRAME_WIDTH,
    Colours,
    ColourScale,
    Palette,
    colour_at,
    heatmap_scale,
    letter_colour,
)
from attnviz.text import isolated
from attnviz.trace.drawing import Face, HeatmapChoices, HeatmapOptions, heatmap_choices, step_index
from attnviz.trace.word_link_text import Link

MOST_TEXTS = 10_000
"""Number of cells up to which each has a hover text."""


def heatmap(
    trace: Any,
    choices: HeatmapChoices | None = None,
    *,
    weights: Weights | None = None,
    posterior: NDArray[np.float64] | None = None,
    **named: Unpack[HeatmapOptions],
) -> Spec:
    """Draw alpha_ij: a row for each step i, a column for each source piece j, 0 dark, 1 bright.

    A bracket joins the steps, or pieces, of a word. By words, a row is the mean of the steps of its word, and a column
    the sum of the pieces of its word. A model without attention has the figure of its only context vector instead.

    Args:
        trace: The record.
        choices: How it is drawn.
        weights: Weights of the model that made the trace (`analysis.load_weights`), for a `face` other than "before".
        posterior: Posterior attention (Ty, Tx), where it is already computed.
        **named: Fields of `HeatmapChoices`, in place of those of `choices`.

    Returns:
        The figure. `layout.meta` has the width above which its cells are too wide (`widest`). For clicks and frames, it
        has the first step of each row (`steps`), the row of each step or None (`rows`), the same for source pieces and
        columns (`sources`, `columns`), the `symbol` of the number in a cell, and the colours of the frames of a row and
        a cell (`frame`, `selection_colour`). The table has the target down and the source across, each name preceded by
        its number.

    Raises:
        AttnvizError: A face lacks its posterior, the weights are another model's, or a choice is unknown, or
            a gold link is malformed or not between words of the trace.
    """
    chosen = heatmap_choices(choices, **named)
    if chosen.face != "before" and posterior is None and weights is not None:
        check_posterior(trace)
        posterior = posterior_attention(trace, weights)
    cells = grid(trace, chosen.unit, chosen.end, chosen.face, posterior)
    if not trace.attends:
        return fixed_context(trace, cells, chosen)
    is_difference, positions = cells.face == "difference", len(trace.source_pieces)
    layout = _cells_layout(cells, chosen)
    layout["meta"] |= cursor(cells.steps, cells.pieces, len(trace.target_pieces), positions)
    layout["meta"]["symbol"] = SYMBOLS[cells.face]
    rows, columns = (layout["meta"][name] for name in ("rows", "columns"))
    end, gap = cells.range[1], 1 if max(cells.alpha.shape) <= 32 else 0
    image: Part = {"type": "heatmap", "z": cells.shown, "xgap": gap, "ygap": gap}
    image |= value_scale(cells.face, end, chosen.root, chosen.colours)
    if is_difference:
        image["colorbar"]["ticktext"][-1] = f"{SYMBOLS[cells.face]} = {significant(end)}"
    lines: dict[Link, str] = {}
    gold = validated(as_gold_links(chosen.gold), trace.words()) if chosen.gold else GoldLinks()
    marks: list[Part] = []
    if gold:
        linked = trace.words()
        if posterior is not None and chosen.face != "before":  # false links of the difference are the posterior's
            linked = replace(linked, alignment=linked.merged(posterior))
        markers = link_markers(cells, linked, gold)
        marks, lines = _add_markers(layout, cells, markers, len(link_errors(linked, gold).missed))
    data = [image | _hover(cells, lines)]
    if chosen.values:
        data.append(_values(cells, image, _row_height(layout, cells)))
    if chosen.margins:
        data += _add_margins(layout, cells, positions)
    data += marks
    if not trace.translated and not trace.is_self_attention:  # frames around imported links that are one word off
        words = grid(trace, "words", chosen.end)
        for drift in drifts(words.alpha, words.source, words.target):
            first, last = (words.alpha[row].argmax() for row in (drift.first, drift.last))
            left, right = columns[words.pieces[first][0]], columns[words.pieces[last][-1]]
            top, bottom = rows[words.steps[drift.first][0]], rows[words.steps[drift.last][-1]]
            edges = left - 0.5, right + 0.5, top - 0.5, bottom + 0.5
            layout["shapes"].append(rectangle(*edges, "minus", ROW_FRAME_WIDTH))
    step = None if chosen.step is None else step_index(trace, chosen.step)
    layout["shapes"] += row_frames(layout["meta"], step)
    return Spec(data, layout, _alt(cells, chosen, gold), _table(cells, chosen.margins))


def _hover(cells: Grid, marker_lines: Mapping[Link, str]) -> Part:
    """Return the hover texts: both words, the exact alpha, and the line of `marker_lines` for the cell (row, column).

    In a very large grid, only the number.
    """
    template = f"{SYMBOLS[cells.face]} = %{{z:.4f}}<extra></extra>"
    if cells.alpha.size > MOST_TEXTS:
        return {"hovertemplate": template}
    source, target = (axis_labels(names, 60) for names in cells.full_names)
    names, posterior = face_names(), cells.posterior_or_weights

    def text(row: int, column: int) -> str:
        lines = [f"{target[row]} ← {source[column]}"]
        if cells.face != "before":
            before, after = cells.alpha[row, column], posterior[row, column]
            lines.append(f"{names['before']}: α = {decimal(before, 4)}")
            lines += [f"{names['after']}: α′ = {decimal(after, 4)}", f"α′ − α = {signed(after - before, 4)}"]
        merged = merged_cell_text(len(cells.steps[row]), len(cells.pieces[column]))
        return "<br>".join(filter(None, [*lines, merged, marker_lines.get((row, column))]))

    rows, columns = map(range, cells.alpha.shape)
    texts = {"text": [[text(row, column) for column in columns] for row in rows]}
    return texts | ({"hovertemplate": f"%{{text}}<br>{template}"} if cells.face == "before" else {"hoverinfo": "text"})


def _cells_layout(cells: Grid, chosen: HeatmapChoices) -> Part:
    """Return the layout of a heatmap of `cells`, (rows, columns).

    `layout.meta` has the width above which cells exceed ASPECT (`widest`).
    """
    (rows, columns), longest = cells.alpha.shape, chosen.longest
    # Smaller cells have no room for a label, so the figure scrolls instead.
    row = np.clip(340 / rows, min(16, LARGEST_SIDE / rows), 44)
    target_axis, target_room = words_axis(cells.target, cells.target_brackets, "decoder", longest)
    source_axis, label = words_axis(cells.source, cells.source_brackets, "encoder", longest, across=True)
    left, right, labelled = int(target_room) + 16 + _BRACKET_ROOM * bool(cells.target_brackets), 12, label + 8
    horizontal = labelled < ASPECT * row and left + right + columns * labelled <= PHONE
    angle = 0 if horizontal else -90 if columns > 20 else -50
    size = source_axis["tickfont"]["size"]
    top = label_height(label, size, angle) + 10 + _BRACKET_ROOM * bool(cells.source_brackets)
    column = 34 if chosen.values else 12
    if horizontal:
        column = max(column, int(label) + 6)
    if angle == -50:  # the cosine is 0.64; the labels of the last columns end beyond the cells
        names = axis_names(cells.source, cells.source_brackets).items()
        ends = (0.64 * width(shorten(name, longest), size) - (columns - 1 - place) * column for place, name in names)
        right += int(max(ends))
    inner, sides, gap = min(column * columns, LARGEST_SIDE), left + right, CELL_GAP_COLOUR
    if cells.face == "difference":
        gap = "line"
    elif heatmap_scale(chosen.colours)[0][1] == "#ffffff":  # cells of 0 are light
        gap = LIGHT.line
    widest = max(round(ASPECT * row * columns), inner, _COLOUR_BAR_LENGTH + 20)
    return rows_layout(
        target_axis | FRAMED,
        row,
        (left, right, top, 44),
        sides + inner,
        source_axis | FRAMED | {"side": "top", "tickangle": angle},
        widest=sides + widest,
    ) | {"plot_bgcolor": gap, "shapes": _brackets(cells)}


def _row_height(layout: Part, cells: Grid) -> float:
    """Return the height of a row in pixels in a `cells_layout`."""
    return float(layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]) / len(cells.target)


def value_scale(face: Face, end: float, root: bool, colours: Colours) -> Part:
    """Return the colours of shares, from 0 to `end`, or of signed differences, from -`end`, with their colour bar.

    With `root`, colours follow the square root.
    """
    scale: ColourScale | str
    if face == "difference":
        low, scale = -end, "signed_root_scale" if root else "signed_scale"
        positions = np.linspace(-end, end, 5).tolist()
        labels = [format_number(tick, "+.2g") if tick else "0" for tick in positions]
    else:
        low, scale, positions = 0, heatmap_scale(colours, root=root), [0, 0.25, 0.5, 0.75, 1]
        labels = [f"{SYMBOLS[face]} = 0", *map(significant, positions[1:])]
    return {"zmin": low, "zmax": end, "colorscale": scale, "colorbar": colour_bar(positions, labels)}


def colour_bar(positions: Sequence[float], labels: Sequence[str]) -> Part:
    """Return the colour bar below a heatmap, with `labels` at `positions` of its scale."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "xpad": 0,
        "ypad": 8,
        "thickness": 8,
        "lenmode": "pixels",
        "len": _COLOUR_BAR_LENGTH,
        "outlinecolor": "line",
        "tickvals": [*positions],
        "ticktext": [*labels],
        "tickfont": {"size": 11, "color": "quiet"},
    }


def _alt(cells: Grid, chosen: HeatmapChoices, gold: GoldLinks) -> str:
    """Return the text alternative: size, and the strongest cell of each row, or of the difference the largest gains."""
    write = signed if cells.face == "difference" else decimal
    listed = [
        gettext(
            "{target} on {source}: {alpha}",
            target=shorten(word, 30),
            source=shorten(cells.source[row.argmax()], 30),
            alpha=write(row.max()),
        )
        for word, row in zip(cells.target[:60], cells.shown, strict=False)
    ]
    shown = "; ".join([*listed, "…"] if len(cells.target) > 60 else listed)
    if gold:
        shown += ". " + gettext(
            "The heatmap also shows {sure} and {possible}, marked by hand",
            **link_count_texts(len(gold.sure), len(gold.possible)),
        )
    size = size_text(chosen.unit, len(cells.target), len(cells.source))
    if cells.merged:
        size = gettext("{size} (weights of words: {merging})", size=size, merging=merging_text())
    return gettext(
        {
            "before": "Alignment of {size}. Largest weights: {shown}.",
            "after": "Posterior attention (after the word) of {size}. Largest values: {shown}.",
            "difference": "Change of the alignment of {size}, α′ (after the word) minus α (before the word). Largest "
            "gains: {shown}.",
        }[cells.face],
        size=size,
        shown=shown,
    )


def _table(cells: Grid, margins: bool) -> Table:
    """Return the numbers; with `margins`, a last column has the entropies, and a last row the sums, of the face."""
    # Words differ by their numbers.
    rows, columns = (
        [f"{number} {isolated(name)}" for number, name in enumerate(names, 1)] for names in (cells.target, cells.source)
    )
    shown: dict[str, Any] = dict(zip(columns, cells.shown.T, strict=True))
    if margins:
        rows.append("Σ (α′ − α)" if cells.face == "difference" else f"Σ {SYMBOLS[cells.face]}")
        sums = cells.covered.astype(cells.shown.dtype)
        shown = {name: np.append(shown[name], total) for name, total in zip(columns, sums, strict=True)}
        shown |= {_entropy_title(cells): [*cells.entropies, np.nan]}
    corner = gettext("target \\ source")
    return {f"{corner} ({merging_text()})" if cells.merged else corner: rows, **shown}


ASPECT = 1.5
"""Largest ratio of width to height of a cell; wider cells would look like bars."""
LARGEST_SIDE = 4000
"""Pixels of all rows or columns; larger canvases fail in browsers, so cells shrink and only some are labelled."""
PHONE = 358
"""Pixels of a figure on a phone; where it would be wider, the labels of its columns are slanted."""
_COLOUR_BAR_LENGTH = 190
"""Pixels of the colour bar, for which the figure must be wide enough."""


def _values(cells: Grid, image: Part, row_height: float) -> Part:
    """Return the number of each cell of `image`, in black or white; 0 where it rounds to 0."""
    low, high, scale = image["zmin"], image["zmax"], image["colorscale"]
    shades = ((image["z"] - low) / (high - low)).ravel()
    rows, columns = np.indices(cells.shown.shape)
    write = signed if cells.face == "difference" else decimal
    texts = [write(number) if abs(number) >= 0.005 else "0" for number in cells.shown.ravel()]

    def colours(ink: Palette) -> list[str]:
        stops = getattr(ink, scale) if isinstance(scale, str) else scale
        return [letter_colour(colour_at(stops, shade)) for shade in shades]

    size = 12 if row_height >= 20 else 10
    return texts_at(columns.ravel(), rows.ravel(), texts, size, colours, name="values")


def axis_names(names: Sequence[str], brackets: Sequence[Bracket]) -> dict[float, str]:
    """Return the label at each position of an axis: that of a row, or of a word in the middle of its rows."""
    labels: dict[float, str] = dict(enumerate(names))
    for first, last, word in brackets:
        for piece in range(first, last + 1):
            del labels[piece]
        labels[(first + last) / 2] = word
    return dict(sorted(labels.items()))


def words_axis(
    names: Sequence[str],
    brackets: Sequence[Bracket],
    colour: str,
    longest: int,
    *,
    across: bool = False,
    pixels: float = 3900,
) -> tuple[Part, float]:
    """Return a `label_axis` with words and pieces of words, and the width in pixels of its widest label.

    The labels are in `colour` and have at most `longest` letters; as many are drawn as fit the `pixels` of the axis.
    """
    labels, count = axis_names(names, brackets), len(names)
    ends = {"range": [-0.5, count - 0.5] if across else [count - 0.5, -0.5], "ticks": ""}
    standoff = {"ticklabelstandoff": _BRACKET_ROOM} if brackets else {}
    size, stride = _font_size(count), label_stride(len(labels), pixels)
    shown = axis_labels(labels.values(), longest)
    axis = label_axis(shown, colour, [*labels], size, across=across, stride=stride, **ends | standoff)
    return axis, label_width(labels.values(), size, longest)


def _brackets(cells: Grid) -> list[Part]:
    """Return the brackets of the words of several rows or columns, one shape in each margin.

    They are below the cells: the page copies this layer to where labels stay in sight (`frozen_labels.js`).
    """
    near, far, inset = 3, 6, 0.36  # pixels from the cells to both ends of its lines, and half its height in a row
    shapes = []
    for axis, brackets, sign, edge, colour in (
        ("x", cells.target_brackets, -1, 0, "decoder"),  # at the left of the rows
        ("y", cells.source_brackets, 1, 1, "encoder"),  # above the columns
    ):
        path = ""
        for first, last, _ in brackets:
            start, end = first - inset, last + inset
            corners = [(start, near), (start, far), (end, far), (end, near)]
            path += "M" + "L".join(
                f"{sign * pixels},{place}" if axis == "x" else f"{place},{pixels}" for place, pixels in corners
            )
        if path:
            place = {f"{axis}ref": "paper", f"{axis}sizemode": "pixel", f"{axis}anchor": edge}
            line = {"color": colour, "width": 1}
            shapes.append({"type": "path", "layer": "below", "path": path, "line": line} | place)
    return shapes


def _font_size(count: int) -> int:
    """Return the font size of the labels of `count` rows or columns, in pixels."""
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11


_BRACKET_ROOM = 8
"""Pixels of a margin for brackets."""

CELL_GAP_COLOUR = "#3b3935"
"""Colour between cells: too dark for a weight, light enough to separate two black cells."""

_BAR_HEIGHT, _GAP, _HEATMAP_SHARE = 44, 8, 0.87
"""Pixels of the bars below the heatmap and of the gap above them; share of the width for the heatmap."""


def _add_margins(layout: Part, cells: Grid, positions: int) -> list[Part]:
    """Shrink the heatmap of `layout`, and return the bars beside it: sums on `y2`, below, and entropies on `x2`.

    Both are from 0 on; in a difference they extend to both sides of 0, gains upwards.
    """
    is_difference, symbol, covered = cells.face == "difference", SYMBOLS[cells.face], cells.covered.tolist()
    write = signed if is_difference else decimal
    if is_difference:
        most_sum, most_bits = (max(np.abs(all_).max(), 0.1) * 1.04 for all_ in (cells.covered, cells.entropies))
        sums, sum_range, bits_range = [-most_sum, 0, most_sum], [-most_sum, most_sum], [-most_bits, most_bits]
    else:
        most_sum, most_bits = max(covered), np.log2(positions) or 1.0
        sums, sum_range, bits_range = [0, most_sum], [most_sum * 1.04, 0], [0, most_bits]
    zero = f"Σ {'Δ' if is_difference else symbol}  0"
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BAR_HEIGHT + _GAP) / (inner + _BAR_HEIGHT + _GAP)
    # A plot background covers every panel; the colour between cells must cover the heatmap only.
    (rows, columns), gap = cells.alpha.shape, layout["plot_bgcolor"]
    background = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, gap, 0) | {"fillcolor": gap, "layer": "below"}
    layout |= {
        "height": layout["height"] + _BAR_HEIGHT + _GAP,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": [background, *layout["shapes"]],
        "bargap": 0.25,
        "xaxis": layout["xaxis"] | {"domain": [0, _HEATMAP_SHARE]},
        "yaxis": layout["yaxis"] | {"domain": [bottom, 1]},
        "yaxis2": bare_axis(
            zeroline=True,
            domain=[0, bottom * _BAR_HEIGHT / (_BAR_HEIGHT + _GAP)],
            range=sum_range,
            tickvals=sums,
            ticktext=[write(tick, 1) if tick else zero for tick in sums],
        ),
        "xaxis2": titled_axis(
            _entropy_title(cells),
            11,
            3,
            showgrid=False,
            zeroline=True,
            domain=[_HEATMAP_SHARE + 0.02, 1],
            range=bits_range,
            tickvals=[0, most_bits],
            ticktext=["0", write(most_bits, 1)],
        ),
    }
    for bound in ("narrowest", "widest"):
        layout["meta"][bound] = round(layout["meta"][bound] / _HEATMAP_SHARE)

    source, target = (axis_labels(names, 60) for names in cells.full_names)
    sum_texts = [
        gettext(
            "{name}: {amount} in total (Σ {symbol} over the rows)",
            name=name,
            amount=write(amount),
            symbol=f"({symbol})" if is_difference else symbol,
        )
        for name, amount in zip(source, covered, strict=True)
    ]
    bits_texts = []
    for name, bits, steps in zip(target, cells.entropies.tolist(), cells.steps, strict=True):
        if is_difference:
            text = ngettext(
                "{name}: entropy changes by {bits} bits (α′ minus α)",
                "{name}: entropy changes by {bits} bits (α′ minus α)",
                round(bits, 2),
                name=name,
                bits=signed(bits),
            )
        else:
            spread = ngettext(
                "like a weight spread evenly over {count:.1f} pieces",
                "like a weight spread evenly over {count:.1f} pieces",
                2**bits,
            )
            text = ngettext(
                "{name}: entropy H of {symbol} = {count:.2f} bits (at most {most:.2f}), {wide}",
                "{name}: entropy H of {symbol} = {count:.2f} bits (at most {most:.2f}), {wide}",
                bits,
                name=name,
                symbol=symbol,
                most=np.log2(positions),
                wide=spread,
            )
        if len(steps) > 1:
            text += gettext("<br>mean of its {count} pieces", count=len(steps))
        bits_texts.append(text)
    sum_colour, bits_colour = (
        signed_colours(values) if is_difference else colour
        for values, colour in ((cells.covered, "bar"), (cells.entropies, "decoder"))
    )
    upright = {"orientation": "v", "x": list(range(columns)), "y": covered, "yaxis": "y2"}
    return [
        bars(covered, sum_colour, sum_texts, name="coverage", **upright),
        bars(cells.entropies, bits_colour, bits_texts, name="entropy", xaxis="x2"),
    ]


def _entropy_title(cells: Grid) -> str:
    """Return the title of the entropies of rows."""
    return ("Δ" if cells.face == "difference" else "") + gettext("H, bits")


LINK_SYMBOLS: dict[LinkKind, str] = {"sure": "◉", "possible": "○", "false": "×"}
"""Symbols in the legend; they differ in shape."""


def _add_markers(layout: Part, cells: Grid, markers: LinkMarkers, missed: int) -> tuple[list[Part], dict[Link, str]]:
    """Add the legend of the markers below the heatmap of `layout`, in as many lines as it needs.

    Return the markers, with dark edges and light fill, which are visible on any colour, and a line for the hover text
    of each marked cell (row, column). The markers ignore the pointer, so that hovering reaches the cell. The legend
    says how many of the sure links are `missed`, which are marked like the others.
    """
    margin, narrowest, names = layout["margin"], layout["meta"]["narrowest"], marker_names()
    named = {kind: f"{LINK_SYMBOLS[kind]} {names[kind]}" for kind in markers}
    lines = {cell: named[kind] for kind, marked in markers.items() for cell in marked}
    column = (narrowest - margin["l"] - margin["r"]) / len(cells.source)
    size = np.clip(0.46 * min(_row_height(layout, cells), 2 * column), 7, 15)
    line = max(1.2, 0.14 * size)
    traces: list[Part] = []
    for kind, marked in markers.items():
        symbol = "x-thin-open" if kind == "false" else "circle-open"
        # The line of an open symbol is its colour; the edge is a wider symbol below it.
        layers = {
            f"{kind} edge": {"symbol": symbol, "size": size, "color": MARKER_EDGE, "line": {"width": line + 2.5}},
            kind: {"symbol": symbol, "size": size, "color": MARKER, "line": {"width": line}},
        }
        if kind == "sure":  # a dot on a dark disc, so that links look the same on light and dark cells, hit or missed
            layers["sure edge"] |= {"symbol": "circle", "line": {"width": line + 2.5, "color": MARKER_EDGE}}
            edge = {"width": 1, "color": MARKER_EDGE}
            layers["sure core"] = {"symbol": "circle", "size": 0.44 * size, "color": MARKER, "line": edge}
        rows, places = map(list, zip(*marked, strict=True))
        traces += [points(places, rows, marker, name=name, hoverinfo="skip") for name, marker in layers.items()]

    if missed:
        names["sure"] = ngettext("{link} ({count} missed)", "{link} ({count} missed)", missed, link=names["sure"])
    legend = [""]
    for kind in markers:
        text = f"{LINK_SYMBOLS[kind]}\u00a0{names[kind]}"
        longer = f"{legend[-1]}   {text}" if legend[-1] else text
        if legend[-1] and width(longer, 12) > narrowest - 12:
            legend.append(text)
        else:
            legend[-1] = longer
    below = {"yref": "paper", "yanchor": "top", "xshift": 8 - margin["l"], "yshift": -40, "align": "left"}
    layout["annotations"] = [text_at("<br>".join(legend), 0, 0, **below)]
    height = 18 * len(legend) + 4
    margin["b"] += height
    layout["height"] += height
    return traces, lines


_ENCODER_X, _STRIP_X = 0.1, 0.55
"""Positions in the left half, from 0 to 1: the encoder's line, and the left edge of the vector."""
_ARROW_TIP_X = 0.96
"""Horizontal position of the arrow tips in the right half, from 0 to 1."""


def fixed_context(trace: Any, cells: Grid, chosen: HeatmapChoices) -> Spec:
    """Draw c, (n,), the last forward annotation: computed from all source words in order, and given to every step.

    The source is on the left, in reading order; the vector in the middle, a strip of its n units; the target on the
    right, a row for each row of `cells`, with an arrow from the vector. The chosen step frames its row. `layout.meta`
    has, as that of `heatmap`, `narrowest`, `widest`, `steps`, `rows` and `frame`. The table has one row for each unit.
    """
    vector, rows, sources = trace.contexts[0], len(cells.target), len(cells.source)
    strip = strips(
        vector[:, None],
        colour_limit(vector),
        name="context",
        x=[_STRIP_X, 1],
        y0=1,
        xaxis="x2",
        yaxis="y3",
        hoverinfo="skip",  # otherwise a click on a unit would count as a click on a row
    )
    into_vector = {"size": [5, 10], "color": "encoder", "symbol": ["circle", "triangle-right"]}
    encoder = [
        path(x, y, "encoder", 1.5, mode="lines+markers", marker=marker, xaxis="x2", yaxis="y2")
        for x, y, marker in (
            ([_ENCODER_X] * sources, list(range(sources)), {"size": 5, "color": "encoder"}),
            ([_ENCODER_X, _STRIP_X - 0.03], [sources - 1, sources - 1], into_vector),
        )
    ]
    arrow_ends = [y for row in range(rows) for y in ((rows - 1) / 2, row, None)]
    arrows = path([0, _ARROW_TIP_X, None] * rows, arrow_ends, "context")
    tip = {"symbol": "triangle-right", "size": 9, "color": "context"}
    heads = points([_ARROW_TIP_X] * rows, list(range(rows)), tip, name="heads", hoverinfo="skip")
    texts = [[gettext("{word}: the same vector", word=escape(shorten(word, 60)))] for word in cells.full_names[1]]
    # Reacts to hovering and clicks.
    surface = strips(
        np.zeros((rows, 1)),
        1,
        name="rows",
        x=[0, 1],
        opacity=0,
        text=texts,
        hovertemplate="%{text}<extra></extra>",
    )

    (source_axis, left), (target_axis, right) = (
        words_axis(names, brackets, colour, chosen.longest)
        for names, brackets, colour in (
            (cells.source, cells.source_brackets, "encoder"),
            (cells.target, cells.target_brackets, "decoder"),
        )
    )
    margins = [int(room) + 18 + _BRACKET_ROOM for room in (left, right)]
    highest = max(rows, sources)
    height = 34 + round(highest * np.clip(420 / highest, 16, 44)) + 12
    hidden: Part = blank_axis(0, 1)
    caption = gettext("c, {count} numbers", count=len(vector))
    shown = places_of_pieces(cells.steps, len(trace.target_pieces))
    meta = {"widest": 760, "steps": [steps[0] for steps in cells.steps], "rows": shown, "frame": ROW_FRAME}
    layout = sized_layout(height, (*margins, 34, 12), 330, **meta) | {
        "xaxis": hidden | {"domain": [0.5, 1]},
        "xaxis2": hidden | {"domain": [0, 0.5], "anchor": "y2"},
        "yaxis": target_axis | {"side": "right"},
        "yaxis2": source_axis | {"anchor": "x2"},
        "yaxis3": hidden | {"range": [len(vector) + 0.5, 0.5], "overlaying": "y2", "anchor": "x2"},
        "shapes": [rectangle(_STRIP_X, 1, 0, 1, "context") | {"xref": "x2", "yref": "paper"}],
        "annotations": [text_at(caption, 0.5, 1, "context", 13, yref="paper", xanchor="right", yshift=4)],
    }
    layout["shapes"] += row_frames(meta, chosen.step)
    words, read, written = trace.words(), {*sum(cells.pieces, ())}, {*sum(cells.steps, ())}
    alt = gettext(
        "A single vector for all steps. The encoder reads {count} source words in order. The last encoder "
        "state, a vector of {units} numbers, goes to each of {rows} target words.",
        count=sum(group[0] in read for group in words.source_groups),
        units=len(vector),
        rows=sum(group[0] in written for group in words.target_groups),
    )
    table = numbered_rows({gettext("context vector, the same vector at every step"): vector}, gettext("unit"))
    return Spec([strip, *encoder, arrows, heads, surface], layout, alt, table)
