"""Lab section *Side by side*: two translations on common axes, stepped together by one player.

They come from two models, from two sentences, or from two what-ifs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.comparison import (
    ComparedSide,
    Comparison,
    compare,
    comparison_caveat,
    comparison_sentence,
    comparison_sentences,
    next_word,
    no_heatmaps_reason,
    sentence_words,
    shared_axis,
    with_next_swapped,
    without_word,
)
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.learning import compared_guidance_sentence
from attnviz.analysis.what_if_effects import SpacedWords, cards, spaced_words
from attnviz.errors import user_error
from attnviz.figures.side_by_side_figure import compared_words_table
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, gettexts
from attnviz.text import sentence_placeholder
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui import inputs
from attnviz.ui.blocks import box, chart, explanation, fitting_payload, html, message, plain_text
from attnviz.ui.chrome import go_to
from attnviz.ui.controls import request_button, segmented_control, select_box, switch, text_box
from attnviz.ui.embedding import page_session
from attnviz.ui.inputs import keep_for
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, makes_payload, shown_address
from attnviz.ui.resources import (
    devices,
    face_posterior,
    has_posterior,
    missing_model,
    model_configs,
    translate,
)
from attnviz.ui.selection import WHAT_IFS, Selection, stored_what_ifs
from attnviz.ui.step.heatmap_panel import comparison_layouts, display_options
from attnviz.ui.toolbar.downloads import LabSection, NamedTables, OfferedFigure, offered_comparison
from attnviz.ui.toolbar.shown_translation import unknown_characters_text
from attnviz.ui.view import View

_KIND, _SENTENCE, _HELD = "compare", "other_sentence", "held"
_OTHERS = {"model": "other_model", "what-if": "other_what_if"}
"""Session state keys of the choices, and address parameters; those of the other model and of the other what-if."""
SECTION, COMPARISON = "section", "comparison"
"""Name of the choice of the lab's section, in the session state and in the address; name of the comparison."""
_VISITED = "visited_comparison"
"""Session state key: whether the next run scrolls to the comparison."""
_MOST_WORDS = 80
"""Number of words with a button; the rest of a longer sentence is edited in the box."""


@dataclass(frozen=True)
class ComparedPair:
    """Two translations side by side."""

    first: Trace
    other: Trace
    names: tuple[str, str]
    """Their display names."""
    leads: ComparedSide = "first"
    """The translation whose steps the player follows."""

    @property
    def both(self) -> tuple[Trace, Trace]:
        """Both translations."""
        return self.first, self.other

    @property
    def same_segmentation(self) -> bool:
        """Whether both are segmented alike: by the same model, or into the same pieces."""
        pieces = [(trace.source_pieces, trace.target_pieces) for trace in self.both]
        return self.first.model == self.other.model or pieces[0] == pieces[1]


def show_beside(view: View, model: str) -> None:
    """Show the page *Lab* with the translation of `view`, as the model made it, beside the same by another model."""
    session = page_session()
    session[SECTION], session[_VISITED] = COMPARISON, True
    session[view.key(WHAT_IFS)] = stored_what_ifs(view.id).showing(0)
    session[view.key(_KIND)], session[view.key(_OTHERS["model"])] = "model", model
    go_to("lab")


def _other_models(view: View) -> dict[str, str]:
    return {name: name for name in installed_models() if name != view.trace.model}


def _two_models(view: View, other: str) -> ComparedPair:
    """Explain the comparison; return the translation of `view`, and the same one by the `other` model."""
    trace = view.trace
    text = gettext(
        "Forced decoding makes both models write the same translation, so that both heatmaps have the same "
        "words. The models differ in where they look, and in the probability that they give to each word."
    )
    explanation(f"{text} {_guidance(trace, other)}")
    if not other:
        raise user_error(
            "There is no other model to compare with. Put the folder of another model beside the folder of {model}.",
            model=trace.model,
        )
    name = f"{trace.model}, {_what_if_name(view.number)}" if view.number else trace.model
    return ComparedPair(trace, _translation(other, trace.source_text, 1, trace.translation), (name, other))


def _two_sentences(view: View, other: str) -> ComparedPair:  # noqa: ARG001  same signature as the others
    """Draw the editor of the other sentence; return the translation of `view`, and that of the other sentence."""
    explanation(
        gettext(
            "Change the sentence below: type in it, or choose a word to drop it or swap it with the next word. "
            "See how the translation changes. A word that is in both heatmaps has the same row or column in both. "
            "If a word appears in only one heatmap, its row or column is hatched in the other heatmap."
        )
    )
    (sentence, is_held), trace = _sentence_editor(view), view.trace
    if sentence.split() == trace.source_text.split():
        raise user_error(
            "The two sentences to compare are the same: drop a word, swap two words, or write another sentence."
        )
    if reason := missing_model(trace):
        raise AttnvizError(reason)
    beam = trace.search.beam
    if trace.search.method == "forced":
        beam = inputs.beam_of(str(page_session().get(inputs.SEARCH) or inputs.DEFAULT_SEARCH))
    other_trace = _translation(trace.model, sentence, beam, trace.translation if is_held else None)
    return ComparedPair(trace, other_trace, (gettext("first sentence"), gettext("other sentence")))


