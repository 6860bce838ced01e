"""Read logs of `fairseq-generate` and `fairseq-interactive` with `--print-alignment`.

A log has S-, T-, H- and A- lines in the order of the batches. A- lines are hard (`0-0 1-2`), soft (a group of weights
for each target token) or, up to version 0.9, one source index for each target token.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, are_weights, linked, matrix_of_groups
from attnviz.importing.link_text import are_links, links_of, parse_links
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content

_LINE = re.compile(r"([STHA])-([0-9]{1,9})\t(.*)")


class _Pair(NamedTuple):
    sentence_id: int
    line_number: int
    """Line number of the A- line, from 1."""
    source: str | None
    target: str | None
    alignment: str


def detect(content: Content) -> str | None:
    """Return why the content is a fairseq log: it has A- lines among S- and H- lines, or only A- lines; None otherwise.

    Without the others, "A-0" may also be the only word of a sentence with a tab and its links behind it.
    """
    matches = [_LINE.fullmatch(line) for line in content.lines if line.strip()]
    aligned = [match[3] for match in matches if match and match[1] == "A"]
    others = any(match and match[1] != "A" for match in matches)
    if not aligned or not (others or (len(aligned) == len(matches) and any(text.strip() for text in aligned))):
        return None
    return gettext(
        "Some lines begin with A-, S- or H-, followed by the number of a sentence and a tab, as in a fairseq log."
    )


def read(content: Content) -> Sentences:
    """Return the pairs in the order of their ids, with the first of several hypotheses."""
    texts_by_kind: dict[str, dict[int, str]] = {"S": {}, "H": {}}
    aligned, repeated = dict[int, _Pair](), False
    order = list[int]()
    for line_number, line in enumerate(content.lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or match[1] == "T":
            continue
        kind, sentence_id, text = match[1], int(match[2]), match[3]
        if kind != "A":
            if kind == "H":
                text = text.partition("\t")[2]
                order.append(sentence_id)
            texts_by_kind[kind].setdefault(sentence_id, text)
        elif sentence_id in aligned:
            repeated = True
        else:
            aligned[sentence_id] = _Pair(
                sentence_id, line_number, texts_by_kind["S"].get(sentence_id), texts_by_kind["H"].get(sentence_id), text
            )
    if missing_ids := sorted(set(texts_by_kind["H"]) - set(aligned)):
        raise AttnvizError(gettext("Sentence {number} has no A- line: the log is cut short.", number=missing_ids[0]))
    completed = {
        sentence_id: pair._replace(source=texts_by_kind["S"].get(sentence_id)) for sentence_id, pair in aligned.items()
    }
    pairs = [completed[sentence_id] for sentence_id in sorted(completed)]
    remarks = ("best-only",) * repeated + ("reordered",) * (list(aligned) != sorted(aligned))
    return Sentences(pairs, _read, base=0, remarks=remarks)


def _read(pair: _Pair) -> SentencePair:
    source, target = pair.source, pair.target
    text = pair.alignment
    if not text.strip() or are_links(text):
        return linked(parse_links(text), source=source, target=target, line=pair.sentence_id)
    groups = text.split()
    if all(group.isdecimal() and len(group) < 7 for group in groups):
        links = links_of([(int(j), i) for i, j in enumerate(groups)])
        return linked(links, source=source, target=target, line=pair.sentence_id)
    if are_weights(text):
        fields = {side: tokens for side, tokens in (("source", source), ("target", target)) if tokens is not None}
        matrix = {"matrix": matrix_of_groups(text), "origin": "fairseq"}
        return SentencePair(fields | matrix, line=pair.sentence_id)
    raise AttnvizError(
        gettext("Line {number} has an alignment that is neither links nor weights.", number=pair.line_number)
    )


def near_miss_message(content: Content) -> str | None:
    """Return the message for a log without A- lines; None for other content."""
    if not any((match := _LINE.fullmatch(line)) and match[1] == "H" for line in content.lines):
        return None
    return gettext(
        "The file looks like a fairseq log, but it has no A- lines. Run fairseq-generate with --print-alignment "
        "soft, and without --remove-bpe."
    )


FORMAT = Format("fairseq", "fairseq", detect, read, near_miss_message)
