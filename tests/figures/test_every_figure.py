"""Every figure: Plotly accepts it, it fits a phone, its marks and texts have contrast, and its text alternative."""

import dataclasses
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import AttnvizError, figures
from attnviz.analysis.attention_forms import AttentionForm, Multiplications
from attnviz.analysis.comparison import compare
from attnviz.analysis.judgement import pair_attention, with_words_swapped
from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.browser_programs import PLOTLY_TRACES
from attnviz.detector import Detector
from attnviz.figures.attention_figure import context_frame
from attnviz.figures.corpus_figure import histogram, scatter, vector_map, with_star
from attnviz.figures.heads_figure import head_gallery, multiplications, weights_row
from attnviz.figures.judgement_figure import attend_figure, bag_figure, compared_figure
from attnviz.figures.learning_curves import attention_curves, learning_heatmap, quality_curves
from attnviz.figures.perturbation_figure import minimal_change_figure, perturbation_tests_figure, shuffled_figure
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import draw_energy_decomposition, draw_logit_attribution
from attnviz.figures.why_attention_figure import bleu_by_length, forced_words_figure, gradient_norms, sentence_growth
from attnviz.languages import set_language
from attnviz.palette import ThemeName, palette
from attnviz.trace import TransformerTrace
from tests.analysis.given import KINDS
from tests.figures import synthetic
from tests.figures.conftest import ENGLISH, FRENCH, ForcedModels, Lab
from tests.figures.synthetic import small
from tests.figures.test_colours import MARK, TEXT, axis_texts, contrast, marks, rgb
from tests.figures.test_experiments import GROWN, MOMENTS, ROWS, run
from tests.snapshots import without_numbers

LONG = " ".join(f"mot{k}" for k in range(70))
WORDS = ("The agreement was signed .", "L' accord a été signé .")
ODD = ("The <i>x</i> was $y$ .", "L' <i>z</i> a $y$ .")
"""A sentence and its translation with markup of HTML and LaTeX."""
MARKUP = re.compile(r"</?i>|\$y\$")
ATTRIBUTION = LogitAttribution(1, 4, 0.3, -1.0, 0.8, np.linspace(-2, 2, 7))
NO_ATTRIBUTION = LogitAttribution(1, None, 0, 0, 0, np.zeros(7))
NAMES = ("one model", "another")
PHONE = 390
"""Pixels; wider figures scroll on a phone."""
WIDE = (
    "attributions",
    "bag, swapped",
    "by-length",
    "comparison",
    "energy-d",
    "forced",
    "gallery",
    "gradients",
    "perturbation",
    "tree",
)
"""Starts of the names of figures that may scroll on a phone."""
OTHER_GROUND = ("form", "map", "scatter")
"""Figures with letters on cells, which `test_heatmap` measures, and clouds of points, which are dark where many are."""
ELSEWHERE = ("quartiles", "sure", "possible", "false", " edge", " core")
"""Ends of the names of bands behind lines that say the same, and of marks on cells, which `test_heatmap` measures."""


