"""Products with a fixed matrix for few or many rows, and the precision that is chosen on a processor."""

import time
from collections.abc import Iterator
from itertools import product

import pytest
import torch

from attnviz import Translator
from attnviz.network import products
from attnviz.network.products import FixedProduct
from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def small_matrices_count_as_large(monkeypatch) -> None:
    monkeypatch.setattr(products, "_LARGE", 0)


@pytest.mark.parametrize("onednn_is_faster", [True, False])
@pytest.mark.parametrize("rows", [1, 4, 5, 40, 41])
def test_product_equals_double_precision_product(onednn_is_faster, rows, monkeypatch) -> None:
    """Of weights in float16 and float32, and of many or few rows, which may lie apart."""
    if onednn_is_faster and not torch.backends.mkldnn.is_available():
        pytest.skip("torch was built without oneDNN")
    monkeypatch.setattr(products, "onednn_is_faster", lambda: onednn_is_faster)
    source = torch.Generator().manual_seed(rows)
    single, bias = torch.randn(37, 21, generator=source), torch.randn(37, generator=source)
    wide = torch.randn(rows, 50, generator=source)
    for weight, lasting in product((single.half().float(), single), (True, False)):
        fixed = FixedProduct(weight, bias, lasting=lasting)
        for given in (wide[:, :21].contiguous(), wide[:, 5:26]):
            torch.testing.assert_close(fixed(given), (given.double() @ weight.double().t() + bias).float())


@pytest.mark.parametrize("value", [1e-3, 1e5, float("nan")], ids=["rounded", "too large", "not a number"])
def test_weights_that_float16_would_change_stay_in_float32(value) -> None:
    weight = torch.ones(3, 2)
    weight[1, 1] = value
    found = FixedProduct(weight, torch.zeros(3))(torch.tensor([[0.0, 1.0]]))
    torch.testing.assert_close(found[0], weight[:, 1], rtol=0, atol=0, equal_nan=True)


def test_subnormal_float16_weights_are_multiplied_exactly() -> None:
    weight = torch.tensor([[2.0**-24, 3 * 2.0**-24, -(2.0**-15)]])
    found = FixedProduct(weight, torch.zeros(1))(torch.eye(3))
    torch.testing.assert_close(found[:, 0], weight[0], rtol=0, atol=0)


CPU = torch.device("cpu")


@pytest.fixture
def measured_anew() -> Iterator[None]:
    products.bfloat16_speed.cache_clear()
    yield
    products.bfloat16_speed.cache_clear()


@pytest.mark.usefixtures("measured_anew")
@pytest.mark.parametrize(
    ("machine", "speed", "instructions", "chosen"),
    [
        ("arm64", 0.01, None, "fp32"),
        ("arm64", 1.1, None, "fp32"),
        ("arm64", 1.3, None, "bf16"),
        ("x86_64", None, {}, "fp32"),
        ("x86_64", None, {"avx512_bf16": False}, "fp32"),
        ("x86_64", None, {"avx512_bf16": True}, "bf16"),
        ("x86_64", None, {"amx_bf16": True}, "bf16"),
    ],
    ids=str,
)
def test_bfloat16_is_chosen_where_measured_faster_or_by_the_instructions_of_x86(
    monkeypatch, machine, speed, instructions, chosen
) -> None:
    monkeypatch.setattr(products.platform, "machine", lambda: machine)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    monkeypatch.setattr(products, "_measured_speed", speed and (lambda *_: speed))
    assert products.choose_precision("auto", CPU) == chosen


@pytest.mark.usefixtures("measured_anew")
def test_speed_is_measured_once_within_seconds(monkeypatch) -> None:
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
