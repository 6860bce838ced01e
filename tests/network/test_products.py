"""Products with a fixed matrix, on every kind of processor and for few or many rows."""

from __future__ import annotations

import pytest
import torch

from attnviz.network import products
from attnviz.network.products import FixedProduct


@pytest.fixture(autouse=True)
def small_matrices_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_LARGE", 0)


@pytest.mark.parametrize("onednn_is_faster", [True, False])
@pytest.mark.parametrize("rows", [1, 4, 5, 40, 41])
@pytest.mark.parametrize("saved", [True, False], ids=["float16", "float32"])
def test_product_equals_double_precision_product(
    onednn_is_faster: bool, rows: int, saved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if onednn_is_faster and not torch.backends.mkldnn.is_available():
        pytest.skip("torch was built without oneDNN")
    monkeypatch.setattr(products, "onednn_is_faster", lambda: onednn_is_faster)
    source = torch.Generator().manual_seed(rows)
    weight, bias = torch.randn(37, 21, generator=source), torch.randn(37, generator=source)
    if saved:
        weight = weight.half().float()
    wide = torch.randn(rows, 50, generator=source)
    for lasting in (True, False):
        product = FixedProduct(weight, bias, lasting=lasting)
        for given in (wide[:, :21].contiguous(), wide[:, 5:26]):
            torch.testing.assert_close(product(given), (given.double() @ weight.double().t() + bias).float())


@pytest.mark.parametrize("value", [1e-3, 1e5, float("nan")], ids=["rounded", "too large", "not a number"])
def test_weights_that_float16_would_change_stay_in_float32(value: float) -> None:
    weight = torch.ones(3, 2)
    weight[1, 1] = value
    product = FixedProduct(weight, torch.zeros(3))(torch.tensor([[0.0, 1.0]]))
    torch.testing.assert_close(product[0], weight[:, 1], rtol=0, atol=0, equal_nan=True)


def test_subnormal_float16_weights_are_multiplied_exactly() -> None:
    weight = torch.tensor([[2.0**-24, 3 * 2.0**-24, -(2.0**-15)]])
    product = FixedProduct(weight, torch.zeros(1))(torch.eye(3))
    torch.testing.assert_close(product[:, 0], weight[0], rtol=0, atol=0)
