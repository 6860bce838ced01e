"""Random and damaged input of every kind is either used, as users do, or refused with an error message."""

import contextlib
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from attnviz import AttnvizError, Trace, Translator
from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, nearest, principal_map
from attnviz.corpora import Analyser, Settings, analyse_file
from attnviz.corpora.table_metadata import table_metadata
from attnviz.corpora.vectors import vectors_of_pairs
from attnviz.figures.learning_curves import attention_curves, learning_heatmap, quality_curves
from attnviz.importing.family import load_checkpoint, write_checkpoint
from attnviz.installed_models import ADDITIVE_MODEL
from attnviz.model_folder import FILES as MODEL_FILES
from attnviz.trace.snapshots import FOLDER, Snapshots
from attnviz.ui.pages.corpus_table import (
    PRESETS,
    Choice,
    corpus_pair,
    known_measures,
    listed_rows,
    load_table,
    matching_rows,
)
from attnviz.ui.pages.learns_page import has_link_measures
from tests.fuzzing.mutations import ANY, JSON, LINES, Mutation, replace_value

pytestmark = pytest.mark.nightly

PAIRS = (
    ("Two dogs play in the snow.", "Deux chiens jouent dans la neige."),
    ("The agreement was signed in August 1992.", "L'accord a été signé en août 1992."),
)
SNAPSHOTS = Path(__file__).parents[2] / "models" / ADDITIVE_MODEL / FOLDER
"""Of trainings, that come with the program."""


@dataclass(frozen=True)
class Bench:
    """A tiny model and files made with it, in a folder of its own."""

    folder: Path
    model: Path
    translator: Translator[Trace]

    @cached_property
    def table(self) -> bytes:
        """Return the table of a corpus of pairs with links."""
        path = self.folder / "table.parquet"
        pairs, links = path.with_suffix(".tsv"), path.with_suffix(".txt")
        pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS * 3))
        links.write_text("0-0 1-1 2?3\n\n" * 3)
        analyse_file(pairs, path, Analyser(self.translator, Settings(kind=None)), gold=links)
        return path.read_bytes()

    @cached_property
    def vectors(self) -> bytes:
        path = self.folder / "whole.npz"
        vectors_of_pairs(self.translator, [(number, *pair) for number, pair in enumerate(PAIRS, 1)]).save(path)
        return path.read_bytes()

    def damaged(self, content: bytes, name: str, mutations: tuple[Mutation, ...], chance: random.Random) -> Path:
        """Write `content`, damaged once or twice, to a file of this name."""
        for _ in range(chance.choice((1, 1, 2))):
            # What was damaged before may be no JSON now.
            with contextlib.suppress(ValueError, IndexError, KeyError, TypeError, RecursionError):
                content = bytes(chance.choice(mutations)(bytearray(content), chance))
        path = self.folder / name
        path.write_bytes(content)
        return path


def models(bench: Bench, chance: random.Random) -> None:
    name = chance.choice(MODEL_FILES)
    folder = bench.folder / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.model, folder)
    whole = (folder / name).read_bytes()
    bench.damaged(whole, f"damaged/{name}", ANY if name.endswith(".model") else JSON, chance)
    Translator.load(folder, device="cpu").translate(PAIRS[0][0], beam=2)


FIXTURES = Path(__file__).parents[1] / "importing" / "fixtures"
SENTENCE = "der hund schläft im park ."


def checkpoints(bench: Bench, chance: random.Random) -> None:
    source = FIXTURES / chance.choice(("tutorial", "joey", "d2l", "fairseq", "opennmt"))
    name = chance.choice([path.name for path in sorted(source.iterdir()) if path.suffix != ".npz"])
    folder = bench.folder / "checkpoint"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    is_text = name.endswith((".txt", ".yaml"))
    bench.damaged((source / name).read_bytes(), f"checkpoint/{name}", LINES if is_text else ANY, chance)
    write_checkpoint(load_checkpoint(folder), bench.folder / "imported", half=chance.random() < 0.3)
    Translator.load(bench.folder / "imported", device="cpu").translate(SENTENCE, beam=2)


def tables(bench: Bench, chance: random.Random) -> None:
    path = bench.damaged(bench.table, "damaged.parquet", ANY, chance)
    table_metadata(path)
    whole = load_table(path)
    choice = Choice(preset=chance.choice(PRESETS), query=chance.choice(("", "dogs")), sort="entropy")
    known_measures(whole)
    for row in listed_rows(matching_rows(whole, choice), choice).part(0).to_pylist():
        corpus_pair(path, row["number"], row["source"], row["target"])


def vectors(bench: Bench, chance: random.Random) -> None:
    found = Vectors.load(bench.damaged(bench.vectors, "damaged.npz", ANY, chance))
    for kind in VECTOR_KINDS:
        array = found.arrays[kind]
        nearest(array, array[0].astype("f4"), 3)
        principal_map(array.astype("f4"))


def snapshots(bench: Bench, chance: random.Random) -> None:
    path = chance.choice(sorted(Path(SNAPSHOTS).glob("*.json")))
    several = (*JSON, *[replace_value] * 9)
    found = Snapshots.load(bench.damaged(path.read_bytes(), "snapshots.json", several, chance))
    learning_heatmap(found, 0, found.moment(20))
    quality_curves([found], found.updates, update=20)
    if has_link_measures(found):
        attention_curves(found, found.updates, runs=[found], update=20)


KINDS: dict[str, tuple[Callable[[Bench, random.Random], None], int]] = {
    "models": (models, 300),
    "checkpoints": (checkpoints, 25),
    "tables": (tables, 60),
    "vectors": (vectors, 60),
    "snapshots": (snapshots, 60),
}
"""With how many inputs are tried."""


def refused(function: Callable[[Bench, random.Random], None], bench: Bench, chance: random.Random) -> bool:
    """Return whether the input of one trial was refused.

    Assert that the message has at most 1,000 characters; raise every exception that is not an AttnvizError.
    """
    try:
        function(bench, chance)
    except AttnvizError as error:
        message = str(error)
    else:
        return False
    assert 10 <= len(message) <= 1000, message[:2000]
    assert "Traceback" not in message
    return True


@pytest.fixture(scope="module")
def bench(tmp_path_factory, model_folder, translator) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), model_folder, translator)


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_used_or_refused(bench, kind) -> None:
    function, tried = KINDS[kind]
    count = sum(refused(function, bench, random.Random(f"{kind} {seed}")) for seed in range(tried))
    assert count > tried // 5
