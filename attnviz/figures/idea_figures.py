"""Registry of the figures for the level of detail "Idea", by the name of the step figure that each replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attnviz.figures.build import Spec
from attnviz.figures.idea import (
    fit_template,
    fit_values,
    kept_template,
    kept_values,
    mixtures_template,
    mixtures_values,
    share_template,
    share_values,
)
from attnviz.figures.template import Picture, Values
from attnviz.figures.transformer_idea import (
    added_template,
    added_values,
    all_heads_template,
    all_heads_values,
    head_fit_template,
    head_fit_values,
    head_share_template,
    head_share_values,
)
from attnviz.palette import ThemeName


def _picture(template: Callable[[Any, ThemeName], Spec], values: Callable[[Any, int], Values]) -> Picture:
    return Picture(
        lambda subject, theme: template(subject.trace, theme), lambda subject, _: values(subject.trace, subject.step)
    )


IDEA_FIGURES: Mapping[str, Picture] = {
    "energy": _picture(fit_template, fit_values),
    "softmax": _picture(share_template, share_values),
    "mixtures": _picture(mixtures_template, mixtures_values),
    "state": _picture(kept_template, kept_values),
}
"""Figures of recurrent translators, by the names of those that they replace; "mixtures" replaces none."""
HEAD_IDEA_FIGURES: Mapping[str, Picture] = {
    "scores": _picture(head_fit_template, head_fit_values),
    "weights": _picture(head_share_template, head_share_values),
    "looks": _picture(all_heads_template, all_heads_values),
    "stream": _picture(added_template, added_values),
}
"""Figures of transformers, by the names of those that they replace; "looks" replaces none."""
