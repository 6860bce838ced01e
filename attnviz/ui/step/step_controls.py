"""Lay out the player, the cards of the what-ifs and the list of keyboard shortcuts, and send the browser the state.

The player marks suspected errors: the card of each says what speaks for it, and its buttons request what would mend it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attnviz.analysis.findings import FindingKind
from attnviz.analysis.labels import summed_pieces_text
from attnviz.analysis.measures import is_uniform
from attnviz.analysis.suspected_errors import (
    SuspectedError,
    better_hypothesis,
    error_card,
    suspected_errors_of,
)
from attnviz.analysis.what_if_effects import foils_of, what_ifs_payload
from attnviz.architectures import step_texts
from attnviz.figures.attention_figure import MOST_ROWS
from attnviz.languages import gettext, gettexts, language
from attnviz.text import EOS, SPACE, follows_space, join_pieces
from attnviz.trace import Aligned, Record, WhatIfs
from attnviz.trace.interventions import ExcludePosition, ForceWords, Intervention, ReplaceWeights, to_json_dict
from attnviz.trace.what_ifs import with_descendants
from attnviz.ui import inputs
from attnviz.ui.blocks import box, component, html, packed, popover_box
from attnviz.ui.controls import by_unit
from attnviz.ui.embedding import embedding
from attnviz.ui.examples import question
from attnviz.ui.glossary import Topic, definitions, glossary
from attnviz.ui.inputs import is_listed_pair
from attnviz.ui.payloads import Payload
from attnviz.ui.resources import cached_for_all, has_posterior, tokenizer_of
from attnviz.ui.selection import WHAT_IF, browser_parameters, own_parameters, stored_what_ifs
from attnviz.ui.step.what_if_panel import slider_labels
from attnviz.ui.view import MAIN, View


def what_if_cards(view: View) -> None:
    """Draw the what-ifs of `view`, at *Idea* with their cards in a closed drawer; hidden where there are none.

    The component is always mounted, so that the first what-if's card appears without delay.
    """
    payload = cards_payload(view.what_ifs, view.number) | {"folded": view.simple}
    component("what_ifs", view.key("what_if_cards"), payload)


def cards_payload(what_ifs: WhatIfs | None, number: int) -> Payload:
    """Return the payload of the cards, with `number` current; no cards where there are no what-ifs.

    The what-ifs of an embedded view stay: nothing removes them.
    """
    if what_ifs is None or not what_ifs.what_ifs:
        return {"language": language(), "cards": [], "current": 0, "words": {}}
    others = [0, *(len(with_descendants(what_ifs.what_ifs, k + 1)) - 1 for k in range(len(what_ifs.what_ifs)))]
    texts, can_remove = what_ifs_payload(what_ifs), embedding() is None
    words = texts["words"] if can_remove else texts["words"] | {"undo": ""}

    def remove(k: int) -> str:
        if not (k and can_remove):
            return ""
        if not others[k]:
            return gettext("Remove what-if {number}", number=k)
        return gettext("Remove what-if {number} and the what-ifs made from it ({others})", number=k, others=others[k])

    cards = [card | {"remove": remove(k)} for k, card in enumerate(texts["cards"])]
    return {"language": language(), "current": number, "words": words, "cards": cards}


def step_controls(
    view: View, pair: PlayedLanguages | None = None, *, tour: bool = False, what_ifs: bool = True
) -> None:
    """Draw the sentences, the step controls and, unless they have another place, the what-ifs.

    `pair` describes sentences other than English and French. With `tour`, the tour of the translation can be started.
    """
    player_box = box(view.key("player_box"))
    if what_ifs:
        what_if_cards(view)
    view_state(view, tour=tour)
    with player_box:
        player(view, suspected_error_payloads(view), pair)


def key_help(view: View, *topics: Topic, common_only: bool = False, has_stages: bool = False) -> None:
    """Draw a box with the terms of `topics` and the keyboard shortcuts, or only those of every page; ? opens it."""
    attends, sliders = view.trace.attends, slider_labels(view.trace) is not None
    in_app = embedding() is None
    column = by_unit(gettext("English word"), gettext("English piece"))
    if not view.trace.translated:
        column = by_unit(gettext("source word"), gettext("source piece"))
    in_sentence = gettext("select another word of a sentence")
    if sliders:
        in_sentence = gettext("in a sentence: another word; on a bar: change its weight")
    shortcuts = [
        ("←</kbd><kbd>→", gettext("step"), True),
        ("↑</kbd><kbd>↓", column, attends),
        (f"{gettext('Home')}</kbd><kbd>{gettext('End')}", gettext("first, last step"), True),
        (
            "B",
            gettext("attention before or after the word is known, or their difference"),
            not common_only and has_posterior(view.trace),
        ),
        (gettext("Space"), gettext("play, pause"), True),
        (gettext("Esc"), gettext("deselect the word and follow the largest weight"), attends),
        (gettext("Enter"), gettext("translate"), in_app and not common_only),
        ("Tab</kbd> <kbd>←</kbd><kbd>→", in_sentence, True),
        ("Tab</kbd> <kbd>↑</kbd><kbd>↓", gettext("select another weight bar"), sliders),
        ("S", gettext("next stage"), has_stages),
        ("L", gettext("lecture mode, for a projector"), in_app),
    ]
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what, works in shortcuts if works)
    click = gettext("or click a cell, a word, a bar or a strip" if attends else "or click a French word")
    label, key = gettext("Keys (?)"), "keys"
    if topics:
        label, key = gettext("What the words mean, and keys (?)"), "glossary"
    with popover_box(label, view.key(key)):
        html(f'<div class="keys">{spans}<span>{click}</span></div>')
        if topics:
            definitions(view.key("glossary_terms"), glossary(*topics))


def suspected_error_payloads(view: View) -> list[Payload]:
    """Return the payloads of the suspected errors of `view`.

    In a pair that was opened from the list of the page *Corpus*, all unread words are struck through.
    """
    is_listed = view.id == MAIN and is_listed_pair()
    can_change = view.translate_again is not None
    return _payloads(view.trace, can_change, view.shows("numbers"), is_listed)


@cached_for_all
def _payloads(trace: Any, can_change: bool, has_form: bool, is_listed: bool) -> list[Payload]:
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
    if not isinstance(trace, Record):
        return []
    asked = question(trace)
    judged = [trace.words().target.index(asked.word)] if asked and asked.is_mistake else []
    return suspected_errors_of(trace, judged, every_omission=every_omission)


def suspected_error_payload(trace: Record, suspect: SuspectedError, *, can_change: bool, has_form: bool) -> Payload:
    """Return the payload of a suspected error: its words, and its card's lines, each with what its button does.

    `can_change` says whether the translation can have what-ifs, and `has_form` whether stage 5 has the form for other
    words.
    """
    card, finding, tokenizer = error_card(trace, suspect), suspect.finding, tokenizer_of(trace)
    is_source = finding.target is None
    first = (finding.source if is_source else finding.target) or 0

    def what_if(intervention: Intervention, *, held: bool = False) -> Mapping[str, Any]:
        return {"whatIf": {"intervention": to_json_dict(intervention), "held": held}} if can_change else {}

    attended = {"choice": {"step": suspect.step, "source": None if is_source else suspect.source}}
    runner_up: Mapping[str, Any] = {}
    # PAD, UNK and BOS cannot be written.
    if written := tuple(foil for foil, *_ in foils_of(trace, suspect.step)[:1] if foil >= EOS):
        runner_up = what_if(ForceWords(written, suspect.step))
    taken: Mapping[str, Any] = {}
    if (better := better_hypothesis(trace, suspect)) and tokenizer:
        pieces = (*tokenizer.encode(better.translation), EOS)
        if min(pieces) >= EOS:
            taken = what_if(ForceWords(pieces, replaced=len(trace.target_ids)), held=True)
    needed: Mapping[str, Any] = {"choice": {"step": suspect.step, "stage": 5}} if can_change and has_form else {}
    is_number = finding.kind is FindingKind.NUMBER  # another word, not other attention, would mend it
    if finding.strong and not is_number and suspect.source is not None and trace.attends_once:
        only = tuple(int(j == suspect.source) for j in range(len(trace.source_ids)))
        omitted = finding.kind is FindingKind.OMITTED
        needed = what_if(
            ReplaceWeights(only, suspect.step) if omitted else ExcludePosition(suspect.source, suspect.step)
        )
    lines = zip(
        (card.attended, card.runner_up, card.hypothesis, card.needed),
        (attended, runner_up, taken, needed),
        strict=True,
    )
    return {
        "line": "source" if is_source else "target",
        "first": first,
        "last": (finding.last or first) if is_source else first,
        "kind": finding.kind.value,
        "strong": suspect.strong,
        "label": card.label,
        "title": card.title,
        "lines": [
            {"name": line.name, "text": line.text, "words": [asdict(word) for word in line.words]}
            | ({"button": line.button, **action} if line.button and action else {})
            for line, action in lines
            if line
        ],
    }


NO_BREAK_SPACE = "\u00a0"
"""Replaces a piece that is only a blank, so that it is underlined and clickable like any other step."""


@dataclass(frozen=True)
class PlayedLanguages:
    """Labels and languages of two sentences that are not English and its French translation."""

    names: tuple[str, str]
    """Labels of the two sentences, in the current language."""
    languages: tuple[str, str] = ("en", "fr")
    """Language codes of the two sentences."""
    second_is_written: bool = True
    """Whether the second sentence is written step by step; otherwise it is complete from the beginning."""


def player(view: View, suspected_errors: Sequence[Mapping[str, Any]] = (), pair: PlayedLanguages | None = None) -> None:
    """Draw both sentences with the current step and source piece marked, and the controls.

    Words that are likely wrong have `suspected_errors`, as `suspected_error_payloads` returns them.
    """
    shown = {"simple": view.simple, "suspectedErrors": suspected_errors}
    component("player", view.key("player"), player_payload(view.trace, pair) | shown)


@cached_for_all
def player_payload(trace: Aligned, pair: PlayedLanguages | None = None) -> Payload:
    """Return the payload of the player.

    It has words with their pieces (`of` is the number of addends of a source word's weight), and the weights alpha_ij,
    (Ty, Tx).
    """
    labels = gettexts(
        {
            "earlier": "Previous step",
            "later": "Next step",
            "steps": "Steps",
            "previous": "Previous",
            "next": "Next",
            "play": "Play",
            "pause": "Pause",
            "space": "Space",
            "speed": "Speed",
            "slider": "Step",
            "step": "step {step} of {count}",
            "at": "{i} of {n}",
            "looks": "Looks at",
            "examined": "Examined",
            "strongest": "the largest weight at this step",
            "held": "your choice, fixed",
            "alike": "all weights equal",
            "follow": "follow the largest weight",
            "escape": "Esc",
        }
    ) | {
        "english": pair.names[0] if pair else gettext("English"),
        "french": pair.names[1] if pair else gettext("French"),
    }
    words = trace.words()
    source = [
        {
            "text": _surface(trace.source_surfaces, group),
            "space": _opens_with_space(trace.source_surfaces, group),
            "end": trace.source_pieces[group[0]] == "</s>",
            "pieces": list(group),
            # the text of each piece of a word; a leading blank is left out
            "parts": [join_pieces([trace.source_surfaces[i]]) for i in group]
            if len(group) > 1
            else [_surface(trace.source_surfaces, group)],
            "of": summed_pieces_text(len(group)),
        }
        for group in words.source_groups
    ]
    target = [
        {
            "steps": list(group),
            "space": _opens_with_space(trace.target_pieces, group) and trace.target_pieces[group[0]] != SPACE,
            "end": trace.target_pieces[group[0]] == "</s>",
            "parts": [_surface(trace.target_pieces, (i,)) for i in group],
        }
        for group in words.target_groups
    ]
    return {
        "identity": trace.fingerprint,
        "language": language(),
        "source": source,
        "target": target,
        "alignment": packed(trace.alignment.clip(0, 1)),
        "alike": [step for step in range(len(trace.target_pieces)) if is_uniform(trace, step)],
        "attends": trace.attends,
        "words": labels,
        "spoken": list(pair.languages if pair else ("en", "fr")),
        "written": pair is None or pair.second_is_written,
    }


def _surface(pieces: tuple[str, ...], group: tuple[int, ...]) -> str:
    return join_pieces(pieces[i] for i in group) or NO_BREAK_SPACE


def _opens_with_space(pieces: tuple[str, ...], group: tuple[int, ...]) -> bool:
    """Return whether a space precedes a word that begins with the first piece of `group`."""
    return group[0] > 0 and follows_space(pieces[group[0]])


def view_state(view: View, *, tour: bool = False) -> None:
    """Send the browser the state of `view`; with `tour`, the tour can be started there."""
    component("view_state", view.key("view_state"), view_payload(view, tour=tour), height=1)


def view_payload(view: View, *, tour: bool = False) -> Payload:
    """Return the state of `view` for the browser."""
    # In a page of others, the address is not ours.
    is_address_view = embedding() is None and (view.id == MAIN or view.main is not None)
    page = inputs.page_payload()
    shown = view.main or view
    family = stored_what_ifs(view.id).identity or view.trace.source_text
    cards = [] if view.shows("numbers") else step_texts(view.trace).terms(view.trace)
    omits_sentence = is_address_view and page["parameters"].get(inputs.SENTENCE) is None
    return {
        "id": view.id,
        "container": view.key("room"),
        "request": view.key(WHAT_IF),
        "level": view.detail_level,
        "identity": view.identity,
        "family": hashlib.sha256(family.encode("utf-8", "replace")).hexdigest(),
        "steps": view.steps,
        "firstStep": view.first_step,
        "sources": len(view.trace.source_pieces),
        "hasTour": tour and view.id == MAIN and view.trace.translated,
        "usualOrder": "strongest" if len(view.trace.source_pieces) > MOST_ROWS else "sentence",
        "parameters": browser_parameters(view),
        "terms": {"cards": [asdict(card) for card in cards], "visit": gettext("Show this stage") if cards else ""},
        "own": own_parameters(shown) if embedding() is None else {},
        "page": page if is_address_view else None,
        "sentence": {inputs.SENTENCE: shown.trace.source_text} if omits_sentence else None,
        "main": view_payload(view.main) if view.main and embedding() is None else None,
    }