def _other_what_ifs(view: View) -> dict[str, str]:
    """Return the names of the other what-ifs by number, the original translation first."""
    count = len(view.what_ifs.what_ifs) if view.what_ifs else 0
    return {str(number): _what_if_name(number) for number in range(count + 1) if number != view.number}


def _two_what_ifs(view: View, other: str) -> ComparedPair:
    """Explain the comparison; return the what-if of `view` and the `other` one, in their order."""
    explanation(
        gettext(
            "This view compares two what-ifs, or a what-if with the original translation. If a word appears "
            "in only one heatmap, its row or column is hatched in the other heatmap."
        )
    )
    if view.what_ifs is None or not other:
        raise user_error(
            "This translation has no what-ifs yet. Make a what-if on the page Translate; you can then "
            "compare it on this page."
        )
    first, second = sorted((view.number, int(other)))
    names = _what_if_name(first), _what_if_name(second)
    leads: ComparedSide = "first" if first == view.number else "other"
    return ComparedPair(view.what_ifs.trace(first), view.what_ifs.trace(second), names, leads)


_KINDS: Mapping[str, tuple[Callable[[View], dict[str, str]], Callable[[View, str], ComparedPair]]] = {
    "model": (_other_models, _two_models),
    "sentence": (lambda _: {}, _two_sentences),
    "what-if": (_other_what_ifs, _two_what_ifs),
}
"""By the kind of comparison, two functions.

One returns the names of what can be compared, by value, the default first. The other draws what belongs to the kind; it
returns both translations, or raises AttnvizError where they cannot be made.
"""


def _translation(model: str, text: str, beam: int, target: str | None) -> Trace:
    return translate(model, str(page_session().get(inputs.DEVICE) or devices()[0]), text, beam, target)


def _what_if_name(number: int) -> str:
    """Return the display name of a what-if by its number; 0 is the original translation."""
    return gettext("what-if {number}", number=number) if number else gettext("as translated")


def _shown_comparison(pair: ComparedPair, selection: Selection) -> tuple[Comparison, HeatmapChoices]:
    """Return both translations on common axes, and how their heatmaps are drawn: as selected, as far as both allow.

    If one has no posterior attention, both show α. If their pieces differ, both show words.
    """
    chosen = selection.choices
    both_have_posterior = all(has_posterior(trace) for trace in pair.both if trace.attends)
    choices = dataclasses.replace(
        chosen,
        face=chosen.face if both_have_posterior else "before",
        by=chosen.by if pair.same_segmentation else "words",
    )
    first, other = (face_posterior(trace, choices.face) for trace in pair.both)
    return compare(*pair.both, by=choices.by, face=choices.face, posteriors=(first, other)), choices


def _draw(view: View) -> Shown:
    """Draw the choice of what `view` is compared with, and both translations side by side; return these, if any."""
    keep_for(view.key(_SENTENCE), view.trace.source_text)
    kind, other = _choose(view)
    try:
        with st.spinner(gettext("Translating…")):
            pair = _KINDS[kind][1](view, other)
    except AttnvizError as error:
        message(str(error), "compare_told")
        return {}
    if pair.other.unknown_characters and pair.other.source_text != pair.first.source_text:
        message(unknown_characters_text(pair.other), "compare_told_unread")
    if sentences := _lines(pair, gettext("English"), True) + _lines(pair, gettext("French"), False):
        html(f'<div class="compared">{sentences}</div>')
    _switches(view, pair)
    shown = {"pair": pair}
    at = shown_address("comparison", {"view": view, **shown}, "{options}")
    visited = page_session().pop(_VISITED, False)
    chart(view, at, "comparison", waiting=gettext("Computing…"), visited=visited)
    explanation(comparison_caveat())
    return shown


