"""Training runs of seconds on a tiny artificial text, and what is compared of two runs."""

import csv
import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from attnviz import TrainingConfig, train

_SUBJECTS = {"the cat": "le chat", "the dog": "le chien", "a girl": "une fille", "my friend": "mon ami"}
_VERBS = {"sees": "voit", "likes": "aime", "wants": "veut", "finds": "trouve"}
_OBJECTS = {"the house": "la maison", "a red book": "un livre rouge", "the sea": "la mer", "bread": "du pain"}
_OBJECTS |= {"it": "cela"}
_TIMED = ("seconds", "tokens_per_second")
Files = tuple[Path, Path]


def write_texts(folder: Path) -> Files:
    """Write a training and a validation file in which French puts adjectives after nouns; return their paths."""
    triples = list(itertools.product(_SUBJECTS.items(), _VERBS.items(), _OBJECTS.items()))
    lines = [f"{s[0]} {v[0]} {o[0]}.\t{s[1]} {v[1]} {o[1]}.\n" for s, v, o in triples]
    folder.mkdir(exist_ok=True)
    training, validation = folder / "train.tsv", folder / "validation.tsv"
    training.write_text("".join(lines[::2] + lines[1::4]), encoding="utf-8")
    validation.write_text("".join(lines[3::4]), encoding="utf-8")
    return training, validation


def tiny(files: Files, output: Path, **changes: Any) -> TrainingConfig:
    settings: dict[str, Any] = {
        "data": (str(files[0]),),
        "validation": (str(files[1]),),
        "output": str(output),
        "vocabulary_size": 80,
        "embedding_size": 16,
        "hidden_size": 24,
        "alignment_size": 16,
        "maxout_size": 16,
        "batch_tokens": 120,
        "updates": 60,
        "warmup": 10,
        "learning_rate": 1e-2,
        "matrix_rate": 0.0,
        "validate_every": 20,
        "checkpoint_every": 7,
        "bleu_sentences": 8,
        "snapshots": 4,
        "snapshot_sentences": ("the cat sees it.\tle chat voit cela.",),
        "device": "cpu",
        "precision": "fp32",
        "threads": 1,
        "patience": 0,
    }
    return TrainingConfig(**(settings | changes))


def train_command(config: TrainingConfig) -> list[str]:
    arguments = ["train"]
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if value != field.default:
            several = value if isinstance(value, tuple) else (value,)
            arguments += [f"--{field.name.replace('_', '-')}", *map(str, several)]
    return arguments


def log_of(output: Path) -> list[dict[str, str]]:
    """Return the rows of a run's log without their times."""
    with (output / "log.csv").open(newline="", encoding="utf-8") as file:
        return [{name: row[name] for name in row if name not in _TIMED} for row in csv.DictReader(file)]


def run_until_validation(config: TrainingConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run, and stop as by Ctrl-C when it comes to validate for the first time."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("attnviz.training.loop._Run._validate", stop)
        with pytest.raises(KeyboardInterrupt):
            train(config)


def assert_same_run(one: Path, other: Path) -> None:
    """Assert that the last checkpoints of two runs, by their folders, are the same bit for bit, and their logs."""
    expected, found = (load_file(output / "checkpoint.safetensors") for output in (one, other))
    assert expected.keys() == found.keys()
    for name, tensor in expected.items():
        assert torch.equal(tensor, found[name]), name
    assert log_of(one) == log_of(other)


_LINKED = (
    ("the cat sees a red book .", "le chat voit un livre rouge .", (0, 1, 2, 3, 5, 4, 6)),
    ("a girl likes the house .", "une fille aime la maison .", range(6)),
)
LINKS = "".join(
    json.dumps({"id": source, "en": source.split(), "fr": target.split(), "S": [*enumerate(links)], "P": []}) + "\n"
    for source, target, links in _LINKED
)
"""Gold links of two sentences of the text, in the format of gold files."""
