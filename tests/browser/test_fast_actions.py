"""User actions that are faster than the server leave the page consistent."""

from __future__ import annotations

import pytest

from tests.browser.fast_actions import find_inconsistencies
from tests.conftest import SHIPPED_MODEL

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fast_actions_leave_the_page_consistent(seed: int) -> None:
    assert find_inconsistencies(seed, 67, SHIPPED_MODEL.parent) == []
