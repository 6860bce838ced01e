"""Page *To the transformer* as Streamlit runs it, without a browser: its exhibits, payloads and address."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.model_folder import read_weights, weights_digest
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.ui.pages.transformer_page import EXHIBITS
from attnviz.ui.transformer.exhibit import (
    ADDITIVE_MODEL,
    FIXED_CONTEXT_MODEL,
    GENERAL_MODEL,
    LARGE_MODEL,
    TRANSFORMER_MODEL,
)
from attnviz.ui.transformer.heads_exhibit import head_errors
from tests.conftest import REPOSITORY, ModelFactory
from tests.detectors import random_detector
from tests.saved_pages import flattened, saved_view
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.fields import ask, field, press, set_field
from tests.ui.shown_payloads import (
    address,
    all_payloads,
    blocks,
    column,
    fetched,
    mounted,
    page_html,
    panel_texts,
    plain_texts,
    saved_page,
    tables_of,
    texts,
    texts_with,
)

Run = Callable[..., AppTest]
SENTENCE = "Two dogs play in the snow."
KINDS = {FIXED_CONTEXT_MODEL: "none", GENERAL_MODEL: "general", ADDITIVE_MODEL: "additive"}
PAGE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages.transformer_page import EXHIBITS, TRANSFORMER_PAGE
run_pages([TRANSFORMER_PAGE])
"""


