"""Attention files of every format: what is read of them, what is assumed and said, and which are refused with what."""

import base64
import gzip
import io
import json
import zipfile
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import strategies as st
from pyarrow import parquet

import attnviz.export
from attnviz import Attention, AttnvizError, attention, from_huggingface, read_attention
from attnviz.analysis.gold import linkable_words, links_text
from attnviz.commands.main import main
from attnviz.export import FigureOptions
from attnviz.importing.attention_reader import read_bytes, records_of
from attnviz.importing.formats import FORMATS
from attnviz.importing.formats.line_formats import LAYOUTS
from attnviz.importing.records import format_sentence
from attnviz.importing.sentence_pair import SentencePair, Sentences, join_sentences
from attnviz.reading import content_of
from attnviz.trace.word_link_text import CountingError, parse_links
from tests.documentation.pages import FORMATS_PAGE, with_tables
from tests.figures import synthetic
from tests.importing.attention_files import (
    BOTH,
    CONTENTS,
    ENDS,
    FILES,
    PAIRS,
    SOURCE,
    SOURCES,
    TARGET,
    TARGETS,
    arrays_of_one_pair,
    logged,
    matrix,
    npy,
    npz,
    saved,
    stored,
    tokens_of,
)
from tests.snapshots import refusal

GUIDE = FORMATS_PAGE.read_text(encoding="utf-8")


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_example_file_is_read_with_its_format_and_content(file, tmp_path) -> None:
    path = tmp_path / file.name
    path.write_bytes(CONTENTS[file.name])
    records = read_attention(path, **file.given)
    assert (records.format, len(records)) == (file.format, file.count)
    assert read_attention(path, **file.given, format=file.format).format == file.format
    has_program = file.links is None and file.format not in ("json", "csv", "numpy", "torch", "parquet")
    assert {record.origin for record in records} <= {*records.pairs.title.split(", "), records.pairs.title, ""}
    assert {bool(record.origin) for record in records} == {has_program}
    for number, (record, pair) in enumerate(zip(records, file.pairs, strict=True)):
        assert tokens_of(record) == [list(pair.source), list(pair.target)]
        if file.links is None:
            assert np.allclose(record.alignment, pair.weights(file.ends), atol=1e-6)
            assert record.links == ()
        else:
            assert record.links == tuple(file.links[number])
            assert {(j, i) for i, j in np.argwhere(record.alignment > 0).tolist()} == {*file.links[number]}
    assert {*records[0].remarks} - {*ENDS} == {*file.remarks} - {*ENDS}
    assert records[0].possible == tuple(file.possible)


def test_every_format_has_two_example_files_and_stands_in_the_guide() -> None:
    names = [file.format for file in FILES]
    assert {one.name for one in FORMATS} == {*names}
    assert min(map(names.count, names)) >= 2
    assert with_tables(GUIDE) == GUIDE, "python -m tests.documentation .docs/pages/data.md"
    assert all(one.example and one.written_by for one in FORMATS)


@pytest.mark.parametrize(
    "layout", [one for one in LAYOUTS if not one.body and not one.further], ids=lambda one: one.form
)
def test_the_example_of_a_layout_is_read(layout) -> None:
    sentence = "x x" if "," in layout.example else "x x x x"
    content = content_of(layout.example.replace("⇥", "\t").encode() + b"\n", "file")
    records = records_of([content], [[sentence], [sentence]])
    assert records.format == layout.name
    assert layout.example in records.reason
    assert records[0].alignment.any()


# Refusals

NO_SIDES: dict[str, Any] = {}
SIDES: dict[str, Any] = {"source": ["a b c"], "target": ["d e f"]}
TOKENS = {"source": ["a", "b"], "target": ["x", "y"]}
ROWS = [[0.5, 0.5], [0.25, 0.75]]
GRAPH: dict[str, Any] = {
    "nodes": [{"name": name, "group": group} for name, group in (("a", 1), ("b", 1), ("x", 2), ("y", 2))],
    "links": [{"source": 0, "target": 2, "value": weight} for row in ROWS for weight in row],
}
NEMATUS = "0 ||| une voiture ||| 0.2 ||| a car ||| 2 2\n"
IN_MEMORY: dict[str, Any] = {"matrix": matrix(), "source": SOURCE, "target": TARGET}
STEPS = torch.softmax(torch.arange(120, dtype=torch.float32).sin().reshape(4, 3, 1, 2, 1, 5), -1)
GENERATED = tuple(tuple(step) for step in STEPS)
"""What `generate` returns: for each of four steps, three layers (1, heads, 1, Tx)."""


def _table(_encoding: str | None = None, **columns: object) -> bytes:
    how = {"use_dictionary": not _encoding, "column_encoding": _encoding}
    return stored(lambda file: parquet.write_table(pa.table(columns), file, **how))


