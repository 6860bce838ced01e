"""Arguments of the Python interface are checked on entry: one error message for each mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator, attention, read_attention
from attnviz.network import RNNsearch
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from tests.conftest import ModelFactory
from tests.figures import synthetic
from tests.snapshots import plain

CALLS: dict[str, Callable[[Any], object]] = {
    "a number for the text": lambda translator: translator.translate(5, beam=1),
    "a list for the text": lambda translator: translator.translate(["a"], beam=1),
    "nothing for the text": lambda translator: translator.translate(None, beam=1),
    "text for the beam": lambda translator: translator.translate("a dog", beam="5"),
    "a fraction for the beam": lambda translator: translator.translate("a dog", beam=2.5),
    "no beam": lambda translator: translator.translate("a dog", beam=None),
    "true for the beam": lambda translator: translator.translate("a dog", beam=True),
    "too wide a beam": lambda translator: translator.translate("a dog", beam=101),
    "a number for the target": lambda translator: translator.translate("a dog", target=3),
    "texts for the target": lambda translator: translator.translate("a dog", target=["un", "chien"]),
    "numbers for interventions": lambda translator: translator.translate("a dog", interventions=[3], beam=1),
    "a number for interventions": lambda translator: translator.translate("a dog", interventions=3, beam=1),
    "text for interventions": lambda translator: translator.translate("a dog", interventions="force", beam=1),
    "text for the penalty": lambda translator: translator.translate("a dog", length_penalty="1", beam=1),
    "no number for the penalty": lambda translator: translator.translate("a dog", length_penalty=float("nan"), beam=1),
    "one text for several": lambda translator: translator.translate_batch("a dog", beam=1),
    "a number for several": lambda translator: translator.translate_together(5, beam=1),
    "numbers among several": lambda translator: translator.translate_batch(["a dog", 5], beam=1),
    "text for the beam of several": lambda translator: translator.search_batch(["a dog"], beam="2"),
    "text for the beam of a tree": lambda translator: translator.beam_tree("a dog", beam="2"),
}


@pytest.fixture(scope="module")
def translator(make_network: ModelFactory, tokenizer: Tokenizer) -> Translator:
    network = make_network("additive", "previous")
    assert isinstance(network, RNNsearch)
    return Translator(network, tokenizer)


@pytest.mark.parametrize("name", CALLS)
def test_invalid_translator_call_is_refused(translator: Translator, name: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        CALLS[name](translator)
    assert str(error.value) == snapshot


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


@pytest.mark.parametrize(("step", "picture"), [(99, "energy"), ("1", "energy"), (1.5, "energy"), (0, "pie"), (0, 7)])
def test_invalid_step_figure_call_is_refused(
    trace: Trace, step: Any, picture: Any, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        trace.step_figure(step, picture)
    assert plain(error.value) == snapshot


def test_american_spellings_name_the_same_parameters(tmp_path: Path) -> None:
    trace = synthetic.trace()
    assert trace.heatmap(colors="ink") == trace.heatmap(colours="ink") != trace.heatmap()
    records = [attention("a b", "c", [[2, 6]], **{name: True}) for name in ("normalise", "normalize")]
    assert records[0].fingerprint == records[1].fingerprint
    (tmp_path / "one.json").write_text(json.dumps({"source": ["a"], "target": ["b"], "attention": [[2.0]]}), "utf-8")
    assert read_attention(tmp_path / "one.json", normalize=True)[0].alignment.tolist() == [[1.0]]
    with pytest.raises(TypeError, match="couleurs"):
        trace.heatmap(couleurs="ink")
