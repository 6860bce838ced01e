"""Table of the functions that make the payloads of *To the transformer*, by payload name; used by the server."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.shared_payloads import Maker
from attnviz.ui.transformer import attention_row, five_models, head_payloads

MAKERS: Mapping[str, Maker] = {**attention_row.MAKERS, **head_payloads.MAKERS, **five_models.MAKERS}
"""By the payload names in addresses."""
