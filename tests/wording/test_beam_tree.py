"""What is said of a beam search: why the winner won, in numbers that can be checked in the head."""

from __future__ import annotations

import dataclasses

import pytest

from attnviz.languages import speak
from attnviz.text import EOS
from attnviz.trace import BeamTree
from attnviz.wording import beam_tree
from attnviz.wording.beam_tree import (
    course_of_search,
    fate_name,
    told_hypothesis,
    where_it_is,
)
from attnviz.wording.numbers import NO_BREAK
from tests.figures.trees import ASSIS, CHAT, NOIR, small


def why_it_won(tree: BeamTree) -> str:
    return beam_tree.why_it_won(tree).replace(NO_BREAK, " ")


def fate_of(tree: BeamTree, index: int) -> str:
    return beam_tree.fate_of(tree, index).replace(NO_BREAK, " ")


def test_the_division_by_the_length_is_told_in_numbers() -> None:
    told = why_it_won(small())
    assert "“le chat noir” won: of the 2 hypotheses that finished it has the largest score, −3.00 / 4 = −0.750" in told
    assert "next comes “le” with −2.00 / 2 = −1.000" in told
    assert "Without the division by the length “le” would have won: its log p, −2.00, is larger than −3.00" in told


def test_without_it_the_likeliest_wins() -> None:
    tree = small(length_penalty=0.0)
    assert tree.text(tree.winner) == "le"
    told = why_it_won(tree)
    assert "“le” won" in told
    assert "log p = −2.000" in told
    assert "the length penalty is 0" in told


def test_a_power_of_the_length_is_written_as_one() -> None:
    tree = small(length_penalty=0.5)
    told = beam_tree.scoring(tree, tree.finished[0])
    assert told.replace(NO_BREAK, " ") == "−2.00 / 2^0.5 = −1.414"
    assert " " not in told  # it stays on one line
    assert "changed nothing" in why_it_won(tree)


def test_one_hypothesis_has_no_rival() -> None:
    tree = small()
    line = tuple(
        dataclasses.replace(tree.nodes[k], parent=place - 1 if place else None, rank=0)
        for place, k in enumerate((0, 3, 7, 10))
    )
    greedy = dataclasses.replace(tree, nodes=line, beam=1)
    assert why_it_won(greedy) == (
        "One hypothesis finished, “le chat noir”: −3.00 / 4 = −0.750. Greedy search has no other."
    )


@pytest.mark.parametrize(
    ("index", "told", "name"),
    [
        (0, "It went on.", "went on"),
        (1, "Dropped at step 2: none of its continuations was among the likeliest.", "overtaken"),
        (2, "Dropped at step 1: number 3 of those considered, and the beam keeps 2.", "outside the beam"),
        (4, "Finished at step 2, and was beaten as number 2: −2.00 / 2 = −1.000.", "finished, beaten"),
        (10, "Finished at step 4, and won: −3.00 / 4 = −0.750.", "won"),
        (11, "Open when the search ended at step 4: 2 others had finished.", "open at the end"),
    ],
)
def test_what_became_of_each(index: int, told: str, name: str) -> None:
    assert fate_of(small(), index) == told
    assert fate_name(small(), index) == name


def test_how_many_were_dropped_when() -> None:
    assert course_of_search(small()) == (
        "In 4 steps the search considered 13 hypotheses. 4 fell out of the beam at once, 1 a step later, 1 still open "
        "when it ended."
    )


def test_where_a_translation_is_that_did_not_win() -> None:
    tree = small()
    assert where_it_is(tree, tree.ids(tree.winner)) == ""
    assert where_it_is(tree, (8, EOS)) == "The translation on show is number 2 of those that finished."
    assert where_it_is(tree, (8, CHAT, ASSIS, EOS)) == (
        "The translation on show parts from this tree at step 3: what it writes there was not considered."
    )
    assert where_it_is(tree, (9, NOIR, EOS)).endswith(
        "Its beginning: dropped at step 2: none of its continuations was among the likeliest."
    )
    assert "did not finish. Dropped at step 4" in where_it_is(tree, tree.ids(12))
    assert "at step 1" in where_it_is(tree, (77, EOS))


def test_of_a_long_hypothesis_it_is_told_where_it_differs() -> None:
    tree = small()
    beginning = "\u2581" + "\u2581".join(f"mot{k}" for k in range(20))
    nodes = (dataclasses.replace(tree.nodes[0], piece=beginning), *tree.nodes[1:])
    tree = dataclasses.replace(tree, nodes=nodes)
    assert told_hypothesis(tree, 10).startswith("“mot0 mot1")
    assert told_hypothesis(tree, 10).endswith("…”")
    assert told_hypothesis(tree, 11, beside=10) == "“… mot18 mot19 assis noir assis”"
    assert told_hypothesis(tree, 2, beside=10) == "“chat”"


def test_an_empty_translation_is_named() -> None:
    tree = small()
    empty = dataclasses.replace(tree.nodes[0], piece="</s>", piece_id=EOS, fate="finished", total=-9.0)
    tree = dataclasses.replace(tree, nodes=(empty, *tree.nodes[1:]))
    assert told_hypothesis(tree, 0) == "the empty translation"


def test_in_french() -> None:
    speak("fr")
    try:
        told = why_it_won(small())
        assert "a gagné" in told
        assert "−3,00 / 4 = −0,750" in told
        assert "1 encore ouverte à la fin" in course_of_search(small())
    finally:
        speak("en")
