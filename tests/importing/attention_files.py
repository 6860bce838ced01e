"""Example attention files, two for each format, written by the rules of the programs' own code, with their contents."""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Mapping, Sequence
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


def _links(name: str, form: str, text: str, *remarks: str, **others: Any) -> File:
    return File(name, form, text.encode(), remarks or ("links",), links=others.pop("links", LINKS), **others)


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


def _log(order: Sequence[int], alignments: Sequence[str], **kept: str) -> str:
    lines = ["2026-01-01 10:00:00 | INFO | fairseq_cli.generate | loading"]
    for n in order:
        lines += [f"S-{n}\t{SOURCES[n]}", f"T-{n}\t{TARGETS[n]}", f"H-{n}\t-0.31\t{TARGETS[n]}"]
        lines += [f"D-{n}\t-0.31\t{TARGETS[n]}", f"P-{n}\t-0.1 -0.2", f"A-{n}\t{alignments[n]}"]
    return "\n".join(lines) + "\n"


def _batch(ends: bool = True) -> NDArray[np.float64]:
    """Return the weights of both pairs in one array (2, 6, 5), padded."""
    array = np.zeros((2, 6, 5))
    for n in (0, 1):
        one = weights(n, ends)
        array[n, : one.shape[0], : one.shape[1]] = one
        array[n, one.shape[0] :, 0] = 1  # the decoder goes on after its end
    return array


def _records() -> list[Attention]:
    return [attention(s, t, weights(n, ends=False)) for n, (s, t) in enumerate(PAIRS)]


def _parquet_table() -> bytes:
    file = io.BytesIO()
    parquet.write_table(table_of_attention(_records()), file, compression="zstd")
    return file.getvalue()


_OWN = json.dumps({"source": SOURCES[0].split(), "target": TARGETS[0].split(), "matrix": weights(0, False).tolist()})
ONE = {"pairs": PAIRS[:1]}

