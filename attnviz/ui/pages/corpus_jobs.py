"""Jobs that measure visitors' sentence pairs or attention files, in threads that continue when visitors leave.

Visitors with equal files share a job. Each holds a few: these are not dropped for those of others, and Cancel ends a
job only where nobody else holds it.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from pyarrow import parquet

from attnviz import AttnvizError
from attnviz.corpora import Analyser, Progress, Settings, analyse_file
from attnviz.corpora.corpus_lines import check_table, extensions_text, readable, without_compression
from attnviz.corpora.measured_attention import table_of_attention
from attnviz.corpora.table_metadata import table_metadata
from attnviz.errors import user_error
from attnviz.evaluation.scoring import ScoredLinks, by_record, score
from attnviz.evaluation.two_files import LinkAgreement, link_agreement, with_tokens_of
from attnviz.file_kinds import PARQUET
from attnviz.importing.attention_reader import read_bytes, records_of
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext, language, ngettext, set_language
from attnviz.reading import UPLOADED, Limits, content_of, reading_for
from attnviz.ui.examples import offered_tables
from attnviz.ui.resources import translator_in

MOST_LINES = 1000
"""Largest number of lines in an uploaded file; the command has no limit."""
MOST_MEGABYTES = 1
"""Largest size of an uploaded file, in megabytes."""
UPLOAD_LIMITS = Limits(bytes=16 * 10**6)
"""Limits of a file of sentence pairs: a small archive may expand to gigabytes."""
_MAX_TABLES, _MAX_BYTES = 100, 256 << 20
"""Number of tables that are stored, and bytes of their files; a link to a dropped table shows an error."""
_MAX_HELD = 5
"""Number of tables of one visitor, the newest, that are dropped only when no other can be."""
_MAX_REASONS = 100
"""Number of skipped lines whose reasons are stored."""
_WINDOW = 20
"""Lines between progress reports."""

File = tuple[str, bytes]
"""Name and content of an uploaded file."""


@dataclass(frozen=True)
class Uploads:
    """Attention files of another program, whose pairs make one table."""

    files: Sequence[File]
    gold: File | None = None
    """Gold links, against which their links are scored."""
    other: File | None = None
    """Attention of another program, whose links they are compared with."""


_WATCHER_PROGRAM = """
import pathlib, shutil, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(flush=True)
sys.stdin.read()
for _ in range(10):  # a thread may write to its last moment
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not pathlib.Path(sys.argv[1]).exists():
        break
    time.sleep(0.2)
"""


def temporary_folder(prefix: str) -> Path:
    """Make a temporary folder that is deleted once this process has ended, by itself or by any signal.

    `tempfile.TemporaryDirectory` is left behind when the server is stopped: uvicorn re-raises the signal that it
    received, and no process can clean up after a SIGKILL. So another process waits until the system closes its standard
    input, and then deletes the folder.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    command = [sys.executable, "-I", "-S", "-c", _WATCHER_PROGRAM, folder]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert watcher.stdout
    watcher.stdout.readline()  # from now on it ignores signals to the process group
    watcher.stdout.close()
    atexit.register(watcher.communicate)
    return Path(folder)


class Cancelled(Exception):
    """A visitor has cancelled the job."""


