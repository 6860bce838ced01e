"""Templates of figures: Python and the browser fill a template with a step's values alike."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.figures.subject import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.encoding import FINEST, Slot, fill, to_json
from attnviz.model_folder import load_weights
from attnviz.text import Tokenizer
from tests.conftest import REPOSITORY, ModelFactory
from tests.deno_program import made_by

PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "chart" / "template.js"


@pytest.fixture(scope="module", params=["additive", "general", "none"])
def subjects(
    request: pytest.FixtureRequest,
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Subject]:
    folder = tmp_path_factory.mktemp("model") / request.param
    save_model(folder, make_network(attention=request.param), tokenizer)
    trace = Translator.load(folder, device="cpu").translate("The man in the park reads the old book.", beam=1)
    assert len(trace.target_pieces) >= 3
    weights = load_weights(folder)
    return [Subject(trace, step, weights) for step in range(len(trace.target_pieces))]


def unpacked(value: Any) -> Any:
    """Return JSON with Plotly's typed arrays as lists."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=f"<{value['dtype']}")
        shape = [int(size) for size in value["shape"].split(",")] if "shape" in value else [-1]
        return unpacked(array.astype(float).reshape(shape).tolist())
    if isinstance(value, dict):
        return {name: unpacked(part) for name, part in value.items()}
    if isinstance(value, list):
        return [unpacked(part) for part in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def fill_in_deno(work: list[tuple[str, str]], folder: Path) -> list[Any]:
    """Return the figures that the page's JavaScript, run in Deno, makes of templates and values."""
    program = f'import {{ filled }} from "{PROGRAM.as_uri()}";'
    program += "\nconst plain = (_, part) => (part instanceof Float32Array ? Array.from(part) : part);"
    answer = "JSON.stringify(given.map(([one, of]) => filled(JSON.parse(one), JSON.parse(of))), plain)"
    return list(made_by(program, answer, work, folder))


def is_strip(value: Any) -> bool:
    """Return whether the value is a list of rows of numbers."""
    rows = isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)
    return rows and all(isinstance(number, float | None) for row in value for number in row)


def close(one: Any, other: Any) -> bool:
    """Return whether two figures agree up to single precision, and up to 16 bits in a strip."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if is_strip(other):
        made, expected = (np.array(rows, dtype=float) for rows in (one, other))
        return np.allclose(made, expected, rtol=0, atol=float(np.nanmax(np.abs(expected))) / FINEST, equal_nan=True)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return one == other or (None not in (one, other) and bool(np.isclose(one, other, rtol=1e-6, atol=1e-7)))
    return bool(one == other)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_template_is_the_same_at_every_step(subjects: list[Subject], theme: Any) -> None:
    for name, figure in STEP_FIGURES.items():
        if not figure.missing(subjects[0]):
            templates = {to_json(figure.picture.template(subject, theme)) for subject in subjects}
            assert len(templates) == 1, name


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_browser_fills_templates_as_python_draws(subjects: list[Subject], theme: Any, tmp_path: Path) -> None:
    """Use the template of the first step, and the values of the first, a middle and the last step."""
    work, drawn = [], []
    checked_subjects = [subjects[0], subjects[len(subjects) // 2], subjects[-1]]
    for figure in STEP_FIGURES.values():
        if figure.missing(subjects[0]):
            continue
        template = to_json(figure.picture.template(subjects[0], theme))
        for subject in checked_subjects:
            work.append((template, to_json(figure.picture.values(subject, theme))))
            drawn.append(figure.draw(subject, theme=theme))
    for made, expected in zip(fill_in_deno(work, tmp_path), drawn, strict=True):
        made["layout"].setdefault("template", {})
        assert close(unpacked(made), unpacked(json.loads(expected.to_json())))


def test_close_detects_different_figures(subjects: list[Subject]) -> None:
    one, other = (unpacked(json.loads(STEP_FIGURES["state"].draw(subjects[i]).to_json())) for i in (0, 1))
    assert close(one, one)
    assert not close(one, other)


names = st.sampled_from("abc")
plain = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
slots = st.builds(Slot, names) | st.builds(Slot, names.map("which {}".format), st.just(("x", "y", "z")))
templates = st.recursive(
    plain | slots, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("pqr"), part, max_size=3)
)
values = st.fixed_dictionaries(
    {name: plain | st.lists(plain, max_size=3) for name in "abc"}
    | {f"which {name}": st.integers(0, 2) | st.lists(st.integers(0, 2), max_size=4) for name in "abc"}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


def test_browser_and_python_fill_any_template_alike(folder: Path) -> None:
    work: list[tuple[Any, Any]] = []

    @given(templates, values)
    def collect(template: Any, of: dict[str, Any]) -> None:
        work.append((template, of))

    collect()
    made = fill_in_deno([(to_json(template), to_json(of)) for template, of in work], folder)
    assert made == [json.loads(to_json(fill(template, of))) for template, of in work]


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill({"x": [Slot("here"), Slot("nowhere")]}, {"here": 1})


def test_floats_are_sent_in_single_precision_and_integers_unchanged() -> None:
    sent = json.loads(
        to_json({"x": np.array([0.5, np.nan]), "y": np.arange(3), "z": np.float32(0.25), "none": np.array([])})
    )
    assert unpacked(sent) == {"x": [0.5, None], "y": [0, 1, 2], "z": 0.25, "none": []}
    assert sent["x"]["dtype"] == "f4"
    with pytest.raises(TypeError):
        to_json({"x": object()})


def test_strips_are_quantised_within_their_resolution(folder: Path) -> None:
    numbers = st.floats(-1e6, 1e6, width=32) | st.just(float("nan"))
    tiny = np.full((1, 2), -1.175494e-38, dtype=np.float32)
    strips: list[np.ndarray] = [np.zeros((2, 3)), np.full((1, 2), np.nan), tiny]

    @given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4))
    def collect(rows: list[tuple[float, ...]]) -> None:
        strips.append(np.array(rows, dtype=np.float32))

    collect()
    made = fill_in_deno([(to_json({"z": Slot("z")}), to_json({"z": one})) for one in strips], folder)
    for strip, got in zip(strips, made, strict=True):
        grain = float(np.nanmax(np.abs(strip), initial=0)) / FINEST
        np.testing.assert_allclose(np.array(got["z"], dtype=float), strip, rtol=1e-6, atol=0.51 * grain)
