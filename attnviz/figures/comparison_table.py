"""Tables and text alternative of a comparison of two translations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attnviz.analysis.comparison import Comparison
from attnviz.analysis.shared_words import SharedAxis
from attnviz.languages import gettext
from attnviz.wording.comparison import comparison_sentences, default_names
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import signed
from attnviz.wording.weight_names import size_text


def comparison_table(compared: Comparison, names: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return every cell that either translation has, a row each: words, both values, and their difference.

    Words are counted from 1 on the common axes; missing values are nan.
    """
    first_name, other_name = names or default_names()
    rows, columns = np.nonzero(np.isfinite(compared.first) | np.isfinite(compared.other))
    frame: dict[str, Any] = {
        gettext("target word"): _numbered(compared.target, rows),
        gettext("source word"): _numbered(compared.source, columns),
        first_name: compared.first[rows, columns],
        _distinct(other_name, first_name): compared.other[rows, columns],
        gettext("difference"): compared.difference[rows, columns],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(rows) + 1, name=gettext("row")))


def compared_words_table(compared: Comparison, names: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return for each target word on the common axis log p in both, the difference, and `Comparison.moved`.

    Words are counted from 1; values are nan where one translation lacks the word.
    """
    first_name, other_name = names or default_names()
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    frame: dict[str, Any] = {gettext("target word"): list(compared.target.names)}
    if compared.has_probabilities:
        frame |= {
            f"log p, {first_name}": logs[0],
            f"log p, {_distinct(other_name, first_name)}": logs[1],
            gettext("difference"): logs[1] - logs[0],
        }
    if compared.both_attend and compared.face != "difference":
        frame[gettext("total variation of attention")] = compared.moved
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(logs[0]) + 1, name=gettext("row")))


def comparison_alt(compared: Comparison, names: tuple[str, str], *, end: bool = True) -> str:
    """Return the text alternative: contents of the panels, and the cells that differ most.

    `end=False` leaves out `</s>`.
    """
    if compared.both_attend and not compared.has_probabilities:
        start = gettext(
            "“{first}” and “{other}” as heatmaps of {size}, and their difference.",
            first=names[0],
            other=names[1],
            size=size_text("words", len(compared.target.names), len(compared.source.names)),
        )
    elif compared.both_attend:
        start = gettext(
            "“{first}” and “{other}” as heatmaps of {size}, their difference, and log p of each word.",
            first=names[0],
            other=names[1],
            size=size_text("words", len(compared.target.names), len(compared.source.names)),
        )
    else:
        start = gettext("log p of each word in “{first}” and in “{other}”.", first=names[0], other=names[1])
    cells = [
        f"{shorten(compared.target.names[row], 20)} ← {shorten(compared.source.names[column], 20)} "
        f"{signed(float(compared.difference[row, column]))}"
        for row, column in compared.most_changed(5)
        if end or "</s>" not in (compared.target.names[row], compared.source.names[column])
    ]
    if cells:
        start += " " + gettext("The cells that differ most: {listed}.", listed="; ".join(cells))
    return " ".join([start, *comparison_sentences(compared, names)])


def _numbered(axis: SharedAxis, places: Any) -> list[str]:
    return [f"{place + 1} {axis.names[place]}" for place in places]


def _distinct(name: str, other: str) -> str:
    """Return a name that differs from the other, since columns must."""
    return name if name != other else f"{name} (2)"
