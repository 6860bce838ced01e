"""Random and damaged input is either used or refused with an error message."""

from __future__ import annotations

import random

import pytest

from tests.fuzzing.bench import Bench
from tests.fuzzing.kinds import KINDS, refused

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_used_or_refused(bench: Bench, kind: str) -> None:
    function, tried = KINDS[kind]
    count = sum(refused(function, bench, random.Random(f"{kind} {seed}")) for seed in range(tried))
    if kind != "addresses":  # a link opens what it can
        assert count > tried // 5


def test_bench_knows_the_parameters_of_every_page(bench: Bench) -> None:
    for page, wanted in {
        "translate": {"sentence", "step", "depth", "lang", "model", "search", "source", "word"},
        "why": {"long"},
        "transformer": {"exhibit", "swap", "head"},
        "learns": {"training", "runs", "pair"},
        "corpus": {"table", "show", "find", "sort", "descending", "x", "y", "brush", "part"},
        "lab": {"section", "vectors"},
    }.items():
        assert wanted <= set(bench.parameters[page]), page
