"""Every command that reads text refuses damaged files with the line and what to do, and reports the lines it skips."""

import json
import shutil
from pathlib import Path

import pytest
from pyarrow import parquet
from syrupy.assertion import SnapshotAssertion

from attnviz.corpora.table_metadata import table_metadata
from attnviz.training.preparation import DATA
from tests.commands.conftest import Run
from tests.snapshots import plain

COMMANDS = ("train", "evaluate", "align", "corpus", "translate")
PAIR = "A dog runs.\tUn chien court.\n"
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def run(run, tmp_path, tokenizer, monkeypatch) -> Run:
    """Return a function that runs a command on the content of a file: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    Path("tokenizer.model").write_bytes(tokenizer.model)
    Path("good.tsv").write_text(PAIR * 20, encoding="utf-8")
    sizes = (f"--{name}-size=8" for name in ("hidden", "embedding", "alignment", "maxout"))
    training = "--data pairs.tsv --validation good.tsv --output run --tokenizer tokenizer.model --updates 2"
    own: dict[str, list[str]] = {
        "train": [*training.split(), *sizes, "--validate-every", "2"],
        "evaluate": ["pairs.tsv", "--json"],
        "align": ["pairs.tsv"],
        "corpus": ["pairs.tsv", "-o", "table.parquet"],
    }

    def run_command(command: str, content: bytes, *further: str) -> tuple[int, str, str]:
        Path("pairs.tsv").write_bytes(content)
        return run(command, *own.get(command, []), *further, given=content)

    return run_command


def _content(command: str, text: str) -> str:
    """Return the text that `command` reads for a text of pairs: translate reads the source sentences alone."""
    if command != "translate":
        return text
    return "".join(line.partition("\t")[0] + "\n" for line in text.split("\n")[:-1])


def _assert_refused(run: Run, command: str, content: bytes, snapshot: SnapshotAssertion) -> None:
    code, output, errors = run(command, content)
    assert (code, output) == (2, "")
    assert "Traceback" not in errors
    assert plain(errors.splitlines()[-1], Path.cwd()) == snapshot
    assert not Path("table.parquet").exists()


@every_command
def test_text_in_another_encoding_is_refused(run, command, snapshot) -> None:
    """Those that are told from UTF-8 are in the tests of files of pairs."""
    text = _content(command, "Un \u00e9t\u00e9.\tA summer.\n" * 4)
    _assert_refused(run, command, text.encode("iso-8859-1"), snapshot)
    _assert_refused(run, command, _content(command, PAIR * 4).replace(" ", "\0").encode(), snapshot)


FORMS = {
    "three columns": "A dog.\tUn chien.\t0.7\n",
    "links": "A dog.\tUn chien.\t0-0 1-1\n",
    "only links": "0-0 1-1\n",
    "bars": "A dog ||| Un chien\n",
    "bars and links": "A dog ||| Un chien ||| 0-0 1-1\n",
    "CSV": '"A dog, asleep.","Un chien qui dort."\n',
    "semicolons": "A dog.;Un chien.\n",
    "a table in CSV": "source,target\nA dog.,Un chien.\nA cat.,Un chat.\nA house.,Une maison.\n",
}


def test_text_of_another_form_is_refused(run, snapshot) -> None:
    for command in ("align", "translate", "corpus"):
        for name, text in FORMS.items():
            _assert_refused(run, command, (text * 4).encode(), snapshot(name=f"{command} {name}"))


FEW = "source\ttarget\n" + PAIR * 59 + "A cat.\tUn chat.\t0.5\n" + PAIR * 39
MALFORMED = FEW + "A house.\t \n"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "translate"])
def test_more_than_one_malformed_line_in_a_hundred_needs_the_option(run, command, snapshot) -> None:
    _assert_refused(run, command, MALFORMED.encode(), snapshot)
    for content, options, numbers in ((MALFORMED, ["--skip-malformed"], [1, 61, 101]), (FEW, [], [1, 61])):
        code, output, errors = run(command, content.encode(), *options)
        assert code == 0, errors
        assert _skipped(command, output) == numbers


def _skipped(command: str, output: str) -> list[int]:
    if command == "align":  # a blank line stands for each
        return [number for number, line in enumerate(output.split("\n")[:-1], 1) if not line]
    if command == "evaluate":
        return [line["line"] for line in json.loads(output)["skipped"]]
    if command == "corpus":
        assert parquet.read_table("table.parquet").num_rows
        found = table_metadata(Path("table.parquet"))
        Path("table.parquet").unlink()
        return [number for number, _ in found.named]
    (report,) = json.loads((Path("run") / DATA).read_text(encoding="utf-8"))
    assert report["skipped"] == len(report["first_skipped"])
    shutil.rmtree("run")
    return [line["number"] for line in report["first_skipped"]]


def test_unknown_characters_are_reported_and_escapes_decoded(run, snapshot) -> None:
    _, _, errors = run("translate", "A dog.\nनमस्ते €.\n€\n".encode())
    assert errors == snapshot(name="lines")
    _, _, errors = run("translate", b"", "नमस्ते")
    assert errors == snapshot(name="sentence")
    assert run("translate", b"A dog.\n", "--unescape")[2] == ""
    escaped = b"A dog &apos;s well @-@ known.\tUn chien &quot; .\n"
    tables = []
    for content, options in ((escaped, ["--unescape"]), (b"A dog 's well-known.\tUn chien \" .\n", [])):
        code, _, errors = run("corpus", content, *options)
        assert (code, errors) == (0, "")
        tables.append(parquet.read_table("table.parquet").to_pylist())
        Path("table.parquet").unlink()
    assert tables[0] == tables[1]
    Path("gold.txt").write_text("0-0\n", encoding="utf-8")
    assert run("corpus", escaped, "--unescape", "--gold", "gold.txt") == (2, "", snapshot)
