"""Tables of imported attention: measures of each pair, recomputed; error rates; the command that writes them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

from attnviz import Attention, attention, read_attention
from attnviz.commands.main import main
from attnviz.corpora.columns import ATTENTION_SCHEMA
from attnviz.corpora.measured_attention import table_of_attention
from attnviz.corpora.table_metadata import table_metadata
from attnviz.evaluation.scoring import score

ENGLISH, FRENCH = "In 1992 , Smith left Paris .", "En 1992 , Smith quitta Paris ."
RIGHT = " ".join(f"{k}-{k}" for k in range(7))
OFF = " ".join(f"{max(k - 1, 0)}-{k}" for k in range(7))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_measures_equal_their_definitions(source, target, seed) -> None:
    chance = np.random.default_rng(seed)
    weights = chance.random((target, source + 1)) * (chance.random((target, 1)) < 0.8)
    weights /= np.where(weights.any(axis=1, keepdims=True), weights.sum(axis=1, keepdims=True), 1)
    words = [f"word{k}" for k in range(source)]
    record = attention([*words, "</s>"], [f"mot{k}" for k in range(target)], weights)
    (row,) = table_of_attention([record]).to_pylist()
    rows = np.asarray(record.alignment, dtype=np.float64)
    attending = rows[rows.any(axis=1)]
    assert (row["source_length"], row["target_length"]) == (source, target)
    assert row["unlinked"] == int((~rows[:, :source].any(axis=1)).sum())
    np.testing.assert_allclose(row["coverage"], rows[:, :source].sum(axis=0), atol=1e-5)
    assert row["least_coverage"] == pytest.approx(rows[:, :source].sum(axis=0).min(), abs=1e-5)
    if len(attending):
        bits = [-sum(p * np.log2(p) for p in one if p > 0) for one in attending]
        assert row["entropy"] == pytest.approx(np.mean(bits), abs=1e-5)
        assert row["end_share"] == pytest.approx(attending[:, source].mean(), abs=1e-5)
        best = rows[rows[:, :source].any(axis=1)][:, :source].argmax(axis=1)
        assert row["many_to_one"] == max((list(best).count(j) for j in best), default=0)
    else:
        assert (row["entropy"], row["end_share"], row["many_to_one"]) == (None, None, 0)
    assert row["log_probability_per_word"] is None


@pytest.fixture
def links(tmp_path) -> Path:
    """Write links of three pairs, of which the second has drifted and the third has no link."""
    (tmp_path / "links.txt").write_text(f"{RIGHT}\n{OFF}\n\n")
    (tmp_path / "gold.txt").write_text(f"{RIGHT}\n{RIGHT}\n{RIGHT}\n")
    for name, sentence in (("en", ENGLISH), ("fr", FRENCH)):
        (tmp_path / name).write_text(f"{sentence}\n" * 3)
    return tmp_path


def test_drift_gaps_and_errors_are_in_the_row_of_their_pair(links, capsys) -> None:
    records = read_attention(links / "links.txt", links / "en", links / "fr")
    gold = read_attention(links / "gold.txt", links / "en", links / "fr")
    table = table_of_attention(records, score(records, gold).error.sentences)
    assert table.schema.equals(ATTENTION_SCHEMA)
    assert table["drifted"].to_pylist() == [0, 6, 0]
    assert table["unlinked"].to_pylist() == [0, 0, 7]
    assert table["many_to_one"].to_pylist() == [1, 2, 0]
    assert table["aer_before"].to_pylist() == pytest.approx([0, 12 / 14, 1])
    given = [
        "attention",
        str(links / "links.txt"),
        "--source-file",
        str(links / "en"),
        "--target-file",
        str(links / "fr"),
    ]
    assert main([*given, "--table", str(links / "table.parquet"), "--gold", str(links / "gold.txt")]) == 0
    table = parquet.read_table(links / "table.parquet")
    assert table["drifted"].to_pylist() == [0, 6, 0]
    assert main([*given, "--table", str(links / "table.csv")]) == 0
    plain = csv.read_csv(links / "table.csv")
    assert plain["drifted"].to_pylist() == [0, 6, 0]
    assert "aer_before" not in plain.column_names
    assert main([*given, "--table", "table.xlsx"]) == 2
    assert main([*given, "--gold", str(links / "gold.txt")]) == 2


@pytest.fixture
def parts(tmp_path) -> Path:
    """Write links of three pairs in two files; only the second file shows that tokens are counted from 1."""
    folder = tmp_path / "parts"
    folder.mkdir()
    from_1 = " ".join(f"{k + 1}-{k + 1}" for k in range(7))
    (folder / "b.txt").write_text(f"{ENGLISH}\t{FRENCH}\t{from_1}\n{ENGLISH}\t{FRENCH}\t\n")
    (folder / "a.txt").write_text(f"{ENGLISH}\t{FRENCH}\t1-1 2-2\n")
    return folder


def test_command_writes_one_table_of_all_files(parts) -> None:
    table = parts.parent / "table.parquet"
    assert main(["corpus", "--attention", str(parts), "-o", str(table)]) == 0
    written = parquet.read_table(table)
    assert written["file"].to_pylist() == ["a.txt", "b.txt", "b.txt"]
    assert written["unlinked"].to_pylist() == [5, 0, 7]
    stored = [Attention.from_json(text) for text in written["record"].to_pylist()]
    assert [one.fingerprint for one in stored] == [one.fingerprint for one in read_attention(parts)]
    about = table_metadata(table)
    assert about.rows == 3
