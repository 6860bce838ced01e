"""Random and damaged input is either used or refused with an error message."""

import random

import pytest

from tests.fuzzing.bench import Bench
from tests.fuzzing.kinds import KINDS, refused

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def bench(tmp_path_factory, make_network, tokenizer) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), make_network, tokenizer)


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_used_or_refused(bench, kind: str) -> None:
    function, tried = KINDS[kind]
    count = sum(refused(function, bench, random.Random(f"{kind} {seed}")) for seed in range(tried))
    if kind != "addresses":  # a link opens what it can
        assert count > tried // 5
