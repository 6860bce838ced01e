"""Example attention files, two for each format, as the programs write them; most can be written of any pairs."""

import base64
import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
import torch
from numpy.typing import NDArray
from pyarrow import parquet

from attnviz import Attention, attention
from attnviz.corpora.measured_attention import table_of_attention
from attnviz.export.attention_files import attention_file_content
from attnviz.text import SPACE

SOURCE = ("The", "economic", "area", "was", "signed", ".")
TARGET = ("La", "zone", "économ@@", "ique", "a", "été", "signée", ".")
LOOKS = (0, 2, 1, 1, 3, 3, 4, 5, 6)
"""Where each target token looks, `</s>` last."""


def matrix(seed: int = 0) -> NDArray[np.float64]:
    """Weights (9, 7) of SOURCE and TARGET with their ends, most of each row where LOOKS says."""
    weights = np.random.default_rng(seed).random((len(LOOKS), len(SOURCE) + 1)) * 0.1
    weights[np.arange(len(LOOKS)), LOOKS] += 1
    return weights / weights.sum(axis=1, keepdims=True)


def marian(weights: NDArray[np.float64], target: Sequence[str] = TARGET) -> str:
    """Return a line of `marian-decoder --alignment soft`: C++ streams print six significant digits."""
    return " ".join(target) + " ||| " + " ".join(",".join(f"{x:.6g}" for x in row) for row in weights)


def logged(rows: Sequence[str], columns: Sequence[str], weights: NDArray[np.float64], *, starred: bool = False) -> str:
    """Return a table of `-attn_debug`: ten characters for each name and number, source names cut to seven letters."""
    lines = ["{:>10.10} ".format("") + "".join(f"{name:>10.7} " for name in columns)]
    for name, row in zip(rows, weights, strict=True):
        numbers = [f"{x:>10.7f} " for x in row]
        if starred:  # up to version 3.0 blanks before the largest are asterisks
            numbers[int(row.argmax())] = f"{row.max():*>10.7f} "
        lines.append(f"{name:>10.10} " + "".join(numbers))
    return "\n".join(lines) + "\n"


