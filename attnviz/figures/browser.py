"""Write constants of the palette as CSS custom properties, for the style sheets of the page."""

from __future__ import annotations

from attnviz import palette

SHARES: dict[str, float] = {"quiet": palette.QUIET, "joint": palette.JOINT}
"""Constants of style sheets: custom properties such as `--quiet-share`, in percent."""


def shares_style() -> str:
    """Return the CSS that defines the shares for the whole page, including components with a shadow root."""
    return ":root { " + " ".join(f"--{name}-share: {100 * value:g}%;" for name, value in SHARES.items()) + " }"
