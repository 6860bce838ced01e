"""Read `.ali.js` files of SoftAlignments: for each sentence, entries [source token, weight, target token].

The tokens are in the files `.src.js` and `.trg.js` in the same folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from attnviz.errors import user_error
from attnviz.importing.format import NUMBER, Format
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, open_content
from attnviz.trace.word_link_text import Links

_BEGIN = re.compile(r"\s*var (alignments|sources|targets) = \[")
_CELL = re.compile(rf"\[([0-9]{{1,6}}),\s*(?:np\.float(?:16|32|64)\()?({NUMBER}|nan)\)?,\s*([0-9]{{1,6}})\]")
_REST = re.compile(r"[\s,\[\];]*")


def _lines(content: Content, *kinds: str) -> list[str] | None:
    """Return the lines after the first in a file of one of these kinds; None for other content."""
    match = _BEGIN.match(content.text)
    return content.text.split("\n")[1:] if match and match[1] in kinds else None


def _read_alignments(content: Content, _: int | None) -> Sentences | None:
    """Return one sentence pair for each line, with the tokens of the neighbouring files where they exist."""
    if (found := _lines(content, "alignments")) is None:
        return None
    columns: dict[str, list[Any]] = {"line": [line for line in found if "[" in line]}
    for side, label, end in (("source", gettext("source"), "src"), ("target", gettext("target"), "trg")):
        path = Path(re.sub(r"\.ali\.js$", f".{end}.js", content.name))
        if path.name == Path(content.name).name or not path.is_file():
            continue
        sentences = token_lines(open_content(path)) or []
        if sentences and len(sentences) != len(columns["line"]):
            raise user_error(
                "The numbers of sentences differ: {count} in the file of tokens ({side}), {pairs} in the "
                "file of alignments.",
                side=label,
                count=len(sentences),
                pairs=len(columns["line"]),
            )
        columns |= {side: sentences} if sentences else {}
    pairs = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    reason = gettext("The file begins with “var alignments”, as SoftAlignments files do.")
    return Sentences(pairs, lambda pair: _read(**pair), reason=reason)


def token_lines(content: Content) -> list[list[str]] | None:
    """Return the tokens of each sentence in a `.src.js` or `.trg.js` file; None for other content."""
    if (found := _lines(content, "sources", "targets")) is None:
        return None
    lines = []
    for number, line in enumerate(found, 2):
        bare = line.strip().removesuffix(";").strip().removesuffix(",")
        if not bare or bare == "]":
            continue
        try:
            # Tokens escape quotation marks as &quot;, so only backslashes need escaping for JSON.
            tokens = json.loads(bare.replace("\\", "\\\\"))
        except (ValueError, RecursionError):
            tokens = None
        if not isinstance(tokens, list):
            raise user_error("Line {number} is not a list of tokens: “{line}”.", number=number, line=line.strip()[:60])
        lines.append([str(token) for token in tokens])
    return lines


def _read(line: str, **tokens: list[str]) -> SentencePair:
    if not _REST.fullmatch(_CELL.sub("", line)):
        raise user_error("A line of the file is not a list of weights.")
    cells = _CELL.findall(line)
    weights = {(int(i), int(j)): float(weight) for j, weight, i in cells}
    if not weights:
        return SentencePair(tokens, Links(frozenset()))
    rows, columns = (max(places) + 1 for places in zip(*weights, strict=True))
    if not rows * columns == len(weights) == len(cells):
        raise user_error("Each target token of a sentence must have one weight for every source token.")
    matrix = [[weights[i, j] for j in range(columns)] for i in range(rows)]
    return SentencePair({**tokens, "matrix": matrix, "origin": "SoftAlignments"})


SOFT_ALIGNMENTS = Format(
    "softalignments",
    "SoftAlignments",
    _read_alignments,
    example="an `.ali.js` file beside its `.src.js` and `.trg.js` files",
    written_by="SoftAlignments",
)
