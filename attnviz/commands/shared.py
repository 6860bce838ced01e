"""Helpers that several commands share: progress bars, input lines, output files, reports, CSV."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from attnviz.errors import AttnvizError, locate_errors
from attnviz.evaluation.measurement_tables import markdown_table
from attnviz.files import replace_text

if TYPE_CHECKING:
    from tqdm import tqdm

    from attnviz.analysis.gold import GoldLinks
    from attnviz.importing.records import AttentionRecords
    from attnviz.trace import Aligned
    from attnviz.translator import Translator

STDIN = "/dev/stdin"
"""What the argument - becomes, on any system."""

_SHOWN = 5
"""Number of skipped lines of a file that are printed."""
_PAIRS = 20
"""Number of pairs that are printed; a file has all."""


def report(*lines: object) -> None:
    """Print remarks to standard error, each on a line."""
    for line in lines:
        print(line, file=sys.stderr)


def report_unused_scorers(scorers: Sequence[str], translators: Iterable[Translator]) -> None:
    """Say which of the user's own scorer classes none of the models has."""
    kinds = {translator.network.config.to_dict().get("attention") for translator in translators}
    for scorer in scorers:
        if scorer not in kinds:
            report(f"No model of this command has the scorer {scorer}: --scorer changes nothing.")


def report_more(count: int, shown: int, rest: str) -> None:
    """Say how many of `count` items were not `shown`, if any; `rest` ends the sentence."""
    if count > shown:
        report(f"… and {count - shown} more{rest}")


def check_suffix(path: Path | None, *endings: str) -> None:
    """Raise AttnvizError where the name of a file that is to be written ends in none of the `endings`."""
    if path is not None and path.suffix.lower() not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}".removeprefix(" or ")
        raise AttnvizError(f"The name of the file {path} must end in {known}.")


def progress(unit: str, total: int | None = None, hidden: bool = False) -> tqdm[NoReturn]:
    """Return a progress bar that appears after a second; `hidden` where results go to the same terminal."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, delay=1, dynamic_ncols=True, disable=hidden)


def input_lines(file: str | Path = STDIN) -> Iterator[str]:
    """Yield the lines of a file, or of standard input; raise AttnvizError where they are not UTF-8."""
    from attnviz.file_kinds import STANDARD_INPUT
    from attnviz.reading import read_text_lines, reading_errors, strict_lines

    if str(file) != STDIN:
        yield from read_text_lines(Path(file))
        return
    with reading_errors(STANDARD_INPUT):
        # Replacements of sys.stdin, such as a notebook's, may have no byte buffer.
        yield from strict_lines(sys.stdin.buffer) if hasattr(sys.stdin, "buffer") else sys.stdin


@contextlib.contextmanager
def printing_to(output: Path | None) -> Iterator[None]:
    """Print to the file `output`, if there is one, instead of standard output; an OSError names it."""
    if output is None:
        yield
        return
    try:
        with output.open("w", encoding="utf-8", newline="\n") as file, contextlib.redirect_stdout(file):
            yield
    except OSError as error:
        error.filename = error.filename or str(output)
        raise


def gold_from(given: str, encoding: str | None = None) -> AttentionRecords | str:
    """Return the records of a gold file, or gold links written as text; raise AttnvizError for anything else."""
    from attnviz.importing.attention_reader import read_attention
    from attnviz.trace.word_link_text import are_links

    with locate_errors("--gold"):
        if os.path.isfile(given):  # noqa: PTH113 - of any text
            return read_attention(given, encoding=encoding)
        if not are_links(given):
            raise AttnvizError(f"{given} is neither a file nor links such as 0-0 1?2.")
        return given


def with_gold_tokens(records: AttentionRecords, gold: AttentionRecords | str | None) -> AttentionRecords:
    """Return the records of a file with the words of a gold file on each side where the file has no tokens."""
    from attnviz.evaluation.two_files import with_tokens_of
    from attnviz.importing.records import AttentionRecords

    return with_tokens_of(records, gold) if isinstance(gold, AttentionRecords) else records


def gold_links_for(
    shown: Aligned, gold: AttentionRecords | str, file: AttentionRecords | None = None, number: int = 1
) -> GoldLinks:
    """Return the links of `gold` for the record `shown`, which is pair `number`, from 1, of a `file`.

    Raise AttnvizError where `gold` lacks the pair, or the links are not between its words.
    """
    from attnviz.analysis.gold import parse_gold_links
    from attnviz.evaluation.two_files import gold_of_pair

    with locate_errors("--gold"):
        if isinstance(gold, str):
            return parse_gold_links(gold, shown.words())
        links = gold_of_pair(gold, number, file, shown)
        if links is None:
            raise AttnvizError("No sentence pair of the file has the words of the pair shown.")
        return links


def option_that_reads(tries: Mapping[str, Callable[[], object]]) -> str:
    """Return a sentence that names the first option whose function reads what failed; empty where none does."""
    for option, read in tries.items():
        with contextlib.suppress(AttnvizError):
            read()
            return f"{option} does."
    return ""


def check_outputs(outputs: Iterable[Path], inputs: Iterable[str | Path]) -> None:
    """Raise AttnvizError where an output is also an input, under whatever path; a terminal or pipe may be both."""
    for output, given in itertools.product(outputs, inputs):
        with contextlib.suppress(OSError, ValueError):  # a text that is no path, or a path where nothing is
            if (output.is_file() or output.is_dir()) and output.samefile(given):
                raise AttnvizError(
                    f"{output} is also an input of this command and would be overwritten. Give another path for the "
                    "output."
                )


def model_text(text: str, *, unescape: bool, tokenised: bool = False) -> str:
    """Return the text that the model reads for an input text, by the options --unescape and --tokenised."""
    if unescape:
        from attnviz.trace.tokens import unescaped_text

        text = unescaped_text(text)
    if tokenised:
        from attnviz.trace.tokens import detokenise

        text = detokenise(text.split())
    return text


def report_escapes(lines: Iterable[tuple[int, str]], unit: str = "Line") -> bool:
    """Print the number of the first line that Moses' tokenizer has escaped; return whether there is one."""
    from attnviz.trace.tokens import is_escaped

    for number, text in lines:
        if is_escaped(text.split()):
            report(
                f"{unit} {number} has escape sequences of Moses' tokenizer, such as &apos; or @-@. Add --unescape to "
                "decode them."
            )
            return True
    return False


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 row" or "2 rows"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def print_skipped(named: Sequence[tuple[int, str]], count: int, line: str = "Line") -> None:
    """Print number and reason of the first of `count` skipped lines; `line` begins each message."""
    report(*(f"{line} {number} was skipped: {reason}." for number, reason in named[:_SHOWN]))
    report_more(count, _SHOWN, ".")


def write_rows(path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Replace a file by `rows` as CSV; raise AttnvizError where that fails."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_text(path, text.getvalue())


def print_pairs(columns: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[Sequence[str]]) -> None:
    """Print the rows of the first pairs as a table, and the `total` below them."""
    print(markdown_table(columns, [*rows[:_PAIRS], *total], 1))
    report_more(len(rows), _PAIRS, " pairs; -o FILE writes all of them.")


def write_pairs(path: Path, rows: Sequence[Mapping[str, object]], whole: Mapping[str, object]) -> None:
    """Write the rows of all pairs as CSV, or as JSON with the fields of the `whole`."""
    if path.suffix.lower() == ".json":
        replace_text(path, json.dumps({**whole, "pairs": rows}, indent=1) + "\n")
    else:
        write_rows(path, rows, [*rows[0]])
