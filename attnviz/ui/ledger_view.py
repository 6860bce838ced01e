"""The logit ledger on the page: why a word got its logit, or why this word and not that, source word by source word.

By default every step shows the account of its own word, and all of these are in the browser at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from attnviz.analysis.ledger import Ledger, ledger
from attnviz.analysis.recomputation import Weights
from attnviz.figures.labels import CONTINUES, piece_name, quote, shorten
from attnviz.figures.palette import ThemeName
from attnviz.figures.waterfall import ledger_rows, ledger_table, ledger_waterfall, signed
from attnviz.languages import language, say
from attnviz.text import SPACE, UNK, Tokenizer
from attnviz.trace import Trace
from attnviz.ui import state
from attnviz.ui.charts import chart
from attnviz.ui.resources import tokenizer_of, trace_identity
from attnviz.ui.stages import steps_at_once

RIVAL = "rival"
"""Id of the piece that the word is held against, or None: then it is the likeliest other one, step by step. In the
session and, if chosen, in the address."""
LIKELIEST = 10

MUCH_WEIGHT = 0.2
"""Attention from which a source piece is expected to matter: a fifth of the look is more than chance gives any piece of
a sentence of six or more."""
LITTLE_EFFECT = 0.03
"""Share of all that moved the logit, up or down, below which an entry is called an effect of nothing: not visible as a
bar of the waterfall."""

OWN = "the word of the step"
NEXT_BEST = "the likeliest other"
"""The first choice of either box; shown in the visitor's language."""
_WORD_BOX, _RIVAL_BOX, _TYPED = "ledger_word", "ledger_rival", "ledger_typed"
_Words = tuple[str | None, str | None]
"""What was typed in either box, where the model writes it in several pieces."""


def ledger_view(trace: Trace, weights: Weights | None, step: int, theme: ThemeName) -> None:
    """Draw the ledger of the chosen word at 1-based `step` and its contrast with a rival, below the choice of both."""
    tokenizer = tokenizer_of(trace)
    if weights is None or tokenizer is None:
        st.text(say("The logit ledger is computed from the weights of the model that made this translation, “{model}”, "
                    "which is not here. Put it in the folder of models and open the translation again.",
                    model=trace.model))  # fmt: skip
        return
    word, rival = _word(len(tokenizer)), _rival(trace, step, len(tokenizer))
    typed = _typed(trace, tokenizer, step, word, rival)
    _choices(trace, tokenizer, step, word, rival, typed)
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
    _tables(trace, weights, step, *pairs[step])


def chosen_pair(trace: Trace, step: int, pieces: int) -> tuple[int, int | None]:
    """Return the pieces compared on the page at 1-based `step`, of a vocabulary of `pieces`: the chosen ones, or else
    those of `pair`."""
    where, rival = cast("tuple[Any, int | None]", st.session_state.get(RIVAL, (None, None)))
    held = rival is not None and where == (trace_identity(trace), step) and rival < pieces
    return pair(trace, step, _word(pieces), rival if held else None)


def pair(trace: Trace, step: int, word: int | None, rival: int | None) -> tuple[int, int | None]:
    """Return the pieces to compare at 1-based `step`: the given ones, or for None the step's own and the likeliest
    other; the second is None where there is no other, for none is held against itself."""
    word = int(trace.target_ids[step - 1]) if word is None else word
    if rival is None:
        rival = next((int(index) for index in trace.top_ids[step - 1] if index != word), None)
    return word, None if rival == word else rival


def account(trace: Trace, weights: Weights, step: int, word: int, rival: int | None) -> Ledger:
    """Return the ledger of piece `word` at 1-based `step`, less that of `rival` where there is one."""
    entries = ledger(trace, weights, step - 1, word)
    return entries if rival is None else entries - ledger(trace, weights, step - 1, rival)


def rows_of(trace: Trace, weights: Weights, step: int, word: int, rival: int | None) -> tuple[int, ...]:
    """Return the source pieces with a row of their own at 1-based `step`, in the ledger of `word` as in its contrast;
    the one on show is among them."""
    chosen = state.source_of(st.session_state, trace, step) - 1
    return _rows(trace, weights, (trace_identity(trace), step, word, rival, chosen))


def account_figure(
    trace: Trace, entries: Ledger, name: str, rival: str | None, *, rows: Sequence[int] | None = None,
    theme: ThemeName = "light",
) -> go.Figure:  # fmt: skip
    """Return the waterfall of an account; `name` and `rival` are the names of the two pieces, `rows` the source pieces
    with a row of their own."""
    title = say("logit of {name}", name=name) if rival is None else f"{shorten(name, 9)} − {shorten(rival, 9)}"
    return ledger_waterfall(trace, entries, title, rows=rows, theme=theme)


