"""Read `.ali.js` files of SoftAlignments: for each sentence, entries [source token, weight, target token].

The tokens are in the files `.src.js` and `.trg.js` in the same folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.format import NUMBER, Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, open_content
from attnviz.trace import MOST_TOKENS
from attnviz.trace.link_text import Links

_BEGIN = re.compile(r"\s*var (alignments|sources|targets) = \[")
_CELL = re.compile(rf"\[([0-9]{{1,6}}),\s*(?:np\.float(?:16|32|64)\()?({NUMBER}|nan)\)?,\s*([0-9]{{1,6}})\]")
_EMPTY = re.compile(r"\s*\[\s*\][\s,]*")
"""Line of a pair without weights."""
_REST = re.compile(r"[\s,\[\];]*")


def _kind(content: Content) -> str | None:
    match = _BEGIN.match(content.text)
    return match[1] if match else None


def read(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each line, with the tokens of the neighbouring files where they exist."""
    if _kind(content) != "alignments":
        return None
    lines = [line for line in content.text.split("\n")[1:] if _CELL.search(line) or _EMPTY.fullmatch(line)]
    sides = {
        side: tokens
        for side, end in (("source", "src"), ("target", "trg"))
        if (tokens := _neighbour_tokens(content, end))
    }
    labels = {"source": gettext("source"), "target": gettext("target")}
    for side, tokens in sides.items():
        if len(tokens) != len(lines):
            raise AttnvizError(
                gettext(
                    "The numbers of sentences differ: {count} in the file of tokens ({side}), {pairs} in the "
                    "file of alignments.",
                    side=labels[side],
                    count=len(tokens),
                    pairs=len(lines),
                )
            )
    reason = gettext("The file begins with “var alignments”, as SoftAlignments files do.")
    pairs = [(line, {side: tokens[index] for side, tokens in sides.items()}) for index, line in enumerate(lines)]
    return Sentences(pairs, lambda pair: _read(*pair), reason=reason)


def _neighbour_tokens(content: Content, end: str) -> list[list[str]] | None:
    """Return the tokens of the neighbouring file that ends in `end`.js; None where it does not exist."""
    if not content.name.endswith(".ali.js"):
        return None
    path = Path(content.name.removesuffix(".ali.js") + f".{end}.js")
    return token_lines(open_content(path)) if path.is_file() else None


def token_lines(content: Content) -> list[list[str]] | None:
    """Return the tokens of each sentence in a `.src.js` or `.trg.js` file; None for other content."""
    if _kind(content) not in ("sources", "targets"):
        return None
    lines = []
    for number, line in enumerate(content.text.split("\n")[1:], 2):
        bare = line.strip().removesuffix(";").strip().removesuffix(",")
        if not bare or bare == "]":
            continue
        try:
            # Tokens escape quotation marks as &quot;, so only backslashes need escaping for JSON.
            tokens = json.loads(bare.replace("\\", "\\\\"))
        except (ValueError, RecursionError) as error:
            raise AttnvizError(
                gettext("Line {number} is not a list of tokens: “{line}”.", number=number, line=line.strip()[:60])
            ) from error
        if not isinstance(tokens, list):
            raise AttnvizError(
                gettext("Line {number} is not a list of tokens: “{line}”.", number=number, line=line.strip()[:60])
            )
        lines.append([str(token) for token in tokens])
    return lines


def _read(line: str, tokens: dict[str, list[str]]) -> SentencePair:
    cells = _CELL.findall(line)
    if not cells:
        return SentencePair(tokens, Links(frozenset()))
    if not _REST.fullmatch(_CELL.sub("", line)):
        raise AttnvizError(gettext("A line of the file is not a list of weights."))
    columns, rows = (max(int(cell[place]) for cell in cells) + 1 for place in (0, 2))
    if max(columns, rows) > MOST_TOKENS + 1 or columns * rows != len(cells):
        raise AttnvizError(gettext("Each target token of a sentence must have one weight for every source token."))
    matrix = np.full((rows, columns), np.nan)
    for j, weight, i in cells:
        matrix[int(i), int(j)] = float(weight)
    return SentencePair({**tokens, "matrix": matrix, "origin": "SoftAlignments"})


FORMAT = Format("softalignments", "SoftAlignments", read)
