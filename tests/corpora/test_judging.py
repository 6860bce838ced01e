"""Judging translations: each judgement matches the traces of its own pair, and words that are left out are found."""

import numpy as np
import pytest

from attnviz.analysis import load_weights
from attnviz.analysis.posterior import posterior
from attnviz.analysis.why_attention import LEAST_PROBABILITY
from attnviz.analysis.word_classes import content_words
from attnviz.corpora.judging import judge
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TECHNOLOGY
from attnviz.translator import Translator
from tests.conftest import SENTENCES, SHIPPED_MODEL

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


def test_judgements_match_the_traces_of_their_pairs(translator, model_folder) -> None:
    weights = load_weights(model_folder)
    for (source, target), judged in zip(PAIRS, judge(translator, PAIRS), strict=True):
        trace = translator.translate(source, target=target)
        words = trace.words()
        assert judged.text == "".join(judged.words) == target
        assert "".join(judged.source_words) == source
        logs = [trace.log_probabilities[list(group)].sum(dtype=np.float64) for group in words.target_groups[:-1]]
        np.testing.assert_allclose(judged.log_probabilities, logs, atol=1e-4)
        assert judged.content == content_words(words.source[:-1])
        shares = words.merged(posterior(trace, weights))[:-1, :-1]
        probable = [np.exp(log) >= LEAST_PROBABILITY for log in logs]
        np.testing.assert_allclose(judged.shares, shares[probable].max(axis=0), atol=0.03)


@pytest.mark.nightly
def test_words_cut_from_a_persons_translation_are_left_out() -> None:
    """A person's translation of a sentence leaves out few words, and half of it the words of the other half."""
    translator = Translator.load(SHIPPED_MODEL.parent / "en-fr", "cpu")
    french = REFERENCE_TRANSLATIONS[TECHNOLOGY].french
    start = french[: french.index(", et elles")] + "."
    whole, half = judge(translator, [(TECHNOLOGY, french), (TECHNOLOGY, start)])
    assert len(whole.omitted) <= 0.1 * len(whole.content)
    later = [place for place in half.content if place > half.source_words.index(" life")]
    assert len(set(later) & set(half.omitted)) >= 0.8 * len(later)
    assert len(set(half.omitted) - set(later) - set(whole.omitted)) <= 1  # “rapports” alone is not “life”
