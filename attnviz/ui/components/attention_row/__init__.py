"""Mount one row of attention weights with the text of the chosen form of attention, and make its payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.analysis.attention_forms import AttentionForm, Form
from attnviz.browser_programs import KATEX
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.text import SPACE, SPECIAL_PIECES, join_pieces, piece_name
from attnviz.ui.components.loader import component, packed
from attnviz.ui.page_state.view import View
from attnviz.wording.attention_forms import (
    FORM_EXHIBITS,
    FormSources,
    form_equation,
    form_model,
    form_text,
    step_sentence,
)
from attnviz.wording.labels import quoted_name, shorten
from attnviz.wording.transformer_page import exhibit_titles


def attention_row(view: View, at: str, opened: str) -> None:
    """Draw the row of the current step in the chosen form, from the payload at the address `at`.

    `opened` is the name of the exhibit that is open, or empty.
    """
    component("attention_row", isolate=False)(key=view.key("attention_row"), data={"at": at, "opened": opened})


def row_payload(forms: Mapping[Form, AttentionForm], sources: FormSources, theme: ThemeName) -> dict[str, Any]:
    """Return the payload of all steps in all `forms`, with their texts."""
    trace, titles = sources.additive, exhibit_titles()
    steps = range(len(trace.target_pieces))
    return {
        "language": language(),
        "katex": KATEX.file_name,
        "sources": [_name(piece) for piece in trace.source_pieces],
        "targets": [_target(trace.target_pieces, step) for step in steps],
        "forms": {
            name: {
                "model": form_model(name, sources),
                "latex": form_equation(name, sources, theme),
                "text": form_text(name, sources),
                "sentences": [step_sentence(name, forms, sources, step) for step in steps],
                "weights": packed(form.weights),
                "scores": None if form.scores is None else packed(form.scores),
                "heads": [] if form.heads is None else [packed(head) for head in form.heads],
                "exhibit": FORM_EXHIBITS[name],
                "title": titles[FORM_EXHIBITS[name]],
            }
            for name, form in forms.items()
        },
        "words": {
            "french": gettext("French"),
            "english": gettext("English"),
            "score": gettext("score e"),
            "weight": gettext("weight α"),
            "head": gettext("head {n}"),
            "mean": gettext("mean"),
            "caption": gettext("Attention of {piece} in {model}"),
            "open": gettext("See the exhibit: {title}"),
            "close": gettext("Close the exhibit"),
        },
    }


def _name(piece: str) -> str:
    return shorten(join_pieces([piece]) or piece_name(piece))


def _target(pieces: tuple[str, ...], step: int) -> dict[str, Any]:
    """Return a French piece with the blank before it, and its name."""
    piece = pieces[step]
    space = step > 0 and (piece.startswith(SPACE) or piece in SPECIAL_PIECES)
    return {"text": join_pieces([piece]) or "\u00a0", "space": space, "name": quoted_name(piece)}
