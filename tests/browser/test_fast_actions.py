"""Actions faster than the server answers leave the page consistent, and lose nothing."""

from __future__ import annotations

import pytest

from tests.browser.fast_actions import hurried
from tests.conftest import SHIPPED_MODEL

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_sequence_of_fast_actions_leaves_the_page_inconsistent(seed: int) -> None:
    assert hurried(seed, 67, SHIPPED_MODEL.parent) == []
