"""Files: reading within limits, which can be cancelled, strict reading of pairs, and atomic replacing.

Bombs are in `importing/test_hostile_files.py`.
"""

import contextlib
import functools
import gzip
import io
import lzma
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from attnviz import AttnvizError, Trace
from attnviz.checkpoint import load_model
from attnviz.corpora import read_lines
from attnviz.corpora.corpus_lines import check_table, count_lines
from attnviz.deadlines import with_deadline
from attnviz.evaluation.alignment import read_gold
from attnviz.export import save
from attnviz.files import check_regular, replace_text
from attnviz.model_folder import DETECTOR, FILES, WEIGHTS_FILE, count_parameters, model_folders, weights_digest
from attnviz.pair_files import Pairs, is_csv_sample, read_pairs
from attnviz.reading import LIMITS, STREAMED, Content, Limits, content_of, json_values, pause, reading_for, strict_lines
from attnviz.ui.waiting import FairSemaphore
from tests.conftest import REPOSITORY
from tests.figures import synthetic
from tests.processes import wait_until
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
        wait_until(lambda: pause() or order)  # nothing is drawn unless the turn is passed on
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


OLD = "what was there before"


@contextlib.contextmanager
def full_disk(left: int = 2048) -> Iterator[None]:
    """Let writing fail, as on a full disk, once a file has so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


@pytest.mark.parametrize("ending", ["html", "json", "csv", "tex"])
def test_export_to_full_disk_leaves_old_file(trace, tmp_path, ending, snapshot) -> None:
    path = tmp_path / f"out.{ending}"
    path.write_text(OLD, encoding="utf-8")
    with full_disk(256):
        message = refusal(lambda: save(trace, path), tmp_path)
    assert message == snapshot
    assert path.read_text(encoding="utf-8") == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_symbolic_link_and_permissions_are_preserved(tmp_path) -> None:
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    file.parent.mkdir()
    file.write_text(OLD, encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    replace_text(link, "new")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [*file.parent.iterdir()] == [file]


def test_next_write_removes_what_a_killed_process_left(tmp_path) -> None:
    foreign = tmp_path / "out.txt.tmp"
    foreign.write_text(OLD, encoding="utf-8")
    writer = """
import os, sys, pathlib
from attnviz.files import replacing
with replacing(pathlib.Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    sys.stdin.read()
"""
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": REPOSITORY, "text": True}
    with subprocess.Popen([sys.executable, "-c", writer, tmp_path / "out.txt"], **how) as process:
        temporary = tmp_path / process.stdout.readline().strip()
        replace_text(tmp_path / "other.txt", "new")
        assert temporary.read_text(encoding="utf-8") == "half"  # its writer is alive
        process.kill()
    assert temporary.exists()
    replace_text(tmp_path / "other.txt", "new")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "other.txt", foreign]
    assert foreign.read_text(encoding="utf-8") == OLD


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_only_regular_files_pass(tmp_path, make, snapshot) -> None:
    odd, regular = tmp_path / "odd", tmp_path / "regular"
    make(odd)
    regular.write_text(OLD, encoding="utf-8")
    for path in (regular, tmp_path, tmp_path / "missing"):
        check_regular(path)
    assert refusal(lambda: check_regular(odd), tmp_path) == snapshot


def _pipe_instead_of(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("name", FILES)
def test_pipe_in_model_folder_is_refused(model_folder, tmp_path, name) -> None:
    folder = tmp_path / "models" / "tiny"
    shutil.copytree(model_folder, folder)
    _pipe_instead_of(folder / name)
    for read in (load_model, weights_digest, count_parameters) if name == WEIGHTS_FILE else (load_model,):
        with pytest.raises(AttnvizError, match=name):
            with_deadline(60, functools.partial(read, folder))
    assert with_deadline(60, lambda: model_folders(folder.parent, (DETECTOR,))) == []


def test_pipe_named_by_the_user_is_read() -> None:
    record = '{"source": ["a"], "target": ["b"], "matrix": [[1]]}'
    command = ["bash", "-c", f"'{sys.executable}' -m attnviz attention <(echo '{record}')"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "a\tb\t0-0\n")
