"""The command `attnviz lesson`: it writes the page of a lesson, or says what is wrong with the file."""

import re

import pytest

from attnviz.commands.main import main
from attnviz.lessons import LessonSentence, read_lesson
from attnviz.model_folder import read_weights
from attnviz.trace import Trace
from attnviz.ui.lesson_view import answered, lesson_html
from tests.conftest import SENTENCES
from tests.snapshots import plain

LESSON = f"""
attnviz-lesson: 1
title: A lesson
sentences:
  - sentence: {SENTENCES[0]}
    questions:
      - question: Where?
        predict: attends
        step: 1
"""


def test_page_is_that_of_the_model(tmp_path, model_folder, translator) -> None:
    path, page = tmp_path / "lesson.yaml", tmp_path / "lesson.html"
    path.write_text(LESSON, encoding="utf-8")
    assert main(["lesson", str(path), "-o", str(page), "--model", str(model_folder), "--device", "cpu"]) == 0

    def translate(sentence: LessonSentence) -> tuple[Trace, object]:
        return translator.translate(sentence.sentence, beam=1), read_weights(model_folder)

    assert page.read_bytes() == lesson_html(answered(read_lesson(path), translate))


def test_question_whose_answer_is_shown_gets_a_warning(tmp_path, model_folder, capsys) -> None:
    path = tmp_path / "lesson.yaml"
    path.write_text(LESSON + LESSON[LESSON.index("      - question") :], encoding="utf-8")
    page = tmp_path / "lesson.html"
    assert main(["lesson", str(path), "-o", str(page), "--model", str(model_folder), "--device", "cpu"]) == 0
    assert "Line 10: line 7" in capsys.readouterr().err
    assert page.exists()


FAULTS = {
    "no file": ("absent.yaml", "lesson.html", ""),
    "faulty file": ("lesson.yaml", "lesson.html", LESSON.replace("title", "titel")),
    "no such step": ("lesson.yaml", "lesson.html", LESSON.replace("step: 1", "step: 999")),
    "no such model": (
        "lesson.yaml",
        "lesson.html",
        LESSON.replace("    questions", "    model: absent\n    questions"),
    ),
    "another ending": ("lesson.yaml", "lesson.pdf", LESSON),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_one_sentence(name: str, tmp_path, model_folder, capsys, monkeypatch, snapshot) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(model_folder.parent))
    file, page, content = FAULTS[name]
    if content:
        (tmp_path / file).write_text(content, encoding="utf-8")
    arguments = ["lesson", str(tmp_path / file), "-o", str(tmp_path / page), "--model", str(model_folder)]
    assert main([*arguments, "--device", "cpu"]) == 2
    errors = plain(capsys.readouterr().err, tmp_path)
    assert re.sub(r"“[^”]*” has steps 1 to \d+", "“…” has steps 1 to #", errors) == snapshot
    assert not (tmp_path / page).exists()
