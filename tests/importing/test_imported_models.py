"""Imported checkpoints as model folders of attnviz.

They compute the numbers of their own network, all of which are verified, and interrupted reading or writing leaves
nothing incomplete.
"""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.diagram_texts import diagram_terms
from attnviz.analysis.logit_attribution import logit_attribution, logit_attributions
from attnviz.analysis.posterior import posterior
from attnviz.analysis.recomputation import recompute
from attnviz.architectures import architecture_of, could_be_of, narrate, step_texts, verifier_of
from attnviz.checkpoint import load_model
from attnviz.commands.main import main
from attnviz.model_folder import EVERY_FILE, model_folders, read_weights
from attnviz.trace import Trace, WhatIfs
from attnviz.trace.interventions import ExcludePosition, ForceWords
from tests.analysis.given import verified_names, verified_quantities
from tests.analysis.test_terms import ALWAYS, drawn
from tests.conftest import REPOSITORY
from tests.equation_symbols import symbols_of
from tests.importing import bentrevett_seq2seq, joey_nmt
from tests.snapshots import plain

KINDS = (
    None,
    joey_nmt.Kind(),
    joey_nmt.Kind(rnn="lstm", layers=(3, 2), start="last", attention="luong"),
    joey_nmt.Kind(layers=(2, 3), start="zero", feeding=False, scale=True),
)
"""The tutorial's translator, and some of Joey NMT's."""
TUTORIAL = ("ein mann schläft im park .", "a man sleeps in the park .")
JOEY = ("der hund schläft im park .", "the dog sleeps in park .")


def _write_peer(folder: Path, kind: joey_nmt.Kind | None, seed: int = 0) -> Any:
    return (
        bentrevett_seq2seq.write_checkpoint(folder, seed) if kind is None else joey_nmt.write_model(folder, kind, seed)
    )


def _import_peer(folder: Path, kind: joey_nmt.Kind | None, seed: int = 0, *options: str) -> tuple[Any, Path]:
    peer, made = _write_peer(folder, kind, seed), folder / "models" / "mine"
    assert main(["import", str(folder), "-o", str(made), *options]) == 0
    return peer, made


def _texts(kind: joey_nmt.Kind | None) -> tuple[str, str]:
    return TUTORIAL if kind is None else JOEY


def _peers_logits(peer: Any, kind: joey_nmt.Kind | None) -> np.ndarray[Any, Any]:
    """Return the logits of the peer's own network by forced decoding of the target, with its own ids."""
    source, target = (text.split() for text in _texts(kind))
    known = bentrevett_seq2seq if kind is None else joey_nmt
    read = [*map(known.SOURCE.index, source), 3]
    logits, _ = peer.force_decode([2, *read] if kind is None else read, [*map(known.TARGET.index, target), 3])
    return np.asarray(logits.numpy())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_logits_equal_peer_logits_in_torch_and_numpy(tmp_path: Path, kind: joey_nmt.Kind | None) -> None:
    peer, made = _import_peer(tmp_path, kind)
    expected, (source, target) = _peers_logits(peer, kind), _texts(kind)
    translator = Translator.load(made, device="cpu")
    trace = translator.translate(source, target=target)
    known = bentrevett_seq2seq.TARGET if kind is None else joey_nmt.TARGET
    order = [1, 0, 2, 3, *range(4, len(known))]  # in attnviz, PAD comes first
    network, _ = load_model(made)
    previous = torch.tensor([trace.previous_ids])
    with torch.inference_mode():
        logits = network.logits(torch.tensor([trace.source_ids]), torch.tensor([len(trace.source_ids)]), previous)[0]
    assert np.abs(logits.numpy() - expected[:, order]).max() < 1e-5
    again = recompute(read_weights(made), trace.config, trace.source_ids, trace.target_ids)
    assert np.abs(again["logits"] - expected[:, order]).max() < 1e-5


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_number_is_verified_and_saved(tmp_path: Path, kind: joey_nmt.Kind | None) -> None:
    _, made = _import_peer(tmp_path, kind)
    translator, weights, (source, target) = Translator.load(made, device="cpu"), read_weights(made), _texts(kind)
    for options in ({}, {"beam": 3}, {"target": target}, {"interventions": [ForceWords((5,), 0)]}):
        trace: Any = translator.translate(source, **options)  # type: ignore[arg-type]
        assert trace.imported
        assert WhatIfs.from_json(trace.to_json()).first.fingerprint == trace.fingerprint
        assert could_be_of(trace, weights)
        verifier = verifier_of(trace, weights)
        for step in range(len(trace.target_pieces)):
            found = verifier.verify(step)
            assert found.holds, found.discrepancies
            assert found.largest_difference < 1e-5
            assert {check.quantity for check in found.checks} >= verified_quantities(trace)
            assert [one.number for one in narrate(trace, step)] == [
                stage.number for stage in architecture_of(trace).stages(trace)
            ]


