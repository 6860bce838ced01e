"""Neighbours section of the lab as Streamlit runs it: nearest vectors, links, map, and choice of corpus."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.analysis.neighbours import Vectors, vectors_path
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.corpora import Analyser, Settings, analyse_file
from attnviz.corpora.vectors import write_vectors
from attnviz.environment import ATTNVIZ_CORPORA
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.ui.corpus_tables import SAMPLE
from tests.conftest import SENTENCES
from tests.importing.peers import Tutorial2017
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.fields import options, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted, panel_texts, payloads_of, tables_of


@pytest.fixture
def page(lab: Run) -> Run:
    """Return a function that opens the section as a link does."""
    return partial(lab, section="neighbours", sentence=SENTENCES[0], search="greedy")


@pytest.fixture
def shown(en_fr: Path) -> Translator:
    """Return the translator of the model that the page shows."""
    return Translator.load(en_fr, device="cpu")


def test_nearest_sample_entries_match_a_brute_force_search(page: Run, shown: Translator) -> None:
    """The reference is computed from the traces of all pairs, in float64."""
    app = page()
    assert not app.exception
    (listed,) = payloads_of(app, "neighbours", step=1)
    pairs = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    query = shown.translate(SENTENCES[0], beam=1).states[1].astype(np.float64)
    expected = []
    for source, target in pairs:
        states = shown.translate(source, target=target).states.astype(np.float64)
        cosines = states @ query / np.linalg.norm(states, axis=1) / np.linalg.norm(query)
        expected += [(cosine, source, target, step) for step, cosine in enumerate(cosines, 1)]
    expected.sort(key=lambda one: -one[0])
    listed_cosines = [float(entry["near"].removeprefix("cos = ")) for entry in listed["entries"]]
    np.testing.assert_allclose(listed_cosines, [one[0] for one in expected[: len(listed_cosines)]], atol=2e-3)
    to = urlsplit(listed["entries"][0]["to"])
    first = parse_qs(f"{to.query}&{to.fragment}")
    assert expected[0][0] - expected[1][0] > 1e-3
    assert (first["sentence"], first["target"], first["step"]) == (
        [expected[0][1]],
        [expected[0][2]],
        [str(expected[0][3])],
    )
    whole = "".join(listed["entries"][0][part] for part in ("before", "marked", "after"))
    assert "".join(whole.split()) == "".join(expected[0][2].split())


def test_map_has_a_point_for_each_vector_and_each_step(
    page: Run, shown: Translator, snapshot: SnapshotAssertion
) -> None:
    app = page(vectors="annotation")
    (drawn,) = payloads_of(app, "chart")
    figure = json.loads(drawn["template"])
    points = figure["data"][0]
    meta = figure["layout"]["meta"]
    assert len(points["text"]) == len(points["customdata"])
    pair, way = points["customdata"][0]
    assert way == "#source=1"
    assert parse_qs(urlsplit(meta["opens"][pair]).query)["model"] == ["en-fr"]
    steps = len(shown.translate(SENTENCES[0], beam=1).target_pieces)
    assert len(drawn["values"]) == steps
    assert without_numbers(drawn["captions"]["0"][1]) == snapshot


@pytest.mark.parametrize("lang", ["fr"])
def test_choices_are_in_the_address_and_survive_a_language_change(
    lang: str, page: Run, snapshot: SnapshotAssertion
) -> None:
    app = page()
    assert not {"vectors", "near", "among"} & set(address(app))
    set_field(app, "vectors", "context")
    set_field(app, "near", "euclid")
    set_field(app, "lang", lang)
    assert (address(app)["vectors"], address(app)["near"]) == ("context", "euclid")
    (listed,) = payloads_of(app, "neighbours")
    assert re.sub("«.*»", "« … »", listed["heading"]) == snapshot
    distances = [float(entry["near"].removeprefix("distance ").replace(",", ".")) for entry in listed["entries"]]
    assert distances == sorted(distances)
    app.session_state["tables"] = True
    app.run()
    assert not app.exception
    assert {"cos", "ligne"} <= set(tables_of(app)[0]["columns"])
    again = page(vectors="nonsense", near="x", among="../../etc")
    assert not again.exception
    assert len(mounted(again, "neighbours")) == 1


def test_only_tables_with_vectors_of_this_model_are_offered(
    page: Run, shown: Translator, en_fr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables_folder, pairs = tmp_path / "shelf", tmp_path / "pairs.tsv"
    tables_folder.mkdir()
    pairs.write_text(f"{SENTENCES[0]}\t{SENTENCES[1]}\n{SENTENCES[2]}\t{SENTENCES[3]}\n", encoding="utf-8")
    for name in ("mine", "other", "bare", "damaged"):
        analyse_file(pairs, tables_folder / f"{name}.parquet", Analyser(shown, Settings(kind=None)))
    write_vectors(tables_folder / "mine.parquet", vectors_path(tables_folder / "mine.parquet"), shown)
    vectors = Vectors.load(vectors_path(tables_folder / "mine.parquet"))
    Vectors(vectors.model, "0" * 64, vectors.pairs, vectors.arrays).save(vectors_path(tables_folder / "other.parquet"))
    vectors_path(tables_folder / "damaged.parquet").write_bytes(b"PK")
    monkeypatch.setenv(ATTNVIZ_CORPORA, str(tables_folder))
    app = page(among="mine")
    _, other = options(app, "among")  # the first option is the sample of the page
    assert other == "mine"
    (listed,) = payloads_of(app, "neighbours")
    assert {entry["other"] for entry in listed["entries"]} == {SENTENCES[2]}, "the sentence itself is left out"
    shutil.rmtree(tables_folder)
    assert not page(among="mine").exception


def test_section_says_that_an_imported_translator_has_no_neighbours(
    lab: Run, models_folder: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    Tutorial2017().write(tmp_path)
    assert main(["import", str(tmp_path), "-o", str(models_folder / "french")]) == 0
    app = lab(section="neighbours", model="french", sentence="il est fatigue .", search="greedy")
    assert panel_texts(app, "section_panel") == snapshot
    assert not mounted(app, "neighbours")


def test_section_reports_that_a_transformer_has_no_neighbours(
    page: Run, models_folder: Path, tokenizer: Tokenizer, snapshot: SnapshotAssertion
) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 12, 3, 2, 5), 1)
    save_model(models_folder / "t", network, tokenizer)
    app = page(model="t")
    assert panel_texts(app, "section_panel") == snapshot
    assert not mounted(app, "neighbours")
