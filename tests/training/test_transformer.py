"""Training of a transformer: learning, resuming, starting another run, averaging, snapshots."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from attnviz import TrainingConfig, Translator, train
from attnviz.checkpoint import load_model
from attnviz.trace import TransformerTrace
from attnviz.trace.snapshots import load_folder
from tests.processes import run_python
from tests.small_run import Files, log_of, tiny, train_command

SOURCE, TARGET = "the cat sees the house.", "le chat voit la maison."


def _config(files: Files, output: Path, **changes: object) -> TrainingConfig:
    settings: dict[str, object] = {
        "vocabulary_size": 110,
        "architecture": "transformer",
        "model_size": 32,
        "heads": 4,
        "layers": 2,
        "feedforward_size": 48,
        "dropout": 0.0,
        "batch_tokens": 200,
        "updates": 120,
        "warmup": 20,
        "learning_rate": 8e-3,
        "matrix_rate": 0.5,
        "validate_every": 120,
        "checkpoint_every": 40,
        "snapshots": 3,
        "snapshot_sentences": (f"{SOURCE}\t{TARGET}",),
    }
    return tiny(files, output, **(settings | changes))


@pytest.fixture(scope="module")
def model(files, tmp_path_factory) -> Path:
    return train(_config(files, tmp_path_factory.mktemp("transformer") / "run"))


def test_transformer_learns_to_translate_and_snapshots_average_heads_of_the_last_layer(model) -> None:
    translator = Translator[TransformerTrace].load(model, "cpu")
    assert translator.translate(SOURCE, beam=1).translation == TARGET
    (found,) = load_folder(model / "snapshots")
    attended = translator.translate(SOURCE, target=TARGET).cross_attention()
    # The model is of the weights that validated best, in float16: the last moment's, or like them.
    np.testing.assert_allclose(found.alignments[0][-1], attended, atol=0.02)


def test_start_from_transformer_with_another_tokenizer(model, files, tmp_path) -> None:
    brief = {"updates": 1, "learning_rate": 1e-9, "bleu_sentences": 0, "snapshots": 0}
    other = {"start_from": str(model), "vocabulary_size": 100, "architecture": "rnnsearch"}
    config = _config(files, tmp_path / "run", **brief, **other)
    old, _ = load_model(model)
    new, tokenizer = load_model(train(config))
    assert new.config == dataclasses.replace(old.config, vocabulary_size=len(tokenizer))
    for name, values in new.state_dict().items():
        if not name.startswith("output"):
            np.testing.assert_allclose(values, old.state_dict()[name], atol=2e-3, err_msg=name)


@pytest.mark.nightly
def test_two_processes_train_one_model(files, tmp_path) -> None:
    config = _config(files, tmp_path / "run", updates=40, validate_every=40)
    settings = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(Path.cwd())}
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "attnviz"]
    run_python(*two, *train_command(config), **settings)
    losses = [float(row["validation_loss"]) for row in log_of(tmp_path / "run") if row["validation_loss"]]
    assert losses[-1] < 2.5, "far below log 110, the loss of a uniform guess"
    assert Translator.load(tmp_path / "run/model", "cpu").translate(SOURCE, beam=1).target_pieces