def _zipped(file: Any, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _compressed(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        return stored(lambda file: _zipped(file, {name: old.read(name) for name in old.namelist()}))


Refused = Mapping[str, tuple[Any, Mapping[str, Any]]]
OF_SIDES = {
    "fairseq without alignments": "S-0\ta\nT-0\tb\nH-0\t-0.1\tb\n",
    "moses without alignments": "0 ||| a b ||| LM= -1 TM= -2 ||| -3\n",
    "marian n-best without alignments": "0 ||| a b ||| -1.23\n",
    "pairs with bars": "a car ||| une voiture\n",
    "header without matrix": "0 ||| a ||| 0.1 ||| b ||| 2 2\n",
    "header and text": f"{NEMATUS}b c\n",
    "header and header": f"{NEMATUS}\n{NEMATUS}",
    "header of another size": "0 ||| x y ||| 0.1 ||| a b ||| 5 6\n0.5 0.5\n0.5 0.5\n",
    "links with a word": "0-0 1-1\n0-0 1-x\n0-1\n",
    "marian with a bad line": "a b ||| 0-0\nc d ||| x\n",
    "marian with a line without links": "a ||| 0-0\nb\n",
    "probabilities without links": "0.9 0.8 0.7\n0.9\n",
    "CTranslate2 without attention": '[{"hypotheses": [["a"]], "scores": [0.1]}]',
    "JSON without matrix": '{"source": ["a"], "target": ["b"]}',
    "damaged JSON": '{"source": ["a"], "target": ',
    "OpenNMT without tables": "SENT 1: ['a']\nPRED 1: b\n",
    "a table of words": "a,b,c\nd,e,f\n",
    "plain sentences": "Il pleut.\nIl neige.\n",
    "a page": "<!DOCTYPE html><html></html>",
    "gold links in XML": "\ufeff<?xml version='1.0'?>\n<DATASET>\n<sure>1-1</sure>\n</DATASET>\n",
    "a table of GIZA++'s model": "1 1 4 5 0.91\n2 1 4 5 0.05\n3 2 4 5 0.4\n0 3 7 6 1e-05\n",
    "its table of counts": "1 1 8 100 1\n5 2 8 100 1\n4 3 8 100 1\n",
    "Latin-1": "une été ||| 0-0\n".encode("latin-1"),
    "Windows-1252": "l’été ||| 0-0\n".encode("cp1252"),
    "UTF-16": "a ||| 0-0\n".encode("utf-16"),
    "UTF-16 without a mark": "a car ||| 0-0 1-1\n".encode("utf-16-le"),
    "bzip2": b"BZh91AY&SY",
    "cut gzip": gzip.compress(b"0-0 1-1\n")[:-6],
    "NUL": "0-0\0 1-1\n",
    "pickle": b"\x80\x04\x95",
    "Parquet of sentences": _table(source=["a"], target=["b"]),
    "Parquet of other types": _table(source_pieces=["a b c"], target_pieces=["d e f"], alignment=[1.0]),
    "Parquet with a record that is no JSON": _table(record=["a b c"]),
    "Parquet whose texts repeat the text before": _table(_encoding="DELTA_BYTE_ARRAY", record=["a b c"]),
    "cut Parquet": _table(source=["a"], target=["b"])[:-9],
    "NAACL from 0": "1 0 0\n1 1 1\n1 2 2\n1 3 3\n",
    "a large link": "a b\tc d\t0-0 1-12345678\n",
    "NAACL with a large number": "1 1 1 S\n1000001 1 1 S\n",
    "a field twice": json.dumps({**TOKENS, "matrix": ROWS})[:-1] + ', "source": ["c", "d"]}',
    "two links of one number": "0\t0-0\n0\t1-1\n",
    "GIZA++ of other sizes": "# Sentence pair (1) source length 2 target length 2\nb\nNULL ({ }) a ({ })\n",
    "a span that ends before it begins": "0 ||| a b ||| f ||| -1 ||| 0-1=1-0\n",
    "softalignments without a weight": "var alignments = [\n[[0, 1.0, 0], [1, 0.5, 1], ], \n]\n",
    "softalignments of words": "var alignments = [\n[[0, x, 0], ], \n]\n",
}
WITHOUT_SIDES = {
    "empty": "",
    "greeting": "Hello.",
    "neither text nor NumPy": b"\xff\xfe",
    "cut npy": b"\x93NUMPY\x01\x00",
    "cut npz": b"PK\x03\x04",
    "no tokens": '{"matrix": [[1]]}',
    "no tokens in a list": '[{"matrix": 1}, {"source": "a"}]',
    "rows of two lengths": "a ||| 1,2 3",
    "four columns": "a\tb\tc\t0-0",
    "too many links": "0-0 " * 10_001,
    "no object": "[[1, 2], [3]]",
    "no target": CONTENTS["pharaoh.txt"],
    "links or matrix": _json({**TOKENS, "alignment": [[0, 1], [1, 0]]}),
    "graph without a link": _json(GRAPH | {"links": GRAPH["links"][:3]}),
    "graph without a node": _json(GRAPH | {"nodes": GRAPH["nodes"][1:]}),
    "weights without a pair of tokens": _json([["x", "a", "0.5"], ["x", "b", "0.5"], ["y", "a", "1"]]),
    "no attention": _json([{**TOKENS, "hypotheses": [TOKENS["target"]], "attention": [None]}]),
    "one attention of two": _json([{**TOKENS, "hypotheses": [["x"], ["y"]], "attention": [ROWS]}]),
    "ids of Inseq": _json(
        {"sequence_attributions": [{"source": [1, 2], "target": "x y", "source_attributions": ROWS}]}
    ),
    "Inseq without source": _json({"sequence_attributions": [{"target": "x", "source_attributions": ROWS}]}),
    "Inseq of a decoder": _json({"sequence_attributions": [{"source_attributions": None}]}),
    "Inseq of one dimension": _json({"sequence_attributions": [{"source_attributions": [1]}]}),
    "an object as token": _json({**TOKENS, "source": [{"token": "a"}, {"id": 5}], "matrix": ROWS}),
    "a link that is no pair": _json({**TOKENS, "links": [[0, 1, 2]]}),
}
TEXTS: Refused = {
    name: (content.encode() if isinstance(content, str) else content, given)
    for given, contents in ((SIDES, OF_SIDES), (NO_SIDES, WITHOUT_SIDES))
    for name, content in contents.items()
}
ARRAYS: Refused = {
    "two matrices": (npy(np.zeros((2, 3, 4))), NO_SIDES),
    "no array": (npz(other=np.eye(2)), NO_SIDES),
    "a size past its end": (npy(np.zeros(1)).replace(b"(1,)", b"(9999999999,)".ljust(4)), NO_SIDES),
    "pickled": (npy(np.array([{}], dtype=object), allow_pickle=True), NO_SIDES),
    "bomb": (stored(lambda file: _zipped(file, {"matrix.npy": b"\0" * (65 << 20)})), NO_SIDES),
    "texts as weights": (npy(np.array([["0.5", "0.5"], ["1", "0"]])), {"source": ["a b"] * 2, "target": ["x y"] * 2}),
    "six dimensions": (npy(np.ones((1, 1, 1, 1, 1, 1))), NO_SIDES),
    "transposed": (npy(np.array([[0.9, 0.4], [0.1, 0.6]])), {"source": ["a b"], "target": ["c d"]}),
    "transposed, normalised": (
        npy(np.array([[0.9, 0.4], [0.1, 0.6]])),
        {"source": ["a b"], "target": ["c d"], "normalise": True},
    ),
    "not of a batch": (CONTENTS["batch.npy"], {"source": SOURCES * 2, "target": TARGETS * 2}),
    "no heads": (CONTENTS["one.npy"], {"source": SOURCES[:1], "target": TARGETS[:1], "head": 1}),
    "no such head": (npy(np.full((2, 3, 3, 3), 1 / 3)), {**SIDES, "head": 3}),
    "no such layer": (npy(np.full((2, 3, 3, 3), 1 / 3)), {**SIDES, "layer": -3}),
    "layers or heads": (npy(np.full((2, 3, 3), 1 / 3)), {**SIDES, "layer": 0, "head": 0}),
    **{
        f"a pair with {name}": (npz(**arrays_of_one_pair(**more)), NO_SIDES)
        for name, more in {
            "a link past the end": {"links": [[0, 9]]},
            "links of one dimension": {"links": [0, 1]},
            "half a token": {"links": [[0.5, 1]]},
            "links as text": {"sure": "0-0"},
            "a million links": {"links": np.zeros((1_000_001, 2), np.int8)},
            "too few words": {"source_word_of": [0, 1]},
            "no such layer": {"layer": 2},
            "two heads": {"head": [0, 1]},
            "two origins": {"origin": ["a", "b"]},
            "two sentences": {"matrix": np.ones((2, 4, 4)) / 4, "source": [["a"] * 4] * 2},
        }.items()
    },
    **{
        f"in memory, {name}": ({**IN_MEMORY, **more}, NO_SIDES)
        for name, more in {
            "ids": {"source": torch.tensor([1, 2, 3])},
            "a dict": {"source": {"first": 1}},
            "a number among tokens": {"source": [1, "b", "c"]},
            "a number among sentences": {"source": [["a", "b", "c"], 3]},
            "text as matrix": {"matrix": "a text"},
            "text as energies": {"energies": "a text"},
            "text as links": {"links": "0-0 1-1"},
            "an unknown remark": {"remarks": "unknown"},
        }.items()
    },
    "words in an array": (np.array([["a", "b"]]), SIDES),
    "compressed tensor": (_compressed(saved(torch.ones(2, 2))), NO_SIDES),
    "pickled function": (saved({"matrix": print}), NO_SIDES),
    "layers of two shapes": ((torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 5)), SIDES),
    "steps of two layers": ((GENERATED[0], GENERATED[1][:2]), SIDES),
    "steps of three dimensions": (tuple(tuple(one[0] for one in step) for step in GENERATED), SIDES),
    "steps of two widths": ((GENERATED[0], tuple(one[..., :3] for one in GENERATED[1])), SIDES),
    "steps without tokens": (GENERATED, NO_SIDES),
    "rows of beams": (tuple(tuple(one.repeat(4, 1, 1, 1) for one in step) for step in GENERATED), SIDES),
}


@pytest.mark.parametrize("refused", [TEXTS, ARRAYS], ids=["texts", "arrays"])
def test_what_is_refused_is_named(refused, tmp_path, snapshot) -> None:
    said = {}
    for name, (value, given) in refused.items():
        path = tmp_path / "file"
        if isinstance(value, bytes):
            path.write_bytes(value)
        one = path if isinstance(value, bytes) else value
        said[name] = refusal(lambda one=one, given=given: list(read_attention(one, **given)), tmp_path)
    assert said == snapshot


def test_sentences_and_options_that_do_not_fit_are_refused(tmp_path, snapshot) -> None:
    path, source = tmp_path / "links.txt", tmp_path / "source.txt"
    path.write_bytes(CONTENTS["pharaoh.txt"])
    source.write_bytes("Über\n".encode("latin-1"))
    given: dict[str, dict[str, Any]] = {
        "too few sentences": {"source": SOURCES[:1], "target": TARGETS},
        "too many sentences": {"source": [*SOURCES, "x"], "target": TARGETS},
        "too few tokens": {"source": ["a", "it rains"], "target": TARGETS},
        "no such format": {"format": "nonsense"},
        "not in this format": {**BOTH, "format": "fairseq"},
        "another format": {**BOTH, "format": "sockeye"},
        "no such encoding": {"source": source, "encoding": "klingon"},
        "an encoding of no text": {"source": source, "encoding": "hex"},
        "source in another encoding": {"source": source},
    }
    calls: dict[str, Callable[[], Any]] = {
        name: lambda more=more: list(read_attention(path, **more)) for name, more in given.items()
    }
    calls |= {
        "no file": lambda: read_attention(tmp_path / "none.txt"),
        "no sentence 3": lambda: read_attention(path, **BOTH).pair_numbered(3),
        "no sentence 0": lambda: read_attention(path, **BOTH).pair_numbered(0),
        "steps of generate as a matrix": lambda: attention("a b c d", "e f g", GENERATED),
        "steps of generate as a model": lambda: from_huggingface(GENERATED, None, "a b c d"),
        "files of two formats": lambda: read_attention([path, _file(tmp_path / "b", ["a ||| 0-0"])]),
        "files that count differently": lambda: read_attention(
            [_file(tmp_path / "c.wa", ["1 1 1 S"]), _file(tmp_path / "d.wa", ["1 0 0 S"])]
        ),
        "a folder without files": lambda: read_attention(tmp_path / "empty"),
    }
    (tmp_path / "empty").mkdir()
    assert {name: refusal(call, tmp_path) for name, call in calls.items()} == snapshot


def _file(path: Path, lines: Sequence[str], end: str = "\n") -> Path:
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


# Arrays


def _stored_as(ending: str, arrays: dict[str, Any], folder: Path) -> Path:
    """Return the file that holds these arrays, one for NumPy or for PyTorch."""
    path = folder / f"pair.{ending}"
    if ending == "npz":
        path.write_bytes(npz(**arrays))
    else:
        torch.save({k: v if np.array(v).dtype.kind == "U" else torch.tensor(v) for k, v in arrays.items()}, path)
    return path


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_links_words_and_heads_of_arrays_are_read(ending, tmp_path, capsys) -> None:
    arrays: dict[str, Any] = arrays_of_one_pair()
    path = _stored_as(ending, arrays, tmp_path)
    (record,) = read_attention(path)
    assert np.allclose(record.head_weights, arrays["matrix"], atol=1e-7)
    assert (record.words().source, record.words().target) == (("green", "house s", "."), ("mai sons", "vertes", "."))
    assert record.links == ((0, 2), (1, 0), (1, 1), (3, 3))
    assert (record.sure, record.possible) == (((0, 1), (1, 0)), ((2, 2),))
    assert main(["attention", str(path)]) == 0
    assert capsys.readouterr().out == "green house s .\tmai sons vertes .\t0-1 1-0 2?2\n"
    (chosen,) = read_attention(path, layer=1, head=0)
    assert np.allclose(chosen.alignment, arrays["matrix"][1, 0], atol=1e-7)
    (of_layer,) = read_attention(path, layer=0)
    assert main(["attention", str(path), "--layer", "2", "--head", "1", "-o", str(tmp_path / "again.npz")]) == 0
    (again,) = read_attention(tmp_path / "again.npz")
    (stored,) = read_attention(_stored_as(ending, arrays | {"layer": 1, "head": 0}, tmp_path))
    assert stored.fingerprint == again.fingerprint == chosen.fingerprint != of_layer.fingerprint
    (one_layer,) = read_attention(_stored_as(ending, arrays | {"head": 1, "matrix": arrays["matrix"][0]}, tmp_path))
    assert np.allclose(one_layer.alignment, arrays["matrix"][0, 1], atol=1e-7)
    assert one_layer.remarks == ("one-head",)
    del arrays["matrix"]
    (linked,) = read_attention(_stored_as(ending, arrays, tmp_path))
    assert (linked.links, linked.words().links) == (record.links, ((0, 1), (1, 0), (2, 2)))


def test_layer_and_head_count_from_0_and_beams_of_generate_are_followed() -> None:
    array = np.random.default_rng(1).dirichlet(np.ones(5), (2, 3, 4))
    given: dict[str, Any] = {"source": ["a b c d e"], "target": ["f g h i"]}
    for chosen, expected in (
        ({"layer": 1, "head": 2}, array[1, 2]),
        ({"layer": -1}, array[1].mean(axis=0)),
        ({"head": 0}, array[:, 0].mean(axis=0)),
        ({"head": -1}, array[:, 2].mean(axis=0)),
        ({}, array.mean(axis=(0, 1))),
    ):
        assert np.allclose(read_attention(array, **given, **chosen)[0].alignment, expected)
    batch = np.stack([array, array[:, :, ::-1]], axis=1)  # dimensions: layer, batch, head, as in Hugging Face models
    both: dict[str, Any] = {"source": given["source"] * 2, "target": given["target"] * 2}
    assert np.allclose(read_attention(batch, **both, layer=0, head=2)[1].alignment, array[0, 2, ::-1])
    for one, chosen, expected in (
        (array[0], {"head": 2}, array[0, 2]),
        (array[0], {"layer": 2}, array[0, 2]),
        (array[0], {}, array[0].mean(axis=0)),
        (array[None, 0], {"head": 2}, array[0, 2]),
        (array[:, None], {"layer": 1, "head": 2}, array[1, 2]),
        (array[:, None, :1], {"layer": 1}, array[1, 0]),
    ):
        assert np.allclose(read_attention(one, **given, **chosen)[0].alignment, expected)
    for shape in ((1, 1), (1, 1, 1)):
        alone = matrix().reshape(*shape, *matrix().shape)
        for chosen in ({"layer": 0}, {"head": 0}, {"layer": -1, "head": 0}, {}):
            (record,) = read_attention(alone, [SOURCE], [TARGET], **chosen)
            assert np.allclose(record.alignment, matrix(), atol=1e-7)
            assert {"one-head", "mean-of-heads"} & {*record.remarks} == ({"one-head"} if chosen else set())
    (record,) = read_attention(GENERATED, ["a b c d"], ["e f g"])
    assert np.allclose(record.head_weights, STEPS[:, :, 0, :, 0].permute(1, 2, 0, 3).numpy(), atol=1e-6)
    steps = torch.softmax(torch.arange(480.0).sin().reshape(4, 3, 4, 2, 1, 5), -1)
    beams = torch.tensor([[0, 1, 0, 1], [2, 3, 2, -1]])
    output = Output(cross_attentions=tuple(map(tuple, steps)), beam_indices=beams)
    records = read_attention(output, ["a b c d", "a b c d"], ["e f g", "e f"])
    for record, row in zip(records, beams.tolist(), strict=True):
        rows = [steps[step, :, beam, :, 0].numpy() for step, beam in enumerate(row) if beam >= 0]
        np.testing.assert_allclose(record.head_weights, np.stack(rows, axis=2), atol=1e-6)
    longer = read_attention(output, ["a b c d", "a b c d"], ["e f g", "e f g"])[1]
    assert longer.head_weights.shape == (3, 2, 3, 5), "the row after its end is padding"


PADDED = {
    "plot": ("<start> where is the key <end>", "dónde está la llave <end>", (11, 16)),
    "square": ("I lost my old key", "perdí mi llave", (8, 8)),
    "wide": ("yes", "sí señor", (2, 9)),
    "tall": ("a b c d", "x", (7, 4)),
    "one more": ("a b c d", "x y z", (3, 5)),
    "end in the text": ("a b </s>", "x y </s>", (6, 6)),
}


@pytest.mark.parametrize("name", PADDED)
def test_empty_rows_and_columns_at_the_end_are_padding(name) -> None:
    source, target, size = PADDED[name]
    rows, columns = len(target.split()), len(source.split())
    heads = np.random.default_rng(3).dirichlet(np.ones(columns), (2, 3, rows))  # (L, H, Ty, Tx)
    padded = np.zeros((2, 3, *size))
    padded[:, :, :rows, :columns] = heads
    for given, expected in (
        (padded[1, 2], heads[1, 2]),
        (npz(attention=padded), heads.mean(axis=(0, 1))),
        (npy(padded), heads.mean(axis=(0, 1))),
    ):
        of_file = records_of([content_of(given)], [[source], [target]]) if isinstance(given, bytes) else None
        (record,) = of_file or read_attention(given, [source], [target])
        assert record.alignment.shape == (rows, columns)
        assert np.abs(record.alignment - expected).max() < 1e-6
        assert len(record.target_pieces) == rows, "no end mark is invented"
        words = [tuple(word for word in side.split() if word[0] != "<") for side in (source, target)]
        assert linkable_words(record.words()) == tuple(words)


class Output(Namespace):
    """What a model of transformers returns: fields that it also gives as a tuple."""

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(vars(self).values())


@pytest.mark.parametrize(
    "value",
    [
        (),
        ((None, None), (None, None)),
        [[], []],
        Output(cross_attentions=()),
        Output(cross_attentions=None, encoder_attentions=None, decoder_attentions=None, attentions=None),
        Output(attentions=(None, None)),
        Output(sequences=np.zeros((1, 4), int), cross_attentions=((None,), (None,))),
    ],
    ids=str,
)
def test_output_without_weights_names_eager_attention(value) -> None:
    with pytest.raises(AttnvizError, match='attn_implementation="eager"'):
        read_attention(value, source=[SOURCES[0]], target=[TARGETS[0]])


def test_kind_of_self_attention_is_told_by_its_triangle() -> None:
    whole = torch.softmax(torch.arange(18.0).sin().reshape(1, 2, 3, 3), -1)
    causal = torch.softmax(torch.arange(18.0).sin().reshape(1, 2, 3, 3) - 1e9 * torch.ones(3, 3).triu(1), -1)
    for weights_of, kind in ((whole, "encoder"), (causal, "decoder")):
        (record,) = read_attention(Output(attentions=(weights_of,)), ["a b c"])
        assert (record.kind, record.target_pieces) == (kind, record.source_pieces)
    (record,) = read_attention(Output(attentions=(whole,), cross_attentions=(causal,)), ["a b c"], ["d e f"])
    assert (record.kind, record.translation) == ("cross", "d e f")
    assert np.allclose(record.alignment, causal[0].mean(dim=0).numpy(), atol=1e-6)


def test_pieces_of_softalignments_are_in_the_files_beside_them(tmp_path, snapshot) -> None:
    for name in ("x.ali.js", "x.src.js", "x.trg.js"):
        head = {"ali": "alignments", "src": "sources", "trg": "targets"}[name[2:5]]
        rows = {
            "ali": ["[[0, 0.5, 0], [1, 0.5, 0]], ", "[[0, np.float32(1.0), 0]], "],
            "src": ['["a\\\\b", "&quot;"], ', '["c"], '],
            "trg": ['["x"], ', '["y"], '],
        }
        _file(tmp_path / name, [f"var {head} = [", *rows[name[2:5]], "]"])
    found = [(record.words().source, record.words().target) for record in read_attention(tmp_path / "x.ali.js")]
    assert found == [(("a\\\\b", "&quot;"), ("x",)), (("c",), ("y",))]
    sides = {"source": tmp_path / "x.src.js", "target": ["x", "z"]}
    assert read_attention(tmp_path / "x.ali.js", **sides)[1].translation == "z"
    refused = {}
    for name, lines in {"few": ['["a", "b"], '], "none": ["no list", '["c"], '], "number": ["3, ", '["c"], ']}.items():
        _file(tmp_path / "x.src.js", ["var sources = [", *lines, "]"])
        refused[name] = refusal(lambda: read_attention(tmp_path / "x.ali.js"), tmp_path)
    assert refused == snapshot
    _file(tmp_path / "x.src.js", ["x"])
    assert read_attention(tmp_path / "x.ali.js").tokens(0) == (None, ["x"])


# JSON, tables and logs


AB = ("a b", "x y")
DIAGONAL = ((0, 0), (1, 1))
NUMBERED = "target \\ source,1 a,2 b\n1 x,0.5,0.5\n2 y,0.25,0.75\n"
"""A table as attnviz exports it."""
READ: dict[str, tuple[object, dict[str, Any]]] = {
    "tokens as objects": (
        [{"source": [{"token": "a"}, {"text": "b"}], "hypotheses": [TOKENS["target"]], "attention": [ROWS]}],
        {"alignment": ROWS},
    ),
    "names that differ in case": ({**TOKENS, "Source": ["c", "d"], "matrix": ROWS}, {"alignment": ROWS}),
    "tokens of Inseq as text": (
        {"sequence_attributions": [{"source": "a b", "target": "x y", "source_attributions": [*zip(*ROWS)]}]},  # noqa: B905
        {"alignment": ROWS},
    ),
    "a graph": (GRAPH, {"alignment": ROWS}),
    "the hypothesis with the highest score": (
        [{**TOKENS, "hypotheses": [["p"], ["x", "y"]], "attention": [[[1, 0]], ROWS], "scores": [-2, -1.5]}],
        {"alignment": ROWS},
    ),
    "links as texts": ({**TOKENS, "links": ["0-0", "1-1"]}, {"links": DIAGONAL}),
    "links as objects": ({**TOKENS, "links": [{"s": 0, "t": 0}, {"src": 1, "tgt": 1}]}, {"links": DIAGONAL}),
    "pairs of indices": (
        {**TOKENS, "alignment": [[0, 0], [1, 1], [0, 1]]},
        {"links": ((0, 0), (0, 1), (1, 1)), "alignment": [[1, 0], [0.5, 0.5]]},
    ),
    "pairs that cannot be weights": ({**TOKENS, "alignment": [[0, 1], [1, 1]]}, {"links": ((0, 1), (1, 1))}),
    "pairs of numbers of more words": (
        {"source": ["a", "b"], "target": ["x", "y", "z"], "alignment": [[0, 1], [1, 0]]},
        {"links": ((0, 1), (1, 0)), "words": ("a b", "x y z")},
    ),
    "numbers of an exported table": (NUMBERED, {"alignment": ROWS, "remarks": ()}),
    "sums of an exported table": (
        NUMBERED.replace("b\n", "b,sum\n").replace("5\n", "5,1\n"),
        {"alignment": ROWS, "remarks": ("margins-dropped",)},
    ),
    "rows without numbers": (NUMBERED.replace("1 x", "x").replace("2 y", "y"), {"alignment": ROWS}),
    "a column taken out": (NUMBERED.replace("2 b", "3 b"), {"words": ("1 a 3 b", "x y")}),
    "rows taken out": (NUMBERED.replace("2 y", "4 y"), {"words": ("a b", "1 x 4 y")}),
    "pieces of a word": (NUMBERED.replace("1 a,2 b", "1 bi,2 ·cycle"), {"words": ("bicycle", "x y")}),
    "a table of links": ("\ta\tb\nx\tS\t\ny\tp\ts\n", {"sure": DIAGONAL, "possible": ((0, 1),)}),
    "a decimal comma": (";a;b\nx;0,5;0,5\ny;0,25;0,75\n", {"alignment": ROWS}),
    "blanks between columns": ("a b\nx 0.5 0.5\ny 0.25 0.75\n", {"alignment": ROWS}),
    "one column": (",a\nx,1\ny,1\n", {"words": ("a", "x y"), "alignment": [[1], [1]]}),
}


@pytest.mark.parametrize("name", READ)
def test_other_spellings_of_a_pair_are_read(name) -> None:
    content, expected = READ[name]
    (record,) = read_bytes(content.encode() if isinstance(content, str) else _json(content))
    words = record.words()
    assert (" ".join(words.source), " ".join(words.target)) == expected.get("words", AB)
    for attribute in expected.keys() - {"words", "alignment"}:
        assert getattr(record, attribute) == expected[attribute], attribute
    assert np.allclose(record.alignment, expected.get("alignment", record.alignment))


@pytest.mark.parametrize("endian", ["little", "big"])
def test_inseq_attributions_of_part_of_a_target_are_read(endian) -> None:
    packed = base64.b64encode(np.array(ROWS).T.astype(">f4" if endian == "big" else "<f4").tobytes()).decode()
    stored = {"__ndarray__": f"b64:{packed}", "dtype": "float32", "shape": [2, 2], "Corder": True, "endian": endian}
    fields = {"source": ["a", "b"], "target": ["<pad>", "c", "d", "e"], "attr_pos_start": 1, "attr_pos_end": 3}
    sequence = {**fields, "source_attributions": stored}
    (record,) = read_bytes(_json({"sequence_attributions": [sequence]}))
    assert record.words().target == ("c", "d")
    assert np.allclose(record.alignment, ROWS, atol=1e-6)
    for damage in ({"attr_pos_end": 4}, {"source_attributions": stored | {"dtype": "object"}}):
        with pytest.raises(AttnvizError):
            read_bytes(_json({"sequence_attributions": [sequence | damage]}))[0]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"matrix": "a text", "alignment": torch.tensor(matrix())}, id="text as matrix"),
        pytest.param({"matrix": [], "alignment": torch.tensor(matrix())}, id="no matrix"),
        pytest.param({"matrix": {"mean": 1}, "alignment": torch.tensor(matrix())}, id="dict as matrix"),
        pytest.param({"matrix": matrix().tolist(), "source": [1, 2], "src": SOURCE}, id="ids as tokens"),
        pytest.param({"matrix": matrix(), "target": torch.tensor([1, 2]), "tgt": TARGET}, id="tensor as tokens"),
        pytest.param({"Matrix": np.eye(3), "matrix": matrix()}, id="name in upper case"),
        pytest.param({"matrix": matrix(), "kind": 3, "format": 2}, id="numbers as kind and format"),
    ],
)
def test_names_with_another_kind_of_value_are_passed_over(other) -> None:
    (record,) = read_attention({"source": SOURCE, "target": TARGET, **other})
    assert "one-of-several" not in record.remarks
    assert np.allclose(record.alignment, matrix(), atol=1e-7)
    assert record.source_pieces == read_attention(matrix(), [SOURCE], [TARGET])[0].source_pieces
    assert record.kind == "cross"


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("other", ["attention", "links"])
def test_one_of_several_matrices_is_read_and_said(other, ending, tmp_path) -> None:
    fields = {**TOKENS, "cross_attentions": ROWS, other: [[1, 0], [0, 1]]}
    path = tmp_path / f"pair.{ending}"
    path.write_text(json.dumps(fields)) if ending == "json" else np.savez(path, **fields)
    (record,) = read_attention(path)
    read_links = (other, ending) == ("links", "json")
    assert record.alignment.tolist() == ([[0, 1], [1, 0]] if read_links else ROWS)
    assert ("one-of-several" in record.remarks) == (record.links == () or read_links)


