"""The payloads of the page *To the transformer* by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.records import Maker
from attnviz.ui.transformer import answers, head_records

MAKERS: Mapping[str, Maker] = {**head_records.MAKERS, **answers.MAKERS}
"""By the names in their addresses."""