@given(
    name=st.sampled_from(("energies", "alignment", "contexts", "layer_states", "gates", "readouts", "keys")),
    place=st.integers(0, 10**6),
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_altered_number_is_detected(tmp_path_factory: Any, name: str, place: int) -> None:
    trace, weights = _cached_translation(tmp_path_factory)
    array = getattr(trace, name).copy()
    array.flat[place % array.size] += 0.01
    altered = dataclasses.replace(trace, **{name: array})
    verifier = verifier_of(altered, weights)
    wrong = {one.quantity for step in range(len(trace.target_pieces)) for one in verifier.verify(step).discrepancies}
    assert verified_names(trace, name) & wrong


_CACHED: dict[str, Any] = {}


def _cached_translation(tmp_path_factory: Any) -> tuple[Trace, Any]:
    """Return one translation of Joey NMT's, made once, with the weights."""
    if not _CACHED:
        _, made = _import_peer(tmp_path_factory.mktemp("joey"), KINDS[2])
        translator = Translator.load(made, device="cpu")
        _CACHED.update(
            trace=translator.translate(*_texts(KINDS[2])[:1], target="the dog ."), weights=read_weights(made)
        )
    return _CACHED["trace"], _CACHED["weights"]


def test_every_equation_symbol_is_in_the_diagram(tmp_path: Path) -> None:
    _, made = _import_peer(tmp_path, None)
    trace: Any = Translator.load(made, device="cpu").translate(_texts(None)[0], beam=1)
    symbols, found = (
        symbols_of(step_texts(trace).equation_templates(trace, "light"), 1),
        set(drawn(diagram_terms(trace), 1)),
    )
    inner = {one for one in symbols if one[0] not in ALWAYS - {"x"} or "\u0303" in one}
    assert {one for one in inner if not {one, one[0]} & found} == set(), "weights of one letter are that letter"
    assert {"Wa", "ba", "x2", "r2", "bo"} <= symbols & found


def test_logit_attribution_of_linear_readout_sums_to_logit(tmp_path: Path) -> None:
    _, made = _import_peer(tmp_path, None)
    trace: Any = Translator.load(made, device="cpu").translate(TUTORIAL[0], target=TUTORIAL[1])
    weights = read_weights(made)
    logits = recompute(weights, trace.config, trace.source_ids, trace.target_ids)["logits"]
    cells = [(step, piece) for step in range(len(logits)) for piece in range(logits.shape[1])]
    for (step, piece), account in zip(cells, logit_attributions(trace, weights, cells), strict=True):
        assert account.source.shape == (len(trace.source_pieces),)
        assert account.logit == pytest.approx(logits[step, piece], abs=1e-5)
    weights["decoder.output.bias"] = weights["decoder.output.bias"] + 1
    assert logit_attribution(trace, weights, 0, 4).bias == pytest.approx(
        logit_attributions(trace, weights, [(0, 4)])[0].bias
    )


def test_logit_attribution_through_tanh_is_refused(tmp_path_factory: Any, snapshot: SnapshotAssertion) -> None:
    trace, weights = _cached_translation(tmp_path_factory)
    with pytest.raises(ValueError, match="tanh") as error:
        logit_attribution(trace, weights, 0, 4)
    assert str(error.value) == snapshot


def test_posterior_attention_and_attributions_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    _, made = _import_peer(tmp_path, None)
    translator = Translator.load(made, device="cpu")
    trace: Any = translator.translate(TUTORIAL[0], beam=1)
    with pytest.raises(AttnvizError) as of_posterior:
        posterior(trace, read_weights(made))
    with pytest.raises(AttnvizError) as of_attributions:
        translator.attributions(trace)
    assert [str(of_posterior.value), str(of_attributions.value)] == snapshot


def test_imported_model_works_in_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, made = _import_peer(tmp_path, None)
    assert [folder.name for folder in model_folders(made.parent)] == ["mine"]
    pairs, model = tmp_path / "pairs.tsv", ["--model", str(made)]
    pairs.write_text("\t".join(TUTORIAL) + "\n", encoding="utf-8")
    for command in (
        ["translate", *model, "--json", TUTORIAL[0]],
        ["align", *model, str(pairs)],
        ["evaluate", *model, str(pairs)],
        ["figure", *model, TUTORIAL[0], "-o", str(tmp_path / "made.html")],
        [
            "figure",
            *model,
            TUTORIAL[0],
            "--picture",
            "logit-attribution",
            "--step",
            "1",
            "-o",
            str(tmp_path / "logit_attribution.csv"),
        ],
        ["figure", *model, TUTORIAL[0], "--picture", "state", "--step", "1", "-o", str(tmp_path / "state.csv")],
        ["corpus", *model, "-o", str(tmp_path / "made.parquet"), str(pairs)],
    ):
        assert main(command) == 0, capsys.readouterr().err
    assert "bias" in (tmp_path / "logit_attribution.csv").read_text(encoding="utf-8-sig")
    assert main(["align", *model, "--after", str(pairs)]) == 2
    assert main(["figure", *model, TUTORIAL[0], "--picture", "maxout", "-o", str(tmp_path / "x.csv")]) == 2
    assert "imported" in capsys.readouterr().err


def test_start_mark_of_a_source_is_no_word_of_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bentrevett_seq2seq.write_checkpoint(tmp_path)
    made, pairs = tmp_path / "made", tmp_path / "pairs.tsv"
    source, target = "ein mann schläft .", "a man sleeps ."
    pairs.write_text(f"{source}\t{target}\n", encoding="utf-8")
    assert main(["import", str(tmp_path), "-o", str(made)]) == 0
    trace = Translator.load(made, device="cpu").translate(source, target=target)
    assert trace.source_pieces[0] == "<s>"
    assert main(["corpus", "--model", str(made), "-o", str(tmp_path / "made.parquet"), str(pairs)]) == 0
    (row,) = parquet.read_table(tmp_path / "made.parquet").to_pylist()
    assert (row["source_words"], row["source_length"], row["length_ratio"]) == (source.split(), 4, 1)
    assert np.allclose(row["coverage"], trace.alignment[:, 1:-1].sum(axis=0), atol=1e-5)
    assert max(link["j"] for link in row["links_before"]) < 4
    capsys.readouterr()
    assert main(["align", "--words", "--model", str(made), str(pairs)]) == 0
    links = " ".join(f"{j - 1}-{i}" for i, j in enumerate(trace.alignment[:-1].argmax(axis=1)) if 0 < j < 5)
    printed = capsys.readouterr().out.rstrip("\n").split("\t")
    assert printed[:2] == [source, target]
    assert {*links.split()} <= {*printed[2].split()}


def test_typed_text_is_split_into_known_words(tmp_path: Path) -> None:
    _, made = _import_peer(tmp_path, None)
    translator = Translator.load(made, device="cpu")
    trace = translator.translate("Ein Hund, schläft zuhause im Park.", beam=1)
    assert trace.words().source == ("<s>", "ein", "hund", ",", "schläft", "zuhause", "im", "park", ".", "</s>")
    assert trace.unknown_characters == (",", "zuhause")
    assert set(translator.translate("<s> <unk>", beam=1).source_ids[1:-1]) == {1}  # special tokens cannot be typed
    for text in ("", "\u200b", "ein " * 300):
        with pytest.raises(AttnvizError):
            translator.translate(text, beam=1)


def test_continued_token_joins_the_next_into_one_word(tmp_path: Path) -> None:
    _write_peer(tmp_path, None)
    tokens = [f"{token}@@" if token in ("sleeps", "schläft") else token for token in bentrevett_seq2seq.TARGET]
    (tmp_path / "target.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "mine")]) == 0
    trace = Translator.load(tmp_path / "mine", device="cpu").translate("ein mann", target="a sleeps@@ dog .")
    assert trace.words().target == ("a", "sleepsdog", ".", "</s>")
    assert trace.translation == "a sleeps@@ dog ."


def test_attention_cannot_be_changed_but_words_can(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    _, made = _import_peer(tmp_path, None)
    translator = Translator.load(made, device="cpu")
    with pytest.raises(AttnvizError) as error:
        translator.translate("ein mann", interventions=[ExcludePosition(0)], beam=1)
    assert plain(error.value, tmp_path) == snapshot
    assert translator.translate("ein mann", interventions=[ForceWords((6,), 0)], beam=1).target_ids[0] == 6


def test_half_option_rounds_weights_to_float16(tmp_path: Path) -> None:
    _, made = _import_peer(tmp_path, None, 0, "--half")
    assert {array.dtype for array in read_weights(made).values()} == {np.dtype(np.float16)}
    trace = Translator.load(made, device="cpu").translate("ein mann", beam=1)
    assert verifier_of(trace, read_weights(made)).verify(0).holds


@pytest.mark.nightly
def test_import_is_reproducible_and_resumes_after_kill(tmp_path: Path) -> None:
    _, made = _import_peer(tmp_path, None)
    files = {path.name: path.read_bytes() for path in made.iterdir()}
    assert set(files) < set(EVERY_FILE)
    command = [sys.executable, "-m", "attnviz", "import", str(tmp_path), "-o", str(tmp_path / "other")]
    begun = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    while begun.poll() is None and not (tmp_path / "other").exists():
        pass
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "other")]) == 0
    assert main(["import", str(tmp_path), "-o", str(made)]) == 0
    for folder in (made, tmp_path / "other"):
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".tmp"} == files


