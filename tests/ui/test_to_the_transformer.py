"""Page *To the transformer* as Streamlit runs it, without a browser: its row of weights, exhibits and address."""

import base64
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.installed_models import ADDITIVE_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL
from attnviz.model_folder import read_weights, weights_digest
from attnviz.network import DecomposableConfig
from attnviz.ui.pages.exhibits import LINK_METHOD
from attnviz.ui.pages.transformer_page import EXHIBITS
from tests.detectors import random_detector
from tests.snapshots import without_numbers
from tests.ui.opening import open_alone
from tests.ui.shown_payloads import fetched, mounted, page_html, picture_names

SENTENCE = "Two dogs play in the snow."


@pytest.fixture
def page(folder):
    return lambda **linked: open_alone("transformer", **{"sentence": SENTENCE} | linked)


FORMS = ["additive", "general", "product", "scaled", "heads", "self"]
D = 4
"""Length of the queries and keys of a head of the random transformer."""


def unpacked(text: str, width: int) -> NDArray[np.float64]:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(-1, width).astype(np.float64)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return cast("NDArray[np.float64]", powers / powers.sum(axis=-1, keepdims=True))


def expected_forms(folder: Path) -> dict[str, tuple[NDArray[np.float64] | None, NDArray[np.float64]]]:
    """Return the scores and weights of each form, computed in NumPy from states, annotations and weights."""
    text = Translator.load(folder / ADDITIVE_MODEL, "cpu").translate(SENTENCE, beam=5).translation
    names = (ADDITIVE_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL)
    traces: Any = tuple(Translator.load(folder / name, "cpu").translate(SENTENCE, target=text) for name in names)
    additive, general, transformer = traces  # of which the last two are forced to write the translation of the first
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


def test_scores_weights_and_sentences_of_every_form_are_those_of_numpy(page, folder, snapshot) -> None:
    payload, expected = fetched(mounted(page(), "attention_row")[0]["at"]), expected_forms(folder)
    width, steps = len(payload["sources"]), len(payload["targets"])
    forms = payload["forms"]
    assert list(forms) == FORMS
    weights = {name: unpacked(form["weights"], width) for name, form in forms.items()}
    scores = {name: unpacked(form["energies"], width) for name, form in forms.items() if form["energies"] is not None}
    heads = [unpacked(head, width) for head in forms["heads"]["heads"]]
    assert len(heads) == 4
    for name, (own_scores, own_weights) in expected.items():
        np.testing.assert_allclose(weights[name], own_weights, atol=2e-6, err_msg=name)
        assert (name in scores) == (own_scores is not None)
        if own_scores is not None:
            np.testing.assert_allclose(scores[name], own_scores, atol=1e-5, err_msg=name)
        assert len(forms[name]["sentences"]) == steps
    np.testing.assert_allclose(np.mean(heads, axis=0), expected["heads"][1], atol=2e-6)
    np.testing.assert_allclose(heads[0], expected["scaled"][1], atol=2e-6)

    for name, form in forms.items():
        assert [form["model"], form["text"], without_numbers(form["sentences"][0])] == snapshot(name=name)


def test_error_rates_of_the_heads_are_those_measured_with_these_weights(page, folder) -> None:
    """Of the links and the file of the first row; the best head is opened."""
    digest = weights_digest(folder / TRANSFORMER_MODEL)[:12]
    for weights, notes, chosen in ((digest, ["AER 0.90", "AER 0.80"], "cross.2.4"), ("0" * 12, ["", ""], "cross.1.1")):
        table = "weights,file,sentences,layer,head,links,aer\n"
        for head in range(8):
            for file, method, rate in (("a", LINK_METHOD, 9 - head), ("b", LINK_METHOD, head), ("a", "argmax", head)):
                table += f"{weights},{file},3,{head // 4 + 1},{head % 4 + 1},{method},{rate / 10}\n"
        (folder / TRANSFORMER_MODEL / "heads.csv").write_text(table, encoding="utf-8")
        app = page(exhibit="heads")
        (gallery,) = mounted(app, "gallery")
        assert [cell["note"] for cell in gallery["groups"][-1]["cells"]][:2] == notes
        assert gallery["chosen"] == chosen
        assert ("error rate of 0.20" in " ".join(page_html(app))) == (weights == digest)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_each_exhibit_is_verified_and_saved(page, folder, tokenizer, exhibit: str, snapshot) -> None:
    save_model(folder / "detector", random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1), tokenizer)
    app = page(exhibit=exhibit, swap="1.3")
    assert picture_names(app) == snapshot
    assert len(mounted(app, "verification_badge")) == (3 if exhibit == "dot" else 2)
    assert len(mounted(app, "file_link")) == 1
