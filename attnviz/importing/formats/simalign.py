"""Read the output of SimAlign's script: pair number, tab, links; with `--add-probs` each link has two similarities."""

from __future__ import annotations

import re

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, damaged_line, linked
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_NUMBER = re.compile(r"[0-9]{1,9}")
_LATER = re.compile(r"[0-9]+[-?p]0*[1-9]")
"""A link of a target word after the first."""


def detect(content: Content) -> str | None:
    """Return why every line is the number of a pair, a tab and links; None otherwise.

    Sockeye's lines are a translation, a tab and links. That of a single number has one word, the target of all links.
    """
    columns = [line.split("\t") for _, line in content.filled]
    if not columns or not all(len(fields) == 2 and fields[0].strip().isdecimal() for fields in columns):
        return None
    if not all(are_links(fields[1]) or not fields[1].strip() for fields in columns):
        return None
    if not any(_LATER.match(link) for fields in columns for link in fields[1].split()):
        return None
    return gettext("Every line has the number of its sentence pair, a tab and links.")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line, in the order of their numbers."""
    by_pair = dict[int, tuple[int, str]]()
    for number, line in content.filled:
        pair, tab, links = line.partition("\t")
        if not tab or not _NUMBER.fullmatch(pair.strip()) or int(pair) in by_pair:
            raise damaged_line(number, line)
        by_pair[int(pair)] = (number, links)
    first = min(*by_pair, 1)  # the script counts from 0
    ordered = sorted(by_pair)
    items = [(pair - first, *by_pair[pair]) for pair in ordered]
    return Sentences(items, _pair, remarks=("reordered",) if ordered != [*by_pair] else ())


def _pair(item: tuple[int, int, str]) -> SentencePair:
    pair, number, links = item
    try:
        return linked(parse_links(links), line=pair)
    except AttnvizError as error:
        raise AttnvizError(gettext("Line {number}: {error}", number=number, error=str(error))) from error


FORMAT = Format("simalign", "SimAlign", detect, read)
