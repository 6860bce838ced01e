"""`Snapshots` of a training: saving, loading, joining, and refusing damaged files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.errors import AttnvizError
from attnviz.trace.snapshots import Sentence, Snapshots, join_snapshots, load_folder

SENTENCE = Sentence(
    "a green house", "une maison verte", ("▁a", "▁gre", "en", "▁house", "</s>"), ("▁une", "▁maison", "▁verte", "</s>")
)


def snapshots(updates: tuple[int, ...], seed: int = 0, **changes: Any) -> Snapshots:
    weights = np.random.default_rng(seed).dirichlet(np.ones(5), (len(updates), 4)).astype(np.float32)
    found = Snapshots(
        "run",
        0.5,
        updates,
        (SENTENCE,),
        (weights,),
        tuple((f"said {update}",) for update in updates),
        {"loss": tuple((update, 9 / (1 + update)) for update in updates)},
        {"content": {"alike": 0.1}},
        {"content": 7},
    )
    return replace(found, **changes)


def same(one: Snapshots, other: Snapshots) -> bool:
    arrays = all(np.array_equal(a, b) for a, b in zip(one.alignments, other.alignments, strict=True))
    return arrays and {**vars(one), "alignments": 0} == {**vars(other), "alignments": 0}


def test_round_trip_is_exact(tmp_path: Path) -> None:
    saved = snapshots((0, 10, 50))
    saved.save(tmp_path / "one.json")
    assert same(Snapshots.load(tmp_path / "one.json"), saved)


@given(st.sets(st.integers(0, 40), min_size=2, max_size=8), st.integers(1, 6))
def test_parts_are_joined_in_any_order(updates: set[int], parts: int) -> None:
    whole = snapshots(tuple(sorted(updates)))
    places = [list(range(len(updates)))[k::parts] for k in range(parts)]
    cut = [
        replace(
            whole,
            updates=tuple(whole.updates[k] for k in some),
            alignments=(whole.alignments[0][some],),
            translations=tuple(whole.translations[k] for k in some),
            curves={"loss": tuple(whole.curves["loss"][k] for k in some)},
        )
        for some in places
        if some
    ]
    assert same(join_snapshots(cut[::-1]), whole)


def test_folder_groups_runs_and_skips_other_sentences(tmp_path: Path) -> None:
    snapshots((0,)).save(tmp_path / "000000.json")
    other = replace(SENTENCE, source="an old house")
    for update in (10, 50):
        snapshots((update,), sentences=(other,)).save(tmp_path / f"{update:06}.json")
    snapshots((0, 5), name="another").save(tmp_path / "x.json")
    (tmp_path / "old.json").write_text('{"update": 3, "sentences": []}')
    run, another = load_folder(tmp_path)
    assert (run.name, run.updates, run.sentences) == ("run", (10, 50), (other,))
    assert (another.name, another.updates) == ("another", (0, 5))


def test_value_and_moment_are_last_at_or_before_update() -> None:
    found = snapshots((10, 50))
    assert [found.moment(update) for update in (0, 10, 49, 50, 99)] == [0, 0, 0, 1, 1]
    assert [found.value("loss", update) for update in (9, 10, 49, 50)] == [None, 9 / 11, 9 / 11, 9 / 51]
    assert found.value("bleu", 50) is None


def test_words_sum_the_weights_of_source_pieces() -> None:
    alignment = snapshots((0,)).alignments[0][0]
    words = SENTENCE.words(alignment)
    assert words.source == ("a", "green", "house", "</s>")
    assert words.target == ("une", "maison", "verte", "</s>")
    np.testing.assert_allclose(words.alignment[:, 1], alignment[:, 1] + alignment[:, 2], rtol=1e-6)


def _damage(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "damaged.json"
    snapshots((0, 10)).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(record | changes), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "attnviz-trace"},
        {"version": 2},
        {"updates": [10, 0]},
        {"updates": [0]},
        {"updates": [0, "1"]},
        {"sentences": []},
        {"alignments": []},
        {"translations": [["a"], []]},
        {"name": 3},
        {"name": "\ud800"},
        {"guidance": -1},
        {"curves": {"loss": [[0, "x"]]}},
        {"curves": {"loss": [[5, 1], [5, 1]]}},
        {"levels": 7},
        {"curves": {"loss": [[0, float("nan")]]}},
        {"counts": {"content": "many"}},
        {"counts": {"content": 10**400}},
        {"alignments": [{"dtype": "float32", "shape": [2, 4, 5], "zlib": "eJwDAAAAAAE="}]},
        {"alignments": [{"dtype": "float32", "shape": [2, 40_000, 50_000], "zlib": "eJwDAAAAAAE="}]},
    ],
)
def test_invalid_content_is_refused_naming_the_file(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(AttnvizError, match=r"damaged\.json"):
        Snapshots.load(_damage(tmp_path, **changes))


def test_negative_weights_are_refused(tmp_path: Path) -> None:
    wrong = snapshots((0, 10))
    wrong.alignments[0][0, 0, 0] = -0.5
    wrong.save(tmp_path / "damaged.json")
    with pytest.raises(AttnvizError, match="not between 0 and 1"):
        Snapshots.load(tmp_path / "damaged.json")
