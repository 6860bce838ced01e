"""Read the Pharaoh format: one line of links for each sentence pair, as fast_align, eflomal and awesome-align write it.

Links may be marked as possible (TALP) or have probabilities. They may follow the two sentences, as
`attnviz align --words` prints them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, damaged_line, linked
from attnviz.importing.link_text import are_links, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content


def detect(content: Content) -> str | None:
    """Return why every line is links, or two sentences and links separated by tabs; None otherwise."""
    filled = content.filled
    if not filled:
        return None
    columns = [line.split("\t") for _, line in filled]
    if len({*map(len, columns)}) > 1 or len(columns[0]) not in (1, 3):
        return None
    if not all(are_links(fields[-1]) or (not fields[-1].strip() and len(fields) == 3) for fields in columns):
        return None
    if not any(are_links(fields[-1]) for fields in columns):
        return None
    if len(columns[0]) == 3:
        return gettext("Every line has a source, a target and links, with tabs between them.")
    return gettext("Every line is blank or a list of links, such as 0-0 1-2.")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line; a blank line is a pair without links."""
    items = [(number, line) for number, line in enumerate(content.lines, 1)]
    if any("\t" in line for line in content.lines):
        items = [(number, line) for number, line in items if line.strip()]
    return Sentences(items, _line)


def _line(item: tuple[int, str]) -> SentencePair:
    number, line = item
    *sides, links = line.split("\t")
    if len(sides) not in (0, 2):
        raise damaged_line(number, line)
    try:
        parsed = parse_links(links)
    except AttnvizError as error:
        raise AttnvizError(gettext("Line {number}: {error}", number=number, error=str(error))) from error
    return linked(parsed, source=sides[0] if sides else None, target=sides[1] if sides else None)


def near_miss_message(content: Content) -> str | None:
    """Return the message that names the first line that is no list of links, where most lines are; None otherwise."""
    wrong = [(number, line) for number, line in content.filled if not _is_line(line.split("\t"))]
    if not content.filled or len(wrong) > len(content.filled) / 2:
        return None
    number, line = wrong[0] if wrong else content.filled[0]
    return gettext(
        "The file looks like links in the Pharaoh format, but line {number} is “{line}”. Write links as 0-0 1-2, "
        "one line per sentence pair, and nothing else.",
        number=number,
        line=line.strip()[:60],
    )


def _is_line(fields: Sequence[str]) -> bool:
    return are_links(fields[-1])


FORMAT = Format("pharaoh", "Pharaoh", detect, read, near_miss_message, ("talp", "awesome-align", "eflomal"))
