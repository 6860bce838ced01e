"""Attention that programs print a line a sentence: Marian's soft and hard alignments, those that OpenNMT-py and eole
report, and links in the Pharaoh format."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.found import AttentionFile, Found
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

BAR = " ||| "
"""Parts the fields of a line."""
_LINK = re.compile(r"[0-9]{1,6}-[0-9]{1,6}")
_NUMBER = r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_ROW = re.compile(rf"(?:{_NUMBER}|nan|-?inf)(?:,(?:{_NUMBER}|nan|-?inf))*")


def bar_lines(lines: Sequence[str]) -> AttentionFile | None:
    """Return the sentences of a text whose lines have an alignment after a bar; None where it is no such text.

    `translation ||| a,b,c d,e,f`: Marian's `--alignment soft`, a group of weights for each target token, `</s>`
    included; `translation ||| 0-0 1-2`: its hard one, and what OpenNMT-py and eole write for `-report_align`. An n-best
    list has a number before, and scores may come after.
    """
    full = [line for line in lines if line.strip()]
    if not full or BAR.strip() not in full[0] or _fields(full[0]) is None:
        return None
    soft = "," in (_fields(full[0]) or ("", ""))[1]
    return AttentionFile("Marian" if soft else "Marian, OpenNMT-py, eole", full, _bar_line)


def _fields(line: str) -> tuple[str, str] | None:
    """Return the translation and its alignment; None where there is none in the line."""
    parts = [part.strip() for part in line.split(BAR.strip())]
    for place in (1, 2):  # an n-best list has the number of the sentence first
        if place < len(parts) and _is_alignment(parts[place]):
            return parts[place - 1], parts[place]
    return None


def _is_alignment(text: str) -> bool:
    groups = text.split()
    return bool(groups) and (all(map(_LINK.fullmatch, groups)) or all(map(_ROW.fullmatch, groups)))


def _bar_line(line: str) -> Found:
    found = _fields(line)
    if found is None:
        raise AttnvizError(gettext("This line has no alignment after a bar: “{line}”.", line=line.strip()[:60]))
    translation, alignment = found
    groups = alignment.split()
    if _LINK.fullmatch(groups[0]):
        return Found({"target": translation}, _links(groups), ("links",))
    rows = [group.split(",") for group in groups]
    if len(rows) > MOST_TOKENS + 1 or len(rows[0]) > MOST_TOKENS + 1 or len({*map(len, rows)}) > 1:
        raise AttnvizError(
            gettext(
                "The groups of weights must have one length, and be at most {most} of at most as many.",
                most=MOST_TOKENS + 1,
            )
        )
    return Found({"target": translation, "matrix": np.array(rows, dtype=np.float64), "origin": "Marian"})


def _links(groups: Sequence[str]) -> list[tuple[int, int]]:
    if len(groups) > MOST_TOKENS * 10:
        raise AttnvizError(
            gettext("There are {count} links; at most {most} can be read.", count=len(groups), most=MOST_TOKENS * 10)
        )
    return [(int(j), int(i)) for j, i in (group.split("-") for group in groups)]


def link_lines(lines: Sequence[str]) -> AttentionFile | None:
    """Return the sentences of a text of links, `0-0 1-2`, a source token before a target token, from 0; before them may
    stand source and target, each followed by a tab, as `attnviz align --words` writes them. None for another text."""
    full = [line for line in lines if line.strip()]
    if not full or not all(map(_LINK.fullmatch, full[0].split("\t")[-1].split())):
        return None
    return AttentionFile("Pharaoh", full, _link_line)


def _link_line(line: str) -> Found:
    *sides, last = line.split("\t")
    groups = last.split()
    if len(sides) not in (0, 2) or not all(map(_LINK.fullmatch, groups)):
        raise AttnvizError(
            gettext(
                "This line is no list of links, 0-0 1-2, nor one after source, tab, target, tab: “{line}”.",
                line=line.strip()[:60],
            )
        )
    return Found(dict(zip(("source", "target"), sides, strict=False)), _links(groups), ("links",))
