"""Read logs of `fairseq-generate` and `fairseq-interactive` with `--print-alignment`.

A log has S-, T-, H- and A- lines in the order of the batches. A- lines are hard (`0-0 1-2`), soft (a group of weights
for each target token) or, up to version 0.9, one source index for each target token.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.file_content import Content
from attnviz.importing.format import Format, are_weights, linked, matrix_of_groups
from attnviz.importing.link_text import are_links, links_of, read_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext

_LINE = re.compile(r"([STHA])-([0-9]{1,9})\t(.*)")


class _Pair(NamedTuple):
    identity: int
    number: int
    """Line number of the A- line, from 1."""
    source: str | None
    target: str | None
    alignment: str


def detect(content: Content) -> str | None:
    """Return why the content is a fairseq log: it has A- lines; None otherwise."""
    matches = [_LINE.fullmatch(match) for match in content.lines]
    if not any(match and match[1] == "A" for match in matches):
        return None
    return gettext("Some lines begin with A-, S- or H-, the number of a sentence and a tab, as in a fairseq log.")


def read(content: Content) -> Sentences:
    """Return the pairs in the order of their ids, with the first of several hypotheses."""
    texts: dict[str, dict[int, str]] = {"S": {}, "H": {}}
    aligned, repeated = dict[int, _Pair](), False
    order = list[int]()
    for number, line in enumerate(content.lines, 1):
        parts = _LINE.fullmatch(line)
        if parts is None or parts[1] == "T":
            continue
        kind, identity, text = parts[1], int(parts[2]), parts[3]
        if kind != "A":
            if kind == "H":
                text = text.partition("\t")[2]
                order.append(identity)
            texts[kind].setdefault(identity, text)
        elif identity in aligned:
            repeated = True
        else:
            aligned[identity] = _Pair(identity, number, texts["S"].get(identity), texts["H"].get(identity), text)
    if missing := sorted(set(texts["H"]) - set(aligned)):
        raise AttnvizError(gettext("Sentence {number} has no A- line: the log is cut short.", number=missing[0]))
    completed = {identity: pair._replace(source=texts["S"].get(identity)) for identity, pair in aligned.items()}
    pairs = [completed[identity] for identity in sorted(completed)]
    remarks = ("best-only",) * repeated + ("reordered",) * (list(aligned) != sorted(aligned))
    return Sentences(pairs, _read, base=0, remarks=remarks)


def _read(pair: _Pair) -> SentencePair:
    source, target = pair.source, pair.target
    text = pair.alignment
    if not text.strip() or are_links(text):
        return linked(read_links(text), source=source, target=target, line=pair.identity)
    groups = text.split()
    if all(group.isdecimal() and len(group) < 7 for group in groups):
        links = links_of([(int(j), i) for i, j in enumerate(groups)])
        return linked(links, source=source, target=target, line=pair.identity)
    if are_weights(text):
        fields = {side: tokens for side, tokens in (("source", source), ("target", target)) if tokens is not None}
        matrix = {"matrix": matrix_of_groups(text), "origin": "fairseq"}
        return SentencePair(fields | matrix, line=pair.identity)
    raise AttnvizError(gettext("Line {number} has an alignment that is neither links nor weights.", number=pair.number))


def resembles(content: Content) -> str | None:
    """Return the message for a log without A- lines; None for other content."""
    if not any((match := _LINE.fullmatch(line)) and match[1] == "H" for line in content.lines):
        return None
    return gettext(
        "The file looks like a fairseq log, but it has no A- lines. Run fairseq-generate with --print-alignment "
        "soft, and without --remove-bpe."
    )


FORMAT = Format("fairseq", "fairseq", detect, read, resembles)
