"""Fixtures of the corpus tests: a file of sentence pairs, and one thread as worker processes have."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.conftest import SENTENCES


@pytest.fixture
def pairs_file(tmp_path) -> Path:
    """Return a file of 46 lines: pairs of all lengths, a sentence alone, and three bad lines."""
    pairs = [f"{a}\t{b}" for a in SENTENCES[::2] for b in SENTENCES[1::2]]
    bad = ["a\tb\tc", "", "x" * 5000]
    path = tmp_path / "pairs.tsv"
    lines = [*pairs[:30], *bad, *pairs[30:], SENTENCES[0], *SENTENCES[2:12:2], "é 日本 x\té 日本"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Compute in one thread, as worker processes and actors do: three threads and more round differently."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
