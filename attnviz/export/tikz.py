"""The heatmap as TikZ for LaTeX documents: vector cells, the document's fonts, one editable line for each cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Unpack

import numpy as np

from attnviz.analysis.grid import Grid, grid, places_of_pieces
from attnviz.analysis.labels import shorten
from attnviz.figures.heatmap import axis_names
from attnviz.palette import ColourScale, colour_at, heatmap_scale, letter_colour, palette
from attnviz.text import with_symbols, without_isolates
from attnviz.trace import Aligned, Array, Face, Floating
from attnviz.trace.drawing import HeatmapChoices, HeatmapOptions, heatmap_choices

_PREAMBLE = r"""\ifdefined\Uchar  % XeLaTeX and LuaLaTeX
  \usepackage{fontspec}
\else
  \usepackage[utf8]{inputenc}
  \usepackage[T1]{fontenc}
  \usepackage{textcomp}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\fi
\usepackage{tikz}
"""
_LETTERS = r"""% XeLaTeX and LuaLaTeX set the letters of a script in the first of its fonts that is installed.
\makeatletter
\providecommand{\letterfont}[3]{% script, fonts, features
  \ifdefined\Uchar
    \@for\candidate:=#2\do{\ifcsname font #1\endcsname\else\IfFontExistsTF{\candidate}{%
      \ifdefined\directlua
        \expandafter\newfontfamily\csname font #1\endcsname{\candidate}[Renderer=HarfBuzz,#3]%
      \else
        \expandafter\newfontfamily\csname font #1\endcsname{\candidate}[#3]%
      \fi}{}\fi}%
  \fi}
