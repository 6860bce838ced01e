"""Decimal commas in French: in every text about a translation, but not in files for machines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnviz import Trace, Translator
from attnviz.analysis.logit_attribution import logit_attribution, logit_attribution_sentence
from attnviz.analysis.numbers import decimal, number, signed, significant
from attnviz.analysis.stages import step_sentence
from attnviz.analysis.verification import Discrepancy, discrepancy_text
from attnviz.architectures import narrate
from attnviz.export.tikz import heatmap_tikz
from attnviz.figures import FIGURES, heatmap, step_figures
from attnviz.figures.registry import StepFigure
from attnviz.figures.subject import REQUIRES_RECURRENT, Subject
from attnviz.languages import ngettext, set_language
from attnviz.model_folder import read_weights
from attnviz.trace.interventions import ExcludePosition
from attnviz.ui.components.findings import findings_payload
from tests.analysis.filled_equations import equations

POINT = re.compile(r"\d\.\d")
READ = {"text", "ticktext", "customdata", "alt", "more", "hovertext"}
"""What Plotly shows as it is; numbers it writes itself follow `layout.separators`."""


@pytest.fixture(autouse=True)
def _in_french() -> None:
    set_language("fr")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.translate("Two dogs play in the snow, and nobody looks at them.", beam=1)


@pytest.fixture(scope="module")
def subject(trace: Trace, translator: Translator, model_folder: Path) -> Subject:
    """Return a step for which every figure exists: one after an intervention."""
    changed = translator.translate(
        trace.source_text, target=trace.translation, interventions=[ExcludePosition(0, step=0)]
    )
    return Subject(changed, 1, read_weights(model_folder), parent=trace)


def drawable(subject: Subject) -> dict[str, StepFigure]:
    """Return the pictures there are of a recurrent translator's step: all but those of a transformer's heads."""
    found = step_figures(subject)
    assert [one.name for one in FIGURES if REQUIRES_RECURRENT in one.needs and one.name not in found] == []
    return found


def texts(value: Any, shown: bool = False) -> Iterator[str]:
    """Yield the strings of a figure that are read as they are."""
    if isinstance(value, str) and shown:
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from texts(one, shown=name in READ)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, shown)


def spread(count: float) -> str:
    """Return how widely attention is spread, with a number that is written rounded."""
    return ngettext(
        "like a weight spread evenly over {count:.1f} pieces",
        "like a weight spread evenly over {count:.1f} pieces",
        count,
    )


@pytest.mark.parametrize(
    ("count", "ending"),
    [(1.94, "1,9 sous-mot"), (1.96, "2,0 sous-mots"), (1.0, "1,0 sous-mot"), (3.0, "3,0 sous-mots")],
)
def test_plural_starts_at_2_as_rounded(count: float, ending: str) -> None:
    assert spread(count).endswith(f" {ending}")
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1,23", "0,012", "+0,50")
    assert number(0.25) == "0{,}250"
    set_language("en")
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1.23", "0.012", "+0.50")
    assert (signed(0.004), signed(-0.004)) == ("0.00", "0.00")
    assert number(0.25) == "0.250"


def test_sentences_contain_no_decimal_points(trace: Trace) -> None:
    sentences = [*findings_payload(trace)["steps"], findings_payload(trace)["summary"]]
    sentences += [finding["text"] for finding in findings_payload(trace)["findings"]]
    for step in range(len(trace.target_pieces)):
        sentences.append(step_sentence(trace, step))
        sentences += [text for stage in narrate(trace, step) for text in (stage.sentence, stage.outcome)]
        sentences += [equation.latex for equation in equations(trace, step)]
    sentences.append(discrepancy_text(trace, Discrepancy("energies", (1,), 2.5, 2.0), 3))
    assert not [text for text in sentences if POINT.search(text)]
    assert any(re.search(r"\d,\d", text) for text in sentences)


def test_figures_contain_no_decimal_points(trace: Trace, subject: Subject, model_folder: Path) -> None:
    weights = read_weights(model_folder)
    entries = logit_attribution(trace, weights, 1, trace.target_ids[1])
    assert not POINT.search(logit_attribution_sentence(trace, entries, "un", None))
    figures = [heatmap(trace, by="words", margins=True).figure(), heatmap(trace, by="steps", root=True).figure()]
    figures += [one.draw(subject).figure() for one in drawable(subject).values()]
    found = []
    for figure in figures:
        drawn = json.loads(figure.to_json())
        found += list(texts(drawn))
        assert drawn["layout"]["separators"] == ",\u202f"
    assert not [text for text in found if POINT.search(text)]
    assert sum(bool(re.search(r"\d,\d", text)) for text in found) > 100


def test_files_for_machines_keep_decimal_points(trace: Trace, subject: Subject) -> None:
    for name, figure in drawable(subject).items():
        fields = figure.draw(subject).frame().reset_index().to_numpy().ravel()
        assert not [one for one in fields if isinstance(one, str) and re.fullmatch(r"-?\d+,\d+", one)], name
    assert re.search(r"\d\.\d{4}", heatmap_tikz(trace))
    assert not re.search(r"\{\d,\d", heatmap_tikz(trace))
