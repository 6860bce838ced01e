"""Analyser of sentence pairs: rows equal those of each pair alone, in any batch; scores, gold links, skipped lines."""

import numpy as np
import pytest

from attnviz.analysis import load_weights
from attnviz.analysis.findings import finding_sentence, findings_of
from attnviz.analysis.measures import coverage, entropy, error_rate, links
from attnviz.analysis.posterior import posterior_words
from attnviz.corpora import SCHEMA, Line, Settings
from attnviz.corpora.analyser import Analyser
from attnviz.errors import AttnvizError
from attnviz.evaluation.alignment import GoldAlignment
from attnviz.evaluation.bleu import sentence_bleu, sentence_chrf
from tests.conftest import SENTENCES

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
LINES = [Line(number, *pair) for number, pair in enumerate([*PAIRS, ("Une fille", "é 日本 fille")], 1)]


def test_rows_match_the_traces_of_their_pairs(translator, model_folder) -> None:
    table, skipped = Analyser(translator, Settings(threshold=0.2))(LINES)
    weights = load_weights(model_folder)
    assert table.schema.equals(SCHEMA)
    assert not skipped
    for line, row in zip(LINES, table.to_pylist(), strict=True):
        trace = translator.translate(line.source, target=line.target)
        words = trace.words()
        count = len(words.target) - 1
        assert (row["number"], row["source"], row["target"]) == (line.number, line.source, line.target)
        assert row["search"] == "forced"
        assert (*row["source_words"], "</s>") == words.source
        assert (*row["target_words"], "</s>") == words.target
        expected = {
            "log_probability_per_word": trace.log_probabilities.sum() / count,
            "perplexity": np.exp(-trace.log_probabilities.mean()),
            "entropy": entropy(trace.alignment).mean(),
            "largest_weight": trace.alignment.max(1).mean(),
            "end_share": words.alignment[:-1, -1].mean(),
            "length_ratio": count / (len(words.source) - 1),
            "coverage": coverage(words.alignment)[:-1],
        }
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-4, abs=1e-5), name
        assert row["remarks"] == [
            {"kind": one.kind.value, "strong": one.strong, "remark": finding_sentence(trace, one)}
            for one in findings_of(trace)
        ]
        after = posterior_words(trace, weights)
        for name, shares in (("links_before", words.alignment), ("links_after", after.alignment)):
            link_weights = {(link["i"], link["j"]): link["weight"] for link in row[name]}
            large = {(i, j) for j, i in [*links(shares[:-1]), *links(shares[:-1], 0.2)] if j < len(words.source) - 1}
            near = {(i, j) for i, j in large ^ set(link_weights) if abs(shares[i, j] - 0.2) > 0.03}
            assert not near
            assert all(weight == pytest.approx(shares[cell], abs=0.03) for cell, weight in link_weights.items())
    last = table.to_pylist()[-1]
    assert (last["copied_words"], last["unknown_words"]) == (1, 1)
    assert last["copied_share"] == pytest.approx(1 / 3)


def test_translations_are_scored_against_their_references(translator) -> None:
    rows = Analyser(translator, Settings(translate=True, beam=2))([*LINES[:3], Line(9, SENTENCES[0])])[0].to_pylist()
    for line, row in zip(LINES, rows[:3], strict=False):
        found = translator.translate(line.source, beam=2)
        assert (row["target"], row["reference"], row["search"]) == (found.translation, line.target, "beam 2")
        assert row["chrf"] == pytest.approx(sentence_chrf(found.translation, line.target or ""), abs=1e-4)
        assert row["bleu"] == pytest.approx(sentence_bleu(found.translation, line.target or ""), abs=1e-4)
    assert rows[3]["reference"] is None
    assert rows[3]["chrf"] is None


def test_gold_links_are_mapped_to_the_words_of_the_model(translator) -> None:
    gold = GoldAlignment("1", ("It's", "here!"), ("C'est", "là", "!"), frozenset({(0, 0)}), frozenset({(1, 2)}))
    row = Analyser(translator)([Line(1, "It's here!", "C'est là !", gold)])[0].to_pylist()[0]
    names = [(row["source_words"][one["j"]], row["target_words"][one["i"]], one["sure"]) for one in row["gold"]]
    # "C'est" is two words of the model, and the "!" of "here!" is linked with the other "!".
    assert names == [("It's", "C'", False), ("It's", "est", False), ("!", "!", False)]
    # Error rate of the attention links between the gold words; without any link it would be 1.
    trace = translator.translate("It's here!", target="C'est là !")
    by_theirs = np.stack([trace.words().alignment[:2, :-1].mean(0), *trace.words().alignment[2:4, :-1]])
    merged = np.stack([by_theirs[:, 0], by_theirs[:, 1:].sum(1)], axis=1)
    assert row["aer_before"] == pytest.approx(error_rate([links(merged)], [gold]).aer)


def test_attached_punctuation_is_linked_separately(translator) -> None:
    def gold_links_of(source: str, target: str, *sure: tuple[int, int]) -> list[tuple[str, str, bool]]:
        gold = GoldAlignment("1", tuple(source.split()), tuple(target.split()), frozenset(sure), frozenset())
        row = Analyser(translator)([Line(1, source, target, gold)])[0].to_pylist()[0]
        return [(row["source_words"][one["j"]], row["target_words"][one["i"]], one["sure"]) for one in row["gold"]]

    assert gold_links_of("A station?", "La gare ?", (1, 1)) == [("station", "gare", True), ("?", "?", False)]
    assert gold_links_of("A station ?", "La gare ?", (1, 1)) == [("station", "gare", True)]
    assert gold_links_of("A station?", "La gare ?", (1, 1), (1, 2)) == [("station", "gare", True), ("?", "?", True)]
    assert gold_links_of("station.", "gare.", (0, 0)) == [("station", "gare", True), (".", ".", True)]
    assert gold_links_of("station.", "gare !", (0, 1)) == [(".", "!", True)]
    assert gold_links_of("station", "gare !", (0, 1)) == [("station", "!", True)]
    assert gold_links_of("A station.", "La gare.", (1, 0)) == [("station", "La", True), (".", ".", False)]
    assert gold_links_of("A station.", "La gare!", (1, 0)) == [("station", "La", True)]


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"kind": "erased"}, {"threshold": 0}, {"batch_size": 0}])
def test_invalid_settings_are_refused(translator, wrong: dict) -> None:
    with pytest.raises(AttnvizError):
        Analyser(translator, Settings(**wrong))
