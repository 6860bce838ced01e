"""Make the payload of the marks on words that are likely wrong: what each card says, and what its buttons request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from attnviz.analysis.findings import Kind
from attnviz.analysis.findings.marks import Mark, marks_of, runner_up
from attnviz.figures.figure_input import TRANSLATION, Subject
from attnviz.languages import language
from attnviz.text import EOS
from attnviz.trace import Record
from attnviz.ui.examples import question
from attnviz.ui.page_state.inputs import is_listed_pair
from attnviz.ui.resources import cached_for_all, tokenizer_of
from attnviz.ui.view import MAIN, View
from attnviz.wording.marks import Line, better_hypothesis, mark_card


def view_marks(view: View) -> list[dict[str, Any]]:
    """Return the payloads of the marks of `view`.

    In a pair that was opened from the list of the page *Corpus*, all unread words are struck through.
    """
    is_listed = view.id == MAIN and is_listed_pair(st.session_state)
    can_change = view.translate_again is not None
    return _payloads(view.trace, view.identity, language(), can_change, view.shows("numbers"), is_listed)


@cached_for_all
def _payloads(
    _trace: Any,
    identity: str,  # noqa: ARG001
    code: str,  # noqa: ARG001  the key of the cache
    can_change: bool,
    has_form: bool,
    is_listed: bool,
) -> list[dict[str, Any]]:
    marks = shown_marks(_trace, every_omission=is_listed)
    return [
        mark_payload(_trace, mark, can_change=can_change, has_form=has_form)
        | {"struck": is_listed and mark.finding.kind is Kind.OMITTED}
        for mark in marks
    ]


def shown_marks(trace: Any, *, every_omission: bool = False) -> list[Mark]:
    """Return the marks of a translation, with the word that the question of an example calls a mistake.

    Imported attention and other pairs of sentences have none.
    """
    if not TRANSLATION.is_met(Subject(trace, 0)):
        return []
    asked = question(trace)
    judged = [trace.words().target.index(asked.word)] if asked and asked.is_mistake else []
    return marks_of(trace, judged, every_omission=every_omission)


def mark_payload(trace: Record, mark: Mark, *, can_change: bool, has_form: bool) -> dict[str, Any]:
    """Return the payload of a mark: its words, and its card's lines, each with what its button does.

    `can_change` says whether the translation can have what-ifs, and `has_form` whether stage 5 has the form for other
    words.
    """
    card, finding = mark_card(trace, mark), mark.finding
    is_source = finding.target is None
    first = (finding.source if is_source else finding.target) or 0
    lines = [
        _line(card.attended, {"choice": {"step": mark.step, "source": None if is_source else mark.source}}),
        _line(card.runner_up, _what_if(_write_runner_up(trace, mark), can_change)),
        _line(card.hypothesis, _what_if(_take_hypothesis(trace, mark), can_change)),
        _line(card.needed, _needed(trace, mark, can_change=can_change, has_form=has_form)),
    ]
    return {
        "line": "source" if is_source else "target",
        "first": first,
        "last": (finding.last or first) if is_source else first,
        "kind": finding.kind.value,
        "strong": mark.strong,
        "label": card.label,
        "title": card.title,
        "lines": [line for line in lines if line],
    }


def _line(line: Line | None, action: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the payload of a line, with its button if it has an `action`."""
    if line is None:
        return None
    payload = {"name": line.name, "text": line.text, "words": [asdict(word) for word in line.words]}
    return payload | {"button": line.button, **action} if line.button and action else payload


def _what_if(request: dict[str, Any] | None, can_change: bool) -> dict[str, Any] | None:
    return {"whatIf": request} if request and can_change else None


def _write_runner_up(trace: Record, mark: Mark) -> dict[str, Any] | None:
    other = runner_up(trace, mark.step)
    return {"kind": "words", "step": mark.step, "pieces": [other[0]], "held": False} if other else None


def _take_hypothesis(trace: Record, mark: Mark) -> dict[str, Any] | None:
    other, tokenizer = better_hypothesis(trace, mark), tokenizer_of(trace)
    if other is None or tokenizer is None:
        return None
    return {"kind": "hypothesis", "pieces": [*tokenizer.encode(other.hypothesis.translation), EOS]}


def _needed(trace: Record, mark: Mark, *, can_change: bool, has_form: bool) -> dict[str, Any] | None:
    if mark.finding.strong and mark.source is not None and trace.attends_once:
        kind = "only" if mark.finding.kind is Kind.OMITTED else "without"
        return _what_if({"kind": kind, "step": mark.step, "source": mark.source, "held": False}, can_change)
    return {"choice": {"step": mark.step, "stage": 5}} if can_change and has_form else None
