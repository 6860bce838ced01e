"""Example attention files, two for each format, written by the rules of the programs' own code, with their contents."""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from pyarrow import parquet

from attnviz import attention
from attnviz.corpora.measured_attention import table_of_attention
from attnviz.export.attention_files import attention_file_content
from attnviz.trace import Attention
from tests.importing.given import logged, npy, npz

Pair = tuple[str, str]
PAIRS: tuple[Pair, ...] = (("a red car", "une voiture rouge"), ("it rains", "il pleut"))
SOURCES, TARGETS = ([pair[side] for pair in PAIRS] for side in (0, 1))
LINKS = (((0, 0), (1, 2), (2, 1)), ((0, 0), (1, 1)))
TEXTS = tuple(" ".join(f"{j}-{i}" for j, i in pair) for pair in LINKS)


def weights(pair: int, ends: bool = True) -> NDArray[np.float64]:
    """Return the weights (Ty, Tx) of a pair, `</s>` on both sides if `ends`; each is a multiple of 1/64."""
    rows, columns = (len(PAIRS[pair][side].split()) + ends for side in (1, 0))
    counts = np.random.default_rng(pair).integers(1, 9, (rows, columns))
    counts[np.arange(rows), np.arange(rows) % columns] += 64 - counts.sum(axis=1)
    return counts / 64


def soft(pair: int, ends: bool = True) -> str:
    """Return the weights of a pair as groups with commas."""
    return " ".join(",".join(f"{x:.6f}" for x in row) for row in weights(pair, ends))


def rows(pair: int, turned: bool = False) -> str:
    """Return the weights of a pair as lines."""
    matrix = weights(pair).T if turned else weights(pair)
    return "".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in matrix)


@dataclass(frozen=True)
class File:
    """A file and what it holds."""

    name: str
    format: str
    content: bytes
    remarks: Sequence[str] = ()
    """Those of the first pair."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What `read_attention` is given besides the file."""
    links: Sequence[Sequence[tuple[int, int]]] | None = None
    """Of each pair; None for matrices."""
    possible: Sequence[tuple[int, int]] = ()
    """Of the first pair."""
    matrices: Sequence[NDArray[np.float64]] = ()
    pairs: Sequence[Pair] = PAIRS


def each(form: str, order: Sequence[int] = (0, 1)) -> str:
    """Return the texts of this form for the pairs in this order."""
    return "".join(
        form.format(
            n=n,
            s=SOURCES[n],
            t=TARGETS[n],
            links=TEXTS[n],
            soft=soft(n),
            rows=rows(n),
            turned=rows(n, turned=True),
            columns=len(SOURCES[n].split()) + 1,
            lines=len(TARGETS[n].split()) + 1,
        )
        for n in order
    )


def objects(make: Callable[[int, str, str], object]) -> list[Any]:
    """Return an object for each pair, made of its number, source and target."""
    return [make(n, source, target) for n, (source, target) in enumerate(PAIRS)]


def _links(name: str, form: str, content: str | bytes, *remarks: str, **others: Any) -> File:
    data = content.encode() if isinstance(content, str) else content
    return File(name, form, data, remarks or ("links",), links=others.pop("links", LINKS), **others)


def _soft(name: str, form: str, content: str | bytes, *remarks: str, ends: bool = True, **others: Any) -> File:
    data = content.encode() if isinstance(content, str) else content
    all_remarks = (*(("source-end", "target-end") if ends else ()), *remarks)
    return File(name, form, data, all_remarks, matrices=[weights(n, ends) for n in (0, 1)], **others)


BOTH = {"source": SOURCES, "target": TARGETS}
SOURCE = {"source": SOURCES}