@pytest.mark.parametrize("starred", [False, True])
def test_names_of_tables_in_logs_are_cut_unless_the_log_has_the_sentences(starred) -> None:
    rows, columns = (*TARGET, "</s>"), (*SOURCE, "</s>")
    table = logged(rows, columns, matrix(), starred=starred)
    file = read_bytes(f"[2026-11-22 10:00:01,123 INFO] {table}\nPRED SCORE: -0.1\n{table}".encode())
    assert (file.pairs.title, len(file)) == ("OpenNMT-py, eole", 2)
    assert np.allclose(file[0].alignment, matrix(), atol=1e-7)
    assert file[0].source_pieces[1] == "▁economi", "cut as in the file"
    assert file[0].remarks == ("cut-names",)
    (whole,) = read_bytes(f"\nSENT 1: {[*columns]}\nPRED 1: {' '.join(TARGET)}\nPRED SCORE: -0.4\n\n{table}".encode())
    assert (whole.words().source, whole.remarks) == (columns, ())
    (unlike,) = read_bytes(f"SENT 1: {[*columns, 'more']}\n{table}".encode())
    (shorter,) = read_bytes(f"SENT 1: {[*columns][:-2]}\n{table}".encode())
    assert unlike.source_pieces == shorter.source_pieces == file[0].source_pieces, "others are not of the table"
    (touching,) = read_bytes(b"    a       b\nx 0.75000000.2500000\ny *1.0000000 0.0000000\n\n")
    assert touching.alignment.tolist() == [[0.75, 0.25], [1, 0]]


