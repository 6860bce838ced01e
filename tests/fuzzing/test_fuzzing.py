"""Random and damaged input is either used or refused with an error message."""

from __future__ import annotations

import pkgutil
import random
import shutil

import pytest

from attnviz import AttnvizError, Translator
from attnviz.model_folder import FILES
from attnviz.ui import pages
from tests.fuzzing.bench import PAGES, Bench
from tests.fuzzing.kinds import KINDS, refused
from tests.fuzzing.mutations import JSON

pytestmark = pytest.mark.nightly

CASES = {"addresses": 12, "checkpoints": 25, "imports": 40, "models": 300, "strings": 100, "targets": 100}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_used_or_refused(bench: Bench, kind: str) -> None:
    count = sum(refused(KINDS[kind][0], bench, random.Random(f"{kind} {seed}")) for seed in range(CASES.get(kind, 60)))
    if kind not in ("addresses", "pairs"):  # a link opens what it can, and a damaged line is skipped
        assert count > CASES.get(kind, 60) // 5


def test_bench_knows_every_page_and_its_parameters(bench: Bench) -> None:
    assert set(PAGES) == {one.name.removesuffix("_page") for one in pkgutil.iter_modules(pages.__path__)}
    for page, wanted in {
        "translate": {"sentence", "step", "depth", "lang", "model", "search", "source", "word"},
        "why": {"long"},
        "transformer": {"exhibit", "swap", "head"},
        "learns": {"training", "runs", "pair"},
        "corpus": {"table", "show", "find", "sort", "descending", "x", "y", "brush", "part"},
        "lab": {"section", "vectors"},
    }.items():
        assert wanted <= set(bench.parameters[page]), page


@pytest.mark.parametrize("name", FILES)
def test_error_message_names_damaged_file(bench: Bench, name: str) -> None:
    folder = shutil.copytree(bench.model, bench.folder / f"without {name}")
    whole = (folder / name).read_bytes()
    named = []
    for seed in range(150):
        bench.damaged(whole, f"without {name}/{name}", JSON, random.Random(seed))
        try:
            Translator.load(folder, device="cpu")
        except AttnvizError as error:
            named.append(name in str(error))
    assert len(named) > 50
    assert all(named)
