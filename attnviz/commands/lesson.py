"""The command `attnviz lesson`: turn a lesson file into one HTML page with questions that works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from attnviz.commands.options import AS_INPUT, AS_OUTPUT, ModelOptions, Output
from attnviz.commands.shared import check_suffix, report
from attnviz.errors import locate_errors
from attnviz.languages import LANGUAGES

if TYPE_CHECKING:
    from attnviz.analysis.recomputation import Weights
    from attnviz.lessons import LessonSentence


def lesson_command(
    file: Annotated[str, AS_INPUT],
    /,
    *,
    output: Output,
    language: Annotated[str, AS_OUTPUT, Parameter(choices=tuple(LANGUAGES))] = "en",
    model: ModelOptions = ModelOptions(),
) -> None:
    """Turn a lesson file into one page with questions, answers scored on the spot and an answer sheet.

    Args:
        file: lesson file (YAML), or the name of a lesson that comes with attnviz: attention or transformer
        output: HTML file to write
        language: language in which the page opens
    """
    from attnviz.files import replace_bytes
    from attnviz.languages import set_language
    from attnviz.lessons import read_lesson, shipped_lessons
    from attnviz.ui.lesson_view import answered, lesson_html

    check_suffix(output, ".html")
    path = Path(file)
    if not path.exists():
        path = shipped_lessons().get(file, path)
    lesson = read_lesson(path)
    set_language(language)
    with locate_errors(str(path)):
        given = answered(lesson, _Translators(model).translate)
    report(*(f"attnviz: {path}: {warning}" for warning in given.warnings))
    replace_bytes(output, lesson_html(given))


class _Translators:
    """Translates the sentences of a lesson; each model is loaded once."""

    def __init__(self, model: ModelOptions) -> None:
        self._model = model
        self._loaded: dict[Path, tuple[Any, Weights]] = {}

    def translate(self, sentence: LessonSentence) -> tuple[Any, Weights]:
        """Return the translation of a sentence and the weights of its model."""
        from attnviz.lessons.lesson_file import folder_of_model
        from attnviz.model_folder import read_weights
        from attnviz.translator import Translator

        folder = folder_of_model(sentence, self._model.folder)
        if folder not in self._loaded:
            translator: Any = Translator.load(folder, self._model.device, self._model.precision)
            self._loaded[folder] = translator, read_weights(folder)
        translator, weights = self._loaded[folder]
        return translator.translate(sentence.sentence, beam=sentence.beam, target=sentence.target), weights
