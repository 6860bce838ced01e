"""Training that starts from a finished model, and averaging of the last checkpoints."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from syrupy.assertion import SnapshotAssertion

from attnviz.checkpoint import load_model, save_model
from attnviz.errors import AttnvizError
from attnviz.text import SPACE, UNK, Tokenizer
from attnviz.training import TrainingConfig, train
from attnviz.training.loop import _Run
from attnviz.training.preparation import start_from
from attnviz.training.processes import join_process_group
from attnviz.training.validation import Validation
from tests.conftest import SENTENCES, ModelFactory
from tests.training.test_run import tiny

Files = tuple[Path, Path]


@pytest.fixture(scope="module")
def model(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished model of the made-up language, trained for a moment."""
    return train(tiny(files, tmp_path_factory.mktemp("first") / "run", updates=40, snapshots=0))


def start_run(config: TrainingConfig) -> _Run:
    with join_process_group(config) as members:
        return _Run(config, members, kill=False)


def test_run_with_same_tokenizer_starts_at_the_model(files: Files, tmp_path: Path, model: Path) -> None:
    config = tiny(files, tmp_path / "run", start_from=str(model), vocabulary_size=0, hidden_size=8)
    started = start_run(config)
    network, tokenizer = load_model(model)
    assert started.tokenizer.model == tokenizer.model
    assert started.network.config == dataclasses.replace(network.config, dropout=config.dropout)
    expected = Validation(config, tokenizer, torch.device("cpu")).measure(network)
    assert started.validation.measure(started.network.eval()) == expected


@pytest.mark.parametrize(
    ("before", "now", "expected_guidance"), [(0.5, 0.0, 0.5), (0.5, 0.25, 0.25), (0.0, 0.5, 0.5), (None, 0.0, None)]
)
def test_config_records_whether_attention_was_ever_guided(
    tmp_path: Path,
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    before: float | None,
    now: float,
    expected_guidance: float | None,
) -> None:
    old = make_network()
    old.config = dataclasses.replace(old.config, guidance=before)
    save_model(tmp_path / "old", old, tokenizer)
    new = start_from(tmp_path / "old", tokenizer, 0.0, now)
    save_model(tmp_path / "new", new, tokenizer)
    assert load_model(tmp_path / "new")[0].config.guidance == expected_guidance