def stored(write: Callable[[Any], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    return stored(lambda file: np.savez(file, **arrays))


def arrays_of_one_pair(**more: object) -> dict[str, object]:
    """Return arrays of two layers of two heads, of words that no subword mark tells."""
    return {
        "source": ["green", "house", "s", "."],
        "target": ["mai", "sons", "vertes", "."],
        "matrix": np.random.default_rng(4).dirichlet(np.ones(4), size=(2, 2, 4)),
        "source_word_of": [0, 1, 1, 2],
        "target_word_of": [0, 0, 1, 2],
        "links": [[1, 0], [1, 1], [0, 2], [3, 3]],
        "sure": [[1, 0], [0, 1]],
        "possible": [[2, 2]],
        **more,
    }


def npy(array: NDArray[Any], **how: Any) -> bytes:
    return stored(lambda file: np.save(file, array, **how))


Links = Sequence[tuple[int, int]]
ENDS = ("source-end", "target-end")
SCORES = ("-1.512345", "nan", "-inf")


class Pair(NamedTuple):
    source: Sequence[str]
    target: Sequence[str]
    links: Links
    counts: NDArray[np.int64]
    """Weights (Ty + 1, Tx + 1), with those of `</s>`, before each row is scaled to add up to 1."""

    def weights(self, ends: bool = True) -> NDArray[np.float64]:
        counts = self.counts if ends else self.counts[:-1, :-1]
        return counts / counts.sum(axis=1, keepdims=True)

    def sides(self) -> list[list[str]]:
        return [[*self.source, "</s>"], [*self.target, "</s>"]]

    def fill(self, form: str, n: int, ends: bool) -> str:
        """Return the text of this form for the pair number `n`, from 0."""
        weights = self.weights(ends)
        rows, turned = ("".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in m) for m in (weights, weights.T))
        of_source = [" ".join(str(i + 1) for j, i in self.links if j == place) for place in range(len(self.source))]
        words = [f"{word} ({{ {i}{' ' * bool(i)}}})" for word, i in zip(self.source, of_source, strict=True)]
        return form.format(
            n=n,
            number=n + 1,
            score=SCORES[n % 3],
            s=" ".join(self.source),
            t=" ".join(self.target),
            links=" ".join(f"{j}-{i}" for j, i in self.links),
            from_1=" ".join(f"{j + 1}-{i + 1}" for j, i in self.links),
            naacl="".join(f"{n + 1:04} {j + 1} {i + 1}\n" for j, i in self.links),
            sources=" ".join(str(j) for j, _ in sorted(self.links, key=lambda link: link[1])),
            giza=" ".join(["NULL ({ })", *words]),
            soft=" ".join(",".join(f"{x:.6f}" for x in row) for row in weights),
            rows=rows,
            turned=turned,
            words=len(self.source),
            targets=len(self.target),
            columns=weights.shape[1],
            lines=weights.shape[0],
        )


Pairs = Sequence[Pair]
PAIRS = tuple(
    Pair(s.split(), t.split(), links, np.random.default_rng(n).integers(1, 9, (len(t.split()) + 1, len(s.split()) + 1)))
    for n, (s, t, links) in enumerate(
        (("a red car", "une voiture rouge", ((0, 0), (1, 2), (2, 1))), ("it rains", "il pleut", ((0, 0), (1, 1))))
    )
)
SOURCES, TARGETS = ([" ".join(pair[side]) for pair in PAIRS] for side in (0, 1))
BOTH = {"source": SOURCES, "target": TARGETS}
LINKS = tuple(pair.links for pair in PAIRS)
TEXTS = tuple(pair.fill("{links}", 0, True) for pair in PAIRS)


def tokens_of(record: Attention) -> list[list[str]]:
    """Return the tokens of both sides of a record, without those that end them."""
    sides = (record.source_pieces, record.target_pieces)
    return [[piece.removeprefix(SPACE) for piece in side if piece != "</s>"] for side in sides]


@dataclass(frozen=True)
class File:
    """A file of one format: how it is written, and what is read of it."""

    name: str
    format: str
    write: str | bytes | Callable[[Pairs], str | bytes]
    """The text of each pair (`Pair.fill`), the whole file of the example pairs, or a function that writes any pairs."""
    remarks: Sequence[str] = ()
    """Those of the first pair."""
    needs: str = ""
    """Sides that are given besides the file: `s`, `t`."""
    links: Sequence[Links] | None = None
    """Of each example pair; None for weights."""
    possible: Links = ()
    """Of the first pair."""
    ends: bool = True
    """Whether weights are given for `</s>`, too."""
    count: int = 2
    """Number of the example pairs that the file has."""
    general: bool = False
    """Whether the file of any pairs is read back equal or refused."""

    @property
    def pairs(self) -> Pairs:
        return PAIRS[: self.count]

    @property
    def given(self) -> dict[str, Any]:
        """What `read_attention` is given besides the file of the example pairs."""
        return {name: lines[: self.count] for name, lines in BOTH.items() if name[0] in self.needs}

    def content(self, pairs: Pairs) -> bytes:
        if isinstance(self.write, bytes):
            return self.write
        found = each(self.write, pairs, self.ends) if isinstance(self.write, str) else self.write(pairs)
        return found if isinstance(found, bytes) else found.encode()


def each(form: str, pairs: Pairs, ends: bool = True) -> str:
    return "".join(pair.fill(form, n, ends) for n, pair in enumerate(pairs))


def _hard(name: str, form: str, write: Any, remarks: str = "links", needs: str = "", **others: Any) -> File:
    given = {"links": LINKS, **others}
    return File(name, form, write, remarks.split(), needs, count=len(given["links"]), **given)


def _soft(name: str, form: str, write: Any, remarks: str = "", needs: str = "", ends: bool = True, **more: Any) -> File:
    return File(name, form, write, (*(ENDS if ends else ()), *remarks.split()), needs, ends=ends, **more)


def _two(first: str, other: str) -> Callable[[Pairs], str]:
    """Return a writer of the first pair in one form, and of the others in another."""
    return lambda pairs: each(first, pairs[:1]) + each(other, pairs[1:])


def _backwards(form: str) -> Callable[[Pairs], str]:
    return lambda pairs: "".join(pair.fill(form, n, True) for n, pair in [*enumerate(pairs)][::-1])


def _objects(make: Callable[[Pair], object], lines: bool = False) -> Callable[[Pairs], str]:
    """Return a writer of JSON of an object for each pair: a list, or one a line."""
    return lambda ones: "\n".join(json.dumps(make(one)) for one in ones) if lines else json.dumps([*map(make, ones)])


def saved(value: Any) -> bytes:
    return stored(lambda file: torch.save(value, file))


def _generated(pairs: Pairs) -> bytes:
    """Return what `generate` returns as cross_attentions: for each step a tuple of two layers (1, heads, 1, Tx)."""
    steps = torch.tensor(pairs[0].weights(), dtype=torch.float32)
    return saved(tuple(tuple(row[None, None, None].repeat(1, 2, 1, 1) for _ in range(2)) for row in steps))


def _inseq(stored_as: str) -> Callable[[Pairs], str]:
    def instance(module: str, name: str, **attributes: Any) -> dict[str, Any]:
        return {"__instance_type__": [module, name], "attributes": attributes}

    def sequence(pair: Pair) -> dict[str, Any]:
        array = np.ascontiguousarray(pair.weights().T[:, :, None], dtype=np.float32)
        numbers: Any = array.tolist()
        if stored_as == "packed":
            numbers = "b64.gz:" + base64.b64encode(gzip.compress(array.tobytes())).decode()
        stored: Any = {"__ndarray__": numbers, "dtype": "float32", "shape": list(array.shape), "Corder": True}
        if stored_as == "safetensors":
            stored = base64.b64encode(safetensors.numpy.save({"attribution": array})).decode()
        sides = [[instance("inseq.utils.typing", "TokenWithId", id=0, token=t) for t in side] for side in pair.sides()]
        name, fields = "FeatureAttributionSequenceOutput", {"source": sides[0], "target": sides[1], "attr_pos_start": 0}
        return instance("inseq.data.attribution", name, **fields, source_attributions=stored)

    def write(pairs: Pairs) -> str:
        whole = {"info": {"attribution_method": "attention"}, "sequence_attributions": [*map(sequence, pairs)]}
        return json.dumps(instance("inseq.data.attribution", "FeatureAttributionOutput", **whole))

    return write


def _nematus_json(graph: bool) -> Callable[[Pairs], str]:
    def text(n: int, pair: Pair) -> str:
        (source, target), weights = pair.sides(), pair.weights()
        cells = [(s, t, str(weights[i, j])) for i, t in enumerate(target) for j, s in enumerate(source)]
        if not graph:
            return json.dumps([(t, s, weight, n, 0) for s, t, weight in cells])
        nodes = [{"group": 1, "name": token} for token in source] + [{"group": 2, "name": token} for token in target]
        return (
            json.dumps({"nodes": nodes, "links": [{"source": s, "target": t, "value": w} for s, t, w in cells]})
            + "\n\n"
        )

    return lambda pairs: "".join(text(n, pair) for n, pair in enumerate(pairs))


def _tables(delimiter: str, ends: bool = True) -> Callable[[Pairs], str]:
    def table(pair: Pair) -> str:
        file, sides = io.StringIO(), pair.sides() if ends else [pair.source, pair.target]
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["", *sides[0]])
        writer.writerows([name, *row] for name, row in zip(sides[1], pair.weights(ends).tolist(), strict=True))
        return file.getvalue()

    return lambda pairs: "\n".join(map(table, pairs))


