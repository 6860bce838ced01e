"""The payloads of the page *Why attention?* by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.shared_payloads import Maker
from attnviz.ui.why.forced import forced_record
from attnviz.ui.why.gradient_decay import signals_record
from attnviz.ui.why.growth import growth_chart_record, growth_record

MAKERS: Mapping[str, Maker] = {
    "forced-words": forced_record,
    "signals": signals_record,
    "growing": growth_record,
    "growing-chart": growth_chart_record,
}
"""By the names in their addresses."""
