"""Fuzzing of imported checkpoints, damaged before and after the import."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from attnviz import Translator
from attnviz.analysis import load_weights
from attnviz.architectures import verifier_of
from attnviz.importing.family import load_checkpoint, write_checkpoint
from tests.fuzzing.bench import Bench
from tests.fuzzing.mutations import ANY, JSON, LINES, replace_value

FIXTURES = Path(__file__).parents[1] / "importing" / "fixtures"
SENTENCE = "der hund schläft im park ."


def checkpoints(bench: Bench, chance: random.Random) -> None:
    """Import a damaged checkpoint, and translate with what comes of it."""
    source = FIXTURES / chance.choice(("tutorial", "joey", "d2l", "fairseq", "opennmt"))
    name = chance.choice([path.name for path in sorted(source.iterdir()) if path.suffix != ".npz"])
    folder = _copy(source, bench.folder / "checkpoint")
    text = name.endswith((".txt", ".yaml"))
    bench.damaged((source / name).read_bytes(), f"checkpoint/{name}", LINES if text else ANY, chance)
    write_checkpoint(load_checkpoint(folder), bench.folder / "imported", half=chance.random() < 0.3)
    Translator.load(bench.folder / "imported", device="cpu").translate(SENTENCE, beam=2)


def imports(bench: Bench, chance: random.Random) -> None:
    """Load a damaged model that was imported, translate with it and prove a step."""
    whole = bench.folder / "whole"
    if not whole.exists():
        write_checkpoint(load_checkpoint(FIXTURES / "tutorial"), whole)
    name = chance.choice([path.name for path in sorted(whole.iterdir())])
    folder = _copy(whole, bench.folder / "damaged import")
    several = (*JSON, *[replace_value] * 4) if name.endswith(".json") else ANY
    bench.damaged((whole / name).read_bytes(), f"damaged import/{name}", several, chance)
    trace: Any = Translator.load(folder, device="cpu").translate(SENTENCE, beam=1)
    verifier_of(trace, load_weights(folder)).verify(0)


def _copy(source: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(source, folder))
