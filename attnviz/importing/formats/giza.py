"""Read `A3.final` files of GIZA++ and MGIZA: three lines for each sentence pair, with the pairs in any order."""

from __future__ import annotations

import re
from typing import NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, linked
from attnviz.importing.link_text import links_of
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_HEADER = re.compile(r"# [Ss]entence pair \(([0-9]{1,9})\) source length ([0-9]+) target length ([0-9]+).*")
_WORD = re.compile(r"(\S+) \(\{((?: ?[0-9]+)*) ?\}\)\s*")


class _Block(NamedTuple):
    number: int
    """Line number of the header, from 1."""
    pair: int
    lengths: tuple[int, int]
    target: str
    words: str


def detect(content: Content) -> str | None:
    """Return why the file begins with the header of a sentence pair; None otherwise."""
    if not content.filled or not _HEADER.fullmatch(content.filled[0][1].strip()):
        return None
    return gettext("The file begins with “# Sentence pair”, as GIZA++ files do.")


def read(content: Content) -> Sentences:
    """Return the pairs in the order of their numbers."""
    lines = content.lines
    starts = [index for index, line in enumerate(lines) if _HEADER.fullmatch(line.strip())]
    blocks = list[_Block]()
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        header = _HEADER.fullmatch(lines[start].strip())
        rest = [line for line in lines[start + 3 : end] if line.strip()]
        if header is None or end < start + 3 or rest:
            raise AttnvizError(
                gettext("The pair at line {number} must have three lines: header, target and source.", number=start + 1)
            )
        lengths = (int(header[2]), int(header[3]))
        blocks.append(_Block(start + 1, int(header[1]), lengths, lines[start + 1], lines[start + 2]))
    numbers = [block.pair for block in blocks]
    unique = len({*numbers}) == len(numbers)
    ordered = sorted(blocks, key=lambda block: block.pair) if unique else blocks
    return Sentences(ordered, _read, base=1, ends="never", remarks=("reordered",) if ordered != blocks else ())


def _read(block: _Block) -> SentencePair:
    words, offset = list[tuple[str, str]](), 0
    text = block.words.strip() + " "
    while match := _WORD.match(text, offset):
        words.append((match[1], match[2]))
        offset = match.end()
    target = block.target.split()
    source = words[1:]
    if offset < len(text) or not words or words[0][0] != "NULL":
        raise AttnvizError(
            gettext("Line {number} is not a list of source words with their links.", number=block.number + 2)
        )
    if sorted(block.lengths) != sorted((len(source), len(target))):
        raise AttnvizError(
            gettext(
                "The pair at line {number} has {source} source words and {target} target words, but its header "
                "gives other word counts.",
                number=block.number,
                source=len(source),
                target=len(target),
            )
        )
    links = [(j, int(i)) for j, (_, positions) in enumerate(source, 1) for i in positions.split()]
    return linked(links_of(links), source=[word for word, _ in source], target=target)


FORMAT = Format("giza", "GIZA++", detect, read, aliases=("giza++", "mgiza"))
