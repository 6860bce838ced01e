"""BLEU by the length of the sentence, of the three models, as it was measured, with the visitor's sentence marked."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from attnviz.figures.bleu_by_length import bleu_by_length, bleu_by_length_table, bucket_of
from attnviz.kept import Kept, kept_in, size_of
from attnviz.languages import say
from attnviz.model_folder import stamp
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, given_chart, steady_record
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import models
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.trio import MODELS, Trio
from attnviz.wording.why import length_sentence

FILE = "by-length.csv"
"""Beside the folders of the models, as `attnviz evaluate --by-length --csv` writes it."""

Rows = tuple[Mapping[str, str], ...]


def by_length(view: View, three: Trio, theme: ThemeName) -> str:
    """Draw the picture; where it was not measured, return a sentence that says so."""
    rows = measured()
    if not rows:
        return say("What was measured of the three models by length, {file}, is not beside them.", file=FILE)
    words = len(three.good.source_text.split())
    figure = bleu_by_length(rows, theme, marked=words)
    record = steady_record(figure.to_json(), {EVERY_STEP: ("", _told(rows, words, three))})
    given_chart(view, record, "by_length")
    return ""


def measured() -> Rows:
    """Return what was measured of the three models, a row for each model and bucket of words; nothing where it is not
    here, or is damaged."""
    folders = models()
    if any(name not in folders for name in MODELS):
        return ()
    place = folders[MODELS[-1]].resolve().parent
    try:
        return _read(str(place), stamp(str(place), FILE))
    except (OSError, ValueError, KeyError):
        return ()


@kept_in(Kept(1 << 20, size=size_of))
def _read(place: str, file: tuple[tuple[int, ...], ...]) -> Rows:  # noqa: ARG001  part of the key
    with (Path(place) / FILE).open(encoding="utf-8", newline="") as lines:
        rows: list[dict[str, Any]] = [row for row in csv.DictReader(lines) if row["model"] in MODELS]
    for row in rows:
        float(row["bleu"]), int(row["pairs"])
    return tuple(rows)


def _told(rows: Rows, words: int, three: Trio) -> str:
    bucket = bucket_of(words, list(dict.fromkeys(row["words"] for row in rows)))
    if bucket is None:
        return ""
    kinds = {trace.model: str(trace.config["attention"]) for trace in three.own}
    scores = {kinds[row["model"]]: float(row["bleu"]) for row in rows if row["words"] == bucket}
    return length_sentence(words, bucket, {kind: scores[kind] for kind in kinds.values() if kind in scores})


def by_length_tables(three: Trio) -> Iterator[tuple[str, pd.DataFrame]]:  # noqa: ARG001  as those of the others
    """Yield the numbers of the picture."""
    if rows := measured():
        yield _title(), bleu_by_length_table(rows)


def by_length_pictures(three: Trio) -> Iterator[Picture]:
    """Yield the picture as it is saved."""
    if rows := measured():
        figure = bleu_by_length(rows, marked=len(three.good.source_text.split()))
        yield Picture(_title(), _title(), "bleu-by-length", figure, bleu_by_length_table(rows))


def _title() -> str:
    return say("BLEU by the length of the sentence")
