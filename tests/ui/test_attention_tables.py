"""Page *Corpus*: an attention file becomes a table, is scored against gold links, and its pairs open."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.commands.main import main
from attnviz.environment import ATTNVIZ_CORPORA
from attnviz.ui.corpus import jobs
from attnviz.ui.corpus.corpus_sections import _open_row
from tests.corpora.test_attention_table import OFF, RIGHT
from tests.ui.fields import set_field
from tests.ui.opening import Run, open_alone
from tests.ui.shown_payloads import panel_texts, texts
from tests.ui.test_corpus import wait_until_job_ends

WORDS = "In 1992 , Smith left Paris ."
PAIRS = "".join(f"{WORDS}\t{WORDS}\t{links}\n" for links in (RIGHT, OFF))


@pytest.fixture(autouse=True)
def no_jobs() -> Iterator[None]:
    yield
    while jobs._JOBS:
        jobs._JOBS.popitem()[1].forget()


@pytest.fixture
def corpus(models_folder: Path) -> Run:
    return functools.partial(open_alone, "corpus")


def give(app: AppTest, place: int, name: str, content: str, *others: tuple[str, str]) -> AppTest:
    """Upload files in one of the page's boxes, and wait for the table."""
    files = [(file, text.encode(), "text/plain") for file, text in ((name, content), *others)]
    app.get("file_uploader")[place].set_value(files if place == 1 else files[0]).run()
    assert not app.exception
    wait_until_job_ends(app.session_state["corpus_table"])
    app.run()
    assert not app.exception
    return app


def test_attention_file_is_measured_and_scored(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = give(corpus(), 1, "links.txt", PAIRS)
    listed = app.dataframe[0].value
    assert list(listed["drifted"]) == [0, 6]
    assert "aer_before" not in listed
    give(app, 2, "gold.txt", f"{RIGHT}\n{RIGHT}\n")
    assert list(app.dataframe[0].value["aer_before"]) == pytest.approx([0, 12 / 14])
    assert [text for text in texts(app).splitlines() if "F1" in text] == snapshot


def test_two_attention_files_are_compared_and_their_pairs_open_side_by_side(
    corpus: Run, snapshot: SnapshotAssertion
) -> None:
    app = give(corpus(), 1, "links.txt", PAIRS)
    give(app, 3, "other.pharaoh", f"{RIGHT}\n{RIGHT}\n")
    listed = app.dataframe[0].value
    assert list(listed["aer_between"]) == pytest.approx([0, 12 / 14])
    assert list(listed["only_one"]) == [0, 12]
    assert [text for text in texts(app).splitlines() if "files share" in text] == snapshot
    give(app, 2, "gold.txt", f"{RIGHT}\n{RIGHT}\n")
    listed = app.dataframe[0].value
    assert list(listed["aer_between"]) == list(listed["aer_before"]), "both files stay"
    job = jobs.job_of("somebody", app.session_state["corpus_table"])
    assert job is not None
    opened: list[object] = []
    _open_row(job, opened.append, lambda *given: opened.extend(given), listed.iloc[1].to_dict())
    name, other = opened[3]  # type: ignore[misc]
    assert (name, len(other)) == ("other.pharaoh", 2)
    assert other[1].source_text == WORDS, "it has the words of the first file"


def test_other_file_with_other_pairs_is_refused(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = give(corpus(), 1, "links.txt", PAIRS)
    give(app, 3, "other.pharaoh", f"{RIGHT}\n")
    assert panel_texts(app, "corpus_problem") == snapshot


def test_unreadable_attention_is_refused_with_the_reason(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = give(corpus(), 1, "notes.txt", "Some words.\nAnd more words.\n")
    assert panel_texts(app, "corpus_problem") == snapshot


def test_row_opens_its_pair_with_its_gold_links(corpus: Run) -> None:
    app = give(corpus(), 1, "links.txt", PAIRS)
    give(app, 2, "gold.txt", f"{RIGHT}\n{RIGHT}\n")
    job = jobs.job_of("somebody", app.session_state["corpus_table"])
    assert job is not None
    opened: list[object] = []
    row = app.dataframe[0].value.iloc[1].to_dict()
    _open_row(job, opened.append, lambda *given: opened.extend(given), row)
    name, records, number, other, (gold_name, gold) = opened  # type: ignore[misc]
    assert other is None
    assert (name, records, number) == ("links.txt", job.records, 2)
    assert (gold_name, len(gold)) == ("gold.txt", 2)
    assert gold[1].sure == {(k, k) for k in range(7)}


def test_pair_that_the_gold_file_lacks_is_shown_without_a_score(corpus: Run) -> None:
    app = give(corpus(), 1, "links.txt", PAIRS)
    give(app, 2, "gold.wa", "".join(f"1 {k} {k}\n" for k in range(1, 8)))
    job = jobs.job_of("somebody", app.session_state["corpus_table"])
    assert job is not None
    listed = app.dataframe[0].value
    assert list(listed["aer_before"].notna()) == [True, False]
    opened: list[object] = []
    _open_row(job, opened.append, lambda *given: opened.extend(given), listed.iloc[1].to_dict())
    name, gold = opened[4]  # type: ignore[misc]
    assert (name, len(gold)) == ("gold.wa", 1)


def test_files_given_together_make_one_table(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = give(corpus(), 1, "part-2.txt", PAIRS, ("part-1.txt", PAIRS))
    listed = app.dataframe[0].value
    assert list(listed["file"]) == ["part-1.txt", "part-1.txt", "part-2.txt", "part-2.txt"]
    assert list(listed["number"]) == [1, 2, 3, 4]
    assert [text for text in texts(app).splitlines() if "part-1.txt" in text] == snapshot
    set_field(app, "corpus_find", "part-2")
    assert list(app.dataframe[0].value["number"]) == [3, 4]


def test_pair_of_a_server_table_opens_its_stored_attention(
    corpus: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "links.txt").write_text(PAIRS)
    assert main(["corpus", "--attention", str(tmp_path / "links.txt"), "-o", str(tmp_path / "links.parquet")]) == 0
    monkeypatch.setenv(ATTNVIZ_CORPORA, str(tmp_path))
    job = jobs.job_of("somebody", "links")
    assert job is not None
    opened: list[object] = []
    row = {"number": 2, "source": WORDS, "target": WORDS}
    _open_row(job, opened.append, lambda *given: opened.extend(given), row)
    name, records, number, _, _ = opened
    assert (name, number, len(records)) == ("links.parquet", 1, 1)
    assert records[0].links == jobs.read_bytes(PAIRS.encode())[1].links


def test_blank_lines_of_an_attention_file_are_named(corpus: Run, snapshot: SnapshotAssertion) -> None:
    app = give(corpus(), 1, "links.txt", "a b ||| c d ||| 0-0 1-1\n ||| |||\ne ||| f ||| 0-0\n")
    assert panel_texts(app, "corpus_said", "corpus_skipped") == snapshot