def test_row_and_column_numbers_of_pandas_are_no_tokens() -> None:
    numbers = np.random.default_rng(5).dirichlet(np.ones(3), size=4)
    source, target = ["the", "dog", "sleeps"], ["le", "chien", "dort", "."]
    for table in (pd.DataFrame(numbers), pd.DataFrame(numbers, index=target), pd.DataFrame(numbers, columns=source)):
        records = records_of([content_of(table.to_csv().encode(), "a.csv")], [[source], [target]])
        assert np.allclose(records[0].alignment, numbers, atol=1e-6)
        assert "index-dropped" in records[0].remarks
        assert records.tokens(0) == (source, target)
        with pytest.raises(AttnvizError):
            read_bytes(table.to_csv().encode())[0]
    found = read_bytes(pd.DataFrame(numbers * 3).to_csv(index=False).encode()).attention(
        0, source, target, normalise=True
    )
    assert np.allclose(found.alignment, numbers, atol=1e-6)
    assert found.remarks == ("scaled", "index-dropped")
    counted = read_bytes(b",1,2\n1,0.9,0.1\n2,0.2,0.8\n")[0]
    assert (counted.words().source, counted.remarks) == (("1", "2"), ())
    for value in ("inf", "-inf", "Inf", "nan"):
        for table in (f",a,b\nx,0.5,{value}\ny,0.1,0.9\n", f"0.5,{value}\n0.1,0.9\n"):
            with pytest.raises(AttnvizError, match="is infinite"):
                records_of([content_of(table.encode(), "a.csv")], [["a b"], ["x y"]])[0]


