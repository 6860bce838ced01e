"""Jobs that measure visitors' sentence pairs on the server, in threads that continue when visitors leave."""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
from collections import OrderedDict
from functools import cache
from pathlib import Path

from attnviz import AttnvizError
from attnviz.corpora import Analyser, Progress, Settings, analyse_file
from attnviz.corpora.lines import ENDINGS, extensions_text, readable
from attnviz.languages import gettext, language, set_language
from attnviz.text_files import unpacked
from attnviz.ui.corpus.temporary_folder import temporary_folder
from attnviz.ui.corpus_tables import offered_tables
from attnviz.ui.resources import translator_in

MOST_LINES = 1000
"""Largest number of lines in an uploaded file; the command has no limit."""
MOST_MEGABYTES = 1
"""Largest size of an uploaded file, in megabytes."""
MOST_UNPACKED = 16
"""Largest size of a decompressed file, in megabytes: a small archive may expand to gigabytes."""
_MAX_TABLES = 20
"""Number of tables that are stored, the newest; a link to an older table shows an error."""
_MAX_REASONS = 100
"""Number of skipped lines whose reasons are stored."""
_WINDOW = 20
"""Lines between progress reports."""


class Cancelled(Exception):
    """A visitor has cancelled the job."""


class Job:
    """A table that is being measured, or is finished."""

    def __init__(self, identity: str, name: str, table: Path) -> None:
        self.identity, self.name, self.table = identity, name, table
        self.progress: Progress | None = None
        """None while the job waits for others."""
        self.problem = ""
        """Error message, empty unless the job failed."""
        self.skipped: tuple[tuple[int, str], ...] = ()
        """The first skipped lines, by line number, with the reasons."""
        self.done = False
        self._cancelled = threading.Event()
        self._start_time = 0.0

    @property
    def ended(self) -> bool:
        """Whether the job has finished or failed."""
        return self.done or bool(self.problem)

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the job is done, or None while unknown."""
        progress = self.progress
        if progress is None or progress.done <= progress.before:
            return None
        return (
            (time.monotonic() - self._start_time) / (progress.done - progress.before) * (progress.total - progress.done)
        )

    def cancel(self) -> None:
        """Stop the job soon, without a table."""
        self._cancelled.set()

    def run(self, model: str, file: Path, gold: Path | None, code: str) -> None:
        """Make the table, with messages in the language `code`.

        Only one job runs at a time, so that translations of visitors are hardly delayed.
        """
        set_language(code)
        try:
            with _RUN_LOCK:
                self._report_progress(None)
                self._start_time = time.monotonic()
                analyser = Analyser(translator_in(model, "cpu"), Settings())
                result = analyse_file(
                    file,
                    self.table,
                    analyser,
                    gold=gold,
                    limit=MOST_LINES,
                    window=_WINDOW,
                    skip_malformed=True,
                    advance=self._report_progress,
                )
            self.skipped = tuple(result.named[:_MAX_REASONS])
            if not result.rows:
                reason = result.named[0][1] if result.named else gettext("it is empty")
                self.problem = gettext("No line of {name} could be used: {reason}.", name=self.name, reason=reason)
        except Cancelled:
            self.problem = gettext("Cancelled.")
        except AttnvizError as error:
            self.problem = str(error).replace(str(file), self.name)
        finally:
            self.done = not self.problem and self.table.is_file()
            if not self.done:
                self.problem = self.problem or gettext("{name} could not be measured.", name=self.name)

    def _report_progress(self, progress: Progress | None) -> None:
        if self._cancelled.is_set():
            raise Cancelled
        self.progress = progress

    def forget(self) -> None:
        """Cancel the job and delete its files."""
        self.cancel()
        shutil.rmtree(self.table.parent, ignore_errors=True)


_RUN_LOCK = threading.Lock()
_JOBS_LOCK = threading.Lock()
_JOBS: OrderedDict[str, Job] = OrderedDict()


@cache
def _folder() -> Path:
    """Return the folder of visitors' files; they are nowhere else, and are deleted when the server stops."""
    return temporary_folder("attnviz-corpora-")


def begin(name: str, content: bytes, model: str, gold: bytes | None = None) -> Job:
    """Start measuring the pairs of a file by the model in a folder; the same file, links and model are measured once.

    Raise AttnvizError for an unsupported or too large file.
    """
    if not readable(Path(name)):
        raise AttnvizError(
            gettext("{name} was not measured: its name must end in {endings}.", name=name, endings=extensions_text())
        )
    if len(content) > MOST_MEGABYTES * 10**6:
        raise AttnvizError(
            gettext(
                "{name} is larger than {most} MB. Measure this file with the command attnviz corpus.",
                name=name,
                most=MOST_MEGABYTES,
            )
        )
    content, plain = unpacked(content, name, MOST_UNPACKED * 10**6)
    parts = (name.encode(), content, gold or b"", translator_in(model, "cpu").weights_digest.encode())
    identity = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    with _JOBS_LOCK:
        existing = _JOBS.get(identity)
        if existing is not None and not existing.problem:
            _JOBS.move_to_end(identity)
            return existing
        folder = _folder() / f"{identity}-{time.monotonic_ns()}"
        folder.mkdir()
        job = _JOBS[identity] = Job(identity, name, folder / "table.parquet")
        while len(_JOBS) > _MAX_TABLES:
            _JOBS.popitem(last=False)[1].forget()
    # The uploaded name is displayed but never used as a path, except for known endings.
    known_endings = [ending for ending in Path(plain).suffixes[-1:] if ending in ENDINGS]
    file = folder / f"pairs{''.join(known_endings)}"
    file.write_bytes(content)
    links = None
    if gold is not None:
        links = folder / "links.txt"
        links.write_bytes(gold)
    threading.Thread(target=job.run, args=(model, file, links, language()), daemon=True).start()
    return job


def job_of(identity: str | None) -> Job | None:
    """Return the job of an identity, or a table of `offered_tables` by its name; None where there is none."""
    if identity and (table := offered_tables().get(identity)):
        job = Job(identity, table.name, table)
        job.done = True
        return job
    with _JOBS_LOCK:
        return _JOBS.get(identity or "")
