"""Greedy search equals beam search of width 1, and beam search a plain one; ids and batches of sentences."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, ForceWords, Temperature, Translator
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding import (
    SearchStep,
    all_sentence_ids,
    all_target_ids,
    batches,
    check_search,
    force,
    greedy,
    largest,
    padded,
    search,
    sentence_ids,
    target_ids,
)
from attnviz.decoding.applied_interventions import check_limit
from attnviz.network import ModelConfig, RNNsearch
from attnviz.network.encoder import PreparedEncoder
from attnviz.network.model_config import READOUT_STATES
from attnviz.network.rnnsearch import Memory, StepDecoder
from attnviz.text import BOS, EOS, PAD, UNK, Tokenizer
from attnviz.trace.interventions import forced_words
from tests.conftest import SENTENCES
from tests.strategies import FEW

KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))


def random_network(kind: tuple[str, str], seed: int, ending: float) -> RNNsearch:
    """Return a network whose energies and words are far from uniform, and whose translations end after some steps."""
    network = RNNsearch(ModelConfig(60, 6, 8, 5, 7, *kind))
    generator = torch.Generator().manual_seed(seed)
    network.initialise(generator)
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(2.5)
        network.decoder.output.bias.normal_(generator=generator)
        network.decoder.output.bias[EOS] += ending
    return network.requires_grad_(False).eval()


def encoded(
    kind: tuple[str, str],
    seed: int,
    ending: float,
    lengths: list[int],
    **_: object,
) -> tuple[StepDecoder, Memory, list[int]]:
    """Return the decoder of a random network, the memory of random sentences, and their lengths."""
    network, generator = random_network(kind, seed, ending), torch.Generator().manual_seed(seed)
    ids = torch.randint(EOS + 1, 60, (len(lengths), max(lengths)), generator=generator)
    decoder, pieces = StepDecoder(network), torch.tensor(lengths)
    return decoder, decoder.memory(PreparedEncoder(network.encoder)(ids, pieces), pieces), lengths


SEARCHES: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.sampled_from(KINDS),
    "seed": st.integers(0, 2**31),
    "ending": st.sampled_from([-3.0, 2.0, 6.0]),
    "lengths": st.lists(st.integers(1, 9), min_size=1, max_size=6),
    "interventions": st.sampled_from(
        [(), (ForceWords((9,), 2),), (Temperature(0.4), ForceWords((EOS,), 3)), (ForceWords((9,), 0),)]
    ),
    "unk": st.booleans(),
}


@given(drawn=st.fixed_dictionaries(SEARCHES))
def test_greedy_search_equals_beam_of_one(drawn) -> None:
    decoder, memory, lengths = encoded(**drawn)
    interventions, unk = drawn["interventions"], drawn["unk"]
    limits = [length + 4 for length in lengths]
    try:
        plain = search(decoder, memory, limits, interventions=interventions, unk=unk)
    except AttnvizError as error:
        with pytest.raises(AttnvizError, match=str(error)):
            greedy(decoder, memory, limits, interventions=interventions, unk=unk)
        return
    history: list[SearchStep] = []
    found = greedy(decoder, memory, limits, history, interventions, unk)
    assert found == greedy(decoder, memory, limits, None, interventions, unk)
    assert found == [finished[0].ids for finished in plain]
    for sentence, (ids, finished) in enumerate(zip(found, plain, strict=True)):
        readouts = torch.cat(
            [one.step.readout[one.sentences.index(sentence)] for one in history[: len(ids)]]
        )  # only the steps of the target
        likely = decoder.output.log_probabilities(readouts)
        score = float(likely[range(len(ids)), list(ids)].sum()) / len(ids)
        assert score == pytest.approx(finished[0].score, abs=1e-5)


def plain_search(
    likely: Callable[[tuple[int, ...]], list[float]], limit: int, beam: int, words: Mapping[int, int], *, unk: bool
) -> dict[tuple[int, ...], float]:
    """Return the finished hypotheses with their log probabilities, one prefix after another.

    `likely` returns the log probabilities of the pieces after a prefix.
    """
    prefixes, finished = {(): 0.0}, dict[tuple[int, ...], float]()
    for step in range(limit):
        totals = {(*ids, k): total + number for ids, total in prefixes.items() for k, number in enumerate(likely(ids))}
        allowed = {words[step]} if step in words else {UNK, *range(EOS + (step < max(words, default=-1)), 60)}
        allowed = allowed & {EOS} if step == limit - 1 else allowed - {UNK} | ({UNK} & allowed if unk else set())
        best = sorted((ids for ids in totals if ids[-1] in allowed), key=lambda ids: -totals[ids])
        for ids in best[:beam]:
            if ids[-1] == EOS and len(finished) < beam:
                finished[ids] = totals[ids]
        prefixes = {ids: totals[ids] for ids in [ids for ids in best if ids[-1] != EOS][:beam]}
        if len(finished) == beam or not prefixes:
            break
    return finished


@settings(max_examples=FEW)
@given(beam=st.integers(1, 4), penalty=st.sampled_from([0.0, 0.6, 1.0]), drawn=st.fixed_dictionaries(SEARCHES))
def test_beam_search_equals_plain_search_of_each_sentence(beam, penalty, drawn) -> None:
    decoder, memory, lengths = encoded(**drawn)
    interventions, unk = drawn["interventions"], drawn["unk"]
    limits = [length + 4 for length in lengths]
    found = search(decoder, memory, limits, beam, penalty, interventions=interventions, unk=unk)
    for sentence, limit in enumerate(limits):
        alone = memory.select([sentence])

        def likely(ids: tuple[int, ...], alone: Memory = alone) -> list[float]:
            step = force(decoder, alone, [[*ids, EOS]], interventions)[-1]
            numbers: list[float] = decoder.output.log_probabilities(step.readout[0, 0]).tolist()
            return numbers

        plain = plain_search(likely, limit, beam, forced_words(interventions), unk=unk)
        scores = {ids: total / len(ids) ** penalty for ids, total in plain.items()}
        assert [one.ids for one in found[sentence]] == sorted(scores, key=lambda ids: -scores[ids])
        assert [one.score for one in found[sentence]] == pytest.approx([scores[one.ids] for one in found[sentence]])


def test_width_length_penalty_and_forced_words_have_bounds() -> None:
    for beam, penalty in ((1, 0.0), (100, 10.0)):
        check_search(beam, penalty)
    for beam, penalty in ((0, 1.0), (101, 1.0), (1, -0.01), (1, 10.01)):
        with pytest.raises(AttnvizError):
            check_search(beam, penalty)
    for (word, pieces), step in product([(9, 2), (EOS, 1)], range(5)):  # a word with the end after it, or the end
        with nullcontext() if step + pieces <= 4 else pytest.raises(AttnvizError):
            check_limit({0: 9, step: word}, 4)


@given(columns=st.integers(1, 40), more=st.sampled_from([0, 1]), count=st.integers(1, 9), seed=st.integers(0, 99))
def test_largest_numbers_are_those_of_topk(columns, more, count, seed) -> None:
    """Also of rows that are too short, or of a length that cannot be arranged in columns."""
    scores = torch.rand(2, 16 * columns + more, generator=torch.Generator().manual_seed(seed))
    best, indices = largest(scores, count)
    assert torch.equal(best, scores.topk(count).values)
    assert torch.equal(scores.gather(1, indices), best)


def test_beam_wider_than_vocabulary_and_words_that_do_not_depend_on_others(make_network) -> None:
    tokenizer = Tokenizer.train(SENTENCES, 70)
    translator = Translator(make_network(vocabulary_size=len(tokenizer)), tokenizer)
    trace = translator.translate("A red bicycle.", beam=100)
    assert np.isfinite(trace.score)
    assert len({hypothesis.score for hypothesis in trace.hypotheses}) > 1
    network, ids = make_network().requires_grad_(False), torch.tensor([[5, 9, 5], [30, 11, 9]])
    together, alone = StepDecoder(network), StepDecoder(network)
    by_one = torch.stack([torch.stack([alone.words(one[None])[0] for one in row]) for row in ids])
    for _ in range(2):
        assert torch.equal(together.words(ids), by_one)
    torch.testing.assert_close(together.words(ids), together.words_of(ids))


LONGEST = 1200


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_every_sentence_is_in_one_batch_within_the_limit(lengths, most) -> None:
    found = batches(lengths, most)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert [lengths[place] for place in batch] == sorted((lengths[place] for place in batch), reverse=True)
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= most
    for batch, (*_, next_shortest) in pairwise(found):
        assert max(lengths[place] for place in batch) <= lengths[next_shortest]
        assert (len(batch) + 1) * lengths[next_shortest] > most, "the next sentence does not fit"


@given(st.lists(st.lists(st.integers(EOS, 99), min_size=1, max_size=9), min_size=1))
def test_shorter_rows_of_a_batch_are_filled_with_padding(rows) -> None:
    found = padded(rows)
    assert [[piece for piece in row if piece != PAD] for row in found.tolist()] == rows
    assert found.shape[1] == max(map(len, rows))


@given(st.data(), st.sampled_from([[], [EOS]]))
def test_ids_are_a_translation_if_all_have_text_and_the_last_is_the_end(tokenizer, data, end) -> None:
    known, unknown = (UNK, EOS + 1, len(tokenizer) - 1), (-1, PAD, BOS, EOS, len(tokenizer))
    ids = [*data.draw(st.lists(st.sampled_from([*known * 4, *unknown]), max_size=5)), *end]
    for given_ids in (ids, np.array(ids, dtype=np.int64)):
        with nullcontext() if ids[-1:] == [EOS] and {*ids[:-1]} <= {*known} else pytest.raises(AttnvizError):
            assert target_ids(tokenizer, given_ids) == ids


def test_longest_sentence_and_translation_have_1200_pieces(tokenizer) -> None:
    text = next(text for count in range(LONGEST) if len(tokenizer.encode(text := "#a" * 500 + "b" * count)) == LONGEST)
    ids = [UNK] * LONGEST + [EOS]
    for encode, longest, longer in (
        (sentence_ids, text, text + "b"),
        (target_ids, text, text + "b"),
        (target_ids, ids, [UNK, *ids]),
    ):
        assert len(encode(tokenizer, longest)) == LONGEST + 1
        with pytest.raises(AttnvizError, match=f"{LONGEST + 1:,} .* {LONGEST:,} "):
            encode(tokenizer, longer)


@pytest.mark.parametrize("wrong", ["", "x" * 4001, 3, [3.5], None], ids=str)
def test_wrong_text_of_several_is_named_by_its_number(tokenizer, wrong) -> None:
    for given_texts in (["a b", wrong, "c"], ["a", "c", wrong]):
        number = given_texts.index(wrong) + 1
        with pytest.raises(AttnvizError, match=f"Translation {number}: "):
            all_target_ids(tokenizer, given_texts, 3)
        if isinstance(wrong, str):
            with pytest.raises(AttnvizError, match=f"Sentence {number}: "):
                all_sentence_ids(tokenizer, given_texts)
    for count, targets in ((2, ["a"]), (1, ["a", "b"]), (2, "ab"), (1, 3)):
        with pytest.raises(AttnvizError, match=f"{count}: one"):
            all_target_ids(tokenizer, targets, count)
