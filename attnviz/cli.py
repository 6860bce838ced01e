"""The command line: `attnviz translate | align | figure | evaluate | train | app`.

Each command is a parser and a function. Nothing heavy is imported before a command needs it, so that `--help` is
instant. Results go to standard output; progress, remarks and errors to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from attnviz import AttnvizError, __version__
from attnviz.cli_evaluate import add_options as add_evaluation_options
from attnviz.cli_figure import add_options as add_figure_options

if TYPE_CHECKING:
    from tqdm import tqdm

    from attnviz.trace import Trace, Words
    from attnviz.translator import Translator

T = TypeVar("T")

_ROOT = Path(__file__).resolve().parent.parent
_NO_PIECES: dict[str, Any] = {"source_pieces": [], "target_pieces": [], "alignment": []}
_WIDEST_BEAM = 100
"""What a translator refuses to exceed; here it is refused before anything is read."""
_BLOCK = 100
"""Sentences that are read, translated and printed together."""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit with code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (by default the program's own) and return the exit code.

    0 for success, 2 for bad input, with one sentence on standard error; 130 where the user interrupted.
    """
    # Read when torch loads OpenMP: threads that wait must not spin, or other programs on the machine starve.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace" if stream is sys.stdin else "backslashreplace")
    options = _parser(arguments).parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except AttnvizError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has gone, as in `| head`. Standard output must not fail once more when Python closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="attnviz", description="Translate with attention, and see how.")
    parser.add_argument("--version", action="version", version=f"attnviz {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    command = _add(commands, "translate", _translate, "translate a sentence, or one a line from standard input")
    command.add_argument("text", nargs="?", help="the sentence; left out, standard input is read")
    command.add_argument("--json", action="store_true", help="one JSON object a line: pieces and alignment too")
    _add_model_options(command, beam=True)

    command = _add(commands, "align", _align, "link the words of sentence pairs, by attention")
    command.add_argument("file", nargs="?", default="-", help="source<TAB>target a line; - or nothing: standard input")
    command.add_argument("--threshold", type=_share, help="link all words with at least this share of attention")
    command.add_argument(
        "--words", action="store_true", help="print the words that the numbers count, before the links"
    )
    _add_model_options(command, beam=False)

    command = _add(commands, "figure", _figure, "save a sentence's alignment, or a step, as a file")
    add_figure_options(command, _positive)
    _add_model_options(command, beam=True)

    command = _add(commands, "evaluate", _evaluate, "measure models: BLEU, chrF, perplexity, alignment error, speed")
    add_evaluation_options(command, _default_model(), _positive, _width)

    command = _add(commands, "train", _train, "train a model, or go on with a run that was stopped")
    if "train" in arguments[:1]:
        _add_training_options(command)

    command = _add(commands, "app", _app, "start the page")
    command.add_argument("--port", type=_positive, help="port of the page (8501 unless given)")
    return parser


def _add(commands: Any, name: str, run: Callable[[argparse.Namespace], None], summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    command.set_defaults(run=run)
    return command


def _add_model_options(command: argparse.ArgumentParser, beam: bool) -> None:
    command.add_argument("--model", type=Path, default=_default_model(), help="folder of the model")
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps")
    if beam:
        command.add_argument("--beam", type=_width, default=5, help="width of the search; 1 is greedy")


def _default_model() -> Path:
    shipped = Path("models/en-fr")
    return shipped if shipped.is_dir() else _ROOT / shipped


def _add_training_options(command: argparse.ArgumentParser) -> None:
    """Give the command one option for each field of `TrainingConfig`."""
    import dataclasses
    from typing import get_type_hints

    from attnviz.training import TrainingConfig

    kinds = get_type_hints(TrainingConfig)
    for field in dataclasses.fields(TrainingConfig):
        required = field.default is dataclasses.MISSING
        several = kinds[field.name] not in (int, float, str)
        command.add_argument(
            "--" + field.name.replace("_", "-"),
            type=str if several else kinds[field.name],
            nargs="+" if several else None,
            metavar={int: "N", float: "X"}.get(kinds[field.name], "TEXT"),
            required=required,
            default=argparse.SUPPRESS if required else field.default,
            help=field.metadata["help"].replace("%", "%%"),
        )


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be a whole number above 0, not {text!r}")
    return int(text)


def _width(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _WIDEST_BEAM:
        raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {_WIDEST_BEAM}, not {text!r}")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"it must be a number above 0 and at most 1, not {text!r}")
    return value


def _translate(options: argparse.Namespace) -> None:
    if options.text is not None:
        trace = _load(options).translate(options.text, beam=options.beam)
        print(_as_json(trace) if options.json else trace.translation)
        return
    at_once = 1 if options.json or sys.stdin.isatty() else _BLOCK
    if sys.stdin.isatty():
        print("Type one sentence a line; Ctrl+D ends.", file=sys.stderr)
    blocks = _blocks(_numbered(sys.stdin), at_once)
    first = next(blocks, None)
    if first is None:
        raise AttnvizError("There is no sentence on standard input. Give one a line, or one as the argument.")
    translator = _load(options)
    with _progress("sentence", hidden=sys.stdout.isatty()) as bar:
        for block in chain([first], blocks):
            for line in _translated(translator, block, options):
                print(line, flush=True)
                bar.update()


def _translated(translator: Translator, block: Sequence[tuple[int, str]], options: argparse.Namespace) -> Iterator[str]:
    """Yield what is to be printed for each numbered line; raise AttnvizError with the number of a bad one.

    A blank line gives a blank line, or with --json a record without pieces: line k of the output is that of the input.
    """
    if not options.json:
        # Where a line is bad, those before it are still to be printed: one after the other, then.
        with contextlib.suppress(AttnvizError):
            filled = translator.translate_batch([text for _, text in block if text.strip()], beam=options.beam)
            translations = iter(filled)
            yield from [next(translations) if text.strip() else "" for _, text in block]
            return
    for number, text in block:
        if not text.strip():
            yield json.dumps(dict.fromkeys(("source", "translation"), "") | _NO_PIECES) if options.json else ""
            continue
        with _about(f"Line {number}"):
            trace = translator.translate(text, beam=options.beam)
        yield _as_json(trace) if options.json else trace.translation


def _as_json(trace: Trace) -> str:
    record = {
        "source": trace.source_text,
        "translation": trace.translation,
        "source_pieces": trace.source_pieces,
        "target_pieces": trace.target_pieces,
        "alignment": [[round(weight, 7) for weight in row] for row in trace.alignment.tolist()],
    }
    return json.dumps(record, ensure_ascii=False)


def _align(options: argparse.Namespace) -> None:
    from attnviz.training.corpus import read_lines

    lines = list(_numbered(sys.stdin if options.file == "-" else read_lines(Path(options.file))))
    pairs = [(number, *_pair(number, line)) for number, line in lines]
    if not pairs:
        raise AttnvizError("There is no sentence pair to align. Give source<TAB>target a line.")
    translator = _load(options)
    if translator.network.config.attention == "none":
        raise AttnvizError(
            f"The model {options.model} has no attention, so it aligns nothing. Name another with --model."
        )
    with _progress("pair", len(pairs), hidden=sys.stdout.isatty()) as bar:
        for number, source, target in pairs:
            with _about(f"Line {number}"):
                words = translator.translate(source, target=target).words()
            print(_pharaoh(words, options.threshold, options.words), flush=True)
            bar.update()


def _pharaoh(words: Words, threshold: float | None, named: bool) -> str:
    """Return the links as `i-j`, source before target, both from 0; where `named`, after the words of both sides."""
    from attnviz.analysis.pharaoh import pharaoh

    found = pharaoh(words, threshold)
    return "\t".join([" ".join(words.source[:-1]), " ".join(words.target[:-1]), found]) if named else found


def _figure(options: argparse.Namespace) -> None:
    from attnviz.cli_figure import figure

    figure(options, lambda asked: _load(asked).translate(asked.text, beam=asked.beam, target=asked.target))


def _evaluate(options: argparse.Namespace) -> None:
    from attnviz.cli_evaluate import evaluate

    evaluate(options)


def _train(options: argparse.Namespace) -> None:
    from attnviz.training import TrainingConfig, run

    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(options).items()
        if name != "run"
    }
    try:
        config = TrainingConfig(**fields)
    except ValueError as error:
        raise AttnvizError(f"The training options do not make sense: {error}.") from error
    print(run(config))


def _app(options: argparse.Namespace) -> None:
    script = next((folder / "app.py" for folder in (Path.cwd(), _ROOT) if (folder / "attnviz" / "ui").is_dir()), None)
    if script is None or not script.is_file():
        raise AttnvizError("The page's app.py is not there. Run the command in the project's folder.")
    command = [sys.executable, "-m", "streamlit", "run", script.name]
    if options.port:
        command += ["--server.port", str(options.port)]
    # Streamlit looks for its settings, and the page for models, in the folder it runs in.
    os.chdir(script.parent)
    os.execve(sys.executable, command, dict(os.environ))


def _load(options: argparse.Namespace) -> Translator:
    from attnviz.translator import Translator

    return Translator.load(options.model, device=options.device)


@contextlib.contextmanager
def _about(place: str) -> Iterator[None]:
    """Put `place` before the message of an AttnvizError."""
    try:
        yield
    except AttnvizError as error:
        raise AttnvizError(f"{place}: {error}") from error


def _progress(unit: str, total: int | None = None, hidden: bool = False) -> tqdm[NoReturn]:
    """Return a bar that shows itself after a second; `hidden` where results appear on the terminal all the while."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, delay=1, dynamic_ncols=True, disable=hidden)


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1))


def _pair(number: int, line: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2:
        raise AttnvizError(f"Line {number} must be source<TAB>target, with exactly one tab.")
    return columns[0], columns[1]


def _blocks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while block := list(islice(items, size)):
        yield block
