"""A product with a fixed matrix is the product, on every processor and for few rows as for many."""

from __future__ import annotations

import pytest
import torch

from attnviz.network import products
from attnviz.network.products import FixedProduct


@pytest.mark.parametrize("mkl_is_slow", [True, False])
@pytest.mark.parametrize("rows", [1, 4, 5, 33])
def test_the_product_is_that_of_double_precision(mkl_is_slow: bool, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if mkl_is_slow and not torch.backends.mkldnn.is_available():
        pytest.skip("torch was built without oneDNN")
    monkeypatch.setattr(products, "mkl_is_slow", lambda: mkl_is_slow)
    source = torch.Generator().manual_seed(rows)
    weight, bias = torch.randn(37, 21, generator=source), torch.randn(37, generator=source)
    wide = torch.randn(rows, 50, generator=source)
    product = FixedProduct(weight, bias)
    for given in (wide[:, :21].contiguous(), wide[:, 5:26]):
        torch.testing.assert_close(product(given), (given.double() @ weight.double().t() + bias).float())
