"""The payloads of the page *To the transformer* by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.shared_payloads import Maker
from attnviz.ui.transformer import five_models, head_payloads

MAKERS: Mapping[str, Maker] = {**head_payloads.MAKERS, **five_models.MAKERS}
"""By the names in their addresses."""
