"""Caches of models and translations: shared by all visitors, and never older than the model files."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnviz import Translator
from attnviz.analysis import logit_attribution
from attnviz.analysis.verification import Verifier
from attnviz.architectures import verifier_of
from attnviz.checkpoint import save_model
from attnviz.lru_cache import LRUCache
from attnviz.model_folder import weights_digest
from attnviz.shared_translator import SharedTranslator
from attnviz.text import Tokenizer
from attnviz.ui import payloads, resources
from attnviz.ui.payloads import payload_address
from attnviz.ui.step import verification_badge
from attnviz.ui.view import MAIN, View
from attnviz.ui.waiting import translating_for
from tests.conftest import SENTENCES, ModelFactory
from tests.figures.payloads import figure_at
from tests.test_shared_translator import BlockingTranslator, LeftError
from tests.ui.opening import Run
from tests.ui.shown_payloads import fetched, payloads_of


def _replace(folder: Path, network: torch.nn.Module, tokenizer: Tokenizer) -> None:
    """Replace a model by another of the same size, with the same modification times."""
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    save_model(folder, network, tokenizer)
    for path, modified in times.items():
        os.utime(path, ns=(modified, modified))


def test_model_replaced_in_place_is_used_to_translate_and_verify(
    en_fr: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    def translated() -> Any:
        return resources.translate(str(en_fr), "cpu", SENTENCES[0], 1, None)

    before = translated()
    weights, cut = resources.weights_of(before), resources.tokenizer_of(before)
    network = make_network()
    network.decoder.output.bias.add_(torch.randn(len(tokenizer), generator=torch.Generator().manual_seed(1)))
    other = Tokenizer.train([*SENTENCES, "the " * 40], len(tokenizer))
    _replace(en_fr, network, other)
    after = translated()
    expected = Translator.load(en_fr, device="cpu").translate(SENTENCES[0], beam=1)
    assert after.fingerprint == expected.fingerprint != before.fingerprint
    assert after.weights_digest == weights_digest(en_fr) != before.weights_digest
    assert resources.weights_of(before) is None, "its model is no longer installed"
    now = resources.weights_of(after)
    assert (now["decoder.output.bias"] != weights["decoder.output.bias"]).any()
    assert cut.model != resources.tokenizer_of(after).model == other.model


def test_translation_object_is_shared_by_all_visitors(en_fr: Path) -> None:
    first, second = (resources.translate(str(en_fr), "cpu", SENTENCES[0], 2, None) for _ in range(2))
    assert first is second
    assert resources.weights_of(first) is resources.weights_of(second)


def test_the_verifier_of_a_translation_is_built_once(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def counted(*given: Any) -> Verifier:
        built.append(given)
        return verifier_of(*given)

    monkeypatch.setattr(verification_badge, "verifier_of", counted)
    # Empty caches: other tests have filled them.
    monkeypatch.setattr(verification_badge, "_VERIFIERS", LRUCache(1 << 20, size=lambda _: 1))
    monkeypatch.setattr(payloads, "_PAYLOADS", LRUCache(1 << 20, size=len))
    app = page()
    for step in (1, 2):
        assert payloads_of(app, "verification_badge", step)[0]["holds"]
    app.run()
    assert not app.exception
    assert len(built) == 1


def test_maxout_figure_has_pairs_once_the_weights_are_available(
    en_fr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Translator.load(en_fr, device="cpu").translate(SENTENCES[0], beam=1)
    elsewhere = en_fr.rename(tmp_path.parent / f"{tmp_path.name}-elsewhere")
    before = payload_address(View(MAIN, trace), "maxout", "light")
    payloads = [fetched(before)]
    elsewhere.rename(en_fr)
    after = payload_address(View(MAIN, trace), "maxout", "light")
    payloads.append(fetched(after))
    assert before != after
    pairs = logit_attribution.maxout_inputs(trace, resources.weights_of(trace), [0])[0]
    without, drawn = (figure_at(one, 0)["data"] for one in payloads)
    assert (len(without), len(drawn)) == (1, 3)
    np.testing.assert_allclose(np.fmax(drawn[0]["z"], drawn[1]["z"]), pairs.reshape(-1, 2).T, atol=1e-3)


def test_visitor_can_leave_while_another_waits_for_the_same_translation(
    en_fr: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking = BlockingTranslator(translator)
    shared = SharedTranslator(blocking)  # type: ignore[arg-type]  it has the attributes that are used

    class Place:
        """Place of the page that shows lines of text until its visitor has left."""

        def __init__(self, *, left: bool) -> None:
            self.lines, self.left = [""], left

        def text(self, line: str) -> None:
            if self.left:
                raise LeftError
            self.lines.append(line)

        def empty(self) -> None:
            self.lines.append("")

    stays, leaves = Place(left=False), Place(left=True)

    def ask(place: Any, text: str) -> str:
        with translating_for("visitor", place):
            return resources.translate(str(en_fr), "cpu", text, 1, None).source_text

    monkeypatch.setattr(resources, "_shared_translator", lambda *_: shared)
    monkeypatch.setattr("attnviz.shared_translator.POLLING_SECONDS", 0.01)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, stays, "Two dogs.")
        while not blocking.batches:
            time.sleep(0.001)
        second = threads.submit(ask, stays, SENTENCES[0])
        while not [*shared._queue]:
            time.sleep(0.001)
        with pytest.raises(LeftError):
            ask(leaves, SENTENCES[0])
        while len(stays.lines) < 2:
            time.sleep(0.001)
        blocking.go.set()
        assert [first.result(30), second.result(30)] == ["Two dogs.", SENTENCES[0]]
    assert stays.lines[1].endswith("next.")
    assert stays.lines[-1] == "", "the position stays on the page"
