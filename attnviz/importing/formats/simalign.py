"""Read the output of SimAlign's script: pair number, tab, links; with `--add-probs` each link has two similarities."""

from __future__ import annotations

from attnviz.errors import AttnvizError
from attnviz.importing.file_content import Content
from attnviz.importing.format import Format, damaged_line, linked
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext


def detect(content: Content) -> str | None:
    """Return why every line is a consecutive number from 0 or 1, a tab and links; None otherwise."""
    columns = [line.split("\t") for _, line in content.filled]
    if not columns or not all(len(fields) == 2 and fields[0].strip().isdecimal() for fields in columns):
        return None
    if not all(are_links(fields[1]) or not fields[1].strip() for fields in columns):
        return None
    numbers = [int(fields[0]) if len(fields[0]) < 10 else -1 for fields in columns]
    several = any(link.split("-")[1][:1] not in ("0", "") for fields in columns for link in fields[1].split())
    if numbers[0] not in (0, 1) or numbers != [*range(numbers[0], numbers[0] + len(numbers))] or not several:
        return None
    return gettext("Every line has the number of its pair, a tab and links.")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line, in the order of their numbers."""
    first = int(content.filled[0][1].split("\t")[0])
    return Sentences([(number, line, first) for number, line in content.filled], _line)


def _line(item: tuple[int, str, int]) -> SentencePair:
    number, line, first = item
    pair, tab, links = line.partition("\t")
    if not tab or not pair.strip().isdecimal():
        raise damaged_line(number, line)
    try:
        return linked(parse_links(links), line=int(pair) - first)
    except AttnvizError as error:
        raise AttnvizError(gettext("Line {number}: {error}", number=number, error=str(error))) from error


FORMAT = Format("simalign", "SimAlign", detect, read)
