"""The logit ledger on the page: why a word got its logit, or why this word and not that, source word by source word.

By default every step shows the account of its own word, and all of these are in the browser at once.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.analysis.recomputation import Weights
from attnviz.figures.ledger import ledger_table
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.registry import rows_of as ledger_rows_of
from attnviz.figures.subject import Subject
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.ui.components.chart.chart import chart
from attnviz.ui.page_state import selection
from attnviz.ui.resources import tokenizer_of, trace_identity
from attnviz.ui.step.ledger_choice import Words, choices, pair, rival_chosen, typed_words, word_chosen
from attnviz.ui.step.stages import steps_at_once
from attnviz.wording.labels import quote, shorten
from attnviz.wording.ledger import ledger_heading, ledger_sentence


def ledger_view(trace: Trace, weights: Weights | None, step: int, theme: ThemeName) -> None:
    """Draw the ledger of the chosen word at 1-based `step` and its contrast with a rival, below the choice of both."""
    tokenizer, lacking = tokenizer_of(trace), STEP_FIGURES["ledger"].lacking(Subject(trace, step - 1, weights))
    if lacking or weights is None or tokenizer is None:
        st.text(lacking)
        return
    word, rival = word_chosen(len(tokenizer)), rival_chosen(trace, step, len(tokenizer))
    typed = typed_words(trace, tokenizer, step, word, rival)
    choices(trace, tokenizer, step, word, rival, typed)
    identity = trace_identity(trace)
    pairs = {i: pair(trace, i, *((word, rival) if i == step else (None, None))) for i in steps_at_once(trace, step)}
    rows = {i: rows_of(trace, weights, i, *words) for i, words in pairs.items()}
    left, right = st.columns(2, gap="large")
    for column, key, held in ((left, "ledger", False), (right, "contrast", True)):
        drawn = {
            i: _drawn(
                trace, weights, tokenizer,
                (identity, i, chosen, against if held else None, rows[i], typed if i == step else (None, None), theme,
                 language()),
            )
            for i, (chosen, against) in pairs.items()
            if not held or against is not None
        }  # fmt: skip
        with column:
            chart({i: figure for i, (figure, _) in drawn.items()}, key, {i: told for i, (_, told) in drawn.items()})
    legend = say(
        "Each row adds its part of the logit, blue up, red down, to the running sum; the grey bar on its left is how "
        'much the <span class="encoder">source word</span> was looked at. A long grey bar beside a tiny step is '
        "attention without effect. The sum is exact: maxout is linear once it is known which of each pair won."
    )
    st.html(f'<p class="reading">{legend}</p>')
    chart_tables(trace, weights, step, *pairs[step])


def rows_of(trace: Trace, weights: Weights, step: int, word: int, rival: int | None) -> tuple[int, ...]:
    """Return the source pieces with a row of their own at 1-based `step`, in both ledgers."""
    chosen = selection.source_of(st.session_state, trace, step) - 1
    return _rows(trace, weights, (trace_identity(trace), step, word, rival, chosen))


@st.cache_data(max_entries=1024, show_spinner=False)
def _drawn(
    _trace: Trace, _weights: Weights, _tokenizer: Tokenizer,
    what: tuple[Any, int, int, int | None, tuple[int, ...], Words, ThemeName, str],
) -> tuple[str, tuple[str, str]]:  # fmt: skip
    """Return the picture of one account as JSON, with its heading and sentence. `what`, the key of the cache, is the
    identity of the trace, the step, word, rival, rows, what was typed, theme and language."""
    _, step, word, rival, rows, typed, theme, _ = what
    subject = Subject(_trace, step - 1, _weights, None, word, rival, _tokenizer.piece, rows)
    name = subject.name(word)
    against = None if rival is None else subject.name(rival)
    heading = ledger_heading(called(name, typed[0]), None if against is None else called(against, typed[1]))
    figure = STEP_FIGURES["ledger" if rival is None else "contrast"].draw(subject, theme=theme)
    entries = subject.ledger if rival is None else subject.contrast
    return figure.to_json(), (heading, ledger_sentence(_trace, entries, name, against))


def called(piece: str, typed: str | None) -> str:
    """Return what a heading calls a `piece`: by its name, or as the word that was `typed`, of which it is the first."""
    if typed is None:
        return quote(piece)
    return say("“{text}” (scored by its first piece, “{piece}”)", text=shorten(typed, 40), piece=piece)


@st.cache_data(max_entries=2048, show_spinner=False)
def _rows(_trace: Trace, _weights: Weights, what: tuple[Any, int, int, int | None, int]) -> tuple[int, ...]:
    """Return the rows of `rows_of`. `what`, the key of the cache, is the identity of the trace, the step, word, rival
    and the source piece on show."""
    _, step, word, rival, chosen = what
    return ledger_rows_of(Subject(_trace, step - 1, _weights, chosen, word, word if rival is None else rival))


def chart_tables(trace: Trace, weights: Weights, step: int, word: int, rival: int | None) -> None:
    """Offer every entry of both as tables, made only when opened."""
    box = st.expander(say("All entries as a table"), key="ledger_table", on_change="rerun")
    if not box.open:
        return
    with box:
        left, right = st.columns(2, gap="large")
        for column, name, against in ((left, say("logit"), None), (right, say("difference"), rival)):
            if against is not None or column is left:
                subject = Subject(trace, step - 1, weights, None, word, against)
                entries = subject.ledger if against is None else subject.contrast
                column.markdown(say("Step {step}: the entries of the {name} add up to {sum:.6f}",
                                    step=step, name=name, sum=entries.logit))  # fmt: skip
                column.dataframe(ledger_table(trace, entries), height=420)
