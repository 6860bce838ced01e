"""A small artificial bilingual text for detectors: sentences of two clauses, interchangeable words, and numbers."""

import itertools
from pathlib import Path
from typing import Any

from attnviz import TrainingConfig
from tests.small_run import Files, tiny

_NAMES = ("Tom", "Anna", "Paul", "Rosa")
_VERBS = {"singing": "chanter", "walking": "marcher", "eating": "manger", "playing": "jouer", "talking": "parler"}
_VERBS |= {"thinking": "penser", "dancing": "danser", "travelling": "voyager"}
_YEARS = ("1984", "2007", "1995", "1848")


def make_pairs() -> list[tuple[str, str]]:
    found = []
    for place, (one, other, first) in enumerate(itertools.product(_VERBS, _VERBS, range(8))):
        name, year = _NAMES[first % 4], _YEARS[(place + place // 7) % 4]
        friend = _NAMES[(first + place) % 4]
        english = f"in {year} {name} liked {one}, but my friend {friend} hated {other}."
        french = f"en {year} {name} aimait {_VERBS[one]}, mais mon ami {friend} détestait {_VERBS[other]}."
        found.append((english, french))
    return found


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


def make_config(files: Files, output: Path, **changes: Any) -> TrainingConfig:
    settings: dict[str, Any] = {
        "vocabulary_size": 190,
        "architecture": "decomposable",
        "embedding_size": 24,
        "model_size": 32,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "batch_tokens": 600,
        "updates": 240,
        "warmup": 20,
        "learning_rate": 4e-3,
        "validate_every": 240,
        "checkpoint_every": 100,
        "snapshots": 0,
        "precision": "auto",
    }
    return tiny(files, output, **(settings | changes))
