"""Strict reading of pair files: other encodings and formats are refused by name, skipped lines are reported."""

import gzip
import lzma
from functools import partial
from pathlib import Path

import pytest

from attnviz import AttnvizError
from attnviz.pair_files import Pairs, is_csv_sample, read_pairs
from tests.snapshots import refusal

TEXT = "A summer.\tUn été chaud.\nA dog.\tUn chien, là.\n"
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