# Lines


@hypothesis.given(st.lists(st.lists(st.none() | st.integers(0, 9), max_size=5), min_size=2, max_size=4))
def test_lines_of_several_files_count_on(files) -> None:
    parts = [Sentences(lines, lambda line: SentencePair(links=parse_links("0-0"), line=line)) for lines in files]
    expected, before = list[int | None](), 0
    given = [line for lines in files for line in lines if line is not None]
    for lines in files:
        expected += [None if line is None else before + line for line in lines]
        if len(set(given)) < len(given):
            before += max((1 + line for line in lines if line is not None), default=0)
    assert [pair.line for pair in join_sentences(parts)] == expected


def test_links_of_any_spelling_numbering_and_count_are_read() -> None:
    found = read_bytes(b"La zone ||| 0-0 2-1 1-1 3-2").attention(0, "The economic area")
    assert found.target_pieces[-1] == found.source_pieces[-1] == "</s>", "Marian links the ends of both sentences"
    assert found.alignment.tolist() == [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]]
    assert found.remarks == ("linked-source-end", "linked-target-end", "links")

    def read(text: str, count: int) -> list[Attention]:
        return list(records_of([content_of(text.encode())], [["a b c"] * count, ["d e f"] * count]))

    first, blank, last = read("1-1\n\n1-1 2-2 3-3\n", 3)
    assert (first.links, blank.links, last.links) == (((0, 0),), (), ((0, 0), (1, 1), (2, 2)))
    assert "counted-from-1" in first.remarks
    (unclear,) = read("1-1\n", 1)
    assert unclear.links == ((1, 1),)
    assert "counted-from-0-assumed" in unclear.remarks
    records = read_bytes(b"1-1\n1-1 2-2\n")
    assert records.attention(1, "A dog", "Un chien").links == ((0, 0), (1, 1)), "typed tokens decide"
    assert records.attention(1, "A dog .", "Un chien .").links == ((1, 1), (2, 2))
    with pytest.raises(CountingError):
        records.attention(1, "dog", "chien")
    records = read_bytes(b"5 1 1 S\n5 2 3 P\n7 2 1 S\n")
    assert [(pair.line, pair.links and len(pair.links.all)) for pair in records.pairs] == [(0, 2), (1, 0), (2, 1)]
    assert records.pairs.first == 5
    for line in (*LISTED.split("|"), "{(0, 0), (1, 2), (2, 1)}"):
        (record,) = records_of([content_of(f"{line}\n".encode())], [["a b c"], ["d e f"]])
        assert links_text(record) == "0-0 1-2 2-1", line


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("first", [0, 1])
def test_numbered_links_are_those_of_their_lines(order, first) -> None:
    links = ["0-0 1p2", "", "0-1 1-0"]
    lines = "".join(f"{number + first}\t{links[number]}\n" for number in order)
    sides = [["a b c", "p", "d e"], ["x y z", "q", "u v"]]
    records = records_of([content_of(lines.encode(), "links.txt")], sides)
    assert records.format == "simalign"
    assert [record.links for record in records] == [((0, 0), (1, 2)), (), ((0, 1), (1, 0))]
    assert records[0].possible == ((1, 2),)
    assert ("reordered" in records[0].remarks) is (order != (0, 1, 2))
    left_out = content_of(lines.replace(f"{1 + first}\t\n", "").encode(), "links.txt")
    assert [record.links for record in records_of([left_out], sides)] == [((0, 0), (1, 2)), ((0, 1), (1, 0))]


