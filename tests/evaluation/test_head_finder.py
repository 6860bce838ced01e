"""The head finder: planted heads come first, and its numbers are those of `alignment_error` and of NumPy."""

import json
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz import Attention, AttnvizError, alignment_error, attention, find_heads
from attnviz.commands.main import main
from tests.snapshots import refusal

PAIRS = (("a b c d </s>", "w x y z </s>"), ("a b ca@@ r </s>", "w x y </s>"))
GOLD = ("0-1 1-0 2-2 3-3", "0-1 1-0 2-2")
PLANTED = (1, 2)


def planted(seed: int, source: str, target: str, gold: str, erased: bool = True) -> Attention:
    """Return a record of two layers of three heads, one of which follows the gold links, and erasure that does too."""
    generator = np.random.default_rng(seed)
    rows, columns = len(target.split()), len(source.split())
    weights = generator.dirichlet(np.ones(columns), size=(2, 3, rows))
    follows: NDArray[np.float64] = np.full((rows, columns), 0.02)
    follows[-1, -1] = 1
    for link in gold.split():
        j, i = map(int, link.split("-"))
        follows[i, j] = 1
    weights[PLANTED] = follows / follows.sum(axis=1, keepdims=True)
    drops = np.log(weights[PLANTED]) + 3 if erased else None
    return attention(source, target, weights, erased=drops, origin="planted")


@pytest.fixture(scope="module")
def records() -> list[Attention]:
    return [planted(seed, *pair, gold) for seed, (pair, gold) in enumerate(zip(PAIRS, GOLD, strict=True))]


def test_a_planted_head_is_first_with_the_error_rate_of_alignment_error(records) -> None:
    for by in ("aer", "erased", None):
        found = find_heads(records, GOLD, by=by)
        assert (found.by, found.alignment_heads, found.tied, len(found.table)) == (by or "aer", [list(PLANTED)], 1, 6)
        first = found.table.iloc[0]
        assert (first["layer"], first["head"], first["aer"], first["erased"]) == (*PLANTED, 0, 1)
    assert "<table" in found._repr_html_()
    table = find_heads(records, GOLD).table
    assert list(table["aer"]) == sorted(table["aer"])
    for _, row in table.iterrows():
        views = [record.select_heads(int(row["layer"]), int(row["head"])) for record in records]
        error = alignment_error(views, GOLD, samples=0)
        assert (row["aer"], row["precision"], row["recall"]) == (error.aer, error.precision, error.recall)


def test_a_decoder_is_compared_one_token_earlier() -> None:
    tokens, size = "a b c d", 4
    weights = np.zeros((1, 2, size, size))
    weights[0, 0] = np.eye(size)  # each token attends to itself, which predicts the next token
    weights[0, 1, :, 0] = 1
    drops = np.eye(size, k=-1) * 2
    found = find_heads(attention(tokens, tokens, weights, erased=drops, kind="decoder"))
    assert (found.by, found.alignment_heads) == ("erased", [[0, 0]])
    assert found.table["erased"].iloc[0] == 1


def test_alignment_heads_go_into_a_config(records, tmp_path) -> None:
    found, path, heads = find_heads(records, GOLD), tmp_path / "generation_config.json", [list(PLANTED)]
    for before in ({}, {"num_beams": 4}):
        path.write_text(json.dumps(before)) if before else None
        found.save(path)
        assert json.loads(path.read_text()) == before | {"alignment_heads": heads}
    path.write_text("[1]")
    with pytest.raises(AttnvizError):
        found.save(path)


def test_refusals_are_sentences(records, snapshot) -> None:
    plain, other = attention("a b", "c d", np.eye(2)), attention("a b", "c d", np.full((2, 2, 2, 2), 0.5))
    refused: dict[str, tuple[object, ...]] = {
        "no record": ([],),
        "one matrix": (plain,),
        "two models": ([records[0], other],),
        "no gold": (records, None, "aer"),
        "no erasure": (planted(1, *PAIRS[0], GOLD[0], erased=False), None, "erased"),
        "no criterion": (records, None, "best"),
        "too few gold links": (records, GOLD[:1]),
    }
    for name, (found, *gold_and_by) in refused.items():
        more = dict(zip(("gold", "by"), gold_and_by, strict=False))
        assert refusal(partial(find_heads, found, **more)) == snapshot(name=name)


def test_the_command_ranks_the_heads_of_a_file(records, tmp_path, capsys, snapshot) -> None:
    path, gold = tmp_path / "heads.json", tmp_path / "gold.txt"
    path.write_text("".join(record.to_json() + "\n" for record in records), encoding="utf-8")
    gold.write_text("\n".join(GOLD) + "\n", encoding="utf-8")
    assert main(["score", str(path), "--gold", str(gold), "--heads", "-o", str(tmp_path / "found.json")]) == 0
    assert capsys.readouterr().out == snapshot
    assert json.loads((tmp_path / "found.json").read_text())["alignment_heads"] == [list(PLANTED)]
    assert main(["score", str(path), "--gold", str(gold), "--heads", "-o", str(tmp_path / "found.csv")]) == 0
    assert (tmp_path / "found.csv").read_text().startswith("rank,layer,head,aer")
