"""Taking derivatives through a network in use, which otherwise computes in ways that torch has no derivatives of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TAKEN: ContextVar[bool] = ContextVar("derivatives are taken", default=False)


@contextmanager
def taking_derivatives() -> Iterator[None]:
    """Have a network in use compute by torch's own operations within, in this thread."""
    before = _TAKEN.set(True)
    try:
        yield
    finally:
        _TAKEN.reset(before)


def derivatives_are_taken() -> bool:
    """Return whether derivatives are taken, in this thread."""
    return _TAKEN.get()