\makeatother
\providecommand{\letters}[2]{{\csname font #1\endcsname#2}}
\providecommand{\fromright}[1]{%
  \ifdefined\directlua\textdir TRT#1\else\ifdefined\Uchar\TeXXeTstate=1 \beginR#1\endR\else#1\fi\fi}
% The number of a letter stands in its place where no font has it, and the log says so.
\providecommand{\numbered}[1]{\PackageWarning{attnviz}{No font has the letter U+#1}{\normalfont\tiny\ttfamily U+#1}}
\providecommand{\checkletter}[3]{% script, number, letter
  \ifdefined\Uchar
    \begingroup\csname font #1\endcsname\iffontchar\font`#3 \endgroup\else\endgroup
      \begingroup\lccode`\~=`#3 \lowercase{\endgroup\protected\def~}{\numbered{#2}}\catcode`#3=13
    \fi
  \else
    \expandafter\def\csname u8:\detokenize{#3}\endcsname{\numbered{#2}}%
  \fi}
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

_OTHER = "Symbols"
"""Stands for the script of letters of all scripts that are not in _SCRIPTS."""
_SCRIPTS = {
    "Arabic": "Noto Naskh Arabic,Amiri,Geeza Pro,DejaVu Sans,Arial",
    "CJK": "Noto Serif CJK SC,Songti SC,SimSun,FandolSong-Regular.otf",
    "Cyrillic": "CMU Serif,Noto Serif,Times New Roman,DejaVu Serif",
    "Devanagari": "Noto Serif Devanagari,Kohinoor Devanagari,Nirmala UI,Lohit Devanagari",
    "Greek": "CMU Serif,Noto Serif,Times New Roman,DejaVu Serif",
    "Hangul": "Noto Serif CJK KR,AppleMyungjo,Malgun Gothic",
    "Hebrew": "Noto Serif Hebrew,Arial Hebrew,DejaVu Sans,Arial",
    "Latin": "Noto Serif,Times New Roman,DejaVu Serif",
    "Thai": "Noto Serif Thai,Thonburi,Leelawadee UI,Norasi",
    _OTHER: "Noto Sans Symbols2,Apple Symbols,Segoe UI Symbol,DejaVu Sans",
}
"""Scripts of letters that pdfLaTeX's fonts lack, with fonts that have them; by default Google's Noto fonts."""
_FROM_RIGHT = ("Arabic", "Hebrew")
_JOINED = ("Cf", "Me", "Mn", "Mc", "Zs")
_CONTROLS = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE"),
    *("DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US", "SP", "DEL"),
)
"""Names of the control characters, in the order of their symbols from U+2400."""

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
    posterior: Array | None = None,
    standalone: bool = True,
    **named: Unpack[HeatmapOptions],
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
    row = None if chosen.step is None else places_of_pieces(cells.steps, len(trace.target_pieces))[chosen.step]
    labels = [
        {place: shorten(name, chosen.longest) for place, name in axis_names(names, brackets).items()}
        for names, brackets in ((cells.source, cells.source_brackets), (cells.target, cells.target_brackets))
    ]
    fonts, checks = _letter_fonts([name for axis in labels for name in axis.values()])
    preamble, picture = _PREAMBLE + fonts, _picture(cells, chosen, stops, row, labels)
    if checks:
        picture = f"\\begingroup\n{checks}{picture}\\endgroup\n"
    if standalone:
        return f"\\documentclass[border=2pt]{{standalone}}\n{preamble}\\begin{{document}}\n{picture}\\end{{document}}\n"
    packages = "".join(f"% {line}\n" for line in preamble.splitlines())
    return f"% This picture needs, before \\begin{{document}}:\n{packages}{picture}"


def escape_tex(text: str) -> str:
    """Return `text` for LaTeX: special characters escaped, and letters that need a font of their own marked by script.

    Plain apostrophes become curved ones, line breaks spaces, and control characters their names.
    """
    text = with_symbols(unicodedata.normalize("NFC", text).replace("\n", " "))
    runs = groupby(zip(text, _scripts(text), strict=True), key=itemgetter(1))
    return "".join(_run(script, "".join(character for character, _ in pairs)) for script, pairs in runs)


def _run(script: str, text: str) -> str:
    """Return letters of one script for LaTeX."""
    escaped = "".join(map(_character, text))
    if script in _FROM_RIGHT:
        escaped = f"\\fromright{{{escaped}}}"
    return f"\\letters{{{script}}}{{{escaped}}}" if script else escaped


def _character(character: str) -> str:
    number = ord(character)
    if 0x2400 <= number <= 0x2421:
        return f"{{\\tiny {_CONTROLS[number - 0x2400]}}}"
    return _ESCAPED.get(character) or (" " if character.isspace() else character)


def _scripts(text: str) -> list[str]:
    """Return the script of each character that the fonts of pdfLaTeX lack, empty for others.

    Spaces, marks and joiners belong to the letter before them.
    """
    scripts = [""]
    for character in text:
        if unicodedata.category(character) in _JOINED and (scripts[-1] or not character.isspace()):
            scripts.append(scripts[-1] or _OTHER)
        else:
            scripts.append("" if _is_plain(character) else _script(character))
    return scripts[1:]


def _is_plain(character: str) -> bool:
    """Return whether pdfLaTeX's fonts have a character, or `_character` replaces it."""
    number = ord(character)
    return (
        character in _ESCAPED
        or character.isspace()
        or number < 0x7F
        or 0x2400 <= number <= 0x2421
        or any(first <= number <= last for first, last in _FONT_RANGES)
    )


def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0]
    script = "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA") else name.title()
    return script if script in _SCRIPTS else _OTHER


def _letter_fonts(names: Sequence[str]) -> tuple[str, str]:
    """Return the lines that the letters of `names` need in the preamble, and those that check their fonts."""
    text = with_symbols(without_isolates("".join(unicodedata.normalize("NFC", name) for name in names)))
    letters = {character: script for character, script in zip(text, _scripts(text), strict=True) if script}
    if not letters:
        return "", ""
    fonts = "".join(_font_line(script) for script in sorted({*letters.values()}))
    checks = (
        f"\\checkletter{{{script}}}{{{ord(letter):04X}}}{{{letter}}}%\n"
        for letter, script in sorted(letters.items())
        if not letter.isspace()
    )
    return _LETTERS + fonts, "".join(checks)


def _font_line(script: str) -> str:
    feature = "" if script == _OTHER else f"Script={script}"
    return f"\\letterfont{{{script}}}{{{_SCRIPTS[script]}}}{{{feature}}}\n"


def _picture(
    cells: Grid, chosen: HeatmapChoices, stops: ColourScale, row: int | None, labels: list[dict[float, str]]
) -> str:
    """Return the cells with `labels` of columns and of rows by their places, and legend; `row` is framed."""
    rows, columns = cells.alpha.shape
    name = _QUANTITIES[cells.face]
    quantity = f"the square root of {name}" if chosen.root else name
    shades, units = _shades(cells, chosen.root), "words" if chosen.by == "words" else "pieces"
    if cells.merged:
        quantity += ", averaged over steps and summed over source pieces"
    lines = [
        f"% Alignment: {columns} source {units} across, {rows} target {units} down; the colour is that of {quantity}.",
        "\\begin{tikzpicture}[x=5mm, y=-5mm]  % the size of a cell",
        # Each cell is slightly wider than its place; otherwise viewers show gaps between cells.
        r"\newcommand{\cell}[4]{\definecolor{heat}{HTML}{#4}\fill[heat] (#1,#2) rectangle ++(1.01,1.01);}  % #3: "
        + name,
    ]
    lines += [_label(f"({j + 0.5},-0.15)", "rotate=60, anchor=west", name) for j, name in labels[0].items()]
    lines += [_label(f"(-0.15,{i + 0.5})", "anchor=east", name) for i, name in labels[1].items()]
    lines += [f"\\draw[black!60] ({j + 0.1},-0.1) -- ({k + 0.9},-0.1);" for j, k, _ in cells.source_brackets]
    lines += [f"\\draw[black!60] (-0.1,{i + 0.1}) -- (-0.1,{k + 0.9});" for i, k, _ in cells.target_brackets]
    lines += [
        f"\\cell{{{j}}}{{{i}}}{{{cells.shown[i, j]:.4f}}}{{{_hex(stops, float(shades[i, j]))}}}"
        for i in range(rows)
        for j in range(columns)
    ]
    if chosen.values:
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
    lines += _legend(cells, stops, chosen.root)
    return "\n".join([*lines, "\\end{tikzpicture}"]) + "\n"


def _label(position: str, options: str, name: str) -> str:
    label = escape_tex(without_isolates(name))  # LaTeX has no glyph for an isolate (Unicode bidi)
    return f"\\node[{options}, inner sep=1pt, font=\\strut] at {position} {{{label}}};"


def _shades(cells: Grid, root: bool) -> Floating:
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
