"""Fuzzing of files that a server's owner provides: corpus tables, their vectors, snapshots of trainings."""

from __future__ import annotations

import random
from pathlib import Path

from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, nearest, principal_map
from attnviz.corpora.table_metadata import table_metadata
from attnviz.corpora.vectors import vectors_of_pairs
from attnviz.figures.learning_curves import attention_curves, learning_heatmap, quality_curves
from attnviz.trace.snapshots import Snapshots
from attnviz.ui.corpus.table import PRESETS, Choice, corpus_pair, known_measures, listed_rows, load_table, matching_rows
from attnviz.ui.pages.learns_page import has_link_measures
from tests.fuzzing.bench import SENTENCES, SNAPSHOTS, Bench
from tests.fuzzing.mutations import ANY, JSON, replace_value


def tables(bench: Bench, chance: random.Random) -> None:
    """Show a damaged table of a corpus, and open a pair of it."""
    path = bench.damaged(bench.table("drawn").read_bytes(), "shelved.parquet", ANY, chance)
    table_metadata(path)
    whole = load_table(path)
    choice = Choice(preset=chance.choice(PRESETS), query=chance.choice(("", "dogs")), sort="entropy")
    known_measures(whole)
    for row in listed_rows(matching_rows(whole, choice), choice).part(0).to_pylist():
        corpus_pair(path, row["number"], row["source"], row["target"])


def vectors(bench: Bench, chance: random.Random) -> None:
    """Search the damaged vectors of a corpus."""
    whole = bench.folder / "whole.npz"
    if not whole.exists():
        vectors_of_pairs(bench.translator, [(1, *SENTENCES[:2]), (2, *SENTENCES[2:])]).save(whole)
    found = Vectors.load(bench.damaged(whole.read_bytes(), "damaged.npz", ANY, chance))
    for kind in VECTOR_KINDS:
        array = found.arrays[kind]
        nearest(array, array[0].astype("f4"), 3)
        principal_map(array.astype("f4"))


def snapshots(bench: Bench, chance: random.Random) -> None:
    """Draw the damaged snapshots of a training."""
    path = chance.choice(sorted(Path(SNAPSHOTS).glob("*.json")))
    several = (*JSON, *[replace_value] * 9)
    found = Snapshots.load(bench.damaged(path.read_bytes(), "snapshots.json", several, chance))
    learning_heatmap(found, 0, found.moment(20))
    quality_curves([found], found.updates, update=20)
    if has_link_measures(found):
        attention_curves(found, found.updates, runs=[found], update=20)
