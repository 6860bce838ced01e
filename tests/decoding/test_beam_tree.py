"""The recorded tree of a beam search: its hypotheses, numbers and reasons for dropping nodes match the search."""

import functools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Temperature, Trace, Translator
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding import force, longest_target
from attnviz.network import TransformerConfig
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import EOS
from attnviz.trace import BeamTree
from tests.analysis.given import drawn_interventions
from tests.conftest import SENTENCES
from tests.snapshots import refusal
from tests.strategies import FEW
from tests.transformers import random_transformer

WIDTHS = st.integers(1, 7)
PENALTIES = st.sampled_from([0.0, 0.5, 1.0, 1.4])


@settings(max_examples=FEW)
@given(data=st.data())
def test_tree_matches_search_on_random_networks(make_network, tokenizer, data) -> None:
    """On random networks: the hypotheses of `translate`, the numbers of forced decoding, the rules of the search."""
    kind, readout = data.draw(st.sampled_from(ATTENTION_KINDS)), data.draw(st.sampled_from(READOUT_STATES))
    size = 2 * data.draw(st.integers(3, 6))  # another size, other weights; even, for Luong's dot
    translator = Translator(make_network(kind, readout, hidden_size=size), tokenizer)
    text, beam, penalty = data.draw(st.sampled_from(SENTENCES)), data.draw(WIDTHS), data.draw(PENALTIES)
    pieces = len(tokenizer.encode(text)) + 1
    acting = data.draw(drawn_interventions(pieces, len(tokenizer), attends=kind != "none"))
    tree = translator.beam_tree(text, beam=beam, length_penalty=penalty, interventions=acting)
    trace = translator.translate(text, beam=beam, length_penalty=penalty, interventions=acting)
    _assert_same_translation(translator, tree, trace)
    _assert_rules(tree, longest_target(pieces))
    _assert_numbers(translator, tree, data.draw(st.sets(st.integers(0, tree.steps - 1), min_size=1, max_size=4)))


def _assert_same_translation(translator: Translator, tree: BeamTree, trace: Trace) -> None:
    assert tree.ids(tree.winner) == trace.target_ids
    assert tree.text(tree.winner) == trace.translation
    assert [one.translation for one in tree.hypotheses] == [one.translation for one in trace.hypotheses]
    np.testing.assert_allclose(
        [one.score for one in tree.hypotheses], [one.score for one in trace.hypotheses], rtol=1e-5
    )
    if tree.beam > 1:  # greedy search has a way of its own
        assert tree.hypotheses == trace.hypotheses
    for index, hypothesis in zip(tree.finished, tree.hypotheses, strict=True):
        assert tree.score(index) == hypothesis.score
        assert translator.tokenizer.decode(tree.ids(index)) == hypothesis.translation


def _assert_rules(tree: BeamTree, limit: int) -> None:
    """Assert that every fate, and the step that drops a node, follow from the recorded ranks and totals."""
    by_step: list[list[int]] = [[] for _ in range(tree.steps)]
    for index, node in enumerate(tree.nodes):
        by_step[node.step].append(index)
    ended = 0
    for step, indices in enumerate(by_step):
        nodes = [tree.nodes[index] for index in indices]
        assert [node.rank for node in nodes] == list(range(len(nodes)))
        assert all(one.total >= other.total for one, other in pairwise(nodes))
        assert len(nodes) <= max(2 * tree.beam, 1)
        last = step == tree.steps - 1
        lived = 0
        for index, node in zip(indices, nodes, strict=True):
            if node.piece_id != EOS and lived < tree.beam:
                lived += 1
                went_on = [tree.nodes[child] for child in tree.children[index]]
                alive = any(child.fate not in ("outside", "late") for child in went_on)
                assert node.fate == ("pruned" if last else "continued" if alive else "overtaken")
            elif node.piece_id == EOS and node.rank < tree.beam and ended < tree.beam:
                ended += 1
                assert node.fate == "finished"
            elif node.piece_id == EOS and node.rank < tree.beam:
                assert node.fate == "late"
            else:
                assert node.fate == "outside"
        assert lived or last
    assert ended == tree.beam or all(tree.nodes[index].piece_id == EOS for index in by_step[-1])
    assert tree.steps <= limit
    assert len(tree.finished) == ended == len(tree.hypotheses)
    later = {"continued": None, "overtaken": 1, "outside": 0, "pruned": 0, "late": 0}
    for index, node in enumerate(tree.nodes):
        after = later.get(node.fate, None if index == tree.winner else tree.steps - 1 - node.step)
        assert tree.dropped_at(index) == (None if after is None else node.step + after)
        assert tree.find(tree.ids(index)) == index
    assert tree.find((*tree.ids(tree.winner), EOS)) is tree.find(()) is None
    assert tree.nodes[tree.likeliest].total == max(tree.nodes[index].total for index in tree.finished)


def _assert_numbers(translator: Translator, tree: BeamTree, at: set[int]) -> None:
    """Assert that the numbers of these steps are those of forced decoding."""
    decoder, ids = translator._decoder, [*translator.tokenizer.encode(tree.source_text), EOS]
    memory = translator._memory([ids])
    for index, node in enumerate(tree.nodes):
        if node.step not in at:
            continue
        before, path = (0.0, ()) if node.parent is None else (tree.nodes[node.parent].total, tree.path(node.parent))
        steps = force(decoder, memory, [(*tree.ids(index)[:-1], EOS)], tree.interventions)
        likely = decoder.output.log_probabilities(steps[-1].readout[:, 0])[0]
        assert node.log_probability == pytest.approx(float(likely[node.piece_id]), abs=1e-4)
        assert node.total == pytest.approx(before + node.log_probability, abs=1e-4)
        assert tree.path(index)[:-1] == path


def test_tree_of_transformer_search(tokenizer, snapshot) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 6)
    network.output.bias[EOS] += 4
    translator = Translator(network, tokenizer, "small")
    for sentence in SENTENCES[:4]:
        tree, trace = translator.beam_tree(sentence, beam=4), translator.translate(sentence, beam=4)
        assert tree.hypotheses == trace.hypotheses
        _assert_rules(tree, 10**6)
        assert refusal(functools.partial(translator.beam_tree, sentence, interventions=[Temperature(2.0)])) == snapshot


def test_forced_path_continues_search_from_dropped_node(translator) -> None:
    tree = translator.beam_tree(SENTENCES[0], beam=4)
    for index, node in enumerate(tree.nodes):
        if node.fate in ("outside", "overtaken", "pruned") and node.piece_id != EOS:
            ids = tree.ids(index)
            trace = translator.translate(SENTENCES[0], beam=4, interventions=tree.forced_path(index))
            assert trace.target_ids[: len(ids)] == ids
            break
    else:
        pytest.fail("nothing was dropped")
