"""Measure tables on this server, in threads that go on when visitors leave."""

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
from attnviz.corpora.lines import ENDINGS, readable, spelt_endings
from attnviz.languages import gettext, language, set_language
from attnviz.text_files import unpacked
from attnviz.ui.corpus.passing_folder import passing_folder
from attnviz.ui.corpus_tables import shelved
from attnviz.ui.resources import translator_in

MOST_LINES = 1000
"""Largest number of lines in an uploaded file; the command has no limit."""
MOST_MEGABYTES = 1
MOST_UNPACKED = 16
"""Largest size of a decompressed file, in megabytes: a small archive may expand to gigabytes."""
_KEPT = 20
"""Number of newest tables that are stored; a link to an older one says that it is gone."""
_NAMED = 100
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
        self._unwanted = threading.Event()
        self._began = 0.0

    @property
    def ended(self) -> bool:
        """Whether the job has finished or failed."""
        return self.done or bool(self.problem)

    @property
    def left(self) -> float | None:
        """Estimated seconds until the job is done, or None while unknown."""
        told = self.progress
        if told is None or told.done <= told.before:
            return None
        return (time.monotonic() - self._began) / (told.done - told.before) * (told.total - told.done)

    def cancel(self) -> None:
        """Stop the job soon, without a table."""
        self._unwanted.set()

    def run(self, model: str, file: Path, gold: Path | None, code: str) -> None:
        """Make the table, with messages in the language `code`.

        Only one job runs at a time, so that translations of visitors are hardly delayed.
        """
        set_language(code)
        try:
            with _ONE:
                self._tell(None)
                self._began = time.monotonic()
                analyser = Analyser(translator_in(model, "cpu"), Settings())
                made = analyse_file(
                    file,
                    self.table,
                    analyser,
                    gold=gold,
                    limit=MOST_LINES,
                    window=_WINDOW,
                    skip_malformed=True,
                    advance=self._tell,
                )
            self.skipped = tuple(made.named[:_NAMED])
            if not made.rows:
                reason = made.named[0][1] if made.named else gettext("it is empty")
                self.problem = gettext("No line of {name} could be used: {reason}.", name=self.name, reason=reason)
        except Cancelled:
            self.problem = gettext("Cancelled.")
        except AttnvizError as error:
            self.problem = str(error).replace(str(file), self.name)
        finally:
            self.done = not self.problem and self.table.is_file()
            if not self.done:
                self.problem = self.problem or gettext("{name} could not be measured.", name=self.name)

    def _tell(self, told: Progress | None) -> None:
        if self._unwanted.is_set():
            raise Cancelled
        self.progress = told

    def forget(self) -> None:
        """Cancel the job and delete its files."""
        self.cancel()
        shutil.rmtree(self.table.parent, ignore_errors=True)


_ONE = threading.Lock()
_REGISTRY = threading.Lock()
_JOBS: OrderedDict[str, Job] = OrderedDict()


@cache
def _folder() -> Path:
    """Return the folder of visitors' files; they are nowhere else, and are deleted when the server stops."""
    return passing_folder("attnviz-corpora-")


def begin(name: str, content: bytes, model: str, gold: bytes | None = None) -> Job:
    """Start measuring the pairs of a file by the model in a folder; the same file, links and model are measured once.

    Raise AttnvizError for an unsupported or too large file.
    """
    if not readable(Path(name)):
        raise AttnvizError(
            gettext("{name} was not measured: its name must end in {endings}.", name=name, endings=spelt_endings())
        )
    if len(content) > MOST_MEGABYTES << 20:
        raise AttnvizError(
            gettext(
                "{name} is larger than {most} MB. Measure it with the command attnviz corpus.",
                name=name,
                most=MOST_MEGABYTES,
            )
        )
    content, plain = unpacked(content, name, MOST_UNPACKED << 20)
    parts = (name.encode(), content, gold or b"", translator_in(model, "cpu").weights_digest.encode())
    identity = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    with _REGISTRY:
        known = _JOBS.get(identity)
        if known is not None and not known.problem:
            _JOBS.move_to_end(identity)
            return known
        folder = _folder() / f"{identity}-{time.monotonic_ns()}"
        folder.mkdir()
        job = _JOBS[identity] = Job(identity, name, folder / "table.parquet")
        while len(_JOBS) > _KEPT:
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
    """Return the job of an identity, or a table of `shelved` by its name; None where there is none."""
    if identity and (table := shelved().get(identity)):
        job = Job(identity, table.name, table)
        job.done = True
        return job
    with _REGISTRY:
        return _JOBS.get(identity or "")
