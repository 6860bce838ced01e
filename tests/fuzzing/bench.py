"""What the fuzzers run on: tiny models, saved files made with them, and the pages of the app."""

import contextlib
import random
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.corpora import Analyser, Settings, analyse_file
from attnviz.environment import ATTNVIZ_CORPORA, ATTNVIZ_MODELS, ATTNVIZ_RUNS
from attnviz.installed_models import ADDITIVE_MODEL, FIXED_CONTEXT_MODEL, GENERAL_MODEL, TRANSFORMER_MODEL
from attnviz.network import AnyNetwork, DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.snapshots import FOLDER
from tests.conftest import ModelFactory
from tests.detectors import random_detector
from tests.fuzzing.mutations import Mutation
from tests.transformers import random_transformer

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
        """A model folder with random weights."""
        save_model(self.folder / "models" / "en-fr", self.make_network(), self.tokenizer)
        return self.folder / "models" / "en-fr"

    @cached_property
    def translator(self) -> Translator[Trace]:
        """The translator of that model."""
        return Translator.load(self.model, device="cpu")

    @cached_property
    def analyser(self) -> Analyser:
        """What makes tables with that model."""
        return Analyser(self.translator, Settings(kind=None))

    @cached_property
    def trace(self) -> bytes:
        """A saved trace."""
        return self.translator.translate(SENTENCES[0], beam=1).to_json().encode()

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
