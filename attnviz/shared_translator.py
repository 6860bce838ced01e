"""`SharedTranslator`: batch the translation requests of many threads; requests that wait form the next batch.

Clients have fair turns (`FairQueue`). A waiting thread learns its position; a request nobody waits for is dropped.

Separate threads would compete for the interpreter at every matrix product. In a batch, eight sentences cost little more
than two. Long sentences gain nothing.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from attnviz.fair_queue import FairQueue
from attnviz.languages import language, set_language
from attnviz.text import LONGEST_SENTENCE
from attnviz.trace import Trace
from attnviz.trace.interventions import Intervention
from attnviz.translator import Translator

MOST_TOGETHER = 16
"""Largest batch, in sentences; in larger ones the first request would wait longer than batching saves."""
_MOST_WORDS = 200
"""Largest batch, in words with padding: a sentence of 15 to 190 words takes no less time in one twice as large."""
_CREDIT = 5 * LONGEST_SENTENCE
"""How much a client may be ahead of its share: as much as the longest sentence with a beam of 5 costs."""
POLLING_SECONDS = 1.0
"""Interval at which a waiting thread learns the position of its request, in seconds."""
GRACE_SECONDS = 10.0
"""How long a request that no thread waits for keeps its place, in seconds: a page that runs again asks again."""

Waiting = Callable[[int, float], object]
"""Told the number of requests that come first, and the expected seconds until the translation is ready, 0 if unknown.

