"""Tables, posteriors, judgements and vectors of sentence pairs, in any batch, equal those of each pair alone."""

import numpy as np
import pytest
import torch

from attnviz import AttnvizError, Translator
from attnviz.analysis import load_weights, posterior
from attnviz.analysis.findings import finding_sentence, findings_of
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import coverage, entropy, error_rate, links
from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, vectors_path
from attnviz.analysis.posterior import POSTERIOR_KINDS, PosteriorKind, posterior_of, posterior_words
from attnviz.analysis.why_attention import LEAST_PROBABILITY
from attnviz.analysis.word_classes import content_words
from attnviz.commands.main import main
from attnviz.corpora import SCHEMA, Analyser, Line, Settings
from attnviz.corpora.batch_posterior import BatchPosterior
from attnviz.corpora.judging import judge
from attnviz.corpora.vectors import vectors_of_pairs, write_vectors
from attnviz.evaluation.alignment import GoldAlignment
from attnviz.evaluation.bleu import sentence_bleu, sentence_chrf
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TECHNOLOGY
from attnviz.evaluation.forced import EncodedPair, force_decode, force_encoded
from attnviz.network import TransformerConfig
from tests.conftest import SENTENCES, SHIPPED_MODEL
from tests.transformers import random_transformer

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


def test_invalid_settings_and_posteriors_of_heads_are_refused(translator, tokenizer) -> None:
    for wrong in ({"beam": 0}, {"kind": "erased"}, {"threshold": 0}, {"batch_size": 0}):
        with pytest.raises(AttnvizError):
            pytest.fail(f"{wrong}: {Analyser(translator, Settings(**wrong))}")
    heads = Translator(random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    with pytest.raises(ValueError, match="more than one"):
        force_encoded(heads, [EncodedPair.of(tokenizer, *SENTENCES[:2])], BatchPosterior(translator, "posterior"))


def estimated(readouts: Readouts, likely: np.ndarray, kind: PosteriorKind) -> tuple[np.ndarray, np.ndarray]:
    """Return the log likelihoods that the module's docstring describes, in float64, and where they are exact."""
    logits = readouts.rough_logits(slice(None)).astype(np.float64)  # (Ty, Tx, K)
    targets = np.array(readouts.trace.target_ids)
    of_target = logits[np.arange(len(targets)), :, targets]
    bounds, exact = (
        of_target - np.logaddexp.reduce(part, axis=2) for part in (logits[..., np.union1d(targets, likely)], logits)
    )
    factor, of_fit = (0.75, 0.25) if kind == "balanced" else (1, 0)
    scores = factor * (np.log(readouts.alignment) + bounds) + of_fit * readouts.fit()
    decisive = scores >= scores.max(axis=1, keepdims=True) + np.log(0.01)
    gaps = (bounds - exact)[decisive & (exact < np.log(0.5))]
    return np.minimum(np.where(decisive, exact, bounds - (gaps.mean() if gaps.size else 0)), 0), decisive


@pytest.mark.parametrize("scale", [0.5, 4, 60], ids=["flat", "peaked", "beyond float32"])
@pytest.mark.parametrize("readout_state", ["previous", "current"])
@pytest.mark.parametrize("kind", POSTERIOR_KINDS)
def test_slight_shares_are_estimated_by_the_mean_gap_of_the_others(
    make_network, tokenizer, kind, readout_state, scale
) -> None:
    network = make_network(readout_state=readout_state)
    with torch.no_grad():
        network.output.weight.mul_(scale)
        network.decoder.readout_context.weight.mul_(3)  # one context differs much from another
    translator = Translator(network, tokenizer)
    translator.prepared.decoder.output.set_precision("fp32")
    weights = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    own = [(text, translator.translate(text, beam=1).translation) for text in SENTENCES[:2]]  # whose words are sure
    texts = [*zip(SENTENCES[::2], SENTENCES[1::2], strict=True), *(pair for pair in own if pair[1].strip())]
    pairs, shares = [EncodedPair.of(tokenizer, *pair) for pair in texts], []
    decoded = force_decode(translator, pairs, likeliest=3)
    found = BatchPosterior(translator, kind)(decoded, pairs)
    for row, (source, target) in enumerate(texts):
        readouts = Readouts(translator.translate(source, target=target), weights)
        likely = decoded.likeliest[row, : len(readouts.trace.target_ids)]
        alone, decisive = estimated(readouts, likely, kind)
        readouts.__dict__["alone"] = alone
        np.testing.assert_allclose(found[row], posterior_of(readouts, kind), atol=1e-4)
        shares.append(decisive.mean())
    assert 0 < np.mean(shares) < 1


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


NUMBERED = [(k + 1, SENTENCES[2 * k], SENTENCES[2 * k + 1]) for k in range(len(SENTENCES) // 2)]


def test_vectors_match_the_trace_of_each_pair(translator) -> None:
    found = vectors_of_pairs(translator, NUMBERED)
    assert [pair.number for pair in found.pairs] == [number for number, *_ in NUMBERED]
    starts = dict.fromkeys(VECTOR_KINDS, 0)
    for index, pair in enumerate(found.pairs):
        trace = translator.translate(pair.source, target=pair.target)
        assert pair.source_pieces == trace.source_surfaces
        assert pair.target_pieces == trace.target_pieces
        theirs = {"state": trace.states, "context": trace.contexts, "annotation": trace.annotations}
        for kind in VECTOR_KINDS:
            start, own = starts[kind], theirs[kind]
            np.testing.assert_allclose(found.arrays[kind][start : start + len(own)], own, atol=2e-3)
            assert found.place(kind, start) == (index, 0)
            assert found.place(kind, start + len(own) - 1) == (index, len(own) - 1)
            mine = found.rows_of(kind, pair.source)
            assert np.flatnonzero(mine).tolist() == list(range(start, start + len(own)))
            starts[kind] += len(own)
    assert all(len(found.arrays[kind]) == starts[kind] for kind in VECTOR_KINDS)


def test_sampling_is_deterministic_and_bounded(tmp_path, model_folder) -> None:
    pairs, table = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_text("".join(f"{a}\t{b}\n" for _, a, b in NUMBERED * 6), encoding="utf-8")
    command = ["corpus", str(pairs), "-o", str(table), "--model", str(model_folder), "--workers", "1", "--kind", "none"]
    assert main([*command, "--vectors", "300"]) == 0
    first = vectors_path(table).read_bytes()
    found = Vectors.load(vectors_path(table))
    assert 150 < len(found.arrays["annotation"]) <= 300
    assert len(found.arrays["state"]) == len(found.arrays["context"]) <= 300
    assert main([*command, "--vectors", "300"]) == 0
    assert vectors_path(table).read_bytes() == first
    translator = Translator.load(model_folder, device="cpu")
    whole = write_vectors(table, tmp_path / "whole.npz", translator)
    assert sorted(pair.number for pair in whole.pairs) == list(range(1, len(NUMBERED) * 6 + 1))
    assert {pair.number for pair in found.pairs} < {pair.number for pair in whole.pairs}
    assert main([*command, "--vectors", "200001"]) == 2
