"""Sentences about a beam search: why the winner won, and what happened to the other hypotheses."""

import dataclasses

import pytest

from attnviz.analysis.beam_sentences import (
    fate_label,
    fate_sentence,
    hypothesis_text,
    position_sentence,
    score_computation,
    search_sentence,
    winner_sentence,
)
from attnviz.analysis.numbers import NO_BREAK, decimal
from attnviz.text import EOS
from attnviz.trace import BeamTree
from tests.figures.trees import ASSIS, CHAT, NOIR, small


def beginning_with(tree: BeamTree, **changes: object) -> BeamTree:
    """Return the tree with another first node."""
    return dataclasses.replace(tree, nodes=(dataclasses.replace(tree.nodes[0], **changes), *tree.nodes[1:]))


@pytest.mark.usefixtures("each_language")
def test_sentences_about_a_search(snapshot) -> None:
    tree = small()
    by_likelihood = small(length_penalty=0.0)
    assert by_likelihood.text(by_likelihood.winner) == "le"
    assert position_sentence(tree, tree.ids(tree.winner)) == ""
    line = tuple(
        dataclasses.replace(tree.nodes[k], parent=place - 1 if place else None, rank=0)
        for place, k in enumerate((0, 3, 7, 10))
    )
    empty = beginning_with(tree, piece="</s>", piece_id=EOS, fate="finished", total=-9.0)
    others = {"shorter": (8, EOS), "pruned": (8, CHAT, ASSIS, EOS), "overtaken": (9, NOIR, EOS), "unknown": (77, EOS)}
    sentences = {
        "winner": winner_sentence(tree),
        "winner by likelihood": winner_sentence(by_likelihood),
        "winner with a fractional penalty": winner_sentence(small(length_penalty=0.5)),
        "winner without a foil": winner_sentence(dataclasses.replace(tree, nodes=line, beam=1)),
        "dropped hypotheses": search_sentence(tree),
        "an empty translation": hypothesis_text(empty, 0),
        **{f"fate, {fate_label(tree, index)}": fate_sentence(tree, index) for index in (0, 1, 2, 4, 10, 11)},
        **{f"position, {name}": position_sentence(tree, ids) for name, ids in others.items()},
        "position, never finished": position_sentence(tree, tree.ids(12)),
    }
    assert {name: sentence.replace(NO_BREAK, " ") for name, sentence in sentences.items()} == snapshot


@pytest.mark.usefixtures("each_language")
def test_scores_are_written_out() -> None:
    for penalty, expected in (
        (1.0, f"{decimal(-3.0)} / 4 = {decimal(-0.75, 3)}"),
        (0.5, f"{decimal(-2.0)} / 2^{decimal(0.5, 1)} = {decimal(-1.414, 3)}"),
    ):
        tree = small(length_penalty=penalty)
        computed = score_computation(tree, tree.finished[0])
        assert " " not in computed, "it stays on one line"
        assert computed.replace(NO_BREAK, " ") == expected


def test_long_hypothesis_is_shortened_to_where_it_differs() -> None:
    tree = beginning_with(small(), piece="\u2581" + "\u2581".join(f"mot{k}" for k in range(20)))
    assert hypothesis_text(tree, 10).startswith("“mot0 mot1")
    assert hypothesis_text(tree, 10).endswith("…”")
    assert hypothesis_text(tree, 11, other=10) == "“… mot18 mot19 assis noir assis”"
    assert hypothesis_text(tree, 2, other=10) == "“chat”"
