"""Sentences about a beam search: why the winner won, and what happened to the other hypotheses."""

from __future__ import annotations

import dataclasses

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis import beam_sentences
from attnviz.analysis.beam_sentences import fate_label, hypothesis_text, position_sentence, search_sentence
from attnviz.analysis.numbers import NO_BREAK, decimal
from attnviz.text import EOS
from attnviz.trace import BeamTree
from tests.figures.trees import ASSIS, CHAT, NOIR, small

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def winner_sentence(tree: BeamTree) -> str:
    return beam_sentences.winner_sentence(tree).replace(NO_BREAK, " ")


def fate_sentence(tree: BeamTree, index: int) -> str:
    return beam_sentences.fate_sentence(tree, index).replace(NO_BREAK, " ")


@EACH_LANGUAGE
def test_winner_sentence_writes_out_the_length_normalisation(snapshot: SnapshotAssertion) -> None:
    sentence = winner_sentence(small())
    assert f"{decimal(-3.0)} / 4 = {decimal(-0.75, 3)}" in sentence
    assert f"{decimal(-2.0)} / 2 = {decimal(-1.0, 3)}" in sentence
    assert sentence == snapshot


@EACH_LANGUAGE
def test_likeliest_hypothesis_wins_without_length_penalty(snapshot: SnapshotAssertion) -> None:
    tree = small(length_penalty=0.0)
    assert tree.text(tree.winner) == "le"
    assert winner_sentence(tree) == snapshot


@EACH_LANGUAGE
def test_fractional_length_penalty_is_written_as_a_power(snapshot: SnapshotAssertion) -> None:
    tree = small(length_penalty=0.5)
    sentence = beam_sentences.score_computation(tree, tree.finished[0])
    assert sentence.replace(NO_BREAK, " ") == f"{decimal(-2.0)} / 2^{decimal(0.5, 1)} = {decimal(-1.414, 3)}"
    assert " " not in sentence  # it stays on one line
    assert winner_sentence(tree) == snapshot


@EACH_LANGUAGE
def test_winner_sentence_of_a_single_hypothesis_has_no_foil(snapshot: SnapshotAssertion) -> None:
    tree = small()
    line = tuple(
        dataclasses.replace(tree.nodes[k], parent=place - 1 if place else None, rank=0)
        for place, k in enumerate((0, 3, 7, 10))
    )
    greedy = dataclasses.replace(tree, nodes=line, beam=1)
    assert winner_sentence(greedy) == snapshot


@EACH_LANGUAGE
def test_every_hypothesis_has_a_fate_sentence(snapshot: SnapshotAssertion) -> None:
    tree = small()
    fates = {fate_label(tree, index): fate_sentence(tree, index) for index in (0, 1, 2, 4, 10, 11)}
    assert list(fates.items()) == snapshot  # a dict's snapshot would be sorted by name


@EACH_LANGUAGE
def test_search_sentence_counts_the_dropped_hypotheses(snapshot: SnapshotAssertion) -> None:
    assert search_sentence(small()) == snapshot


@EACH_LANGUAGE
def test_position_sentence_locates_other_translations_in_the_tree(snapshot: SnapshotAssertion) -> None:
    tree = small()
    assert position_sentence(tree, tree.ids(tree.winner)) == ""
    assert [
        position_sentence(tree, (8, EOS)),
        position_sentence(tree, (8, CHAT, ASSIS, EOS)),
        position_sentence(tree, (9, NOIR, EOS)),
        position_sentence(tree, tree.ids(12)),
        position_sentence(tree, (77, EOS)),
    ] == snapshot


def test_long_hypothesis_is_shortened_to_where_it_differs() -> None:
    tree = small()
    beginning = "\u2581" + "\u2581".join(f"mot{k}" for k in range(20))
    nodes = (dataclasses.replace(tree.nodes[0], piece=beginning), *tree.nodes[1:])
    tree = dataclasses.replace(tree, nodes=nodes)
    assert hypothesis_text(tree, 10).startswith("“mot0 mot1")
    assert hypothesis_text(tree, 10).endswith("…”")
    assert hypothesis_text(tree, 11, other=10) == "“… mot18 mot19 assis noir assis”"
    assert hypothesis_text(tree, 2, other=10) == "“chat”"


@EACH_LANGUAGE
def test_an_empty_translation_is_named(snapshot: SnapshotAssertion) -> None:
    tree = small()
    empty = dataclasses.replace(tree.nodes[0], piece="</s>", piece_id=EOS, fate="finished", total=-9.0)
    tree = dataclasses.replace(tree, nodes=(empty, *tree.nodes[1:]))
    assert hypothesis_text(tree, 0) == snapshot
