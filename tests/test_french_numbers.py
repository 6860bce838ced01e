"""Decimal commas in French: in every sentence about a translation, but not in files for machines."""

import re
from pathlib import Path

import pandas as pd
import pytest

from attnviz import Trace, Translator
from attnviz.analysis.logit_attribution import logit_attribution, logit_attribution_sentence
from attnviz.analysis.numbers import decimal, number, signed, significant
from attnviz.analysis.stages import step_sentence
from attnviz.analysis.verification import Discrepancy, discrepancy_text
from attnviz.architectures import narrate
from attnviz.export.tikz import heatmap_tikz
from attnviz.languages import ngettext, set_language
from attnviz.model_folder import read_weights
from attnviz.ui.blocks import tables_payload
from attnviz.ui.step.gold_panel import findings_payload
from tests.analysis.given import equations

POINT = re.compile(r"\d\.\d")


@pytest.fixture(autouse=True)
def _in_french() -> None:
    set_language("fr")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.translate("Two dogs play in the snow, and nobody looks at them.", beam=1)


SPREAD = "like a weight spread evenly over {count:.1f} pieces"


@pytest.mark.parametrize(
    ("count", "ending"),
    [(1.94, "1,9 sous-mot"), (1.96, "2,0 sous-mots"), (1.0, "1,0 sous-mot"), (3.0, "3,0 sous-mots")],
)
def test_plural_starts_at_2_as_rounded(count: float, ending: str) -> None:
    assert ngettext(SPREAD, SPREAD, count).endswith(f" {ending}")  # a number that is written rounded
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1,23", "0,012", "+0,50")
    assert number(0.25) == "0{,}250"
    set_language("en")
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1.23", "0.012", "+0.50")
    assert (signed(0.004), signed(-0.004)) == ("0.00", "0.00")
    assert number(0.25) == "0.250"


def test_sentences_contain_no_decimal_points(trace: Trace, model_folder: Path) -> None:
    sentences = [*findings_payload(trace)["steps"], findings_payload(trace)["summary"]]
    sentences += [finding["text"] for finding in findings_payload(trace)["findings"]]
    for step in range(len(trace.target_pieces)):
        sentences.append(step_sentence(trace, step))
        sentences += [text for stage in narrate(trace, step) for text in (stage.sentence, stage.outcome)]
        sentences += [equation.latex for equation in equations(trace, step)]
    entries = logit_attribution(trace, read_weights(model_folder), 1, trace.target_ids[1])
    sentences.append(logit_attribution_sentence(trace, entries, "un", None))
    sentences.append(discrepancy_text(trace, Discrepancy("energies", (1,), 2.5, 2.0), 3))
    assert not [text for text in sentences if POINT.search(text)]
    assert any(re.search(r"\d,\d", text) for text in sentences)
    assert re.search(r"\d\.\d{4}", heatmap_tikz(trace)), "a file for a machine"
    assert not re.search(r"\{\d,\d", heatmap_tikz(trace))


def test_tables_of_charts_have_decimal_commas_and_french_words() -> None:
    columns = {"v": [-0.5, None], "rank": [-3, 12345678], "saturated": [True, False], "piece": ["0.5", "a"]}
    (payload,) = tables_payload([("units", pd.DataFrame(columns, index=[0.5, -1]))])["tables"]
    assert payload["rows"] == [["0,5", "−0,5", "−3", "oui", "0.5"], ["−1", "", "12345678", "non", "a"]]
    assert payload["texts"] == [True, False, False, True, True]
