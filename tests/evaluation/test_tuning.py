"""Tuning of beam width and length penalty: rescoring equals a search with that penalty."""

from __future__ import annotations

import pytest

from attnviz.evaluation.bleu import corpus_scores
from attnviz.evaluation.compared_models import best_trial, tune
from attnviz.translator import Translator
from tests.conftest import SENTENCES

SOURCES, REFERENCES = SENTENCES[::2], SENTENCES[1::2]


def test_rescoring_equals_searching(translator: Translator) -> None:
    corpora = {"a": list(zip(SOURCES, REFERENCES, strict=True)), "b": [(SOURCES[0], REFERENCES[1])]}
    trials = tune(translator, corpora, (1, 3), (0.0, 0.7, 1.4))
    assert [(trial.beam, trial.length_penalty) for trial in trials] == [
        (1, 0.0),
        (1, 0.7),
        (1, 1.4),
        (3, 0.0),
        (3, 0.7),
        (3, 1.4),
    ]
    for trial in trials:
        options = {"beam": trial.beam, "length_penalty": trial.length_penalty}
        found = translator.translate_batch(SOURCES, **options)
        assert trial.by_file["a"] == pytest.approx(corpus_scores(found, REFERENCES)[0].value)
        assert trial.bleu == pytest.approx((trial.by_file["a"] + trial.by_file["b"]) / 2)
    best = best_trial(trials)
    assert best.bleu == max(trial.bleu for trial in trials)
    assert best.beam == min(trial.beam for trial in trials if trial.bleu == best.bleu)
