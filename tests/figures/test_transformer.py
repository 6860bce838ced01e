"""Heatmaps, step figures and exports of a transformer: single heads, layers, and the mean of all heads."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from attnviz import Translator, figures
from attnviz.analysis.gold import pharaoh
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.figures.attention_figure import draw_context, draw_softmax
from attnviz.figures.heads_figure import draw_stream, head_gallery
from attnviz.figures.heatmap import heatmap
from attnviz.network import TransformerConfig
from attnviz.trace import TransformerTrace
from tests.conftest import SENTENCES
from tests.snapshots import plain, refusal
from tests.transformers import random_transformer


@pytest.mark.parametrize(("layer", "head"), [(None, None), (-1, None), (0, None), (0, 2), (1, 3)])
def test_a_heatmap_has_the_weights_of_its_head(heads, layer: int | None, head: int | None) -> None:
    drawn = heads.heatmap(layer, head, end=True)
    weights_of_layers = heads.cross_alignment if layer is None else heads.cross_alignment[[layer]]
    expected = weights_of_layers.mean(axis=(0, 1)) if head is None else weights_of_layers[0, head]
    np.testing.assert_allclose(np.array(drawn.data[0].z), expected, atol=1e-6)
    by_words = heads.heatmap(layer, head, by="words", end=True)
    np.testing.assert_allclose(np.array(by_words.data[0].z), heads.words().merged(expected), atol=1e-6)
    table = heatmap(heads.select_heads(layer, head), by="words", end=True).frame()
    np.testing.assert_allclose(table.to_numpy(), heads.words().merged(expected), atol=1e-6)


@pytest.fixture
def folder(tmp_path, tokenizer) -> Path:
    save_model(tmp_path / "small", random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    return tmp_path / "small"


def test_terms_add_up_and_the_gallery_has_every_head(heads) -> None:
    opened = heads.select_heads(0, 3).displayed
    subject = figures.Subject(opened, 2)
    rows = draw_stream(subject).frame().to_numpy().T
    np.testing.assert_allclose(rows[:-1].sum(axis=0), rows[-1], atol=1e-4)
    assert len(rows) == 3 * 2 + 2
    values = draw_context(subject).frame().to_numpy()
    np.testing.assert_allclose(values[:, :-1].sum(axis=1), values[:, -1], atol=1e-5)
    np.testing.assert_allclose(opened.contexts, opened.alignment @ opened.values, atol=1e-6)
    table = draw_softmax(subject).frame()
    np.testing.assert_allclose(table["alpha"], table["exp(e - max)"] / table["exp(e - max)"].sum(), atol=1e-6)
    spec = head_gallery(heads, {(0, 1): 0.25, (1, 2): 0.5})
    drawn = spec.figure()
    names = [note.text.rpartition("<br>")[2].split("  ") for note in drawn.layout.annotations]
    table = spec.frame()
    assert len(drawn.data) == len(names) == len(table) == 3 * 2 * 4
    assert [name[0] for name in names] == [f"{row.layer}.{row.head}" for row in table.itertuples()]
    assert [len(name) == 2 for name in names] == table["alignment error rate"].notna().tolist()
    assert table["alignment error rate"].dropna().tolist() == [0.25, 0.5]


def test_figures_of_the_other_architecture_are_refused(heads, translator, snapshot) -> None:
    recurrent = translator.translate(SENTENCES[0], beam=1)
    draws = (partial(recurrent.step_figure, 0, "stream"), partial(heads.step_figure, 0, "state"))
    assert [*map(refusal, draws), refusal(lambda: heads.heatmap(face="after"))] == snapshot


def test_commands_refuse_invalid_heads(folder, model_folder, tmp_path, capfd, snapshot) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("\t".join(SENTENCES[:2]) + "\n")
    for command in (["figure", SENTENCES[0], "-o", str(tmp_path / "x.csv")], ["align", str(pairs)]):
        for model, options in (
            (folder, ["--layer", "3"]),
            (folder, ["--layer", "1", "--head", "5"]),
            (folder, ["--head", "1"]),
            (folder, ["--layer", "all", "--head", "1"]),
            (model_folder, ["--layer", "1"]),
        ):
            assert main([*command, "--model", str(model), "--device", "cpu", *options]) != 0
            last_line = capfd.readouterr().err.splitlines()[-1]
            assert last_line == snapshot(name=" ".join([command[0], model.name, *options]))


def test_align_command_uses_the_selected_heads(folder, tmp_path, capfd, snapshot) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("\t".join(SENTENCES[:2]) + "\n")
    arguments = ["align", str(pairs), "--model", str(folder), "--device", "cpu"]
    trace = Translator.load(folder, "cpu").translate(SENTENCES[0], target=SENTENCES[1])
    for options, seen in (([], trace), (["--before", "--layer", "1", "--head", "2"], trace.select_heads(0, 1))):
        assert main([*arguments, *options]) == 0
        assert capfd.readouterr().out == f"{pharaoh(seen.words())}\n"
    assert main([*arguments, "--after"]) != 0
    assert plain(capfd.readouterr().err, tmp_path).splitlines()[-1] == snapshot


def test_files_contain_the_selected_heads(folder, tmp_path, capfd) -> None:
    arguments = ["figure", SENTENCES[0], "--model", str(folder), "--device", "cpu", "--beam", "1"]
    translated = Translator.load(folder, "cpu").translate(SENTENCES[0], beam=1)
    for options, heads in (([], ()), (["--layer", "2", "--head", "3"], (1, 2))):
        seen = translated.select_heads(*heads)
        for ending in ("csv", "pharaoh", "html", "json"):
            assert main([*arguments, *options, "-o", str(tmp_path / f"x.{ending}")]) == 0, capfd.readouterr().err
        lines = (tmp_path / "x.csv").read_text("utf-8-sig").splitlines()[1:]
        found = np.loadtxt(lines, delimiter=",", usecols=(1, 2, 3))
        np.testing.assert_allclose(found, seen.alignment[:-1, :3], atol=1e-6)
        assert (tmp_path / "x.pharaoh").read_text() == f"{pharaoh(seen.words())}\n"
        assert TransformerTrace.load(tmp_path / "x.json").heads == seen.heads
        assert main(["figure", "--trace", str(tmp_path / "x.json"), "-o", str(tmp_path / "again.csv")]) == 0
        assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "x.csv").read_bytes()
