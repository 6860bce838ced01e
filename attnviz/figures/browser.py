"""The numbers that style sheets share with the figures; those of scripts are in `constants.js`."""

from __future__ import annotations

from attnviz import palette

SHARES: dict[str, float] = {"quiet": palette.QUIET, "joint": palette.JOINT}
"""Of style sheets: each is a custom property, `--quiet-share` and so on, in percent."""


def shares_style() -> str:
    """Return the CSS that defines the shares for the whole page, components that are apart from it included."""
    return ":root { " + " ".join(f"--{name}-share: {100 * value:g}%;" for name, value in SHARES.items()) + " }"
