"""Heatmap and table of the attention in one sentence at moments of training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.grid import Grid
from attnviz.analysis.measures import coverage, entropy
from attnviz.figures.build import Spec
from attnviz.figures.cells import cell_sizes
from attnviz.figures.heatmap import cells_layout, colour_bar
from attnviz.figures.labels import literal
from attnviz.figures.template import Slot, Values, filled
from attnviz.languages import gettext, ngettext
from attnviz.palette import ColourScale, ThemeName, palette
from attnviz.trace.snapshots import Snapshots
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, significant
from attnviz.wording.weight_names import size_text

_COLOUR_BAR_TICKS = (0.25, 0.5, 1)
ROOT_GREYS: ColourScale = [((k / 16) ** 2, "#" + 3 * f"{round(255 * k / 16):02x}") for k in range(17)]
"""Grey scale from black 0 to white 1 by the square root of the weight, so that uniform rows are grey, not black."""


def learning_cells(run: Snapshots, sentence: int, moment: int) -> Grid:
    """Return the rows and columns of `sentence` at `moment`, by words."""
    pieces = run.alignments[sentence][moment]
    words = run.sentences[sentence].words(pieces)
    bits = entropy(pieces)
    entropies = np.array([bits[list(group)].mean() for group in words.target_groups])
    return Grid(
        words.source,
        words.target,
        words.alignment,
        "before",
        words.alignment,
        words.target_groups,
        words.source_groups,
        coverage(words.alignment),
        entropies,
    )


def learning_template(run: Snapshots, sentence: int, theme: ThemeName = "light") -> Spec:
    """Return `data` and `layout` of the heatmap of `sentence`, with a Slot for what differs between moments."""
    cells, ink = learning_cells(run, sentence, 0), palette(theme)
    sizes = cell_sizes(cells)
    rows, columns = ([literal(shorten(name, 40)) for name in names] for names in (cells.target, cells.source))
    image = {
        "type": "heatmap",
        "z": Slot("weights"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": ROOT_GREYS,
        "xgap": 1,
        "ygap": 1,
        "text": [[f"{row} ← {column}" for column in columns] for row in rows],
        "hovertemplate": "%{text}<br>α = %{z:.4f}<extra></extra>",
        "colorbar": colour_bar([0, *_COLOUR_BAR_TICKS], ["α = 0", *map(significant, _COLOUR_BAR_TICKS)], ink),
    }
    meta = {"alt": Slot("alt"), "narrowest": sizes.narrowest, "widest": sizes.widest}
    return {"data": [image], "layout": cells_layout(cells, sizes, ink) | {"meta": meta}}


def learning_values(run: Snapshots, sentence: int, moment: int) -> Values:
    """Return the values of the template at a moment: alpha, (target words, source words), and the text alternative."""
    cells = learning_cells(run, sentence, moment)
    strongest = [
        gettext(
            "{target} on {source}: {alpha}",
            target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30),
            alpha=decimal(float(row.max())),
        )
        for word, row in zip(cells.target, cells.alpha, strict=True)
    ]
    alt = ngettext(
        "Alignment after {count} training update, a matrix of {size}. Largest weights: {shown}.",
        "Alignment after {count} training updates, a matrix of {size}. Largest weights: {shown}.",
        run.updates[moment],
        size=size_text("words", len(cells.target), len(cells.source)),
        shown="; ".join(strongest[:60]),
    )
    return {"weights": cells.alpha.astype(np.float64), "alt": alt}


def learning_heatmap(run: Snapshots, sentence: int, moment: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij of `sentence` at `moment`, both 0-based: a row for each target word, a column for each source word.

    The decoder is forced to write the sentence's fixed translation.
    """
    return filled(learning_template(run, sentence, theme), learning_values(run, sentence, moment))


def learning_heatmap_table(run: Snapshots, sentence: int, moment: int) -> pd.DataFrame:
    """Return the numbers of the heatmap: target down, source across, each name preceded by its number."""
    cells = learning_cells(run, sentence, moment)
    return pd.DataFrame(
        cells.alpha,
        index=pd.Index([f"{i} {name}" for i, name in enumerate(cells.target, 1)], name=gettext("target \\ source")),
        columns=[f"{j} {name}" for j, name in enumerate(cells.source, 1)],
    )
