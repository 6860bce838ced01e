"""Read Moses n-best lists with word or phrase alignments, and translations with phrase segmentation.

The options are `-print-alignment-info-in-n-best` and `-report-segmentation`, which writes
`la |0-0| verte |2-2| maison |1-1|`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, damaged_line, fields_of, is_number, linked
from attnviz.importing.link_text import Link, Links, are_links, links_of, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_PHRASE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?=([0-9]{1,6})(?:-([0-9]{1,6}))?")
"""A source span and a target span of a phrase alignment."""
_SEGMENT = re.compile(r"(?<!\S)\|([0-9]{1,6})-([0-9]{1,6})(?:,wa=([0-9 -]*?)(?:,[^|]*)?)?\|(?!\S)")
"""Source span after each translated phrase; with -tt also the word alignment inside the phrase."""
_LONGEST_SPAN = 200


class _Line(NamedTuple):
    number: int
    pair: int | None
    """Sentence number, from 0; None where each line is a sentence."""
    target: str
    alignment: str
    """Links or phrase alignments; empty where the target has segments."""


def detect(content: Content) -> str | None:
    """Return why every line has segments, or is of an n-best list with alignments; None otherwise."""
    lines = [_parsed(number, line) for number, line in content.filled]
    if not lines or None in lines:
        return None
    parsed = [line for line in lines if line]
    if all(line.pair is None for line in parsed):
        return gettext(
            "Every line gives, after each phrase, the range of source words that this phrase translates, such as |0-0|."
        )
    if any(line.pair is None for line in parsed):
        return None
    return gettext("Every line is an entry of an n-best list: number, translation, features, score and alignment.")


def _parsed(number: int, line: str) -> _Line | None:
    """Return the parts of a line; None where it has no alignment."""
    parts = fields_of(line)
    if len(parts) == 1:
        return _Line(number, None, line, "") if _segmented(line) else None
    if len(parts) < 4 or not (parts[0].isdecimal() and len(parts[0]) < 10) or not is_number(parts[3]):
        return None
    if are_links(parts[2]):
        return None  # in Marian's n-best lists the alignment is in this field
    if _segmented(parts[1]):
        return _Line(number, int(parts[0]), parts[1], "")
    for part in parts[4:]:
        if are_links(part) or (part.split() and all(map(_PHRASE.fullmatch, part.split()))) or not part:
            return _Line(number, int(parts[0]), parts[1], part)
    return None


def _segmented(text: str) -> bool:
    """Return whether `text` is phrases, each followed by its segment."""
    return bool(text.split()) and _SEGMENT.search(text) is not None and text.rstrip().endswith("|")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each line, or the best translation of each sentence."""
    parsed = []
    for number, line in content.filled:
        entry = _parsed(number, line)
        if entry is None:
            raise damaged_line(number, line)
        parsed.append(entry)
    blank = [number for number, line in enumerate(content.lines, 1) if not line.strip()]
    if blank:
        raise AttnvizError(gettext("Line {number} is blank: it has no translation.", number=blank[0]))
    if parsed[0].pair is None:
        return Sentences(parsed, _line, base=0, ends="never")
    best = {line.pair: line for line in reversed(parsed)}
    remarks = ("best-only",) if len(best) < len(parsed) else ()
    ordered = [best[pair] for pair in sorted(best, key=lambda pair: pair or 0)]
    return Sentences(ordered, _line, base=0, ends="never", remarks=remarks)


def _line(line: _Line) -> SentencePair:
    if not line.alignment and _segmented(line.target):
        return _from_segments(line)
    if are_links(line.alignment) or not line.alignment:
        return linked(parse_links(line.alignment), target=line.target, line=line.pair)
    links = list[Link]()
    for group in line.alignment.split():
        match = _PHRASE.fullmatch(group)
        if match is None:
            raise damaged_line(line.number, line.alignment)
        source = _span(int(match[1]), int(match[2] or match[1]), line)
        links += [(j, i) for i in _span(int(match[3]), int(match[4] or match[3]), line) for j in source]
    return linked(links_of(links), ("phrases",), target=line.target, line=line.pair)


def _span(first: int, last: int, line: _Line) -> range:
    """Return the indices of a phrase; raise AttnvizError where they are no valid span."""
    if not first <= last < first + _LONGEST_SPAN:
        raise damaged_line(line.number, f"{first}-{last}")
    return range(first, last + 1)


def _from_segments(line: _Line) -> SentencePair:
    """Return the pair of a translation with segments.

    Links are the aligned words inside each phrase where given; otherwise each word of a phrase is linked to each of its
    source words.
    """
    target, links, before, aligned = list[str](), list[Link](), 0, False
    for segment in _SEGMENT.finditer(line.target):
        phrase = line.target[before : segment.start()].split()
        source = _span(int(segment[1]), int(segment[2]), line)
        if segment[3] is None:
            links += [(j, len(target) + i) for i in range(len(phrase)) for j in source]
        else:
            aligned = True
            inner: Links = parse_links(segment[3])
            links += [(source[0] + j, len(target) + i) for j, i in inner.all]
        target += phrase
        before = segment.end()
    if line.target[before:].strip():
        raise damaged_line(line.number, line.target)
    return linked(links_of(links), () if aligned else ("phrases",), target=" ".join(target), line=line.pair)


FORMAT = Format("moses", "Moses", detect, read)
