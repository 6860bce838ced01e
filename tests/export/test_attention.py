"""Exports of imported attention in every format, for any weights, and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Attention, AttnvizError, attention, figures
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.analysis.labels import LONGEST
from attnviz.commands.main import main
from attnviz.export.saved_files import FigureOptions, contents
from attnviz.figures.registry import FIGURES, StepFigure, step_figure
from attnviz.figures.subject import ATTENTION, ENERGIES, REQUIRES_IMPORTED_ATTENTION, Subject
from tests.figures.payloads import close, plain
from tests.importing.given import SOURCE, TARGET, marian, matrix
from tests.saved_pages import saved_view
from tests.snapshots import plain as plain_message


@pytest.fixture
def record() -> Attention:
    return attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()))


@pytest.mark.parametrize("ending", ["tex", "csv", "json", "pharaoh"])
def test_every_text_format_is_written(record: Attention, ending: str) -> None:
    content = contents(record, ending, FigureOptions(by="words", margins=ending == "csv")).decode("utf-8-sig")
    expected = {
        "tex": "économique",
        "csv": "économique",
        "json": "attnviz-attention",
        "pharaoh": "0-0 1-2 2-1 3-3 3-4 4-5 5-6",
    }[ending]
    assert expected in content


def test_page_of_attention_has_its_weights_and_what_is_missing(record: Attention) -> None:
    page = saved_view(contents(record, "html", FigureOptions(margins=True)).decode("utf-8"))
    assert missing_values_reason() in page.texts()
    drawn = figures.heatmap(record, margins=True, longest=LONGEST)
    assert close(plain(page.heatmap()), plain(drawn.plotly))
    for step in range(len(record.target_pieces)):
        drawn = step_figure(subject := Subject(record, step), "look").draw(subject)
        assert close(plain(page.figure("look", step)), plain(drawn.plotly))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_step_figures_without_internal_values_are_refused(record: Attention, figure: StepFigure) -> None:
    if set(figure.needs) <= {ENERGIES, ATTENTION, REQUIRES_IMPORTED_ATTENTION}:
        assert record.step_figure(0, figure.name).data
        return
    with pytest.raises(AttnvizError) as error:
        record.step_figure(0, figure.name)
    assert str(error.value) == missing_values_reason()


def test_figure_command_draws_an_attention_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    def error_output() -> str:
        return plain_message(capsys.readouterr().err, tmp_path)

    soft, made = tmp_path / "soft.txt", tmp_path / "made.json"
    soft.write_text(marian(matrix(1)) + "\n" + marian(matrix(2) / 2), encoding="utf-8")
    common = ["figure", "--attention", str(soft), "--source-tokens", " ".join(SOURCE), "-o", str(made)]
    assert main(common) == 0
    assert error_output() == snapshot(name="drawn")
    assert np.allclose(json.loads(made.read_text(encoding="utf-8"))["matrix"], matrix(1), atol=1e-5)
    assert main([*common, "--sentence", "2"]) == 2
    message = error_output()
    assert "--normalise" in message
    assert "--source-tokens" not in message
    assert message == snapshot(name="rows of another sum")
    assert main([*common, "--sentence", "3"]) == 2
    message = error_output()
    assert "--" not in message  # no option helps
    assert message == snapshot(name="no third sentence")
    assert main([*common, "--sentence", "2", "--normalise"]) == 0
    assert main([*common, "--face", "after"]) == 2
    assert main([*common, "--layer", "1"]) == 2
    assert main([*common, "--model", str(tmp_path)]) == 2
    assert error_output().splitlines()[-1] == snapshot(name="with a model")
    assert main(["figure", "--attention", str(soft), "-o", str(made)]) == 2
    message = error_output()
    assert "--source-tokens" in message
    assert "--normalise" not in message
    assert message == snapshot(name="no source tokens")
    assert main(["figure", "x", "--attention", str(soft), "-o", str(made)]) == 2
    assert main(["figure", "--trace", str(made), "-o", str(tmp_path / "again.csv")]) == 0
