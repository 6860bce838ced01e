"""Table of the functions that make the payloads of the page *Why attention?*, by payload name; used by the server."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.shared_payloads import Maker
from attnviz.ui.why.forced import forced_payload
from attnviz.ui.why.gradient_decay import signals_payload
from attnviz.ui.why.growth import growth_chart_payload, growth_payload

MAKERS: Mapping[str, Maker] = {
    "forced-words": forced_payload,
    "signals": signals_payload,
    "growing": growth_payload,
    "growing-chart": growth_chart_payload,
}
"""By the payload names in addresses."""