FILES: tuple[File, ...] = (
    _links("hard.log", "fairseq", _log((1, 0), TEXTS), "reordered", "links"),
    _links("old.log", "fairseq", _log((0, 1), ("0 2 1", "0 1"))),
    _soft("soft.log", "fairseq", _log((0, 1), (soft(0), soft(1)))),
    _soft(
        "nematus.txt",
        "nematus",
        "".join(
            f"{n} ||| {TARGETS[n]} ||| 0.2 ||| {SOURCES[n]} ||| {len(SOURCES[n].split()) + 1} "
            f"{len(TARGETS[n].split()) + 1}\n{rows(n)}\n"
            for n in (0, 1)
        ),
    ),
    _soft(
        "amun-nematus.txt",
        "nematus",
        "".join(
            f"{n} ||| {TARGETS[n]} ||| -1.5 ||| {SOURCES[n]} ||| {len(SOURCES[n].split()) + 1} "
            f"{len(TARGETS[n].split()) + 1}\n{rows(n)}"
            for n in (0, 1)
        ),
    ),
    _soft("nematus-links.json", "nematus-json", _nematus_json(graph=False), ends=True),
    _soft("nematus-graph.json", "nematus-json", _nematus_json(graph=True), ends=True),
    _links(
        "sockeye.txt",
        "sockeye",
        "".join(f"{t}\t{links}\n" for t, links in zip(TARGETS, TEXTS, strict=True)),
        given=SOURCE,
    ),
    _links(
        "sockeye-none.txt", "sockeye", f"{TARGETS[0]}\t{TEXTS[0]}\n{TARGETS[1]}\t\n", given=SOURCE, links=(LINKS[0], ())
    ),
    _soft(
        "sockeye-matrix.txt",
        "sockeye",
        "".join(
            f"{n} ||| {TARGETS[n]} ||| -0.2 ||| {SOURCES[n]} ||| {len(SOURCES[n].split()) + 1} ||| "
            f"{len(TARGETS[n].split()) + 1}\n{rows(n, turned=True)}\n"
            for n in (0, 1)
        ),
        "transposed",
    ),
    _links(
        "marian-hard.txt",
        "marian",
        "".join(f"{t} ||| {links}\n" for t, links in zip(TARGETS, TEXTS, strict=True)),
        given=SOURCE,
    ),
    _links(
        "marian-ends.txt",
        "marian",
        f"{TARGETS[0]} ||| {TEXTS[0]} 3-3\n{TARGETS[1]} ||| {TEXTS[1]} 2-2\n",
        "linked-source-end",
        "linked-target-end",
        "links",
        given=SOURCE,
        links=((*LINKS[0], (3, 3)), (*LINKS[1], (2, 2))),
    ),
    _soft("marian-soft.txt", "marian", f"{TARGETS[0]} ||| {soft(0)}\n{TARGETS[1]} ||| {soft(1)}\n", given=SOURCE),
    _soft(
        "marian-nbest.txt",
        "marian",
        "".join(
            f"{n} ||| {text} ||| {groups} ||| F0= -1.2 ||| -0.4\n"
            for n in (0, 1)
            for text, groups in ((TARGETS[n], soft(n)), ("x", "1,0"))
        ),
        "best-only",
        given=SOURCE,
    ),
    _links("scores.txt", "marian", f"-0.512345 ||| {TEXTS[0]}\n-1.500000 ||| {TEXTS[1]}\n", given=BOTH),
    _soft("scores-soft.txt", "marian", f"-0.512345 ||| {soft(0)}\n-1.500000 ||| {soft(1)}\n", given=BOTH),
    _links(
        "amun.txt",
        "marian",
        f"{TARGETS[0]} ||| 0-0 1-2 2-2\n{TARGETS[1]} ||| 0-0 1-1\n",
        "target-first",
        "links",
        given=SOURCE,
        links=(((0, 0), (2, 1), (2, 2)), LINKS[1]),
    ),
    _links(
        "fast_align.txt",
        "fast_align",
        "".join(f"{s} ||| {t} ||| {one} ||| -12.3\n" for s, t, one in zip(SOURCES, TARGETS, TEXTS, strict=True)),
    ),
    _links(
        "cdec.txt",
        "fast_align",
        "".join(f"{s} ||| {t} ||| {one}\n" for s, t, one in zip(SOURCES, TARGETS, TEXTS, strict=True)),
    ),
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
        "".join(
            f"{n} ||| {TARGETS[n]} ||| LM= -12 TM= -1 ||| -3.2 ||| {TEXTS[n]}\n{n} ||| x ||| LM= -1 ||| -4 ||| 0-0\n"
            for n in (0, 1)
        ),
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
    _links(
        "words.tsv", "pharaoh", "".join(f"{s}\t{t}\t{one}\n" for s, t, one in zip(SOURCES, TARGETS, TEXTS, strict=True))
    ),
    _links("pharaoh.gz", "pharaoh", "", given=BOTH),
    _links("inter.txt", "simalign", f"0\t{TEXTS[0]}\n1\t{TEXTS[1]}\n", given=BOTH),
    _links(
        "probs.txt",
        "simalign",
        "0\t0-0-.95-.97 1-2-.9-.91 2-1-.8-.85\n1\t0-0-.7-.7 1-1-.9-.9\n",
        "probabilities",
        given=BOTH,
    ),
    _soft(
        "debug.log",
        "opennmt",
        "".join(logged((*t.split(), "</s>"), (*s.split(), "</s>"), weights(n)) for n, (s, t) in enumerate(PAIRS)),
        ends=True,
    ),
    _soft(
        "starred.log",
        "opennmt",
        "".join(
            "[2026-11-22 10:00:01,123 INFO] "
            + logged((*t.split(), "</s>"), (*s.split(), "</s>"), weights(n), starred=True)
            for n, (s, t) in enumerate(PAIRS)
        ),
        ends=True,
    ),
    _soft(
        "results.json",
        "ctranslate2",
        json.dumps(
            [
                {"hypotheses": [t.split()], "scores": [], "attention": [weights(n, False).tolist()]}
                for n, t in enumerate(TARGETS)
            ]
        ),
        ends=False,
        given=SOURCE,
    ),
    _soft(
        "several.jsonl",
        "ctranslate2",
        "\n".join(
            json.dumps({"hypotheses": [t.split(), ["x"]], "attention": [weights(n, False).tolist(), [[1]]]})
            for n, t in enumerate(TARGETS)
        ),
        "best-only",
        ends=False,
        given=SOURCE,
    ),
    _soft("inseq.json", "inseq", _inseq("lists"), ends=True),
    _soft("inseq-packed.json", "inseq", _inseq("packed"), ends=True),
    _soft("inseq-safetensors.json", "inseq", _inseq("safetensors"), ends=True),
    File("own.json", "json", _OWN.encode(), matrices=[weights(0, False)], **ONE),
    _soft(
        "synonyms.jsonl",
        "json",
        "\n".join(
            json.dumps({"src_tokens": s.split(), "hyp": t, "attn": weights(n, False).tolist()})
            for n, (s, t) in enumerate(PAIRS)
        ),
        ends=False,
    ),
    _links(
        "links.json",
        "json",
        json.dumps(
            [{"src": s, "tgt": t, "alignment": [list(link) for link in LINKS[n]]} for n, (s, t) in enumerate(PAIRS)]
        ),
    ),
    _links(
        "gold.jsonl",
        "json",
        "\n".join(
            json.dumps(
                {
                    "id": n,
                    "en": s.split(),
                    "fr": t.split(),
                    "S": [[j, i] for j, i in LINKS[n][:-1]],
                    "P": [[j, i] for j, i in LINKS[n]],
                }
            )
            for n, (s, t) in enumerate(PAIRS)
        ),
        possible=((2, 1),),
    ),
    File("table.csv", "csv", _table(0, ",").encode(), matrices=[weights(0)], **ONE),
    _soft("tables.tsv", "csv", _table(0, "\t") + "\n" + _table(1, "\t"), ends=True),
    File(
        "bare.txt",
        "csv",
        rows(0).encode(),
        ("source-end", "target-end"),
        {"source": SOURCES[:1], "target": TARGETS[:1]},
        matrices=[weights(0)],
        **ONE,
    ),
    File(
        "one.npy",
        "numpy",
        npy(weights(0)),
        ("source-end", "target-end"),
        {"source": SOURCES[:1], "target": TARGETS[:1]},
        matrices=[weights(0)],
        **ONE,
    ),
    _soft("batch.npy", "numpy", npy(_batch()), "padding", given=BOTH),
    _soft("neuralmonkey.npy", "numpy", npy(_batch().transpose(0, 2, 1)), "transposed", "padding", given=BOTH),
    File(
        "joey.npz",
        "numpy",
        npz(source=[*SOURCES[0].split(), "</s>"], tokens=[*TARGETS[0].split(), "</s>"], attention_probs=_batch()[:1]),
        ("padding",),
        matrices=[weights(0)],
        **ONE,
    ),
    _soft("several.npz", "numpy", npz(arr_0=weights(0), arr_1=weights(1)), given=BOTH),
    File(
        "generate.pt",
        "torch",
        _torch(_generated()),
        ("source-end", "target-end", "mean-of-heads"),
        {"source": SOURCES[:1], "target": TARGETS[:1]},
        matrices=[weights(0)],
        **ONE,
    ),
    File(
        "dict.pt",
        "torch",
        _torch({"source": SOURCES[0].split(), "target": TARGETS[0].split(), "attention": torch.tensor(weights(0))}),
        ("source-end", "target-end"),
        matrices=[weights(0)],
        **ONE,
    ),
    _soft("records.parquet", "parquet", attention_file_content(_records(), "parquet"), ends=False),
    _soft("table.parquet", "parquet", _parquet_table(), ends=False),
    _soft("x.ali.js", "softalignments", _soft_alignments(), given=BOTH),
    _soft("y.ali.js", "softalignments", _soft_alignments().replace("], \n]", "],\n]"), given=BOTH),
)


def _content(file: File) -> bytes:
    return gzip.compress("\n".join(TEXTS).encode(), mtime=0) if file.name.endswith(".gz") else file.content


CONTENTS = {file.name: _content(file) for file in FILES}
"""The bytes of each file, by its name."""
