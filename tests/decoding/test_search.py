"""Translations of batches equal single ones, and what makes a search fast changes none of its numbers."""

import itertools

import numpy as np
import pytest
import torch

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network import TransformerConfig, products
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import EOS, Tokenizer
from attnviz.trace import Trace
from attnviz.translator import Translator
from tests.conftest import REPOSITORY, SENTENCES
from tests.transformers import random_transformer


@pytest.mark.parametrize("kind", [*ATTENTION_KINDS, "transformer"])
def test_batched_translations_equal_single_ones(make_network, tokenizer, kind: str) -> None:
    """Of few sentences and of many, which are computed in another way."""
    if kind == "transformer":
        network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 6)
        network.output.bias[EOS] += 4
    else:
        network = make_network(kind)
    translator, some = Translator(network, tokenizer), SENTENCES[::2]
    for beam in (1, 3):
        alone = [translator.translate(sentence, beam=beam) for sentence in some]
        for times in (1, 4):
            assert translator.translate_batch(times * some, beam=beam) == times * [one.translation for one in alone]
        scores = [found[0].score for found in translator.search_batch(some, beam=beam)]
        assert [trace.score for trace in alone] == pytest.approx(scores, abs=1e-4)


def test_beam_wider_than_vocabulary(make_network) -> None:
    tokenizer = Tokenizer.train(SENTENCES, 70)
    translator = Translator(make_network(vocabulary_size=len(tokenizer)), tokenizer)
    trace = translator.translate("A red bicycle.", beam=100)
    assert np.isfinite(trace.score)
    assert len({hypothesis.score for hypothesis in trace.hypotheses}) > 1


def test_numbers_of_a_word_do_not_depend_on_the_sentences_before(make_network) -> None:
    network, ids = make_network().requires_grad_(False), torch.tensor([[5, 9, 5], [30, 11, 9]])
    together, alone = StepDecoder(network), StepDecoder(network)
    by_one = torch.stack([torch.stack([alone.words(one[None])[0] for one in row]) for row in ids])
    for _ in range(2):
        assert torch.equal(together.words(ids), by_one)
    torch.testing.assert_close(together.words(ids), together.words_of(ids))


@pytest.mark.parametrize("model", ["small-additive", "small-dot", "small-fixed"])
def test_float16_copies_of_weights_change_no_translation(model: str, monkeypatch) -> None:
    monkeypatch.setattr(products, "_LARGE", 0)
    with_copies = Translator[Trace].load(REPOSITORY / "models" / model)
    monkeypatch.setattr(products, "_half_layout", lambda *_: None)
    without = Translator[Trace].load(REPOSITORY / "models" / model)
    for sentence, beam in itertools.product(("A girl is riding a red bicycle.", "Where is the station?"), (1, 5)):
        first, second = (one.translate(sentence, beam=beam) for one in (with_copies, without))
        assert [one.translation for one in first.hypotheses] == [one.translation for one in second.hypotheses]
        for quantity in first.arrays:
            name = quantity.name
            np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=2e-5, err_msg=name)
