"""The benchmarks: learning measures, pairs of a test that are in training data, and simulated visitors."""

import importlib
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.evaluation.alignment import GoldAlignment
from attnviz.trace.word_link_text import Link
from tests.benchmarks.learning_measures import (
    diagonal_attention,
    diagonality,
    exchanged_neighbours,
    learning_measures,
    link_attention,
    link_classes,
    single_links,
    uniform_attention,
)
from tests.benchmarks.overlap import main, overlaps, sentence_key


def pair_of(source: str, target: str, *sure: Link) -> GoldAlignment:
    return GoldAlignment("", tuple(source.split()), tuple(target.split()), frozenset(sure), frozenset())


LINKS = ((0, 0), (1, 1), (2, 3), (3, 2), (4, 5), (5, 4), (5, 6), (6, 7), (7, 8))
HOUSE = pair_of("The old green house is not here .", "La vieille maison verte n' est pas ici .", *LINKS)


def test_link_classes_of_an_example_sentence() -> None:
    assert exchanged_neighbours(HOUSE) == [(2, 2)]
    assert link_classes(HOUSE) == {
        "marks": {(7, 8)},
        "articles": {(0, 0)},
        "content": {(1, 1)},
        "nouns": set(),
        "exchanged": {(2, 3), (3, 2)},
    }
    assert single_links(HOUSE) == HOUSE.sure - {(5, 4), (5, 6)}


@pytest.mark.parametrize(
    ("english", "french", "nouns"),
    [
        ("the house", "la maison", True),
        ("The House", "L' Assemblée", True),
        ("the first", "la première", False),  # as in "the first day"
        ("the sixth", "les sixièmes", False),
        ("the two", "les deux", False),
        ("his house", "la maison", False),
        ("the house", "sa maison", False),
        ("the 1992", "la 1992", False),
    ],
)
def test_nouns_follow_an_article_on_both_sides(english, french, nouns) -> None:
    assert link_classes(pair_of(english, french, (0, 0), (1, 1)))["nouns"] == ({(1, 1)} if nouns else set())
    alone = pair_of(english.split()[1], french.split()[1], (0, 0))
    assert link_classes(alone)["nouns"] == set()  # no article comes before the first word


def test_the_measures_are_means_over_the_links() -> None:
    alignment = np.random.default_rng(1).dirichlet(np.ones(8), 9)
    found = learning_measures([HOUSE], [alignment])
    assert found["content"].value == pytest.approx(alignment[1, 1])
    assert (found["exchanged"].value, found["exchanged"].count) == (
        pytest.approx((alignment[3, 2] + alignment[2, 3]) / 2),
        2,
    )
    own = alignment[2, 3] > alignment[2, 2] and alignment[3, 2] > alignment[3, 3]
    assert (found["order"].value, found["order"].count) == (float(own), 1)
    alignment = np.random.default_rng(3).dirichlet(np.ones(6), 5)
    assert diagonality(alignment * np.linspace(0.2, 0.9, 5)[:, None]) == pytest.approx(diagonality(alignment))
    assert diagonality(np.zeros((5, 6))) == pytest.approx(0)


@pytest.mark.parametrize("baseline", [uniform_attention, diagonal_attention, link_attention])
def test_baseline_attention_rows_are_distributions(baseline) -> None:
    np.testing.assert_allclose(baseline(HOUSE).sum(axis=1), 1)
    assert diagonality(uniform_attention(HOUSE)) == pytest.approx(0)


TRAINING = "The cat sleeps on the sofa.\tLe chat dort sur le canapé.\nThank you !\tMerci !\n"
TESTS = (
    "the cat sleeps, on the sofa\tUn chat est couché sur le sofa.\n"
    "He said thanks.\tMERCI.\n"
    "Thank you.\tMerci…\n"
    "...\t!\n"
    "The dog sleeps.\tLe chien dort.\n"
)


def test_command_counts_and_writes_remaining_pairs(tmp_path, capfd) -> None:
    with lzma.open(tmp_path / "train.tsv.xz", "wt", encoding="utf-8") as file:
        file.write(TRAINING + "...\t!\nonly one column\n")
    (tmp_path / "test.tsv").write_text(TESTS, encoding="utf-8")
    arguments = [str(tmp_path / "test.tsv"), "--data", str(tmp_path / "train.tsv.xz")]
    assert main([*arguments, "-o", str(tmp_path / "clean")]) == 0
    cells = [cell.strip() for cell in capfd.readouterr().out.splitlines()[-1].strip("|").split("|")]
    assert cells[1:] == ["5", "2", "2", "1", "2"]
    assert (tmp_path / "clean" / "test.tsv").read_text(encoding="utf-8") == "...\t!\nThe dog sleeps.\tLe chien dort.\n"
    assert main([*arguments, "-o", str(tmp_path / "test.tsv")]) == 2  # itself


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=6), st.data())
def test_pairs_in_training_data_are_never_kept(pairs, data) -> None:
    drawn = data.draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    lines = ["\t".join(pair) for pair in drawn if not set("".join(pair)) & set("\t\r\n")]
    assert sentence_key("It’s  the CAT.") == sentence_key("it's the cat") == "itsthecat"
    assert sentence_key("Été") != sentence_key("Ete")
    (found,) = overlaps([pairs], lines)
    assert found.pairs == len(pairs)
    known = [{sentence_key(line.split("\t")[k]) for line in lines} - {""} for k in range(2)]
    for place, (source, target) in enumerate(pairs):
        assert (place in found.clean) == (sentence_key(source) not in known[0] and sentence_key(target) not in known[1])
    assert found.both <= min(found.source, found.target) <= found.pairs - len(found.clean)


@pytest.mark.nightly
@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_every_benchmark_finds_what_it_imports(path) -> None:
    importlib.import_module(f"tests.benchmarks.{path.stem}")
