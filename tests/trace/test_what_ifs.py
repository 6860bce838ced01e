"""What-ifs: the effect of their interventions on random networks, and saving them to files."""

import base64
import dataclasses
import itertools
import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import (
    AttnvizError,
    ExcludePosition,
    ForceWords,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    Trace,
    Translator,
)
from attnviz.text import EOS
from attnviz.trace import Search, WhatIf, WhatIfs
from attnviz.trace.interventions import Intervention
from attnviz.trace.what_ifs import (
    MOST_WHAT_IFS,
    StoredWhatIfs,
    decode_what_ifs,
    encode_what_ifs,
    replaced_by,
    translator_arguments,
    what_ifs_identity,
    whole_weights,
)
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.strategies import FEW
from tests.trace.test_interventions import rows
from tests.what_if_links import only

NUMBERS = ("alignment", "contexts", "states", "readouts", "log_probabilities", "top_probabilities")
"""`top_ids` are left out: of two pieces that are all but equally likely, either may come first."""


@pytest.fixture(scope="module", params=[("additive", "previous"), ("general", "current")], ids=lambda kind: kind[0])
def random_translator(request, make_network, tokenizer) -> Translator:
    attention, readout = request.param
    return Translator(make_network(attention, readout), tokenizer)


def made(translator: Translator, parent: Trace, change: Intervention, *, held: bool = False, beam: int = 1) -> Trace:
    how = translator_arguments(parent, change, held=held)
    width = beam if how.target is None else 1
    return translator.translate(parent.source_text, beam=width, target=how.target, interventions=how.interventions)


def assert_same(one: Trace, other: Trace, **tolerance: float) -> None:
    assert one.target_ids == other.target_ids
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), **({"atol": 1e-5} | tolerance))


@given(rows)
def test_whole_weights_are_within_one_with_the_right_sum(row) -> None:
    whole, exact = whole_weights(row), np.array(row) / sum(row) * 4000
    assert sum(whole) == 4000
    assert np.abs(np.array(whole) - exact).max() < 1
    assert whole_weights((np.array(whole) / 4000).astype(np.float32)) == whole


@settings(max_examples=FEW)
@given(sentence=st.sampled_from(SENTENCES), place=st.floats(0, 0.999), held=st.booleans(), beam=st.sampled_from([1, 3]))
def test_neutral_changes_change_nothing_and_a_frozen_context_is_that_of_every_step(
    random_translator, sentence, place, held, beam
) -> None:
    """Neutral are a temperature of 1, of a step and of all, and the weights that were there."""
    first = random_translator.translate(sentence, beam=beam)
    step = int(place * len(first.target_ids))
    assert_same(made(random_translator, first, Temperature(1.0), held=held, beam=beam), first)
    if held or beam == 1:  # after held words, the beam searches with its full width
        assert_same(made(random_translator, first, Temperature(1.0, step), held=held, beam=beam), first)
    row = ReplaceWeights(whole_weights(first.alignment[step]), step)
    set_once = made(random_translator, first, row, held=True)
    assert_same(made(random_translator, set_once, row, held=True), set_once, atol=0)
    np.testing.assert_allclose(set_once.alignment[step], first.alignment[step], atol=1 / 4000)
    away = made(random_translator, first, ExcludePosition(0, 0))
    at = min(step, len(away.target_ids) - 1)
    row = ReplaceWeights(whole_weights(away.alignment[at], 10**6), None, "step", str(at))
    frozen = made(random_translator, away, row, held=held)
    np.testing.assert_allclose(frozen.contexts, np.broadcast_to(away.contexts[at], frozen.contexts.shape), atol=1e-5)
    assert not held or frozen.target_ids == away.target_ids


