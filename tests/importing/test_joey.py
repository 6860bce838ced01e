"""Joey NMT checkpoints: the imported network computes the peer's numbers for every configuration."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.recomputation import recompute
from attnviz.commands.main import main
from attnviz.importing.checkpoint_folder import read_checkpoint
from attnviz.importing.family import load_checkpoint, read_translator, write_checkpoint
from tests.importing import bentrevett_seq2seq
from tests.importing.joey_nmt import SOURCE, TARGET, Kind, Model, write_model
from tests.snapshots import plain

SENTENCE, WRITTEN = ("der", "hund", "schläft", "."), ("the", "dog", "sleeps", ".")
KINDS = (
    Kind(),
    Kind(rnn="lstm"),
    Kind(attention="luong"),
    Kind(start="last"),
    Kind(start="zero"),
    Kind(layers=(2, 3)),
    Kind(rnn="lstm", layers=(3, 2), start="last", attention="luong"),
    Kind(feeding=False),
    Kind(scale=True),
)


ORDER = [1, 0, *range(2, len(TARGET))]
"""Ids in the peer of the tokens in attnviz, where PAD comes first."""


def _trace(folder: Path, **options: Any) -> Any:
    write_checkpoint(load_checkpoint(folder), folder / "mine")
    return Translator.load(folder / "mine", device="cpu").translate(" ".join(SENTENCE), **options)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_logits_and_weights_equal_those_of_peer(tmp_path: Path, kind: Kind) -> None:
    model = write_model(tmp_path, kind)
    logits, weights = model.force_decode([*map(SOURCE.index, SENTENCE), 3], ids := [*map(TARGET.index, WRITTEN), 3])
    trace, checkpoint = _trace(tmp_path, target=" ".join(WRITTEN)), load_checkpoint(tmp_path)
    found_logits = recompute(checkpoint.weights, checkpoint.settings, trace.source_ids, trace.target_ids)["logits"]
    assert [ORDER[place] for place in trace.target_ids] == ids
    assert np.abs(found_logits - logits.numpy()[:, ORDER]).max() < 1e-5
    assert np.abs(trace.alignment - weights.numpy()).max() < 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_greedy_search_writes_likeliest_allowed_token(tmp_path: Path, seed: int) -> None:
    model = write_model(tmp_path, Kind(), seed)
    ids = [ORDER[place] for place in _trace(tmp_path, beam=1).target_ids]
    logits, _ = model.force_decode([*map(SOURCE.index, SENTENCE), 3], ids)
    logits[:, [1, 2]] = -torch.inf
    logits[0, 3] = -torch.inf
    *likeliest, last = logits.argmax(dim=1).tolist()
    assert ids[:-1] == likeliest
    assert last == 3 or len(ids) == 30


@pytest.mark.parametrize("beam", [1, 3])
def test_no_search_ends_before_the_first_word(tmp_path: Path, beam: int) -> None:
    write_model(tmp_path, Kind())
    write_checkpoint(load_checkpoint(tmp_path), tmp_path / "mine")
    translator = Translator.load(tmp_path / "mine", device="cpu")
    with torch.inference_mode():
        translator.network.output.bias[3] = 1e3  # the end token is always the likeliest
    trace: Any = translator.translate(" ".join(SENTENCE), beam=beam)
    assert len(trace.target_ids) == 2


def _other(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        state = dict(Model(Kind()).state_dict())
        change(state)
        torch.save({"model_state": state}, folder / "best.ckpt")

    return damage


def _config(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "config.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_other(lambda s: s.pop("decoder.output_layer.weight")), id="lacks-output-layer"),
        pytest.param(_other(lambda s: s.pop("decoder.bridge_layer.bias")), id="lacks-bridge-bias"),
        pytest.param(_other(lambda s: s.pop("decoder.rnn.weight_hh_l0")), id="lacks-recurrent-weight"),
        pytest.param(_other(lambda s: s.update({"ctc.weight": torch.zeros(2)})), id="one-tensor-more"),
        pytest.param(_other(lambda s: s.update({"trg_embed.lut.weight": torch.zeros(3)})), id="shape-of-embedding"),
        pytest.param(_other(lambda s: s.update({"encoder.rnn.weight_ih_l0": torch.zeros(2, 2)})), id="shape-of-gru"),
        pytest.param(_config("model: 3"), id="model-is-number"),
        pytest.param(_config("model: {encoder: {embeddings: 3}, decoder: {}}"), id="embeddings-are-number"),
        pytest.param(_config("model: {decoder: {}}"), id="no-encoder"),
        pytest.param(_config("{"), id="no-yaml"),
        pytest.param(_config("model: {encoder: {}, decoder: {activation: relu}}"), id="activation"),
        pytest.param(_config("model: {encoder: {}, decoder: {init_hidden: [1]}}"), id="init-hidden-is-list"),
        pytest.param(_config("model: {encoder: {}, decoder: {init_hidden: last}}"), id="init-hidden-last"),
        pytest.param(lambda folder: (folder / "config.yaml").unlink(), id="no-config"),
        pytest.param(lambda folder: (folder / "trg_vocab.txt").unlink(), id="no-target-vocabulary"),
    ],
)
def test_other_structures_and_damage_are_refused(
    tmp_path: Path, damage: Callable[[Path], object], snapshot: SnapshotAssertion
) -> None:
    write_model(tmp_path, Kind())
    damage(tmp_path)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


def test_figure_command_draws_checkpoint(tmp_path: Path) -> None:
    write_model(tmp_path, Kind())
    made = tmp_path / "made.csv"
    assert (
        main(["figure", "der hund .", "--checkpoint", str(tmp_path), "--target", "the dog .", "--end", "-o", str(made)])
        == 0
    )
    assert "4 </s>" in made.read_text(encoding="utf-8-sig")


@given(
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 30), max_size=3)), min_size=1, max_size=2),
    st.sampled_from(KINDS),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tensor_shapes_translate_or_are_refused(
    tmp_path: Path, joeys: bool, changes: list[tuple[int, list[int]]], kind: Kind
) -> None:
    folder = tmp_path / (str(KINDS.index(kind)) if joeys else "tutorial")
    if not folder.exists():
        folder.mkdir()
        write_model(folder, kind) if joeys else bentrevett_seq2seq.write_checkpoint(folder)
    stored = read_checkpoint(folder)
    tensors = dict(stored.tensors)
    for place, shape in changes:
        tensors[list(tensors)[place % len(tensors)]] = np.zeros(shape)
    with contextlib.suppress(AttnvizError):
        write_checkpoint(read_translator(dataclasses.replace(stored, tensors=tensors)), folder / "made")
        Translator.load(folder / "made", device="cpu").translate("der hund", target="the dog")
