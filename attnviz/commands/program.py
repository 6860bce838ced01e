"""The command line: `attnviz translate | align | figure | attention | corpus | evaluate | import | train | overlap |
score | snapshots | app`.

Each command is a file with its options and what it does. Nothing heavy is imported before a command needs it, so that
`--help` is instant. Results go to standard output; progress, remarks and errors to standard error.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from attnviz import AttnvizError, __version__
from attnviz.commands import (
    align,
    app,
    attention,
    corpus,
    evaluate,
    figure,
    import_,
    overlap,
    score,
    snapshots,
    train,
    translate,
)

COMMANDS = {
    "translate": translate,
    "align": align,
    "figure": figure,
    "attention": attention,
    "score": score,
    "corpus": corpus,
    "evaluate": evaluate,
    "import": import_,
    "train": train,
    "overlap": overlap,
    "snapshots": snapshots,
    "app": app,
}
"""A module has a SUMMARY, `add_options(command)` and `run(options)`."""


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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = _parser(arguments).parse_args(arguments)
    try:
        register_scorers(options)
        options.run(options)
        sys.stdout.flush()
    except AttnvizError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has gone, as in `| head`. Standard output must not fail once more when Python closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            print(f"attnviz: {interrupt}", file=sys.stderr)
        return 130
    return 0


def register_scorers(options: argparse.Namespace) -> None:
    """Let the classes that `options` name as kinds of attention be imported, also from the working directory; raise
    AttnvizError where there is no such class."""
    if "scorer" in options:
        from attnviz.attention_kinds import register

        sys.path.append(str(Path.cwd()))  # a console script does not look there
        for place in options.scorer:
            register(place)


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="attnviz", description="Translate with attention, and see how.")
    parser.add_argument("--version", action="version", version=f"attnviz {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        command.set_defaults(run=module.run)
        command.add_argument(
            "--scorer",
            action="append",
            default=argparse.SUPPRESS,
            metavar="MODULE:CLASS",
            help="import this class of yours, a kind of attention: to train with it, and to open models that have it",
        )
        # Only of the command that is called: those of training have to be looked up.
        if name in arguments[:1]:
            module.add_options(command)
    return parser
