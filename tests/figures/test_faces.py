"""Faces of the heatmap (before, after, difference): values, colours, hover text, margins and tables."""

from functools import partial

import numpy as np
import pytest

from attnviz import Trace, analysis, figures
from attnviz.analysis.grid import FACES
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.numbers import decimal, signed
from attnviz.languages import language
from attnviz.palette import palette
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.snapshots import refusal, without_numbers


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCES[4], target=SENTENCES[5])


@pytest.fixture(scope="module")
def weights(model_folder) -> dict[str, np.ndarray]:
    return dict(analysis.load_weights(model_folder))


@pytest.mark.parametrize("face", ["after", "difference"])
def test_a_face_is_drawn_from_the_posterior(trace, weights, face) -> None:
    posterior = analysis.posterior(trace, weights)
    figure = figures.heatmap(trace, end=True, face=face, weights=weights, margins=True).figure()
    image = figure.data[0]
    expected = posterior if face == "after" else posterior - trace.alignment
    np.testing.assert_allclose(image.z, expected)
    if face == "difference":
        ink = palette("light")
        assert image.zmin == -image.zmax
        assert np.abs(image.z).max() <= image.zmax
        assert [colour for _, colour in image.colorscale] == [ink.minus, ink.paper, ink.plus]
    else:
        assert (image.zmin, image.zmax) == (0, 1)
    sums, bits = (np.array(figure.data[k][axis]) for k, axis in ((1, "y"), (2, "x")))
    np.testing.assert_allclose(sums, expected.sum(axis=0))
    for bars, axis in ((sums, figure.layout.yaxis2), (bits, figure.layout.xaxis2)):
        assert min(axis.range) <= bars.min()
        assert bars.max() <= max(axis.range)


@pytest.mark.parametrize("face", ["after", "difference"])
def test_the_hover_text_has_both_numbers(trace, weights, face) -> None:
    posterior = analysis.posterior(trace, weights)
    text = figures.heatmap(trace, end=True, face=face, weights=weights).figure().data[0].text
    for i, j in ((0, 0), (2, 3), (-1, -1)):
        assert (
            f"Before the word: α = {trace.alignment[i, j]:.4f}<br>After the word: α′ = {posterior[i, j]:.4f}"
            in (text[i][j])
        )


@pytest.mark.usefixtures("each_language")
def test_table_and_alt_text_describe_the_face(trace, weights, snapshot) -> None:
    tables = {
        face: figures.heatmap(trace, by="words", face=face, weights=weights, margins=True).frame() for face in FACES
    }
    body = {face: table.to_numpy()[:-1, :-1] for face, table in tables.items()}
    np.testing.assert_allclose(body["after"] - body["before"], body["difference"], atol=1e-6)
    assert [table.index[-1] for table in tables.values()] == ["Σ α", "Σ α′", "Σ (α′ − α)"]
    alts = [figures.heatmap(trace, by="words", face=face, weights=weights).alt for face in FACES]
    assert [without_numbers(alt) for alt in alts] == snapshot
    colon = ":" if language() == "en" else "\u00a0:"
    strongest = trace.words().source[int(body["after"][0].argmax())]
    assert f"{strongest}{colon} {decimal(body['after'][0].max())}" in alts[1]
    assert signed(body["difference"].max()) in alts[2]


def test_faces_are_refused_without_weights_or_attention(trace, weights, snapshot) -> None:
    unattending = synthetic.trace(attention="none")
    draws = (partial(figures.heatmap, trace), partial(figures.heatmap, unattending, weights=weights))
    assert [refusal(partial(draw, face=face)) for face in ("after", "difference") for draw in draws] == snapshot


@pytest.mark.parametrize("end", [True, False])
def test_margins_are_coverage_and_entropy_of_pieces_and_of_words(end: bool) -> None:
    trace = synthetic.trace("Extraordinary things happen .", "Des choses extraordinaires arrivent .")
    words = trace.words()
    of_words = [entropy(trace.alignment)[list(group)].mean() for group in words.target_groups]
    shown = slice(None) if end else slice(-1)
    for by, weights, bits in (
        ("steps", trace.alignment, entropy(trace.alignment)),
        ("words", words.alignment, np.array(of_words)),
    ):
        figure = figures.heatmap(trace, by=by, end=end, margins=True, step=1).figure()
        found = {one.name: one for one in figure.data if one.type == "bar"}
        np.testing.assert_allclose(found["coverage"].y, coverage(weights)[shown], atol=1e-6)
        np.testing.assert_allclose(found["entropy"].x, bits[shown], atol=1e-6)
        assert figure.layout.yaxis2.range[0] >= max(found["coverage"].y)
        assert figure.layout.xaxis2.range[1] == pytest.approx(np.log2(len(trace.source_pieces)))
    several = next(i for i, group in enumerate(words.target_groups) if len(group) > 1)
    count = len(words.target_groups[several])
    assert f"mean of its {count} pieces" in found["entropy"].customdata[several]
