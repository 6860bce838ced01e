"""Names, figures, links and files of version 0.2 still work."""

from __future__ import annotations

import importlib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from attnviz import analysis, export, figures
from attnviz.analysis import attribution_methods, load_weights
from attnviz.figures import STEP_FIGURES, Subject, step_figure
from attnviz.trace.head_views import HeadViews
from attnviz.translator import Translator
from attnviz.ui.page_state.selection import VIEW_PARAMETERS
from attnviz.ui.server import current_address

NAMES = {
    "analysis": {
        "ANSWERS": "ATTRIBUTION_METHODS",
        "AfterWord": "PosteriorAttention",
        "Answers": "AttributionMethods",
        "Firmness": "MinimalChange",
        "Shuffled": "PermutationEffects",
        "Trial": "PerturbedStep",
        "Trials": "PerturbationTests",
        "after_word": "posterior_attention",
        "answers": "attribution_methods",
        "best_look": "best_attention",
        "firmness": "minimal_change",
        "trials": "perturbation_tests",
    },
    "export": {"Look": "FigureOptions"},
    "figures": {
        "all_answers_table": "all_attributions_table",
        "answer_table": "attribution_table",
        "answers_figure": "attributions_figure",
        "answers_table": "attributions_table",
        "firmness_figure": "minimal_change_figure",
        "firmness_table": "minimal_change_table",
        "trials_figure": "perturbation_tests_figure",
        "trials_table": "perturbation_tests_table",
    },
    "trace": {"Branch": "WhatIf", "Branches": "WhatIfs"},
    "trace.changes": {"LookAlike": "UniformAttention", "LookAway": "ExcludeSource", "LookOnly": "AttendOnly"},
    "trace.interventions": {"keep_words": "forced_prefix", "to_record": "to_json_dict"},
}


@pytest.mark.parametrize(
    ("module", "former", "new"), [(module, *pair) for module, names in NAMES.items() for pair in names.items()]
)
def test_former_name_works_with_deprecation_warning(module: str, former: str, new: str) -> None:
    package = importlib.import_module(f"attnviz.{module}")
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{new}$"):
        found = getattr(package, former)
    assert found is getattr(package, new)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="ledgers"):
        _ = analysis.ledgers


@pytest.mark.parametrize(
    ("former", "new"),
    [("ledger", "logit-attribution"), ("microscope", "energy-decomposition"), ("trials", "perturbation-tests")],
)
def test_figure_is_found_by_its_former_name(translator: Translator, model_folder: Path, former: str, new: str) -> None:
    subject = Subject(translator.translate("the cat"), 0, load_weights(model_folder))
    with pytest.warns(DeprecationWarning, match=new):
        assert step_figure(subject, former) is STEP_FIGURES[new]
    with pytest.warns(DeprecationWarning, match=new):
        assert export.FigureOptions(picture=former, step=0).picture == new


def test_attribution_is_found_by_its_former_name(translator: Translator, model_folder: Path) -> None:
    found = attribution_methods(translator.translate("the cat"), load_weights(model_folder))
    with pytest.warns(DeprecationWarning, match="logit_attribution"):
        former = found.matrices["ledger"]
    assert former is found.matrices["logit_attribution"]
    assert "ledger" not in found.names
    with pytest.raises(KeyError):
        _ = found.matrices["looks"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("/", "rival=7&typed_rival=ours&step=3", {"foil": "7", "typed_foil": "ours", "step": "3"}),
        ("/", "branches=0.o.3.2&branch=1", {"what_ifs": "0.o.3.2", "what_if": "1"}),
        ("/", "page=lab&section=trials", {"page": "lab", "section": "perturbation-tests"}),
        ("/lab", "section=answers&page=why", {"page": "lab", "section": "attributions"}),
        ("/", "page=lab&compare=branch&rival-other=4", {"page": "lab", "compare": "what-if", "foil-other": "4"}),
        ("/", "page=transformer&rung=heads", {"page": "transformer", "exhibit": "heads"}),
        ("/base/why", "", {"page": "why"}),
    ],
)
def test_link_of_earlier_version_is_redirected(path: str, query: str, expected: dict[str, str]) -> None:
    address = current_address(path, [(name, values[0]) for name, values in parse_qs(query).items()])
    assert address
    found = urlsplit(address)
    assert found.path == path[: path.rindex("/") + 1]
    assert {name: values[0] for name, values in parse_qs(found.query).items()} == expected
    assert current_address(found.path, [(name, values[0]) for name, values in parse_qs(found.query).items()]) is None


def test_other_addresses_are_not_redirected() -> None:
    assert current_address("/", [("sentence", "rival"), ("step", "2")]) is None
    assert current_address("/static/why.js", [("rival", "2")]) is None


def test_redirected_parameters_exist() -> None:
    from attnviz.ui.pages.transformer import EXHIBIT_PARAMETER
    from attnviz.ui.server import PARAMETERS

    assert set(PARAMETERS.values()) - {"other_what_if", EXHIBIT_PARAMETER} <= {one.name for one in VIEW_PARAMETERS}
    assert not set(PARAMETERS) & {one.name for one in VIEW_PARAMETERS}


@pytest.mark.parametrize(
    ("owner", "former", "new"),
    [
        (analysis.Comparison, "looks", "both_attend"),
        (analysis.PosteriorAttention, "reading", "heatmap_posterior"),
    ],
)
def test_attribute_is_found_by_its_former_name(owner: type, former: str, new: str) -> None:
    instance = object.__new__(owner)
    object.__setattr__(instance, new, value := object())
    with pytest.warns(DeprecationWarning, match=rf"{owner.__name__}\.{new}$"):
        assert getattr(instance, former) is value


@pytest.mark.parametrize(
    ("owner", "former", "new"),
    [
        (analysis.Agreement, "apart", "least_agreeing"),
        (analysis.Agreement, "together", "most_agreeing"),
        (analysis.Comparison, "moved", "total_variation"),
        (Translator, "signals", "gradient_norms"),
        (HeadViews, "seen_by", "select_heads"),
    ],
)
def test_method_is_found_by_its_former_name(owner: type, former: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"{owner.__name__}\.{new}$"):
        assert getattr(owner, former) is getattr(owner, new)


def test_figures_offer_no_former_name() -> None:
    assert not set(NAMES["figures"]) & set(figures.__all__)
