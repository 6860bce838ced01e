"""BLEU, chrF and perplexity of a corpus, by length and by search: by hand and in NumPy; and their tables."""

import math
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from attnviz import Translator
from attnviz.evaluation.bleu import (
    BUCKETS,
    bleu_of,
    bucket,
    corpus_scores,
    interval,
    resampled_bleu,
    scores_by_length,
    sentence_counts,
)
from attnviz.evaluation.compared_models import best_trial, tune
from attnviz.evaluation.forced import Likelihood, force_pairs, likelihoods, total_likelihood
from attnviz.evaluation.measurement_tables import command_line, table_number
from attnviz.text import EOS
from tests.conftest import SENTENCES
from tests.whole_recomputation import recompute


@pytest.mark.parametrize(("translations", "references"), [([], []), (["a"], []), (["a"], ["a", "b"])])
def test_scoring_without_pairs_is_refused(translations, references, snapshot) -> None:
    with pytest.raises(ValueError, match="scored") as error:
        corpus_scores(translations, references)
    assert str(error.value) == snapshot


def test_resampling_is_paired_and_repeatable() -> None:
    """Where two systems err on some of the same sentences, their difference varies less than unpaired draws would."""
    references = [f"the cat number {number} sat on a large red mat" for number in range(40)]
    worse = [text.replace("sat on", "lay by") if place % 3 else text for place, text in enumerate(references)]
    better = [text.replace("sat on", "lay by") if place % 2 else text for place, text in enumerate(references)]
    first, second = (resampled_bleu(sentence_counts(texts, references)) for texts in (worse, better))
    np.testing.assert_array_equal(first, resampled_bleu(sentence_counts(worse, references)))
    low, high = interval(first)
    of_corpus = corpus_scores(worse, references)[0].value
    assert bleu_of(sentence_counts(worse, references).sum(axis=0)) == pytest.approx(of_corpus)
    assert low < of_corpus < high
    assert np.std(second - first) < np.hypot(np.std(first), np.std(second))


@pytest.mark.parametrize(
    ("words", "label"),
    [(1, "1-10"), (10, "1-10"), (11, "11-20"), (20, "11-20"), (21, "21-30"), (50, "41-50"), (51, ">50"), (199, ">50")],
)
def test_bucket_bounds(words, label) -> None:
    assert BUCKETS[bucket(" word" * words)] == label


def test_each_bucket_is_scored_by_itself() -> None:
    """Of 12 short sentences each model has all right; of 2 long ones, the second model misses a word in each."""
    sources = ["a b c d e"] * 12 + ["x " * 24, "x " * 26]
    references = [f"voici la phrase courte numéro {k}" for k in range(12)] + ["un deux trois quatre cinq six"] * 2
    worse = [*references[:12], *["un deux trois quatre cinq sept"] * 2]
    likely = [Likelihood(1.0, 5, 20)] * 14
    by_model = {"first": likely, "second": likely[:12] + [Likelihood(9.0, 5, 20)] * 2}
    found = scores_by_length(sources, references, {"first": references, "second": worse}, by_model)
    short_first, short_second, long_first, long_second = found
    assert [short_first["words"], long_second["words"]] == ["1-10", "21-30"]
    assert [short_first["pairs"], long_second["pairs"]] == [12, 2]
    assert [short_first["mean_words"], long_first["mean_words"]] == [5, 25]
    assert short_second["bleu"] == long_first["bleu"] == pytest.approx(100)
    expected = corpus_scores(worse[12:], references[12:])[0].value
    assert expected == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)
    assert long_second["bleu"] == pytest.approx(expected)
    assert (short_first["difference"], short_second["difference"]) == (None, 0)
    assert long_second["difference"] == pytest.approx(expected - 100)
    for score in (short_first, short_second, long_first):
        assert score["bits_per_character"] == pytest.approx(1 / math.log(2) / 20)
    assert long_second["bits_per_character"] == pytest.approx(9 / math.log(2) / 20)
    assert short_second["difference_low"] == short_second["difference_high"] == 0
    assert long_second["bleu_low"] is None, "two sentences are too few for an interval"


SOURCES, REFERENCES = SENTENCES[::2], SENTENCES[1::2]


def test_rescoring_equals_searching(translator) -> None:
    corpora = {"a": list(zip(SOURCES, REFERENCES, strict=True)), "b": [(SOURCES[0], REFERENCES[1])]}
    trials = tune(translator, corpora, (1, 3), (0.0, 0.7, 1.4))
    assert [(trial.beam, trial.length_penalty) for trial in trials] == [*product((1, 3), (0.0, 0.7, 1.4))]
    for trial in trials:
        options = {"beam": trial.beam, "length_penalty": trial.length_penalty}
        found = translator.translate_batch(SOURCES, **options)
        assert trial.by_file["a"] == pytest.approx(corpus_scores(found, REFERENCES)[0].value)
        assert trial.bleu == pytest.approx((trial.by_file["a"] + trial.by_file["b"]) / 2)
    best = best_trial(trials)
    assert best.bleu == max(trial.bleu for trial in trials)
    assert best.beam == min(trial.beam for trial in trials if trial.bleu == best.bleu)


def test_numbers_and_paths_of_tables_are_short() -> None:
    models = [Path("/somewhere/private/models/en-fr"), Path("models/a model")]
    files = [Path(f"/somewhere/private/test/file-{number}.tsv") for number in range(9)]
    command = command_line(files, models, ["--limit", "10"])
    assert "private" not in command
    assert max(map(len, command.splitlines())) <= 120
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:5] == ["python", "-m", "attnviz", "evaluate", "test/file-0.tsv"]
    assert words[-6:] == ["--model", "models/en-fr", "--model", "models/a model", "--limit", "10"]
    assert [table_number(12345.678), table_number(None)] == ["12,345.7", "–"]
    assert [table_number(-1.25, 2, signed=True), table_number(0.5, signed=True)] == ["\u22121.25", "+0.5"]


PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


def test_perplexity_equals_numpy_recomputation(make_network, tokenizer) -> None:
    network, surprises = make_network(), []
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    for source, target in PAIRS:
        source_ids, target_ids = ([*tokenizer.encode(text), EOS] for text in (source, target))
        found = recompute(weights, network.config.to_dict(), source_ids, target_ids)
        surprises += [-math.log(row[piece]) for row, piece in zip(found["distributions"], target_ids, strict=True)]
    forced = force_pairs(Translator(network, tokenizer), PAIRS)
    measured = total_likelihood(likelihoods(forced, [target for _, target in PAIRS]))
    assert measured.pieces == len(surprises)
    assert measured.perplexity == pytest.approx(math.exp(np.mean(surprises)), rel=1e-4)


def test_characters_count_normalised_text_and_sentence_end(translator) -> None:
    """The blank is one however wide, an apostrophe one however curly; the end of each sentence counts."""
    targets = ["C’est  ici !", "Non."]
    forced = force_pairs(translator, [("It's here!", targets[0]), ("No.", targets[1])])
    found = total_likelihood(likelihoods(forced, targets))
    assert found.characters == len("C'est ici !") + 1 + len("Non.") + 1
    assert found.pieces == sum(len(translator.tokenizer.encode(target)) + 1 for target in targets)
    assert found.nats == pytest.approx(-sum(pair.log_likelihood for pair in forced))
