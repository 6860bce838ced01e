"""Threads that translate at the same time: each gets his own, together they cost less, and no mistake is shared."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from attnviz.errors import AttnvizError
from attnviz.languages import set_language
from attnviz.shared_translator import MOST_TOGETHER, SharedTranslator
from attnviz.trace import Trace
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.test_together import assert_alike


class Held:
    """A translator whose first batch waits until it is let go, and which tells its batches."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self.batches: list[list[str]] = []
        self.go = threading.Event()
        self.check = translator.check

    def translate(self, text: str, **how: Any) -> Trace:
        self.batches.append([text])
        assert self.go.wait(30)
        return self._translator.translate(text, **how)

    def translate_together(self, texts: list[str], **how: Any) -> list[Trace]:
        self.batches.append(texts)
        return self._translator.translate_together(texts, **how)


Ask = Callable[..., "Future[Trace]"]


@pytest.fixture
def held(translator: Translator) -> Held:
    return Held(translator)


@pytest.fixture
def shared(held: Held) -> SharedTranslator:
    return SharedTranslator(held)  # type: ignore[arg-type]  it has what is asked for


@pytest.fixture
def ask(shared: SharedTranslator) -> Iterator[Ask]:
    """Return what asks in a thread of its own, and returns once the request waits."""
    with ThreadPoolExecutor(40) as threads:

        def ask_for(text: str, **how: Any) -> Future[Trace]:
            taken = len(shared._waiting)
            future = threads.submit(shared.translate, text, **how)
            while len(shared._waiting) <= taken and not future.done():
                time.sleep(0.001)
            return future

        yield ask_for


@pytest.fixture
def busy(held: Held, shared: SharedTranslator) -> Iterator[None]:
    """Keep the translator at work until the test lets it go."""
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(shared.translate, "Two dogs.")
        while not held.batches:
            time.sleep(0.001)
        yield
        held.go.set()
        assert first.result().source_text == "Two dogs."


@pytest.mark.usefixtures("busy")
def test_those_who_wait_are_translated_for_together(translator: Translator, held: Held, ask: Ask) -> None:
    asked = [ask(text, beam=2) for text in SENTENCES]
    held.go.set()
    for text, future in zip(SENTENCES, asked, strict=True):
        assert_alike(future.result(30), translator.translate(text, beam=2))
    assert held.batches == [["Two dogs."], list(SENTENCES)]


@pytest.mark.usefixtures("busy")
def test_another_search_is_another_batch_and_a_given_translation_one_by_itself(
    translator: Translator, held: Held, ask: Ask
) -> None:
    a, b, c, d = SENTENCES[:4]
    hows = [
        (a, {"beam": 2}),
        (b, {"beam": 3}),
        (c, {"target": "Un chien."}),
        (d, {"beam": 2}),
        (a, {"target": "Un chat."}),
        (c, {"beam": 3}),
    ]
    asked = [ask(text, **how) for text, how in hows]
    held.go.set()
    for (text, how), future in zip(hows, asked, strict=True):
        assert_alike(future.result(30), translator.translate(text, **how))
    assert held.batches == [["Two dogs."], [a, d], [b, c], [c], [a]]


@pytest.mark.usefixtures("busy")
def test_a_batch_has_an_end(held: Held, ask: Ask) -> None:
    asked = [ask(f"A dog and {number} girls.") for number in range(MOST_TOGETHER + 3)]
    held.go.set()
    assert [future.result(30).source_text for future in asked] == [t for batch in held.batches[1:] for t in batch]
    assert [len(batch) for batch in held.batches] == [1, MOST_TOGETHER, 3]


@pytest.mark.usefixtures("busy")
def test_a_mistake_reaches_only_him_who_made_it_in_his_language(held: Held, shared: SharedTranslator, ask: Ask) -> None:
    asked = ask(SENTENCES[0])

    def in_french() -> Trace:
        set_language("fr")
        return shared.translate(" ")

    with ThreadPoolExecutor(1) as french, pytest.raises(AttnvizError, match="vide"):
        french.submit(in_french).result(30)
    with pytest.raises(AttnvizError, match="empty"):
        shared.translate("")
    held.go.set()
    assert asked.result(30).source_text == SENTENCES[0]


@pytest.mark.usefixtures("busy")
def test_what_breaks_a_batch_breaks_only_what_breaks_alone(
    held: Held, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = held.translate

    def translate(text: str, **how: Any) -> Trace:
        if text == SENTENCES[1]:
            raise MemoryError
        return true(text, **how)

    def together(texts: list[str], **_: Any) -> list[Trace]:
        raise MemoryError

    monkeypatch.setattr(held, "translate", translate)
    monkeypatch.setattr(held, "translate_together", together)
    asked = [ask(text) for text in SENTENCES[:3]]
    held.go.set()
    assert asked[0].result(30).source_text == SENTENCES[0]
    assert asked[2].result(30).source_text == SENTENCES[2]
    with pytest.raises(MemoryError):
        asked[1].result(30)


def test_its_thread_ends_with_it(translator: Translator) -> None:
    def workers() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("translating")}

    before = workers()
    shared = SharedTranslator(translator)
    shared.translate(SENTENCES[0])
    (worker,) = workers() - before
    del shared
    gc.collect()
    worker.join(10)
    assert not worker.is_alive()
