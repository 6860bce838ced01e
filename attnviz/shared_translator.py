"""A translator that many threads ask at once: what waits while one batch is computed is the next batch.

Alone, each thread would take the interpreter from the others at every product of matrices; together, eight sentences
cost little more than two.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from attnviz.languages import language, set_language
from attnviz.trace import Trace
from attnviz.trace.interventions import Intervention
from attnviz.translator import Translator

MOST_TOGETHER = 16
"""Sentences that are translated together: more would make the first of them wait for longer than they save."""


class _Request(NamedTuple):
    """What a thread waits for."""

    text: str
    beam: int
    target: str | Sequence[int] | None
    """The translation to force, or None to search for one."""
    interventions: tuple[Intervention, ...]
    language: str
    """That of the thread, for what is said of a mistake."""
    trace: Future[Trace]

    def like(self, other: _Request) -> bool:
        """Return whether this can be translated together with `other`: none can whose translation is given, or in
        which something is changed by hand."""
        return self.searched and other.searched and self.beam == other.beam

    @property
    def searched(self) -> bool:
        """Whether this is an ordinary search."""
        return self.target is None and not self.interventions


class SharedTranslator:
    """One thread translates what all others ask for, first come first served, those with the same search together."""

    def __init__(self, translator: Translator) -> None:
        """Take a translator that nobody else uses much."""
        self.translator = translator
        self._waiting: list[_Request] = []
        self._guard = threading.Lock()
        # Its thread ends with this object.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="translating")

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        target: str | Sequence[int] | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> Trace:
        """Return what `Translator.translate` returns, and raise what it raises, in the language of this thread."""
        self.translator.check(text, beam=beam, target=target, interventions=interventions)
        request = _Request(text, beam, target, tuple(interventions), language(), Future())
        with self._guard:
            self._waiting.append(request)
        self._worker.submit(self._translate_next)
        return request.trace.result()

    def _translate_next(self) -> None:
        """Translate what has waited longest, and what goes with it.

        It is called once for each request, and does nothing where that one went with another.
        """
        requests = self._take()
        if len(requests) > 1:
            # Whatever fails, nobody has it from another's sentence: each is then translated alone.
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
            first, *others = self._waiting
            taken = [first, *(other for other in others if other.like(first))][:MOST_TOGETHER]
            self._waiting = [request for request in self._waiting if request not in taken]
            return taken

    def _translate_alone(self, request: _Request) -> None:
        set_language(request.language)
        try:
            request.trace.set_result(
                self.translator.translate(
                    request.text, beam=request.beam, target=request.target, interventions=request.interventions
                )
            )
        except Exception as error:  # noqa: BLE001  it belongs to whoever asked
            request.trace.set_exception(error)
