"""`SharedTranslator`: batch the translation requests of many threads; requests that wait form the next batch.

Separate threads would compete for the interpreter at every matrix product. In a batch, eight sentences cost little more
than two. Long sentences gain nothing, and shorter ones go before them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from attnviz.languages import language, set_language
from attnviz.trace import Trace
from attnviz.trace.interventions import Intervention
from attnviz.translator import Translator

MOST_TOGETHER = 16
"""Largest batch, in sentences; in larger ones the first request would wait longer than batching saves."""
MOST_WORDS = 400
"""Largest batch, in words with padding: sixteen sentences of 200 words take four times as long together as alone."""
_SECONDS_PER_WORD = 0.05
"""How long a request gives way to shorter ones that come later, for each of its words; 200 words do so for 10 s."""


class _Request(NamedTuple):
    """A request of one thread."""

    text: str
    beam: int
    target: str | Sequence[int] | None
    """The translation to force; None to search."""
    interventions: tuple[Intervention, ...]
    language: str
    """Language of the thread, for error messages."""
    trace: Future[Trace]
    asked: float
    """Time of the request, in seconds."""

    @property
    def words(self) -> int:
        """Number of words of the sentence."""
        return len(self.text.split())

    @property
    def due(self) -> float:
        """Time by which the queue is ordered, in seconds."""
        return self.asked + _SECONDS_PER_WORD * self.words

    def fits(self, first: _Request) -> bool:
        """Return whether the request fits into a batch with the `first` one, which it must not delay much.

        Both are searches of the same beam width without interventions, and it is not much longer.
        """
        similar = self.searched and first.searched and self.beam == first.beam
        return similar and self.words <= 2 * first.words + 20

    @property
    def searched(self) -> bool:
        """Whether the request is a search without interventions."""
        return self.target is None and not self.interventions


class SharedTranslator:
    """One thread that translates the requests of all others, batching those with the same search.

    The order is that of arrival, but a longer sentence gives way to shorter ones for a while.
    """

    def __init__(self, translator: Translator) -> None:
        """Take a translator that no other code uses heavily."""
        self.translator = translator
        self._waiting: list[_Request] = []
        self._guard = threading.Lock()
        # The executor's thread ends when this object is deleted.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="translating")

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        target: str | Sequence[int] | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> Trace:
        """Return the result of `Translator.translate`, or raise its error in the language of the calling thread."""
        self.translator.check(text, beam=beam if target is None else 1, target=target, interventions=interventions)
        request = _Request(text, beam, target, tuple(interventions), language(), Future(), time.monotonic())
        with self._guard:
            self._waiting.append(request)
        self._worker.submit(self._translate_next)
        return request.trace.result()

    def _translate_next(self) -> None:
        """Translate the request that is due first and those that fit into its batch.

        Runs once for each request; does nothing where an earlier batch included it.
        """
        requests = self._take()
        if len(requests) > 1:
            # An error of one sentence must not reach the other requests: translate each alone instead.
            with contextlib.suppress(Exception):
                texts = [request.text for request in requests]
                traces = self.translator.translate_together(texts, beam=requests[0].beam)
                for request, trace in zip(requests, traces, strict=True):
                    request.trace.set_result(trace)
                return
        for request in requests:
            self._translate_alone(request)

    def _take(self) -> list[_Request]:
        with self._guard:
            if not self._waiting:
                return []
            first, *others = sorted(self._waiting, key=lambda request: request.due)
            taken, longest = [first], first.words
            for other in others:
                size = max(longest, other.words) * (len(taken) + 1)
                if len(taken) < MOST_TOGETHER and size <= MOST_WORDS and other.fits(first):
                    taken.append(other)
                    longest = max(longest, other.words)
            waiting, self._waiting = self._waiting, [request for request in self._waiting if request not in taken]
            return [request for request in waiting if request in taken]

    def _translate_alone(self, request: _Request) -> None:
        set_language(request.language)
        try:
            request.trace.set_result(
                self.translator.translate(
                    request.text,
                    beam=request.beam if request.target is None else 1,
                    target=request.target,
                    interventions=request.interventions,
                )
            )
        except Exception as error:  # noqa: BLE001  raised in the thread of the request
            request.trace.set_exception(error)
