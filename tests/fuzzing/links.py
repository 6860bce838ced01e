"""Fuzzing of links: random values in any URL parameter of every page."""

from __future__ import annotations

import random
from collections.abc import Mapping

from attnviz.corpora import MEASURES
from attnviz.ui.corpus.table import PRESETS
from attnviz.ui.pages import PAGE_NAMES
from attnviz.ui.pages.lab_page import SECTIONS
from attnviz.ui.pages.transformer_page import EXHIBITS
from tests.fuzzing.bench import SENTENCES, TABLES, Bench
from tests.fuzzing.mutations import text

_NAMES = tuple(one.name for one in MEASURES)
_MEANT: Mapping[str, tuple[str, ...]] = {
    "table": TABLES,
    "show": PRESETS,
    "sort": ("number", *_NAMES),
    "x": _NAMES,
    "y": _NAMES,
    "descending": ("1",),
    "brush": ("0_1", "0_9_-99_0", "9_0_0_-99", "nan_nan", "inf_-inf_0_1", "1e999_0_1_2"),
    "part": ("1", "2", "3"),
    "find": ("dogs", "[", "%", "NEIGE"),
    "training": ("small-additive", "small-dot", "run:mine", "run:../mine"),
    "runs": ("1", "2", "all"),
    "pair": ("1", "2", "9", "10"),
    "update": ("0", "20", "1000000000", "9" * 30),
    "long": ("1", "2", "own"),
    "sentence": SENTENCES[::2],
    "target": SENTENCES[1::2],
    "gold": ("0-0 1?1", "9-9"),
    "section": tuple(SECTIONS),
    "exhibit": tuple(EXHIBITS),
    "lang": ("en", "fr"),
    "lesson": ("attention", "../attention"),
    "model": ("en-fr", "small-fixed", "small-dot", "small-transformer", "detector"),
}
"""What parameters mean something with, that others do not."""
_VALUES = (
    "0",
    "1",
    "2",
    "3",
    "99",
    "-1",
    "0-0.1p1",
    "en",
    "fr",
    "idea",
    "everything",
    "en-fr",
    "beam 3",
    "after",
    "1.2",
)


def addresses(bench: Bench, chance: random.Random) -> None:
    """Follow a link with anything in any parameter, mostly those that its page asks for."""
    page = chance.choice(PAGE_NAMES)
    own, all_ = bench.parameters[page], sorted(set().union(*bench.parameters.values()))
    names = set(chance.sample(own, chance.randint(1, min(8, len(own))))) | {chance.choice(all_)}
    if page == "corpus" and chance.random() < 0.7:  # without a table it shows nothing
        names.add("table")
    bench.open(page, {name: _value(name, chance) for name in sorted(names)})


def _value(name: str, chance: random.Random) -> str:
    if name in _MEANT and chance.random() < 0.6:
        return chance.choice(_MEANT[name])
    value = (
        chance.choice(_VALUES) if chance.random() < 0.6 else text(chance)[:200]
    )  # models with random weights write endlessly
    return value.encode("utf-8", "replace").decode("utf-8")
