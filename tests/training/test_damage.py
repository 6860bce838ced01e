"""The folder of a training run: damaged files are named, and interrupted writes lose nothing."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnviz.errors import AttnvizError
from attnviz.training import TrainingConfig, train
from attnviz.training.encoded_pairs import Corpus
from attnviz.training.preparation import prepare_training
from tests.training.test_run import tiny

Files = tuple[Path, Path]


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
