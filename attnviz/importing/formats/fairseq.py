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
from attnviz.importing.sentence_pair import Found, Sentences
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
    found = [_LINE.fullmatch(line) for line in content.lines]
    if not any(line and line[1] == "A" for line in found):
        return None
    return gettext("The file has A-, S- and H- lines, each with the number of its sentence and a tab.")


def read(content: Content) -> Sentences:
    """Return the pairs in the order of their ids, with the first of several hypotheses."""
    said: dict[str, dict[int, str]] = {"S": {}, "H": {}}
    found, several = dict[int, _Pair](), False
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
            said[kind].setdefault(identity, text)
        elif identity in found:
            several = True
        else:
            found[identity] = _Pair(identity, number, said["S"].get(identity), said["H"].get(identity), text)
    if missing := sorted(set(said["H"]) - set(found)):
        raise AttnvizError(gettext("Sentence {number} has no A- line: the log is cut short.", number=missing[0]))
    sources = {identity: pair._replace(source=said["S"].get(identity)) for identity, pair in found.items()}
    pairs = [sources[identity] for identity in sorted(sources)]
    remarks = ("best-only",) * several + ("reordered",) * (list(found) != sorted(found))
    return Sentences(pairs, _read, base=0, remarks=remarks)


def _read(pair: _Pair) -> Found:
    source, target = pair.source, pair.target
    text = pair.alignment
    if not text.strip() or are_links(text):
        return linked(read_links(text), source=source, target=target, line=pair.identity)
    groups = text.split()
    if all(group.isdecimal() and len(group) < 7 for group in groups):
        links = links_of([(int(j), i) for i, j in enumerate(groups)])
        return linked(links, source=source, target=target, line=pair.identity)
    if are_weights(text):
        fields = {side: given for side, given in (("source", source), ("target", target)) if given is not None}
        matrix = {"matrix": matrix_of_groups(text), "origin": "fairseq"}
        return Found(fields | matrix, line=pair.identity)
    raise AttnvizError(gettext("Line {number} has an alignment that is neither links nor weights.", number=pair.number))


def resembles(content: Content) -> str | None:
    """Return the message for a log without A- lines; None for other content."""
    if not any((found := _LINE.fullmatch(line)) and found[1] == "H" for line in content.lines):
        return None
    return gettext(
        "The file looks like a fairseq log, but it has no A- lines. Run fairseq-generate with --print-alignment "
        "soft, and without --remove-bpe."
    )


FORMAT = Format("fairseq", "fairseq", detect, read, resembles)
