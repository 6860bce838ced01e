"""Control how much freed memory glibc retains and how many compiled matrix products torch caches."""

from __future__ import annotations

import contextlib
import ctypes
import os


def keep_memory(keep: bool = True) -> None:
    """Make glibc keep freed memory for reuse, or return free memory to the system.

    The training loop allocates the same large blocks at every update, and returning them costs a page fault per 4 KiB:
    40 small updates take 32.7 s of processor time with this and 35.8 s without. Preparation and validation allocate
    most of their blocks once: keeping them would add up to 11 GB instead of 3 GB.
    """
    settings = (2**31 - 1, 64 * 2**20, 0) if keep else (128 * 2**10, 128 * 2**10, 65536)
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        for parameter, value in zip((-1, -2, -4), settings, strict=True):  # trim threshold, top pad, mmap count
            libc.mallopt(parameter, value)
    if not keep:
        return_memory()


def return_memory() -> None:
    """Return free memory to the system; by default glibc keeps most of it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def keep_few_shapes() -> None:
    """Limit torch's cache of compiled matrix products to 16 shapes, unless the environment sets a limit.

    For batches of every length it would otherwise hold a thousand entries, 1 GB in all. Call it before torch's first
    product, which reads the limit.
    """
    for name in (
        "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
        "LRU_CACHE_CAPACITY",
    ):  # oneDNN's cache; torch's own
        os.environ.setdefault(name, "16")