BLANKS = ["\u00a0", "\u202f", "\u3000", "\u2028", "\u2009", "\u0085", "\u000b", "\u001f"]


@pytest.mark.parametrize("blank", BLANKS, ids=[f"U+{ord(blank):04X}" for blank in BLANKS])
def test_only_blanks_of_ascii_end_a_token(blank, tmp_path) -> None:
    source, target, links = f"wait{blank}! come here", f"attends{blank}! viens{blank}là", "0-0 1-1 2-1"
    of_json = json.dumps({"source": source, "target": target, "matrix": [[0.8, 0.1, 0.1], [0.1, 0.5, 0.4]]})
    for line, sides in (
        (f"{source}\t{target}\t{links}", (None, None)),
        (f"{source} ||| {target} ||| {links}", (None, None)),
        (links, (source, target)),
        (f"{target} ||| 0.8,0.1,0.1 0.1,0.5,0.4", (source, None)),
        (of_json, (None, None)),
    ):
        files = [None if one is None else _file(tmp_path / f"side{place}", [one]) for place, one in enumerate(sides)]
        (record,) = read_attention(_file(tmp_path / "file", [line]), *files)
        assert (len(record.source_pieces), len(record.target_pieces)) == (3, 2)
        assert record.alignment[0].argmax() == 0, "the first word is linked to the first"
        if links in line:
            assert links_text(record) == links


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("pad", ["", "0000"])
def test_tags_of_the_shared_tasks_are_no_tokens(end, pad, tmp_path) -> None:
    path = _file(tmp_path / "test.wa", [f"{pad}1 1 1 S", f"{pad}1 2 3 P", f"{pad}1 3 2 S", f"{pad}2 2 2 S"], end)
    sides = [
        _file(tmp_path / name, [f"<s snum={pad}{n}> {line} </s>" for n, line in enumerate(lines, 1)], end)
        for name, lines in (("e", SOURCES), ("f", TARGETS))
    ]
    records = read_attention(path, *sides)
    assert [links_text(record) for record in records] == ["0-0 1?2 2-1", "1-1"]
    assert [record.words().source for record in records] == [tuple(line.split()) for line in SOURCES]


