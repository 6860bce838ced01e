"""Table of the kinds of attention of recurrent translators, and registration of the kinds that users add.

A kind has a torch class (`network.scorers`), an independent NumPy class (`analysis.numpy_scorers`) and texts
(`analysis.energy_equations`). The table names the classes as `module:name`, and they are imported where they are
needed. Two modules show some kinds only: `analysis.page_texts` and `analysis.attention_forms`.

Users add a kind by its torch class, `package.module:Class`: as an entry point of the group `attnviz.scorers`, with
`--scorer`, or in the variable `ATTNVIZ_SCORERS`. A model folder by itself cannot cause a module to be imported.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from attnviz.bounds import shortened_repr
from attnviz.environment import ATTNVIZ_SCORERS
from attnviz.errors import user_error

GROUP = "attnviz.scorers"
"""Group of the entry points."""
_PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class AttentionKind:
    """One kind of attention. Its parts are given as `module:name`."""

    name: str
    """Name in options, in `ModelConfig.attention` and in traces."""
    network: str
    """The torch class, a `network.scorers.Scorer`."""
    recomputation: str = ""
    """The NumPy class, an `analysis.numpy_scorers.EnergyRecomputation`; empty where there is none.

    Without it, energies cannot be verified.
    """
    halves: bool = False
    """Whether each direction of the encoder has n / 2 units, so that h_j has the length of s_i."""
    of_imports: bool = False
    """Whether imported translators can have this kind."""


def _built_in(name: str, stem: str, *, halves: bool = False, of_imports: bool = False) -> AttentionKind:
    network = f"attnviz.network.scorers:{stem}Scorer"
    recomputation = f"attnviz.analysis.numpy_scorers:{stem}Recomputation"
    return AttentionKind(name, network, recomputation, halves, of_imports)


BUILT_IN_KINDS: Mapping[str, AttentionKind] = {
    kind.name: kind
    for kind in (
        _built_in("additive", "Additive", of_imports=True),
        _built_in("general", "General", of_imports=True),
        _built_in("dot", "Dot", halves=True, of_imports=True),
        _built_in("location", "Location", of_imports=True),
        _built_in("location-aware", "LocationAware"),
        _built_in("none", "FixedContext"),
    )
}
ATTENTION_KINDS = tuple(BUILT_IN_KINDS)
IMPORTED_KINDS = tuple(name for name, kind in BUILT_IN_KINDS.items() if kind.of_imports)
"""Values of `Seq2SeqConfig.attention`."""
HALVING_KINDS = tuple(name for name, kind in BUILT_IN_KINDS.items() if kind.halves)


def is_custom(name: object) -> bool:
    """Return whether `name` has the form of a user's own kind, `package.module:Class`."""
    return isinstance(name, str) and _PLACE.fullmatch(name) is not None


def check_known(name: object) -> None:
    """Raise ValueError unless `name` is one of ATTENTION_KINDS or has the form of a user's own kind."""
    if name not in ATTENTION_KINDS and not is_custom(name):
        raise ValueError(
            f"attention must be one of {', '.join(ATTENTION_KINDS)} or package.module:Class, not {shortened_repr(name)}"
        )


def kind_of(name: str) -> AttentionKind:
    """Return the kind with this name; raise AttnvizError for a user's own kind that is not registered."""
    if name in BUILT_IN_KINDS:
        return BUILT_IN_KINDS[name]
    if name not in registered():
        raise user_error(
            "The scorer “{name}” is a class from outside attnviz, so attnviz imports it only with your "
            "permission. Give --scorer {name}, or set the environment variable {variable}={name}.",
            name=name,
            variable=ATTNVIZ_SCORERS,
        )
    return AttentionKind(name, name, str(getattr(resolve(name), "recomputation", "")))


def register(place: str) -> None:
    """Allow the class at `place`, package.module:Class, to be imported by this process and its child processes.

    Raise AttnvizError where there is no such class.
    """
    if not is_custom(place):
        raise user_error("Name a scorer as package.module:Class, not as “{place}”.", place=place)
    resolve(place)
    os.environ[ATTNVIZ_SCORERS] = ",".join(dict.fromkeys([*_in_environment(), place]))


def registered() -> tuple[str, ...]:
    """Return the classes that may be imported: those of installed packages, then those of the environment variable."""
    return *_entry_points().values(), *_in_environment()


def full_name(name: str) -> str:
    """Return the name of a kind, given that name or the name of an entry point."""
    return name if name in BUILT_IN_KINDS else _entry_points().get(name, name)


def resolve(place: str) -> Any:
    """Return the object at `place`, `module:name`; raise AttnvizError where it cannot be imported."""
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise user_error("{place} cannot be imported: {error}.", place=place, error=error) from error


@cache
def _entry_points() -> Mapping[str, str]:
    return {entry.name: entry.value for entry in entry_points(group=GROUP) if is_custom(entry.value)}


def _in_environment() -> list[str]:
    return [place for place in os.environ.get(ATTNVIZ_SCORERS, "").split(",") if is_custom(place)]
