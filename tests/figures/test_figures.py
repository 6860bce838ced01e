"""Figures of a translation and of a step: values, sizes, tables, and validation by Plotly."""

import dataclasses

import numpy as np
import pytest

from attnviz import export, figures
from attnviz.export.images import for_print
from attnviz.figures.spec import width
from attnviz.palette import LIGHT
from tests.figures import synthetic

KINDS = ("additive", "general", "none")


@pytest.mark.parametrize("by", ["words", "steps"])
def test_the_heatmap_draws_alpha(by: str) -> None:
    trace = synthetic.trace(target="la maison verte la maison")
    figure = figures.heatmap(trace, by=by, end=True).figure()
    expected = trace.words().alignment if by == "words" else trace.alignment
    np.testing.assert_array_equal(figure.data[0].z, expected)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert [colour for _, colour in figure.data[0].colorscale] == ["#000000", "#ffffff"]
    assert figure.layout.xaxis.side == "top"
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert len(set(figure.layout.yaxis.tickvals)) == len(expected), "a word that occurs twice has two rows"


def test_a_thousand_pieces_and_the_numbers_of_a_step_are_drawn() -> None:
    text = " ".join(["a"] * 1100)
    figure = figures.heatmap(synthetic.trace(text, "un deux"), by="steps").figure()
    assert len(figure.layout.xaxis.ticktext) <= 260
    assert figure.layout.meta["narrowest"] < 4300
    trace = synthetic.trace()
    energies, _, alpha, _, strips = trace.step_figure(2, "attention").data
    np.testing.assert_array_equal(energies.y, trace.energies[2])
    np.testing.assert_array_equal(alpha.y, trace.alignment[2])
    np.testing.assert_allclose(np.sum(strips.z[:-1], axis=0), strips.z[-1], atol=1e-5)
    units = np.array(strips.customdata[0]) - 1
    np.testing.assert_array_equal(strips.z[-1], trace.contexts[2, units])
    strongest = np.argsort(-trace.alignment[2], kind="stable")[:3]
    terms = trace.alignment[2][strongest, None] * trace.annotations[np.ix_(strongest, units)]
    np.testing.assert_allclose(strips.z[:3], terms, atol=1e-6)
    table = export.table(trace, export.FigureOptions(picture="attention", step=2))
    np.testing.assert_array_equal(table["alpha"], trace.alignment[2])
    signs = [LIGHT.minus if energy < 0 else LIGHT.plus for energy in trace.energies[2]]
    assert list(energies.marker.color) == signs
    subject = figures.Subject(trace, 2)
    (*_, printed) = for_print(figures.step_figure(subject, "attention").draw(subject)).data
    assert list(printed.text) == np.ravel(strips.text).tolist(), "files have the numbers too"


COMPOUND = "DONAUDAMPFSCHIFFFAHRTSGESELLSCHAFT"
PIECE = COMPOUND[4:]
"""What the trace has of it in one piece."""


@pytest.mark.parametrize("name", ["attention", "energy", "softmax", "context", "units", "candidates"])
def test_labels_outside_the_page_are_whole_unless_an_option_shortens_them(name: str) -> None:
    trace = synthetic.trace(f"die {COMPOUND} gilt", "it applies")
    trace = dataclasses.replace(trace, top_pieces=(("▁" + COMPOUND,) * 12, *trace.top_pieces[1:]))
    whole, shortened = (trace.step_figure(0, name, **options) for options in ({}, {"longest": 8}))
    axis = "xaxis" if name == "attention" else "yaxis"
    labels, short = (" ".join(figure.layout[axis].ticktext) for figure in (whole, shortened))
    assert PIECE in labels
    assert PIECE not in short
    assert "…" in short
    if axis == "yaxis":
        size = whole.layout.yaxis.tickfont.size
        added = whole.layout.margin.l - shortened.layout.margin.l
        assert whole.layout.margin.l > width(PIECE, size)
        assert whole.layout.meta["narrowest"] == shortened.layout.meta["narrowest"] + added
    else:
        assert whole.layout.height > shortened.layout.height + 100


@pytest.mark.parametrize("kind", KINDS)
def test_the_strips_add_up_to_the_context_vector(kind: str) -> None:
    trace = synthetic.trace("one two three four five six seven eight nine", attention=kind)
    rows = trace.step_figure(1, "context").data[0].z
    if kind == "none":
        assert len(rows) == 1, "nothing is added up"
    else:
        np.testing.assert_allclose(rows[:-1].sum(axis=0), rows[-1], atol=1e-5)
    np.testing.assert_array_equal(rows[-1], trace.contexts[1])
    table = export.table(trace, export.FigureOptions(picture="context", step=1)).to_numpy()
    np.testing.assert_array_equal(table.T, rows)


@pytest.mark.parametrize(("chosen", "rank"), [(15, 12), (3, 0)])
def test_an_unlikely_choice_is_added_with_its_rank(chosen: int, rank: int) -> None:
    base = synthetic.trace()
    trace = dataclasses.replace(base, target_ids=(chosen,) * len(base.target_ids))
    table = export.table(trace, export.FigureOptions(picture="candidates", step=0))
    assert len(table) == 11
    assert table.index[-1] == rank
    assert bool(table["chosen"].iloc[-1])
