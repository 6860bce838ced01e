"""Reading within limits, which can be cancelled, and strict reading of pair files.

Bombs are in `importing/test_hostile_files.py`.
"""

import gzip
import io
import lzma
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz import AttnvizError
from attnviz.corpora import read_lines
from attnviz.corpora.corpus_lines import check_table, count_lines
from attnviz.evaluation.alignment import read_gold
from attnviz.pair_files import Pairs, is_csv_sample, read_pairs
from attnviz.reading import LIMITS, STREAMED, Content, Limits, content_of, json_values, pause, reading_for, strict_lines
from attnviz.ui.waiting import FairSemaphore
from tests.snapshots import refusal

TEXT = "A summer.\tUn été chaud.\nA dog.\tUn chien, là.\n"
PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress]


@pytest.mark.parametrize("pack", PACKERS)
def test_no_more_than_the_limit_is_unpacked(pack) -> None:
    packed = pack(bytes(1 << 20))
    assert content_of(packed, limits=Limits(bytes=1 << 20)).data == bytes(1 << 20)
    with pytest.raises(AttnvizError):
        content_of(packed, limits=Limits(bytes=(1 << 20) - 1))
    for damaged in (packed[:-9], packed[:20] + b"damaged" + packed[27:]):
        with pytest.raises(AttnvizError):
            content_of(damaged)


@given(st.lists(st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]), max_size=8)))
def test_only_line_feeds_end_a_line(lines) -> None:
    lines = [f"a{line}" for line in lines]
    for end in ("\n", "\r\n"):
        content = "".join(line + end for line in lines).encode()
        wanted = [line.removesuffix("\r") for line in lines] if end == "\n" else lines
        assert list(strict_lines(io.BytesIO(content))) == wanted
        assert not lines or Content(content).lines == wanted


def test_limits_are_checked_before_lines_are_kept() -> None:
    assert len(content_of(b"0-0\n" * 10, limits=Limits(lines=10)).lines) == 10
    with pytest.raises(AttnvizError):
        _ = content_of(b"0-0\n" * 11, limits=Limits(lines=10)).lines
    with pytest.raises(AttnvizError):
        _ = Content("0-0\n".encode("utf-16") * 11, encoding="utf-16", limits=Limits(lines=10)).lines
    with pytest.raises(AttnvizError):
        list(strict_lines(io.BytesIO(b"a\n" * 11), limits=Limits(lines=10)))


class StopReadingError(Exception):
    """Raised by the hook of a test."""


def test_reading_is_cancelled(tmp_path) -> None:
    path, table = tmp_path / "pairs.tsv", tmp_path / "pairs.parquet"
    path.write_text(TEXT * 1000, encoding="utf-8")
    parquet.write_table(pa.table({"source": ["a"] * 1000}), table)
    readers: list[Callable[[], object]] = [
        lambda: content_of(gzip.compress(bytes(10))),
        lambda: Content(TEXT.encode() * 1000).filled,
        lambda: json_values(Content(b"[" + b"{}," * 1000 + b"{}]")),
        lambda: list(read_lines(path)),
        lambda: list(read_lines(table)),
        lambda: count_lines(path),
    ]
    for read in readers:
        left = [3]

        def stop(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] <= 0:
                raise StopReadingError

        left[0] = 1 if read in (readers[0], readers[-1]) else 3
        with reading_for(stop), pytest.raises(StopReadingError):
            read()
        read()


def test_reading_thread_passes_its_turn_on(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.ui.waiting._LONGEST_READING", 0.0)
    gate, order, waiting = FairSemaphore(1), list[str](), threading.Event()

    def draws() -> None:
        waiting.set()
        with gate.held():
            order.append("drawn")

    with gate.held(), reading_for(gate.pass_on):
        other = threading.Thread(target=draws)
        other.start()
        assert waiting.wait(30)
        while "drawn" not in order:  # it never is unless the turn is passed on
            pause()
        order.append("read")
    other.join(30)
    assert order == ["drawn", "read"]


def test_table_beyond_the_limits_of_an_upload_is_refused(tmp_path, snapshot) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"source": ["a" * 1000] * 20_000}), path, use_dictionary=False, compression="zstd")
    content = path.read_bytes()
    assert len(content) < 100_000
    check_table(content, STREAMED)
    assert refusal(lambda: check_table(content, Limits(bytes=16 * 10**6))) == snapshot
    with pytest.raises(AttnvizError):
        check_table(content, Limits(pairs=10_000))