def _torch(value: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def _generated() -> Any:
    """Return what `generate` returns as cross_attentions: for each step a tuple of two layers (1, heads, 1, Tx)."""
    steps = torch.tensor(weights(0), dtype=torch.float32)
    return tuple(tuple(row[None, None, None].repeat(1, 2, 1, 1) for _ in range(2)) for row in steps)


def _inseq(stored_as: str) -> str:
    sequences = []
    for n, (source, target) in enumerate(PAIRS):
        array = weights(n).T[:, :, None]
        numbers: Any = array.tolist()
        if stored_as == "packed":
            data = gzip.compress(array.astype(np.float32).tobytes())
            numbers = "b64.gz:" + base64.b64encode(data).decode()
        stored: Any = {"__ndarray__": numbers, "dtype": "float32", "shape": list(array.shape), "Corder": True}
        if stored_as == "safetensors":
            file = safetensors.numpy.save({"attribution": np.ascontiguousarray(array, dtype=np.float32)})
            stored = base64.b64encode(file).decode()
        tokens = [
            [
                {"__instance_type__": ["inseq.utils.typing", "TokenWithId"], "attributes": {"id": 0, "token": token}}
                for token in (*side.split(), "</s>")
            ]
            for side in (source, target)
        ]
        sequences.append(
            {
                "__instance_type__": ["inseq.data.attribution", "FeatureAttributionSequenceOutput"],
                "attributes": {
                    "source": tokens[0],
                    "target": tokens[1],
                    "attr_pos_start": 0,
                    "source_attributions": stored,
                },
            }
        )
    whole = {"info": {"attribution_method": "attention"}, "sequence_attributions": sequences}
    return json.dumps(
        {"__instance_type__": ["inseq.data.attribution", "FeatureAttributionOutput"], "attributes": whole}
    )


def _nematus_json(graph: bool) -> str:
    written = []
    for n, (source, target) in enumerate(PAIRS):
        sides = [[*side.split(), "</s>"] for side in (source, target)]
        cells = [(i, j) for i in range(len(sides[1])) for j in range(len(sides[0]))]
        if graph:
            nodes = [{"group": side + 1, "name": token} for side in (0, 1) for token in sides[side]]
            links = [{"source": sides[0][j], "target": sides[1][i], "value": str(weights(n)[i, j])} for i, j in cells]
            written.append(json.dumps({"nodes": nodes, "links": links}) + "\n\n")
        else:
            written.append(json.dumps([(sides[1][i], sides[0][j], str(weights(n)[i, j]), n, 0) for i, j in cells]))
    return "".join(written)


def _table(pair: int, delimiter: str) -> str:
    source, target = ([*side.split(), "</s>"] for side in PAIRS[pair])
    lines = [delimiter.join(["", *source])]
    lines += [delimiter.join([name, *map(str, row)]) for name, row in zip(target, weights(pair), strict=True)]
    return "\n".join(lines) + "\n"


def _soft_alignments() -> str:
    lines = ["var alignments = ["]
    for n in (0, 1):
        columns = [
            "[" + "".join(f"[{j}, {weights(n)[i, j]}, {i}], " for i in range(len(weights(n)))) + "], "
            for j in range(weights(n).shape[1])
        ]
        lines.append("[" + "".join(columns) + "], ")
    return "\n".join([*lines, "]\n"])


LOG = "S-{{n}}\t{{s}}\nT-{{n}}\t{{t}}\nH-{{n}}\t-0.31\t{{t}}\nD-{{n}}\t-0.31\t{{t}}\nP-{{n}}\t-0.1\nA-{{n}}\t{}\n"


def _log(alignment: str, order: Sequence[int] = (0, 1)) -> str:
    """Return what fairseq-generate prints, with this form of an alignment."""
    return "2026-01-01 10:00:00 | INFO | fairseq_cli.generate | loading\n" + each(LOG.format(alignment), order)


def _batch(ends: bool = True) -> NDArray[np.float64]:
    """Return the weights of both pairs in one array (2, 6, 5), padded."""
    array = np.zeros((2, 6, 5))
    for n in (0, 1):
        one = weights(n, ends)
        array[n, : one.shape[0], : one.shape[1]] = one
        array[n, one.shape[0] :, 0] = 1  # the decoder goes on after its end
    return array


def _logged(n: int, starred: bool = False) -> str:
    source, target = PAIRS[n]
    return logged((*target.split(), "</s>"), (*source.split(), "</s>"), weights(n), starred=starred)


def listed(n: int) -> list[Any]:
    return weights(n, ends=False).tolist()


def lines(values: Sequence[object]) -> str:
    return "\n".join(map(json.dumps, values))


def _records() -> list[Attention]:
    return [attention(s, t, weights(n, ends=False)) for n, (s, t) in enumerate(PAIRS)]


def _parquet_table() -> bytes:
    file = io.BytesIO()
    parquet.write_table(table_of_attention(_records()), file, compression="zstd")
    return file.getvalue()


ONE = {"matrices": [weights(0)], "pairs": PAIRS[:1]}
FIRST = {"source": SOURCES[:1], "target": TARGETS[:1]}
ENDS = ("source-end", "target-end")

FILES: tuple[File, ...] = (
    _links("hard.log", "fairseq", _log("{links}", order=(1, 0)), "reordered", "links"),
    _links("old.log", "fairseq", _log("0 2 1", (0,)) + _log("0 1", (1,))),
    _soft("soft.log", "fairseq", _log("{soft}")),
    _soft("nematus.txt", "nematus", each("{n} ||| {t} ||| 0.2 ||| {s} ||| {columns} {lines}\n{rows}\n")),
    _soft("amun-nematus.txt", "nematus", each("{n} ||| {t} ||| -1.5 ||| {s} ||| {columns} {lines}\n{rows}")),
    _soft("nematus-links.json", "nematus-json", _nematus_json(graph=False)),
    _soft("nematus-graph.json", "nematus-json", _nematus_json(graph=True)),
    _links("sockeye.txt", "sockeye", each("{t}\t{links}\n"), given=SOURCE),
    _links(
        "sockeye-none.txt",
        "sockeye",
        each("{t}\t{links}\n", (0,)) + each("{t}\t\n", (1,)),
        given=SOURCE,
        links=(LINKS[0], ()),
    ),
    _soft(
        "sockeye-matrix.txt",
        "sockeye",
        each("{n} ||| {t} ||| -0.2 ||| {s} ||| {columns} ||| {lines}\n{turned}\n"),
        "transposed",
    ),
    _links("marian-hard.txt", "marian", each("{t} ||| {links}\n"), given=SOURCE),
    _links(
        "marian-ends.txt",
        "marian",
        each("{t} ||| {links} 3-3\n", (0,)) + each("{t} ||| {links} 2-2\n", (1,)),
        "linked-source-end",
        "linked-target-end",
        "links",
        given=SOURCE,
        links=((*LINKS[0], (3, 3)), (*LINKS[1], (2, 2))),
    ),
    _soft("marian-soft.txt", "marian", each("{t} ||| {soft}\n"), given=SOURCE),
    _soft(
        "marian-nbest.txt",
        "marian",
        each("{n} ||| {t} ||| {soft} ||| F0= -1.2 ||| -0.4\n{n} ||| x ||| 1,0 ||| F0= -1.2 ||| -0.4\n"),
        "best-only",
        given=SOURCE,
    ),
    _links("scores.txt", "marian", each("-{n}.512345 ||| {links}\n"), given=BOTH),
    _soft("scores-soft.txt", "marian", each("-{n}.512345 ||| {soft}\n"), given=BOTH),
    _links(
        "amun.txt",
        "marian",
        each("{t} ||| 0-0 1-2 2-2\n", (0,)) + each("{t} ||| 0-0 1-1\n", (1,)),
        "target-first",
        "links",
        given=SOURCE,
        links=(((0, 0), (2, 1), (2, 2)), LINKS[1]),
    ),
    _links("fast_align.txt", "fast_align", each("{s} ||| {t} ||| {links} ||| -12.3\n")),
    _links("cdec.txt", "fast_align", each("{s} ||| {t} ||| {links}\n")),
    _links("numbers.txt", "fast_align", "5 ||| cinq ||| 0-0 ||| -1.5\n", pairs=(("5", "cinq"),), links=(((0, 0),),)),
    _links(
        "giza.A3.final",
        "giza",
        "# Sentence pair (2) source length 2 target length 2 alignment score : 0.01\nil pleut \n"
        "NULL ({ }) it ({ 1 }) rains ({ 2 }) \n"
        "# Sentence pair (1) source length 3 target length 3 alignment score : 1.2e-05\nune voiture rouge \n"
        "NULL ({ }) a ({ 1 }) red ({ 3 }) car ({ 2 }) \n",
        "reordered",
        "links",
        "counted-by-format",
    ),
    _links(
        "lower.A3",
        "giza",
        "# sentence pair (0) source length 2 target length 3 alignment score : 0\nune voiture rouge\n"
        "NULL ({ 1 }) red ({ 3 }) car ({ 2 })\n",
        "empty-rows",
        "links",
        "counted-by-format",
        pairs=(("red car", "une voiture rouge"),),
        links=(((0, 2), (1, 1)),),
    ),
    _links(
        "gold.wa",
        "naacl",
        "0001 1 1 S\n0001 2 3 P\n0001 3 2 S\n0002 1 1 S\n0002 2 2 S\n",
        "links",
        "counted-by-format",
        given=BOTH,
        possible=((1, 2),),
    ),
    _links(
        "gold.naacl",
        "naacl",
        "1 1 1\n1 2 3\n1 3 2\n1 0 1\n2 1 1\n2 2 2\n",
        "null-links",
        "links",
        "counted-by-format",
        given=BOTH,
    ),
    _links(
        "moses.nbest",
        "moses",
        each("{n} ||| {t} ||| LM= -12 TM= -1 ||| -3.2 ||| {links}\n{n} ||| x ||| LM= -1 ||| -4 ||| 0-0\n"),
        "best-only",
        "links",
        given=SOURCE,
    ),
    _links(
        "moses.segments",
        "moses",
        "une |0-0| voiture |2-2| rouge |1-1| \nil pleut |0-1| \n",
        "phrases",
        "links",
        given=SOURCE,
        links=(LINKS[0], ((0, 0), (0, 1), (1, 0), (1, 1))),
    ),
    _links(
        "moses.phrases",
        "moses",
        "0 ||| une voiture rouge ||| d: 0 ||| -3 ||| 0=0 1-2=1-2\n",
        "phrases",
        "links",
        given={"source": SOURCES[:1]},
        pairs=PAIRS[:1],
        links=(((0, 0), (1, 1), (1, 2), (2, 1), (2, 2)),),
    ),
    _links(
        "moses.enriched",
        "moses",
        "une voiture rouge |0-2,wa=0-0 1-2 2-1,total=-3.1,LM0= -2| \n",
        given={"source": SOURCES[:1]},
        pairs=PAIRS[:1],
        links=LINKS[:1],
    ),
    _links("pharaoh.txt", "pharaoh", "\n".join(TEXTS) + "\n", given=BOTH),
    _links("from-1.txt", "pharaoh", "1-1 2-3 3-2\n1-1 2-2\n", "links", "counted-from-1", given=BOTH),
    _links("blank.txt", "pharaoh", f"\n{TEXTS[1]}", "empty-rows", "links", given=BOTH, links=((), LINKS[1])),
    _links("possible.talp", "pharaoh", "0-0 1?2 2-1\n0-0 1p1\n", given=BOTH, possible=((1, 2),)),
    _links("probable.txt", "pharaoh", "0-0:0.9 1-2:0.8 2-1:1\n0-0:.5 1-1:1e-2\n", "probabilities", given=BOTH),
    _links("words.tsv", "pharaoh", each("{s}\t{t}\t{links}\n")),
    _links("pharaoh.gz", "pharaoh", gzip.compress("\n".join(TEXTS).encode(), mtime=0), given=BOTH),
    _links("inter.txt", "simalign", each("{n}\t{links}\n"), given=BOTH),
    _links(
        "probs.txt",
        "simalign",
        "0\t0-0-.95-.97 1-2-.9-.91 2-1-.8-.85\n1\t0-0-.7-.7 1-1-.9-.9\n",
        "probabilities",
        given=BOTH,
    ),
    _soft("debug.log", "opennmt", "".join(_logged(n) for n in (0, 1))),
    _soft("starred.log", "opennmt", "".join("[2026-11-22 10:00:01,123 INFO] " + _logged(n, True) for n in (0, 1))),
    _soft(
        "results.json",
        "ctranslate2",
        json.dumps(objects(lambda n, _, t: {"hypotheses": [t.split()], "scores": [], "attention": [listed(n)]})),
        ends=False,
        given=SOURCE,
    ),
    _soft(
        "several.jsonl",
        "ctranslate2",
        lines(objects(lambda n, _, t: {"hypotheses": [t.split(), ["x"]], "attention": [listed(n), [[1]]]})),
        "best-only",
        ends=False,
        given=SOURCE,
    ),
    _soft("inseq.json", "inseq", _inseq("lists")),
    _soft("inseq-packed.json", "inseq", _inseq("packed")),
    _soft("inseq-safetensors.json", "inseq", _inseq("safetensors")),
    _soft(
        "own.json",
        "json",
        json.dumps(objects(lambda n, s, t: {"source": s.split(), "target": t.split(), "matrix": listed(n)})),
        ends=False,
    ),
    _soft(
        "synonyms.jsonl",
        "json",
        lines(objects(lambda n, s, t: {"src_tokens": s.split(), "hyp": t, "attn": listed(n)})),
        ends=False,
    ),
    _links("links.json", "json", json.dumps(objects(lambda n, s, t: {"src": s, "tgt": t, "alignment": LINKS[n]}))),
    _links(
        "gold.jsonl",
        "json",
        lines(objects(lambda n, s, t: {"id": n, "en": s.split(), "fr": t, "S": LINKS[n][:-1], "P": LINKS[n]})),
        possible=((2, 1),),
    ),
    File("table.csv", "csv", _table(0, ",").encode(), **ONE),
    _soft("tables.tsv", "csv", _table(0, "\t") + "\n" + _table(1, "\t")),
    File("bare.txt", "csv", rows(0).encode(), ENDS, FIRST, **ONE),
    File("one.npy", "numpy", npy(weights(0)), ENDS, FIRST, **ONE),
    _soft("batch.npy", "numpy", npy(_batch()), "padding", given=BOTH),
    _soft("neuralmonkey.npy", "numpy", npy(_batch().transpose(0, 2, 1)), "transposed", "padding", given=BOTH),
    File(
        "joey.npz",
        "numpy",
        npz(source=[*SOURCES[0].split(), "</s>"], tokens=[*TARGETS[0].split(), "</s>"], attention_probs=_batch()[:1]),
        ("padding",),
        **ONE,
    ),
    _soft("several.npz", "numpy", npz(arr_0=weights(0), arr_1=weights(1)), given=BOTH),
    File("generate.pt", "torch", _torch(_generated()), (*ENDS, "mean-of-heads"), FIRST, **ONE),
    File(
        "dict.pt",
        "torch",
        _torch({"source": SOURCES[0].split(), "target": TARGETS[0].split(), "attention": torch.tensor(weights(0))}),
        ENDS,
        **ONE,
    ),
    _soft("records.parquet", "parquet", attention_file_content(_records(), "parquet"), ends=False),
    _soft("table.parquet", "parquet", _parquet_table(), ends=False),
    _soft("x.ali.js", "softalignments", _soft_alignments(), given=BOTH),
    _soft("y.ali.js", "softalignments", _soft_alignments().replace("], \n]", "],\n]"), given=BOTH),
)
CONTENTS = {file.name: file.content for file in FILES}
"""The bytes of each file, by its name."""
