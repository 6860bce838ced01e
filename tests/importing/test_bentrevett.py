"""Checkpoints of the seq2seq tutorial: numbers equal the peer's, other structures are refused."""

from __future__ import annotations

import argparse
import json
import pickle
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
from attnviz.importing.family import load_checkpoint, write_checkpoint
from attnviz.importing.program import Checkpoint
from tests.importing import bentrevett_seq2seq
from tests.importing.bentrevett_seq2seq import SOURCE, TARGET, Seq2Seq
from tests.snapshots import plain

SENTENCE = ("ein", "mann", "schläft", "im", "park", ".")
READ = [2, *(SOURCE.index(token) for token in SENTENCE), 3]


ORDER = [1, 0, *range(2, len(TARGET))]
"""Ids in the peer of the tokens in attnviz, where PAD comes first."""


@pytest.fixture
def peer(tmp_path: Path) -> Seq2Seq:
    return bentrevett_seq2seq.write_checkpoint(tmp_path)


def _translator(checkpoint: Checkpoint, folder: Path) -> Translator[Any]:
    write_checkpoint(checkpoint, folder)
    return Translator.load(folder, device="cpu")


def _same_weights(one: Checkpoint, other: Checkpoint) -> bool:
    assert set(one.weights) == set(other.weights)
    return all(np.array_equal(one.weights[name], other.weights[name]) for name in one.weights)


@given(st.lists(st.sampled_from(TARGET[4:]), min_size=1, max_size=8), st.integers(0, 2))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_logits_energies_and_weights_equal_those_of_peer(tmp_path: Path, target: list[str], seed: int) -> None:
    peer = bentrevett_seq2seq.write_checkpoint(tmp_path, seed)
    checkpoint = load_checkpoint(tmp_path)
    trace = _translator(checkpoint, tmp_path / "mine").translate(" ".join(SENTENCE), target=" ".join(target))
    found_logits = recompute(checkpoint.weights, checkpoint.settings, trace.source_ids, trace.target_ids)["logits"]
    ids = [*(TARGET.index(token) for token in target), 3]
    logits, energies = peer.force_decode(READ, ids)
    assert [ORDER[place] for place in trace.target_ids] == ids
    assert np.abs(found_logits - logits.numpy()[:, ORDER]).max() < 1e-5
    assert np.abs(trace.energies - energies.numpy()).max() < 1e-5
    assert np.abs(trace.alignment - torch.softmax(energies, dim=1).numpy()).max() < 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_greedy_translation_is_the_likeliest_of_peer(tmp_path: Path, seed: int) -> None:
    peer = bentrevett_seq2seq.write_checkpoint(tmp_path, seed)
    trace = _translator(load_checkpoint(tmp_path), tmp_path / "mine").translate(" ".join(SENTENCE), beam=1)
    ids = [ORDER[place] for place in trace.target_ids]
    logits, _ = peer.force_decode(READ, ids)
    logits[:, [1, 2]] = -torch.inf  # no search writes padding and the start token
    *likeliest, last = logits.argmax(dim=1).tolist()
    assert ids[:-1] == likeliest
    assert last == 3 or len(ids) == 2 * len(READ) + 20


def test_older_names_and_wrapped_tensors_are_read(peer: Seq2Seq, tmp_path: Path) -> None:
    expected = load_checkpoint(tmp_path)
    older = {
        "module." + name.replace("attn_fc", "attn").replace("v_fc", "v"): tensor
        for name, tensor in peer.state_dict().items()
    }
    torch.save({"epoch": 3, "model_state_dict": older}, tmp_path / "tut3-model.pt")
    (tmp_path / "source.txt").unlink()
    (tmp_path / "source.json").write_text(json.dumps({token: i for i, token in enumerate(SOURCE)}), encoding="utf-8")
    assert _same_weights(load_checkpoint(tmp_path), expected)


