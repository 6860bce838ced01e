"""Draw sections of text with a heading, and lists of references."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from attnviz.languages import gettext
from attnviz.wording.why import TextSection


def text_section(section: TextSection, french: str = "") -> None:
    """Draw a heading and its paragraphs, with an optional text in French at the end."""
    texts = filter(None, (*section.paragraphs, section.hint))
    paragraphs = [f'<p class="reading">{escape(text)}</p>' for text in texts]
    if french:
        paragraphs[-1] = f'<div>{paragraphs[-1]}<p class="french" lang="fr">{escape(french)}</p></div>'
    columns = " in-columns" if len(paragraphs) > 1 else ""
    st.html(f'<div class="text-section{columns}"><h2>{escape(section.heading)}</h2>{"".join(paragraphs)}</div>')


def references(listed: Sequence[tuple[str, str, str]]) -> None:
    """Draw a list of references: authors, title, and arXiv number if there is one."""
    items = "".join(
        f"<li>{escape(who)}. {escape(title)}."
        + (f' <a href="https://arxiv.org/abs/{number}">arXiv {number}</a>' if number else "")
        + "</li>"
        for who, title, number in listed
    )
    st.html(f'<h2 class="section">{gettext("References")}</h2><ul class="references" lang="en">{items}</ul>')
