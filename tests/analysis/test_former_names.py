"""Names of version 0.2 of the Python interface."""

from __future__ import annotations

import pytest

from attnviz import analysis


@pytest.mark.parametrize(
    ("former", "new"),
    [
        ("ANSWERS", "ATTRIBUTION_METHODS"),
        ("AfterWord", "PosteriorAttention"),
        ("Answers", "AttributionMethods"),
        ("Firmness", "MinimalChange"),
        ("Trials", "PerturbationTests"),
        ("after_word", "posterior_attention"),
        ("answers", "attribution_methods"),
        ("best_look", "best_attention"),
        ("firmness", "minimal_change"),
        ("trials", "perturbation_tests"),
    ],
)
def test_a_former_name_still_works_and_warns_of_the_new_one(former: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"analysis\.{new}$"):
        found = getattr(analysis, former)
    assert found is getattr(analysis, new)
    assert callable(found) or found


def test_another_name_is_unknown() -> None:
    with pytest.raises(AttributeError, match="ledgers"):
        _ = analysis.ledgers
