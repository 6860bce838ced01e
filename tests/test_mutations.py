"""Model folders that were damaged or made up: whatever is in the three files, loading works or says what is wrong."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnviz import AttnvizError, Translator
from attnviz.model_folder import FILES

ODD = (
    0, -1, 1, 2**31, 2**63, 10**30, 10**400, -(10**18), 65_536, 65_537, 999_983, True, False, None, 0.5, 1e308,
    float("nan"), float("inf"), "", "8", "additive", "none", "\u0000", [], [1], {}, {"a": 1}, [[[[]]]],
)  # fmt: skip


def _flip(content: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


def _flip_early(content: bytearray, chance: random.Random) -> bytearray:
    """Flip where the lengths and the headers are."""
    for _ in range(chance.choice((1, 2, 4))):
        content[chance.randrange(min(len(content), 200))] = chance.randrange(256)
    return content


def _cut(content: bytearray, chance: random.Random) -> bytearray:
    return content[: chance.randrange(len(content))]


def _repeat(content: bytearray, chance: random.Random) -> bytearray:
    start, end = sorted(chance.randrange(len(content)) for _ in range(2))
    return content[:end] + content[start:]


def _replace_value(content: bytearray, chance: random.Random) -> bytearray:
    """Replace a value of the JSON in `content`: the config, or the header of the weights."""
    is_config = content[:1] == b"{"
    length = 0 if is_config else int.from_bytes(content[:8], "little")
    record: Any = json.loads(content if is_config else content[8 : 8 + length])
    here: Any = record
    while True:
        key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
        if not isinstance(here[key], (dict, list)) or not here[key] or chance.random() < 0.2:
            break
        here = here[key]
    here[key] = chance.choice(ODD)
    text = bytearray(json.dumps(record).encode())
    return text if is_config else bytearray(len(text).to_bytes(8, "little")) + text + content[8 + length :]


Mutation = Callable[[bytearray, random.Random], bytearray]
MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "config.json": (_flip, _cut, _repeat, _replace_value, _replace_value, _replace_value),
    "model.safetensors": (_flip, _flip_early, _cut, _repeat, _replace_value),
    "tokenizer.model": (_flip, _flip_early, _cut, _repeat),
}


@pytest.mark.parametrize("name", FILES)
def test_a_mutated_folder_loads_or_is_refused_in_a_sentence(tmp_path: Path, model_folder: Path, name: str) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "model")
    whole, started, refused = (folder / name).read_bytes(), time.perf_counter(), 0
    for seed in range(150):
        chance = random.Random(f"{name} {seed}")  # noqa: S311  nothing is to be kept secret
        mutate = chance.choice(MUTATIONS[name])
        (folder / name).write_bytes(mutate(bytearray(whole), chance))
        try:
            translator = Translator.load(folder, device="cpu")
            with contextlib.suppress(AttnvizError):  # a sentence, as where nothing is left of the text
                translator.translate("A girl is riding a red bicycle, isn’t she?", beam=2)
        except AttnvizError as error:
            refused += 1
            if name not in str(error) or len(str(error)) > 1000:
                pytest.fail(f"seed {seed}, {mutate.__name__}: {str(error)[:2000]}")
        except Exception as error:  # noqa: BLE001  it is the very thing that must not be
            pytest.fail(f"seed {seed}, {mutate.__name__}: {error!r}")
    assert refused > 50
    assert time.perf_counter() - started < 60
