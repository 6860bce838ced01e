"""What is kept of memory: by glibc of what was freed, which may be given back, and by torch of shapes it has met."""

from __future__ import annotations

import contextlib
import ctypes
import os


def keep_memory(keep: bool = True) -> None:
    """Tell glibc to keep freed memory and reuse it, or to return what is free, now and from here on.

    The training loop frees and takes the same large blocks at every update, and returning them costs a page fault per
    4 KiB: 40 small updates take 32.7 s of processor with this and 35.8 s without. Preparation and validation take
    others, most of them once: kept, they would only add up (11 GB where 3 will do).
    """
    settings = (2**31 - 1, 64 * 2**20, 0) if keep else (128 * 2**10, 128 * 2**10, 65536)
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        for parameter, value in zip((-1, -2, -4), settings, strict=True):  # trim threshold, top pad, mmap count
            libc.mallopt(parameter, value)
    if not keep:
        return_memory()


def return_memory() -> None:
    """Give the memory that is free back to the system: glibc keeps most of it, unless it is told."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def keep_few_shapes() -> None:
    """Let torch keep what it compiled for the last few shapes of a product only, where the environment does not say
    otherwise; of batches of every length it would keep a thousand, a gigabyte in all. To be called before torch
    multiplies first, when it reads how many.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):  # oneDNN's own cache; torch's of oneDNN
        os.environ.setdefault(name, "16")
