"""The command `attnviz lesson`: turn a lesson file into one HTML page with questions that works offline."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError
from attnviz.commands.shared import Command, add_model_options
from attnviz.errors import locate_errors
from attnviz.languages import LANGUAGES

if TYPE_CHECKING:
    from attnviz.analysis.recomputation import Weights
    from attnviz.lessons import LessonSentence


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    from attnviz.lessons import shipped_lessons

    command.add_argument(
        "file",
        metavar="FILE",
        help=f"lesson file (YAML), or the name of a lesson that comes with attnviz: {', '.join(shipped_lessons())}",
    )
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="HTML file to write")
    command.add_argument("--language", choices=LANGUAGES, default="en", help="language in which the page opens")
    add_model_options(command, beam=False)


def _run(options: argparse.Namespace) -> None:
    """Write the page; raise AttnvizError for a lesson that is not valid or does not fit its translations."""
    from attnviz.export.lesson_page import lesson_html
    from attnviz.files import replace_bytes
    from attnviz.languages import set_language
    from attnviz.lessons import read_lesson, shipped_lessons

    if options.output.suffix.lower() != ".html":
        raise AttnvizError(f"A lesson becomes a web page. Give a file name that ends in .html, not {options.output}.")
    path = Path(options.file)
    if not path.exists():
        path = shipped_lessons().get(options.file, path)
    lesson = read_lesson(path)
    set_language(options.language)
    with locate_errors(str(path)):
        page = lesson_html(lesson, _Translators(options).translate)
    replace_bytes(options.output, page.encode("utf-8"))


class _Translators:
    """Translates the sentences of a lesson; each model is loaded once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._loaded: dict[Path, tuple[Any, Weights]] = {}

    def translate(self, sentence: LessonSentence) -> tuple[Any, Weights]:
        """Return the translation of a sentence and the weights of its model."""
        from attnviz.lessons.lesson_file import folder_of_model
        from attnviz.model_folder import load_weights
        from attnviz.translator import Translator

        folder = folder_of_model(sentence, self._options.model)
        if folder not in self._loaded:
            translator: Any = Translator.load(folder, self._options.device, self._options.precision)
            self._loaded[folder] = translator, load_weights(folder)
        translator, weights = self._loaded[folder]
        return translator.translate(sentence.sentence, beam=sentence.beam, target=sentence.target), weights


LESSON_COMMAND = Command(
    "lesson",
    "turn a lesson file into one page with questions, answers scored on the spot and an answer sheet",
    _add_options,
    _run,
)
