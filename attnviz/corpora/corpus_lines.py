"""Find the files of a corpus by path, pattern or address, and read their lines strictly.

An unusable line becomes a `Skipped` in its place. `local_files` copies files from other file systems; `table_files`
returns the path of the table to write for each file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from attnviz.analysis.gold import links_out_of_range, parse_sure_and_possible
from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.alignment import GoldAlignment, parse_gold
from attnviz.languages import gettext, ngettext
from attnviz.pair_files import (
    SAMPLE_LINES,
    Skipped,
    check_share,
    csv_reason,
    header,
    is_csv_sample,
    is_header,
    other_separator_text,
)
from attnviz.reading import (
    LIMITS,
    STREAMED,
    Limits,
    blocks,
    cut_texts,
    opened,
    opened_parquet,
    pause,
    read_text_lines,
    reading_errors,
)
from attnviz.text import LONGEST_TEXT, abbreviated, is_too_long
from attnviz.trace.tokens import detokenise, unescaped_text
from attnviz.trace.word_link_text import is_line_of_links

_ENDINGS = (".tsv", ".txt", ".jsonl", ".parquet")
"""File extensions; the first three may be followed by `.gz` or `.xz`."""
_LIMITS = dataclasses.replace(STREAMED, cell=4 * (2 * LONGEST_TEXT + 1000))
"""Of a line or cell, enough bytes are read to see that it is too long."""
_COLUMN_NAMES = (("source", "en", "english"), ("target", "fr", "french", "reference", "translation"))
"""Names of the columns of a Parquet file."""
_TEXT_COLUMNS = {name for names in _COLUMN_NAMES for name in names}
_ROWS_AT_ONCE = 1000
_FIRST_LINES = 100
"""Number of first lines that show whether a text file is CSV."""


@dataclass(frozen=True)
class Line:
    """A sentence, or a pair, of a file."""

    number: int
    """Line or row number, from 1."""
    source: str
    target: str | None = None
    gold: GoldAlignment | None = None
    """Gold links between the words of the pair."""


def read_lines(path: Path, gold: Path | None = None) -> Iterator[Line | Skipped]:
    """Yield the sentences or pairs of a file, in the format of its extension.

    `.tsv` and `.txt`: one sentence a line, or source<TAB>target; `.jsonl`: pairs with links, as `evaluation.read_gold`
    reads them; `.parquet`: columns `source` and, for pairs, `target`. All but the last may be compressed as `.gz` or
    `.xz`.

    Args:
        path: The file.
        gold: File with a line of Pharaoh links for each pair, between words separated by spaces (`i-j` sure, `i?j` or
            `ipj` possible; empty for a pair without links).

    Yields:
        A line, or why it was skipped.

    Raises:
        AttnvizError: The file cannot be read or has another extension; the message names it.
    """
    check_name(path)
    if gold is None:
        yield from _lines(path)
        return
    links = itertools.chain(read_text_lines(gold, _LIMITS), itertools.repeat(None))
    for line, gold_line in zip(_lines(path), links, strict=False):
        if gold_line is None:
            raise user_error(
                "The file {gold} has fewer lines than {path}. A gold file must have one line for each sentence "
                "pair, and an empty line for a pair without links.",
                gold=gold,
                path=path,
            )
        yield _with_gold(line, gold_line)
    if next(links) is not None:
        raise user_error(
            "The file {gold} has more lines than {path}. A gold file must have one line for each sentence pair.",
            gold=gold,
            path=path,
        )


def unescaped_line(line: Line | Skipped) -> Line | Skipped:
    """Return a line without the escapes of Moses' tokenizer.

    Raise AttnvizError where it has links, which count the words before.
    """
    if isinstance(line, Skipped):
        return line
    if line.gold is not None:
        raise user_error(
            "With --unescape, words are joined at @-@, so the links marked by hand would count the wrong words. "
            "Leave out --unescape, or the links."
        )
    target = None if line.target is None else unescaped_text(line.target)
    return Line(line.number, unescaped_text(line.source), target)


def check_lines(path: Path, limit: int | None = None) -> None:
    """Raise AttnvizError where the file cannot be read, or more than 1 % of its lines are malformed."""
    is_text = _kind(path) in (".tsv", ".txt")
    lines, texts = itertools.tee(read_text_lines(path, _LIMITS)) if is_text else (iter(()), itertools.repeat(""))
    found = _text_lines(lines) if is_text else _lines(path)
    count, skipped, samples = 0, list[Skipped](), list[str]()
    for line, text in zip(itertools.islice(found, limit), texts, strict=False):
        count += 1
        if isinstance(line, Skipped) and line.malformed:
            skipped.append(line)
            if len(samples) < SAMPLE_LINES:
                samples.append(text)
    check_share(path, count, skipped, samples if is_text else (), skip_malformed=False)


def check_name(path: Path) -> None:
    """Raise AttnvizError unless the file exists and has a readable extension."""
    if not readable(path):
        raise user_error("The name of the file {path} must end in {endings}.", path=path, endings=extensions_text())
    if not path.is_file():
        raise user_error("There is no file {path}.", path=path)


def extensions_text() -> str:
    """Return the readable extensions as text for a sentence."""
    return gettext("{endings} (all but the last may be followed by .gz or .xz)", endings=", ".join(_ENDINGS))


def readable(path: Path) -> bool:
    """Return whether a file has a readable extension."""
    kind = _kind(path)
    return kind in _ENDINGS and (kind != ".parquet" or path.suffix.lower() == kind)


def count_lines(path: Path, limit: int | None = None) -> int:
    """Return the number of lines or rows of a file; raise AttnvizError where it cannot be read.

    With a `limit`, counting stops once it is reached.
    """
    if _kind(path) == ".parquet":
        with _opened_table(path) as (file, _):
            return int(file.metadata.num_rows)
    count, last = 0, b"\n"
    with opened(path) as file:
        for block in blocks(file):
            count, last = count + block.count(b"\n"), block[-1:]
            if limit is not None and count >= limit:
                break
    return count + (last != b"\n")


def without_compression(path: Path) -> Path:
    """Return a path without the extension of compression."""
    return path.with_suffix("") if path.suffix.lower() in (".gz", ".xz") else path


def _kind(path: Path) -> str:
    """Return the extension of a file in lower case, without that of compression."""
    return without_compression(path).suffix.lower()


def _lines(path: Path) -> Iterator[Line | Skipped]:
    kind = _kind(path)
    if kind == ".parquet":
        return _parquet_rows(path)
    return (_jsonl_lines if kind == ".jsonl" else _text_lines)(read_text_lines(path, _LIMITS))


def _text_lines(lines: Iterable[str]) -> Iterator[Line | Skipped]:
    rest = iter(lines)
    sample = list(itertools.islice(rest, _FIRST_LINES))
    csv = is_csv_sample(sample)
    for number, line in enumerate(itertools.chain(sample, rest), 1):
        columns = line.split("\t")
        if number == 1 and is_header(columns):
            yield header()
        elif len(columns) == 1 and csv:
            yield Skipped(number, csv_reason())
        elif len(columns) == 1 and (other := other_separator_text(line)):
            yield Skipped(number, other)
        elif len(columns) == 1 and is_line_of_links(line):
            yield Skipped(number, gettext("the line has word links instead of a sentence"))
        elif len(columns) > 2:
            yield Skipped(
                number, gettext("{count} columns: at most two are allowed, source and target", count=len(columns))
            )
        else:
            yield _line_or_skipped(number, *columns)


def _jsonl_lines(lines: Iterable[str]) -> Iterator[Line | Skipped]:
    for number, line in enumerate(lines, 1):
        try:
            gold = parse_gold(line)
        except ValueError as error:
            yield Skipped(number, gettext("not a sentence pair with links ({error})", error=error))
            continue
        checked = _line_or_skipped(number, detokenise(gold.source), detokenise(gold.target))
        yield checked if isinstance(checked, Skipped) else _line_with_links(checked, gold)


def _parquet_rows(path: Path) -> Iterator[Line | Skipped]:
    with _opened_table(path) as (file, repeating):
        names = [next((name for name in known if name in file.schema_arrow.names), None) for known in _COLUMN_NAMES]
        if names[0] is None:
            raise user_error("The file has no column “source”.")
        numbers = itertools.count(1)
        at_once = min(_ROWS_AT_ONCE, max(1, LIMITS.bytes // repeating)) if repeating else _ROWS_AT_ONCE
        for batch in file.iter_batches(at_once, columns=[name for name in names if name is not None]):
            for values in zip(*map(_cells, batch.columns), strict=True):
                pause()
                number = next(numbers)
                if all(isinstance(value, str) for value in values):
                    yield _line_or_skipped(number, *values)
                else:
                    yield Skipped(number, gettext("a cell contains no text"))


def _cells(column: Any) -> list[str | None]:
    """Return the texts of a column; invalid UTF-8 becomes U+FFFD, which makes a line invalid."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))
    return cut_texts(column, _LIMITS.cell) if is_text else [None] * len(column)


