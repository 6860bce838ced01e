"""Figure of BLEU by sentence length on *Why attention?*, with the length of the visitor's sentence marked."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pandas as pd
import streamlit as st

from attnviz.figures.bleu_by_length import bleu_by_length, bleu_by_length_table, bucket_of
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.bleu_by_length import FILE, Rows
from attnviz.ui.bleu_by_length import measured as measured_of
from attnviz.ui.components.chart import EVERY_STEP, inline_chart, steady_payload
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.view import View
from attnviz.ui.why.three_models import MODELS, Trio
from attnviz.wording.why import length_sentence, shares_by_length_sentence


def by_length_panel(view: View, trio: Trio, theme: ThemeName) -> str:
    """Draw the figure and return ""; without measured BLEU, return a message instead."""
    rows = measured()
    if not rows:
        return gettext(
            "The folder of models has no usable file {file}, which stores the BLEU of the three models by "
            "sentence length.",
            file=FILE,
        )
    word_count = len(trio.reference.source_text.split())
    st.html(f'<p class="reading"><b>{escape(_shares_sentence(rows, trio))}</b></p>')
    figure = bleu_by_length(rows, theme, marked_length=word_count)
    payload = steady_payload(figure.to_json(), {EVERY_STEP: ("", _sentence(rows, word_count, trio))})
    inline_chart(view, payload, "by_length")
    return ""


def measured() -> Rows:
    """Return the measured BLEU of the three models, a row for each length bucket; empty if absent or damaged."""
    return measured_of(MODELS)


def _buckets(rows: Rows) -> list[str]:
    """Return the names of the length buckets, from short to long."""
    return list(dict.fromkeys(row["words"] for row in rows))


def _shares_sentence(rows: Rows, trio: Trio) -> str:
    """Return how much of the BLEU of additive attention a fixed vector reaches on short and on long sentences."""
    models = {str(trace.config["attention"]): trace.model for trace in trio.own}
    buckets = _buckets(rows)
    scores = {(row["model"], row["words"]): float(row["bleu"]) for row in rows}
    short, long = (
        scores.get((models["none"], bucket), 0) / (scores.get((models["additive"], bucket)) or 1)
        for bucket in (buckets[0], buckets[-1])
    )
    return shares_by_length_sentence((buckets[0], buckets[-1]), (short, long))


def _sentence(rows: Rows, word_count: int, trio: Trio) -> str:
    bucket = bucket_of(word_count, _buckets(rows))
    if bucket is None:
        return ""
    kinds = {trace.model: str(trace.config["attention"]) for trace in trio.own}
    scores = {kinds[row["model"]]: float(row["bleu"]) for row in rows if row["words"] == bucket}
    return length_sentence(word_count, bucket, {kind: scores[kind] for kind in kinds.values() if kind in scores})


def by_length_tables(trio: Trio) -> Iterator[tuple[str, pd.DataFrame]]:  # noqa: ARG001  same signature as the others
    """Yield the numbers of the figure."""
    if rows := measured():
        yield _title(), bleu_by_length_table(rows)


def by_length_pictures(trio: Trio, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    if rows := measured():
        word_count = len(trio.reference.source_text.split())
        figure, sentence = bleu_by_length(rows, theme, marked_length=word_count), _sentence(rows, word_count, trio)
        yield Picture(_title(), _title(), "bleu-by-length", figure, bleu_by_length_table(rows), sentence)


def _title() -> str:
    return gettext("BLEU by the length of the sentence")
