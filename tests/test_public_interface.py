"""The public interface: misuse of every function is refused with one sentence, and importing it needs no torch."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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
def subjects(model_folder) -> Subjects:
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


class Call:
    """A valid call: each of its arguments is replaced by wrong values in turn."""

    def __init__(self, function: Callable[..., object], *given: Any, **named: Any) -> None:
        self.function, self.given, self.named = function, given, named

    def with_wrong(self, value: Any) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the name of each argument with the call that has `value` in its place."""
        for place in range(len(self.given)):
            given = [value if at == place else one for at, one in enumerate(self.given)]
            yield f"argument {place}", partial(self.function, *given, **self.named)
        for name in self.named:
            yield name, partial(self.function, *self.given, **self.named | {name: value})


SEARCH, LOOK = {"beam": 1, "length_penalty": 1.0}, {"colours": "ink", "theme": "light"}
RECORD = {"energies": None, "states": None, "kind": "cross", "sure": (), "special": ()}
READING = {"format": None, "layer": None, "encoding": None}
CALLS: dict[str, Callable[[Subjects], Call]] = {
    "load": lambda _: Call(Translator.load, "small-dot", "cpu", "auto"),
    "translator": lambda _: Call(lambda value: Translator(value, value), None),
    "translate": lambda s: Call(s.translator.translate, "a", target=None, interventions=(), **SEARCH),
    "check": lambda s: Call(s.translator.check, "a", interventions=()),
    "batch": lambda s: Call(s.translator.translate_batch, ["a"], **SEARCH),
    "text of a batch": lambda s: Call(lambda value: s.translator.translate_batch([value]), "a"),
    "together": lambda s: Call(s.translator.translate_together, ["a"], targets=None, **SEARCH),
    "target of many": lambda s: Call(lambda value: s.translator.translate_together(["a"], targets=[value]), "a"),
    "search": lambda s: Call(s.translator.search_batch, ["a"]),
    "beam tree": lambda s: Call(s.translator.beam_tree, "a", interventions=(), **SEARCH),
    "attributions": lambda s: Call(s.translator.attributions, s.trace),
    "gradient norms": lambda s: Call(s.translator.gradient_norms, s.trace),
    "top": lambda s: Call(s.trace.top, 0, k=1),
    "step figure": lambda s: Call(s.trace.step_figure, 0, "maxout", weights=s.weights, theme="light"),
    "features": lambda s: Call(s.trace.features_at, 0),
    "keys": lambda s: Call(s.trace.keys_at, 0),
    "visible keys": lambda s: Call(s.trace.visible_key_count, 0),
    "heatmap": lambda s: Call(s.trace.heatmap, by="words", face="after", weights=s.weights, **LOOK, step=0, gold=None),
    "links": lambda s: Call(s.trace.links_frame, None),
    "save": lambda s: Call(lambda path: s.trace.save(path if path != "x" else ""), "trace.json"),
    "load a trace": lambda _: Call(Trace.load, ""),
    "read a trace": lambda _: Call(Trace.from_json, ""),
    "load a record": lambda _: Call(Attention.load, ""),
    "read a record": lambda _: Call(Attention.from_json, ""),
    "select heads": lambda s: Call(s.attention.select_heads, 0, 0),
    "heatmap of a layer": lambda s: Call(s.transformer.heatmap, 0, 0),
    "head": lambda s: Call(s.transformer.head, 0, 0, "cross"),
    "heads": lambda s: Call(s.transformer.heads_of, "cross"),
    "named head": lambda s: Call(s.transformer.head_named, "cross 1.1"),
    "cross-attention": lambda s: Call(s.transformer.cross_attention, 0, 0),
    **{
        f"tree {name}": lambda s, name=name: Call(getattr(s.tree, name), 0)
        for name in ("dropped_at", "path", "text", "ids", "pieces", "forced_path", "score", "find")
    },
    "figure of a tree": lambda s: Call(s.tree.figure, step=0, shown=None, theme="light"),
    "attention": lambda _: Call(attnviz.attention, ["a"], ["a"], [[1.0]], **RECORD),
    "posterior": lambda s: Call(analysis.posterior, s.trace, s.weights, "balanced"),
    "likelihood": lambda s: Call(analysis.likelihood, s.trace, s.weights),
    "posterior attention": lambda s: Call(analysis.posterior_attention, s.trace, s.weights),
    "change": lambda s: Call(analysis.posterior_attention(s.trace, s.weights).change, 0),
    "compare": lambda s: Call(analysis.compare, s.trace, s.trace, by="words", face="before", posteriors=(None, None)),
    "compare after": lambda s: Call(lambda p: analysis.compare(s.trace, s.trace, face="after", posteriors=p), None),
    "aligned step": lambda s: Call(analysis.compare(s.trace, s.trace).aligned_step, 0, 0),
    "row of a step": lambda s: Call(analysis.compare(s.trace, s.trace).row_of, 0),
    "most changed": lambda s: Call(analysis.compare(s.trace, s.trace).most_changed, 1),
    "perturb": lambda s: Call(analysis.perturbation_tests, s.trace, 0, s.weights, permutations=1, seed=0, bound=0.01),
    "adversary": lambda s: Call(analysis.adversary, s.trace, 0, s.weights, bound=0.01),
    "shuffled": lambda s: Call(analysis.shuffled, s.trace, s.weights, permutations=1, seed=0),
    "best attention": lambda s: Call(analysis.best_attention, s.trace, 0, s.weights, piece_id=None),
    "top of a test": lambda s: Call(analysis.best_attention(s.trace, 0, s.weights).top, 1),
    "minimal change": lambda s: Call(analysis.minimal_change, s.trace, s.weights),
    "added logits": lambda s: Call(analysis.added_logits, s.trace, s.weights),
    "methods": lambda s: Call(analysis.attribution_methods, s.trace, s.weights, None),
    "shares": lambda s: Call(analysis.attribution_methods(s.trace, s.weights).shares, "attention"),
    "support": lambda s: Call(analysis.attribution_methods(s.trace, s.weights).support, "attention"),
    "agreement": lambda s: Call(analysis.agreement, analysis.attribution_methods(s.trace, s.weights), 0),
    "weights": lambda _: Call(analysis.load_weights, "small-dot"),
    "error": lambda _: Call(attnviz.alignment_error, ["0-0"], ["0-0"], samples=1, confidence=0.9, seed=1),
    "error of both": lambda _: Call(lambda value: attnviz.alignment_error(value, value), ["0-0"]),
    "a link": lambda _: Call(lambda value: attnviz.alignment_error([value], ["0-0"]), "0-0"),
    "link agreement": lambda _: Call(attnviz.link_agreement, ["0-0"], ["0-0"]),
    "agreement of both": lambda _: Call(lambda value: attnviz.link_agreement(value, value), ["0-0"]),
    "symmetrise": lambda _: Call(attnviz.symmetrise, ["0-0"], ["0-0"], "union"),
    "symmetrise both": lambda _: Call(lambda value: attnviz.symmetrise(value, value), ["0-0"]),
    "pharaoh": lambda _: Call(lambda value: attnviz.symmetrise(["0-0"], ["0-0"]).pharaoh(base=value), 0),
    "find heads": lambda s: Call(attnviz.find_heads, [s.attention], None, by=None),
    "save heads": lambda s: Call(lambda path: attnviz.find_heads([s.attention]).save(path if path != "x" else ""), ""),
    "read": lambda _: Call(lambda *a, **k: attnviz.read_attention(*a, **k)[:1], np.full((1, 1), 1.0), None, **READING),
    "evaluate": lambda s: Call(attnviz.evaluate, s.translator, [("a", "b")], beam=1),
    "an evaluated pair": lambda s: Call(lambda value: attnviz.evaluate(s.translator, [value]), ("a", "b")),
    "evaluated sentences": lambda s: Call(lambda value: attnviz.evaluate(s.translator, [(value, value)]), "a"),
    "train": lambda _: Call(attnviz.train, None),
    "training data": lambda _: Call(lambda value: attnviz.TrainingConfig(value, value, value), None),
    "training from JSON": lambda _: Call(attnviz.TrainingConfig.from_json, ""),
    "training from a dictionary": lambda _: Call(attnviz.TrainingConfig.from_dict, {}),
    "exclude": lambda _: Call(attnviz.ExcludePosition, 0, 0),
    "temperature": lambda _: Call(attnviz.Temperature, 1.0),
    "replace weights": lambda _: Call(attnviz.ReplaceWeights, (1.0,)),
    "replace energies": lambda _: Call(attnviz.ReplaceEnergies, (1.0,)),
    "force": lambda _: Call(lambda value: attnviz.ForceWords(value, value), (1,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused_or_valid(subjects, name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    raw = []
    for value in WRONG:
        for argument, call in CALLS[name](subjects).with_wrong(value):
            try:
                call()
            except AttnvizError as error:
                assert str(error)  # noqa: PT017
            except Exception as error:  # noqa: BLE001  any other exception is what is looked for
                raw.append(f"{argument} = {value!r}: {error!r}")
    assert not raw, "\n".join(raw)


def test_every_repr_is_one_line(subjects) -> None:
    trace, weights, translator = subjects.trace, subjects.weights, subjects.translator
    results: tuple[object, ...] = (
        *(translator, trace, subjects.transformer, subjects.transformer.head(0, 0), subjects.attention, subjects.tree),
        *(trace.words(), translator.attributions(trace), translator.gradient_norms(trace)),
        analysis.posterior_attention(trace, weights),
        analysis.compare(trace, trace),
        analysis.perturbation_tests(trace, 0, weights),
        analysis.shuffled(trace, weights),
        analysis.minimal_change(trace, weights),
        analysis.agreement(analysis.attribution_methods(trace, weights)),
        *(use(["0-0"], ["0-0"]) for use in (attnviz.alignment_error, attnviz.link_agreement, attnviz.symmetrise)),
        attnviz.find_heads([subjects.attention]),
        attnviz.evaluate(translator, [("a dog", "a dog")]),
        attnviz.read_attention(np.full((1, 1), 1.0)),
    )
    assert [text for text in map(repr, results) if "\n" in text or len(text) > 500] == []


def test_american_spellings_name_the_same_parameters(tmp_path) -> None:
    trace = synthetic.trace()
    assert trace.heatmap(colors="ink") == trace.heatmap(colours="ink") != trace.heatmap()
    records = [attnviz.attention("a b", "c", [[2, 6]], **{name: True}) for name in ("normalise", "normalize")]
    assert records[0].fingerprint == records[1].fingerprint
    (tmp_path / "one.json").write_text(json.dumps({"source": ["a"], "target": ["b"], "attention": [[2.0]]}), "utf-8")
    assert attnviz.read_attention(tmp_path / "one.json", normalize=True)[0].alignment.tolist() == [[1.0]]
    with pytest.raises(TypeError, match="couleurs"):
        trace.heatmap(couleurs="ink")