@pytest.mark.parametrize(
    "names", [{"encoder.": "enc."}, {"decoder.": "dec."}, {"encoder.": "a.", "decoder.": "b."}], ids=str
)
def test_renamed_attributes_are_compared_with_the_nearest_program_and_can_be_mapped(
    peer: Seq2Seq, tmp_path: Path, names: dict[str, str], snapshot: SnapshotAssertion
) -> None:
    expected, state = load_checkpoint(tmp_path), dict(peer.state_dict())
    for old, new in names.items():
        state = {new + name.removeprefix(old) if name.startswith(old) else name: a for name, a in state.items()}
    torch.save(state, tmp_path / "tut3-model.pt")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot
    back = {new: old for old, new in names.items()}
    assert _same_weights(load_checkpoint(tmp_path, rename=back), expected)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path, rename=back | {"other.": "encoder."})
    assert plain(error.value, tmp_path) == snapshot


def test_part_listed_twice_is_read_and_two_different_parts_are_refused(peer: Seq2Seq, tmp_path: Path) -> None:
    expected, state = load_checkpoint(tmp_path), dict(peer.state_dict())
    state["attention.v.weight"] = state["decoder.attention.v_fc.weight"]
    torch.save(state, tmp_path / "tut3-model.pt")
    assert _same_weights(load_checkpoint(tmp_path), expected)
    state["attention.v.weight"] = state["attention.v.weight"] + 1
    torch.save(state, tmp_path / "tut3-model.pt")
    with pytest.raises(AttnvizError, match=r"attention\.v\.weight"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(lambda state: {f"_orig_mod.module.{k}": v for k, v in state.items()}, id="compiled-and-parallel"),
        pytest.param(
            lambda state: {
                "state_dict": {f"model.{k}": v for k, v in state.items()},
                "hyper_parameters": argparse.Namespace(size=3),
                "epoch": 1,
            },
            id="lightning",
        ),
        pytest.param(
            lambda state: {
                half: {k.removeprefix(f"{half}."): v for k, v in state.items() if k.startswith(half)}
                for half in ("encoder", "decoder")
            },
            id="one-dictionary-of-both",
        ),
    ],
)
def test_wrapped_checkpoints_are_read(
    peer: Seq2Seq, tmp_path: Path, stored: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    expected = load_checkpoint(tmp_path)
    torch.save(stored(dict(peer.state_dict())), tmp_path / "tut3-model.pt")
    assert _same_weights(load_checkpoint(tmp_path), expected)


def test_encoder_and_decoder_in_two_files_are_read(peer: Seq2Seq, tmp_path: Path) -> None:
    expected = load_checkpoint(tmp_path)
    (tmp_path / "tut3-model.pt").unlink()
    for name in ("encoder", "decoder"):
        torch.save(getattr(peer, name).state_dict(), tmp_path / f"EN-{name.capitalize()}.pt")
    (tmp_path / "EN-Decoder.pt").rename(tmp_path / "EN-decoder.pt")
    for path in (tmp_path, tmp_path / "EN-Encoder.pt", tmp_path / "EN-decoder.pt"):
        assert _same_weights(load_checkpoint(path), expected)


def test_several_checkpoints_are_listed_and_one_can_be_chosen(
    peer: Seq2Seq, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    expected = load_checkpoint(tmp_path)
    torch.save(Seq2Seq(seed=1).state_dict(), tmp_path / "other.pt")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot
    assert _same_weights(load_checkpoint(tmp_path / "tut3-model.pt"), expected)
    assert not _same_weights(load_checkpoint(tmp_path / "other.pt"), expected)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("src_emb.embeddings.weight", "decoder.rnn.layers.0.weight_ih"), id="eole"),
        pytest.param(
            ("encoder.blks.block0.attention.attention.W_q.weight", "decoder.blks.block0.ffn.dense1.weight"), id="d2l"
        ),
        pytest.param(("encoder.embed_tokens.weight", "encoder.layers.0.self_attn.k_proj.weight"), id="fairseq"),
        pytest.param(
            (
                "encoder.embeddings.make_embedding.emb_luts.0.weight",
                "encoder.transformer.0.self_attn.linear_keys.weight",
            ),
            id="opennmt",
        ),
        pytest.param(("encoder.layers.0.self_attn.k_proj.weight",), id="transformer"),
    ],
)
def test_known_program_is_named_with_the_way_out(
    tmp_path: Path, names: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    torch.save(dict.fromkeys((*names, "other.weight"), torch.ones(2)), tmp_path / "model.pt")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert str(error.value) == snapshot


def _saved(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        state = dict(Seq2Seq().state_dict())
        change(state)
        torch.save(state, folder / "tut3-model.pt")

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_saved(lambda s: s.pop("decoder.fc_out.weight")), id="lacks-readout"),
        pytest.param(_saved(lambda s: s.update({"decoder.copy.weight": torch.zeros(2)})), id="one-tensor-more"),
        pytest.param(_saved(lambda s: s.update({"encoder.rnn.weight_ih_l0": torch.zeros(40, 8)})), id="shape-of-gru"),
        pytest.param(
            _saved(lambda s: s.update({"decoder.attention.v_fc.weight": torch.zeros(1, 5)})), id="shape-of-score"
        ),
        pytest.param(_saved(lambda s: s.update({"encoder.fc.weight": torch.zeros(3)})), id="shape-of-bridge"),
        pytest.param(_saved(lambda s: s.update({"encoder.fc.bias": torch.full((12,), torch.nan)})), id="nan"),
        pytest.param(_saved(lambda s: s.clear()), id="no-tensors"),
        pytest.param(lambda f: (f / "tut3-model.pt").write_bytes(b"?"), id="no-pickle"),
        pytest.param(lambda f: (f / "tut3-model.pt").write_bytes(pickle.dumps(print)), id="function-in-pickle"),
        pytest.param(lambda f: (f / "tut3-model.pt").unlink(), id="no-checkpoint"),
        pytest.param(lambda f: (f / "target.txt").unlink(), id="no-target-vocabulary"),
        pytest.param(lambda f: (f / "target.txt").write_text("a\n"), id="too-few-tokens"),
        pytest.param(lambda f: (f / "target.txt").write_bytes(b"\xff"), id="not-utf-8"),
        pytest.param(lambda f: (f / "source.txt").write_text("\n".join(SOURCE).replace("<unk>", "unk")), id="no-unk"),
    ],
)
def test_other_structures_and_damage_are_refused(
    peer: Seq2Seq, tmp_path: Path, damage: Callable[[Path], object], snapshot: SnapshotAssertion
) -> None:
    damage(tmp_path)
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