@pytest.mark.parametrize("lost", [[1], [2], [2, 3], [1, 4]])
def test_numbers_of_giza_pairs_are_read_and_missing_ones_said(lost) -> None:
    words = ["a", "b", "c", "d", "e"]
    kept = [number for number in range(1, 6) if number not in lost]
    lines = [
        f"# Sentence pair ({n}) source length 1 target length 1 alignment score : 0.1\n{words[n - 1].upper()}\n"
        f"NULL ({{ }}) {words[n - 1]} ({{ 1 }})\n"
        for n in kept
    ]
    content = content_of("".join(lines).encode(), "corpus.A3.final")
    assert f"numbers: {', '.join(map(str, lost))}." in format_sentence(records_of([content]))
    records = records_of([content], [[word * 2 for word in words], None])
    assert [record.source_text for record in records] == [words[number - 1] * 2 for number in kept]
    assert "numbers:" not in format_sentence(records_of([content_of(CONTENTS["giza.A3.final"])]))
    far = content_of("".join(lines).encode().replace(b"pair (%d)" % kept[-1], b"pair (999999999)"))
    assert f" … ({999_999_999 - len(kept)})." in format_sentence(records_of([far]))


@pytest.mark.parametrize("side", ["source", "target", "both"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("shape", ["nematus", "bars", "tab"])
def test_pair_with_an_empty_side_is_named_and_the_others_read(shape, place, side, tmp_path, capsys) -> None:
    sides = [["a b", "c", "d e f"], ["u v", "w", "x y z"]]
    for number, name in enumerate(("source", "target")):
        sides[number][place] = "" if side in (name, "both") else sides[number][place]
    lines = []
    for number, (source, target) in enumerate(zip(*sides, strict=True)):
        count = len(source.split())
        if shape == "nematus":
            matrix_of = np.eye(len(target.split()) + 1, count + 1) * 0.9 + 0.1 / (count + 1)
            lines.append(f"{number} ||| {target} ||| 1.5 ||| {source} ||| {count + 1} {len(target.split()) + 1}")
            lines += [" ".join(f"{weight:.6f}" for weight in row) for row in matrix_of / matrix_of.sum(1)[:, None]]
            lines.append("")
        else:
            links = "" if number == place else " ".join(f"{n}-{n}" for n in range(count))
            lines.append((" ||| " if shape == "bars" else "\t").join((source, target, links)))
    path, made = _file(tmp_path / "pairs", lines), tmp_path / "made.pharaoh"
    assert main(["attention", str(path), "-o", str(made)]) == 0
    assert f"no links: {place + 1}." in capsys.readouterr().err
    whole = ["" if n == place else " ".join(f"{k}-{k}" for k in range(count)) for n, count in enumerate((2, 1, 3))]
    assert made.read_text(encoding="utf-8").split("\n") == [*whole, ""]
    records = read_attention(path)
    assert [records.is_blank(index) for index in range(3)] == [index == place for index in range(3)]


def test_damaged_and_blank_pairs_do_not_stop_a_file(tmp_path, capsys) -> None:
    good = ["a b ||| c d ||| 0-0 1-1", "e ||| f ||| 0-0", "g h ||| i ||| 1-0"]
    lines = [good[0], " ||| euh ||| ", good[1], "no fields at all", good[2], *good * 8]
    file = str(_file(tmp_path / "file", lines))
    assert main(["attention", file, "-o", str(tmp_path / "made.pharaoh")]) == 0
    said = capsys.readouterr().err
    assert "no links: 2." in said
    assert "Left out: Pair 4: Line 4: “no fields at all”" in said
    made = (tmp_path / "made.pharaoh").read_text(encoding="utf-8").split("\n")
    assert [bool(line) for line in made[:5]] == [True, False, True, False, True]
    assert len(made) == len(lines) + 1
    assert main(["attention", file, "--sentence", "4"]) == 2
    assert "Line 4" in capsys.readouterr().err
    whole = {"source": ["a", "b"], "target": ["c"], "matrix": [[0.25, 0.75]]}
    objects = [whole, whole | {"source": [1, None]}, whole | {"matrix": [[0.5]]}, whole]
    records = read_bytes("\n".join(map(json.dumps, objects)).encode())
    assert [records.filled(index) is None for index in range(4)] == [False, True, True, False]
    assert sorted(records.problems) == [1, 2]
    lines = ["var alignments = [", "[[0, 0.5, 0], [1, 0.5, 0]], ", "[], ", "[[0, x, 0]], ", "]"]
    records = records_of([content_of("\n".join(lines).encode(), "a.js")], [["a b", "", "c"], ["x", "", "y"]])
    assert records[0].alignment.tolist() == [[0.5, 0.5]]
    assert (records.is_blank(1), [bool(pair.problem) for pair in records.pairs]) == (True, [False, False, True])
    records = read_bytes(b"a b ||| c d ||| 0-0 1-1\n ||| e ||| 0-0\n")
    assert (records[0].links, records.filled(1)) == (((0, 0), (1, 1)), None)
    assert "blank line" in records.problems[1], "the links of a blank line do not stop other pairs"


LISTED = "(0-0) (1-2) (2-1)|(0,0) (1,2) (2,1)|[(0, 0), (1, 2), (2, 1)]|[[0, 0], [1, 2], [2, 1]]|0-0, 1-2, 2-1"


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize(
    ("sure", "possible"), [("0-0 1-1", "2-1"), ("0-0 1-1", ""), ("", "0-0 2-2")], ids=["both", "sure", "possible"]
)
def test_column_of_possible_links_is_not_dropped(sure, possible, base) -> None:
    def text(links: str) -> str:
        return " ".join("-".join(str(int(place) + base) for place in link.split("-")) for link in links.split())

    lines = f"{text(sure)}\t{text(possible)}\n{text('0-0 1-1 2-2')}\t\n"
    first, last = records_of([content_of(lines.encode())], [["a b c"] * 2, ["d e f"] * 2])
    assert [" ".join(f"{j}-{i}" for j, i in one) for one in (first.sure, first.possible)] == [sure, possible]
    assert (last.sure, last.possible) == (((0, 0), (1, 1), (2, 2)), ())


# Sentences and options


def test_encoding_transpose_and_unescape_options(tmp_path, capsys, snapshot) -> None:
    path, source = tmp_path / "links.txt", tmp_path / "source.txt"
    path.write_bytes("été ||| 0-0\n".encode("latin-1"))
    source.write_bytes("Über\n".encode("latin-1"))
    record = read_attention(path, source, encoding="latin-1")[0]
    assert (record.source_text, record.translation) == ("Über", "été")
    path.write_bytes("a b ||| 0-0 1-1\n".encode("utf-16"))
    assert read_attention(path, ["c d"], encoding="utf-16")[0].links == ((0, 0), (1, 1))
    weights = PAIRS[0].weights()
    record = read_attention(weights.T, SOURCES[:1], TARGETS[:1], transpose=True)[0]
    assert np.allclose(record.alignment, weights)
    assert "transposed" in record.remarks
    path = _file(tmp_path / "links", ["it &apos;s a well @-@ known &quot; rock &amp; roll\tx y\t0-0 1-1"])
    assert "&apos;s" in read_attention(path)[0].words().source
    (found,) = read_attention(path, unescape=True)
    assert found.words().source == ("it", "'s", "a", "well-known", '"', "rock", "&", "roll")
    assert "unescaped" in found.remarks
    assert main(["attention", str(path)]) == 0
    assert capsys.readouterr().err == snapshot


def test_given_tokens_replace_those_of_the_file() -> None:
    record = attention("a b", "x", [[0.5, 0.5]])
    found = read_bytes(record.to_json().encode()).attention(0, "c@@ d", "y")
    assert (found.words().source, found.translation) == (("cd",), "y")
    fields = {"source": ["a", "b"], "target": ["c"], "matrix": [[0.5, 0.5]], "words": {"source": [0, 0], "target": [0]}}
    for source, words in (("a b", (0, 0)), (["a", "b"], (0, 0)), (["a", "x"], (0, 1))):
        assert tuple(records_of([content_of(_json(fields))], [[source], None])[0].source_word_of) == words
    records = records_of([content_of(b"0-0\n0-0\n", "links.txt")], [["a", "b"], ["c", ""]])
    with pytest.raises(AttnvizError, match="blank line"):
        records.attention(1, "b")
    assert records.attention(1, "b", "d").translation == "d"


def test_several_files_are_read_as_one(tmp_path) -> None:
    for name, lines in (("a", ["1-1", "1-1 2-2"]), ("b", ["1-1"]), (".hidden", ["x"]), ("c.src.js", ["x"])):
        _file(tmp_path / name, lines)
    records = read_attention(tmp_path, ["a b"] * 3, ["x y"] * 3)
    assert [record.links for record in records] == [((0, 0),), ((0, 0), (1, 1)), ((0, 0),)]
    assert records.files == ((str(tmp_path / "a"), 2), (str(tmp_path / "b"), 1))
    assert records.place(2) == (str(tmp_path / "b"), 0)
    assert "Files: 2." in format_sentence(records)
    records = read_attention(tmp_path)
    with pytest.raises(AttnvizError, match="b: Pair 1: "):
        records[2]
    logs = [_file(tmp_path / one, ["S-0\ta", "H-0\t-1\tx", f"A-0\t0-0{more}"]) for one, more in (("d", ""), ("e", ""))]
    assert [record.source_text for record in read_attention(logs, ["p", "q"])] == ["p", "q"]


# What is written is read again


def test_exported_attention_is_read_back(tmp_path) -> None:
    record = attention("a red ca@@ r", "une voiture", [[0.5, 0.25, 0.125, 0.125], [0, 0.5, 0.25, 0.25]])
    path = tmp_path / "a.csv"
    for options in (FigureOptions(margins=False), FigureOptions(margins=True), FigureOptions(by="words")):
        attnviz.export.save(record, path, options)
        (found,) = read_attention(path)
        assert (found.words().source, found.words().target) == (record.words().source, record.words().target)
        expected = record.words().alignment if options.by == "words" else record.alignment
        assert np.allclose(found.alignment, expected, atol=1e-6)
    trace = synthetic.trace()
    trace.save(tmp_path / "trace.json")
    (found,) = read_attention(tmp_path / "trace.json")
    assert np.allclose(found.alignment, trace.alignment)
    assert found.source_text == trace.source_text


@pytest.mark.parametrize(
    ("columns", "sure", "shares"),
    [
        (("", "", "", ""), (), None),
        ((" S", " P", " S", " s"), ((0, 0), (1, 0), (1, 1)), None),
        ((" 0.5", " 1", " 0.25", " .5"), (), (0.5, 1, 0.25, 0.5)),
        ((" P 0.5", " S 1", " P 0.25", " S 0"), ((1, 1), (2, 0)), (0.5, 1, 0.25, 0)),
        ((" 0.5", " 1", " 1.5", " 0.5"), (), None),
        ((" 0.5", "", " 0.25", " 0.5"), (), None),
        ((" 0", " 0", " 0", " 0"), (), None),
    ],
)
def test_links_of_the_shared_tasks_have_marks_and_probabilities(columns, sure, shares) -> None:
    links = ((0, 0), (2, 0), (1, 0), (1, 1))
    lines = [f"1 {j + 1} {i + 1}{column}" for (j, i), column in zip(links, columns, strict=True)]
    lines += [line.replace("S", "P") for line in lines if "S" in line]  # sure links are possible too
    (record,) = records_of([content_of("\n".join([*lines, "1 0 2", ""]).encode())], [["a b c"], ["x y"]])
    assert record.links == tuple(sorted(links))
    expected = np.zeros((2, 3))
    for (j, i), share in zip(links, shares or (1,) * 4, strict=True):
        expected[i, j] = share
    assert np.allclose(record.alignment, expected / np.maximum(expected.sum(axis=1, keepdims=True), 1e-9))
    marked = any("P" in column or "S" in column for column in columns)
    assert record.sure == (tuple(link for link in sorted(links) if link in {*sure}) if marked else ())
    assert record.possible == (tuple(link for link in sorted(links) if link not in {*sure}) if marked else ())
    assert {"null-links", "probabilities" if shares else "links"} <= {*record.remarks}