def piece_of(text: str, tokenizer: Tokenizer) -> tuple[int | None, str]:
    """Return the id of the piece that a visitor typed, or None, and what there is to say about it, if anything.

    A piece may be named as the pictures do, `·cycle` for one that continues a word; other text is cut into pieces, of
    which the first is taken.
    """
    typed = text.strip()
    index = _names(tokenizer).get(typed)
    if index is not None:
        return index, ""
    ids = [] if typed.startswith(CONTINUES) else tokenizer.encode(typed)
    if ids and tokenizer.piece(ids[0]) == SPACE and len(ids) > 1:
        ids = ids[1:]
    if not ids:
        return None, say("“{text}” is no piece of this model’s vocabulary.", text=shorten(typed, 40))
    if ids[0] == UNK:
        return None, say("The model has never seen “{text}”, and so has no logit for it.", text=shorten(typed, 40))
    names = [piece_name(tokenizer.piece(index)) for index in ids]
    if len(ids) == 1:
        return ids[0], ""
    return ids[0], say(
        "The model writes “{text}” in {count} pieces, {pieces}; shown is the first, {first}.", text=shorten(typed, 40),
        count=len(ids), pieces=shorten(" ".join(names), 60), first=names[0],
    )  # fmt: skip


def ledger_sentence(trace: Trace, entries: Ledger, name: str, rival: str | None) -> str:
    """Return the account in plain words; `name` and `rival` are the names of the two pieces."""
    through = say("what came through s_i") if trace.config["readout_state"] == "current" else say("the state")
    parts = say(
        "the source words add {source}, {through} {state}, the previous word {previous}, the bias {bias}.",
        source=signed(float(entries.source.sum())), through=through, state=signed(entries.state),
        previous=signed(entries.previous_word), bias=signed(entries.bias),
    )  # fmt: skip
    logit = signed(entries.logit)
    if rival is None:
        told = [say("“{name}” has the logit {logit}: {parts}", name=name, logit=logit, parts=parts)]
    else:
        ahead, behind = (name, rival) if entries.logit >= 0 else (rival, name)
        told = [say("“{ahead}” is {often} as likely as “{behind}”: the difference of their logits is {logit}, of "
                    "which {parts}", ahead=ahead, often=odds(abs(entries.logit)), behind=behind, logit=logit,
                    parts=parts)]  # fmt: skip
    names = [piece_name(piece) for piece in trace.source_pieces]
    alpha = trace.alignment[entries.step]
    most = int(np.abs(entries.source).argmax())
    amount = signed(float(entries.source[most]))
    told.append(say("Of the source words “{name}” says most, {amount} with weight {weight:.2f}.",
                    name=names[most], amount=amount, weight=alpha[most]))  # fmt: skip
    idle = idle_sources(entries, alpha)
    if idle:
        listed = ", ".join(f"{quote(names[j])} ({alpha[j]:.2f})" for j in idle)
        told.append(say("Much looked at, to almost no effect: {listed}.", listed=listed))
    return " ".join(told)


def odds(difference: float) -> str:
    """Return in words how many times likelier a `difference` of logits, 0 or more, makes a piece."""
    times = np.exp(min(difference, 50))
    if times >= 1e6:
        return say("more than a million times")
    if times < 1000:
        return say("{count} times", count=f"{times:.1f}" if times < 100 else f"{times:.0f}")
    return say("about {count} times", count=f"{float(f'{times:.1e}'):,.0f}".replace(",", "\u202f"))


def idle_sources(entries: Ledger, alpha: np.ndarray[Any, Any]) -> list[int]:
    """Return the source pieces with much of the attention and next to no effect on the logit, by MUCH_WEIGHT and
    LITTLE_EFFECT."""
    moved = abs(entries.bias) + abs(entries.state) + abs(entries.previous_word) + float(np.abs(entries.source).sum())
    small = np.abs(entries.source) < LITTLE_EFFECT * moved
    return [int(j) for j in np.flatnonzero((alpha >= MUCH_WEIGHT) & small)]


@st.cache_data(max_entries=1024, show_spinner=False)
def _drawn(
    _trace: Trace, _weights: Weights, _tokenizer: Tokenizer,
    what: tuple[Any, int, int, int | None, tuple[int, ...], _Words, ThemeName, str],
) -> tuple[str, tuple[str, str]]:  # fmt: skip
    """Return the picture of one account as JSON, with its heading and sentence. `what`, the key of the cache, is the
    identity of the trace, the step, word, rival, rows, what was typed, theme and language."""
    _, step, word, rival, rows, typed, theme, _ = what
    entries = account(_trace, _weights, step, word, rival)
    name = piece_name(_tokenizer.piece(word))
    against = None if rival is None else piece_name(_tokenizer.piece(rival))
    if against is None:
        heading = say("Logit ledger: where the logit of {name} comes from", name=called(name, typed[0]))
    else:
        heading = say("Why {name} and not {against}", name=called(name, typed[0]), against=called(against, typed[1]))
    figure = account_figure(_trace, entries, name, against, rows=rows, theme=theme)
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
    rivals = (None,) if rival is None else (None, rival)
    return ledger_rows([account(_trace, _weights, step, word, against) for against in rivals], chosen)


def _word(pieces: int) -> int | None:
    """Return the word chosen, of a vocabulary of `pieces`, or None: then it is the step's own."""
    word = st.session_state.get(state.WORD)
    return None if word is None or int(word) >= pieces else int(word)


