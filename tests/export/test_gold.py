"""Exports of gold links: lecture pages, the command line, and formats that refuse them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention
from attnviz.analysis.gold import GoldLinks, parse_gold_links
from attnviz.commands.main import main
from attnviz.export.saved_files import FigureOptions, contents, picture
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.figures.payloads import in_variant, one_of, plain


def scatter_names(figure: object) -> list[str]:
    return [trace["name"] for trace in figure["data"] if trace["type"] == "scatter"]  # type: ignore[index]


def test_lecture_page_marks_gold_links_in_every_face(translator: Translator, snapshot: SnapshotAssertion) -> None:
    trace = translator.translate(SENTENCES[0], target=SENTENCES[1])
    gold = parse_gold_links("0-0 1?1", trace.words())
    page = contents(trace, "html", FigureOptions(gold=gold)).decode("utf-8")
    start = page.index('{"source"')
    record, _ = json.JSONDecoder().raw_decode(page[start:])
    faces = in_variant(record["figures"], "fr", "dark")["faces"]
    for face in faces["values"]:
        drawn = one_of(faces, face)
        assert {"sure", "possible"} <= set(scatter_names(drawn))
        assert "lien sûr" in json.dumps(plain(drawn), ensure_ascii=False)
    assert not scatter_names(picture(trace, FigureOptions()).plotly)
    for options, ending in (
        (FigureOptions(gold=gold), "csv"),
        (FigureOptions(gold=gold, picture="softmax", step=0), "html"),
    ):
        with pytest.raises(AttnvizError) as error:
            contents(trace, ending, options)
        assert str(error.value) == snapshot(name=ending)


def test_stored_links_are_drawn_unless_others_are_given() -> None:
    record = attention("a b", "c d", np.eye(2), sure=[(0, 1)])
    assert scatter_names(picture(record, FigureOptions()).plotly) == [
        "sure edge",
        "sure",
        "sure core",
        "false edge",
        "false",
    ]
    assert not scatter_names(picture(record, FigureOptions(gold=GoldLinks())).plotly)


def test_figure_command_marks_gold_links_and_names_a_wrong_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    attention_file, page_file = tmp_path / "a.json", tmp_path / "made.html"
    attention_file.write_text(attention("a b", "c d", np.eye(2)).to_json(), encoding="utf-8")
    assert main(["figure", "--attention", str(attention_file), "--gold", "0-0 1?1", "-o", str(page_file)]) == 0
    assert "sure core" in page_file.read_text(encoding="utf-8")
    assert main(["figure", "--attention", str(attention_file), "--gold", "0-0 5-0", "-o", str(page_file)]) == 2
    assert capsys.readouterr().err == snapshot
