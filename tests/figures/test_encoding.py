"""What the browser gets of figures: it fills the common part with the values of a step, and has what Python draws."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.figures.encoding import FINEST, common_part, to_json
from attnviz.figures.registry import FIGURES
from attnviz.figures.subject import Subject
from attnviz.model_folder import read_weights
from attnviz.palette import ThemeName
from attnviz.trace.drawing import DetailLevel
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures.payloads import close, plain, unpacked

PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "chart" / "template.js"


@pytest.fixture(scope="module", params=["additive", "none"])
def subjects(request, make_network, tokenizer, tmp_path_factory) -> list[Subject]:
    folder = tmp_path_factory.mktemp("model") / request.param
    save_model(folder, make_network(attention=request.param), tokenizer)
    trace = Translator.load(folder, device="cpu").translate("Two dogs play.", target="Deux chiens jouent.")
    weights = read_weights(folder)
    return [Subject(trace, step, weights) for step in range(len(trace.target_pieces))]


def fill_in_deno(work: list[tuple[str, str]], folder: Path) -> list[Any]:
    """Return the figures that the page's JavaScript, run in Deno, makes of templates and values."""
    program = f'import {{ filled }} from "{PROGRAM.as_uri()}";'
    program += "\nconst plain = (_, part) => (part instanceof Float32Array ? Array.from(part) : part);"
    answer = "JSON.stringify(given.map(([one, of]) => filled(JSON.parse(one), JSON.parse(of))), plain)"
    return list(made_by(program, answer, work, folder))


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("level", ["idea", "everything"])
def test_browser_fills_figures_as_python_draws(subjects, theme: ThemeName, level: DetailLevel, tmp_path) -> None:
    work, drawn = [], []
    for figure in FIGURES:
        if figure.missing(subjects[0]):
            continue
        specs = [figure.draw(replace(subject, level=level)).plotly(theme) for subject in subjects]
        template, values = common_part(specs)
        for own, spec in zip(values, specs, strict=True):
            work.append((to_json(template), to_json(own)))
            drawn.append(spec)
    for made, expected in zip(fill_in_deno(work, tmp_path), drawn, strict=True):
        assert close(unpacked(made), plain(expected))


leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
parts = st.recursive(
    leaves, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("pqr"), part, max_size=3)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("browser")


def test_any_parts_come_back_from_their_common_part(folder) -> None:
    work: list[tuple[str, str]] = []
    given_parts: list[Any] = []

    @given(st.lists(parts, min_size=1, max_size=4))
    def collect(several: list[Any]) -> None:
        template, values = common_part(several)
        given_parts.extend(several)
        work.extend((to_json(template), to_json(own)) for own in values)

    collect()
    assert fill_in_deno(work, folder) == given_parts


def test_what_figures_share_is_sent_once_also_in_long_lists() -> None:
    one, other = ([{"x": np.array([k, 0.0])} for k in range(100)] for _ in range(2))
    other[99] = {"x": np.array([0.0, 1.0])}
    template, values = common_part([one, other])
    assert template[98]["x"] is one[98]["x"]
    assert [own[0].tolist() for own in values] == [[99, 0], [0, 1]]
    shared = {"names": ["a", "b"], "rows": np.arange(6.0).reshape(2, 3)}
    template, values = common_part([shared | {"x": np.array([k, np.nan])} for k in range(3)])
    assert template["names"] == ["a", "b"]
    assert template["rows"] is shared["rows"]
    assert template["x"] == {"slot": 0}
    assert [own[0][0] for own in values] == [0, 1, 2]


def test_floats_are_sent_in_single_precision_and_integers_unchanged() -> None:
    sent = json.loads(
        to_json({"x": np.array([0.5, np.nan]), "y": np.arange(3), "z": np.float32(0.25), "none": np.array([])})
    )
    assert unpacked(sent) == {"x": [0.5, None], "y": [0, 1, 2], "z": 0.25, "none": []}
    assert sent["x"]["dtype"] == "f4"
    with pytest.raises(TypeError):
        to_json({"x": object()})


def test_strips_are_quantised_within_their_resolution(folder) -> None:
    numbers = st.floats(-1e6, 1e6, width=32) | st.just(float("nan"))
    tiny = np.full((1, 2), -1.175494e-38, dtype=np.float32)
    strips: list[np.ndarray] = [np.zeros((2, 3)), np.full((1, 2), np.nan), tiny]

    @given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4))
    def collect(rows: list[tuple[float, ...]]) -> None:
        strips.append(np.array(rows, dtype=np.float32))

    collect()
    made = fill_in_deno([(to_json({"z": {"slot": 0}}), to_json([one])) for one in strips], folder)
    for strip, got in zip(strips, made, strict=True):
        grain = float(np.nanmax(np.abs(strip), initial=0)) / FINEST
        np.testing.assert_allclose(np.array(got["z"], dtype=float), strip, rtol=1e-6, atol=0.51 * grain)
