"""Choose and make the two translations of the lab's comparison; the editor of the second sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from attnviz import AttnvizError, Trace
from attnviz.analysis.comparison import ComparedSide, next_word, sentence_words, with_next_swapped, without_word
from attnviz.analysis.labels import quote, shorten
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.text import sentence_placeholder
from attnviz.ui.chrome import go_to
from attnviz.ui.components.component import box
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import segmented_control, switch, text_box
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.selection import WHAT_IFS, stored_what_ifs
from attnviz.ui.requests import request_button
from attnviz.ui.resources import devices, translate, weights_of
from attnviz.ui.view import View

ComparedKind = Literal["model", "sentence", "what-if"]
COMPARED_KINDS: tuple[ComparedKind, ...] = get_args(ComparedKind)

COMPARED_KIND, COMPARED_MODEL, COMPARED_SENTENCE, COMPARED_HELD, COMPARED_WHAT_IF = (
    "compare",
    "other_model",
    "other_sentence",
    "held",
    "other_what_if",
)
SECTION, COMPARISON = "section", "comparison"
"""Name of the choice of the lab's section, in the session state and in the address; name of the comparison."""
VISITED = "visited_comparison"
"""Session state key: whether the next run scrolls to the comparison."""
COMPARED_NAMES = (COMPARED_KIND, COMPARED_MODEL, COMPARED_SENTENCE, COMPARED_HELD, COMPARED_WHAT_IF)
"""Session state keys of the choices, and address parameters."""


@dataclass(frozen=True)
class Partner:
    """The other side of a comparison."""

    kind: ComparedKind
    model: str | None
    """Another model, force-decoded with the same translation; None where there is none."""
    sentence: str
    """Another sentence, translated by the same model."""
    held: bool
    """Whether the other sentence is force-decoded with the translation of the first."""
    what_if: int
    """Number of a what-if of the same sentence, 0 for the original translation."""


def other_what_ifs(view: View) -> list[int]:
    """Return the what-ifs that the current translation can be compared with: numbers, 0 for the original."""
    count = len(view.what_ifs.what_ifs) if view.what_ifs else 0
    return [number for number in range(count + 1) if number != view.number]


def default_what_if(view: View) -> int:
    """Return the default: the original translation for a what-if, and the last what-if for the original."""
    return 0 if view.number else max(other_what_ifs(view), default=0)


def chosen_partner(view: View, models: Sequence[str]) -> Partner:
    """Return the current choice, with defaults for what was not chosen; `models` are the other models."""
    kind, model, sentence, held, what_if = (page_session().get(view.key(name)) for name in COMPARED_NAMES)
    return Partner(
        kind=cast("ComparedKind", kind if kind in COMPARED_KINDS else COMPARED_KINDS[0]),
        model=model if model in models else next(iter(models), None),
        sentence=view.trace.source_text if sentence is None else str(sentence),
        held=bool(held),
        what_if=next((n for n in other_what_ifs(view) if str(n) == what_if), default_what_if(view)),
    )


@dataclass(frozen=True)
class ComparedPair:
    """Two translations side by side."""

    first: Trace
    other: Trace
    names: tuple[str, str]
    """Their display names."""
    leads: ComparedSide
    """The translation whose steps the player follows."""


def show_beside(view: View, model: str) -> None:
    """Show the page *Lab* with the translation of `view`, as the model made it, beside the same by another model."""
    session = page_session()
    session[SECTION], session[VISITED] = COMPARISON, True
    session[view.key(WHAT_IFS)] = stored_what_ifs(view.id).showing(0)
    session[view.key(COMPARED_KIND)], session[view.key(COMPARED_MODEL)] = "model", model
    go_to("lab")


def other_models(trace: Trace) -> list[str]:
    """Return the names of all models except the one that made `trace`."""
    return [name for name in installed_models() if name != trace.model]


def selected_pair(view: View) -> ComparedPair:
    """Return the two chosen translations; raise AttnvizError with a sentence where they cannot be made."""
    partner, trace = chosen_partner(view, other_models(view.trace)), view.trace
    if partner.kind == "what-if":
        return _pair_of_what_ifs(view, partner.what_if)
    if partner.kind == "model":
        return _pair_of_models(view, partner)
    return _pair_of_sentences(trace, partner)


def _pair_of_models(view: View, partner: Partner) -> ComparedPair:
    trace = view.trace
    if partner.model is None:
        raise AttnvizError(
            gettext(
                "There is no other model to compare with. Put the folder of another model beside the folder of "
                "{model}.",
                model=trace.model,
            )
        )
    folder = str(installed_models()[partner.model])
    other = translate(folder, _device(), trace.source_text, 1, trace.translation)
    name = f"{trace.model}, {what_if_name(view.number)}" if view.number else trace.model
    return ComparedPair(trace, other, (name, partner.model), "first")


