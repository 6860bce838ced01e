"""The pages of the app, each in a module `*_page`, and their sections. No page imports another."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the server imports this before it can draw anything
    from attnviz.ui.chrome import Page

PAGE_NAMES = ("translate", "why", "learns", "transformer", "lab", "corpus")
"""Names of the pages, in the order of the navigation: `lab` is `LAB_PAGE` in `lab_page`."""
PATHS = ("", *PAGE_NAMES[1:])
"""Their paths in the address."""


_IMPORTING = threading.Lock()
"""A lock of its own: a page is drawn while another thread imports PyTorch under `attnviz.extras.IMPORTING`."""


def all_pages() -> list[Page]:
    """Import the pages, whose modules register the payloads that they make, and return them.

    What draws a page calls this before it imports anything else: see `attnviz.extras.IMPORTING`.
    """
    with _IMPORTING:
        return [getattr(import_module(f"{__name__}.{name}_page"), f"{name.upper()}_PAGE") for name in PAGE_NAMES]
