"""Exports of imported attention in every format, for any weights, and from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from syrupy.assertion import SnapshotAssertion

from attnviz import Attention, AttnvizError, attention, figures
from attnviz.analysis.alignment_summary import step_attention_sentence, summarise, summary_sentence
from attnviz.analysis.findings import finding_sentence, findings_of, nothing_found_text
from attnviz.analysis.gold import pharaoh
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.analysis.labels import LONGEST
from attnviz.architectures import narrate
from attnviz.commands.main import main
from attnviz.export.saved_files import FigureOptions, contents
from attnviz.figures.registry import FIGURES, step_figure
from attnviz.figures.subject import Subject
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


_WITHOUT_LIBRARIES = """
import sys
sys.modules |= {"torch": None, "streamlit": None}
from attnviz import Attention
Attention.load(sys.argv[1]).save(sys.argv[2])
"""


def test_page_of_attention_needs_neither_torch_nor_streamlit(record: Attention, tmp_path: Path) -> None:
    record.save(given := tmp_path / "a.json")
    command = [sys.executable, "-c", _WITHOUT_LIBRARIES, given, made := tmp_path / "a.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert made.read_text(encoding="utf-8") == contents(record, "html", FigureOptions()).decode("utf-8")


def test_sentences_without_an_end_mark_keep_their_last_link() -> None:
    assert pharaoh(attention("a b", "x y", np.eye(2)).words()) == "0-0 1-1"
    assert pharaoh(attention("a b", "x y", [[1, 0], [0, 0]]).words()) == "0-0"  # the empty row has no link


@pytest.mark.parametrize("name", sorted({figure.name for figure in FIGURES} - {"look", "energy", "softmax"}))
def test_step_figures_without_internal_values_are_refused(record: Attention, name: str) -> None:
    (figure,) = (figure for figure in FIGURES if figure.name == name)
    assert figure.missing(Subject(record, 0))
    with pytest.raises(AttnvizError) as error:
        record.step_figure(0, name)
    assert str(error.value) == missing_values_reason()


@pytest.mark.parametrize("face", ["after", "difference"])
def test_faces_other_than_before_are_refused(record: Attention, face: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        record.heatmap(face=face)
    assert str(error.value) == snapshot


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_any_weights_can_be_drawn_and_described(rows: int, columns: int, data: st.DataObject) -> None:
    weights = data.draw(arrays(np.float64, (rows, columns), elements=st.floats(0, 1e3)))
    tokens = st.sampled_from(["a", "B@@", "<unk>", "</s>", "1992", ".", "été"])
    sides = [data.draw(st.lists(tokens, min_size=n, max_size=n)) for n in (columns, rows)]
    found = attention(*sides, weights, normalise=True)
    for by in ("words", "steps"):
        assert figures.heatmap(found, by=by, margins=True).alt
    assert "</table>" in found._repr_html_()
    assert all(finding_sentence(found, finding) for finding in findings_of(found))
    assert not any(finding.strong for finding in findings_of(found))
    assert summary_sentence(summarise(found))
    assert nothing_found_text(found)
    for step in range(rows):
        assert step_attention_sentence(found, step)
        assert narrate(found, step)[0].sentence
        assert found.step_figure(step).layout.meta["alt"]
    assert all(0 <= int(j) < columns for link in pharaoh(found.words()).split() for j in link.split("-")[:1])


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