def _pair_of_sentences(trace: Trace, partner: Partner) -> ComparedPair:
    if " ".join(partner.sentence.split()) == " ".join(trace.source_text.split()):
        raise AttnvizError(
            gettext(
                "The two sentences to compare are the same: drop a word, swap two words, or write another sentence."
            )
        )
    if weights_of(trace) is None:
        raise AttnvizError(
            gettext(
                "Only the model “{model}”, which made this translation, can translate the edited sentence. This model "
                "is not installed: add its model folder.",
                model=trace.model,
            )
        )
    folder, target = str(installed_models()[trace.model]), trace.translation if partner.held else None
    other = translate(folder, _device(), partner.sentence, _beam(trace), target)
    return ComparedPair(trace, other, (gettext("first sentence"), gettext("other sentence")), "first")


def _pair_of_what_ifs(view: View, number: int) -> ComparedPair:
    """Return the current what-if and another one of its sentence, in order of their numbers."""
    if view.what_ifs is None or not view.what_ifs.what_ifs:
        raise AttnvizError(
            gettext(
                "This translation has no what-ifs yet. Make a what-if on the page Translate; you can then "
                "compare it on this page."
            )
        )
    first, second = sorted((view.number, number))
    traces = view.what_ifs.trace(first), view.what_ifs.trace(second)
    return ComparedPair(
        *traces, (what_if_name(first), what_if_name(second)), "first" if first == view.number else "other"
    )


def what_if_name(number: int) -> str:
    """Return the display name of a what-if by its number; 0 is the original translation."""
    return gettext("what-if {number}", number=number) if number else gettext("as translated")


def _device() -> str:
    return str(page_session().get(inputs.DEVICE) or devices()[0])


def _beam(trace: Trace) -> int:
    """Return the beam width of `trace`; for a forced translation the width chosen for others."""
    if trace.search.method != "forced":
        return trace.search.beam
    return inputs.beam_of(str(page_session().get(inputs.SEARCH) or "beam 5"))


def unknown_text_sentence(pair: ComparedPair) -> str:
    """Return a sentence about text of the other sentence that its model cannot encode, or an empty string."""
    unknown = pair.other.unknown_characters
    if not unknown or pair.other.source_text == pair.first.source_text:
        return ""
    return gettext(
        "The model has never seen these parts of the text and reads each as <unk>: {listed}",
        listed="  ".join(unknown[:20]),
    )


_MOST_WORDS = 80
"""Number of words with a button; the rest of a longer sentence is edited in the box."""


def sentence_editor(view: View) -> None:
    """Draw the text box, its words as buttons, and the actions on the chosen word."""
    sentence = text_box(
        gettext("The other sentence"),
        key=view.key(COMPARED_SENTENCE),
        default=view.trace.source_text,
        label_visibility="collapsed",
        placeholder=sentence_placeholder(),
        parameter=view.key(COMPARED_SENTENCE),
    )
    words = sentence_words(sentence)[:_MOST_WORDS]
    chosen = segmented_control(
        gettext("Words of the edited sentence"),
        {str(k): shorten(word, 30) for k, word in enumerate(words)},
        key=view.key("edited_word"),
        default="",
        label_visibility="collapsed",
    )
    with box(view.key("edits"), row=True):
        _actions(view, sentence, words, int(chosen) if chosen else None)
        switch(
            gettext("Hold the translation"),
            key=view.key(COMPARED_HELD),
            parameter=view.key(COMPARED_HELD),
            help=gettext(
                "Forced decoding: the model writes the translation of the original sentence instead of a new "
                "translation. You then see, word by word, how the edited sentence changes attention and probabilities."
            ),
        )


def _actions(view: View, sentence: str, words: tuple[str, ...], word: int | None) -> None:
    """Draw the actions on the chosen `word` and the undo button; disabled actions stay visible."""
    session, source = page_session(), view.trace.source_text
    next_index = None if word is None else next_word(sentence, word)
    drop, swap = gettext("Drop"), gettext("Swap with the next word")
    if word is not None:
        drop = gettext("Drop {word}", word=_quoted(words[word]))
    if word is not None and next_index is not None:
        other = sentence_words(sentence)[next_index]
        swap = gettext("Swap {word} and {next}", word=_quoted(words[word]), next=_quoted(other))

    def set_sentence(changed: str) -> None:
        session[view.key("edited_word")] = ""
        session[view.key(COMPARED_SENTENCE)] = changed

    request_button(
        drop, lambda: set_sentence(without_word(sentence, word or 0)), key=view.key("drop_word"), disabled=word is None
    )
    request_button(
        swap,
        lambda: set_sentence(with_next_swapped(sentence, word or 0)),
        key=view.key("swap_words"),
        disabled=next_index is None,
    )
    request_button(
        gettext("Undo all"),
        lambda: set_sentence(source),
        key=view.key("undo_edits"),
        type="tertiary",
        disabled=sentence == source,
    )


def _quoted(word: str) -> str:
    return quote(shorten(word, 20))
