"""Random and damaged input of every kind is either used, as users do, or refused with an error message."""

import contextlib
import gzip
import io
import lzma
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from pyarrow import parquet

from attnviz import AttnvizError, Translator
from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, nearest, principal_map
from attnviz.checkpoint import save_model
from attnviz.corpora import MEASURES, Analyser, Settings, analyse_file
from attnviz.corpora.corpus_lines import read_lines
from attnviz.corpora.table_metadata import table_metadata
from attnviz.corpora.vectors import vectors_of_pairs
from attnviz.environment import ATTNVIZ_CORPORA, ATTNVIZ_MODELS, ATTNVIZ_RUNS
from attnviz.figures.learning_curves import attention_curves, learning_heatmap, quality_curves
from attnviz.importing.family import load_checkpoint, write_checkpoint
from attnviz.installed_models import ADDITIVE_MODEL, FIXED_CONTEXT_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL
from attnviz.model_folder import FILES as MODEL_FILES
from attnviz.network import AnyNetwork, DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.snapshots import FOLDER, Snapshots
from attnviz.ui.pages import PAGE_NAMES
from attnviz.ui.pages.corpus_table import (
    PRESETS,
    Choice,
    corpus_pair,
    known_measures,
    listed_rows,
    load_table,
    matching_rows,
)
from attnviz.ui.pages.lab_page import SECTIONS
from attnviz.ui.pages.learns_page import has_link_measures
from attnviz.ui.pages.transformer_page import EXHIBITS
from attnviz.ui.selection import BROWSER_PARAMETERS, SERVER_PARAMETERS
from tests.conftest import ModelFactory
from tests.detectors import random_detector
from tests.fuzzing.mutations import ANY, JSON, LINES, LONG, Mutation, replace_value, text
from tests.transformers import random_transformer

pytestmark = pytest.mark.nightly

SENTENCES = (
    "Two dogs play in the snow.",
    "Deux chiens jouent dans la neige.",
    "The agreement was signed in August 1992.",
    "L'accord a été signé en août 1992.",
)
TABLES = ("plain", "drawn")
"""Of corpora that the pages offer: one of more rows than are sent at once, and one of pairs with links."""
SNAPSHOTS = Path(__file__).parents[2] / "models" / ADDITIVE_MODEL / FOLDER
"""Of trainings, that come with the program."""