GOLD = '{"id": "1", "en": ["A"], "fr": ["Un\u2028"], "S": [[0, 0]], "P": []}\n'


def test_gold_links_are_read_by_lines_within_limits(tmp_path, snapshot) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(gzip.compress(GOLD.encode() * 2))
    assert [pair.target for pair in read_gold(path)] == [("Un\u2028",)] * 2
    changes = {"[[0": "[[1e999", "[[0,": "[[0.5,", '["A"]': '"A"', '"S"': '"P"', GOLD: "null"}
    for bad in ("[" * 10_000, *(GOLD.replace(*change) for change in changes.items())):
        path.write_text(GOLD + bad, encoding="utf-8")
        with pytest.raises(AttnvizError, match="Line 2"):
            read_gold(path)
    path.write_bytes(gzip.compress(b"{}\n" * (LIMITS.lines + 1)))
    assert refusal(lambda: read_gold(path), tmp_path) == snapshot


PAIRS = [("A summer.", "Un été chaud."), ("A dog.", "Un chien, là.")]


def read(folder: Path, content: bytes, name: str = "pairs.tsv", *, skip_malformed: bool = False) -> Pairs:
    (folder / name).write_bytes(content)
    return read_pairs(folder / name, skip_malformed=skip_malformed)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", TEXT.encode()),
        ("a.tsv", TEXT.encode("utf-8-sig")),
        ("a.tsv", TEXT.replace("\n", "\r\n").encode()),
        ("a.tsv", TEXT.encode().rstrip()),
        ("a.tsv.xz", lzma.compress(TEXT.encode())),
        ("a.tsv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("a.tsv", gzip.compress(TEXT.encode(), mtime=0)),
        ("a.tsv.gz", TEXT.encode()),
    ],
    ids=["plain", "with a mark", "lines of Windows", "no last line end", "xz", "gzip", "gzip by content", "no gzip"],
)
def test_utf_8_with_and_without_byte_order_mark(tmp_path, name, content) -> None:
    found = read(tmp_path, content, name)
    assert (found.pairs, found.skipped) == (PAIRS, [])


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        TEXT.encode("iso-8859-1"),
        (TEXT + "His work.\tSon œuvre.\n").encode("windows-1252"),
        "привет мир\tздравствуй мир\n".encode("koi8-r"),
        "你好世界\t世界你好\n".encode("gb18030"),
    ],
    ids=["utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso-8859-1", "windows-1252", "koi8-r", "gb18030"],
)
def test_other_encoding_is_named_with_line_number(tmp_path, content, snapshot) -> None:
    for skip in (False, True):
        assert refusal(partial(read, tmp_path, content, skip_malformed=skip), tmp_path) == snapshot(name=str(skip))


def test_skipped_lines_are_reported_with_number_and_reason(tmp_path, snapshot) -> None:
    lines = [TEXT.encode().strip(), b"no tab", b"three\tcol\tumns", b"\tblank", b"blank\t  ", b"bad\t\xff\xfe", b""]
    content = b"\n".join([*lines, b"The end.\tLa fin."])
    with pytest.raises(AttnvizError):
        read(tmp_path, content)
    found = read(tmp_path, content, skip_malformed=True)
    assert found.pairs == [*PAIRS, ("The end.", "La fin.")]
    assert [line.number for line in found.skipped] == [3, 4, 5, 6, 7, 8]
    assert [line.reason for line in found.skipped] == snapshot


def test_up_to_one_malformed_line_in_a_hundred_is_skipped(tmp_path) -> None:
    assert [line.number for line in read(tmp_path, TEXT.encode() * 50 + b"no tab\n").skipped] == [101]
    with pytest.raises(AttnvizError):
        read(tmp_path, TEXT.encode() * 50 + b"no tab\n" * 2)


@pytest.mark.parametrize(
    ("lines", "csv"),
    [
        (["A dog.,Un chien.", "Yes,Oui"], True),
        (["A dog.;Un chien.", "Yes;Oui", ""], True),
        (['"Yes, sir.",Oui', "source,target"], True),
        (["Yes, sir.", "It is 3,000 km."], False),
        (["A dog.,Un chien."], False),
        (["I like red,green apples.", "A dog.", "A cat."], False),
        (['"Yes," he said, "it is."', '"No," he said.'], False),
        (["A dog.\tUn chien, qui dort.", "A cat.\tUn chat,"], False),
        ([], False),
    ],
)
def test_csv_is_told_from_sentences_with_commas(lines, csv) -> None:
    assert is_csv_sample(lines) is csv
