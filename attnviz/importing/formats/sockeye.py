"""Read Sockeye output of `--output-type translation_with_alignments`: translation, tab, links."""

from __future__ import annotations

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, damaged_line, linked
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content


def detect(content: Content) -> str | None:
    """Return why every line is a translation, a tab and links; None otherwise."""
    columns = [line.split("\t") for _, line in content.filled]
    fits = all(len(fields) == 2 and (are_links(fields[1]) or not fields[1].strip()) for fields in columns)
    if not columns or not fits or not any(are_links(fields[1]) for fields in columns):
        return None
    return gettext("Every line has a translation, a tab and links.")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line; links count source and target tokens from 0."""
    return Sentences(list(enumerate(content.lines, 1)), _line, base=0)


def _line(item: tuple[int, str]) -> SentencePair:
    number, line = item
    if not line.strip():
        raise AttnvizError(gettext("Line {number} is blank: it has no translation.", number=number))
    target, tab, links = line.partition("\t")
    if not tab or not target.strip():
        raise damaged_line(number, line)
    return linked(parse_links(links), target=target.strip())


FORMAT = Format("sockeye", "Sockeye", detect, read)
