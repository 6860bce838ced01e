"""Fixtures: a small artificial bilingual text that a tiny network learns in seconds."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

_SUBJECTS = {"the cat": "le chat", "the dog": "le chien", "a girl": "une fille", "my friend": "mon ami"}
_VERBS = {"sees": "voit", "likes": "aime", "wants": "veut", "finds": "trouve"}
_OBJECTS = {"the house": "la maison", "a book": "un livre", "the sea": "la mer", "bread": "du pain", "it": "cela"}


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    triples = itertools.product(_SUBJECTS.items(), _VERBS.items(), _OBJECTS.items())
    return [(f"{s[0]} {v[0]} {o[0]}.", f"{s[1]} {v[1]} {o[1]}.") for s, v, o in triples]


@pytest.fixture(scope="session")
def files(pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the paths of a training and a validation file."""
    folder = tmp_path_factory.mktemp("text")
    train, validation = folder / "train.tsv", folder / "validation.tsv"
    train.write_text("".join(f"{a}\t{b}\n" for a, b in pairs[::2] + pairs[1::4]), encoding="utf-8")
    validation.write_text("".join(f"{a}\t{b}\n" for a, b in pairs[3::4]), encoding="utf-8")
    return train, validation