def _line_or_skipped(number: int, source: str, target: str | None = None) -> Line | Skipped:
    """Return a line, or the reason to skip it; the tokenizer checks later."""
    for name, text in (("source", source), ("target", target)):
        if text is None or (text.strip() and "\ufffd" not in text and not is_too_long(text)):
            continue
        what = gettext("the source" if name == "source" else "the target")
        if not text.strip():
            return Skipped(number, gettext("{what} is empty", what=what))
        if "\ufffd" in text:
            return Skipped(number, gettext("{what} is not valid UTF-8", what=what))
        return Skipped(
            number,
            ngettext(
                "{what} has {count} word and {characters} characters: too long",
                "{what} has {count} words and {characters} characters: too long",
                len(text.split()),
                what=what,
                characters=len(text),
            ),
            malformed=False,
        )
    return Line(number, source, target)


def _with_gold(line: Line | Skipped, gold_line: str) -> Line | Skipped:
    if isinstance(line, Skipped) or not gold_line.strip():
        return line
    if line.target is None:
        return Skipped(line.number, gettext("links, but no target"))
    source, target = tuple(line.source.split()), tuple(line.target.split())
    try:
        links = parse_sure_and_possible(gold_line)
    except AttnvizError as error:
        return Skipped(line.number, str(error).rstrip("."))
    gold = GoldAlignment(str(line.number), source, target, links.sure, links.possible)
    return _line_with_links(line, gold)


