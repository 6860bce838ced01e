"""Switch a decoding network to operations that torch can differentiate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ACTIVE: ContextVar[bool] = ContextVar("derivatives are taken", default=False)


@contextmanager
def taking_derivatives() -> Iterator[None]:
    """Make decoding networks use torch's own operations within the context, in this thread."""
    token = _ACTIVE.set(True)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def derivatives_are_taken() -> bool:
    """Return whether `taking_derivatives` is active in this thread."""
    return _ACTIVE.get()
