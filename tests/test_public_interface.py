"""The public interface: misuse of every function is refused with one sentence, and importing it needs no torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz import Attention, AttnvizError, Trace, Translator, analysis
from attnviz.trace import BeamTree, TransformerTrace
from tests.figures import synthetic

WRONG: tuple[Any, ...] = (None, "x", 3.5, -1, 77, [], {}, object(), b"x", float("nan"), True)


@dataclass(frozen=True)
class Subjects:
    """One object of each public class, of a tiny model."""

    translator: Translator
    weights: Any
    trace: Trace
    transformer: TransformerTrace
    attention: Attention
    tree: BeamTree


@pytest.fixture(scope="module")
def subjects(model_folder: Path) -> Subjects:
    translator: Translator = Translator.load(model_folder, device="cpu")
    transformer: Translator[TransformerTrace] = Translator.load("small-transformer", device="cpu")
    return Subjects(
        translator,
        analysis.load_weights(model_folder),
        translator.translate("a dog", beam=1),
        transformer.translate("A dog runs.", target="Un chien court."),
        attnviz.attention(["a", "b"], ["c", "d"], np.full((2, 2, 2, 2), 0.5)),
        translator.beam_tree("a dog", beam=2),
    )


MISUSE: dict[str, Callable[[Subjects, Any], object]] = {
    "load a model": lambda _, value: Translator.load(value, device="cpu"),
    "load on a device": lambda _, value: Translator.load("small-dot", device=value),
    "load in a precision": lambda _, value: Translator.load("small-dot", "cpu", value),
    "make a translator": lambda _, value: Translator(value, value),
    "translate": lambda s, value: s.translator.translate(value, beam=1),
    "beam": lambda s, value: s.translator.translate("a", beam=value),
    "target": lambda s, value: s.translator.translate("a", target=value),
    "length penalty": lambda s, value: s.translator.translate("a", length_penalty=value),
    "interventions": lambda s, value: s.translator.translate("a", interventions=value),
    "check": lambda s, value: s.translator.check(value, interventions=value),
    "texts": lambda s, value: s.translator.translate_batch(value),
    "a text of many": lambda s, value: s.translator.translate_batch([value]),
    "beam of a batch": lambda s, value: s.translator.translate_batch(["a"], beam=value),
    "length penalty of a batch": lambda s, value: s.translator.translate_batch(["a"], length_penalty=value),
    "texts together": lambda s, value: s.translator.translate_together(value),
    "targets": lambda s, value: s.translator.translate_together(["a"], targets=value),
    "a target of many": lambda s, value: s.translator.translate_together(["a"], targets=[value]),
    "beam together": lambda s, value: s.translator.translate_together(["a"], beam=value),
    "length penalty together": lambda s, value: s.translator.translate_together(["a"], length_penalty=value),
    "texts of a search": lambda s, value: s.translator.search_batch(value),
    "tree of a text": lambda s, value: s.translator.beam_tree(value),
    "beam of a tree": lambda s, value: s.translator.beam_tree("a", beam=value),
    "length penalty of a tree": lambda s, value: s.translator.beam_tree("a", length_penalty=value),
    "interventions of a tree": lambda s, value: s.translator.beam_tree("a", interventions=value),
    "attributions": lambda s, value: s.translator.attributions(value),
    "gradient norms": lambda s, value: s.translator.gradient_norms(value),
    "top step": lambda s, value: s.trace.top(value),
    "top k": lambda s, value: s.trace.top(0, k=value),
    "step figure": lambda s, value: s.trace.step_figure(value),
    "picture": lambda s, value: s.trace.step_figure(0, value),
    "weights of a picture": lambda s, value: s.trace.step_figure(0, "maxout", weights=value),
    "theme of a picture": lambda s, value: s.trace.step_figure(0, theme=value),
    "features": lambda s, value: s.trace.features_at(value),
    "keys": lambda s, value: s.trace.keys_at(value),
    "visible keys": lambda s, value: s.trace.visible_key_count(value),
    "by": lambda s, value: s.trace.heatmap(by=value),
    "face": lambda s, value: s.trace.heatmap(face=value, weights=s.weights),
    "weights of a heatmap": lambda s, value: s.trace.heatmap(face="after", weights=value),
    "colours": lambda s, value: s.trace.heatmap(colours=value),
    "theme": lambda s, value: s.trace.heatmap(theme=value),
    "step of a heatmap": lambda s, value: s.trace.heatmap(step=value),
    "gold of a heatmap": lambda s, value: s.trace.heatmap(gold=value),
    "threshold": lambda s, value: s.trace.links_frame(value),
    "save": lambda s, value: s.trace.save(value if value != "x" else ""),
    "load a trace": lambda _, value: Trace.load(value),
    "read a trace": lambda _, value: Trace.from_json(value),
    "load a record": lambda _, value: Attention.load(value),
    "read a record": lambda _, value: Attention.from_json(value),
    "layer": lambda s, value: s.attention.select_heads(value),
    "head": lambda s, value: s.attention.select_heads(0, value),
    "layer of a heatmap": lambda s, value: s.transformer.heatmap(value),
    "layer of a head": lambda s, value: s.transformer.head(value, 0),
    "kind of a head": lambda s, value: s.transformer.head(0, 0, value),
    "kind of heads": lambda s, value: s.transformer.heads_of(value),
    "name of a head": lambda s, value: s.transformer.head_named(value),
    "cross-attention": lambda s, value: s.transformer.cross_attention(value, 0),
    "fate": lambda s, value: s.tree.dropped_at(value),
    "path": lambda s, value: s.tree.path(value),
    "text of a path": lambda s, value: s.tree.text(value),
    "ids of a path": lambda s, value: s.tree.ids(value),
    "pieces of a path": lambda s, value: s.tree.pieces(value),
    "forced path": lambda s, value: s.tree.forced_path(value),
    "score of a path": lambda s, value: s.tree.score(value),
    "find a path": lambda s, value: s.tree.find(value),
    "band of a tree": lambda s, value: s.tree.figure(step=value),
    "shown by a tree": lambda s, value: s.tree.figure(shown=value),
    "theme of a tree": lambda s, value: s.tree.figure(theme=value),
    "source of a record": lambda _, value: attnviz.attention(value, ["a"], [[1.0]]),
    "matrix of a record": lambda _, value: attnviz.attention(["a"], ["a"], value),
    "energies of a record": lambda _, value: attnviz.attention(["a"], ["a"], [[1.0]], energies=value),
    "states of a record": lambda _, value: attnviz.attention(["a"], ["a"], [[1.0]], states=value),
    "kind of a record": lambda _, value: attnviz.attention(["a"], ["a"], [[1.0]], kind=value),
    "gold of a record": lambda _, value: attnviz.attention(["a"], ["a"], [[1.0]], sure=value),
    "special tokens": lambda _, value: attnviz.attention(["a"], ["a"], [[1.0]], special=value),
    "weights of posterior": lambda s, value: analysis.posterior(s.trace, value),
    "kind of posterior": lambda s, value: analysis.posterior(s.trace, s.weights, value),
    "posterior of": lambda s, value: analysis.posterior(value, s.weights),
    "likelihood of": lambda s, value: analysis.likelihood(value, s.weights),
    "posterior attention of": lambda s, value: analysis.posterior_attention(value, s.weights),
    "heatmap posterior": lambda s, value: analysis.posterior_attention(s.trace, s.weights, value),
    "change of posterior": lambda s, value: analysis.posterior_attention(s.trace, s.weights).change(value),
    "compare": lambda s, value: analysis.compare(value, s.trace),
    "compare with": lambda s, value: analysis.compare(s.trace, value),
    "compare by": lambda s, value: analysis.compare(s.trace, s.trace, by=value),
    "compare faces": lambda s, value: analysis.compare(s.trace, s.trace, face=value),
    "compare posteriors": lambda s, value: analysis.compare(s.trace, s.trace, face="after", posteriors=value),
    "aligned step": lambda s, value: analysis.compare(s.trace, s.trace).aligned_step(value),
    "aligned side": lambda s, value: analysis.compare(s.trace, s.trace).aligned_step(0, value),
    "row of a step": lambda s, value: analysis.compare(s.trace, s.trace).row_of(value),
    "most changed": lambda s, value: analysis.compare(s.trace, s.trace).most_changed(value),
    "perturb": lambda s, value: analysis.perturbation_tests(value, 0, s.weights),
    "step of a test": lambda s, value: analysis.perturbation_tests(s.trace, value, s.weights),
    "permutations": lambda s, value: analysis.perturbation_tests(s.trace, 0, s.weights, permutations=value),
    "bound": lambda s, value: analysis.perturbation_tests(s.trace, 0, s.weights, bound=value),
    "seed": lambda s, value: analysis.perturbation_tests(s.trace, 0, s.weights, seed=value),
    "adversary of": lambda s, value: analysis.adversary(value, 0, s.weights),
    "adversary at": lambda s, value: analysis.adversary(s.trace, value, s.weights),
    "bound of an adversary": lambda s, value: analysis.adversary(s.trace, 0, s.weights, bound=value),
    "shuffled": lambda s, value: analysis.shuffled(value, s.weights),
    "permutations alone": lambda s, value: analysis.shuffled(s.trace, s.weights, permutations=value),
    "seed of permutations": lambda s, value: analysis.shuffled(s.trace, s.weights, seed=value),
    "best attention of": lambda s, value: analysis.best_attention(value, 0, s.weights),
    "best attention at": lambda s, value: analysis.best_attention(s.trace, value, s.weights),
    "best attention for": lambda s, value: analysis.best_attention(s.trace, 0, s.weights, piece_id=value),
    "top of a test": lambda s, value: analysis.best_attention(s.trace, 0, s.weights).top(value),
    "minimal change of": lambda s, value: analysis.minimal_change(value, s.weights),
    "added logits of": lambda s, value: analysis.added_logits(value, s.weights),
    "attribution methods of": lambda s, value: analysis.attribution_methods(value, s.weights),
    "attributions for the methods": lambda s, value: analysis.attribution_methods(s.trace, s.weights, value),
    "shares of a method": lambda s, value: analysis.attribution_methods(s.trace, s.weights).shares(value),
    "support of a method": lambda s, value: analysis.attribution_methods(s.trace, s.weights).support(value),
    "agreement of": lambda _, value: analysis.agreement(value),
    "agreement at": lambda s, value: analysis.agreement(analysis.attribution_methods(s.trace, s.weights), value),
    "weights in": lambda _, value: analysis.load_weights(value),
    "links": lambda _, value: attnviz.alignment_error(value, "0-0"),
    "gold": lambda _, value: attnviz.alignment_error(["0-0"], value),
    "both": lambda _, value: attnviz.alignment_error(value, value),
    "a link": lambda _, value: attnviz.alignment_error([value], ["0-0"]),
    "samples": lambda _, value: attnviz.alignment_error(["0-0"], ["0-0"], samples=value),
    "confidence": lambda _, value: attnviz.alignment_error(["0-0"], ["0-0"], confidence=value),
    "seed of samples": lambda _, value: attnviz.alignment_error(["0-0"], ["0-0"], seed=value),
    "link agreement": lambda _, value: attnviz.link_agreement(value, value),
    "other links": lambda _, value: attnviz.link_agreement(["0-0"], value),
    "symmetrise": lambda _, value: attnviz.symmetrise(value, value),
    "method": lambda _, value: attnviz.symmetrise(["0-0"], ["0-0"], value),
    "base of links": lambda _, value: attnviz.symmetrise(["0-0"], ["0-0"]).pharaoh(base=value),
    "find heads in": lambda _, value: attnviz.find_heads(value),
    "find heads by": lambda s, value: attnviz.find_heads([s.attention], by=value),
    "find heads with gold": lambda s, value: attnviz.find_heads([s.attention], value),
    "save heads": lambda s, value: attnviz.find_heads([s.attention]).save(value if value != "x" else ""),
    "read attention": lambda _, value: attnviz.read_attention(value),
    "source of a file": lambda _, value: attnviz.read_attention(np.full((1, 1), 1.0), value),
    "format of a file": lambda _, value: attnviz.read_attention(np.full((1, 1), 1.0), format=value),
    "layer of a file": lambda _, value: attnviz.read_attention(np.full((1, 1), 1.0), layer=value)[0],
    "encoding of a file": lambda _, value: attnviz.read_attention(np.full((1, 1), 1.0), encoding=value),
    "evaluate": lambda _, value: attnviz.evaluate(value, [("a", "b")]),
    "evaluated pairs": lambda s, value: attnviz.evaluate(s.translator, value),
    "an evaluated pair": lambda s, value: attnviz.evaluate(s.translator, [value]),
    "evaluated sentences": lambda s, value: attnviz.evaluate(s.translator, [(value, value)]),
    "evaluated beam": lambda s, value: attnviz.evaluate(s.translator, [("a", "b")], beam=value),
    "train": lambda _, value: attnviz.train(value),
    "training data": lambda _, value: attnviz.TrainingConfig(value, value, value),
    "training from JSON": lambda _, value: attnviz.TrainingConfig.from_json(value),
    "training from a dictionary": lambda _, value: attnviz.TrainingConfig.from_dict(value),
    "exclude": lambda _, value: attnviz.ExcludePosition(value),
    "exclude at": lambda _, value: attnviz.ExcludePosition(0, value),
    "temperature": lambda _, value: attnviz.Temperature(value),
    "replace weights": lambda _, value: attnviz.ReplaceWeights(value),
    "replace energies": lambda _, value: attnviz.ReplaceEnergies(value),
    "force": lambda _, value: attnviz.ForceWords(value, value),
}


@pytest.mark.parametrize("name", MISUSE)
def test_wrong_arguments_are_refused_or_valid(
    subjects: Subjects, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = []
    for value in WRONG:
        try:
            MISUSE[name](subjects, value)
        except AttnvizError as error:
            assert str(error)  # noqa: PT017
        except Exception as error:  # noqa: BLE001  any other exception is what is looked for
            raw.append(f"{value!r}: {error!r}")
    assert not raw, "\n".join(raw)


def test_every_repr_is_one_line(subjects: Subjects) -> None:
    trace, weights = subjects.trace, subjects.weights
    results: tuple[object, ...] = (
        subjects.translator,
        trace,
        subjects.transformer,
        subjects.transformer.head(0, 0),
        subjects.attention,
        subjects.tree,
        trace.words(),
        subjects.translator.attributions(trace),
        subjects.translator.gradient_norms(trace),
        analysis.posterior_attention(trace, weights),
        analysis.compare(trace, trace),
        analysis.perturbation_tests(trace, 0, weights),
        analysis.shuffled(trace, weights),
        analysis.minimal_change(trace, weights),
        analysis.agreement(analysis.attribution_methods(trace, weights)),
        attnviz.alignment_error(["0-0"], ["0-0"]),
        attnviz.link_agreement(["0-0"], ["0-0"]),
        attnviz.symmetrise(["0-0"], ["0-0"]),
        attnviz.find_heads([subjects.attention]),
        attnviz.evaluate(subjects.translator, [("a dog", "a dog")]),
        attnviz.read_attention(np.full((1, 1), 1.0)),
    )
    assert [text for text in map(repr, results) if "\n" in text or len(text) > 500] == []


def test_american_spellings_name_the_same_parameters(tmp_path: Path) -> None:
    trace = synthetic.trace()
    assert trace.heatmap(colors="ink") == trace.heatmap(colours="ink") != trace.heatmap()
    records = [attnviz.attention("a b", "c", [[2, 6]], **{name: True}) for name in ("normalise", "normalize")]
    assert records[0].fingerprint == records[1].fingerprint
    (tmp_path / "one.json").write_text(json.dumps({"source": ["a"], "target": ["b"], "attention": [[2.0]]}), "utf-8")
    assert attnviz.read_attention(tmp_path / "one.json", normalize=True)[0].alignment.tolist() == [[1.0]]
    with pytest.raises(TypeError, match="couleurs"):
        trace.heatmap(couleurs="ink")
