"""The functions that make the shared payloads of every page, by the payload names in addresses."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.lab import lab_payloads
from attnviz.ui.shared_payloads import Maker
from attnviz.ui.step import step_payloads
from attnviz.ui.transformer import transformer_payloads
from attnviz.ui.why import why_payloads

PAGES = (step_payloads, lab_payloads, why_payloads, transformer_payloads)
"""The modules that have the `MAKERS` of a page; no two have a name in common."""
MAKERS: Mapping[str, Maker] = {name: maker for page in PAGES for name, maker in page.MAKERS.items()}
