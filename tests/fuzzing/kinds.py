"""The kinds of input that are tried: each is a function of chance that does what a user does with such input."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet
from streamlit.runtime.state import QueryParamsProxy

from attnviz import AttnvizError, Translator, export, figures
from attnviz.analysis.findings import findings_of
from attnviz.checkpoint import save_model
from attnviz.corpora import Analyser, Settings, analyse_file
from attnviz.evaluation.alignment import read_gold
from attnviz.importing.reading import open_attention
from attnviz.model_folder import FILES
from attnviz.network.config import ModelConfig
from attnviz.network.rnnsearch import RNNsearch
from attnviz.text import Tokenizer
from attnviz.trace import Branches
from attnviz.training.corpus import read_pairs
from tests.fuzzing.checkpoints import checkpoints, imports
from tests.fuzzing.mutations import ANY, JSON, LINES, Mutation, replace_value, text

SENTENCES = (
    "Two dogs play in the snow.", "Deux chiens jouent dans la neige.",
    "The agreement was signed in August 1992.", "L'accord a été signé en août 1992.",
)  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """A tiny model and what is made with it, in a folder of its own."""

    folder: Path

    @cached_property
    def model(self) -> Path:
        """A model folder with random weights."""
        tokenizer = Tokenizer.train(SENTENCES * 3, 80)
        torch.manual_seed(1)
        sizes = {"embedding_size": 6, "hidden_size": 5, "alignment_size": 4, "maxout_size": 3}
        save_model(self.folder / "models" / "en-fr", RNNsearch(ModelConfig(len(tokenizer), **sizes)).eval(), tokenizer)
        return self.folder / "models" / "en-fr"

    @cached_property
    def translator(self) -> Translator[Any]:
        """The translator of that model."""
        return Translator.load(self.model, device="cpu")

    @cached_property
    def analyser(self) -> Analyser:
        """What makes tables with that model."""
        return Analyser(self.translator, Settings(kind=None))

    @cached_property
    def trace(self) -> bytes:
        """A saved trace."""
        return self.translator.translate(SENTENCES[0]).to_json().encode()

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Every address parameter that the first page or the lab asks for, where a link names many."""
        asked: set[str] = set()
        get = QueryParamsProxy.get

        def noting(self: QueryParamsProxy, name: str, *default: Any) -> Any:
            asked.add(name)
            return get(self, name, *default)

        with mock.patch.object(QueryParamsProxy, "get", noting), self.pages():
            for page in PAGES:
                self.open(page, {"step": "2", "word": "1", "depth": "everything"})
        return tuple(sorted(asked))

    @contextmanager
    def pages(self) -> Iterator[None]:
        """Have the page find the tiny model."""
        with mock.patch.dict("os.environ", {"ATTNVIZ_MODELS": str(self.model.parent)}):
            yield

    def open(self, page: str, linked: dict[str, str]) -> None:
        """Open a page as a link does; raise AssertionError where it shows what failed."""
        from streamlit.testing.v1 import AppTest

        source = (
            f"from attnviz.ui.chrome import run_pages\nfrom attnviz.ui.pages import {page}\nrun_pages([{page}.page])"
        )
        app = AppTest.from_string(source, default_timeout=60)
        for name, value in linked.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, [error.message for error in app.exception]

    def damaged(self, content: bytes, name: str, mutations: tuple[Mutation, ...], chance: random.Random) -> Path:
        """Write `content`, damaged once or twice, to a file of this name."""
        for _ in range(chance.choice((1, 1, 2))):
            with contextlib.suppress(
                ValueError, IndexError, KeyError, TypeError
            ):  # what was damaged before may be no JSON now
                content = bytes(chance.choice(mutations)(bytearray(content), chance))
        path = self.folder / name
        path.write_bytes(content)
        return path


PAGES = ("translate", "lab", "why", "transformer")


def strings(bench: Bench, chance: random.Random) -> None:
    """Translate anything."""
    bench.translator.translate(text(chance), beam=chance.choice((1, 1, 2, 5)))


def targets(bench: Bench, chance: random.Random) -> None:
    """Force anything, as text or as ids of pieces."""
    ids = [chance.choice((0, 1, 2, 3, 7, 79, 80, -1, 10**20)) for _ in range(chance.randrange(6))]
    bench.translator.translate(SENTENCES[0], target=chance.choice((text(chance), ids)))


def addresses(bench: Bench, chance: random.Random) -> None:
    """Follow a link with anything in any parameter."""
    values = (
        "0",
        "1",
        "2",
        "3",
        "99",
        "-1",
        "0-0.1p1",
        "en",
        "fr",
        "idea",
        "everything",
        "en-fr",
        "beam 3",
        "after",
        "1.2",
    )
    names = chance.sample(bench.parameters, chance.randint(1, min(6, len(bench.parameters))))
    linked = {name: chance.choice(values) if chance.random() < 0.6 else text(chance)[:500] for name in names}
    with bench.pages():
        bench.open(
            chance.choice(PAGES),
            {name: value.encode("utf-8", "replace").decode("utf-8") for name, value in linked.items()},
        )


