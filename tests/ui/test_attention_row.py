"""Row of weights on *To the transformer*: NumPy recomputes every number of its payload and its sentences."""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.attention_forms import FormSources, form_names
from attnviz.checkpoint import save_model
from attnviz.languages import format_share
from attnviz.model_folder import read_weights
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.ui.transformer.attention_row import row_pictures
from attnviz.ui.transformer.exhibit import ADDITIVE_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL
from tests.conftest import ModelFactory
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.shown_payloads import fetched, mounted, texts_with
from tests.ui.test_to_the_transformer import SENTENCE, open_transformer

FORMS = ["additive", "general", "product", "scaled", "heads", "self"]
D = 4
"""Length of the queries and keys of a head of the random transformer."""


@pytest.fixture
def folder(tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the three models of the row."""
    save_model(tmp_path / ADDITIVE_MODEL, make_network("additive"), tokenizer)
    save_model(tmp_path / GENERAL_MODEL, make_network("general"), tokenizer)
    save_model(
        tmp_path / TRANSFORMER_MODEL,
        random_transformer(TransformerConfig(len(tokenizer), 4 * D, 4, 2, 12), 2),
        tokenizer,
    )
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def open_page(folder: Path) -> Callable[..., AppTest]:
    """Return a function that opens the page as a link does."""
    return open_transformer


def row_of(app: AppTest) -> dict[str, Any]:
    """Return the payload of the row."""
    (given,) = mounted(app, "attention_row")
    return fetched(given["at"])


def unpacked(text: str, width: int) -> NDArray[np.float64]:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(-1, width).astype(np.float64)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return cast("NDArray[np.float64]", powers / powers.sum(axis=-1, keepdims=True))


def forced(folder: Path) -> tuple[Trace, Trace, TransformerTrace]:
    """Return the translation of the additive model, and that of the other two forced to write the same."""
    own = Translator.load(folder / ADDITIVE_MODEL, "cpu").translate(SENTENCE, beam=5).translation
    names = (ADDITIVE_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL)
    traces: Any = tuple(Translator.load(folder / name, "cpu").translate(SENTENCE, target=own) for name in names)
    return traces  # type: ignore[no-any-return]


def expected_forms(folder: Path) -> dict[str, tuple[NDArray[np.float64] | None, NDArray[np.float64]]]:
    """Return the scores and weights of each form, computed in NumPy from states, annotations and weights."""
    additive, general, transformer = forced(folder)
    learned = read_weights(folder / ADDITIVE_MODEL)
    queries = additive.previous_states.astype(np.float64) @ learned["decoder.attention.query.weight"].T
    keys = additive.annotations.astype(np.float64) @ learned["decoder.attention.key.weight"].T
    additive_scores = np.tanh(queries[:, None] + keys[None]) @ learned["decoder.attention.score"]
    projection = read_weights(folder / GENERAL_MODEL)["decoder.attention.key.weight"]
    general_scores = general.previous_states.astype(np.float64) @ (general.annotations @ projection.T).T
    layer, head = 0, 0  # without measured error rates
    q, k = (one[layer].astype(np.float64) for one in (transformer.cross_queries, transformer.cross_keys))
    products = np.einsum("hid,hjd->hij", q, k)
    heads = softmax(products / np.sqrt(D))
    q, k = (one.astype(np.float64) for one in (transformer.encoder_queries, transformer.encoder_keys))
    own = np.einsum("lhid,lhjd->lhij", q, k) / np.sqrt(D)
    sharpest = np.unravel_index(softmax(own).max(axis=-1).mean(axis=-1).argmax(), own.shape[:2])
    asked = own[sharpest][heads[head].argmax(axis=1)]
    return {
        "additive": (additive_scores, softmax(additive_scores)),
        "general": (general_scores, softmax(general_scores)),
        "product": (products[head], softmax(products[head])),
        "scaled": (products[head] / 2, heads[head]),
        "heads": (None, heads.mean(axis=0)),
        "self": (asked, softmax(asked)),
    }


def numbers_in(sentence: str) -> list[float]:
    """Return the numbers of a sentence, without those of "less than 1 %" and "more than 99 %"."""
    sentence = re.sub(r"“[^”]*”|(?:less|more) than \d+", "", sentence)
    return [float(one.replace("−", "-").replace(",", "")) for one in re.findall(r"[−]?\d[\d,]*(?:\.\d+)?", sentence)]


def shares(*values: float) -> list[float]:
    """Return shares in per cent as sentences write them, without those that are "less" or "more than"."""
    return [round(100 * value) for value in values if not (0 < value < 0.005 or 0.995 <= value < 1)]


def test_numpy_recomputes_scores_and_weights_of_every_form(open_page: Callable[..., AppTest], folder: Path) -> None:
    payload, expected = row_of(open_page()), expected_forms(folder)
    width, steps = len(payload["sources"]), len(payload["targets"])
    assert list(payload["forms"]) == FORMS
    for name, (scores, weights) in expected.items():
        form = payload["forms"][name]
        np.testing.assert_allclose(unpacked(form["weights"], width), weights, atol=2e-6, err_msg=name)
        assert (form["energies"] is None) == (scores is None)
        if scores is not None:
            np.testing.assert_allclose(unpacked(form["energies"], width), scores, atol=1e-5, err_msg=name)
        assert len(form["sentences"]) == steps
    heads = [unpacked(head, width) for head in payload["forms"]["heads"]["heads"]]
    assert len(heads) == 4
    np.testing.assert_allclose(np.mean(heads, axis=0), expected["heads"][1], atol=2e-6)
    np.testing.assert_allclose(heads[0], expected["scaled"][1], atol=2e-6)


def test_numbers_in_the_sentences_are_those_of_the_row(open_page: Callable[..., AppTest], folder: Path) -> None:
    payload = row_of(open_page())
    width = len(payload["sources"])
    weights = {name: unpacked(form["weights"], width) for name, form in payload["forms"].items()}
    scores = {
        name: unpacked(form["energies"], width)
        for name, form in payload["forms"].items()
        if form["energies"] is not None
    }
    heads = [unpacked(head, width) for head in payload["forms"]["heads"]["heads"]]
    for step in range(len(payload["targets"])):
        sentences = {name: numbers_in(form["sentences"][step]) for name, form in payload["forms"].items()}
        best = {name: int(one[step].argmax()) for name, one in weights.items()}
        largest = round(float(scores["additive"][step].max()), 2)
        assert sentences["additive"] == [largest, 100, *shares(weights["additive"][step].max())]
        for name in ("general", "product", "self"):
            assert sentences[name] == shares(weights[name][step, best[name]])
        at = best["scaled"]
        assert sentences["scaled"] == pytest.approx(
            [
                *(round(float(scores[name][step, at]), 2) for name in ("product", "scaled")),
                *shares(weights["product"][step, at], weights["scaled"][step, at]),
            ]
        )
        each = [one for number, head in enumerate(heads, 1) for one in (number, *shares(head[step].max()))]
        assert sentences["heads"] == [*each, *shares(weights["heads"][step].max())]


def test_row_is_saved_in_every_form(folder: Path) -> None:
    traces, step, expected = forced(folder), 1, expected_forms(folder)
    sources = FormSources(traces[0], traces[1], traces[2].head_named("cross.1.1"))
    pictures = row_pictures(sources, step)
    assert [picture.title for picture in pictures.values()] == list(form_names().values())
    for name, (scores, weights) in expected.items():
        picture = pictures[name]  # type: ignore[index]
        *heads, drawn = picture.draw().data[0]["z"]
        np.testing.assert_allclose(drawn, weights[step], atol=2e-6)
        table = picture.draw().frame()
        np.testing.assert_allclose(table.iloc[:, -1], weights[step], atol=2e-6)
        assert len(heads) == (4 if name == "heads" else 0)
        if scores is not None:
            np.testing.assert_allclose(table["energy e"], scores[step], atol=1e-5)
        texts = [note["text"] for note in picture.draw().layout["annotations"]]
        assert texts[-len(weights[step]) :] == [format_share(float(w)) for w in weights[step]]


def test_row_is_verified_in_its_three_models(open_page: Callable[..., AppTest]) -> None:
    (badge,) = mounted(open_page(), "verification_badge")
    found = fetched(badge["at"], 1)
    assert found["holds"]
    models = {row[0].split(":")[0] for row in found["rows"]}
    assert models == {ADDITIVE_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL}


def test_numbers_in_the_texts_are_those_of_the_models(open_page: Callable[..., AppTest], folder: Path) -> None:
    payload = row_of(open_page())
    tx, ty = len(payload["sources"]), len(payload["targets"])
    additive = read_weights(folder / ADDITIVE_MODEL)
    units, both = additive["decoder.attention.key.weight"].shape
    state = additive["decoder.attention.query.weight"].shape[1]
    product, _ = read_weights(folder / GENERAL_MODEL)["decoder.attention.key.weight"].shape
    counts = [both * product * tx + product * tx * ty, both * units * tx + state * units * ty + units * tx * ty]
    texts = {name: numbers_in(form["text"]) for name, form in payload["forms"].items()}
    assert texts["general"] == [2015, *counts]
    assert texts["scaled"] == [2, D]
    assert texts["heads"] == [4]


def test_sentences_of_each_form(open_page: Callable[..., AppTest], snapshot: SnapshotAssertion) -> None:
    for name, form in row_of(open_page())["forms"].items():
        assert [form["model"], form["text"], without_numbers(form["sentences"][0])] == snapshot(name=name)


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_equation_marks_the_changed_part_of_every_form_but_the_first(
    open_page: Callable[..., AppTest], lang: str
) -> None:
    payload = row_of(open_page(lang=lang))
    word = {"en": "changed", "fr": "changé"}[lang]
    assert [form["latex"].count(rf"\text{{{word}}}") for form in payload["forms"].values()] == [0, 1, 1, 1, 1, 1]
    assert r"\sqrt{d}" in payload["forms"]["scaled"]["latex"]
    assert r"\sqrt{d}" not in payload["forms"]["product"]["latex"]


def test_only_where_the_model_changes_the_row_says_so(
    open_page: Callable[..., AppTest], snapshot: SnapshotAssertion
) -> None:
    changes = {name: form["modelChange"] for name, form in row_of(open_page())["forms"].items()}
    assert [name for name, text in changes.items() if text] == ["general", "product"]
    assert changes["general"] == snapshot


def test_form_is_the_browsers_and_each_opens_its_exhibit(open_page: Callable[..., AppTest]) -> None:
    app = open_page()
    (state,) = mounted(app, "view_state")
    (form,) = [one for one in state["parameters"] if one["name"] == "form"]
    assert (form["key"], form["kind"], form["values"]) == ("form-energies", "option", FORMS)
    assert state["main"] is not None
    assert not [one for one in state["main"]["parameters"] if one["name"] == "form"]
    exhibits = [one["exhibit"] for one in row_of(app)["forms"].values()]
    assert exhibits == ["dot", "dot", "pair", "heads", "heads", "heads"]


def test_row_shares_its_step_with_the_first_exhibit(open_page: Callable[..., AppTest]) -> None:
    app = open_page(exhibit="dot", **{"step-energies": "2"})
    assert len(mounted(app, "view_state")) == 1
    assert len(mounted(app, "player")) == 1
    assert len(mounted(app, "attention_row")) == 1


def test_without_the_transformer_the_row_has_two_forms(
    open_page: Callable[..., AppTest], folder: Path, snapshot: SnapshotAssertion
) -> None:
    shutil.rmtree(folder / TRANSFORMER_MODEL)
    app = open_page()
    assert not app.exception
    assert list(row_of(app)["forms"]) == FORMS[:2]
    assert texts_with(app, TRANSFORMER_MODEL) == snapshot


def test_head_of_the_row_is_the_one_that_the_exhibit_opens(open_page: Callable[..., AppTest], folder: Path) -> None:
    app = open_page(exhibit="heads")
    (gallery,) = mounted(app, "gallery")
    head = forced(folder)[2].head_named(gallery["chosen"])
    assert head is not None
    width = len(head.source_pieces)
    np.testing.assert_array_equal(
        unpacked(row_of(app)["forms"]["scaled"]["weights"], width), head.alignment.astype(np.float64)
    )
