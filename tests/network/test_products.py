"""Products with a fixed matrix, on every kind of processor and for few or many rows."""

from __future__ import annotations

import pytest
import torch

from attnviz.network import products
from attnviz.network.products import FixedProduct


@pytest.mark.parametrize("onednn_is_faster", [True, False])
@pytest.mark.parametrize("rows", [1, 4, 5, 33])
def test_product_equals_double_precision_product(
    onednn_is_faster: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if onednn_is_faster and not torch.backends.mkldnn.is_available():
        pytest.skip("torch was built without oneDNN")
    monkeypatch.setattr(products, "onednn_is_faster", lambda: onednn_is_faster)
    source = torch.Generator().manual_seed(rows)
    weight, bias = torch.randn(37, 21, generator=source), torch.randn(37, generator=source)
    wide = torch.randn(rows, 50, generator=source)
    product = FixedProduct(weight, bias)
    for given in (wide[:, :21].contiguous(), wide[:, 5:26]):
        torch.testing.assert_close(product(given), (given.double() @ weight.double().t() + bias).float())
