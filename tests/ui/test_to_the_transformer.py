"""Page *To the transformer* as Streamlit runs it, without a browser: its row of weights, exhibits and address."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    FIXED_CONTEXT_MODEL,
    GENERAL_MODEL,
    LARGE_MODEL,
    TRANSFORMER_MODEL,
)
from attnviz.model_folder import read_weights, weights_digest
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from tests.conftest import REPOSITORY, ModelFactory
from tests.detectors import random_detector
from tests.saved_pages import flattened, saved_view
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.fields import press
from tests.ui.opening import Run, open_alone
from tests.ui.shown_payloads import (
    address,
    all_payloads,
    blocks,
    column,
    fetched,
    mounted,
    page_html,
    plain_texts,
    saved_page,
    tables_of,
    texts,
)

SENTENCE = "Two dogs play in the snow."


KINDS = {FIXED_CONTEXT_MODEL: "none", GENERAL_MODEL: "general", ADDITIVE_MODEL: "additive"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, make_network: ModelFactory, tokenizer: Tokenizer) -> Path:
    """Return a folder with all translators of the page."""
    folder = tmp_path_factory.mktemp("models")
    save_model(folder / LARGE_MODEL, make_network(hidden_size=9), tokenizer)
    for name, kind in KINDS.items():
        save_model(folder / name, make_network(kind), tokenizer)
    transformer = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    save_model(folder / TRANSFORMER_MODEL, transformer, tokenizer)
    return folder


@pytest.fixture
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder with all translators of the page, which a test may change."""
    shutil.copytree(models, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Run:
    """Return a function that opens the page as a link does, by default for `SENTENCE`."""
    return lambda **linked: open_alone("transformer", **{"sentence": SENTENCE} | linked)


def trace_of(folder: Path) -> TransformerTrace:
    return Translator.load(folder / TRANSFORMER_MODEL, "cpu").translate(SENTENCE, beam=5)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_head_of_each_kind_opens_with_all_its_numbers(page: Run, folder: Path, kind: str) -> None:
    app = page(exhibit="heads", head=f"{kind}.2.3", **{"step-head": "3"})
    assert not app.exception
    trace = trace_of(folder)
    (opened,) = [one for one in trace.heads_of(kind) if (one.layer, one.head) == (1, 2)]  # type: ignore[arg-type]
    (player,) = mounted(app, "player")
    assert player["orders"] == np.argsort(-opened.alignment, axis=1, kind="stable").tolist()
    assert len(player["weights"]) == len(opened.target_pieces)
    assert len(list(all_payloads(app))) >= 9
    scores, weights, stream = [fetched(one["at"]) for one in mounted(app, "chart") if "at" in one]
    assert len(scores["values"]) == len(weights["values"]) == len(stream["values"]) == len(opened.target_pieces)
    found = fetched(mounted(app, "verification_badge")[-1]["at"], 2)
    assert found["holds"]
    assert len(found["rows"]) == 6  # five quantities of the attention, and the stream
    (score_equation, *_) = [fetched(one["at"]) for one in mounted(app, "equation") if "at" in one]
    assert score_equation["ofCell"]["energy"][2][0].startswith(f"{opened.energies[2, 0]:.2f}"[:4])
    assert {"sentence": SENTENCE, "head": f"{kind}.2.3"}.items() <= address(app).items()


def test_error_rates_of_the_heads_are_shown_below_them(page: Run, folder: Path) -> None:
    write_heads(folder, weights_digest(folder / TRANSFORMER_MODEL)[:12])
    app = page(exhibit="heads")
    (gallery,) = mounted(app, "gallery")
    *_, cross = gallery["groups"]
    assert [cell["note"] for cell in cross["cells"]][:2] == ["AER 0.90", "AER 0.80"]
    assert gallery["chosen"] == "cross.2.4"  # the head with the lowest error rate
    shown = json.dumps(page_html(app))
    assert "rate of 0.20" in shown


def write_heads(folder: Path, weights: str) -> None:
    """Write a table as `attnviz evaluate --heads-csv` does."""
    lines = ["transformer,weights,file,sentences,layer,head,links,aer,precision,recall"]
    for place in range(8):
        layer, head = place // 4 + 1, place % 4 + 1
        lines += [f"x,{weights},gold.jsonl,3,{layer},{head},mutual argmax,{0.9 - place / 10:.4f},0.5,0.5"]
        lines += [f"x,{weights},other.jsonl,3,{layer},{head},mutual argmax,0.0,0.5,0.5"]
    (folder / TRANSFORMER_MODEL / "heads.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_two_energies_of_one_cell_are_shown_side_by_side_and_verified(page: Run) -> None:
    app = page(exhibit="dot", **{"step-energies": "3", "source-energies": "2"})
    assert not app.exception
    additive, dot = [fetched(one["at"]) for one in mounted(app, "energy_decomposition")]
    assert (additive["bounded"], dot["bounded"]) == (True, False)
    assert additive["targets"] == dot["targets"]
    badges = [fetched(one["at"], 2) for one in mounted(app, "verification_badge")[1:]]
    assert [found["holds"] for found in badges] == [True, True]
    assert len(list(all_payloads(app))) >= 8
    costs = next(one for one in mounted(app, "chart") if "captions" in one)["captions"]["every"][1]
    assert "multiplications with additive attention" in costs


@pytest.mark.parametrize("exhibit", ["dot", "pair", "heads", pytest.param("answers", marks=pytest.mark.nightly)])
def test_saved_page_has_the_current_exhibit(page: Run, detector: Path, exhibit: str) -> None:
    app = page(exhibit=exhibit, swap="1.3", lang="fr")
    assert not app.exception
    saved = saved_view(saved_page(app), "fr")
    drawn = {(block["kind"], block["key"]) for block in flattened(saved.blocks)}
    shown = {(block["kind"], block["key"]) for block in blocks(app)}
    left_out = {"attention_row", "button", "copy_link", "definitions", "field", "file_link", "picture_files", "tables"}
    (view_id,) = (key.removeprefix("room-") for kind, key in drawn if kind == "box" and key.startswith("room-"))
    view = {(kind, key) for kind, key in shown if key.endswith(f"-{view_id}") and "row_" not in key}
    missing = {(kind, key) for kind, key in view - drawn if kind not in left_out | {"box", "details", "popover"}}
    assert missing == set()
    assert len(saved.payloads) >= len(set(saved.addresses()))
    if exhibit == "pair":
        assert [text for text in saved.texts() if text in plain_texts(app)], "the sentence with two words swapped"


def test_five_translations_are_shown_side_by_side_and_verified(page: Run, folder: Path) -> None:
    shutil.copy(REPOSITORY / "models" / "by-length.csv", folder)
    app = page(exhibit="answers", **{"step-answers": "2"})
    assert not app.exception
    (lanes,) = mounted(app, "side_by_side")
    names = [FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL, TRANSFORMER_MODEL, LARGE_MODEL]
    assert [lane["model"] for lane in lanes["lanes"]] == names
    for lane in lanes["lanes"]:
        trace = Translator.load(folder / lane["model"], "cpu").translate(SENTENCE, beam=5)
        assert "".join(lane["parts"]).removesuffix(" </s>").strip() == trace.translation
        count = sum(array.size for array in read_weights(folder / lane["model"]).values())
        assert f"{count:,} " in lane["summary"]
        assert len(lane["notes"]) == len(lanes["labels"])
    (gallery,) = mounted(app, "gallery")
    assert [cell["code"] for cell in gallery["groups"][0]["cells"]] == names[1:]
    for cell in gallery["groups"][0]["cells"]:
        assert len(cell["columns_of"]) == cell["columns"], "each column has its word"
        assert " ".join(cell["columns_of"][:2]) == " ".join(SENTENCE.split()[:2])
    found = fetched(mounted(app, "verification_badge")[-1]["at"], len(lanes["labels"]) - 1)
    assert found["holds"]
    assert "in 5 models" in found["summary"]
    assert address(app) == {"sentence": SENTENCE, "exhibit": "answers"}
    app.session_state["tables-answers"] = True
    app.run()
    drawn = tables_of(app)
    assert len(drawn) == 6  # four heatmaps, BLEU by length, the answers
    assert [row[0] for row in drawn[-1]["rows"]] == names


@pytest.fixture
def detector(folder: Path, tokenizer: Tokenizer) -> Path:
    place = folder / "detector"
    save_model(place, random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1), tokenizer)
    return place


def test_pair_is_judged_with_all_its_numbers(page: Run, detector: Path) -> None:
    french = "Deux chats jouent."
    app = page(exhibit="pair", pair=french, **{"step-two": "2"})
    assert not app.exception
    judged = Detector.load(detector, "cpu").judge(SENTENCE, french)
    (player,) = mounted(app, "player")
    assert player["orders"] == np.argsort(-judged.target_alignment, axis=1, kind="stable").tolist()
    _, badge = mounted(app, "verification_badge")
    assert badge["holds"]
    assert len(badge["rows"]) == 18
    equation = next(one["latex"] for one in mounted(app, "equation") if "W_H" in one["latex"])
    assert f"{judged.probability:.3f}"[:4] in equation
    assert address(app) == {"sentence": SENTENCE, "exhibit": "pair", "pair": french}
    app.session_state["tables-two"] = True
    app.run()
    assert not app.exception
    *_, bag, sums, verdict = drawn = tables_of(app)
    assert len(drawn) == 6  # both ways, the comparison, the bag, the sums, the verdict
    assert len(bag["rows"]) == len(judged.source_pieces) + 1
    for table, name, expected in ((sums, "h", judged.hidden), (verdict, "p", judged.probabilities)):
        np.testing.assert_allclose([float(cell) for cell in column(table, name)], expected, rtol=1e-5, atol=1e-9)


def comparisons_caption(app: AppTest) -> str:
    """Return the caption of the sum over the comparison vectors."""
    *_, summary = [one["captions"]["every"][1] for one in mounted(app, "chart") if "every" in one.get("captions", {})]
    return str(summary)


def test_swapping_two_words_does_not_change_the_verdict(page: Run, detector: Path, snapshot: SnapshotAssertion) -> None:
    app = page(exhibit="pair")
    before = comparisons_caption(app)
    assert before == snapshot(name="one order")
    press(app, "swap_button")
    assert not app.exception
    assert address(app)["swap"] == "2.5"
    assert without_numbers(comparisons_caption(app)) == snapshot(name="another order")
    first, *rest = SENTENCE.removesuffix(".").split()
    rest[0], rest[3] = rest[3], rest[0]
    assert " ".join([first, *rest]) + "." in texts(app)
    press(app, "swap_button")
    assert comparisons_caption(app) == before
    assert "swap" not in address(app)


FORMS = ["additive", "general", "product", "scaled", "heads", "self"]


D = 4
"""Length of the queries and keys of a head of the random transformer."""


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


def test_scores_weights_and_sentences_of_every_form_are_those_of_numpy(
    page: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    payload, expected = row_of(page()), expected_forms(folder)
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

    for step in range(steps):
        sentences = {name: numbers_in(form["sentences"][step]) for name, form in forms.items()}
        best = {name: int(one[step].argmax()) for name, one in weights.items()}
        largest = round(float(scores["additive"][step].max()), 2)
        assert sentences["additive"] == [largest, 100, *shares(weights["additive"][step].max())]
        for name in ("general", "product", "self"):
            assert sentences[name] == shares(weights[name][step, best[name]])
        at = best["scaled"]
        products = [round(float(scores[name][step, at]), 2) for name in ("product", "scaled")]
        both = shares(weights["product"][step, at], weights["scaled"][step, at])
        assert sentences["scaled"] == pytest.approx([*products, *both])
        each = [one for number, head in enumerate(heads, 1) for one in (number, *shares(head[step].max()))]
        assert sentences["heads"] == [*each, *shares(weights["heads"][step].max())]
    for name, form in forms.items():
        assert [form["model"], form["text"], without_numbers(form["sentences"][0])] == snapshot(name=name)
