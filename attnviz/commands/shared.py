"""Helpers that several commands share: options, loading of the model, progress bars, input lines, reports, CSV."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from attnviz import AttnvizError
from attnviz.bounds import PRECISIONS
from attnviz.files import replace_text
from attnviz.installed_models import default_model, find_model

if TYPE_CHECKING:
    from tqdm import tqdm

    from attnviz.translator import Translator

_T = TypeVar("_T")


@dataclass(frozen=True)
class Command:
    """A subcommand of `attnviz`."""

    name: str
    summary: str
    """What it does, as a phrase without capital and full stop."""
    add_options: Callable[[argparse.ArgumentParser], None]
    """Called only for the subcommand that runs, because some options need slow imports."""
    run: Callable[[argparse.Namespace], None]
    """Raises AttnvizError for bad input."""


_SHOWN = 5
"""Number of skipped lines of a file that are printed."""
WIDEST_BEAM = 100
"""Largest beam width of a translator; checked here before anything is loaded."""


def add_model_options(command: argparse.ArgumentParser, beam: bool) -> None:
    """Add options for model, device and precision and, if `beam`, for the beam width."""
    command.add_argument("--model", type=find_model, default=default_model(), help="name or folder of the model")
    command.add_argument("--device", default="auto", help="device: auto, cpu, cuda, cuda:1 or mps")
    command.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="auto",
        help="number format in which a CPU finds the likeliest pieces; their logits are then computed again in "
        "float32; auto chooses the faster format on this machine",
    )
    if beam:
        command.add_argument("--beam", type=beam_width, default=5, help="beam width; 1 is greedy search")


def add_head_options(command: argparse.ArgumentParser) -> None:
    """Add options for the layer and head of a transformer."""
    command.add_argument(
        "--layer",
        type=_layer,
        default=argparse.SUPPRESS,
        metavar="L",
        help="for a transformer, or a file with several heads: use the mean of the cross-attention heads of layer L, "
        "counted from 1; all (the default) uses the heads of all layers",
    )
    command.add_argument(
        "--head",
        type=positive,
        default=argparse.SUPPRESS,
        metavar="H",
        help="for a transformer, or a file with several heads: use only head H, counted from 1, of the layer that "
        "--layer gives",
    )


def _layer(text: str) -> int | None:
    return None if text == "all" else positive(text) - 1


def with_heads(trace: Any, options: argparse.Namespace) -> Any:
    """Return `trace` with the attention of the layer and head in `options`.

    Raise AttnvizError where the model has no such head, or no heads at all.
    """
    from attnviz.trace.parts import head_choices

    chosen = {name: getattr(options, name) for name in ("layer", "head") if name in options}
    if not chosen:
        return trace
    if not head_choices(trace):
        if not trace.translated:
            raise AttnvizError("The file has no layers and heads to choose from. Leave out --layer and --head.")
        raise AttnvizError(
            f"The model {trace.model} is a recurrent translator and has no heads. Leave out --layer and --head."
        )
    if "layer" not in chosen:
        raise AttnvizError("A head belongs to a layer, so --head needs --layer. Add --layer.")
    return trace.select_heads(chosen["layer"], chosen["head"] - 1 if "head" in chosen else None)


def positive(text: str) -> int:
    """Return `text` as an integer above 0."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be a whole number above 0, not {text!r}")
    return int(text)


def share(text: str) -> float:
    """Return `text` as a number above 0 and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"it must be a number above 0 and at most 1, not {text!r}")
    return value


def beam_width(text: str) -> int:
    """Return `text` as a beam width."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= WIDEST_BEAM:
        raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {WIDEST_BEAM}, not {text!r}")
    return int(text)


def load_translator(options: argparse.Namespace) -> Translator:
    """Return the model that the options name, on the device they name."""
    from attnviz.translator import Translator

    return Translator.load(options.model, options.device, options.precision)


def progress(unit: str, total: int | None = None, hidden: bool = False) -> tqdm[NoReturn]:
    """Return a progress bar that appears after a second; `hidden` where results go to the same terminal."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, delay=1, dynamic_ncols=True, disable=hidden)


def input_lines() -> Iterator[str]:
    """Yield the lines of standard input; raise AttnvizError where it is not UTF-8."""
    from attnviz.reading import STANDARD_INPUT, reading_errors, strict_lines

    with reading_errors(STANDARD_INPUT):
        # Replacements of sys.stdin, such as a notebook's, may have no byte buffer.
        yield from strict_lines(sys.stdin.buffer) if hasattr(sys.stdin, "buffer") else sys.stdin


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield lines without line breaks, with their numbers from 1."""
    return ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1))


def plain_text(tokens: str) -> str:
    """Return a sentence whose tokens are separated by spaces as plain text."""
    from attnviz.evaluation.alignment import detokenise

    return detokenise(tokens.split())


def model_text(text: str, options: argparse.Namespace) -> str:
    """Return the text that the model reads for an input text, by the options --unescape and --tokenised."""
    if options.unescape:
        from attnviz.trace.tokens import unescaped_text

        text = unescaped_text(text)
    return plain_text(text) if getattr(options, "tokenised", False) else text


def add_unescape_option(command: argparse.ArgumentParser) -> None:
    """Add the option for text that Moses' tokenizer has escaped."""
    command.add_argument(
        "--unescape",
        action="store_true",
        help="decode the escape sequences of Moses' tokenizer, such as &apos; and @-@, before the model reads the text",
    )


def report_escapes(lines: Iterable[tuple[int, str]], unit: str = "Line") -> bool:
    """Print the number of the first line that Moses' tokenizer has escaped; return whether there is one."""
    from attnviz.trace.tokens import is_escaped

    for number, text in lines:
        if is_escaped(text.split()):
            print(
                f"{unit} {number} has escape sequences of Moses' tokenizer, such as &apos; or @-@. Add --unescape to "
                "decode them.",
                file=sys.stderr,
            )
            return True
    return False


def print_skipped(named: Sequence[tuple[int, str]], count: int, line: str = "Line") -> None:
    """Print number and reason of the first of `count` skipped lines; `line` begins each message."""
    for number, reason in named[:_SHOWN]:
        print(f"{line} {number} was skipped: {reason}.", file=sys.stderr)
    if count > _SHOWN:
        print(f"… and {count - _SHOWN} more.", file=sys.stderr)


def write_rows(path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Replace a file by `rows` as CSV; raise AttnvizError where that fails."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_text(path, text.getvalue())


def rate_text(rate: float | None) -> str:
    """Return a rate with three decimals, or a dash where there is none."""
    return "–" if rate is None else f"{rate:.3f}"