@dataclass(eq=False)
class CorpusJob:
    """A table that is being measured, or is finished."""

    identity: str
    name: str
    table: Path
    size: int = 0
    visitors: set[str] = field(default_factory=set)
    """Those who hold it: they began it, or opened its link."""
    progress: Progress | None = None
    """None while the job waits for others."""
    problem: str = ""
    """Error message, empty unless the job failed."""
    skipped: tuple[tuple[int, str], ...] = ()
    """The first skipped lines, by line number, with the reasons."""
    records: AttentionRecords | None = None
    """The attention of another program, for a table of it."""
    scored: ScoredLinks | None = None
    """The score of its links against gold links."""
    gold_name: str = ""
    other_name: str = ""
    other: AttentionRecords | None = None
    """The attention of the program that it is compared with."""
    agreement: LinkAgreement | None = None
    """The links of both."""
    done: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set to stop the job soon, without a table."""
    start_time: float = 0.0

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
        passed = time.monotonic() - self.start_time
        return passed / (progress.done - progress.before) * (progress.total - progress.done)

    def run(self, make: Callable[[CorpusJob], None], code: str) -> None:
        """Let `make` write the table, with messages in the language `code`.

        Only one job runs at a time, so that translations of visitors are hardly delayed.
        """
        set_language(code)
        try:
            with _RUN_LOCK, reading_for(self.check_cancelled, UPLOADED):
                self.report_progress(None)
                self.start_time = time.monotonic()
                make(self)
                self.report_progress(self.progress)
        except Cancelled:
            self.problem = gettext("Cancelled.")
        except AttnvizError as error:
            self.problem = str(error)
        finally:
            self.done = not self.problem and self.table.is_file()
            if not self.done:
                self.problem = self.problem or gettext("No statistics could be computed for {name}.", name=self.name)
                self._delete_files()

    def check_cancelled(self) -> None:
        """Raise Cancelled if the visitor has cancelled the job."""
        if self.cancelled.is_set():
            raise Cancelled

    def report_progress(self, progress: Progress | None) -> None:
        """Store the progress; raise Cancelled if the visitor has cancelled the job."""
        self.check_cancelled()
        self.progress = progress

    def forget(self) -> None:
        """Cancel the job and delete its files; a running job deletes them when it ends."""
        self.cancelled.set()
        if self.ended:
            self._delete_files()

    def _delete_files(self) -> None:
        shutil.rmtree(self.table.parent, ignore_errors=True)


_RUN_LOCK = threading.Lock()
_JOBS_LOCK = threading.Lock()
_JOBS: OrderedDict[str, CorpusJob] = OrderedDict()
"""By identity, the one that was held last at the end."""


@cache
def _folder() -> Path:
    """Return the folder of visitors' files; they are nowhere else, and are deleted when the server stops."""
    return temporary_folder("attnviz-corpora-")


def begin(visitor: str, name: str, content: bytes, model: str, gold: bytes | None = None) -> CorpusJob:
    """Start measuring the pairs of a file by the model in a folder.

    The same file, links and model are measured once for all visitors.

    Raise AttnvizError for an unsupported or too large file.
    """
    if not readable(Path(name)):
        raise user_error(
            "The file {name} cannot be used: its name must end in {endings}.", name=name, endings=extensions_text()
        )
    if len(content) > MOST_MEGABYTES * 10**6:
        raise user_error(
            "{name} is larger than {most} MB. Use the command attnviz corpus for this file.",
            name=name,
            most=MOST_MEGABYTES,
        )
    content = content_of(content, name, limits=UPLOAD_LIMITS).data
    # The uploaded name is displayed but never used as a path, except for its ending, which is a known one.
    pairs = f"pairs{without_compression(Path(name)).suffix}"
    if content.startswith(PARQUET):
        check_table(content, UPLOAD_LIMITS)
    digest = translator_in(model, "cpu").weights_digest
    parts = (content, gold or b"", digest.encode())
    return _begin(visitor, name, parts, partial(_measure_pairs, model, pairs, content, gold))


def begin_attention(visitor: str, uploads: Uploads) -> CorpusJob:
    """Start measuring attention files."""
    files = sorted(uploads.files)
    name, more = files[0][0], len(files) - 1
    if more:
        name = ngettext("{name} and {count} other file", "{name} and {count} other files", more, name=name)
    every = (*files, *(file or ("", b"") for file in (uploads.gold, uploads.other)))
    parts = [part for file_name, content in every for part in (file_name.encode(), content)]
    measure = partial(_measure_attention, name, replace(uploads, files=files))
    return _begin(visitor, name, (*parts, b"attention"), measure)


def _begin(visitor: str, name: str, parts: Sequence[bytes], make: Callable[[CorpusJob], None]) -> CorpusJob:
    """Start a job that lets `make` write a table, for a visitor; `parts` and `name` identify it."""
    identity = hashlib.sha256(b"\0".join((name.encode(), *parts))).hexdigest()[:16]
    with _JOBS_LOCK:
        job = _JOBS.get(identity)
        if job is not None and not job.problem and (job.done or not job.cancelled.is_set()):
            _hold(job, visitor)
            return job
        folder = _folder() / f"{identity}-{time.monotonic_ns()}"
        folder.mkdir()
        job = _JOBS[identity] = CorpusJob(identity, name, folder / "table.parquet", sum(map(len, parts)))
        _hold(job, visitor)
        while len(_JOBS) > _MAX_TABLES or sum(other.size for other in _JOBS.values()) > _MAX_BYTES:
            surplus = min(_JOBS.values(), key=lambda other: bool(other.visitors))  # the oldest that nobody holds
            _JOBS.pop(surplus.identity).forget()
    threading.Thread(target=job.run, args=(make, language()), daemon=True).start()
    return job