def _rival(trace: Trace, step: int, pieces: int) -> int | None:
    """Return the rival chosen at 1-based `step`, of a vocabulary of `pieces`, and keep it in the address; it goes with
    the step."""
    here, linked = (trace_identity(trace), step), st.query_params.get(RIVAL, "")
    first = int(linked) if re.fullmatch("[0-9]{1,6}", linked) else None
    where, rival = cast("tuple[Any, int | None]", st.session_state.get(RIVAL, (here, first)))
    if rival is not None and (where != here or rival >= pieces):
        rival = None
    st.session_state[RIVAL] = (here, rival)
    if rival is None:
        st.query_params.pop(RIVAL, None)
    elif linked != str(rival):
        st.query_params[RIVAL] = str(rival)
    return rival


def _typed(trace: Trace, tokenizer: Tokenizer, step: int, word: int | None, rival: int | None) -> _Words:
    """Forget what was typed for another step, or is no longer chosen; return the words of several pieces."""
    here, kept = (trace_identity(trace), step), st.session_state.setdefault(_TYPED, {})
    for box, chosen in ((_WORD_BOX, word), (_RIVAL_BOX, rival)):
        where, index, _ = kept.get(box, (None, None, ""))
        if where != here or index != chosen:
            kept.pop(box, None)
    words = (kept[box][2] if box in kept else "" for box in (_WORD_BOX, _RIVAL_BOX))
    several = [word if word and all(piece_of(word, tokenizer)) else None for word in words]
    return several[0], several[1]


def _choices(trace: Trace, tokenizer: Tokenizer, step: int, word: int | None, rival: int | None, typed: _Words) -> None:
    """Draw both choices as one question: why this word, and not which other?"""
    here = (trace_identity(trace), step)
    names = [piece_name(piece) for piece in trace.top_pieces[step - 1][:LIKELIEST]]
    kept = st.session_state
    kept[_WORD_BOX] = OWN if word is None else typed[0] or piece_name(tokenizer.piece(word))
    kept[_RIVAL_BOX] = NEXT_BEST if rival is None else typed[1] or piece_name(tokenizer.piece(rival))
    first = {OWN: say("the word of the step"), NEXT_BEST: say("the likeliest other")}
    note = say("Choose one of the ten likeliest pieces, or type any word.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="ledger_choices"):
        st.selectbox(
            say("Why"), _options([OWN, *names], kept[_WORD_BOX]), key=_WORD_BOX, width=220, accept_new_options=True,
            format_func=lambda name: first.get(name, name), on_change=_take_word, args=(tokenizer, here), help=note,
        )  # fmt: skip
        st.selectbox(
            say("and not"), _options([NEXT_BEST, *names], kept[_RIVAL_BOX]), key=_RIVAL_BOX, width=220,
            accept_new_options=True, format_func=lambda name: first.get(name, name), on_change=_take_rival,
            args=(tokenizer, here),
        )  # fmt: skip
    notes = [piece_of(text, tokenizer)[1] for _, _, text in kept[_TYPED].values()]
    for told in dict.fromkeys(filter(None, notes)):
        st.text(told)


def _options(offered: Iterable[str], shown: str) -> list[str]:
    return list(dict.fromkeys([*offered, shown]))


def _take_word(tokenizer: Tokenizer, here: tuple[Any, int]) -> None:
    st.session_state[state.WORD] = _take(tokenizer, here, _WORD_BOX, OWN)


def _take_rival(tokenizer: Tokenizer, here: tuple[Any, int]) -> None:
    st.session_state[RIVAL] = (here, _take(tokenizer, here, _RIVAL_BOX, NEXT_BEST))


def _take(tokenizer: Tokenizer, here: tuple[Any, int], box: str, first: str) -> int | None:
    """Return the piece chosen in a box, None for its first choice, and keep what was typed for it."""
    text, kept = str(st.session_state[box]).strip(), st.session_state.setdefault(_TYPED, {})
    kept.pop(box, None)
    if text == first:
        return None
    index = piece_of(text, tokenizer)[0]
    kept[box] = (here, index, text)
    return index


@st.cache_data(max_entries=2, show_spinner=False, hash_funcs={Tokenizer: lambda tokenizer: tokenizer.model})
def _names(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all pieces by the names that the pictures give them."""
    return {piece_name(tokenizer.piece(index)): index for index in range(len(tokenizer))}


def _tables(trace: Trace, weights: Weights, step: int, word: int, rival: int | None) -> None:
    """Offer every entry of both as tables, made only when opened."""
    box = st.expander(say("All entries as a table"), key="ledger_table", on_change="rerun")
    if not box.open:
        return
    with box:
        left, right = st.columns(2, gap="large")
        for column, name, against in ((left, say("logit"), None), (right, say("difference"), rival)):
            if against is not None or column is left:
                entries = account(trace, weights, step, word, against)
                column.markdown(say("Step {step}: the entries of the {name} add up to {sum:.6f}",
                                    step=step, name=name, sum=entries.logit))  # fmt: skip
                column.dataframe(ledger_table(trace, entries), height=420)
