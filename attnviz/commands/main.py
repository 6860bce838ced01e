"""`main`: parse the command line `attnviz` and run one of its commands.

Each command is a function in a module of its own, which is imported only when the command runs or shows its help.
Results go to standard output; progress, remarks and errors to standard error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)
from cyclopts.help import DefaultFormatter

from attnviz import __version__
from attnviz.commands.shared import STDIN, check_outputs, report
from attnviz.errors import AttnvizError
from attnviz.extras import naming_extra

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

_COMMANDS = {
    "Read what a model does": {
        "translate": "translate one sentence, or each line of a file",
        "align": "link the words of sentence pairs by attention",
        "figure": "save the alignment of a sentence, one of its steps, or the attention of another program as a file",
        "lesson": "turn a lesson file into one page with questions, answers scored on the spot and an answer sheet",
        "app": "start the page",
    },
    "Read files of other programs": {
        "attention": "read the attention or word links of another program: describe, draw or convert them",
        "score": "score links or attention of any program against gold links: AER, precision, recall, F1",
        "corpus": "measure every sentence pair of a file and write a Parquet table, one row for each pair",
    },
    "Make and measure models": {
        "train": "train a model, or go on with a run that was stopped",
        "evaluate": "measure models: BLEU, chrF, perplexity, alignment error, speed; of detectors, accuracy",
        "import": "convert a checkpoint of another program into a model folder",
        "models": "list the models, and copy or fetch models",
        "examples": "copy the example files that the documentation uses into a folder",
    },
}
"""What each command does, by group; the command is the function of its name in the module of its name."""
_OPTIONS = Group("Options")
_WRITTEN = ("output", "table", "csv", "figure", "heads_csv")
"""Names of the options with a file to write, in any command."""
_DEFAULT_VECTORS = "50000"
_LONGEST_NAME = 200
"""Characters of a file's name that are printed."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/")
"""The beginning of an address, whose two slashes `Path` makes one; a drive of Windows has one letter."""


class _Paragraphs(DefaultFormatter):
    """Prints help texts as paragraphs, whose lines are not those of their docstrings."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print a group of options."""
        for entry in panel.entries:
            text = entry.description.primary_renderable
            text.plain = " ".join(text.plain.split())
        super().__call__(console, options, panel)


def attnviz_app() -> App:
    """Return the command line."""
    app = App(
        name="attnviz",
        help="Translate with a neural network and show its attention.",
        version=f"attnviz {__version__}",
        help_format="plaintext",
        help_formatter=_Paragraphs(),
        group_parameters=_OPTIONS,
        result_action="return_value",
        default_parameter=Parameter(
            negative=(), allow_repeating=True, consume_multiple=True, show_default=_shown_default, show_env_var=False
        ),
    )
    for group, commands in _COMMANDS.items():
        ordered = Group.create_ordered(group)
        for name, summary in commands.items():
            module = {"import": "import_", "examples": "example_files"}.get(name, name)
            function = "TRAIN_COMMAND" if name == "train" else f"{name}_command"
            app.command(
                f"attnviz.commands.{module}:{function}",
                name=name,
                help=f"{summary[0].upper()}{summary[1:]}.",
                group=ordered,
            )
    for flag in ("--help", "--version"):
        app[flag].group = _OPTIONS
    app.meta.suppress_keyboard_interrupt = False
    app.meta.default(functools.partial(_launch, app))
    return app


def _shown_default(value: object) -> str | None:
    """Return a default as `--help` prints it; None where it says nothing: a switch that is off, or no value."""
    if value is None or value is False or value in ("", ()):
        return None
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _launch(
    app: App,
    *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    quiet: Annotated[
        bool, Parameter(negative=(), help="print no progress bars and no remarks, only results and errors")
    ] = False,
) -> None:
    """Run the command in `words`; without one, print the help."""
    if not words:
        app.help_print()
        return
    command, bound, _ = app.parse_args([*_completed(words)], exit_on_error=False, print_error=False)
    options = [(name, value) for name, value in _options(bound.arguments) if value is not None]
    for name, value in options:
        _check_path(name, value)
    check_outputs(
        [Path(value) for name, value in options if name in _WRITTEN],
        [STDIN, *(value for name, value in options if name not in _WRITTEN and isinstance(value, str | Path))],
    )
    for name, value in options:
        if name == "scorer" and value:
            _register_scorers(value)
    with contextlib.ExitStack() as stack:
        if quiet:
            stack.enter_context(
                contextlib.redirect_stderr(stack.enter_context(Path(os.devnull).open("w", encoding="utf-8")))
            )
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(naming_extra())
        warnings.showwarning = _print_warning
        command(*bound.args, **bound.kwargs)


