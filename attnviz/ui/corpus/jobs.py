"""Tables that are made or were made on this server: by a thread of their own, whoever looks on or leaves."""

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
from attnviz.ui.resources import translator_in
from attnviz.ui.shelf import shelved

MOST_LINES = 1000
"""Of a file that a visitor gives; the command takes any number."""
MOST_MEGABYTES = 1
MOST_UNPACKED = 16
"""Megabytes of a packed file: a small one may hold gigabytes, which would be read while others wait."""
_KEPT = 20
"""Tables that are kept, the newest: a link to another says that it is gone."""
_NAMED = 100
"""Lines that could not be used whose reasons are kept."""
_WINDOW = 20
"""Lines after which it is told how far it is."""


class Cancelled(Exception):
    """A visitor wants no more of it."""


class Job:
    """A table in the making, or made."""

    def __init__(self, identity: str, name: str, table: Path) -> None:
        self.identity, self.name, self.table = identity, name, table
        self.progress: Progress | None = None
        """None as long as others are made."""
        self.problem = ""
        """Why there will be no table."""
        self.skipped: tuple[tuple[int, str], ...] = ()
        """The first of the lines that could not be used, by their numbers, with the reasons."""
        self.done = False
        self._unwanted = threading.Event()
        self._began = 0.0

    @property
    def ended(self) -> bool:
        """Whether there is a table, or will be none."""
        return self.done or bool(self.problem)

    @property
    def left(self) -> float | None:
        """Seconds until it is done, as far as can be told."""
        told = self.progress
        if told is None or told.done <= told.before:
            return None
        return (time.monotonic() - self._began) / (told.done - told.before) * (told.total - told.done)

    def cancel(self) -> None:
        """Have it end soon, without a table."""
        self._unwanted.set()

    def run(self, model: str, file: Path, gold: Path | None, code: str) -> None:
        """Make the table, what is told of it in the language `code`; only one is made at a time, so that who translates
        meanwhile hardly waits."""
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
        """Delete what there is of it."""
        self.cancel()
        shutil.rmtree(self.table.parent, ignore_errors=True)


_ONE = threading.Lock()
_REGISTRY = threading.Lock()
_JOBS: OrderedDict[str, Job] = OrderedDict()


@cache
def _folder() -> Path:
    """Where the files of visitors are: nowhere else, and not after the server has stopped."""
    return passing_folder("attnviz-corpora-")


def begin(name: str, content: bytes, model: str, gold: bytes | None = None) -> Job:
    """Have the pairs of a file measured by the model of a folder; the same of the same are measured once.

    Raise AttnvizError for a file of another kind, or one that is too large.
    """
    if not readable(Path(name)):
        raise AttnvizError(
            gettext("{name} was not measured: its name must end in {endings}.", name=name, endings=spelt_endings())
        )
    if len(content) > MOST_MEGABYTES << 20:
        raise AttnvizError(
            gettext(
                "{name} is larger than {most} MB. Let the command attnviz corpus measure it.",
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
    # A name that a visitor chose is shown, and never a path: only endings that are known are taken from it.
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
    """Return what is or was made under an identity, or a table of `shelved` by its name; None where there is none."""
    if identity and (table := shelved().get(identity)):
        job = Job(identity, table.name, table)
        job.done = True
        return job
    with _REGISTRY:
        return _JOBS.get(identity or "")
