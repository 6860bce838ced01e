"""The logit ledger on the page: why a word got its logit, or why this word and not that, source word by source word.

By default every step shows the ledger of its own word, and all of these are in the browser at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from attnviz.analysis.recomputation import Weights
from attnviz.figures.ledger import ledger_table, ledger_template
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.registry import rows_of as ledger_rows_of
from attnviz.figures.subject import Subject
from attnviz.figures.template import to_json
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.ui.components.chart.chart import chart
from attnviz.ui.page_state.selection import at_step, selection_of, source_of
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import tokenizer_of
from attnviz.ui.step.ledger_choice import chosen_pair, pair, typed_words, word_choices
from attnviz.ui.step.stages import steps_at_once
from attnviz.wording.labels import quote, shorten
from attnviz.wording.ledger import ledger_heading, ledger_sentence


def ledger_panel(view: View, weights: Weights | None, theme: ThemeName) -> None:
    """Draw the ledger of the chosen word at the step on show and its contrast with a rival, below the choice of
    both."""
    trace, tokenizer = view.trace, tokenizer_of(view.trace)
    lacking = STEP_FIGURES["ledger"].lacking(Subject(trace, 0, weights))
    if lacking or weights is None or tokenizer is None:
        st.text(lacking)
        return
    word_choices(view, tokenizer)
    shown = _on_show(view, weights, tokenizer)
    template = to_json(ledger_template(trace, theme))
    left, right = st.columns(2, gap="large")
    for column, name in ((left, "ledger"), (right, "contrast")):
        drawn = {
            step: _drawn(trace, weights, tokenizer, (view.identity, one, theme, language()))
            for step, one in ((step, one if name == "contrast" else one.alone()) for step, one in shown.items())
            if name == "ledger" or one.rival is not None
        }
        values: dict[int | str, str] = {i: one for i, (one, _) in drawn.items()}
        captions = {i: told for i, (_, told) in drawn.items()}
        with column:
            chart(view, template, values, name, captions)
    legend = say(
        "Each row adds its part of the logit, blue up, red down, to the running sum; the grey bar on its left is how "
        'much the <span class="encoder">source word</span> was looked at. A long grey bar beside a tiny step is '
        "attention without effect. The sum is exact: maxout is linear once it is known which of each pair won."
    )
    if not trace.attends:
        legend = say("Each row adds its part of the logit, blue up, red down, to the running sum.")
    st.html(f'<p class="reading">{legend}</p>')
    _tables(view, weights, shown[selection_of(st.session_state, view).step])


@dataclass(frozen=True)
class Compared:
    """What is taken apart at a step: piece `word`, less piece `rival` where there is one."""

    step: int
    word: int
    rival: int | None
    rows: tuple[int, ...]
    """The source pieces with a row of their own."""
    typed_word: str | None = None
    """What was typed in place of the piece, where the model writes it in several."""
    typed_rival: str | None = None

    def alone(self) -> Compared:
        """Return the same without its rival."""
        return replace(self, rival=None, typed_rival=None)


def _on_show(view: View, weights: Weights, tokenizer: Tokenizer) -> dict[int, Compared]:
    """Return what is compared at each step that is sent to the browser: the chosen words at the one on show."""
    selection, trace = selection_of(st.session_state, view), view.trace
    found = {}
    for step in steps_at_once(view):
        here = step == selection.step
        word, rival = chosen_pair(trace, selection, len(tokenizer)) if here else pair(trace, step, None, None)
        typed = typed_words(selection, tokenizer) if here else (None, None)
        source = source_of(at_step(selection, step), trace)
        found[step] = Compared(step, word, rival, rows_of(view, weights, step, word, rival, source), *typed)
    return found


def rows_of(view: View, weights: Weights, step: int, word: int, rival: int | None, source: int) -> tuple[int, ...]:
    """Return the source pieces with a row of their own at `step`, in the ledger of `word` as in its contrast; `source`,
    the one on show, is among them."""
    return _rows(view.trace, weights, (view.identity, step, word, rival, source))


@st.cache_data(max_entries=1024, show_spinner=False)
def _drawn(
    _trace: Trace, _weights: Weights, _tokenizer: Tokenizer, what: tuple[str, Compared, ThemeName, str]
) -> tuple[str, tuple[str, str]]:
    """Return what fills the picture of one ledger, as JSON, with its heading and sentence. `what`, the key of the
    cache, is the identity of the trace, what is compared, theme and language."""
    _, one, theme, _ = what
    subject = Subject(_trace, one.step, _weights, None, one.word, one.rival, _tokenizer.piece, one.rows)
    name = subject.name(one.word)
    against = None if one.rival is None else subject.name(one.rival)
    heading = ledger_heading(
        called(name, one.typed_word), None if against is None else called(against, one.typed_rival)
    )
    values = STEP_FIGURES["ledger" if one.rival is None else "contrast"].picture.values(subject, theme)
    entries = subject.ledger if one.rival is None else subject.contrast
    return to_json(values), (heading, ledger_sentence(_trace, entries, name, against))


def called(piece: str, typed: str | None) -> str:
    """Return what a heading calls a `piece`: by its name, or as the word that was `typed`, of which it is the first."""
    if typed is None:
        return quote(piece)
    return say("“{text}” (scored by its first piece, “{piece}”)", text=shorten(typed, 40), piece=piece)


@st.cache_data(max_entries=2048, show_spinner=False)
def _rows(_trace: Trace, _weights: Weights, what: tuple[str, int, int, int | None, int]) -> tuple[int, ...]:
    """Return the rows of `rows_of`. `what`, the key of the cache, is the identity of the trace, the step, word, rival
    and the source piece on show."""
    _, step, word, rival, source = what
    return ledger_rows_of(Subject(_trace, step, _weights, source, word, word if rival is None else rival))


def _tables(view: View, weights: Weights, one: Compared) -> None:
    """Offer every entry of both as tables, made only when opened."""
    box = st.expander(say("All entries as a table"), key=view.key("ledger_table"), on_change="rerun")
    if not box.open:
        return
    with box:
        left, right = st.columns(2, gap="large")
        for column, name, against in ((left, say("logit"), None), (right, say("difference"), one.rival)):
            if against is not None or column is left:
                subject = Subject(view.trace, one.step, weights, None, one.word, against)
                entries = subject.ledger if against is None else subject.contrast
                column.markdown(say("Step {step}: the entries of the {name} add up to {sum:.6f}",
                                    step=one.step + 1, name=name, sum=entries.logit))  # fmt: skip
                column.dataframe(ledger_table(view.trace, entries), height=420)