def _line_with_links(line: Line, gold: GoldAlignment) -> Line | Skipped:
    """Return `line` with its links; skipped where links name words that do not exist."""
    source, target = len(gold.source), len(gold.target)
    if not (faulty := links_out_of_range(gold, source, target)):
        return dataclasses.replace(line, gold=gold)
    reason = ngettext(
        "the link {links} is out of range: the pair has {source} source words and {target} target words, counted from "
        "0 and separated by spaces",
        "the links {links} are out of range: the pair has {source} source words and {target} target words, counted "
        "from 0 and separated by spaces",
        len(faulty),
        links=abbreviated(faulty, " "),
        source=source,
        target=target,
    )
    return Skipped(line.number, reason)


@contextlib.contextmanager
def _opened_table(path: Path) -> Iterator[tuple[Any, int]]:
    """Open a Parquet file as `opened_parquet` does; raise AttnvizError, naming it, where it cannot be read."""
    with reading_errors(path):
        try:
            with opened_parquet(path, _TEXT_COLUMNS, _LIMITS) as found:
                yield found
        except pa.ArrowException as error:
            raise ValueError(str(error)) from error


def check_table(content: bytes, limits: Limits) -> None:
    """Raise AttnvizError where the texts of a Parquet file exceed the limits."""
    # Another error is raised, with the name of the file, when its rows are read.
    suppressed = contextlib.suppress(pa.ArrowException, OSError, ValueError)
    with suppressed, opened_parquet(io.BytesIO(content), _TEXT_COLUMNS, limits):
        pass


_SIGNS = "*?["
"""Characters that make a name a pattern."""


def source_files(names: Iterable[str], accepted: Callable[[Path], bool] = readable) -> list[str]:
    """Return the files that the names stand for, in order; a folder stands for its `accepted` files.

    A name may be a path, a pattern, or the address of a file system that fsspec knows. Raise AttnvizError where a
    pattern or folder has no file, or an address cannot be read.
    """
    return [file for name in names for file in _files_of(name, accepted)]


def table_files(files: list[str], folder: Path) -> dict[str, Path]:
    """Return the path of the table of each file, in `folder`; raise AttnvizError where two would be the same."""
    tables: dict[str, Path] = {}
    for file in files:
        table = folder / f"{without_compression(Path(file)).stem}.parquet"
        if table in tables.values():
            raise user_error(
                "The tables of two files would both be named {table}. Measure files of the same name one by one.",
                table=table,
            )
        tables[file] = table
    return tables


@contextlib.contextmanager
def local_files(names: Iterable[str]) -> Iterator[list[Path]]:
    """Yield the path of each file, which is that of a copy if it is on another file system, until the block ends.

    Raise AttnvizError where one cannot be read. Errors in the block name the file instead of its copy.
    """
    with tempfile.TemporaryDirectory() as folder:
        original: dict[Path, str] = {}
        for number, name in enumerate(names):
            path = Path(name)
            if "://" in name:
                path = Path(folder, str(number), path.name)  # files of other file systems may have the same name
                path.parent.mkdir()
                with _opening(name):
                    system, place = _system(name)
                    system.get_file(place, str(path))
            original[path] = name
        try:
            yield list(original)
        except AttnvizError as error:
            message = str(error)
            for path, name in original.items():
                message = message.replace(str(path), name)
            raise AttnvizError(message) from error


def _files_of(name: str, accepted: Callable[[Path], bool]) -> list[str]:
    with _opening(name):
        (system, path), is_local = _system(name), "://" not in name
        if any(sign in name for sign in _SIGNS) and not (is_local and Path(name).exists()):
            files = sorted(system.glob(path))
        elif system.isdir(path):
            found = sorted(file for file in system.ls(path, detail=False) if accepted(Path(file)))
            files = [file for file in found if not is_local or Path(file).is_file()]  # a pipe would never end
        else:
            return [name]
        if not files:
            raise user_error("{name} has no file that can be read.", name=name)
        return files if is_local else [system.unstrip_protocol(file) for file in files]


def _system(name: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    import fsspec

    found: tuple[Any, str] = fsspec.core.url_to_fs(name)
    return found


@contextlib.contextmanager
def _opening(name: str) -> Iterator[None]:
    """Turn the errors of a file system into sentences."""
    try:
        yield
    except AttnvizError:
        raise
    except ImportError as error:
        raise user_error(
            "To read {name}, install the package of its file system. {reason}.", name=name, reason=error
        ) from error
    except FileNotFoundError as error:
        raise user_error("There is no file {name}.", name=name) from error
    except Exception as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise user_error("{name} cannot be read: {reason}.", name=name, reason=reason[:200]) from error
