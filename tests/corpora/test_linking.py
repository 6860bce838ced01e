"""Batched linking of pairs: same words, attention and posterior as for each pair alone."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import AttnvizError, Translator
from attnviz.analysis import load_weights
from attnviz.analysis.gold import pharaoh
from attnviz.analysis.posterior import posterior_words
from attnviz.corpora.linking import PairLinker
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "models" / "small-additive"
PAIRS = [
    ("Two dogs play in the snow.", "Deux chiens jouent dans la neige."),
    ("A red bicycle.", "Un vélo rouge."),
    ("The agreement on the European Economic Area was signed.", "L'accord sur l'espace économique a été signé."),
    ("£ 5 for a 東 sign", "5 £ pour un 東 signe"),
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(FOLDER, "cpu", "fp32")


@pytest.mark.parametrize("after", [True, False])
def test_batched_links_match_those_of_single_pairs(translator: Translator, after: bool) -> None:
    linker, weights = PairLinker(translator, after=after), load_weights(FOLDER)
    found = linker(PAIRS, [linker.encode(*pair) for pair in PAIRS])
    for words, (source, target) in zip(found, PAIRS, strict=True):
        trace = translator.translate(source, target=target)
        expected = posterior_words(trace, weights) if after else trace.words()
        assert words.source == expected.source
        assert (words.source_groups, words.target_groups) == (expected.source_groups, expected.target_groups)
        # Small weights of the posterior are estimated.
        np.testing.assert_allclose(words.alignment, expected.alignment, atol=0.02 if after else 1e-5)
        assert pharaoh(words) == pharaoh(expected)


def test_words_with_unknown_characters_keep_their_spelling(translator: Translator) -> None:
    trace = translator.translate("£ 5 for a 東 sign", target="5 £ pour un 東京 signe")
    words = trace.words()
    assert words.source == ("£", "5", "for", "a", "東", "sign", "</s>")
    assert words.target == ("5", "£", "pour", "un", "東京", "signe", "</s>")
    assert "<unk>" in trace.target_pieces
    assert set(trace.unknown_target_characters) <= {"£", "東京"}
    assert "東京" in trace.unknown_target_characters
    assert not translator.translate("A dog.", target="Un chien.").unknown_target_characters


def test_empty_batches_are_accepted_and_blank_sentences_refused(translator: Translator) -> None:
    linker = PairLinker(translator, after=True)
    assert linker([], []) == []
    with pytest.raises(AttnvizError):
        linker.encode("A dog.", " ")
