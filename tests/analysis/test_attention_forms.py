"""Forms of attention: the step at which a row of weights changes most."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.transformer_exhibits import AttentionForm, Form, instructive_step


def form(*rows: tuple[float, float]) -> AttentionForm:
    return AttentionForm(np.array(rows, np.float32))


def test_step_with_the_largest_change_comes_first_if_all_forms_prefer_the_same_piece() -> None:
    forms: dict[Form, AttentionForm] = {
        "additive": form((0.6, 0.4), (0.6, 0.4), (0.6, 0.4)),
        "general": form((0.0, 1.0), (0.7, 0.3), (0.9, 0.1)),
    }
    assert instructive_step(forms) == 2


def test_step_with_the_largest_change_is_taken_if_the_forms_never_agree() -> None:
    forms: dict[Form, AttentionForm] = {
        "additive": form((0.6, 0.4), (0.6, 0.4)),
        "general": form((0.3, 0.7), (0.0, 1.0)),
    }
    assert instructive_step(forms) == 1
