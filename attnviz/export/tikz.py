"""The heatmap as TikZ for LaTeX documents: vector cells, the document's fonts, one editable line for each cell."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.grid import Grid, grid, rows_of_steps
from attnviz.analysis.labels import shorten
from attnviz.figures.heatmap_parts import axis_names
from attnviz.palette import ColourScale, colour_at, heatmap_scale, letter_colour, palette
from attnviz.text import without_isolates
from attnviz.trace import Aligned
from attnviz.trace.drawing import Face, HeatmapChoices, heatmap_choices

LONGEST_LABEL = 30
"""Characters of the longest label; paper has more space than a page."""

_PREAMBLE = r"""\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{tikz}
% A character that pdfLaTeX's fonts lack is named by its number; LuaLaTeX and XeLaTeX set it.
\providecommand{\codepoint}[1]{\ifdefined\Uchar\Uchar"#1\relax\else\texttt{\small U+#1}\fi}
"""
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "␣": r"\textvisiblespace{}",
    **{character: "\\" + character for character in "{}#$%&_"},
    # In braces, since two of these in a row would form a ligature.
    **{character: "{" + character + "}" for character in "-,'!?"},
}
_FONT_RANGES = (
    (0xA1, 0xAC),
    (0xAE, 0x125),
    (0x128, 0x137),
    (0x139, 0x13E),
    (0x141, 0x148),
    (0x14A, 0x165),
    (0x168, 0x17E),
    (0x218, 0x21B),
    (0x2013, 0x2014),
    (0x2018, 0x201A),
    (0x201C, 0x201E),
    (0x2020, 0x2022),
    (0x2026, 0x2026),
    (0x2030, 0x2030),
    (0x2039, 0x203A),
    (0x20AC, 0x20AC),
    (0x2116, 0x2116),
    (0x2122, 0x2122),
)
"""Ranges of characters beyond ASCII that pdfLaTeX typesets with T1 and textcomp: those of Latin-script languages."""

_LEGEND_CELLS = 40
"""Number of cells that make the colour bar."""
_QUANTITIES: dict[Face, str] = {
    "before": "alpha",
    "after": "the posterior of alpha",
    "difference": "the posterior less alpha",
}
_VALUE_COLOURS = {"#000000": "black", "#ffffff": "white"}
_SYMBOLS: dict[Face, str] = {"before": r"$\alpha$", "after": r"$\alpha'$", "difference": r"$\alpha' - \alpha$"}


def heatmap_tikz(
    trace: Aligned,
    choices: HeatmapChoices | None = None,
    *,
    posterior: NDArray[np.float64] | None = None,
    standalone: bool = True,
    **named: Any,
) -> str:
    r"""Return the heatmap as LaTeX, for pdfLaTeX, LuaLaTeX or XeLaTeX.

    Each cell is a line `\cell{column}{row}{alpha}{colour}`, and the size of all is one length, so that both can be
    edited.

    Args:
        trace: The record.
        choices: As in `figures.heatmap`; there are no margins, and no gold links.
        posterior: As in `figures.heatmap`.
        standalone: Whether to return a document, cropped to the picture; otherwise a `tikzpicture` for `\input`, with
            the packages that it needs in a comment.
        **named: As in `figures.heatmap`.

    Returns:
        The LaTeX source.

    Raises:
        AttnvizError: A choice is unknown.
    """
    chosen = heatmap_choices(choices, **named)
    stops = palette("light").signed_root_scale if chosen.root else palette("light").signed_scale
    if chosen.face != "difference":
        stops = heatmap_scale(chosen.colours)
    cells = grid(trace, chosen.by, chosen.end, chosen.face, posterior)
    row = None if chosen.step is None else rows_of_steps(cells, len(trace.target_pieces))[chosen.step]
    picture = _picture(cells, chosen, stops, row)
    if standalone:
        return (
            f"\\documentclass[border=2pt]{{standalone}}\n{_PREAMBLE}\\begin{{document}}\n{picture}\\end{{document}}\n"
        )
    packages = "".join(f"% {line}\n" for line in _PREAMBLE.splitlines())
    return f"% This picture needs, before \\begin{{document}}:\n{packages}{picture}"


def escape_tex(text: str) -> str:
    """Return `text` escaped for LaTeX; plain apostrophes become curved ones, line breaks spaces."""
    return "".join(_character(character) for character in unicodedata.normalize("NFC", text))


def _character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    number = ord(character)
    if character.isspace() or (not character.isprintable() and number < 0xA0):
        return " "
    if number < 0x7F or any(first <= number <= last for first, last in _FONT_RANGES):
        return character
    return f"\\codepoint{{{number:04X}}}"


def _picture(cells: Grid, choices: HeatmapChoices, stops: ColourScale, row: int | None) -> str:
    """Return the cells with labels and legend; `row` is framed."""
    rows, columns = cells.alpha.shape
    name = _QUANTITIES[cells.face]
    quantity, root = f"the square root of {name}" if choices.root else name, choices.root
    shades, units = _shades(cells, root), "words" if choices.by == "words" else "pieces"
    if cells.merged:
        quantity += ", averaged over steps and summed over source pieces"
    lines = [
        f"% Alignment: {columns} source {units} across, {rows} target {units} down; the colour is that of {quantity}.",
        "\\begin{tikzpicture}[x=5mm, y=-5mm]  % the size of a cell",
        # Each cell is slightly wider than its place; otherwise viewers show gaps between cells.
        r"\newcommand{\cell}[4]{\definecolor{heat}{HTML}{#4}\fill[heat] (#1,#2) rectangle ++(1.01,1.01);}  % #3: "
        + name,
    ]
    lines += [
        _label(f"({j + 0.5},-0.15)", "rotate=60, anchor=west", name)
        for j, name in axis_names(cells.source, cells.source_brackets).items()
    ]
    lines += [
        _label(f"(-0.15,{i + 0.5})", "anchor=east", name)
        for i, name in axis_names(cells.target, cells.target_brackets).items()
    ]
    lines += [f"\\draw[black!60] ({j + 0.1},-0.1) -- ({k + 0.9},-0.1);" for j, k, _ in cells.source_brackets]
    lines += [f"\\draw[black!60] (-0.1,{i + 0.1}) -- (-0.1,{k + 0.9});" for i, k, _ in cells.target_brackets]
    lines += [
        f"\\cell{{{j}}}{{{i}}}{{{cells.shown[i, j]:.4f}}}{{{_hex(stops, float(shades[i, j]))}}}"
        for i in range(rows)
        for j in range(columns)
    ]
    if choices.values:
        lines += [
            f"\\node[text={_VALUE_COLOURS[letter_colour(colour_at(stops, float(shades[i, j])))]}, font=\\tiny] "
            f"at ({j + 0.5},{i + 0.5}) {{${cells.shown[i, j]:.2f}$}};"
            for i in range(rows)
            for j in range(columns)
        ]
    lines.append(f"\\draw[black!60, line width=0.4pt] (0,0) rectangle ({columns},{rows});")
    if row is not None:
        lines.append(f"\\definecolor{{heat}}{{HTML}}{{{palette('light').decoder[1:].upper()}}}")
        lines.append(f"\\draw[heat, line width=1.2pt] (0,{row}) rectangle ({columns},{row + 1});")
    lines += _legend(cells, stops, root)
    return "\n".join([*lines, "\\end{tikzpicture}"]) + "\n"


def _label(position: str, options: str, name: str) -> str:
    label = escape_tex(
        without_isolates(shorten(name, LONGEST_LABEL))
    )  # LaTeX has no glyph for an isolate (Unicode bidi)
    return f"\\node[{options}, inner sep=1pt, font=\\strut] at {position} {{{label}}};"


def _shades(cells: Grid, root: bool) -> NDArray[np.floating]:
    """Return the position of each cell on its colour scale, in [0, 1]; a difference's scale itself has the root."""
    if cells.face == "difference":
        low, high = cells.range
        return (cells.shown - low) / (high - low)
    return np.sqrt(cells.shown) if root else cells.shown


def _legend(cells: Grid, stops: ColourScale, root: bool) -> list[str]:
    """Return the colour bar below the cells, right-aligned with them where there is room."""
    (rows, columns), width = cells.alpha.shape, 6
    left, top, side = max(columns - width, 0), rows + 0.5, width / _LEGEND_CELLS
    lines = [
        f"\\definecolor{{heat}}{{HTML}}{{{_hex(stops, (k + 0.5) / _LEGEND_CELLS)}}}"
        f"\\fill[heat] ({left + k * side:.3f},{top}) rectangle ++({side * 1.05:.3f},0.3);"
        for k in range(_LEGEND_CELLS)
    ]
    lines.append(f"\\draw[black!60, line width=0.4pt] ({left},{top}) rectangle ++({width},0.3);")
    for alpha, position in _ticks(cells, root):
        x, label = left + width * position, f"${alpha:g}$" if alpha < 0 else f"{alpha:g}"
        lines.append(f"\\node[anchor=north, inner sep=2pt, font=\\scriptsize] at ({x:.3f},{top + 0.3}) {{{label}}};")
    symbol = _SYMBOLS[cells.face]
    lines.append(f"\\node[anchor=east, inner sep=4pt, font=\\scriptsize] at ({left},{top + 0.15}) {{{symbol}}};")
    return lines


def _ticks(cells: Grid, root: bool) -> list[tuple[float, float]]:
    """Return the numbers beside the colour bar, each with its position from 0 to 1."""
    if cells.face == "difference":
        return list(zip(np.linspace(*cells.range, 5).tolist(), (0, 0.25, 0.5, 0.75, 1), strict=True))
    if root:
        return [(number, number**0.5) for number in (0, 0.05, 0.25, 0.5, 1)]
    return [(number, number) for number in (0, 0.25, 0.5, 0.75, 1)]


def _hex(stops: ColourScale, value: float) -> str:
    """Return the colour of `value`, in [0, 1], as LaTeX's six hexadecimal digits."""
    return colour_at(stops, value)[1:].upper()
