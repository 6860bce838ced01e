"""Exports of gold links: pages, the command line, and formats that refuse them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention
from attnviz.analysis.gold import GoldLinks, parse_gold_links
from attnviz.analysis.grid import FACES
from attnviz.export.saved_files import FigureOptions, contents, picture
from attnviz.model_folder import read_weights
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.figures.payloads import plain
from tests.saved_pages import saved_view


def scatter_names(figure: object) -> list[str]:
    return [trace["name"] for trace in figure["data"] if trace["type"] == "scatter"]  # type: ignore[index]


def test_page_marks_gold_links_in_every_face(
    translator: Translator, model_folder: Path, snapshot: SnapshotAssertion
) -> None:
    trace = translator.translate(SENTENCES[0], target=SENTENCES[1])
    gold = parse_gold_links("0-0 1?1", trace.words())
    text = contents(trace, "html", FigureOptions(gold=gold), read_weights(model_folder)).decode("utf-8")
    page = saved_view(text, "fr", "dark")
    for face in FACES:
        drawn = page.heatmap(face=face)
        assert {"sure", "possible"} <= set(scatter_names(drawn))
        assert "lien sûr" in json.dumps(plain(drawn), ensure_ascii=False)
        assert "taux d’erreur d’alignement" in page.payload("gold_links", face=face)["summary"]
    assert not scatter_names(picture(trace, FigureOptions()).plotly())
    for options, ending in (
        (FigureOptions(gold=gold), "csv"),
        (FigureOptions(gold=gold, picture="softmax", step=0), "html"),
    ):
        with pytest.raises(AttnvizError) as error:
            contents(trace, ending, options)
        assert str(error.value) == snapshot(name=ending)


def test_stored_links_are_drawn_unless_others_are_given() -> None:
    record = attention("a b", "c d", np.eye(2), sure=[(0, 1)])
    assert scatter_names(picture(record, FigureOptions()).plotly()) == [
        "sure edge",
        "sure",
        "sure core",
        "false edge",
        "false",
    ]
    assert not scatter_names(picture(record, FigureOptions(gold=GoldLinks())).plotly())