@pytest.mark.parametrize(
    "vocabulary",
    [
        pytest.param("[1, 2]", id="numbers"),
        pytest.param('{"a": 0, "b": 2}', id="gap"),
        pytest.param('{"a": "0"}', id="id-is-text"),
        pytest.param("3", id="no-list"),
        pytest.param('["a"', id="no-json"),
    ],
)
def test_damaged_json_vocabulary_is_refused(
    peer: Seq2Seq, tmp_path: Path, vocabulary: str, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "source.txt").unlink()
    (tmp_path / "source.json").write_text(vocabulary, encoding="utf-8")
    with pytest.raises(AttnvizError) as error:
        load_checkpoint(tmp_path)
    assert plain(error.value, tmp_path) == snapshot


def test_deeply_nested_json_vocabulary_is_refused(peer: Seq2Seq, tmp_path: Path) -> None:
    (tmp_path / "source.txt").unlink()
    (tmp_path / "source.json").write_text("[" * 10**5, encoding="utf-8")
    with pytest.raises(AttnvizError, match="cannot be read"):
        load_checkpoint(tmp_path)


def test_figure_command_draws_checkpoint(peer: Seq2Seq, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "made.csv"
    assert (
        main(["figure", "ein mann .", "--checkpoint", str(tmp_path), "--target", "a man .", "--end", "-o", str(made)])
        == 0
    )
    assert "5 </s>" in made.read_text(encoding="utf-8-sig")
    assert main(["figure", "--checkpoint", str(tmp_path), "--attention", "x", "-o", str(made)]) == 2
    assert main(["figure", "ein", "--checkpoint", str(tmp_path / "none"), "-o", str(made)]) == 2
    assert main(["figure", "ein", "--checkpoint", str(tmp_path), "--model", str(tmp_path), "-o", str(made)]) == 2
    errors = capsys.readouterr().err
    assert "--checkpoint and --model" in errors
    assert "Traceback" not in errors