@makes_payload("comparison")
def comparison_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the figure for all window widths."""
    pair: ComparedPair = request.shown["pair"]
    compared, choices = _shown_comparison(pair, request.selection)
    sentences = " ".join(comparison_sentences(compared, pair.names))
    captions = {
        step: f"{comparison_sentence(compared, pair.names, step, pair.leads)}\n{sentences}"
        for step in range(sum(map(len, compared.steps[pair.leads])))
    }
    return fitting_payload(comparison_layouts(compared, pair.names, choices, pair.leads), captions)


def _pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    if pair := request.shown.get("pair"):
        compared, choices = _shown_comparison(pair, request.selection)
        yield offered_comparison(compared, pair.names, choices, pair.leads)


def _tables(request: PayloadRequest) -> NamedTables:
    """Yield the probability of each word."""
    if pair := request.shown.get("pair"):
        compared, _ = _shown_comparison(pair, request.selection)
        yield gettext("log p of each word"), compared_words_table(compared, pair.names)


def _choose(view: View) -> tuple[str, str]:
    """Draw the choice of what is compared; return its kind, and the other model or the number of the other what-if."""
    names = gettexts({"model": "Two models", "sentence": "Two sentences", "what-if": "A what-if"})
    with box(view.key("compared"), row=True):
        key, other = view.key(_KIND), ""
        kind = segmented_control(gettext("What is compared"), names, key=key, parameter=key)
        if options := _KINDS[kind][0](view):
            label, key = gettext("The other model" if kind == "model" else "The other"), view.key(_OTHERS[kind])
            last = [*options][-1] if kind == "what-if" and "0" not in options else None  # else the first
            other = select_box(label, options, key=key, default=last, labelled=False, parameter=key, width=240)
    descriptions = cards(view.what_ifs) if view.what_ifs else []
    numbers = sorted({view.number, int(other) if kind == "what-if" and other else 0} - {0})
    if described := [number for number in numbers if number < len(descriptions)]:
        plain_text("\n".join(f"{_what_if_name(one)}: {descriptions[one].description}" for one in described))
    return kind, other


def _guidance(trace: Trace, model: str) -> str:
    """Return as HTML which of the two compared models was guided; empty where both were or neither was."""
    config = model_configs().get(model)
    return escape(compared_guidance_sentence(trace.config, config, (trace.model, model))) if config else ""


def _switches(view: View, pair: ComparedPair) -> None:
    """Draw the display options, the same as those of the heatmap."""
    if without_attention := [trace for trace in pair.both if not trace.attends]:
        message(no_heatmaps_reason(without_attention[0].model), "compare_told_looks")
        return
    with box(view.key("comparison_switches"), row=True):
        if all(map(has_posterior, pair.both)):
            display_options(view, "face")
        if pair.same_segmentation:
            display_options(view, "by")
        display_options(view, "root")


def _sentence_editor(view: View) -> tuple[str, bool]:
    """Draw the text box, its words as buttons, and the actions on the chosen word, of which disabled ones stay.

    Return the sentence, and whether its translation is held.
    """
    session, source = page_session(), view.trace.source_text
    key, word_key = view.key(_SENTENCE), view.key("edited_word")
    sentence = text_box(
        gettext("The other sentence"),
        key=key,
        default=source,
        labelled=False,
        placeholder=sentence_placeholder(),
        parameter=key,
    )
    words = sentence_words(sentence)
    buttons = {str(k): shorten(word, 30) for k, word in enumerate(words[:_MOST_WORDS])}
    chosen = segmented_control(gettext("Words of the edited sentence"), buttons, key=word_key, default="")
    word = int(chosen) if chosen else 0
    following = next_word(sentence, word) if chosen else None
    drop, swap = gettext("Drop"), gettext("Swap with the next word")
    quoted = [quote(shorten(one, 20)) for one in words]
    if chosen:
        drop = gettext("Drop {word}", word=quoted[word])
    if following is not None:
        swap = gettext("Swap {word} and {next}", word=quoted[word], next=quoted[following])

    def change_by(change: Callable[[str, int], str]) -> Callable[[], object]:
        return lambda: session.update({word_key: "", key: change(sentence, word)})

    with box(view.key("edits"), row=True):
        request_button(drop, change_by(without_word), key=view.key("drop_word"), disabled=not chosen)
        request_button(swap, change_by(with_next_swapped), key=view.key("swap_words"), disabled=following is None)
        request_button(
            gettext("Undo all"),
            change_by(lambda *_: source),
            key=view.key("undo_edits"),
            type="tertiary",
            disabled=sentence == source,
        )
        is_held = switch(
            gettext("Hold the translation"),
            key=view.key(_HELD),
            parameter=view.key(_HELD),
            help=gettext(
                "Forced decoding: the model writes the translation of the original sentence instead of a new "
                "translation. You then see, word by word, how the edited sentence changes attention and probabilities."
            ),
        )
    return sentence, is_held


def _lines(pair: ComparedPair, title: str, source: bool) -> str:
    """Return the source sentences of a pair, or its translations, as HTML, where they differ."""
    first, second = (spaced_words(trace, source=source) for trace in pair.both)
    axis = shared_axis([word for word, _ in first], [word for word, _ in second])
    if axis.same:
        return ""
    removed = [place for place, other in zip(axis.first, axis.other, strict=True) if other is None]
    added = [place for place, other in zip(axis.other, axis.first, strict=True) if other is None]
    css_class, language = ("encoder", "en") if source else ("decoder", "fr")
    rows = ((first, removed, "del"), (second, added, "ins"))
    return "".join(
        f'<p><span class="name">{escape(title)}, {escape(name)}</span> '
        f'<span class="{css_class}" lang="{language}">{_highlighted(*row)}</span></p>'
        for name, row in zip(pair.names, rows, strict=True)
    )


def _highlighted(words: SpacedWords, highlighted: list[int | None], tag: str) -> str:
    return "".join(
        (" " if has_space else "") + (f"<{tag}>{escape(word)}</{tag}>" if index in highlighted else escape(word))
        for index, (word, has_space) in enumerate(words)
    )


COMPARISON_SECTION = LabSection(_pictures, _tables, title=lambda: gettext("Side by side"), draw=_draw)
