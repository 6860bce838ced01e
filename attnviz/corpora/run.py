"""A file from its first line to the table of it: in windows, by one process or several, and on again after a kill.

Each window of lines becomes a part, a Parquet file that is there as a whole or not at all, in the folder `OUT.parts`.
What was begun is therefore known from the parts, and parts are the same whoever computes them: killed and started
again, a run ends with the same bytes. At the end they are put together and go.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.columns import SCHEMA
from attnviz.corpora.lines import Line, Skipped, check_name, count_lines, read_lines
from attnviz.corpora.parts import About, about, put_together, skipped_of
from attnviz.corpora.settings import Settings
from attnviz.corpora.workers import Compute, here, in_processes
from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.model_folder import weights_digest

Window = list[Line | Skipped]
WINDOW = 1000
"""Lines of a part: sorted by length among themselves, and a row group of the table."""


@dataclass(frozen=True)
class Progress:
    """How far a run is, in lines."""

    done: int
    total: int
    skipped: int
    before: int
    """Of those done, how many were done when the run began."""


def analyse_file(
    path: str | Path, output: str | Path, model: str | Path | Analyser, settings: Settings | None = None, *,
    gold: str | Path | None = None, limit: int | None = None, device: str = "auto", workers: int = 1,
    window: int = WINDOW, advance: Callable[[Progress], object] | None = None,
) -> About:  # fmt: skip
    """Read sentences or pairs from `path`, as `read_lines` does, and write the table of them to `output` (Parquet).

    `model` is a folder, or an `Analyser` that is ready, which has settings of its own. With a folder, `workers`
    processes of one thread each share the work. `limit` takes the first so many lines. `advance` is told how far it is
    after each `window` of lines, and what it raises ends the run. However a run ends, the same call goes on from the
    windows that were done; a table that is there already, of the same file, model and settings, is left as it is. Raise
    AttnvizError where a file or the model cannot be read, or the table cannot be written.
    """
    path, output, gold = Path(path), Path(output), None if gold is None else Path(gold)
    check_name(path)
    settings = model.settings if isinstance(model, Analyser) else settings or Settings()
    settings.check()
    if gold is not None and settings.translate:
        raise AttnvizError("Links that people drew are those of the translation that is given: leave out --translate.")
    digest = model.weights_digest if isinstance(model, Analyser) else weights_digest(model)
    fingerprint = _fingerprint([path, *([gold] if gold else [])], digest, settings, limit, window)
    known = about(output) if output.exists() else None
    parts = output.with_name(f"{output.name}.parts")
    if known is not None and known.fingerprint == fingerprint:
        shutil.rmtree(parts, ignore_errors=True)
        return known
    _begin(parts, fingerprint)
    count = count_lines(path)
    total = min(count, limit or count)
    windows = _windows(itertools.islice(read_lines(path, gold), limit), window)
    # Processes that would have nothing to do are not started.
    most = max(1, min(workers, -(-total // window)))
    compute = here(model) if isinstance(model, Analyser) else in_processes(model, settings, device, most)
    for told in _computed(windows, parts, compute, total):
        if advance:
            advance(told)
    name = model.name if isinstance(model, Analyser) else Path(model).resolve().name
    found = put_together(parts, output, About(fingerprint, name, dataclasses.asdict(settings), total, 0, 0, []))
    shutil.rmtree(parts)
    return found


def _fingerprint(files: list[Path], digest: str, settings: Settings, limit: int | None, window: int) -> str:
    """Return a SHA-256 of all that the table depends on."""
    told = {"model": digest, "settings": dataclasses.asdict(settings), "limit": limit, "window": window,
            "schema": str(SCHEMA), "files": [_digest(file) for file in files]}  # fmt: skip
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise AttnvizError(f"The file {file} cannot be read: {error.strerror or error}.") from error


def _begin(parts: Path, fingerprint: str) -> None:
    """Make a folder for the parts of this run, or leave that which it has begun; those of another run go."""
    mark = parts / "run.txt"
    try:
        if mark.is_file() and mark.read_text() == fingerprint:
            return
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir(parents=True)
    except OSError as error:
        raise AttnvizError(f"The folder {parts} cannot be written: {error.strerror or error}.") from error
    replace_text(mark, fingerprint)


def _computed(windows: Iterable[Window], parts: Path, compute: Compute, total: int) -> Iterator[Progress]:
    """Compute the parts that are not there; yield how far it is, in the end too where all of them were there."""
    told = Progress(0, total, 0, 0)

    def missing() -> Iterator[tuple[Path, Window]]:
        nonlocal told
        for index, lines in enumerate(windows):
            part = parts / f"{index:06}.parquet"
            if part.is_file():
                told = Progress(told.done + len(lines), total, told.skipped + len(skipped_of(part)),
                                told.before + len(lines))  # fmt: skip
            else:
                yield part, lines

    for count, skipped in compute(missing()):
        told = dataclasses.replace(told, done=told.done + count, skipped=told.skipped + skipped)
        yield told
    yield told


def _windows(lines: Iterator[Line | Skipped], size: int) -> Iterator[Window]:
    while window := list(itertools.islice(lines, size)):
        yield window