def _completed(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command line, with the values that stand for “-” and for `--vectors` without a number."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        yield STDIN if word == "-" else word
        if word == "--vectors" and not following.lstrip("-").isdigit():
            yield _DEFAULT_VECTORS


def _options(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each option, also of those in an object of options."""
    for name, value in arguments.items():
        if dataclasses.is_dataclass(value):
            yield from _options(vars(value))
        elif isinstance(value, tuple) and name != "scorer":
            yield from ((name, one) for one in value)
        else:
            yield name, value


def _sentence(error: CycloptsError) -> str:
    """Return what is wrong with a command line as one sentence."""
    command = " ".join(("attnviz", *(error.command_chain or ())))
    argument = error.argument
    token = getattr(error, "token", None) or (argument.tokens[0] if argument and argument.tokens else None)
    name = (token and token.keyword) or (argument.name if argument else "")
    value = token.value if token else ""
    match error:
        case UnknownCommandError():
            value = (error.unused_tokens or [""])[0]
            text = f"there is no command {value}{_near(value, [one for many in _COMMANDS.values() for one in many])}"
        case UnknownOptionError():
            given = error.token.keyword or error.token.value
            names = [name for one in error.argument_collection for name in one.names]
            text = f"there is no option {given}{_near(given, names)}"
        case UnusedCliTokensError():
            text = f"there are more arguments than the command has: {' '.join(error.unused_tokens or ())}"
        case MissingArgumentError():
            text = f"{error.keyword} needs a value" if error.keyword else f"{name} is missing"
        case CoercionError(msg=None) if argument and (choices := argument.get_choices()):
            text = f"{name} must be one of {', '.join(choices)}, not {value!r}{_near(value, choices)}"
        case CoercionError(msg=None):
            kinds: dict[type, str] = {int: "a whole number", float: "a number"}
            text = f"{name} must be {kinds.get(error.target_type or str, 'a value of another kind')}, not {value!r}"
        case CoercionError():
            text = f"{name} {error.msg}, not {value!r}"
        case ValidationError(argument=None):
            text = error.exception_message.lower()
        case ValidationError():
            text = f"{name} {error.exception_message.lower().rstrip('.')}, not {value!r}"
        case _:
            text = str(error)
    return f"{command}: {text} (see {command} --help)"


def _near(given: str, names: Iterable[str]) -> str:
    """Return a question for the name that is most like `given`; empty where none is."""
    return "".join(f"; did you mean {name}?" for name in difflib.get_close_matches(given, names, n=1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments`, by default those of the process, and return the exit code.

    It is 0 for success; 2 for bad input, or a file that cannot be read or written, with one sentence on standard error;
    130 where the user interrupts.
    """
    # OpenMP reads this when torch loads it. Waiting threads must not spin, or other processes get no processor time.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        _check_arguments(arguments)
        try:
            attnviz_app().meta(arguments, exit_on_error=False, print_error=False)
        finally:
            sys.stdout.flush()
    except CycloptsError as error:
        report(_sentence(error))
        return 2
    except AttnvizError as error:
        report(f"attnviz: {error}")
        return 2
    except BrokenPipeError:  # the reader closed the pipe, as in `| head`
        _discard_output()
    except SystemExit as ended:
        if ended.code != 1:
            raise
        _discard_output()  # rich, which prints the help, exits where the pipe is closed
    except OSError as error:
        report(f"attnviz: {_place(error)} cannot be read or written: {error.strerror or error}.")
        return 2
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            report(f"attnviz: {interrupt}")
        return 130
    return 0


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed, as in `<&-`.

    Standard input is then empty, errors are discarded, and writing to standard output fails. Otherwise the next file
    that is opened would take their place, and get what is printed.
    """
    for number, name, flags, mode in (
        (0, "stdin", os.O_RDONLY, "r"),
        (1, "stdout", os.O_RDONLY, "w"),
        (2, "stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            os.dup2(opened, number)
            if opened != number:
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode))


def _place(error: OSError) -> str:
    """Return what could not be read or written; if it is standard output, discard what is left to print."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
        return "Standard output"
    if error.filename:
        return f"The file {str(error.filename)[:_LONGEST_NAME]}"
    # Unbuffered output has nothing left to flush. Errors of the system that name no file come from it alone.
    return "Standard output" if error.errno else "A file"


def _discard_output() -> None:
    """Discard what is left to print, so that Python does not fail again when it flushes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_arguments(arguments: Sequence[str]) -> None:
    """Raise AttnvizError where an argument can be no path, which only a program can give."""
    for argument in arguments:
        try:
            if b"\0" in os.fsencode(argument):
                raise ValueError
        except ValueError as error:
            raise AttnvizError(
                f"The argument {argument[:_LONGEST_NAME]!a} contains a character that no argument may have."
            ) from error


def _check_path(name: str, value: object) -> None:
    """Raise AttnvizError where a path is an address such as s3://bucket/file, for which a folder s3: would be made."""
    if (isinstance(value, Path) or name == "output") and _ADDRESS.match(str(value)):
        raise AttnvizError(
            f"{value} is an address, and a path on this machine is needed here. Give such a path, and copy the "
            "file yourself."
        )


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the line of the program."""
    report(f"attnviz: {message}")


def _register_scorers(places: Sequence[str]) -> None:
    """Register scorer classes as kinds of attention; raise AttnvizError where a class does not exist.

    They may also be in the working directory.
    """
    from attnviz.attention_kinds import register

    sys.path.append(str(Path.cwd()))  # not in the path of a console script
    for place in places:
        register(place)