def test_import_does_not_overwrite_own_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_peer(tmp_path, None)
    (tmp_path / "own").mkdir()
    record = {"format": "attnviz-model", "version": 2, "model": {"vocabulary_size": 10}}
    (tmp_path / "own" / "config.json").write_text(json.dumps(record))
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "own")]) == 2
    assert "was not imported" in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: (folder / "vocabularies.json").unlink(), id="no-vocabularies"),
        pytest.param(lambda folder: (folder / "vocabularies.json").write_text("{}"), id="empty-vocabularies"),
        pytest.param(lambda folder: _change(folder, "vocabularies.json", '"ein"', '"ein","noch"'), id="one-token-more"),
        pytest.param(lambda folder: _change(folder, "config.json", '"joined"', '"tanh"'), id="readout"),
        pytest.param(lambda folder: _change(folder, "config.json", '"cell": "gru"', '"cell": "lstm"'), id="lstm"),
        pytest.param(lambda folder: _change(folder, "config.json", '"layers": 1', '"layers": 65'), id="layers"),
        pytest.param(
            lambda folder: _change(folder, "config.json", '"hidden_size": 12', '"hidden_size": 13'), id="hidden-size"
        ),
    ],
)
def test_damaged_folder_is_refused(
    tmp_path: Path, damage: Callable[[Path], object], snapshot: SnapshotAssertion
) -> None:
    _, made = _import_peer(tmp_path, None)
    damage(made)
    with pytest.raises(AttnvizError) as error:
        Translator.load(made, device="cpu")
    assert plain(error.value, tmp_path) == snapshot


def _change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