An exception that it raises ends the waiting.
"""


@dataclass(frozen=True)
class _Job:
    """What to translate, and how."""

    text: str
    beam: int
    target: str | tuple[int, ...] | None
    """The translation to force; None to search."""
    interventions: tuple[Intervention, ...]
    language: str
    """Language of the thread, for error messages."""

    @property
    def words(self) -> int:
        """Number of words of the sentence."""
        return len(self.text.split())

    @property
    def cost(self) -> int:
        """Number of words times width of the search; the time of a translation grows about in proportion."""
        return self.words * self.beam

    @property
    def searched(self) -> bool:
        """Whether it is a search without interventions."""
        return self.target is None and not self.interventions

    def fits(self, first: _Job) -> bool:
        """Return whether the job fits into a batch with the `first` one, which it must not delay much.

        Both are searches of the same beam width without interventions, and it is not much longer.
        """
        similar = self.searched and first.searched and self.beam == first.beam
        return similar and self.words <= 2 * first.words + 20


@dataclass(eq=False)
class _Request:
    """A job of one client that waits or is done now."""

    job: _Job
    client: Hashable
    trace: Future[Trace] = field(default_factory=Future)
    threads: int = 0
    """Number of threads that wait for it."""
    left: float = 0.0
    """Time at which the last thread stopped waiting, in seconds."""


def _cost_of(requests: Sequence[_Request]) -> int:
    return sum(request.job.cost for request in requests)


class SharedTranslator:
    """One thread that translates the requests of all others, batching those with the same search.

    Clients have fair turns (`FairQueue`): one that asks for more, or for longer sentences, does not delay the others.
    What no thread waits for any more is not translated.
    """

    def __init__(self, translator: Translator) -> None:
        """Take a translator that no other code uses heavily."""
        self.translator = translator
        self._queue: FairQueue[_Request] = FairQueue(_CREDIT)
        self._guard = threading.Lock()
        # The executor's thread ends when this object is deleted.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="translating")
        self._batch: list[_Request] = []
        """The requests that are translated now."""
        self._batch_begun = 0.0
        """Time at which the batch began, in seconds."""
        self._recent_cost, self._recent_seconds = 0.0, 0.0
        """Sums over the last batches, of which each counts half as much as the next."""

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        target: str | Sequence[int] | None = None,
        interventions: Sequence[Intervention] = (),
        client: Hashable = None,
        waiting: Waiting | None = None,
    ) -> Trace:
        """Return the result of `Translator.translate`, or raise its error in the language of the calling thread.

        The request waits for its turn among those of other clients; without a `client` it counts as one of its own.
        `waiting` is called about once a second as long as the request waits.
        """
        width = beam if target is None else 1
        self.translator.check(text, beam=width, target=target, interventions=interventions)
        forced = target if target is None or isinstance(target, str) else tuple(target)
        request = self._join(_Job(text, width, forced, tuple(interventions), language()), client)
        try:
            self._worker.submit(self._translate_next)
            while not wait([request.trace], timeout=waiting and POLLING_SECONDS).done:
                if waiting and (position := self._position(request)):
                    waiting(*position)
            return request.trace.result()
        finally:
            with self._guard:
                request.threads, request.left = request.threads - 1, time.monotonic()

    def _join(self, job: _Job, client: Hashable) -> _Request:
        """Return the request for a job that waits or is translated now, of any client, or a new one.

        Drop the client's other requests that no thread waits for.
        """
        with self._guard:
            request = next((one for one in (*self._batch, *self._queue) if one.job == job), None)
            for other in [*self._queue] if client is not None else []:
                if other.client == client and not other.threads and other is not request:
                    self._queue.drop(other)
            if request is None:
                request = _Request(job, client)
                self._queue.add(request, object() if client is None else client, job.cost)
            request.threads += 1
            return request

    def _position(self, request: _Request) -> tuple[int, float] | None:
        """Return the arguments of `Waiting`, or None where the request does not wait any more."""
        with self._guard:
            if request not in self._queue:
                return None
            order = [one for one in self._queue if one.threads]
            first = order[: order.index(request)]
            cost = _cost_of([*first, request])
            rate = self._recent_seconds / self._recent_cost if self._recent_cost else 0.0
            begun = time.monotonic() - self._batch_begun if self._batch else 0.0
            return len(first), rate * cost + max(0.0, rate * _cost_of(self._batch) - begun)

    def _translate_next(self) -> None:
        """Translate the first request and those that fit into its batch.

        Runs once for each time that a thread begins to wait; does nothing where an earlier batch included its request.
        """
        if requests := self._take():
            try:
                self._translate_batch(requests)
            finally:
                self._measure()

    def _translate_batch(self, requests: Sequence[_Request]) -> None:
        if len(requests) > 1:
            # An error of one sentence must not reach the other requests: translate each alone instead.
            with contextlib.suppress(Exception):
                texts = [request.job.text for request in requests]
                traces = self.translator.translate_together(texts, beam=requests[0].job.beam)
                for request, trace in zip(requests, traces, strict=True):
                    request.trace.set_result(trace)
                return
        for request in requests:
            self._translate_alone(request)

    def _take(self) -> list[_Request]:
        """Take the requests of the next batch from the queue."""
        with self._guard:
            now, taken, longest = time.monotonic(), list[_Request](), 0
            for request in self._queue:
                if not request.threads:
                    if now - request.left > GRACE_SECONDS:
                        self._queue.drop(request)
                    continue
                size = max(longest, request.job.words) * (len(taken) + 1)
                if not taken or (len(taken) < MOST_TOGETHER and size <= _MOST_WORDS and request.job.fits(taken[0].job)):
                    taken.append(request)
                    longest = max(longest, request.job.words)
            for request in taken:
                self._queue.serve(request)
            self._batch, self._batch_begun = taken, now
            return taken

    def _measure(self) -> None:
        """Update the speed by the batch that has ended."""
        with self._guard:
            self._recent_cost = self._recent_cost / 2 + _cost_of(self._batch)
            self._recent_seconds = self._recent_seconds / 2 + time.monotonic() - self._batch_begun
            self._batch = []

    def _translate_alone(self, request: _Request) -> None:
        job = request.job
        set_language(job.language)
        try:
            request.trace.set_result(
                self.translator.translate(job.text, beam=job.beam, target=job.target, interventions=job.interventions)
            )
        except Exception as error:  # noqa: BLE001  raised in the thread of the request
            request.trace.set_exception(error)
