"""The heatmap as an HTML table without scripts, for notebooks that are viewed without a kernel."""

from __future__ import annotations

from html import escape

from attnviz.analysis.grid import grid
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal
from attnviz.languages import gettext
from attnviz.text import isolated
from attnviz.trace import Aligned
from attnviz.trace.drawing import By

_CELL_STYLE = "width:1.4em;min-width:1.4em;height:1.4em;padding:0;border:1px solid #3b3935"
_COLUMN_LABEL_STYLE = (
    "writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;padding:0.3em 0;font-weight:normal"
)
_ROW_LABEL_STYLE = "text-align:right;padding:0 0.4em;font-weight:normal;white-space:nowrap"
_TABLE_STYLE = "border-collapse:collapse;width:auto;font:13px/1.2 sans-serif"


def heatmap_html(trace: Aligned, *, by: By = "words", end: bool = True) -> str:
    """Return the heatmap as a table element, black 0 and white 1, with each weight as a tooltip.

    All styles are inline, and labels inherit their colours, so that it fits light and dark pages.

    Args:
        trace: The record.
        by: "words" or "pieces".
        end: Whether to draw `</s>`.

    Returns:
        HTML; without attention, a sentence that says so.
    """
    if not trace.attends:
        sentence = gettext("This model has no attention and no alignment: every step gets the same context vector.")
        return f"<p>{escape(trace.translation)}</p><p>{escape(sentence)}</p>"
    cells = grid(trace, by, end)
    header = "".join(
        f'<th scope="col" style="{_COLUMN_LABEL_STYLE}">{escape(shorten(name))}</th>' for name in cells.source
    )
    rows = "".join(
        f'<tr><th scope="row" style="{_ROW_LABEL_STYLE}">{escape(shorten(word))}</th>'
        + "".join(_cell(word, name, alpha) for name, alpha in zip(cells.source, row, strict=True))
        + "</tr>"
        for word, row in zip(cells.target, cells.alpha.tolist(), strict=True)
    )
    return (
        f'<table style="{_TABLE_STYLE}"><caption style="text-align:left">{escape(trace.translation)}</caption>'
        f'<thead><tr style="vertical-align:bottom"><td></td>{header}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _cell(word: str, name: str, alpha: float) -> str:
    grey = f"{round(255 * min(max(alpha, 0), 1)):02x}" * 3
    tip = escape(f"{isolated(word)} ← {isolated(name)}: {decimal(alpha, 4)}")
    return f'<td title="{tip}" style="background:#{grey};{_CELL_STYLE}"></td>'