def _soft_alignments(pairs: Pairs) -> str:
    lines = []
    for pair in pairs:
        columns = [
            "[" + "".join(f"[{j}, {weight}, {i}], " for i, weight in enumerate(column)) + "], "
            for j, column in enumerate(pair.weights().T.tolist())
        ]
        lines.append("[" + "".join(columns) + "], ")
    return "\n".join(["var alignments = [", *lines, "]\n"])


LOG = "S-{{n}}\t{{s}}\nT-{{n}}\t{{t}}\nH-{{n}}\t-0.31\t{{t}}\nD-{{n}}\t-0.31\t{{t}}\nP-{{n}}\t-0.1\nA-{{n}}\t{}\n"
"""What fairseq-generate prints of a pair, with an alignment."""
NBEST = "{{n}} ||| {{t}} ||| {} ||| -0.4\n{{n}} ||| x ||| {} ||| -0.5\n"
GIZA = "# Sentence pair ({number}) source length {words} target length {targets} score : 1.2e-05\n{t} \n{giza} \n"
SOCKEYE = "{n} ||| {t} ||| -0.2 ||| {s} ||| {columns} ||| {lines}\n{turned}\n"
COUNTED = "links counted-by-format"


def _batch(pairs: Pairs) -> NDArray[np.float64]:
    """Return the weights of all pairs in one array (2, 6, 5), padded."""
    array = np.zeros((len(pairs), 6, 5))
    for padded, pair in zip(array, pairs, strict=True):
        one = pair.weights()
        padded[: one.shape[0], : one.shape[1]] = one
        padded[one.shape[0] :, 0] = 1  # the decoder goes on after its end
    return array


