"""The payloads of the page *Why attention?* by name, and the functions that make them."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.records import Maker
from attnviz.ui.why.forced import forced_record
from attnviz.ui.why.growth import growth_chart_record, growth_record
from attnviz.ui.why.signals import signals_record

MAKERS: Mapping[str, Maker] = {
    "forced-words": forced_record,
    "signals": signals_record,
    "growing": growth_record,
    "growing-chart": growth_chart_record,
}
"""By the names in their addresses."""