class Drawn:
    """Every figure, of small random models."""

    def __init__(self, lab: Lab, models: ForcedModels, heads: TransformerTrace, detector: Detector) -> None:
        self.words, self.lab, self.models, self.heads = WORDS, lab, models, heads
        self.judgement = detector.judge(ENGLISH, FRENCH)
        self.swapped = detector.judge(with_words_swapped(ENGLISH, 1, 4), FRENCH)

    def of_steps(self) -> dict[str, Spec]:
        """Return the figures of a step, at both levels."""
        known = {(1, 4): ATTRIBUTION, (1, None): NO_ATTRIBUTION}
        subjects = {
            "model": Subject(self.lab.trace, 1, self.lab.weights, spelling=self.lab.spelling),
            "changed": Subject(self.lab.trace, 1, parent=self.lab.trace),
            "known": Subject(synthetic.trace(*self.words), 1, word=4, foil=4, known_logit_attributions=known),
            "heads": Subject(self.heads, 1),
            "one head": Subject(self.heads.select_heads(0, 1), 1),
            **{
                kind: Subject(synthetic.trace(*self.words, attention=kind), 1)
                for kind in ("additive", "general", "none")
            },
            "long": Subject(synthetic.trace(LONG), 1),
            "long, none": Subject(synthetic.trace(LONG, attention="none"), 1),
            "short": Subject(synthetic.trace("One ."), 1),
        }
        specs = {"energy-decomposition, narrow": draw_energy_decomposition(subjects["additive"], operands=False)}
        for kind, subject in subjects.items():
            for level, suffix in (("everything", ""), ("idea", ", idea")):
                drawn = replace(subject, level=level)
                for name, figure in figures.step_figures(drawn).items():
                    specs[f"{name}, {kind}{suffix}"] = figure.draw(drawn)
            if not subject.trace.has_heads:
                specs[f"growth, {kind}"] = context_frame(subject.trace, thinned=kind == "long")
        specs["logit-attribution"] = draw_logit_attribution(subjects["known"])
        return specs

    def of_translations(self) -> dict[str, Spec]:
        """Return the heatmaps, comparisons and trees of one translation or two."""
        trace = synthetic.trace(*self.words)
        posterior = np.roll(trace.alignment.astype(float), 1, axis=1)
        links = figures.heatmap(trace, gold="0-0 1?2", margins=True)
        specs = {"heatmap": figures.heatmap(trace, step=1), "heatmap with links": links}
        for choices in (
            {"by": "words", "colours": "cividis", "root": True, "end": True},
            {"margins": True, "values": True},
        ):
            for face in ("before", "after", "difference"):
                drawn = figures.heatmap(trace, face=face, posterior=posterior, **choices)
                specs[f"heatmap, {face}, {len(choices)}"] = drawn
        for text in (LONG, ""):
            for kind in ("additive", "none"):
                specs[f"heatmap, {'long' if text else 'no word'}, {kind}"] = figures.heatmap(
                    synthetic.trace(text, attention=kind)
                )
        compared = compare(trace, synthetic.trace("The new agreement was <b>signed</b> .", seed=1))
        for across in (1, 2, 4):
            choices = {"across": across, "step": 1, "root": True, "colours": "cividis"}
            specs[f"comparison, {across}"] = figures.comparison(compared, NAMES, **choices)
        without = compare(trace, synthetic.trace(seed=2, attention="none"))
        specs["comparison without attention"] = figures.comparison(without, NAMES)
        specs["tree"] = figures.beam_tree(small(), step=1)
        return specs

    def of_experiments(self) -> dict[str, Spec]:
        """Return the figures of the other pages."""
        lab, trace, spelling, models = self.lab, self.lab.trace, self.lab.spelling, self.models
        places, titles = np.random.default_rng(0).normal(size=(9, 2)), [("<b>word</b>", "sentence")] * 9
        the_map = vector_map(places, titles, (0.3, 0.2), "decoder")
        form = AttentionForm(trace.alignment, trace.energies)
        return {
            "attributions": figures.attributions(trace, lab.attribution_methods, step=2),
            "attributions, steps": figures.attributions(
                trace, lab.attribution_methods, by="steps", across=2, width=390
            ),
            "tests": perturbation_tests_figure(trace, lab.perturbation_tests, spelling, lab.best, width=358),
            "shuffled": shuffled_figure(trace, lab.shuffled, step=2),
            "minimal change": minimal_change_figure(trace, lab.minimal_change, spelling, step=2),
            "forced words": forced_words_figure(models.words),
            "gradients": gradient_norms(models.traces, models.signals),
            "gradients, stacked": gradient_norms(models.traces, models.signals, across=1),
            "growth": sentence_growth(GROWN),
            "by-length": bleu_by_length(ROWS, marked_length=4),
            "quality": quality_curves([run(), run(0.5, 1)], MOMENTS, update=100),
            "learnt": attention_curves(run(), MOMENTS, runs=[run(0.5, 1)]),
            "learnt weights": learning_heatmap(run(), 0, 2),
            "attend": attend_figure(pair_attention(self.judgement, "source")),
            "compared": compared_figure(self.judgement, 1),
            "bag": bag_figure(self.judgement),
            "bag, swapped": bag_figure(self.judgement, self.swapped),
            "gallery": head_gallery(self.heads, {(0, 1): 0.25}),
            "form": weights_row(form, 1, trace.source_pieces, "Weights of one form of attention."),
            "costs": multiplications({"additive": Multiplications(9, 9, 9, 9)}),
            "map": with_star(the_map, places[0], "this"),
            "scatter": scatter(*places.T, NAMES, selected_region=(0, 1, 0, 1)),
            "histogram": histogram(places[:, 0], "length"),
        }

    def specs(self) -> dict[str, Spec]:
        return self.of_steps() | self.of_translations() | self.of_experiments()


