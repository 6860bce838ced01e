"""`read_attention`: files of every format are read, assumptions are reported, other files are refused."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

import attnviz
import attnviz.export
from attnviz import AttnvizError, attention, read_attention
from attnviz.export.attention_files import attention_file_content
from attnviz.export.saved_files import FigureOptions
from attnviz.importing.formats import FORMATS
from attnviz.importing.formats.line_formats import LAYOUTS, Layout
from attnviz.text import SPACE
from attnviz.trace.word_link_text import CountingError
from tests.conftest import REPOSITORY
from tests.documentation.formats import with_tables
from tests.figures import synthetic
from tests.importing.attention_files import CONTENTS, FILES, SOURCES, TARGETS, File, weights
from tests.importing.given import npy
from tests.snapshots import plain

FIXTURES = Path(__file__).parent / "fixtures" / "attention"
GUIDE = (REPOSITORY / ".docs" / "pages" / "data.md").read_text(encoding="utf-8")
CASES = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))


def _tokens(pieces: tuple[str, ...]) -> list[str]:
    return [piece.removeprefix(SPACE) for piece in pieces]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['file']}" for n, case in enumerate(CASES)])
def test_fixture_is_read_as_expected_or_refused(case: dict[str, Any]) -> None:
    given = {side: case[side] for side in ("source", "target") if side in case}
    path = FIXTURES / case["file"]
    if case["expect"] == "refuse":
        with pytest.raises(AttnvizError) as error:
            list(read_attention(path, **given))
        assert all(word in str(error.value) for word in case["mention"])
        return
    records = read_attention(path, **given, **case.get("options", {}))
    assert records.format == case["format"]
    assert records.reason
    assert len(records) == len(case["expect"])
    for number, (record, expected) in enumerate(zip(records, case["expect"], strict=True)):
        if "words" in expected:
            assert [list(record.words().source), list(record.words().target)] == expected["words"]
            continue
        assert [_tokens(record.source_pieces), _tokens(record.target_pieces)] == [
            expected["source"],
            expected["target"],
        ]
        assert [list(link) for link in record.links] == expected.get("links", [])
        if "matrix" in expected:
            assert np.allclose(record.alignment, expected["matrix"], atol=1e-4)
        if "possible" in case:
            assert [list(link) for link in record.possible] == case["possible"][number]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_example_file_is_read_with_its_format_and_content(file: File, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.write_bytes(CONTENTS[file.name])
    records = read_attention(path, **file.given)
    assert (records.format, len(records)) == (file.format, len(file.pairs))
    assert read_attention(path, **file.given, format=file.format).format == file.format
    for number, (record, (source, target)) in enumerate(zip(records, file.pairs, strict=True)):
        sides = [
            [token for token in _tokens(side) if token != "</s>"]
            for side in (record.source_pieces, record.target_pieces)
        ]
        assert sides == [source.split(), target.split()]
        if file.links is None:
            assert np.allclose(record.alignment, file.matrices[number], atol=1e-6)
            assert record.links == ()
        else:
            assert record.links == tuple(file.links[number])
            assert {(j, i) for i, j in np.argwhere(record.alignment > 0).tolist()} == {*file.links[number]}
    assert set(records[0].remarks) - {"source-end", "target-end"} == set(file.remarks) - {"source-end", "target-end"}
    assert records[0].possible == tuple(file.possible)


def test_every_format_has_two_example_files() -> None:
    names = [file.format for file in FILES]
    assert {one.name for one in FORMATS} == {*names}
    assert min(map(names.count, names)) >= 2


def test_the_guide_lists_every_format() -> None:
    assert with_tables(GUIDE) == GUIDE, "python -m tests.documentation .docs/pages/data.md"
    assert all(one.example and one.written_by for one in FORMATS)


@pytest.mark.parametrize(
    "layout", [one for one in LAYOUTS if not one.body and not one.further], ids=lambda one: one.form
)
def test_the_example_of_a_layout_is_read(layout: Layout, tmp_path: Path) -> None:
    line = layout.example.replace("⇥", "\t")
    assert layout.fields(line) is not None
    (tmp_path / "file").write_text(f"{line}\n", encoding="utf-8")
    sentence = "x x" if "," in line else "x x x x"
    records = read_attention(tmp_path / "file", [sentence], [sentence])
    assert records.format == layout.name
    assert layout.example in records.reason
    assert records[0].alignment.any()


def _error_message(call: Callable[[], Any], folder: Path) -> str:
    with pytest.raises(AttnvizError) as error:
        call()
    return plain(error.value, folder)


def _table(**columns: object) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


NEAR_MISSES = {
    "fairseq without alignments": b"S-0\ta\nT-0\tb\nH-0\t-0.1\tb\n",
    "moses without alignments": b"0 ||| a b ||| LM= -1 TM= -2 ||| -3\n",
    "pairs with bars": b"a car ||| une voiture\n",
    "header without matrix": b"0 ||| a ||| 0.1 ||| b ||| 2 2\n",
    "links with a word": b"0-0 1-1\n0-0 1-x\n0-1\n",
    "marian with a bad line": b"a b ||| 0-0\nc d ||| x\n",
    "CTranslate2 without attention": b'[{"hypotheses": [["a"]], "scores": [0.1]}]',
    "JSON without matrix": b'{"source": ["a"], "target": ["b"]}',
    "damaged JSON": b'{"source": ["a"], "target": ',
    "OpenNMT without tables": b"SENT 1: ['a']\nPRED 1: b\n",
    "a table of words": b"a,b,c\nd,e,f\n",
    "plain sentences": b"Il pleut.\nIl neige.\n",
    "a page": b"<!DOCTYPE html><html></html>",
    "Latin-1": "une \u00e9t\u00e9 ||| 0-0\n".encode("latin-1"),
    "Windows-1252": "l\u2019\u00e9t\u00e9 ||| 0-0\n".encode("cp1252"),
    "UTF-16": "a ||| 0-0\n".encode("utf-16"),
    "UTF-16 without a mark": "a car ||| 0-0 1-1\n".encode("utf-16-le"),
    "bzip2": b"BZh91AY&SY",
    "cut gzip": gzip.compress(b"0-0 1-1\n")[:-6],
    "NUL": b"0-0\0 1-1\n",
    "pickle": b"\x80\x04\x95",
    "Parquet of sentences": _table(source=["a"], target=["b"]),
    "Parquet of other types": _table(source_pieces=["a b c"], target_pieces=["d e f"], alignment=[1.0]),
    "Parquet with a record that is no JSON": _table(record=["a b c"]),
    "cut Parquet": _table(source=["a"], target=["b"])[:-9],
    "NAACL from 0": b"1 0 0\n1 1 1\n1 2 2\n1 3 3\n",
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_miss_error_names_closest_format(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "file"
    path.write_bytes(NEAR_MISSES[name])
    assert _error_message(lambda: list(read_attention(path, ["a b c"], ["d e f"])), tmp_path) == snapshot


def test_encoding_option(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path, source = tmp_path / "links.txt", tmp_path / "source.txt"
    path.write_bytes("\u00e9t\u00e9 ||| 0-0\n".encode("latin-1"))
    source.write_bytes("\u00dcber\n".encode("latin-1"))
    record = read_attention(path, source, encoding="latin-1")[0]
    assert (record.source_text, record.translation) == ("\u00dcber", "\u00e9t\u00e9")
    wide = tmp_path / "wide.txt"
    wide.write_bytes("a b ||| 0-0 1-1\n".encode("utf-16"))
    assert read_attention(wide, ["c d"], encoding="utf-16")[0].links == ((0, 0), (1, 1))
    assert _error_message(lambda: read_attention(path, source, encoding="klingon"), tmp_path) == snapshot(
        name="unknown"
    )
    assert _error_message(lambda: read_attention(path, source, encoding="hex"), tmp_path) == snapshot(name="no text")


def test_mismatched_sentences_and_options_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    def message(content: bytes, **given: Any) -> str:
        path = tmp_path / "file"
        path.write_bytes(content)
        return _error_message(lambda: list(read_attention(path, **given)), tmp_path)

    links, pairs = CONTENTS["pharaoh.txt"], {"source": SOURCES, "target": TARGETS}
    assert message(links, source=SOURCES[:1], target=TARGETS) == snapshot(name="too few sentences")
    assert message(links, source=["a", "it rains"], target=TARGETS) == snapshot(name="too few tokens")
    assert message(links, source=SOURCES) == snapshot(name="no target")
    assert message(links, format="nonsense") == snapshot(name="no such format")
    assert message(links, **pairs, format="fairseq") == snapshot(name="not in this format")
    assert message(CONTENTS["batch.npy"], source=SOURCES * 2, target=TARGETS * 2) == snapshot(name="not of a batch")
    assert message(CONTENTS["one.npy"], source=SOURCES[:1], target=TARGETS[:1], head=1) == snapshot(name="no heads")
    heads = npy(np.full((2, 3, 4, 4), 0.25))
    assert message(heads, source=["a b c"], target=["a b c"], head=3) == snapshot(name="no such head")
    turned = npy(np.array([[0.9, 0.4], [0.1, 0.6]]))
    for normalise in (False, True):
        assert message(turned, source=["a b"], target=["c d"], normalise=normalise) == snapshot(name="transposed")
    assert message(npy(np.ones((1, 1, 1, 1, 1, 1)))) == snapshot(name="six dimensions")
    assert message(b"1 1 1\n", source=["a"], target=["b"], format="sockeye") == snapshot(name="other format")


def test_transpose_option(tmp_path: Path) -> None:
    path = tmp_path / "turned.npy"
    np.save(path, weights(0).T)
    record = read_attention(path, SOURCES[:1], TARGETS[:1], transpose=True)[0]
    assert np.allclose(record.alignment, weights(0))
    assert "transposed" in record.remarks


def test_layer_and_head_count_from_0(tmp_path: Path) -> None:
    path, array = tmp_path / "heads.npy", np.random.default_rng(1).random((2, 3, 4, 5))
    array /= array.sum(axis=-1, keepdims=True)
    np.save(path, array)
    given = {"source": ["a b c d e"], "target": ["f g h i"]}
    assert np.allclose(read_attention(path, **given, layer=1, head=2)[0].alignment, array[1, 2])
    assert np.allclose(read_attention(path, **given, layer=-1)[0].alignment, array[1].mean(axis=0))
    assert np.allclose(read_attention(path, **given, head=0)[0].alignment, array[:, 0].mean(axis=0))
    assert np.allclose(read_attention(path, **given)[0].alignment, array.mean(axis=(0, 1)))
    batch = np.stack([array, array[:, :, ::-1]], axis=1)  # dimensions: layer, batch, head, as in Hugging Face models
    attention_file_content = {"source": given["source"] * 2, "target": given["target"] * 2}
    assert np.allclose(read_attention(batch, **attention_file_content, layer=0, head=1)[1].alignment, array[0, 1, ::-1])


def test_counting_from_1_is_detected_from_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_text("1-1\n\n1-1 2-2 3-3\n", encoding="utf-8")
    sides = {"source": ["a b c"] * 3, "target": ["d e f"] * 3}
    first, blank, last = read_attention(path, **sides)
    assert (first.links, blank.links, last.links) == (((0, 0),), (), ((0, 0), (1, 1), (2, 2)))
    assert "counted-from-1" in first.remarks
    path.write_text("1-1\n", encoding="utf-8")
    (unclear,) = read_attention(path, ["a b c"], ["d e f"])
    assert unclear.links == ((1, 1),)
    assert "counted-from-0-assumed" in unclear.remarks


def test_tokens_typed_for_a_later_pair_decide_how_its_links_count(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("1-1\n1-1 2-2\n")
    records = read_attention(tmp_path / "links.txt")
    assert records.attention(1, "A dog", "Un chien").links == ((0, 0), (1, 1))
    assert records.attention(1, "A dog .", "Un chien .").links == ((1, 1), (2, 2))
    with pytest.raises(CountingError):
        records.attention(1, "dog", "chien")


def test_only_a_lines_of_fairseq_are_not_told_by_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "sockeye.txt").write_text("a\t0-0\nA-0\t\n")
    records = read_attention(tmp_path / "sockeye.txt", ["b", "c"])
    assert [record.words().target for record in records] == [("a",), ("A-0",)]
    (tmp_path / "fairseq.log").write_text("A-1\t0-0\nA-0\t1-0\n")
    records = read_attention(tmp_path / "fairseq.log", ["a b", "a"], ["c", "b"])
    assert (records.format, [record.links for record in records]) == ("fairseq", [((1, 0),), ((0, 0),)])


def test_links_survive_export_and_import(tmp_path: Path) -> None:
    path, again = tmp_path / "links.txt", tmp_path / "again.pharaoh"
    path.write_text("0-0 0-1 1?1 2-1\n\n", encoding="utf-8")
    sides = {"source": ["a b c", "d"], "target": ["e f g", "h"]}
    records = read_attention(path, **sides)
    again.write_bytes(attention_file_content(list(records), "pharaoh"))
    assert [(one.links, one.possible) for one in read_attention(again, **sides)] == [
        (one.links, one.possible) for one in records
    ]
    saved = tmp_path / "again.json"
    saved.write_bytes(attention_file_content(list(records), "json"))
    assert [(one.links, one.possible) for one in read_attention(saved)] == [
        (one.links, one.possible) for one in records
    ]


def test_exported_attention_is_read_back(tmp_path: Path) -> None:
    record = attention("a red ca@@ r", "une voiture", [[0.5, 0.25, 0.125, 0.125], [0, 0.5, 0.25, 0.25]])
    for margins in (False, True):
        attnviz.export.save(record, tmp_path / "a.csv", FigureOptions(margins=margins))
        (found,) = read_attention(tmp_path / "a.csv")
        assert found.words().source == record.words().source
        assert found.words().target == record.words().target
        assert np.allclose(found.alignment, record.alignment, atol=1e-6)
    attnviz.export.save(record, tmp_path / "a.csv", FigureOptions(by="words"))
    (found,) = read_attention(tmp_path / "a.csv")
    assert np.allclose(found.alignment, record.words().alignment, atol=1e-6)
    trace = synthetic.trace()
    trace.save(tmp_path / "trace.json")
    (found,) = read_attention(tmp_path / "trace.json")
    assert np.allclose(found.alignment, trace.alignment)
    assert found.source_text == trace.source_text


def test_unescape_option_undoes_moses_escapes(tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_text("it &apos;s a well @-@ known &quot; rock &amp; roll\tx\t0-0\n", encoding="utf-8")
    assert "&apos;s" in read_attention(path)[0].words().source
    (found,) = read_attention(path, unescape=True)
    assert found.words().source == ("it", "'s", "a", "well-known", '"', "rock", "&", "roll")
    assert "unescaped" in found.remarks


def test_records_are_created_on_access(tmp_path: Path) -> None:
    path = tmp_path / "soft.txt"
    path.write_text("a ||| 1,0\nb ||| 0.5,0.1\nc ||| 1,0\n", encoding="utf-8")
    records = read_attention(path, ["d"] * 3)
    assert [records[0].translation, records[-1].translation] == ["a", "c"]
    assert [one.translation for one in records[::2]] == ["a", "c"]
    with pytest.raises(AttnvizError):
        records[1]
    with pytest.raises(IndexError):
        records[3]
    assert "3" in repr(records)