def _hold(job: CorpusJob, visitor: str) -> None:
    """Let a visitor hold a job, and no longer the oldest of too many."""
    _JOBS.move_to_end(job.identity)
    job.visitors.add(visitor)
    for other in [other for other in _JOBS.values() if visitor in other.visitors][:-_MAX_HELD]:
        other.visitors.discard(visitor)


def cancel(visitor: str, job: CorpusJob) -> None:
    """Stop a job soon, without a table, unless another visitor holds it."""
    with _JOBS_LOCK:
        job.visitors.discard(visitor)
        if not job.visitors:
            job.cancelled.set()


def leave(visitor: str) -> None:
    """Let a visitor who has left hold nothing; running jobs continue, for their links."""
    with _JOBS_LOCK:
        for job in _JOBS.values():
            job.visitors.discard(visitor)


def _measure_pairs(model: str, pairs: str, content: bytes, gold: bytes | None, job: CorpusJob) -> None:
    """Measure sentence pairs by the model in a folder; `pairs` is the name of the file that is written for them."""
    file, links = job.table.with_name(pairs), None
    file.write_bytes(content)
    if gold is not None:
        links = job.table.with_name("links.txt")
        links.write_bytes(gold)
    try:
        result = analyse_file(
            file,
            job.table,
            Analyser(translator_in(model, "cpu"), Settings()),
            gold=links,
            limit=MOST_LINES,
            window=_WINDOW,
            skip_malformed=True,
            advance=job.report_progress,
        )
    except AttnvizError as error:
        raise AttnvizError(str(error).replace(str(file), job.name)) from error
    job.skipped = tuple(result.named[:_MAX_REASONS])
    if not result.rows:
        reason = result.named[0][1] if result.named else gettext("it is empty")
        raise user_error("No line of {name} could be used: {reason}.", name=job.name, reason=reason)


def _measure_attention(name: str, uploads: Uploads, job: CorpusJob) -> None:
    """Measure every pair of attention files."""
    records, gold = records_of([content_of(content, file) for file, content in uploads.files]), uploads.gold
    if len(records) > MOST_LINES:
        raise user_error(
            "{name} has {count} sentence pairs; this page shows {most} at most. Use the command attnviz "
            "attention with the option --table.",
            name=name,
            count=len(records),
            most=MOST_LINES,
        )
    if (other := uploads.other) is not None:
        compared = read_bytes(other[1], other[0])
        records, job.other = with_tokens_of(records, compared), with_tokens_of(compared, records)
        job.agreement, job.other_name = link_agreement(records, job.other), other[0]
    scored = gold and score(records, read_bytes(gold[1], gold[0]))

    def advance(done: int) -> None:
        if done % _WINDOW == 0:
            job.report_progress(Progress(done, len(records), skipped=0, before=0))

    scores = by_record(scored.error.sentences, scored.places) if scored else ()
    agreements = by_record(job.agreement.pairs, job.agreement.places) if job.agreement else ()
    table = table_of_attention(records, scores, advance, agreements)
    parquet.write_table(table, job.table, compression="zstd")
    if (metadata := table_metadata(job.table)) and metadata.skipped:
        job.skipped = tuple(metadata.named[:_MAX_REASONS])
        job.report_progress(Progress(len(records), len(records), metadata.skipped, before=0))
    job.records, job.scored, job.gold_name = records, scored, gold[0] if gold else ""


def job_of(visitor: str, identity: str | None) -> CorpusJob | None:
    """Return the job of an identity, or a table of `offered_tables` by its name; None where there is none.

    The visitor then holds the job.
    """
    if identity and (table := offered_tables().get(identity)):
        return CorpusJob(identity, table.name, table, done=True)
    with _JOBS_LOCK:
        held = _JOBS.get(identity or "")
        if held is not None:
            _hold(held, visitor)
        return held