@pytest.fixture(scope="module")
def drawn(make_network, tokenizer, forced_models, heads, detector) -> Drawn:
    return Drawn(Lab(make_network, tokenizer, KINDS[0]), forced_models, heads, detector)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_are_valid_and_readable(drawn, theme: ThemeName) -> None:
    """Figures are built without Plotly's validation, for speed; it raises ValueError on properties it does not know."""
    paper = rgb(palette(theme).paper)
    assert {one["type"] for spec in drawn.specs().values() for one in spec.data} == PLOTLY_TRACES
    for picture, spec in drawn.specs().items():
        figure = json.loads(spec.figure(theme).to_json())
        go.Figure(figure)
        assert len(spec.alt) > 20, picture
        assert picture.startswith(WIDE) or "long" in picture or spec.layout["meta"]["narrowest"] <= PHONE, picture
        figure = spec.figure(theme).to_dict()
        texts = [(name, colour, TEXT) for name, colour in axis_texts(figure)]
        for name, colour in marks(figure, palette(theme).paper):
            if not name.endswith(ELSEWHERE):
                texts.append((name, colour, TEXT if name.startswith("text of") else MARK))
        for name, colour, least in texts if picture not in OTHER_GROUND else ():
            assert contrast(colour, paper) >= least, f"{picture}: {name}"


HEAD = re.compile(r"(^|<br>)\d\.\d\b")
"""The name of a head: its layer and its number."""
READ = {"text", "ticktext", "customdata", "alt", "more", "hovertext"}
"""What Plotly shows as it is; numbers it writes itself follow `layout.separators`."""


def read_texts(value: Any, shown: bool = False) -> Iterator[str]:
    """Yield the strings of a figure that are read as they are, without its text alternative."""
    if isinstance(value, str) and shown:
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from read_texts(one, shown=name in READ - {"alt"})
    elif isinstance(value, list):
        for one in value:
            yield from read_texts(one, shown)


def test_markup_in_words_and_names_is_escaped(drawn, monkeypatch) -> None:
    monkeypatch.setattr(drawn, "words", ODD)
    tree = small()
    pieces = [dataclasses.replace(node, piece=f"{node.piece}<i>$y$") for node in tree.nodes]
    compared = compare(synthetic.trace(*ODD), synthetic.trace(*ODD, seed=1))
    specs = drawn.of_steps() | drawn.of_translations()
    specs["odd tree"] = figures.beam_tree(dataclasses.replace(tree, nodes=tuple(pieces)))
    specs["odd names"] = figures.comparison(compared, ("<i>one</i>", "$y$"))
    for picture, spec in specs.items():
        texts = [*read_texts(json.loads(spec.figure().to_json()))]
        assert [text for text in texts if MARKUP.search(text)] == [], picture


def test_french_figures_have_decimal_commas_and_their_tables_points(drawn) -> None:
    set_language("fr")
    written = 0
    for picture, spec in drawn.specs().items():
        figure = json.loads(spec.figure().to_json())
        texts = [*read_texts(figure), spec.alt]
        assert [text for text in texts if re.search(r"\d\.\d", HEAD.sub("", text))] == [], picture
        assert figure["layout"]["separators"] == ",\u202f", picture
        written += sum(bool(re.search(r"\d,\d", text)) for text in texts)
        fields = spec.frame().reset_index().to_numpy().ravel() if spec.table else ()
        assert [one for one in fields if isinstance(one, str) and re.fullmatch(r"-?\d+,\d+", one)] == [], picture
    assert written > 1000


def test_text_alternatives(each_language, drawn, snapshot) -> None:
    """Of figures that share one, the first."""
    alts = {without_numbers(spec.alt): name for name, spec in reversed(drawn.specs().items())}
    assert {name: alt for alt, name in reversed(alts.items())} == snapshot


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(AttnvizError, match="light, dark"):
        figures.beam_tree(small()).figure("sepia")  # type: ignore[arg-type]
