"""`Snapshots` of a training: saving, loading and joining."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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


def test_round_trip_is_exact(tmp_path) -> None:
    saved = snapshots((0, 10, 50))
    saved.save(tmp_path / "one.json")
    assert same(Snapshots.load(tmp_path / "one.json"), saved)


@given(st.sets(st.integers(0, 40), min_size=2, max_size=8), st.integers(1, 6))
def test_parts_are_joined_in_any_order(updates: set[int], parts) -> None:
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


def test_folder_groups_runs_and_skips_other_sentences(tmp_path) -> None:
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
