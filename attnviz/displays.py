"""Functions that draw traces or make data frames of them, which methods of records call by `trace.drawing`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Unpack

import numpy as np
import plotly.graph_objects as go

from attnviz import export, figures
from attnviz import lazy_pandas as pd
from attnviz.analysis.gold import word_links
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.weight_shapes import check_fit
from attnviz.arguments import check_each, check_number, check_whole_argument
from attnviz.errors import AttnvizError
from attnviz.export.images import with_label_room
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Aligned, BeamTree, WhatIfs
from attnviz.trace.drawing import (
    LONGEST_LABEL,
    BeamTreeOptions,
    DetailLevel,
    HeatmapChoices,
    HeatmapOptions,
    heatmap_choices,
)
from attnviz.trace.parts import head_choices

_COLUMNS = {
    "alignment": "weight",
    "energies": "energy",
    "head_weights": "weight",
    "cross_alignment": "weight",
    "cross_energies": "energy",
}
"""Column names of quantities; others have their own name."""
_AXES = {("Ty", "Tx"): ("i", "j"), ("L", "H", "Ty", "Tx"): ("layer", "head", "i", "j")}
"""Names of the index columns, by the shape of a quantity."""


def draw_page(
    trace: Aligned,
    choices: HeatmapChoices | None = None,
    *,
    level: DetailLevel = "numbers",
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
) -> str:
    """Return an HTML page with the step view: `export.page_html` describes the arguments."""
    from attnviz.ui.embedded_view import EmbeddedView, view_html

    chosen = heatmap_choices(choices)
    return view_html(EmbeddedView(trace, level, chosen.step or 0, chosen, weights, what_ifs))


def mime_bundle(trace: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return the interactive view of a trace and its alignment as a table, by media types.

    Args:
        trace: The record.
        include: Media types that a notebook asks for; None for all.
        exclude: Media types that it does not ask for.

    Returns:
        What a notebook displays; None where anywidget is not installed.
    """
    if find_spec("anywidget") is None:
        return None
    from attnviz.view.notebook import StepView

    return StepView(trace)._repr_mimebundle_(include=include, exclude=exclude)


def to_frame(record: Aligned) -> pd.DataFrame:
    """Return one row for each step and source piece: `Aligned.to_frame` names the columns.

    Raise AttnvizError where there is no attention.
    """
    shape = ("L", "H", "Ty", "Tx") if head_choices(record) else ("Ty", "Tx")
    found = {
        _COLUMNS.get(quantity.name, quantity.name): getattr(record, quantity.name)
        for quantity in record.arrays
        if quantity.shape == shape
    }
    cells = {name: array for name, array in found.items() if array.size}
    if not record.attends or "weight" not in cells:
        raise AttnvizError(_no_attention())
    axes = dict(zip(_AXES[shape], np.indices(cells["weight"].shape).reshape(len(shape), -1), strict=True))
    target, source = (np.array(pieces, dtype=object) for pieces in (record.target_pieces, record.source_pieces))
    columns = {**axes, "target": target[axes["i"]], "source": source[axes["j"]]}
    columns |= {name: cells[name].ravel() for name in sorted(cells, key="weight".__eq__)}
    if (probabilities := getattr(record, "probabilities", None)) is not None:
        columns["probability"] = probabilities[axes["i"]]
    return pd.DataFrame(columns)


def links_frame(record: Aligned, threshold: float | None = None) -> pd.DataFrame:
    """Return one row for each link between words: `Aligned.links_frame` names the columns.

    Raise AttnvizError where there is no attention.
    """
    if not record.attends:
        raise AttnvizError(_no_attention())
    if threshold is not None:
        check_number(gettext("threshold"), threshold, 1)
    words = record.words().linkable
    rows = [
        (i, j, words.target[i], words.source[j], float(words.alignment[i, j]), possible)
        for j, i, possible in word_links(record, threshold)
    ]
    return pd.DataFrame(sorted(rows), columns=["i", "j", "target", "source", "weight", "possible"])


def _no_attention() -> str:
    return gettext("This model has no attention, so there is no alignment to put into a table.")


__all__ = [
    "draw_beam_tree",
    "draw_heatmap",
    "draw_page",
    "draw_step",
    "links_frame",
    "mime_bundle",
    "table_html",
    "to_frame",
]


def draw_heatmap(
    trace: Aligned, weights: Weights | None, theme: ThemeName, **choices: Unpack[HeatmapOptions]
) -> go.Figure:
    """Return `figures.heatmap` as a Plotly figure."""
    return figures.heatmap(trace, weights=weights, **choices).figure(theme)


def draw_step(
    trace: Aligned,
    step: int,
    picture: str,
    weights: Weights | None = None,
    foil: int | None = None,
    theme: ThemeName = "light",
    longest: int = LONGEST_LABEL,
) -> go.Figure:
    """Return the figure `picture` of 0-based `step`, the name of one of `figures.FIGURES`.

    Labels have at most `longest` letters, and the margins fit them. Raise AttnvizError for another name, where the
    figure needs the model's `weights` and they are not given, and where the vocabulary lacks the `foil`, the id of a
    piece.
    """
    if weights is not None:
        check_each(gettext("model weights"), (weights,), (Mapping,))
        if trace.recurrent:
            check_fit(trace, weights)
    subject = figures.Subject(trace, step, weights, foil=foil, longest=longest)
    figure = figures.step_figure(subject, picture)
    if foil is not None:
        check_whole_argument(gettext("foil"), foil, 0, trace.vocabulary_size - 1)
    return with_label_room(figure.draw(subject)).figure(theme)


def draw_beam_tree(tree: BeamTree, theme: ThemeName, **options: Unpack[BeamTreeOptions]) -> go.Figure:
    """Return a beam search as a tree; `options` as for `figures.beam_tree`."""
    return figures.beam_tree(tree, **options).figure(theme)


def table_html(trace: Aligned) -> str:
    """Return the alignment as an HTML table without scripts."""
    return export.heatmap_html(trace)
