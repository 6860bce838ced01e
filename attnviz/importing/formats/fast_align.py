"""Read lines of `source ||| target ||| links`, from fast_align's forced alignment and cdec; a score may follow."""

from __future__ import annotations

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, damaged_line, fields_of, is_number, linked
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_BLANK = ["", "", ""]
"""Fields of a blank pair."""


def detect(content: Content) -> str | None:
    """Return why every line is a source, a target and links; None otherwise."""
    lines = [fields_of(line) for _, line in content.filled]
    if not lines or not all(_fits(fields) for fields in lines) or not any(are_links(fields[2]) for fields in lines):
        return None
    return gettext("Every line has a source, a target and links, separated by |||.")


def _fits(fields: list[str]) -> bool:
    """Return whether the fields of a line are a source, a target, links and perhaps a score."""
    if fields == _BLANK:
        return True
    if len(fields) not in (3, 4) or not fields[0] or not fields[1] or (len(fields) == 4 and not is_number(fields[3])):
        return False
    if not fields[2]:
        return True
    if not are_links(fields[2]):
        return False
    if not fields[0].isdecimal() or len(fields) == 4:
        return True
    # An n-best list begins with the sentence number, which could also be a source of one token with index 0.
    return {link.split("-")[0] for link in fields[2].split()} == {"0"}


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line."""
    return Sentences(list(enumerate(content.lines, 1)), _line)


def _line(item: tuple[int, str]) -> SentencePair:
    number, line = item
    fields = fields_of(line) if line.strip() else _BLANK
    if len(fields) not in (3, 4):
        raise damaged_line(number, line)
    try:
        return linked(parse_links(fields[2]), source=fields[0], target=fields[1])
    except AttnvizError as error:
        raise AttnvizError(gettext("Line {number}: {error}", number=number, error=str(error))) from error


FORMAT = Format("fast_align", "fast_align, cdec", detect, read, aliases=("cdec",))
