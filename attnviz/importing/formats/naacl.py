"""Read the format of the shared tasks of NAACL 2003 and ACL 2005 (WPT): one link a line, `pair source target`.

S or P and a probability may follow. Numbers count from 1, and word 0 is NULL; a link 0 0 shows that words count from 0.
"""

from __future__ import annotations

import re

from attnviz.errors import AttnvizError
from attnviz.importing.format import NUMBER, Format, damaged_line, linked
from attnviz.importing.link_text import MOST_LINKS, Link, Links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_LINE = re.compile(rf"([0-9]{{1,7}})\s+([0-9]{{1,6}})\s+([0-9]{{1,6}})(?:\s+([SPsp]))?(?:\s+({NUMBER}))?\s*")
MOST_PAIRS = 1_000_000


def detect(content: Content) -> str | None:
    """Return why every line has a non-decreasing pair number and two more numbers; None otherwise."""
    matches = [_matched(line) for _, line in content.filled]
    if not matches or None in matches:
        return None
    pairs = [int(match[1]) for match in matches if match]
    marked = all(match and match[4] for match in matches)  # no other format has S or P at the end of each line
    if pairs != sorted(pairs) or (pairs[0] not in (0, 1) and not marked):
        return None
    return gettext("Every line has three numbers: sentence pair, source word and target word.")


def _matched(line: str) -> re.Match[str] | None:
    """Return the numbers of a line; None for other lines, such as those of columns with words or links."""
    in_columns = "\t" in line and (" " in line.strip() or line.endswith("\t"))
    return None if in_columns else _LINE.fullmatch(line)


def read(content: Content) -> Sentences:
    """Return the pairs from the first to the last number; those without lines have no links."""
    lines = dict[int, list[re.Match[str]]]()
    for number, line in content.filled:
        match = _matched(line)
        if match is None:
            raise damaged_line(number, line)
        lines.setdefault(int(match[1]), []).append(match)
    first = min(lines)
    last = max(lines)
    if last - first >= MOST_PAIRS:
        raise AttnvizError(
            gettext(
                "The sentence pairs are numbered up to {last}, which is more than attnviz reads. Split the file.",
                last=last,
            )
        )
    matches = [line for group in lines.values() for line in group]
    annotated = any(line[4] for line in matches)
    # Word 0 means NULL, unless the file counts from 0. A link 0 0 shows that it does: NULL is never linked to NULL.
    base = 0 if any(int(line[2]) == int(line[3]) == 0 for line in matches) else 1

    def pair(identity: int) -> SentencePair:
        return _read(identity - first, lines.get(identity, []), annotated, base)

    remarks = () if base else ("counted-from-0",)
    return Sentences(range(first, last + 1), pair, base=base, ends="never", remarks=remarks, first=max(first, 1))


def _read(index: int, lines: list[re.Match[str]], annotated: bool, base: int) -> SentencePair:
    if len(lines) > MOST_LINKS:
        raise AttnvizError(
            gettext("A sentence pair has {count} links; at most {most} can be read.", count=len(lines), most=MOST_LINKS)
        )
    links: set[Link] = set()
    sure: set[Link] = set()
    shares = dict[Link, float]()
    null = False
    for line in lines:
        link = (int(line[2]), int(line[3]))
        if base and 0 in link:
            null = True
            continue
        links.add(link)
        if (line[4] or "S").upper() == "S":
            sure.add(link)
        if line[5]:
            shares[link] = float(line[5])
    if len(shares) < len(links) or any(not 0 <= share <= 1 for share in shares.values()) or not any(shares.values()):
        shares = {}
    parsed = Links(frozenset(links), frozenset(links - sure), shares, annotated)
    return linked(parsed, ("null-links",) if null else (), line=index)


FORMAT = Format("naacl", "NAACL, WPT", detect, read, aliases=("wpt",))
