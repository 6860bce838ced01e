"""Links that people drew in files: in the page for a lecture, by the command, and refused where there is no heatmap."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention
from attnviz.analysis.gold import GoldLinks, read_links
from attnviz.commands.program import main
from attnviz.export.files import FigureOptions, contents, picture
from attnviz.translator import Translator
from tests.conftest import SENTENCES


def names(figure: object) -> list[str]:
    return [trace["name"] for trace in figure["data"] if trace["type"] == "scatter"]  # type: ignore[index]


def test_a_page_for_a_lecture_has_the_marks_in_every_face(translator: Translator, snapshot: SnapshotAssertion) -> None:
    trace = translator.translate(SENTENCES[0], target=SENTENCES[1])
    gold = read_links("0-0 1?1", trace.words())
    page = contents(trace, "html", FigureOptions(gold=gold)).decode("utf-8")
    start = page.index('{"source"')
    record, _ = json.JSONDecoder().raw_decode(page[start:])
    faces = record["figures"]["faces"]
    assert all({"sure", "possible"} <= set(names(face)) for face in faces.values())
    assert "lien sûr" in json.dumps(record["changes"]["fr-dark"], ensure_ascii=False)
    assert not names(picture(trace, FigureOptions()))
    for look, ending in (
        (FigureOptions(gold=gold), "csv"),
        (FigureOptions(gold=gold, picture="softmax", step=0), "html"),
    ):
        with pytest.raises(AttnvizError) as error:
            contents(trace, ending, look)
        assert str(error.value) == snapshot(name=ending)


def test_links_that_a_record_carries_are_drawn_unless_others_are_given() -> None:
    record = attention("a b", "c d", np.eye(2), sure=[(0, 1)])
    assert names(picture(record, FigureOptions())) == ["sure edge", "sure", "sure core", "false edge", "false"]
    assert not names(picture(record, FigureOptions(gold=GoldLinks())))


def test_the_command_marks_links_and_says_which_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    given, made = tmp_path / "a.json", tmp_path / "made.html"
    given.write_text(attention("a b", "c d", np.eye(2)).to_json(), encoding="utf-8")
    assert main(["figure", "--attention", str(given), "--gold", "0-0 1?1", "-o", str(made)]) == 0
    assert "sure core" in made.read_text(encoding="utf-8")
    assert main(["figure", "--attention", str(given), "--gold", "0-0 5-0", "-o", str(made)]) == 2
    assert capsys.readouterr().err == snapshot
