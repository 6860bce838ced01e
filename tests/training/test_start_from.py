"""Training that starts from a finished model, and averaging of the last checkpoints."""

import dataclasses
import re
from pathlib import Path

import pytest
import torch

from attnviz import AttnvizError, TrainingConfig, train
from attnviz.checkpoint import load_model, save_model
from attnviz.text import SPACE, UNK, Tokenizer
from attnviz.training.loop import _Run
from attnviz.training.preparation import start_from
from attnviz.training.processes import join_process_group
from attnviz.training.validation import Validation
from tests.conftest import SENTENCES
from tests.small_run import log_of, tiny


@pytest.fixture
def model(learned) -> Path:
    return learned / "model"


def start_run(config: TrainingConfig) -> _Run:
    with join_process_group(config) as members:
        return _Run(config, members, kill=False)


def test_run_with_same_tokenizer_starts_at_the_model(files, tmp_path, model) -> None:
    config = tiny(files, tmp_path / "run", start_from=str(model), vocabulary_size=0, hidden_size=8)
    started = start_run(config)
    network, tokenizer = load_model(model)
    assert started.tokenizer.model == tokenizer.model
    assert started.network.config == dataclasses.replace(network.config, dropout=config.dropout)
    expected = Validation(config, tokenizer, torch.device("cpu")).measure(network)
    assert started.validation.measure(started.network.eval()) == expected


def test_config_records_whether_attention_was_ever_guided(tmp_path, make_network, tokenizer) -> None:
    old = make_network()
    for before, now, expected in ((0.5, 0.0, 0.5), (0.5, 0.25, 0.25), (0.0, 0.5, 0.5), (None, 0.0, None)):
        old.config = dataclasses.replace(old.config, guidance=before)
        save_model(tmp_path / "old", old, tokenizer)
        save_model(tmp_path / "new", start_from(tmp_path / "old", tokenizer, 0.0, now), tokenizer)
        assert load_model(tmp_path / "new")[0].config.guidance == expected


def test_known_rows_are_copied_and_others_averaged(tmp_path, make_network, tokenizer) -> None:
    old = make_network()
    save_model(tmp_path, old, tokenizer, dtype=torch.float32)
    other = Tokenizer.train([*SENTENCES, "bicycle bicycle station station ärä ☃☃ ä ☃"], 190)
    new = start_from(tmp_path, other, dropout=0.25)
    assert (new.config.vocabulary_size, new.config.dropout) == (190, 0.25)
    known = {tokenizer.piece(index): index for index in range(len(tokenizer))}
    spelled = dict[str, list[int]]()
    for index in range(len(other)):
        if (piece := other.piece(index)) not in known:
            parts = tokenizer.encode(piece.replace(SPACE, " ").replace("ä", "a")) or [UNK]  # without its accent
            own_blank = not piece.startswith(SPACE) and tokenizer.piece(parts[0]) == SPACE
            spelled[piece] = parts[own_blank:]
    assert len(spelled) > 20
    assert {"ä", "☃"} <= {piece.strip(SPACE) for piece in spelled}
    for name, before in old.state_dict().items():
        after = new.state_dict()[name]
        if before.shape[0] != len(tokenizer):
            assert torch.equal(after, before), name
            continue
        for index in range(len(other)):
            piece = other.piece(index)
            parts = spelled.get(piece) or [known[piece]]
            torch.testing.assert_close(after[index], before[parts].mean(0), msg=piece)


def test_missing_model_folder_is_named_before_any_work(files, tmp_path) -> None:
    config = tiny(files, tmp_path / "run", start_from=str(tmp_path / "nowhere"))
    with pytest.raises(AttnvizError, match="nowhere"):
        train(config)
    assert not (tmp_path / "run" / "corpus.npz").exists()
    with pytest.raises(AttnvizError, match="start_from"):
        tiny(files, tmp_path / "run", start_from=str(tmp_path / "run" / "model"))


def test_finished_model_averages_last_checkpoints(files, tmp_path, monkeypatch, capfd, snapshot) -> None:
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
        rows = [row for row in log_of(tmp_path / "run") if row["validation_loss"]]
        weights = [("10", ""), ("20", ""), ("30", ""), ("30", "mean of 3")]
        assert [(row["update"], row["weights"]) for row in rows] == weights
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
