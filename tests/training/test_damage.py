"""The folder of a training run: damaged files are named, and interrupted writes lose nothing."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.errors import AttnvizError
from attnviz.files import replace_text, replacing
from attnviz.text import Tokenizer
from attnviz.training import TrainingConfig, train
from attnviz.training.encoded_pairs import Corpus
from attnviz.training.log import Log, read_log
from attnviz.training.objective import Lexicon
from attnviz.training.preparation import prepare_training
from tests.snapshots import plain
from tests.training.resuming import assert_same_state
from tests.training.test_run import tiny

Files = tuple[Path, Path]
ARRAYS = ("source", "source_starts", "target", "target_starts", "weights")


@pytest.fixture(scope="module")
def finished_run(files: Files, tmp_path_factory: pytest.TempPathFactory) -> TrainingConfig:
    """Return the config of a finished short run."""
    config = tiny(
        files,
        tmp_path_factory.mktemp("whole") / "run",
        updates=14,
        validate_every=7,
        guidance=0.5,
        decay_updates=4,
        snapshots=2,
    )
    train(config)
    return config


@pytest.fixture
def config(finished_run: TrainingConfig, tmp_path: Path) -> TrainingConfig:
    """Return the config of a copy of the finished run."""
    shutil.copytree(finished_run.output, tmp_path / "run")
    return dataclasses.replace(finished_run, output=str(tmp_path / "run"))


def edit_json(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        record = json.loads(path.read_text())
        path.write_text(json.dumps(change(record)))

    return edit


@pytest.mark.parametrize(
    "damage",
    [
        edit_json(lambda settings: [settings]),
        edit_json(lambda settings: settings | {"updates": "14"}),
        edit_json(lambda settings: settings | {"updates": True}),
        edit_json(lambda settings: settings | {"decay_updates": None}),
        edit_json(lambda settings: settings | {"data": [1]}),
        edit_json(lambda settings: settings | {"data": {}}),
        edit_json(lambda settings: settings | {"hidden_size": 10**30}),
        edit_json(lambda settings: settings | {"tails": 8}),
        edit_json(lambda settings: {name: settings[name] for name in settings if name != "data"}),
        lambda path: path.write_bytes(path.read_bytes()[:300]),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[" * 100_000),
    ],
)
def test_damaged_settings_are_named(config: TrainingConfig, damage: Callable[[Path], None]) -> None:
    damage(Path(config.output) / "training.json")
    with pytest.raises(AttnvizError, match=r"training\.json is damaged .*\.$"):
        prepare_training(dataclasses.replace(config, updates=20))


def test_missing_settings_get_defaults(config: TrainingConfig) -> None:
    drop = {"start_from", "average", "decay_updates"}
    edit_json(lambda settings: {n: v for n, v in settings.items() if n not in drop})(
        Path(config.output) / "training.json"
    )
    with pytest.raises(AttnvizError, match="other values of decay_updates"):
        prepare_training(config)
    prepare_training(dataclasses.replace(config, decay_updates=0))


def test_mutated_corpus_is_read_or_named(config: TrainingConfig) -> None:
    path, size = Path(config.output) / "corpus.npz", 80
    content, refused = path.read_bytes(), 0
    for seed in range(150):
        chance = random.Random(seed)  # noqa: S311  nothing is to be kept secret
        mutated = bytearray(content)
        for _ in range(chance.choice((1, 3, 30))):
            mutated[chance.randrange(len(mutated))] = chance.randrange(256)
        path.write_bytes(mutated[: chance.choice((None, None, chance.randrange(len(mutated))))])
        try:
            Corpus.load(path, size)
        except AttnvizError as error:
            refused += 1
            if not str(error).startswith(f"The prepared corpus {path} is damaged"):
                pytest.fail(f"seed {seed}: {error}")
        except Exception as error:  # noqa: BLE001  it is the very thing that must not be
            pytest.fail(f"seed {seed}: {error!r}")
    assert refused > 100


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("source", lambda ids: ids + 80),
        ("target", lambda ids: ids - 80),
        ("source", lambda ids: ids.astype(np.int64)),
        ("source", lambda ids: ids[:-1]),
        ("target_starts", lambda starts: starts[::-1].copy()),
        ("target_starts", lambda starts: starts[:-1]),
        ("source_starts", lambda starts: starts + 1),
        ("weights", lambda weights: weights * np.nan),
        ("weights", lambda weights: weights[:, None]),
        ("source", lambda _: np.array([{}], dtype=object)),
    ],
)
def test_inconsistent_corpus_arrays_are_refused(
    config: TrainingConfig, name: str, change: Callable[[Any], Any]
) -> None:
    path = Path(config.output) / "corpus.npz"
    encoded_pairs = Corpus.load(path, 80)
    arrays = {each: getattr(encoded_pairs, each) for each in ARRAYS}
    np.savez(path, **arrays | {name: change(arrays[name])})
    with pytest.raises(AttnvizError, match=r"corpus\.npz is damaged"):
        prepare_training(config)


def test_deleted_corpus_is_made_again(config: TrainingConfig) -> None:
    path = Path(config.output) / "corpus.npz"
    before = prepare_training(config)[1]
    path.unlink()
    after = prepare_training(config)[1]
    assert all(np.array_equal(getattr(before, name), getattr(after, name)) for name in ARRAYS)
    assert path.exists()


def test_damaged_word_links_are_named(config: TrainingConfig, tmp_path: Path) -> None:
    for content in (b"", b"none", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'}"):
        (tmp_path / "lexicon.npy").write_bytes(content)
        with pytest.raises(AttnvizError, match=r"lexicon\.npy"):
            Lexicon.load(tmp_path / "lexicon.npy", 80)
    with pytest.raises(AttnvizError, match=r"lexicon\.npy"):
        Lexicon.load(Path(config.output) / "lexicon.npy", 81)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\x00\n1", b"update\n\n9,9,9\n\x00,1\n", b'"'])
def test_damaged_log_is_started_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.csv").write_bytes(content)
    Log(tmp_path / "log.csv", 100)
    assert {row["update"] for row in read_log(tmp_path / "log.csv")} <= {"9"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("updates", True),
        ("updates", 2.0),
        ("learning_rate", float("nan")),
        ("learning_rate", 0),
        ("clip", float("inf")),
        ("hidden_size", 65_537),
        ("vocabulary_size", 10**7),
        ("dropout", 1.0),
        ("seed", -1),
        ("seed", 2**40),
        ("warmup", -1),
        ("final_rate", 1.5),
        ("threads", 10**6),
        ("average", -1),
        ("average", 101),
        ("attention", 3),
        ("precision", None),
        ("data", "train.tsv"),
        ("data", (1,)),
        ("device", 5),
        ("batch_tokens", 10**18),
    ],
)
def test_values_out_of_bounds_are_refused(files: Files, tmp_path: Path, name: str, value: object) -> None:
    with pytest.raises(AttnvizError, match=name):
        tiny(files, tmp_path, **{name: value})


PARTS = (
    "tokenizer.model",
    "corpus.npz",
    "training.json",
    "lexicon.npy",
    "log.csv",
    "checkpoint.safetensors",
    "model.safetensors",
    "config.json",
    "curve.html",
)


@pytest.mark.parametrize("name", PARTS)
def test_run_killed_while_writing_resumes(
    finished_run: TrainingConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The process dies before or after the final replacement of a file; the file is absent or complete."""
    config = dataclasses.replace(finished_run, output=str(tmp_path / "run"))
    true = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target.name == name:
            raise KeyboardInterrupt
        return true(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            train(config)
    assert not list(Path(config.output).rglob(name))
    train(config)
    assert_same_state(finished_run.output, config.output)
    assert not list(Path(config.output).rglob("*.tmp"))
    assert len(read_log(Path(config.output) / "log.csv")) == len(read_log(Path(finished_run.output) / "log.csv"))


def test_file_is_replaced_atomically(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "x.txt"
    replace_text(path, "before")

    def interrupted() -> None:
        with replacing(path) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    replace_text(path, "after")
    assert path.read_text() == "after"
    assert [each.name for each in tmp_path.iterdir()] == ["x.txt"]
    with pytest.raises(AttnvizError) as error:
        replace_text(tmp_path / "nowhere" / "x.txt", "")
    assert plain(error.value, tmp_path) == snapshot


def test_batched_encoding_equals_single_sentences(
    pairs: list[tuple[str, str]], config: TrainingConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnviz.training import encoded_pairs

    monkeypatch.setattr(encoded_pairs, "_BLOCK", 7)
    tokenizer = Tokenizer.load(Path(config.output) / "tokenizer.model")
    encoded = encoded_pairs.encode_pairs(pairs, [1.0] * len(pairs), tokenizer)
    for k, (source, target) in enumerate(pairs):
        assert encoded.source_sentence(k).tolist() == [*tokenizer.encode(source), 3]
        assert encoded.target_sentence(k).tolist() == [*tokenizer.encode(target), 3]