def test_held_words_stay_and_others_are_translated_again(random_translator) -> None:
    first = random_translator.translate(SENTENCES[0], beam=1)
    held = made(random_translator, first, Temperature(20.0), held=True)
    assert held.target_ids == first.target_ids
    assert (held.alignment != first.alignment).any()
    step = 2
    foil = int(first.top_ids[step][first.top_ids[step] > EOS][-1])
    word = made(random_translator, first, ForceWords((foil,), step))
    assert word.target_ids[: step + 1] == (*first.target_ids[:step], foil)
    replaced = made(random_translator, first, ForceWords((foil, foil), step), held=True)
    assert replaced.target_ids == (*first.target_ids[:step], foil, foil, *first.target_ids[step + 1 :])
    ended = made(random_translator, first, ForceWords((EOS,), step), held=True)
    assert ended.target_ids == (*first.target_ids[:step], EOS)


def test_change_of_a_change_keeps_earlier_and_drops_later_ones(translator) -> None:
    first = translator.translate(SENTENCES[2], beam=1)
    late = made(translator, first, only(len(first.source_ids), 3, 1), held=True)
    early = made(translator, late, only(len(first.source_ids), 1, 0), held=True)
    assert early.alignment[3, 1] == 1  # held: all earlier changes stay
    anew = made(translator, late, only(len(first.source_ids), 1, 0))
    assert [one.step for one in anew.interventions if hasattr(one, "weights")] == [1]
    other = made(translator, late, only(len(first.source_ids), 3, 2))
    assert other.alignment[3, 2] == 1  # the weights set last replace those set before
    hot = made(translator, made(translator, first, Temperature(3.0), held=True), Temperature(1.0), held=True)
    assert_same(hot, first)
    longer = made(translator, late, ForceWords((9, 9), 0), held=True)
    assert longer.alignment[4, 1] == 1  # a change to a word moves with the word


def test_hypotheses_are_force_decoded_and_impossible_changes_refused(translator) -> None:
    first = translator.translate(SENTENCES[0], beam=4)
    other = made(translator, first, ForceWords((7, 8, 9, EOS), replaced=len(first.target_ids)), held=True)
    assert other.target_ids == (7, 8, 9, EOS)
    assert other.search.method == "forced"
    first, beyond = translator.translate(SENTENCES[0], beam=1), len(translator.tokenizer)
    steps, pieces = first.alignment.shape
    changes = [Temperature(2.0, steps), ExcludePosition(pieces, 0), ReplaceWeights((1,), 0), ReplaceEnergies((1,), 0)]
    changes += [ForceWords((9,), steps), ForceWords((beyond,), 0), ForceWords((EOS, 9), 0)]
    for change, held in itertools.product(changes, (True, False)):
        if (change, held) != (changes[-1], True):  # held words after the end are dropped
            with pytest.raises(AttnvizError, match=r"\.$"):
                pytest.fail(f"{change}: {made(translator, first, change, held=held)}")
    first = translator.translate(SENTENCES[0], beam=1)
    for group in first.words().target_groups:
        assert [replaced_by(first, step) for step in group] == list(range(len(group), 0, -1))


def nested_what_ifs(translator: Translator) -> WhatIfs:
    first = translator.translate(SENTENCES[4], beam=3)
    row = ReplaceWeights(whole_weights(np.arange(len(first.source_ids))), 1)
    one = made(translator, first, row)
    other = made(translator, one, ExcludePosition(2, 0), held=True)
    what_ifs = (WhatIf(0, row), WhatIf(1, ExcludePosition(2, 0), held=True))
    return WhatIfs(first, what_ifs, (one, other))


def test_what_ifs_file_round_trip_is_exact_and_opens_as_trace(translator, tmp_path) -> None:
    what_ifs, path = nested_what_ifs(translator), tmp_path / "all.json"
    what_ifs.save(path)
    again = WhatIfs.load(path)
    assert again.what_ifs == what_ifs.what_ifs
    assert [again.trace(k).fingerprint for k in range(3)] == [what_ifs.trace(k).fingerprint for k in range(3)]
    assert again.parent(2).fingerprint == what_ifs.traces[0].fingerprint
    assert again.parent(0) is None
    for number in (1, 2):
        change, held = again.what_ifs[number - 1].intervention, again.what_ifs[number - 1].held
        anew = made(translator, again.parent(number), change, held=held, beam=1)
        assert anew.fingerprint == again.trace(number).fingerprint
    assert Trace.load(path).fingerprint == what_ifs.first.fingerprint
    what_ifs.first.save(path)
    alone = WhatIfs.load(path)
    assert (alone.first.fingerprint, alone.what_ifs, alone.traces) == (what_ifs.first.fingerprint, (), ())


