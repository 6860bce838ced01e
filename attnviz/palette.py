"""The colour grammar of every picture: what a hue means is decided here and nowhere else.

Encoder annotations are green, decoder states (and so the step on show) purple, context vectors orange; signed numbers
run from red (minus) through the paper's own colour to blue (plus).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ThemeName = Literal["light", "dark"]
Colours = Literal["paper", "cividis"]
ColourScale = list[tuple[float, str]]

FONT = '"Source Sans", "Source Sans 3", "Segoe UI", "Helvetica Neue", sans-serif'
"""The page's own face first (Streamlit serves it itself), then what a machine is likely to have."""

GREYS: ColourScale = [(0.0, "#000000"), (1.0, "#ffffff")]
"""The scale of the paper's Fig. 3: black 0, white 1."""

CIVIDIS: ColourScale = [
    (0.0, "#00204c"),
    (0.125, "#00336f"),
    (0.25, "#39486b"),
    (0.375, "#575c6d"),
    (0.5, "#707173"),
    (0.625, "#8a8779"),
    (0.75, "#a69d75"),
    (0.875, "#c4b56c"),
    (1.0, "#ffe945"),
]
"""Even in lightness, and read alike with and without colour blindness."""

ROW_FRAME, CELL_FRAME = "#8662d9", "#2b8a57"
"""Decoder and encoder on the heatmap, whose cells are black, white or cividis in either theme: of a lightness between,
so that a frame stands out against all of them (3:1)."""

MARK, MARK_EDGE = "#ffd24a", "#17130a"
"""Of what marks cells of the heatmap whatever their colour, on black, white, cividis and the signed scale alike: light
within and dark at the edge, one of which stands out (3:1) against any."""

PALE = 0.8
"""Opacity of bars that stand back. Paler, and they would fall below the 3:1 that WCAG asks of what carries meaning."""

PALE_TEXT = 0.86
"""Opacity of words that stand back: paler, and they would fall below the 4.5:1 that WCAG asks of text."""

QUIET = 0.7
"""Share of the ink in secondary text: it is read on the page, and on the tinted ground of a line that is chosen."""

JOINT = 0.66
"""Share of the ink in the line between two pieces of a word, also where the word is greenest (3:1)."""

MOST_GREEN = 0.48
"""Share of the encoder's colour behind a source word of weight 1: more, and the word is hard to read in the dark."""

BAND = 0.16
"""Opacity of the band of the encoder's colour below a row of bars that is marked."""

VEIL = 0.78
"""Opacity of the paper over strips that are not yet added: they carry no number of the sum on show."""

LOST = 0.25
"""Opacity of the unit of a pair that lost the maxout. That it lost is what it has to say, beside the one that won."""

STRONGEST = 0.98
"""Quantile of the amounts in a strip at which its colours end: a single large unit shall not pale all others."""

ROW_FRAME_WIDTH, CELL_FRAME_WIDTH = 2.5, 3.5
"""Pixels."""


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal."""

    paper: str
    """Background, and zero on the signed scale."""
    sheet: str
    """Background of a picture in a file of its own: white where the page is light, as what it is put into will be."""
    ink: str
    quiet: str
    """Secondary text and axes."""
    line: str
    """Hairlines."""
    bar: str
    """A quantity without a sign or an owner, such as alpha."""
    encoder: str
    decoder: str
    context: str
    plus: str
    minus: str

    @property
    def signed(self) -> ColourScale:
        """The diverging scale of signed numbers: minus, zero, plus, as strong as the number."""
        return [(0.0, self.minus), (0.5, self.paper), (1.0, self.plus)]

    @property
    def signed_root(self) -> ColourScale:
        """The diverging scale of signed numbers: minus, zero, plus, as strong as the square root of the number."""
        strengths = [step / 8 for step in range(1, 9)]
        minus = [(0.5 - 0.5 * t * t, _mix(self.paper, self.minus, t)) for t in reversed(strengths)]
        plus = [(0.5 + 0.5 * t * t, _mix(self.paper, self.plus, t)) for t in strengths]
        return [*minus, (0.5, self.paper), *plus]


def _mix(one: str, other: str, share: float) -> str:
    """Return the colour `share` of the way from `one` to `other`, all as #rrggbb."""
    pairs = [(int(one[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


LIGHT = Palette(
    paper="#fbfaf6",
    sheet="#ffffff",
    ink="#23211e",
    quiet="#6d6860",
    line="#dcd7cc",
    bar="#57534c",
    encoder="#23774a",
    decoder="#6a45b5",
    context="#b8560f",
    plus="#2364ad",
    minus="#b93a32",
)
DARK = Palette(
    paper="#17171a",
    sheet="#17171a",
    ink="#eae6de",
    quiet="#a39d92",
    line="#39373a",
    bar="#bdb7ab",
    encoder="#70c898",
    decoder="#b297f2",
    context="#f0a15c",
    plus="#6fb0f0",
    minus="#f08378",
)


def palette(theme: ThemeName) -> Palette:
    """Return the colours of `theme`; raise ValueError unless it is "light" or "dark"."""
    if theme not in ("light", "dark"):
        raise ValueError(f"theme must be light or dark, not {theme!r}")
    return LIGHT if theme == "light" else DARK


def scale(colours: Colours) -> ColourScale:
    """Return the heatmap's scale; raise ValueError unless `colours` is "paper" or "cividis"."""
    if colours not in ("paper", "cividis"):
        raise ValueError(f"colours must be paper or cividis, not {colours!r}")
    return GREYS if colours == "paper" else CIVIDIS
