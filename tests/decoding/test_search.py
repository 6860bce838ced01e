"""Greedy search, beam search and forced decoding are consistent with one another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding import force
from attnviz.network import products
from attnviz.network.model_config import READOUT_STATES
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import EOS, Tokenizer
from attnviz.trace import Trace
from attnviz.translator import Translator
from tests.browser.server import REPOSITORY
from tests.conftest import SENTENCES, ModelFactory

every_kind = pytest.mark.parametrize(
    ("attention", "readout_state"), list(itertools.product(ATTENTION_KINDS, READOUT_STATES))
)


@pytest.fixture
def kind(make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str) -> Translator:
    return Translator(make_network(attention, readout_state), tokenizer)


@every_kind
def test_forced_decoding_reproduces_numbers_of_search(kind: Translator) -> None:
    decoder = StepDecoder(kind.network)
    for sentence in SENTENCES[:4]:
        trace = kind.translate(sentence, beam=3)
        lengths = torch.tensor([len(trace.source_ids)])
        memory = decoder.memory(kind.network.encoder(torch.tensor([trace.source_ids]), lengths), lengths)
        steps = force(decoder, memory, [trace.target_ids])
        for name, array in (("alignment", trace.alignment), ("energies", trace.energies), ("state", trace.states)):
            found = np.stack([getattr(step, name)[0, 0].numpy() for step in steps])
            np.testing.assert_allclose(found, array, atol=1e-5)


def test_given_target_is_force_decoded(translator: Translator) -> None:
    trace = translator.translate(SENTENCES[0], target="  Une fille\nfait du  vélo. ")
    assert trace.search.method == "forced"
    given = "Une fille fait du vélo."
    assert trace.translation == given
    assert trace.target_ids == (*translator.tokenizer.encode(given), EOS)
    assert trace.score == pytest.approx(float(trace.log_probabilities.sum()), rel=1e-5)


@every_kind
def test_batched_translations_equal_single_ones(kind: Translator) -> None:
    """Of few sentences and of many, which are computed in another way."""
    some = SENTENCES[::2]
    for beam in (1, 3):
        alone = [kind.translate(sentence, beam=beam).translation for sentence in some]
        for times in (1, 4):
            assert kind.translate_batch(times * some, beam=beam) == times * alone


def test_beam_wider_than_vocabulary(make_network: ModelFactory) -> None:
    tokenizer = Tokenizer.train(SENTENCES, 70)
    translator = Translator(make_network(vocabulary_size=len(tokenizer)), tokenizer)
    trace = translator.translate("A red bicycle.", beam=100)
    assert np.isfinite(trace.score)
    assert len({hypothesis.score for hypothesis in trace.hypotheses}) > 1


def test_numbers_of_a_word_do_not_depend_on_the_sentences_before(make_network: ModelFactory) -> None:
    network, ids = make_network().requires_grad_(False), torch.tensor([[5, 9, 5], [30, 11, 9]])
    together, alone = StepDecoder(network), StepDecoder(network)
    by_one = torch.stack([torch.stack([alone.words(one[None])[0] for one in row]) for row in ids])
    assert torch.equal(together.words(ids), by_one)
    assert torch.equal(together.words(ids), by_one)
    torch.testing.assert_close(together.words(ids), together.words_of(ids))


@pytest.mark.parametrize("model", ["small-additive", "small-dot", "small-fixed"])
def test_float16_copies_of_weights_change_no_translation(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = REPOSITORY / "models" / model
    monkeypatch.setattr(products, "_LARGE", 0)
    with_copies = Translator[Trace].load(folder)
    monkeypatch.setattr(products, "_half_layout", lambda *_: None)
    without = Translator[Trace].load(folder)
    for sentence, beam in itertools.product(("A girl is riding a red bicycle.", "Where is the station?"), (1, 5)):
        first, second = (one.translate(sentence, beam=beam) for one in (with_copies, without))
        assert [one.translation for one in first.hypotheses] == [one.translation for one in second.hypotheses]
        for quantity in first.arrays:
            name = quantity.name
            np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=2e-5, err_msg=name)