def test_known_rows_are_copied_and_others_averaged(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    old = make_network()
    save_model(tmp_path, old, tokenizer, dtype=torch.float32)
    other = Tokenizer.train([*SENTENCES, "bicycle bicycle station station"], 190)
    new = start_from(tmp_path, other, dropout=0.25)
    assert (new.config.vocabulary_size, new.config.dropout) == (190, 0.25)
    known = {tokenizer.piece(index): index for index in range(len(tokenizer))}
    spelled = 0
    for name in (
        "encoder.embedding.weight",
        "decoder.embedding.weight",
        "decoder.output.weight",
        "decoder.output.bias",
    ):
        before, after = old.state_dict()[name], new.state_dict()[name]
        for index in range(len(other)):
            piece = other.piece(index)
            if piece in known:
                assert torch.equal(after[index], before[known[piece]]), piece
                continue
            spelled += 1
            parts = tokenizer.encode(piece.replace(SPACE, " ")) or [UNK]
            if not piece.startswith(SPACE) and tokenizer.piece(parts[0]) == SPACE:
                parts = parts[1:]
            assert UNK in parts or "".join(tokenizer.pieces(parts)).lstrip(SPACE) == piece.lstrip(SPACE)
            torch.testing.assert_close(after[index], before[parts].mean(0))
    assert spelled > 4 * 20
    for name, weight in old.state_dict().items():
        if weight.shape[0] != len(tokenizer):
            assert torch.equal(new.state_dict()[name], weight), name


def test_missing_model_folder_is_named_before_any_work(files: Files, tmp_path: Path) -> None:
    config = tiny(files, tmp_path / "run", start_from=str(tmp_path / "nowhere"))
    with pytest.raises(AttnvizError, match="nowhere"):
        train(config)
    assert not (tmp_path / "run" / "corpus.npz").exists()
    with pytest.raises(AttnvizError, match="start_from"):
        tiny(files, tmp_path / "run", start_from=str(tmp_path / "run" / "model"))


def test_finished_model_averages_last_checkpoints(
    files: Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    config = tiny(files, tmp_path / "run", updates=30, average=3, validate_every=10, snapshots=0)
    seen: dict[int, dict[str, torch.Tensor]] = {}
    true = _Run._checkpoint

    def watched(self: _Run) -> None:
        seen[self.progress.update] = {name: weight.clone() for name, weight in self.network.state_dict().items()}
        true(self)

    monkeypatch.setattr(_Run, "_checkpoint", watched)
    for _ in range(2):  # a finished run may be started again
        folder = train(config)
        assert sorted(seen) == [7, 14, 21, 28, 30] or sorted(seen) == [30]
        network, tokenizer = load_model(folder)
        if len(seen) > 1:
            mean = {name: torch.stack([seen[u][name] for u in (21, 28, 30)]).mean(0) for name in seen[30]}
        for name, weight in network.state_dict().items():
            torch.testing.assert_close(weight, mean[name], rtol=2e-3, atol=1e-4)  # stored as float16
        seen.clear()
        with (tmp_path / "run/log.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["validation_loss"]]
        assert [(row["update"], row["weights"]) for row in rows] == [
            ("10", ""),
            ("20", ""),
            ("30", ""),
            ("30", "mean of 3"),
        ]
        measured = Validation(config, tokenizer, torch.device("cpu")).measure(network)
        assert float(rows[-1]["validation_loss"]) == pytest.approx(measured.loss, rel=1e-3)
        assert float(rows[-1]["validation_loss"]) != float(rows[-2]["validation_loss"])
        (message,) = re.findall(r"[^\r\n]*\b21, 28, 30\b[^\r\n]*", capfd.readouterr().err)
        assert re.sub(r"\d+\.\d+", "<number>", message) == snapshot(name="mean of checkpoints")
    copies = sorted(path.name for path in (tmp_path / "run/copies").iterdir())
    assert copies == ["000000021.safetensors", "000000028.safetensors", "000000030.safetensors"]
    (tmp_path / "run/copies" / copies[0]).write_bytes(b"none")
    with pytest.raises(AttnvizError, match=copies[0]):
        train(config)
    assert np.isfinite([float(row["validation_bleu"]) for row in rows]).all()


def _with_characters(tokenizer: Tokenizer, characters: Iterable[str]) -> Tokenizer:
    """Return the tokenizer with an added piece for each of `characters` that it lacks."""
    from sentencepiece import sentencepiece_model_pb2

    # sentencepiece_model_pb2 creates its classes at run time, where type checkers do not find them.
    model: Any = vars(sentencepiece_model_pb2)["ModelProto"].FromString(tokenizer.model)
    known = {piece.piece for piece in model.pieces}
    lowest = min(piece.score for piece in model.pieces)
    for character in dict.fromkeys(characters):
        if character not in known:
            lowest -= 1
            model.pieces.add(piece=character, score=lowest)
    model.trainer_spec.vocab_size = len(model.pieces)
    return Tokenizer(model.SerializeToString())


def test_new_character_starts_as_its_base_letter(model: Path) -> None:
    old, tokenizer = load_model(model)
    extended = _with_characters(tokenizer, ["ä", "☃"])
    started = start_from(model, extended, dropout=0.0)
    rows = started.state_dict()["encoder.embedding.weight"]
    before = old.state_dict()["encoder.embedding.weight"]
    ids = {extended.piece(index): index for index in range(len(tokenizer), len(extended))}
    assert torch.equal(rows[: len(tokenizer)], before)
    assert torch.equal(rows[ids["☃"]], before[UNK])
    base = tokenizer.encode("a")[-1:]
    assert base != [UNK]
    assert torch.equal(rows[ids["ä"]], before[base[0]])