def traces(bench: Bench, chance: random.Random) -> None:
    """Open a damaged trace, draw it, read it and save it again."""
    opened = Branches.load(bench.damaged(bench.trace, "trace.json", (*JSON, *[replace_value] * 9), chance))
    trace = opened.first
    figures.heatmap(trace)
    findings_of(trace)
    export.save(trace, bench.folder / f"again.{chance.choice(('json', 'csv', 'html', 'tex', 'pharaoh'))}")


def gold(bench: Bench, chance: random.Random) -> None:
    """Read a damaged file of gold links."""
    line = b'{"id": "1", "en": ["A", "dog"], "fr": ["Un", "chien"], "S": [[0, 0], [1, 1]], "P": [[0, 1]]}\n'
    read_gold(bench.damaged(line * 3, "gold.jsonl", (*JSON, *LINES), chance))


def pairs(bench: Bench, chance: random.Random) -> None:
    """Read a damaged file of pairs."""
    content = "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)).encode()
    name, packed = "pairs.tsv", content
    if chance.random() < 0.3:
        name, packed = "pairs.tsv.xz", lzma.compress(content)
    read_pairs(bench.damaged(packed, name, LINES, chance))


def attentions(bench: Bench, chance: random.Random) -> None:
    """Open a damaged file of another program's attention, draw it and read it."""
    name, content = chance.choice(ATTENTIONS)
    if name.endswith(".npz"):
        packed = io.BytesIO()
        np.savez(packed, source=["A", "dog"], target=["Un", "chien"], matrix=[[0.5, 0.5], [0.2, 0.8]])
        content = packed.getvalue()
    opened = open_attention(bench.damaged(content, name, (*JSON, *LINES), chance))
    found = opened.sentence(chance.choice((1, 1, 1, 2, 0)))
    own = found.tokens("source") and found.tokens("target")
    tokens = (None, None) if own else ("A dog", "Un chien")
    record = found.attention(*tokens, normalise=chance.random() < 0.5)
    figures.heatmap(record)
    findings_of(record)


ATTENTIONS = (
    (
        "a.json",
        b'{"source": ["A", "dog"], "target": ["Un", "chien"], "matrix": [[0.5, 0.5], [0.2, 0.8]], "gold": "0-0"}',
    ),
    ("marian.txt", b"Un chien ||| 0.5,0.5 0.2,0.8\n0.5,0.5 0.2,0.8\n"),
    ("links.txt", b"0-0 1-1\n0-0\n"),
    ("a.npz", b""),
)
"""A small file of each kind."""


def corpora(bench: Bench, chance: random.Random) -> None:
    """Make a table of a damaged corpus."""
    content = "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)).encode()
    name = chance.choice(("corpus.tsv", "corpus.tsv.gz", "corpus.tsv.xz", "corpus.parquet"))
    if name.endswith("parquet"):
        packed = io.BytesIO()
        parquet.write_table(pa.table({"source": SENTENCES[::2], "target": SENTENCES[1::2]}), packed)
        content = packed.getvalue()
    elif name.endswith("z"):
        content = (gzip if name.endswith("gz") else lzma).compress(content)
    output = bench.folder / "corpus-table.parquet"
    output.unlink(missing_ok=True)
    analyse_file(bench.damaged(content, name, LINES, chance), output, bench.analyser)


def models(bench: Bench, chance: random.Random) -> None:
    """Load a damaged model folder and translate with it."""
    name = chance.choice(FILES)
    folder = bench.folder / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.model, folder)
    whole = (folder / name).read_bytes()
    bench.damaged(whole, f"damaged/{name}", ANY if name.endswith(".model") else JSON, chance)
    Translator.load(folder, device="cpu").translate(SENTENCES[0], beam=2)


KINDS: dict[str, tuple[Callable[[Bench, random.Random], None], int]] = {
    "strings": (strings, 30), "targets": (targets, 25), "traces": (traces, 15), "models": (models, 15),
    "attentions": (attentions, 15), "gold": (gold, 5), "pairs": (pairs, 5), "corpora": (corpora, 5),
    "addresses": (addresses, 2), "checkpoints": (checkpoints, 5), "imports": (imports, 10),
}  # fmt: skip
"""With how often each is tried among the others."""


def refused(function: Callable[[Bench, random.Random], None], bench: Bench, chance: random.Random) -> bool:
    """Return whether the input of one try was refused, in a sentence of at most 1,000 characters; raise what must not
    be."""
    try:
        function(bench, chance)
    except AttnvizError as error:
        said = str(error)
    else:
        return False
    assert 10 <= len(said) <= 1000, said[:2000]
    assert "Traceback" not in said
    return True
