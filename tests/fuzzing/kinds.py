"""The fuzzers by kind of input: each uses a random generator and does what a user does with such input."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import shutil
from collections.abc import Callable

import pyarrow as pa
from pyarrow import parquet

from attnviz import AttnvizError, Translator, export, figures
from attnviz.analysis.findings import findings_of
from attnviz.corpora import analyse_file
from attnviz.corpora.corpus_lines import read_lines
from attnviz.evaluation.scoring import alignment_error
from attnviz.importing.attention_reader import read_attention
from attnviz.model_folder import FILES as MODEL_FILES
from attnviz.trace import WhatIfs
from tests.fuzzing.bench import SENTENCES, Bench
from tests.fuzzing.checkpoints import checkpoints, imports
from tests.fuzzing.links import addresses
from tests.fuzzing.mutations import ANY, JSON, LINES, LONG, replace_value
from tests.fuzzing.shelves import snapshots, tables, vectors
from tests.importing.attention_files import CONTENTS, FILES


def traces(bench: Bench, chance: random.Random) -> None:
    """Open a damaged trace, draw it, read it and save it again."""
    opened = WhatIfs.load(bench.damaged(bench.trace, "trace.json", (*JSON, *[replace_value] * 9), chance))
    trace = opened.first
    figures.heatmap(trace)
    findings_of(trace)
    export.save(trace, bench.folder / f"again.{chance.choice(('json', 'csv', 'html', 'tex', 'pharaoh'))}")


def attentions(bench: Bench, chance: random.Random) -> None:
    """Open a damaged file of another program's attention, of any format, draw a pair and read it."""
    file = chance.choice(FORMATS)
    content, given = CONTENTS[file.name], dict(file.given)
    name = f"damaged-{file.name}"
    records = read_attention(bench.damaged(content, name, (*JSON, *LONG), chance), **given)
    number = chance.choice((1, 1, 1, 2, len(records)))
    found = records.pair_numbered(number)
    own = found.tokens("source") and found.tokens("target")
    tokens = (None, None) if own or given else ("A dog", "Un chien")
    record = records.attention(number - 1, *tokens, normalise=chance.random() < 0.5)
    figures.heatmap(record)
    findings_of(record)


def scores(bench: Bench, chance: random.Random) -> None:
    """Score a damaged file of links or weights against the whole file, or the other way round."""
    file = chance.choice(FORMATS)
    damaged = bench.damaged(CONTENTS[file.name], f"damaged-{file.name}", LONG, chance)
    sides = [read_attention(damaged, **file.given), [[(0, 0), (1, 1)]] * len(file.pairs)]
    alignment_error(*(sides if chance.random() < 0.5 else sides[::-1]), samples=10)


FORMATS = [file for file in FILES if len(CONTENTS[file.name]) < 50_000]


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
    name = chance.choice(MODEL_FILES)
    folder = bench.folder / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bench.model, folder)
    whole = (folder / name).read_bytes()
    bench.damaged(whole, f"damaged/{name}", ANY if name.endswith(".model") else JSON, chance)
    Translator.load(folder, device="cpu").translate(SENTENCES[0], beam=2)


KINDS: dict[str, tuple[Callable[[Bench, random.Random], None], int]] = {
    "traces": (traces, 60),
    "models": (models, 300),
    "attentions": (attentions, 60),
    "scores": (scores, 60),
    "lines": (lines, 60),
    "corpora": (corpora, 60),
    "addresses": (addresses, 12),
    "checkpoints": (checkpoints, 25),
    "imports": (imports, 40),
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