@pytest.fixture
def folder(tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with all translators of the page."""
    save_model(tmp_path / LARGE_MODEL, make_network(hidden_size=9), tokenizer)
    for name, kind in KINDS.items():
        save_model(tmp_path / name, make_network(kind), tokenizer)
    save_model(
        tmp_path / TRANSFORMER_MODEL, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer
    )
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


def open_transformer(**linked: str) -> AppTest:
    """Return the page, opened by a link with these parameters, by default for `SENTENCE`."""
    app = AppTest.from_string(PAGE, default_timeout=60)
    for name, value in ({"sentence": SENTENCE} | linked).items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture
def page(folder: Path) -> Run:
    """Return a function that opens the page as a link does."""
    return open_transformer


def trace_of(folder: Path) -> TransformerTrace:
    return Translator.load(folder / TRANSFORMER_MODEL, "cpu").translate(SENTENCE, beam=5)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
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


def test_gallery_has_every_head_and_opens_the_chosen_one(page: Run, folder: Path) -> None:
    app = page(exhibit="heads")
    (gallery,) = mounted(app, "gallery")
    assert [len(group["cells"]) for group in gallery["groups"]] == [8, 8, 8]
    assert gallery["chosen"] == "cross.1.1"  # this model has no measured error rates
    assert all(not cell["note"] for group in gallery["groups"] for cell in group["cells"])
    app.session_state["head"] = "decoder.1.4"
    app.run()
    assert mounted(app, "gallery")[0]["chosen"] == "decoder.1.4"
    assert address(app)["head"] == "decoder.1.4"


@pytest.mark.parametrize("name", ["cross.9.1", "x", "encoder.0.1", "", "cross.1.1.1"])
def test_invalid_head_falls_back_to_the_first(page: Run, name: str) -> None:
    app = page(exhibit="heads", head=name)
    assert not app.exception
    assert mounted(app, "gallery")[0]["chosen"] == "cross.1.1"


def test_error_rates_of_the_heads_are_shown_below_them(page: Run, folder: Path) -> None:
    write_heads(folder, weights_digest(folder / TRANSFORMER_MODEL)[:12])
    app = page(exhibit="heads")
    (gallery,) = mounted(app, "gallery")
    *_, cross = gallery["groups"]
    assert [cell["note"] for cell in cross["cells"]][:2] == ["AER 0.90", "AER 0.80"]
    assert gallery["chosen"] == "cross.2.4"  # the head with the lowest error rate
    shown = json.dumps(page_html(app))
    assert "rate of 0.20" in shown


@pytest.mark.parametrize("damage", ["weights", "empty", "text"])
def test_error_rates_of_other_weights_or_damaged_files_are_ignored(page: Run, folder: Path, damage: str) -> None:
    write_heads(folder, "0" * 12)
    if damage != "weights":
        (folder / TRANSFORMER_MODEL / "heads.csv").write_text(
            "" if damage == "empty" else "a,b\n1,2\n", encoding="utf-8"
        )
    app = page(exhibit="heads")
    assert not app.exception
    assert not any(cell["note"] for group in mounted(app, "gallery")[0]["groups"] for cell in group["cells"])
    assert head_errors(trace_of(folder)) is None


def write_heads(folder: Path, weights: str) -> None:
    """Write a table as `attnviz evaluate --heads-csv` does."""
    lines = ["transformer,weights,file,sentences,layer,head,links,aer,precision,recall"]
    for place in range(8):
        layer, head = place // 4 + 1, place % 4 + 1
        lines += [f"x,{weights},gold.jsonl,3,{layer},{head},mutual argmax,{0.9 - place / 10:.4f},0.5,0.5"]
        lines += [f"x,{weights},other.jsonl,3,{layer},{head},mutual argmax,0.0,0.5,0.5"]
    (folder / TRANSFORMER_MODEL / "heads.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_shipped_head_error_rates_match_the_model_and_its_card() -> None:
    place = REPOSITORY / "models" / TRANSFORMER_MODEL
    with (place / "heads.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["weights"] for row in rows} == {weights_digest(place)[:12]}
    card = (place / "README.md").read_text(encoding="utf-8")
    for layer in (1, 2, 3):
        for head in (1, 2, 3, 4):
            summary = next(line for line in card.splitlines() if line.startswith(f"| head {head} of layer {layer} |"))
            here = [row for row in rows if (row["layer"], row["head"]) == (str(layer), str(head))]
            rates = {(row["file"], row["links"]): float(row["aer"]) for row in here}
            expected = [float(cell) for cell in summary.strip("| ").split("|")[1:]]
            names = ("hansards-dev37", "europarl100", "hansards-test200")
            found = [rates[f"align/{name}.jsonl", "mutual argmax"] for name in names]
            found.append(rates["align/hansards-test200.jsonl", "argmax"])
            np.testing.assert_allclose(found, expected, atol=6e-4)


def test_exhibit_reports_its_missing_model(page: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(folder / TRANSFORMER_MODEL)
    app = page(exhibit="heads")
    assert not app.exception
    assert panel_texts(app, "transformer_problem_exhibit") == snapshot


def test_bad_input_is_reported_and_the_gallery_stays(page: Run) -> None:
    app = page(exhibit="heads", sentence=" ")
    assert not app.exception
    assert "The sentence is empty" in texts(app)
    assert mounted(app, "gallery")


def test_heads_have_tables_and_labels_in_the_language_of_the_page(page: Run) -> None:
    app = page(exhibit="heads", lang="fr")
    app.session_state["tables-head"] = True
    app.run()
    assert not app.exception
    assert len(tables_of(app)) == 7
    assert mounted(app, "gallery")[0]["groups"][0]["name"] == "Encodeur\u00a0: auto-attention"


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


def test_energy_figures_have_tables(page: Run) -> None:
    app = page(exhibit="dot")
    assert not app.exception
    assert len(tables_of(app)) == 5
    assert [row[0] for row in tables_of(app)[-1]["rows"]] == ["additive", "general"]


@pytest.mark.parametrize("exhibit", ["dot", "pair", "heads", "answers"])
def test_saved_page_has_the_current_exhibit(page: Run, detector: Path, exhibit: str) -> None:
    app = page(exhibit=exhibit, swap="1.3", lang="fr")
    assert not app.exception
    saved = saved_view(saved_page(app), "fr")
    drawn = {(block["kind"], block["key"]) for block in flattened(saved.blocks)}
    shown = {(block["kind"], block["key"]) for block in blocks(app)}
    left_out = {"attention_row", "button", "copy_link", "definitions", "field", "file_link", "picture_files", "tables"}
    view = {(kind, key) for kind, key in shown if key.endswith(f"-{EXHIBITS[exhibit].view_id}") and "row_" not in key}
    missing = {(kind, key) for kind, key in view - drawn if kind not in left_out | {"box", "details", "popover"}}
    assert missing == set()
    assert len(saved.payloads) >= len(set(saved.addresses()))
    if exhibit == "pair":
        assert [text for text in saved.texts() if text in plain_texts(app)], "the sentence with two words swapped"


@pytest.mark.parametrize("name", [ADDITIVE_MODEL, GENERAL_MODEL])
def test_first_exhibit_needs_both_models(page: Run, folder: Path, name: str, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(folder / name)
    app = page(exhibit="dot")
    assert not app.exception
    assert not mounted(app, "attention_row")
    assert panel_texts(app, "transformer_problem_row") == snapshot


def test_models_with_different_tokenizers_have_no_common_cells(
    page: Run, folder: Path, make_network: ModelFactory, snapshot: SnapshotAssertion
) -> None:
    coarse = Tokenizer.train(["Two dogs play in the snow. x y z"], 25)
    save_model(folder / GENERAL_MODEL, make_network("general", vocabulary_size=len(coarse)), coarse)
    app = page(exhibit="dot")
    assert not app.exception
    assert not mounted(app, "attention_row")
    assert panel_texts(app, "transformer_problem_row") == snapshot


def test_five_translations_are_shown_side_by_side_and_verified(
    page: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    shutil.copy(REPOSITORY / "models" / "by-length.csv", folder)
    app = page(exhibit="answers", **{"step-answers": "2"})
    assert not app.exception
    (lanes,) = mounted(app, "side_by_side")
    assert [lane["model"] for lane in lanes["lanes"]] == [
        FIXED_CONTEXT_MODEL,
        GENERAL_MODEL,
        ADDITIVE_MODEL,
        TRANSFORMER_MODEL,
        LARGE_MODEL,
    ]
    summary: list[str] = []
    for lane in lanes["lanes"]:
        trace = Translator.load(folder / lane["model"], "cpu").translate(SENTENCE, beam=5)
        assert "".join(lane["parts"]).removesuffix(" </s>").strip() == trace.translation
        count = sum(array.size for array in read_weights(folder / lane["model"]).values())
        assert f"{count:,} " in lane["summary"]
        summary.append(without_numbers(lane["summary"]))
        assert len(lane["notes"]) == len(lanes["labels"])
    assert summary == snapshot
    (gallery,) = mounted(app, "gallery")
    assert [cell["code"] for cell in gallery["groups"][0]["cells"]] == [
        GENERAL_MODEL,
        ADDITIVE_MODEL,
        TRANSFORMER_MODEL,
        LARGE_MODEL,
    ]
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
    assert [row[0] for row in drawn[-1]["rows"]] == [
        FIXED_CONTEXT_MODEL,
        GENERAL_MODEL,
        ADDITIVE_MODEL,
        TRANSFORMER_MODEL,
        LARGE_MODEL,
    ]


def test_translations_of_the_installed_models_are_shown(page: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(folder / TRANSFORMER_MODEL)
    shutil.rmtree(folder / FIXED_CONTEXT_MODEL)
    app = page(exhibit="answers")
    assert not app.exception
    assert len(mounted(app, "side_by_side")[0]["lanes"]) == 3
    assert texts_with(app, f"{FIXED_CONTEXT_MODEL}, {TRANSFORMER_MODEL}") == snapshot


@pytest.fixture
def detector(folder: Path, tokenizer: Tokenizer) -> Path:
    place = folder / "detector"
    save_model(place, random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1), tokenizer)
    return place


def test_exhibit_reports_a_missing_detector(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(exhibit="pair")
    assert not app.exception
    assert panel_texts(app, "transformer_problem_exhibit") == snapshot


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


def test_pair_defaults_to_the_translation_and_resets_with_the_sentence(page: Run, detector: Path) -> None:
    app = page(exhibit="pair")
    first = field(app, "pair")["value"]
    assert first
    assert "pair" not in address(app)
    set_field(app, "pair", "Un chat.")
    assert address(app)["pair"] == "Un chat."
    set_field(app, "sentence", "A cat sleeps.")
    assert not app.exception
    assert field(app, "pair")["value"] != "Un chat."
    assert "pair" not in address(app)


def comparisons_caption(app: AppTest) -> str:
    """Return the caption of the sum over the comparison vectors."""
    *_, summary = [one["captions"]["every"][1] for one in mounted(app, "chart") if "every" in one.get("captions", {})]
    return str(summary)


def test_link_to_another_sentence_brings_its_french_sentence(page: Run, detector: Path) -> None:
    app = page(exhibit="pair", pair="Deux chats jouent.")
    linked = {"sentence": "A cat sleeps.", "exhibit": "pair", "pair": "Un chat dort."}
    ask(app, "follow", f"?{urlencode(linked)}")
    app.run()
    assert not app.exception
    assert field(app, "pair")["value"] == "Un chat dort."
    assert address(app) == linked


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


@pytest.mark.parametrize("swap", ["0.2", "2.2", "3.99", "x", "5.2"])
def test_invalid_swap_is_ignored(page: Run, detector: Path, swap: str) -> None:
    app = page(exhibit="pair", swap=swap)
    assert not app.exception
    assert comparisons_caption(app) == comparisons_caption(page(exhibit="pair"))


def test_one_word_cannot_be_swapped(page: Run, detector: Path) -> None:
    app = page(exhibit="pair", sentence="Snow")
    assert not app.exception
    assert not {"swap_button"} & {one["key"] for one in mounted(app, "button")}


def test_exhibits_can_be_visited_in_any_order(page: Run, detector: Path) -> None:
    app = page(**{"step-energies": "2"})
    for name in ("pair", "heads", "answers", "dot", "heads", "", "dot", "nine"):
        ask(app, "exhibit", name)
        app.run()
        assert not app.exception
        assert len(mounted(app, "attention_row")) == 1
        assert mounted(app, "attention_row")[0]["opened"] == address(app).get("exhibit", "")
        assert address(app).get("exhibit") == (name if name not in ("", "nine") else None)
        assert ("head" in address(app)) == (name == "heads")


def test_comparison_of_all_models_opens_and_closes(page: Run) -> None:
    app = page()
    for name in ("answers", None):
        press(app, "compare_models")
        assert not app.exception
        assert address(app).get("exhibit") == name
        assert len(mounted(app, "side_by_side")) == (name is not None)


def test_invalid_exhibit_opens_none(page: Run) -> None:
    app = page(exhibit="nine")
    assert not app.exception
    assert "exhibit" not in address(app)
    assert not mounted(app, "player")
