"""Draw the editor of the lab's second sentence: a text box, and buttons that drop or swap words."""

from __future__ import annotations

import re

import streamlit as st

from attnviz.analysis.comparison import next_word, sentence_words, with_next_swapped, without_word
from attnviz.languages import gettext
from attnviz.text import LONGEST_SENTENCE
from attnviz.ui.fields import switch, text_box
from attnviz.ui.lab.compared_translation import HELD, SENTENCE
from attnviz.ui.requests import request_button
from attnviz.ui.view import View
from attnviz.wording.labels import quote, shorten

MOST_WORDS = 80
"""Number of words with a button; the rest of a longer sentence is edited in the box."""
_MARKDOWN_CHARACTERS = re.compile(r"([!-/:-@\[-`{-~])")


def sentence_editor(view: View) -> None:
    """Draw the text box, its words as buttons, and the actions on the chosen word."""
    session, chosen = st.session_state, view.key("edited_word")
    sentence = text_box(
        gettext("The other sentence"),
        key=view.key(SENTENCE),
        default=view.trace.source_text,
        label_visibility="collapsed",
        placeholder=gettext("Type an English sentence of up to {most} words.", most=LONGEST_SENTENCE),
        parameter=view.key(SENTENCE),
    )
    words = sentence_words(sentence)[:MOST_WORDS]
    if session.get(chosen) not in range(len(words)):
        session[chosen] = None
    st.pills(
        gettext("Words of the other sentence"),
        range(len(words)),
        format_func=lambda k: _label(words, k),
        key=chosen,
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, vertical_alignment="center", key=view.key("edits")):
        _actions(view, words)
        switch(
            gettext("Hold the translation"),
            key=view.key(HELD),
            parameter=view.key(HELD),
            help=gettext(
                "Forced decoding: the model writes the translation of the first sentence instead of a new "
                "translation. You then see, word by word, how the other sentence changes attention and "
                "probabilities."
            ),
        )


def _actions(view: View, words: tuple[str, ...]) -> None:
    """Draw the actions on the chosen word and the undo button; disabled actions stay visible."""
    session, sentence = st.session_state, str(st.session_state[view.key(SENTENCE)] or "")
    word: int | None = session[view.key("edited_word")]
    next_index = None if word is None else next_word(sentence, word)
    drop, swap = gettext("Drop"), gettext("Swap with the next")
    if word is not None:
        drop = gettext("Drop {word}", word=_quoted(words[word]))
    if word is not None and next_index is not None:
        other = sentence_words(sentence)[next_index]
        swap = gettext("Swap {word} and {next}", word=_quoted(words[word]), next=_quoted(other))

    def set_sentence(changed: str) -> None:
        session[view.key("edited_word")] = None
        session[view.key(SENTENCE)] = changed

    request_button(
        drop, lambda: set_sentence(without_word(sentence, word or 0)), key=view.key("drop_word"), disabled=word is None
    )
    request_button(
        swap,
        lambda: set_sentence(with_next_swapped(sentence, word or 0)),
        key=view.key("swap_words"),
        disabled=next_index is None,
    )
    source = view.trace.source_text
    request_button(
        gettext("Undo all"),
        lambda: set_sentence(source),
        key=view.key("undo_edits"),
        type="tertiary",
        disabled=sentence == source,
    )


def _quoted(word: str) -> str:
    return plain(quote(shorten(word, 20)))


def _label(words: tuple[str, ...], index: int) -> str:
    """Return the label of a word's button.

    Streamlit identifies options by their labels, so repeated words get invisible characters (U+2060) at the end.
    """
    return plain(shorten(words[index], 30)) + "\u2060" * words[:index].count(words[index])


def plain(text: str) -> str:
    """Return `text` escaped for Markdown."""
    return _MARKDOWN_CHARACTERS.sub(r"\\\1", text)
