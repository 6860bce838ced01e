"""The folder of a training run: damaged files are named, and interrupted writes lose nothing."""

import json
import random
import shutil
from pathlib import Path

import pytest

from attnviz import AttnvizError, TrainingConfig
from attnviz.training.encoded_pairs import Corpus
from attnviz.training.preparation import prepare_training
from tests.damaged_json import with_one_wrong_field
from tests.small_run import tiny


@pytest.fixture
def config(files, learned, tmp_path) -> TrainingConfig:
    shutil.copytree(learned, tmp_path / "run")
    return tiny(files, tmp_path / "run", updates=320, validate_every=100, dropout=0.0)


def test_damaged_settings_are_named(config, snapshot) -> None:
    """But for the fields of the snapshot, which have a default; others left out are other settings than this run's."""
    path = Path(config.output) / "training.json"
    whole = path.read_text(encoding="utf-8")
    settings, accepted = json.loads(whole), []
    others = {"nested": "[" * 100_000, "cut": whole[:300], "a list": json.dumps([settings])}
    for name, value in {"data": [1], "hidden_size": 10**30, "tails": 8}.items():
        others[name] = json.dumps(settings | {name: value})
    for name, text in [*others.items(), *with_one_wrong_field(whole)]:
        path.write_text(text, encoding="utf-8")
        try:
            prepare_training(config)
        except AttnvizError as error:
            damaged = "training.json is damaged" in str(error)
            assert damaged or name.endswith("left out"), name
        else:
            accepted.append(name)
    assert accepted == snapshot


def test_mutated_corpus_is_read_or_named(config) -> None:
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
def test_values_out_of_bounds_are_refused(files, tmp_path, name, value) -> None:
    with pytest.raises(AttnvizError, match=name):
        tiny(files, tmp_path, **{name: value})