@dataclass(frozen=True)
class Bench:
    """A tiny model and files made with it, in a folder of its own."""

    folder: Path
    make_network: ModelFactory
    tokenizer: Tokenizer

    @cached_property
    def model(self) -> Path:
        save_model(self.folder / "models" / "en-fr", self.make_network(), self.tokenizer)
        return self.folder / "models" / "en-fr"

    @cached_property
    def translator(self) -> Translator[Trace]:
        return Translator.load(self.model, device="cpu")

    @cached_property
    def analyser(self) -> Analyser:
        """What makes tables with that model."""
        return Analyser(self.translator, Settings(kind=None))

    @cached_property
    def _shown(self) -> dict[str, str]:
        """Return environment variables that point the pages to their data.

        These are models of every kind, snapshots of trainings, a run, and tables of corpora.
        """
        models, runs, tables = self.model.parent, self.folder / "runs", self.folder / "tables"
        size, networks = len(self.tokenizer), dict[str, AnyNetwork]()
        for name, attention in (
            (FIXED_CONTEXT_MODEL, "none"),
            (GENERAL_MODEL, "general"),
            (ADDITIVE_MODEL, "additive"),
        ):
            networks[name] = self.make_network(attention)
        networks[TRANSFORMER_MODEL] = random_transformer(TransformerConfig(size, 8, 2, 2, 8), 1)
        networks["detector"] = random_detector(DecomposableConfig(size, 6, 6), 1)
        for name, network in networks.items():
            save_model(models / name, network, self.tokenizer)
        for folder in (models / ADDITIVE_MODEL, models / GENERAL_MODEL, runs / "mine" / "model"):
            shutil.copytree(SNAPSHOTS, folder / FOLDER)
        for name in TABLES:
            self.table(name)
        return {ATTNVIZ_MODELS: str(models), ATTNVIZ_RUNS: str(runs), ATTNVIZ_CORPORA: str(tables)}

    def table(self, name: str) -> Path:
        """Return a table of `TABLES`."""
        path = self.folder / "tables" / f"{name}.parquet"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            lines, (pairs, links) = 6 if name == "drawn" else 220, (path.with_suffix(".tsv"), path.with_suffix(".txt"))
            pairs.write_text("".join(f"{SENTENCES[k % 2 * 2]}\t{SENTENCES[k % 2 * 2 + 1]}\n" for k in range(lines)))
            links.write_text("0-0 1-1 2?3\n\n" * (lines // 2))
            analyse_file(pairs, path, self.analyser, gold=links if name == "drawn" else None)
        return path

    def open(self, page: str, linked: dict[str, str]) -> None:
        """Open a page as a link does; raise AssertionError where it shows what failed."""
        from streamlit.testing.v1 import AppTest

        source = (
            "from attnviz.ui.chrome import run_pages\n"
            f"from attnviz.ui.pages.{page}_page import {page.upper()}_PAGE\nrun_pages([{page.upper()}_PAGE])"
        )
        app = AppTest.from_string(source, default_timeout=600)
        for name, value in linked.items():
            app.query_params[name] = value
        with mock.patch.dict("os.environ", self._shown):
            app.run()
        assert not app.exception, [error.message for error in app.exception]

    def damaged(self, content: bytes, name: str, mutations: tuple[Mutation, ...], chance: random.Random) -> Path:
        """Write `content`, damaged once or twice, to a file of this name."""
        for _ in range(chance.choice((1, 1, 2))):
            # What was damaged before may be no JSON now.
            with contextlib.suppress(ValueError, IndexError, KeyError, TypeError, RecursionError):
                content = bytes(chance.choice(mutations)(bytearray(content), chance))
        path = self.folder / name
        path.write_bytes(content)
        return path


def lines(bench: Bench, chance: random.Random) -> None:
    """Read all lines of a damaged corpus, with gold links beside it or without."""
    name = chance.choice(("lines.tsv", "lines.txt", "lines.jsonl", "lines.tsv.gz", "lines.tsv.xz", "lines.parquet"))
    content = "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)).encode()
    if name.endswith("jsonl"):
        content = b'{"id": "1", "en": ["A", "dog"], "fr": ["Un", "chien"], "S": [[0, 0], [1, 1]], "P": [[0, 1]]}\n' * 3
    if name.endswith("parquet"):
        packed = io.BytesIO()
        parquet.write_table(pa.table({"source": SENTENCES[::2], "target": SENTENCES[1::2]}), packed)
        content = packed.getvalue()
    path = bench.damaged(content, "lines.plain", LONG, chance)
    if name.endswith("z"):
        path.write_bytes((gzip if name.endswith("gz") else lzma).compress(path.read_bytes()))
    path = path.rename(path.with_name(name))
    links = bench.damaged(b"0-0 1?2\n" * content.count(b"\n"), "lines.links", LONG, chance)
    list(read_lines(path, links if chance.random() < 0.3 else None))


def models(bench: Bench, chance: random.Random) -> None:
    """Load a damaged model folder and translate with it."""
    name = chance.choice(MODEL_FILES)
    folder = bench.folder / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.model, folder)
    whole = (folder / name).read_bytes()
    bench.damaged(whole, f"damaged/{name}", ANY if name.endswith(".model") else JSON, chance)
    Translator.load(folder, device="cpu").translate(SENTENCES[0], beam=2)


FIXTURES = Path(__file__).parents[1] / "importing" / "fixtures"
SENTENCE = "der hund schläft im park ."


def checkpoints(bench: Bench, chance: random.Random) -> None:
    """Import a damaged checkpoint, and translate with what comes of it."""
    source = FIXTURES / chance.choice(("tutorial", "joey", "d2l", "fairseq", "opennmt"))
    name = chance.choice([path.name for path in sorted(source.iterdir()) if path.suffix != ".npz"])
    folder = bench.folder / "checkpoint"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    is_text = name.endswith((".txt", ".yaml"))
    bench.damaged((source / name).read_bytes(), f"checkpoint/{name}", LINES if is_text else ANY, chance)
    write_checkpoint(load_checkpoint(folder), bench.folder / "imported", half=chance.random() < 0.3)
    Translator.load(bench.folder / "imported", device="cpu").translate(SENTENCE, beam=2)


_NAMES = tuple(one.name for one in MEASURES)
_MEANT: Mapping[str, tuple[str, ...]] = {
    "table": TABLES,
    "show": PRESETS,
    "sort": ("number", *_NAMES),
    "x": _NAMES,
    "y": _NAMES,
    "descending": ("1",),
    "brush": ("0_1", "0_9_-99_0", "9_0_0_-99", "nan_nan", "inf_-inf_0_1", "1e999_0_1_2"),
    "part": ("1", "2", "3"),
    "find": ("dogs", "[", "%", "NEIGE"),
    "training": ("small-additive", "small-dot", "run:mine", "run:../mine"),
    "runs": ("1", "2", "all"),
    "pair": ("1", "2", "9", "10"),
    "update": ("0", "20", "1000000000", "9" * 30),
    "long": ("1", "2", "own"),
    "sentence": SENTENCES[::2],
    "target": SENTENCES[1::2],
    "gold": ("0-0 1?1", "9-9"),
    "section": tuple(SECTIONS),
    "exhibit": tuple(EXHIBITS),
    "lang": ("en", "fr"),
    "lesson": ("attention", "../attention"),
    "model": ("en-fr", "small-fixed", "small-dot", "small-transformer", "detector"),
}
"""What parameters mean something with, that others do not."""
_VALUES = (
    *("0", "1", "2", "3", "99", "-1", "1.2", "0-0.1p1", "en", "fr", "en-fr", "idea", "everything", "after", "beam 3"),
)


def addresses(bench: Bench, chance: random.Random) -> None:
    """Follow a link with anything in some parameters of any page."""
    page = chance.choice(PAGE_NAMES)
    known = sorted({*_MEANT, *(one.name for one in BROWSER_PARAMETERS + SERVER_PARAMETERS)})
    names = set(chance.sample(known, chance.randint(1, 12)))
    if page == "corpus" and chance.random() < 0.7:  # without a table it shows nothing
        names.add("table")
    bench.open(page, {name: _value(name, chance) for name in sorted(names)})


def _value(name: str, chance: random.Random) -> str:
    if name in _MEANT and chance.random() < 0.6:
        return chance.choice(_MEANT[name])
    # Models with random weights translate endlessly.
    value = chance.choice(_VALUES) if chance.random() < 0.6 else text(chance)[:200]
    return value.encode("utf-8", "replace").decode("utf-8")


def tables(bench: Bench, chance: random.Random) -> None:
    """Show a damaged table of a corpus, and open a pair of it."""
    path = bench.damaged(bench.table("drawn").read_bytes(), "shelved.parquet", ANY, chance)
    table_metadata(path)
    whole = load_table(path)
    choice = Choice(preset=chance.choice(PRESETS), query=chance.choice(("", "dogs")), sort="entropy")
    known_measures(whole)
    for row in listed_rows(matching_rows(whole, choice), choice).part(0).to_pylist():
        corpus_pair(path, row["number"], row["source"], row["target"])


def vectors(bench: Bench, chance: random.Random) -> None:
    """Search the damaged vectors of a corpus."""
    whole = bench.folder / "whole.npz"
    if not whole.exists():
        vectors_of_pairs(bench.translator, [(1, *SENTENCES[:2]), (2, *SENTENCES[2:])]).save(whole)
    found = Vectors.load(bench.damaged(whole.read_bytes(), "damaged.npz", ANY, chance))
    for kind in VECTOR_KINDS:
        array = found.arrays[kind]
        nearest(array, array[0].astype("f4"), 3)
        principal_map(array.astype("f4"))


def snapshots(bench: Bench, chance: random.Random) -> None:
    """Draw the damaged snapshots of a training."""
    path = chance.choice(sorted(Path(SNAPSHOTS).glob("*.json")))
    several = (*JSON, *[replace_value] * 9)
    found = Snapshots.load(bench.damaged(path.read_bytes(), "snapshots.json", several, chance))
    learning_heatmap(found, 0, found.moment(20))
    quality_curves([found], found.updates, update=20)
    if has_link_measures(found):
        attention_curves(found, found.updates, runs=[found], update=20)


KINDS: dict[str, tuple[Callable[[Bench, random.Random], None], int]] = {
    "models": (models, 300),
    "lines": (lines, 60),
    "addresses": (addresses, 12),
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
def bench(tmp_path_factory, make_network, tokenizer) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), make_network, tokenizer)


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_used_or_refused(bench, kind: str) -> None:
    function, tried = KINDS[kind]
    count = sum(refused(function, bench, random.Random(f"{kind} {seed}")) for seed in range(tried))
    if kind != "addresses":  # a link opens what it can
        assert count > tried // 5
