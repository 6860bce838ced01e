"""Colours, colour scales, opacities and font of every figure, for the light and the dark theme.

Encoder annotations are green, decoder states (and the displayed step) purple, context vectors orange. Signed numbers
run from red (minus) through the background colour to blue (plus). Attention has no hue: a weight is a grey cell from
black 0 to white 1, as in the paper, or the length of a grey bar, the width of a grey ribbon, the shade behind a word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from attnviz.arguments import check_choice
from attnviz.languages import gettext

ThemeName = Literal["light", "dark"]
Colours = Literal["paper", "cividis", "ink", "blues"]
ColourScale = list[tuple[float, str]]

FONT = "Source Sans, Attnviz Sans, Segoe UI, Helvetica Neue, sans-serif"
"""The page's own font first, which Streamlit serves, then common system fonts."""

GREYS: ColourScale = [(0.0, "#000000"), (1.0, "#ffffff")]
"""Colour scale of Fig. 3 of Bahdanau et al.: 0 is black, 1 is white."""

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
"""Perceptually uniform scale that reads the same with and without colour blindness."""

INK: ColourScale = [(0.0, "#ffffff"), (1.0, "#000000")]
"""Dark on white, which saves ink: 0 is white, 1 is black."""

BLUES: ColourScale = [(0.0, "#ffffff"), (0.5, "#8db4dd"), (1.0, "#0b2e60")]
"""Dark blue on white."""


class HeatmapScale(NamedTuple):
    """A colour scale of the heatmap."""

    stops: ColourScale
    name: Callable[[], str]
    """Returns its name on the page."""


SCALES: dict[Colours, HeatmapScale] = {
    "paper": HeatmapScale(GREYS, lambda: gettext("Grey, as in Bahdanau et al.")),
    "cividis": HeatmapScale(CIVIDIS, lambda: gettext("Cividis, safe for colour blindness")),
    "ink": HeatmapScale(INK, lambda: gettext("Black on white")),
    "blues": HeatmapScale(BLUES, lambda: gettext("Blue on white")),
}
"""The colour scales of the heatmap; the first is that of figures and files for which no other is chosen."""
COLOURS = tuple(SCALES)
DEFAULT_COLOURS = COLOURS[0]

ROW_FRAME, CELL_FRAME = "#8662d9", "#2b8a57"
"""Frames of the decoder's row and the encoder's cell on the heatmap, whose cells are black, white or cividis.

Of medium lightness, so that a frame has a contrast of 3:1 with the ends of every scale.
"""

MARKER, MARKER_EDGE = "#ffd24a", "#17130a"
"""Fill and edge of marks on heatmap cells of any colour.

The light fill or the dark edge has a contrast of 3:1 with black, white, cividis and the signed scale.
"""

PALE = 0.8
"""Opacity of muted bars; lower values fall below WCAG's contrast of 3:1 for meaningful graphics."""

QUIET = 0.7
"""Share of the ink colour in secondary text, legible on the page and on the tint of a selected line."""

JOINT = 0.66
"""Share of the ink colour in the line between two pieces of a word; 3:1 on the most shaded word too."""

MOST_SHADE = 0.36
"""Largest share of the ink colour behind a word, for weight 1; more makes words hard to read in the dark theme."""

BAND = 0.16
"""Opacity of the encoder-coloured band below a marked row of bars."""

VEIL = 0.78
"""Opacity of the background colour over strips that are not yet part of the displayed sum."""

LOSER_OPACITY = 0.25
"""Opacity of the smaller unit of a maxout pair."""

STRONGEST = 0.98
"""Quantile of the amounts in a strip at which its colours saturate, so that large units leave the others visible."""

ROW_FRAME_WIDTH, CELL_FRAME_WIDTH = 2.5, 3.5
"""Widths in pixels."""


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS hexadecimal."""

    paper: str
    """Background, and zero on the signed scale."""
    sheet: str
    """Background of exported figures: white in the light theme, as documents are."""
    ink: str
    quiet: str
    """Secondary text and axes."""
    line: str
    """Hairlines."""
    bar: str
    """Quantities without a sign or an owner, such as alpha."""
    encoder: str
    decoder: str
    context: str
    plus: str
    minus: str

    @property
    def signed_scale(self) -> ColourScale:
        """Diverging scale of signed numbers: minus, zero, plus, linear in the number."""
        return [(0.0, self.minus), (0.5, self.paper), (1.0, self.plus)]

    @cached_property
    def signed_root_scale(self) -> ColourScale:
        """Diverging scale of signed numbers: minus, zero, plus, by the square root of the number."""
        return self._root_scale(1)

    @cached_property
    def numbered_scale(self) -> ColourScale:
        """The `signed_root_scale` for cells with white numbers, paler where these would not be legible."""
        return self._root_scale(1 if letter_colour(self.plus) == "#ffffff" else 0.58)

    def _root_scale(self, strongest: float) -> ColourScale:
        """Return a `signed_root_scale` that ends `strongest` of the way to minus and plus."""
        strengths = [step / 8 for step in range(1, 9)]
        minus = [(0.5 - 0.5 * t * t, _mix(self.paper, self.minus, strongest * t)) for t in reversed(strengths)]
        plus = [(0.5 + 0.5 * t * t, _mix(self.paper, self.plus, strongest * t)) for t in strengths]
        return [*minus, (0.5, self.paper), *plus]


def _mix(start: str, end: str, share: float) -> str:
    """Return the colour that is `share` of the way from `start` to `end`, all as #rrggbb."""
    pairs = [(int(start[k : k + 2], 16), int(end[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


LIGHT = Palette(
    paper="#fbfaf6",
    sheet="#ffffff",
    ink="#23211e",
    quiet="#6d6860",
    line="#dcd7cc",
    bar="#565656",
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
    bar="#bababa",
    encoder="#70c898",
    decoder="#b297f2",
    context="#f0a15c",
    plus="#6fb0f0",
    minus="#f08378",
)


def palette(theme: ThemeName) -> Palette:
    """Return the colours of `theme`; raise AttnvizError unless it is "light" or "dark"."""
    check_choice("theme", theme, ("light", "dark"))
    return LIGHT if theme == "light" else DARK


def heatmap_scale(colours: Colours = DEFAULT_COLOURS, *, root: bool = False) -> ColourScale:
    """Return a heatmap's colour scale; raise AttnvizError unless `colours` is one of COLOURS.

    With `root`, it follows the square root of the weight, so that uniform rows are grey, not black.
    """
    check_choice("colours", colours, COLOURS)
    stops = SCALES[colours].stops
    return [((k / 8) ** 2, colour_at(stops, k / 8)) for k in range(9)] if root else stops


def colour_at(scale: ColourScale, share: float) -> str:
    """Return the colour of `scale` at `share`, in [0, 1], as #rrggbb."""
    share = min(max(share, 0.0), 1.0)
    (low, start), (high, end) = next(pair for pair in pairwise(scale) if share <= pair[1][0])
    return _mix(start, end, (share - low) / (high - low))


def letter_colour(cell: str) -> str:
    """Return black or white, whichever has the greater contrast with a cell of the colour `cell`, #rrggbb."""
    channels = (int(cell[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels)
    # Both contrasts are equal at this relative luminance (WCAG 2.2).
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"
