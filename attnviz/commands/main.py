"""`main`: parse the command line `attnviz` and run one of its subcommands.

Each subcommand is a `Command` in a module of its own. Heavy modules are imported only when a subcommand needs
them, so that `--help` is fast. Results go to standard output; progress, remarks and errors to standard error.

Every subcommand has the option `--scorer`, which registers a class of the user's own as a kind of attention.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from attnviz import AttnvizError, __version__
from attnviz.commands.align import ALIGN_COMMAND
from attnviz.commands.app import APP_COMMAND
from attnviz.commands.attention import ATTENTION_COMMAND
from attnviz.commands.corpus import CORPUS_COMMAND
from attnviz.commands.evaluate import EVALUATE_COMMAND
from attnviz.commands.example_files import EXAMPLES_COMMAND
from attnviz.commands.figure import FIGURE_COMMAND
from attnviz.commands.import_ import IMPORT_COMMAND
from attnviz.commands.lesson import LESSON_COMMAND
from attnviz.commands.models import MODELS_COMMAND
from attnviz.commands.score import SCORE_COMMAND
from attnviz.commands.train import TRAIN_COMMAND
from attnviz.commands.translate import TRANSLATE_COMMAND
from attnviz.extras import naming_extra

COMMANDS = (
    TRANSLATE_COMMAND,
    ALIGN_COMMAND,
    FIGURE_COMMAND,
    LESSON_COMMAND,
    ATTENTION_COMMAND,
    SCORE_COMMAND,
    CORPUS_COMMAND,
    EVALUATE_COMMAND,
    IMPORT_COMMAND,
    TRAIN_COMMAND,
    MODELS_COMMAND,
    EXAMPLES_COMMAND,
    APP_COMMAND,
)
_LONGEST_NAME = 200
"""Characters of a file's name that are printed."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/")
"""The beginning of an address, whose two slashes `Path` makes one; a drive of Windows has one letter."""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Print `message` and exit with code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


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
            options = _parser(arguments).parse_args(arguments)
            _check_paths(options)
            register_scorers(options)
            with warnings.catch_warnings(), naming_extra():
                warnings.showwarning = _print_warning
                options.run(options)
        finally:
            sys.stdout.flush()
    except AttnvizError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader closed the pipe, as in `| head`
        _discard_output()
    except OSError as error:
        place = f"The file {str(error.filename)[:_LONGEST_NAME]}" if error.filename else "A file"
        if not _flushes_output():
            place = "Standard output"
            _discard_output()
        print(f"attnviz: {place} cannot be read or written: {error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            print(f"attnviz: {interrupt}", file=sys.stderr)
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


def _flushes_output() -> bool:
    """Return whether what was printed so far can be written."""
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True


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


def _check_paths(options: argparse.Namespace) -> None:
    """Raise AttnvizError where a path is an address such as s3://bucket/file, for which a folder s3: would be made."""
    for name, value in vars(options).items():
        if (isinstance(value, Path) or name == "output") and _ADDRESS.match(str(value)):
            raise AttnvizError(
                f"{value} is an address, and a path on this machine is needed here. Give such a path, and copy the "
                "file yourself."
            )


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the line of the program."""
    print(f"attnviz: {message}", file=sys.stderr)


def register_scorers(options: argparse.Namespace) -> None:
    """Register the scorer classes that `options` name as kinds of attention.

    They may also be in the working directory. Raise AttnvizError where a class does not exist.
    """
    if "scorer" in options:
        from attnviz.attention_kinds import register

        sys.path.append(str(Path.cwd()))  # not in the path of a console script
        for place in options.scorer:
            register(place)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="attnviz", description="Translate with a neural network and show its attention.")
    parser.add_argument("--version", action="version", version=f"attnviz {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for subcommand in COMMANDS:
        command = commands.add_parser(
            subcommand.name,
            help=subcommand.summary,
            description=f"{subcommand.summary[0].upper()}{subcommand.summary[1:]}.",
            allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        command.set_defaults(run=subcommand.run)
        command.add_argument(
            "--scorer",
            action="append",
            default=argparse.SUPPRESS,
            metavar="MODULE:CLASS",
            help="your own scorer class (a kind of attention), as package.module:Class, for training or for "
            "opening models that use this class",
        )
        # Only for the called command, because some option lists import slow modules.
        if subcommand.name in arguments[:1]:
            subcommand.add_options(command)
    return parser
