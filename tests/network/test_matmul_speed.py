"""Choice of precision: bfloat16 where it is faster, without a long measurement."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from attnviz import Translator
from attnviz.network import products
from tests.conftest import REPOSITORY

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def clear_measured_speed() -> Iterator[None]:
    products.bfloat16_speed.cache_clear()
    yield
    products.bfloat16_speed.cache_clear()


@pytest.mark.parametrize(("speed", "chosen"), [(0.01, "fp32"), (1.1, "fp32"), (1.3, "bf16"), (4.0, "bf16")])
def test_bfloat16_is_chosen_where_clearly_faster(monkeypatch: pytest.MonkeyPatch, speed: float, chosen: str) -> None:
    monkeypatch.setattr(products.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(products, "_measured_speed", lambda *_: speed)
    assert products.choose_precision("auto", CPU) == chosen


@pytest.mark.parametrize(
    ("instructions", "chosen"),
    [({}, "fp32"), ({"avx512_bf16": False}, "fp32"), ({"avx512_bf16": True}, "bf16"), ({"amx_bf16": True}, "bf16")],
    ids=str,
)
def test_instructions_of_an_x86_processor_decide_without_measurement(
    monkeypatch: pytest.MonkeyPatch, instructions: dict[str, bool], chosen: str
) -> None:
    monkeypatch.setattr(products.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    monkeypatch.setattr(products, "_measured_speed", None)
    assert products.choose_precision("auto", CPU) == chosen


def test_speed_is_measured_once_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products.platform, "machine", lambda: "arm64")
    started = time.process_time()
    products.choose_precision("auto", CPU)
    assert time.process_time() - started < 5
    monkeypatch.setattr(products, "_measured_speed", None)
    products.choose_precision("auto", CPU)


def test_both_precisions_give_equal_translations() -> None:
    sentences = ["A red bicycle.", "The cat sees a house.", "She has two brothers.", "It rains today."] * 3
    folder = REPOSITORY / "models" / "small-additive"
    coarse, exact = (Translator.load(folder, "cpu", precision) for precision in ("int8", "fp32"))
    assert coarse.prepared.decoder.output.coarse is not None
    assert exact.prepared.decoder.output.coarse is None
    assert coarse.translate_batch(sentences) == exact.translate_batch(sentences)