def _logged(before: str = "", starred: bool = False) -> Callable[[Pairs], str]:
    return lambda pairs: "".join(
        before + logged(*reversed(one.sides()), one.weights(), starred=starred) for one in pairs
    )


def _records(pairs: Pairs) -> list[Attention]:
    return [attention(pair.source, pair.target, pair.weights(ends=False)) for pair in pairs]


def _parquet_table(pairs: Pairs) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table_of_attention(_records(pairs)), file, compression="zstd")
    return file.getvalue()


def _joey(pairs: Pairs) -> bytes:
    source, target = pairs[0].sides()
    return npz(source=source, tokens=target, attention_probs=_batch(pairs)[:1])


def _fields(source: str, target: str, weights: str, lines: bool = False) -> Callable[[Pairs], str]:
    """Return a writer of objects with the source tokens, the target as a text unless it is `target`, and weights."""
    return _objects(
        lambda one: {
            source: one.source,
            target: one.target if target == "target" else " ".join(one.target),
            weights: one.weights(False).tolist(),
        },
        lines,
    )


def _decoded(one: Pair, *others: Any) -> dict[str, Any]:
    """Return an object of CTranslate2 with the translation of a pair, and other translations with weights."""
    attention_of = [one.weights(False).tolist(), *(weights for _, weights in others)]
    return {"hypotheses": [one.target, *(words for words, _ in others)], "scores": [], "attention": attention_of}


def _dict(pairs: Pairs) -> bytes:
    (source, target, *_), weights = pairs[0], torch.tensor(pairs[0].weights())
    return saved({"source": source, "target": target, "attention": weights})


def _linked(one: Pair) -> dict[str, Any]:
    return {"src": " ".join(one.source), "tgt": " ".join(one.target), "alignment": one.links}


def _gold(one: Pair) -> dict[str, Any]:
    return {"en": one.source, "fr": " ".join(one.target), "S": one.links[:-1], "P": one.links}


