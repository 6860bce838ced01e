"""Numbers as they are written in sentences and labels."""

from __future__ import annotations


def signed(amount: float, places: int = 2) -> str:
    """Return a number with its sign, a true minus; what rounds to 0 has none."""
    text = f"{amount:+.{places}f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text[1:]
