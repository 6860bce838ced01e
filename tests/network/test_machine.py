"""The precision that is chosen is the faster one, by a measurement that takes little time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from attnviz import Translator
from attnviz.network import machine
from tests.conftest import REPOSITORY

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def measured_anew() -> Iterator[None]:
    machine.bfloat16_speed.cache_clear()
    yield
    machine.bfloat16_speed.cache_clear()


@pytest.mark.parametrize(("speed", "chosen"), [(0.01, "fp32"), (1.1, "fp32"), (1.3, "bf16"), (4.0, "bf16")])
def test_bfloat16_is_taken_where_it_is_clearly_faster(
    monkeypatch: pytest.MonkeyPatch, speed: float, chosen: str
) -> None:
    monkeypatch.setattr(machine, "_has_instructions", lambda _: True)
    monkeypatch.setattr(machine, "_measured_speed", lambda *_: speed)
    assert machine.choose_precision("auto", CPU) == chosen


def test_what_a_processor_lacks_is_known_and_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": False, "amx_bf16": False})
    monkeypatch.setattr(machine, "_measured_speed", None)
    assert machine.choose_precision("auto", CPU) == "fp32"


def test_it_is_measured_once_and_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_has_instructions", lambda _: True)
    started = time.process_time()
    machine.choose_precision("auto", CPU)
    assert time.process_time() - started < 5
    monkeypatch.setattr(machine, "_measured_speed", None)
    machine.choose_precision("auto", CPU)


def test_what_is_asked_for_is_taken() -> None:
    assert [machine.choose_precision(wanted, CPU) for wanted in ("bf16", "fp32")] == ["bf16", "fp32"]
    with pytest.raises(ValueError, match="precision"):
        machine.choose_precision("fp8", CPU)


def test_both_precisions_translate_alike() -> None:
    sentences = ["A red bicycle.", "The cat sees a house.", "She has two brothers.", "It rains today."] * 3
    folder = REPOSITORY / "models" / "small-additive"
    coarse, exact = (Translator.load(folder, "cpu", precision) for precision in ("bf16", "fp32"))
    assert coarse.prepared.decoder.output.coarse is not None
    assert exact.prepared.decoder.output.coarse is None
    assert coarse.translate_batch(sentences) == exact.translate_batch(sentences)
