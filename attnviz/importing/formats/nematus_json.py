"""Read Nematus' `--json` output: lists of [target, source, "weight", sentence, hypothesis], or nodes and links.

Sentences follow one another; each target token has one entry for every source token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, is_number
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, json_values
from attnviz.trace import MOST_TOKENS


def _sentences(content: Content) -> list[Any]:
    """Return the JSON values of the text, or the elements of a single list of sentences."""
    values = json_values(content) or []
    if len(values) == 1 and isinstance(values[0], list) and values[0] and _is_links(values[0][0]):
        return values[0]
    return values


def _is_links(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_link(one) for one in value)


def _is_link(one: Any) -> bool:
    if not isinstance(one, list) or len(one) not in (3, 5) or not all(isinstance(text, str) for text in one[:2]):
        return False
    return is_number(str(one[2])) and not isinstance(one[2], bool)


def _is_graph(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("nodes"), list) and _are_weighted(value.get("links"))


def _are_weighted(links: Any) -> bool:
    return (
        isinstance(links, list)
        and bool(links)
        and all(isinstance(one, Mapping) and {"source", "target", "value"} <= set(one) for one in links)
    )


def read(content: Content, _: int | None) -> Sentences | None:
    """Return a pair for each sentence, with its first hypothesis; None unless all are weighted links or graphs."""
    values = _sentences(content)
    if not values or not all(_is_links(value) or _is_graph(value) for value in values):
        return None
    items, seen, repeated = list[Any](), set[str](), False
    for value in values:
        groups = [value] if _is_graph(value) else [list(entries) for _, entries in groupby(value, lambda one: one[3:])]
        for group in groups:
            identity = str(group[0][3]) if isinstance(group, list) and len(group[0]) == 5 else str(len(items))
            if isinstance(group, list) and len(group[0]) == 5 and identity in seen:
                repeated = True
                continue
            seen.add(identity)
            items.append(group)
    reason = gettext("The file is JSON with a weight for each pair of tokens, as in the output of Nematus.")
    return Sentences(items, _read, remarks=("best-only",) if repeated else (), reason=reason)


def _read(value: Any) -> SentencePair:
    if isinstance(value, Mapping):
        names = [
            [
                str(node.get("name", ""))
                for node in value["nodes"]
                if isinstance(node, Mapping) and node.get("group") == n
            ]
            for n in (1, 2)
        ]
        weights = [str(one["value"]) for one in value["links"]]
        return _pair(names[0], names[1], weights)
    columns = _period([str(one[0]) for one in value], [str(one[1]) for one in value])
    source = [str(one[1]) for one in value[:columns]]
    return _pair(source, [str(one[0]) for one in value[::columns]], [str(one[2]) for one in value])


def _period(targets: Sequence[str], sources: list[str]) -> int:
    """Return the number of source tokens: the period after which the list of sources repeats.

    Raise AttnvizError where there is none.
    """
    for columns in range(1, min(len(sources), MOST_TOKENS + 1) + 1):
        if len(sources) % columns or sources[:columns] * (len(sources) // columns) != sources:
            continue
        if all(len({*targets[start : start + columns]}) == 1 for start in range(0, len(targets), columns)):
            last = sources[columns - 1]
            if last == "</s>" or columns == len(sources) or "</s>" not in sources:
                return columns
    raise AttnvizError(gettext("Each target token of a sentence must have one weight for every source token."))


def _pair(source: list[str], target: list[str], weights: list[str]) -> SentencePair:
    if len(weights) != len(source) * len(target) or not all(map(is_number, weights)):
        raise AttnvizError(gettext("Each target token of a sentence must have one weight for every source token."))
    numbers = [float(weight) for weight in weights]
    rows = [numbers[start : start + len(source)] for start in range(0, len(numbers), len(source))]
    return SentencePair({"source": source, "target": target, "matrix": rows, "origin": "Nematus"})


FORMAT = Format(
    "nematus-json",
    "Nematus",
    read,
    example='`[["une", "a", "0.9", 0, 0], …]`, or nodes and links',
    written_by="`nematus/translate.py --json_alignment`",
)