def test_identity_is_of_what_is_asked_and_written() -> None:
    first = synthetic.trace()
    assert what_ifs_identity(synthetic.trace(seed=1)) == what_ifs_identity(first), "not of computed numbers"
    others: dict[str, Any] = dict.fromkeys(("model", "weights_digest", "device", "source_text"), "other")
    others |= {"search": Search("forced"), "target_ids": (9, EOS), "interventions": (Temperature(2.0),)}
    changed = [dataclasses.replace(first, **{name: other}) for name, other in others.items()]
    assert len({*map(what_ifs_identity, (first, *changed))}) == 1 + len(others)


BY_HAND = (ReplaceWeights((1, 2, 3), 0), ReplaceWeights((3, 1, 2), 0), ReplaceWeights((1, 2, 3), 1))
CHANGES = (
    *BY_HAND,
    ReplaceWeights((0, 1, 0), 0),
    ReplaceWeights((1, 1, 1), 0),
    ReplaceWeights((1, 2, 3), 0, "model", "m"),
    Temperature(2.0),
    Temperature(3.0),
    Temperature(2.0, 1),
    ExcludePosition(1),
)


@dataclass(eq=False)
class Node:
    parent: "Node | None"
    change: Intervention
    held: bool


class Tree:
    """A reference for `StoredWhatIfs`, with nodes that point to their parents instead of numbers that move."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.shown: Node | None = None

    def number(self, node: Node | None) -> int:
        return 0 if node is None else self.nodes.index(node) + 1

    def is_leaf(self, node: Node) -> bool:
        return all(other.parent is not node for other in self.nodes)

    def sets_again(self, change: Intervention, held: bool) -> bool:
        last = self.shown
        pair = (last.change, change)
        same = last.change.step == change.step and last.held == held and self.is_leaf(last)
        return same and (all(one in BY_HAND for one in pair) or all(isinstance(one, Temperature) for one in pair))

    def adding(self, parent: int, change: Intervention, held: bool) -> None:
        equal = [one for one in self.nodes if (self.number(one.parent), one.change, one.held) == (parent, change, held)]
        if equal:
            self.shown = equal[0]
        elif self.shown is not None and parent == self.number(self.shown) and self.sets_again(change, held):
            self.shown.change = change
        elif len(self.nodes) == MOST_WHAT_IFS:
            raise AttnvizError("full")
        elif parent <= len(self.nodes):
            self.nodes.append(Node([None, *self.nodes][parent], change, held))
            self.shown = self.nodes[-1]

    def showing(self, number: int) -> None:
        if 0 <= number <= len(self.nodes):
            self.shown = [None, *self.nodes][number]

    def removing(self, number: int) -> None:
        if 1 <= number <= len(self.nodes):
            removed = [self.nodes[number - 1]]
            for node in self.nodes:  # parents come first
                removed += [node] * (node.parent in removed)
            while self.shown in removed:
                self.shown = self.shown.parent
            self.nodes = [node for node in self.nodes if node not in removed]

    def undoing(self) -> None:
        if self.shown is not None and self.is_leaf(self.shown):
            self.removing(self.number(self.shown))
        elif self.shown is not None:
            self.shown = self.shown.parent


adding = st.tuples(st.just("adding"), st.none() | st.integers(0, 13), st.sampled_from(CHANGES), st.booleans())
others = st.tuples(st.sampled_from(["showing", "removing"]), st.integers(-1, 3) | st.integers(-1, 14)) | st.just(
    ("undoing",)
)


def compare_with_reference(actions: Iterable[tuple[Any, ...]]) -> None:
    stored, tree = StoredWhatIfs(), Tree()
    for name, *arguments in actions:
        if arguments[:1] == [None]:
            arguments[0] = tree.number(tree.shown)
        try:
            getattr(tree, name)(*arguments)
        except AttnvizError:
            with pytest.raises(AttnvizError):
                stored.adding(WhatIf(*arguments))
            continue
        stored = stored.adding(WhatIf(*arguments)) if name == "adding" else getattr(stored, name)(*arguments)
        expected = tuple(WhatIf(tree.number(one.parent), one.change, one.held) for one in tree.nodes)
        assert (stored.what_ifs, stored.current) == (expected, tree.number(tree.shown))


@settings(max_examples=150)
@given(st.lists(adding | adding | adding | others, max_size=40))
def test_stored_what_ifs_are_a_tree(actions) -> None:
    compare_with_reference(actions)


def test_each_change_replaces_the_one_before_or_derives_from_it() -> None:
    changes = list(itertools.product(CHANGES, (False, True)))
    for first, second in itertools.product(changes, repeat=2):
        compare_with_reference([("adding", None, *first), ("adding", None, *second)])


LINKED = (
    WhatIf(0, ReplaceWeights((10, 11, 12), 4, "model", "small-additive"), held=True),
    WhatIf(1, ReplaceWeights((0, 0, 1, 1), 2, "step", "1"), held=True),
    WhatIf(1, Temperature(math.inf, 3), held=True),
    WhatIf(0, ForceWords((10, 20, 3), 2, 2)),
    WhatIf(0, ExcludePosition(1, 2)),
    WhatIf(2, Temperature(2.5)),
    WhatIf(0, ReplaceWeights((0, 0, 0, 0, 1, 0, 1, 0, 1, 10, 12, 13), 3)),
)
LINK = "i8ZiGeVJ1gR_kk1MSQGGZFkqVZPugCZeeF6lXirWMaZfOkY102iIpWNgoMcCAA"


def test_earlier_links_are_read_and_what_cannot_be_used_is_left_out(snapshot) -> None:
    assert decode_what_ifs(LINK) == (LINKED, ())
    assert len(encode_what_ifs(LINKED)) <= len(LINK)

    def link(records: object) -> str:
        packer = zlib.compressobj(9, wbits=-15)
        packed = packer.compress(json.dumps(records).encode()) + packer.flush()
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    change = Temperature(2.0)
    one, child, grandchild, other = (WhatIf(parent, change).to_json_dict() for parent in (0, 2, 3, 1))
    assert decode_what_ifs(link([one, {}, child, grandchild, other])) == (
        (WhatIf(0, change), WhatIf(1, change)),
        snapshot,
    )
    for count in (12, 13, 14):
        found, problems = decode_what_ifs(link([one] * count))
        assert (len(found), len(problems)) == (12, int(count > 12))
    for bits in ({"parent": -1}, {"parent": True}, {"held": 0}, {"more": 1}):
        assert decode_what_ifs(link([one | bits]))[0] == ()
    assert decode_what_ifs(link([one])[:-2])[0] == decode_what_ifs(link([one]) + "AAAA")[0] == ()


@pytest.mark.parametrize(
    ("method", "words", "forced"),
    [
        ("beam", (), ()),
        ("forced", (), (0, 1, 2)),
        ("beam", (ForceWords((9,), 1),), (1,)),
        ("beam", (ForceWords((9,), 1, kept=True),), ()),
    ],
)
def test_words_before_a_change_stay_as_they_were_forced_or_kept(method, words, forced) -> None:
    parent = dataclasses.replace(synthetic.trace(), search=Search(method), interventions=words)
    how = translator_arguments(parent, Temperature(2.0, 3), held=False)
    kept = [one for one in how.interventions if isinstance(one, ForceWords)]
    assert [(one.pieces, one.step, one.kept) for one in kept] == [
        ((parent.target_ids[step],), step, step not in forced) for step in range(3)
    ]