FILES: tuple[File, ...] = (
    _hard("hard.log", "fairseq", _backwards(LOG.format("{links}")), "reordered links"),
    _hard("old.log", "fairseq", LOG.format("{sources}")),
    _hard("links.log", "fairseq", LOG.format("{links}"), general=True),
    _soft("soft.log", "fairseq", LOG.format("{soft}"), general=True),
    _soft("nematus.txt", "nematus", "{n} ||| {t} ||| 0.2 ||| {s} ||| {columns} {lines}\n{rows}\n", general=True),
    _soft("amun-nematus.txt", "nematus", "{n} ||| {t} ||| -1.5 ||| {s} ||| {columns} {lines}\n{rows}"),
    _soft("nematus-links.json", "nematus-json", _nematus_json(graph=False)),
    _soft("nematus-graph.json", "nematus-json", _nematus_json(graph=True)),
    _hard("sockeye.txt", "sockeye", "{t}\t{links}\n", needs="s", general=True),
    _hard("sockeye-none.txt", "sockeye", _two("{t}\t{links}\n", "{t}\t\n"), needs="s", links=(LINKS[0], ())),
    _soft("sockeye-matrix.txt", "sockeye", SOCKEYE, "transposed"),
    _hard("marian-hard.txt", "marian", "{t} ||| {links}\n", needs="s", general=True),
    _hard(
        "marian-ends.txt",
        "marian",
        _two("{t} ||| {links} 3-3\n", "{t} ||| {links} 2-2\n"),
        "linked-source-end linked-target-end links",
        needs="s",
        links=((*LINKS[0], (3, 3)), (*LINKS[1], (2, 2))),
    ),
    _soft("marian-soft.txt", "marian", "{t} ||| {soft}\n", needs="s", general=True),
    _soft("marian-nbest.txt", "marian", NBEST.format("{soft} ||| F0= -1", "1,0 ||| F0= -1"), "best-only", needs="s"),
    _hard("scores.txt", "marian", "{score} ||| {links}\n", needs="st", general=True),
    _soft("scores-soft.txt", "marian", "-{n}.512345 ||| {soft}\n", needs="st", general=True),
    _hard(
        "amun.txt",
        "marian",
        _two("{t} ||| 0-0 1-2 2-2\n", "{t} ||| 0-0 1-1\n"),
        "target-first links",
        needs="s",
        links=(((0, 0), (2, 1), (2, 2)), LINKS[1]),
    ),
    _hard("fast_align.txt", "fast_align", "{s} ||| {t} ||| {links} ||| {score}\n", general=True),
    _hard("cdec.txt", "fast_align", "{s} ||| {t} ||| {links}\n"),
    _hard("giza.A3.final", "giza", _backwards(GIZA), f"reordered {COUNTED}"),
    _hard("ordered.A3", "giza", GIZA, COUNTED, general=True),
    _hard("gold.wa", "naacl", b"01 1 1 S\n01 2 3 P\n01 3 2 S\n02 1 1 S\n02 2 2 S\n", COUNTED, "st", possible=((1, 2),)),
    _hard("gold.naacl", "naacl", b"1 1 1\n1 2 3\n1 3 2\n1 0 1\n2 1 1\n2 2 2\n", f"null-links {COUNTED}", needs="st"),
    _hard("plain.naacl", "naacl", "{naacl}", COUNTED, needs="st", general=True),
    _hard(
        "moses.nbest",
        "moses",
        "{n} ||| {t} ||| LM= -12 TM= -1 ||| -3.2 ||| {links}\n{n} ||| x ||| LM= -1 ||| -4 ||| 0-0\n",
        "best-only links",
        needs="s",
    ),
    _hard("one-best", "moses", "{n} ||| {t} ||| LM= -1 ||| {score} ||| {links}\n", needs="s", general=True),
    _hard(
        "moses.segments",
        "moses",
        b"une |0-0| voiture |2-2| rouge |1-1| \nil pleut |0-1| \n",
        "phrases links",
        needs="s",
        links=(LINKS[0], ((0, 0), (0, 1), (1, 0), (1, 1))),
    ),
    _hard(
        "moses.phrases",
        "moses",
        b"0 ||| une voiture rouge ||| d: 0 ||| -3 ||| 0=0 1-2=1-2\n",
        "phrases links",
        needs="s",
        links=(((0, 0), (1, 1), (1, 2), (2, 1), (2, 2)),),
    ),
    _hard("enriched", "moses", b"une voiture rouge |0-2,wa=0-0 1-2 2-1,total=-3.1| \n", needs="s", links=LINKS[:1]),
    _hard("pharaoh.txt", "pharaoh", "{links}\n", needs="st", general=True),
    _hard("from-1.txt", "pharaoh", "{from_1}\n", "links counted-from-1", needs="st", general=True),
    _hard("blank.txt", "pharaoh", f"\n{TEXTS[1]}".encode(), "empty-rows links", needs="st", links=((), LINKS[1])),
    _hard("possible.talp", "pharaoh", b"0-0 1?2 2-1\n0-0 1p1\n", needs="st", possible=((1, 2),)),
    _hard("probable.txt", "pharaoh", b"0-0:0.9 1-2:0.8 2-1:1\n0-0:.5 1-1:1e-2\n", "probabilities", needs="st"),
    _hard("words.tsv", "pharaoh", "{s}\t{t}\t{links}\n", general=True),
    _hard("pharaoh.gz", "pharaoh", lambda pairs: gzip.compress(each("{links}\n", pairs).encode(), mtime=0), needs="st"),
    _hard("inter.txt", "simalign", "{n}\t{links}\n", needs="st", general=True),
    _hard(
        "probs.txt", "simalign", b"0\t0-0-.9-.9 1-2-.9-.9 2-1-.8-.8\n1\t0-0-.7-.7 1-1-.9-.9\n", "probabilities", "st"
    ),
    _soft("debug.log", "opennmt", _logged()),
    _soft("starred.log", "opennmt", _logged("[2026-11-22 10:00:01,123 INFO] ", starred=True)),
    _soft("results.json", "ctranslate2", _objects(_decoded), ends=False, needs="s", general=True),
    _soft(
        "several.jsonl",
        "ctranslate2",
        _objects(lambda one: _decoded(one, (["x"], [[1]])), lines=True),
        "best-only",
        ends=False,
        needs="s",
    ),
    _soft("inseq.json", "inseq", _inseq("lists")),
    _soft("inseq-packed.json", "inseq", _inseq("packed")),
    _soft("inseq-safetensors.json", "inseq", _inseq("safetensors")),
    _soft("own.json", "json", _fields("source", "target", "matrix"), ends=False, general=True),
    _soft("synonyms.jsonl", "json", _fields("src_tokens", "hyp", "attn", lines=True), ends=False),
    _hard("links.json", "json", _objects(_linked)),
    _hard("gold.jsonl", "json", _objects(_gold, lines=True), possible=((2, 1),)),
    _soft("table.csv", "csv", _tables(","), count=1),
    _soft("tokens.csv", "csv", _tables(",", ends=False), ends=False, count=1, general=True),
    _soft("tables.tsv", "csv", _tables("\t")),
    _soft("bare.txt", "csv", "{rows}", needs="st", count=1),
    _soft("one.npy", "numpy", lambda pairs: npy(pairs[0].weights()), needs="st", count=1, general=True),
    _soft("batch.npy", "numpy", lambda pairs: npy(_batch(pairs)), "padding", needs="st"),
    _soft("turned.npy", "numpy", lambda pairs: npy(_batch(pairs).transpose(0, 2, 1)), "transposed padding", needs="st"),
    File("joey.npz", "numpy", _joey, ("padding",), count=1),
    _soft("two.npz", "numpy", lambda pairs: npz(arr_0=pairs[0].weights(), arr_1=pairs[1].weights()), needs="st"),
    _soft("generate.pt", "torch", _generated, "mean-of-heads", needs="st", count=1),
    _soft("dict.pt", "torch", _dict, count=1),
    _soft("own.parquet", "parquet", lambda pairs: attention_file_content(_records(pairs), "parquet"), ends=False),
    _soft("table.parquet", "parquet", _parquet_table, ends=False),
    _soft("x.ali.js", "softalignments", _soft_alignments, needs="st"),
    _soft("y.ali.js", "softalignments", lambda pairs: _soft_alignments(pairs).replace("], \n]", "],\n]"), needs="st"),
)
CONTENTS: Mapping[str, bytes] = {file.name: file.content(file.pairs) for file in FILES}
"""The bytes of each file of the example pairs, by its name."""
