"""Make the payload of suspected errors: what the card of each says, and what its buttons request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from attnviz.analysis.findings import FindingKind
from attnviz.analysis.suspected_errors import (
    CardLine,
    SuspectedError,
    better_hypothesis,
    error_card,
    runner_up,
    suspected_errors_of,
)
from attnviz.figures.subject import REQUIRES_TRANSLATION, Subject
from attnviz.text import EOS
from attnviz.trace import Record
from attnviz.trace.interventions import ExcludePosition, ForceWords, Intervention, ReplaceWeights, to_json_dict
from attnviz.ui.examples import question
from attnviz.ui.page_state.inputs import is_listed_pair
from attnviz.ui.resources import cached_for_all, tokenizer_of
from attnviz.ui.view import MAIN, View


def suspected_error_payloads(view: View) -> list[dict[str, Any]]:
    """Return the payloads of the suspected errors of `view`.

    In a pair that was opened from the list of the page *Corpus*, all unread words are struck through.
    """
    is_listed = view.id == MAIN and is_listed_pair()
    can_change = view.translate_again is not None
    return _payloads(view.trace, can_change, view.shows("numbers"), is_listed)


@cached_for_all
def _payloads(trace: Any, can_change: bool, has_form: bool, is_listed: bool) -> list[dict[str, Any]]:
    suspects = shown_suspected_errors(trace, every_omission=is_listed)
    return [
        suspected_error_payload(trace, suspect, can_change=can_change, has_form=has_form)
        | {"struck": is_listed and suspect.finding.kind is FindingKind.OMITTED}
        for suspect in suspects
    ]


def shown_suspected_errors(trace: Any, *, every_omission: bool = False) -> list[SuspectedError]:
    """Return the suspected errors of a translation, with the word that the question of an example calls a mistake.

    Imported attention and other pairs of sentences have none.
    """
    if not REQUIRES_TRANSLATION.is_met(Subject(trace, 0)):
        return []
    asked = question(trace)
    judged = [trace.words().target.index(asked.word)] if asked and asked.is_mistake else []
    return suspected_errors_of(trace, judged, every_omission=every_omission)


def suspected_error_payload(
    trace: Record, suspect: SuspectedError, *, can_change: bool, has_form: bool
) -> dict[str, Any]:
    """Return the payload of a suspected error: its words, and its card's lines, each with what its button does.

    `can_change` says whether the translation can have what-ifs, and `has_form` whether stage 5 has the form for other
    words.
    """
    card, finding = error_card(trace, suspect), suspect.finding
    is_source = finding.target is None
    first = (finding.source if is_source else finding.target) or 0
    lines = [
        _line(card.attended, {"choice": {"step": suspect.step, "source": None if is_source else suspect.source}}),
        _line(card.runner_up, _what_if(_write_runner_up(trace, suspect), can_change)),
        _line(card.hypothesis, _what_if(_take_hypothesis(trace, suspect), can_change, held=True)),
        _line(card.needed, _needed(trace, suspect, can_change=can_change, has_form=has_form)),
    ]
    return {
        "line": "source" if is_source else "target",
        "first": first,
        "last": (finding.last or first) if is_source else first,
        "kind": finding.kind.value,
        "strong": suspect.strong,
        "label": card.label,
        "title": card.title,
        "lines": [line for line in lines if line],
    }


def _line(line: CardLine | None, action: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the payload of a line, with its button if it has an `action`."""
    if line is None:
        return None
    payload = {"name": line.name, "text": line.text, "words": [asdict(word) for word in line.words]}
    return payload | {"button": line.button, **action} if line.button and action else payload


def _what_if(intervention: Intervention | None, can_change: bool, *, held: bool = False) -> dict[str, Any] | None:
    if intervention is None or not can_change:
        return None
    return {"whatIf": {"intervention": to_json_dict(intervention), "held": held}}


def _write_runner_up(trace: Record, suspect: SuspectedError) -> ForceWords | None:
    other = runner_up(trace, suspect.step)
    return ForceWords((other[0],), suspect.step) if other else None


def _take_hypothesis(trace: Record, suspect: SuspectedError) -> ForceWords | None:
    other, tokenizer = better_hypothesis(trace, suspect), tokenizer_of(trace)
    if other is None or tokenizer is None:
        return None
    return ForceWords((*tokenizer.encode(other.hypothesis.translation), EOS), replaced=len(trace.target_ids))


def _needed(trace: Record, suspect: SuspectedError, *, can_change: bool, has_form: bool) -> dict[str, Any] | None:
    is_number = suspect.finding.kind is FindingKind.NUMBER  # another word, not other attention, would mend it
    if suspect.finding.strong and not is_number and suspect.source is not None and trace.attends_once:
        omitted = suspect.finding.kind is FindingKind.OMITTED
        only = tuple(int(j == suspect.source) for j in range(len(trace.source_ids)))
        return _what_if(
            ReplaceWeights(only, suspect.step) if omitted else ExcludePosition(suspect.source, suspect.step), can_change
        )
    return {"choice": {"step": suspect.step, "stage": 5}} if can_change and has_form else None
