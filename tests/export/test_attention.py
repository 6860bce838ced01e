"""Another program's attention in every form there is to take away, whatever its weights; and by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from syrupy.assertion import SnapshotAssertion

from attnviz import Attention, AttnvizError, attention, figures
from attnviz.analysis.findings import findings_of, summarise
from attnviz.analysis.pharaoh import pharaoh
from attnviz.architectures import step_texts
from attnviz.commands.program import main
from attnviz.export.files import FigureOptions, contents
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.wording.findings import finding_sentence, nothing_found, step_attention_sentence, summary_sentence
from attnviz.wording.imported_attention import missing_values_reason
from tests.importing.given import SOURCE, TARGET, marian, matrix
from tests.snapshots import plain


@pytest.fixture
def record() -> Attention:
    return attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()))


@pytest.mark.parametrize("ending", ["html", "tex", "csv", "json", "pharaoh"])
def test_every_form_but_pictures(record: Attention, ending: str) -> None:
    content = contents(record, ending, FigureOptions(margins=ending in ("csv", "html"))).decode("utf-8-sig")
    expected = {
        "html": missing_values_reason(),
        "tex": "économique",
        "csv": "économique",
        "json": "attnviz-attention",
        "pharaoh": "0-0 1-2 2-1 3-3 3-4 4-5 5-6",
    }[ending]
    assert expected in content


def test_words_without_an_end_keep_their_last_link() -> None:
    assert pharaoh(attention("a b", "x y", np.eye(2)).words()) == "0-0 1-1"
    assert pharaoh(attention("a b", "x y", [[1, 0], [0, 0]]).words()) == "0-0"  # the empty row has no link


@pytest.mark.parametrize("name", sorted(set(STEP_FIGURES) - {"look", "energy", "softmax"}))
def test_what_needs_the_inside_says_that_it_is_not_there(record: Attention, name: str) -> None:
    assert STEP_FIGURES[name].missing(Subject(record, 0))
    with pytest.raises(AttnvizError) as error:
        record.step_figure(0, name)
    assert str(error.value) == missing_values_reason()


@pytest.mark.parametrize("face", ["after", "difference"])
def test_it_has_one_face(record: Attention, face: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        record.heatmap(face=face)
    assert str(error.value) == snapshot


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_whatever_the_weights_all_of_it_can_be_drawn_and_told(rows: int, columns: int, data: st.DataObject) -> None:
    weights = data.draw(arrays(np.float64, (rows, columns), elements=st.floats(0, 1e3)))
    tokens = st.sampled_from(["a", "B@@", "<unk>", "</s>", "1992", ".", "été"])
    sides = [data.draw(st.lists(tokens, min_size=n, max_size=n)) for n in (columns, rows)]
    found = attention(*sides, weights, normalise=True)
    for by in ("words", "pieces"):
        assert figures.heatmap(found, by=by, margins=True).layout.meta["alt"]
    assert "</table>" in found._repr_html_()
    assert all(finding_sentence(found, finding) for finding in findings_of(found))
    assert not any(finding.strong for finding in findings_of(found))
    assert summary_sentence(summarise(found))
    assert nothing_found(found)
    for step in range(rows):
        assert step_attention_sentence(found, step)
        assert step_texts(found).narrate(found, step)[0].sentence
        assert found.step_figure(step).layout.meta["alt"]
    assert all(0 <= int(j) < columns for link in pharaoh(found.words()).split() for j in link.split("-")[:1])


def test_the_command_draws_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    def written() -> str:
        return plain(capsys.readouterr().err, tmp_path)

    soft, made = tmp_path / "soft.txt", tmp_path / "made.json"
    soft.write_text(marian(matrix(1)) + "\n" + marian(matrix(2) / 2), encoding="utf-8")
    common = ["figure", "--attention", str(soft), "--source-tokens", " ".join(SOURCE), "-o", str(made)]
    assert main(common) == 0
    assert written() == snapshot(name="drawn")
    assert np.allclose(json.loads(made.read_text(encoding="utf-8"))["matrix"], matrix(1), atol=1e-5)
    assert main([*common, "--sentence", "2"]) == 2
    said = written()
    assert "--normalise" in said
    assert "--source-tokens" not in said
    assert said == snapshot(name="rows of another sum")
    assert main([*common, "--sentence", "3"]) == 2
    said = written()
    assert "--" not in said  # no option helps
    assert said == snapshot(name="no third sentence")
    assert main([*common, "--sentence", "2", "--normalise"]) == 0
    assert main([*common, "--face", "after"]) == 2
    assert main([*common, "--layer", "1"]) == 2
    assert main([*common, "--model", str(tmp_path)]) == 2
    assert written().splitlines()[-1] == snapshot(name="with a model")
    assert main(["figure", "--attention", str(soft), "-o", str(made)]) == 2
    said = written()
    assert "--source-tokens" in said
    assert "--normalise" not in said
    assert said == snapshot(name="no source tokens")
    assert main(["figure", "x", "--attention", str(soft), "-o", str(made)]) == 2
    assert main(["figure", "--trace", str(made), "-o", str(tmp_path / "again.csv")]) == 0
