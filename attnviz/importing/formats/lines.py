"""The formats of attention files whose lines have fields: `LAYOUTS`, a table with a row for each, and their one reader.

A layout names the fields of a line in order, with their separators. A file may have other lines, which make its pairs
unreadable one by one; of several layouts that read most of its lines, the one whose links fit the tokens is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.format import NUMBER, Format, are_weights, is_number, matrix_of
from attnviz.importing.link_text import Ends, Link, Links, are_links, links_of, parse_links
from attnviz.importing.sentence_pair import Orientation, SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content
from attnviz.trace.attention_builder import split_tokens

BAR = "|||"
"""Separator of fields in many layouts."""
_REST = "…"
"""In a layout: any number of further fields."""
_ID = re.compile(r"[0-9]{1,9}")
_LOGGED_SCORE = re.compile(r"-?(?:[0-9]{1,40}\.[0-9]{1,40}(?:[eE][-+]?[0-9]{1,6})?|inf|nan)")
"""A score by `std::to_string`, with six decimals: an integer may be a translation."""
_SIZES = re.compile(r"[0-9]{1,6}[ \t]+[0-9]{1,6}")
_GIZA_HEADER = re.compile(r"# [Ss]entence pair \(([0-9]{1,9})\) source length ([0-9]{1,6}) target length ([0-9]{1,6})")
_LINK_LINE = re.compile(rf"([0-9]{{1,6}})[ \t]+([0-9]{{1,6}})(?:[ \t]+([SPsp]))?(?:[ \t]+({NUMBER}))?")
"""A link of the shared tasks: source word, target word, S or P, probability."""
_PHRASE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?=([0-9]{1,6})(?:-([0-9]{1,6}))?")
"""A source span and a target span of a phrase alignment."""
_SEGMENT = re.compile(r"(?<!\S)\|([0-9]{1,6})-([0-9]{1,6})(?:,wa=([0-9 -]*)(?:,[^|]*)?)?\|(?!\S)")
"""Source span after each translated phrase; with -tt also the word alignment inside the phrase."""
_LONGEST_SPAN = 200
_SAMPLE = 1000
"""Number of pairs that decide between two layouts that fit a file."""
MOST_PAIRS = 1_000_000
"""Largest difference between the numbers of two pairs of a file with one link a line."""

Fields = Mapping[str, str]


class Item(NamedTuple):
    """The line of a pair, from 1, and its fields; None where the line is in no layout."""

    line: int
    fields: Fields | None
    text: str = ""
    """The line that is in no layout."""


@dataclass(frozen=True)
class Layout:
    """A layout of lines: a row of the table of line formats."""

    name: str
    """Name of the format."""
    title: str
    """Programs that write it, for display."""
    form: str
    """Names of the fields of a line, with the separators between them."""
    example: str
    base: int | None = None
    """Index of the first token by the format; None where it is inferred from all links."""
    ends: Ends = "consistent"
    """Whether links past the last token may mean `</s>`."""
    body: str = ""
    """Names of the lines after a line of `form`, separated by line feeds; the last may stand for several lines."""
    further: tuple[str, ...] = ()
    """Forms of other lines of the same pair, which has one number in all of them."""
    rows: Orientation = "target"
    aliases: tuple[str, ...] = ()

    def fields(self, line: str, form: str = "") -> dict[str, str] | None:
        """Return the fields of a line by their names; None where the line has another layout."""
        form = form or self.form
        separator = next((one for one in (BAR, "\t", " ") if one in form), "\n")
        names = [name.strip() for name in form.split(separator)]
        parts = line.split(None, len(names) - 1) if separator == " " else line.split(separator)
        parts = [part.strip(" \t") for part in parts]
        if _REST in names:
            place = names.index(_REST)
            names, last = names[:place], names[place + 1 :]
            # Of further fields the first that can be the last of the layout is it.
            parts = parts[:place] + [part for part in parts[place:] if last and _is_valid(last[0], part)][:1]
            names += last
        if len(parts) != len(names):
            return None
        found = dict[str, str]()
        for name, part in zip(names, parts, strict=True):
            prefix, dash, bare = name.rpartition("-")
            if not part.startswith(prefix + dash) or not _is_valid(bare, part[len(prefix + dash) :]):
                return None
            found[bare] = part[len(prefix + dash) :]
        return found


def _is_valid(name: str, text: str) -> bool:
    """Return whether `text` may be the field `name`; names without a rule are any text."""
    check = _CHECKS.get(name)
    return check is None or check(text)


def _are_links(text: str) -> bool:
    return not text or are_links(text)


def _are_groups(text: str) -> bool:
    """Return whether `text` is groups of weights with commas; one number, such as a score, is none."""
    return "," in text and are_weights(text.replace(",", " ").split())


def _are_phrases(text: str) -> bool:
    return _are_links(text) or all(map(_PHRASE.fullmatch, text.split()))


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "id": lambda text: _ID.fullmatch(text) is not None,
    "key": bool,
    "score": lambda text: is_number(text) or text.lstrip("-") in ("inf", "nan"),
    "logged": lambda text: _LOGGED_SCORE.fullmatch(text) is not None,
    "links": _are_links,
    "sure": are_links,
    "possible": _are_links,
    "alignment": lambda text: _are_links(text) or _are_groups(text),
    "phrases": _are_phrases,
    "positions": lambda text: _is_valid("alignment", text) or all(map(_ID.fullmatch, text.split())),
    "segments": lambda text: text.endswith("|") and _SEGMENT.search(text) is not None,
    "link": lambda text: _LINK_LINE.fullmatch(text) is not None,
    "sizes": lambda text: _SIZES.fullmatch(text) is not None,
    "columns": str.isdecimal,
    "rows": str.isdecimal,
    "header": lambda text: _GIZA_HEADER.match(text) is not None,
    "weights": lambda text: are_weights(text.split()),
}
_LINKED = ("links", "possible", "alignment", "positions", "phrases", "segments", "link", "weights", "giza")
"""Fields with links or weights."""

_FAST_ALIGN, _MARIAN, _MOSES = "fast_align, cdec", "Marian, OpenNMT-py, eole", "Moses"
LAYOUTS = (
    Layout("fairseq", "fairseq", "A-id\tpositions", "A-0⇥0-0 1-2", 0, further=("S-id\tsource", "H-id\tscore\ttarget")),
    Layout(
        "giza", "GIZA++", "header", "# Sentence pair (1) …", 1, "never", "target\ngiza", aliases=("giza++", "mgiza")
    ),
    Layout(
        "nematus",
        "Nematus, amun",
        "key ||| target ||| score ||| source ||| sizes",
        "0 ||| une voiture ||| 0.2 ||| a car ||| 3 3",
        body="weights",
    ),
    Layout(
        "sockeye",
        "Sockeye",
        "key ||| target ||| score ||| source ||| columns ||| rows",
        "0 ||| une voiture ||| -0.2 ||| a car ||| 3 ||| 3",
        body="weights",
        rows="either",
    ),
    Layout("moses", _MOSES, "segments", "une |0-0| voiture |1-1|", 0, "never"),
    Layout(
        "moses",
        _MOSES,
        "id ||| segments ||| features ||| score ||| …",
        "0 ||| une |0-0| ||| LM= -1 ||| -3",
        0,
        "never",
    ),
    Layout(
        "moses",
        _MOSES,
        "id ||| target ||| features ||| score ||| … ||| phrases",
        "0 ||| une ||| LM= -1 ||| -3 ||| 0=0",
        0,
        "never",
    ),
    Layout("fast_align", _FAST_ALIGN, "source ||| target ||| links", "a car ||| une voiture ||| 0-0 1-1"),
    Layout(
        "fast_align",
        _FAST_ALIGN,
        "source ||| target ||| links ||| score",
        "a car ||| une voiture ||| 0-0 1-1 ||| -12.3",
        aliases=("cdec",),
    ),
    Layout("marian", "marian-scorer", "logged ||| alignment", "-1.234567 ||| 0-0 1-1", 0, aliases=("marian-scorer",)),
    Layout("marian", _MARIAN, "target ||| alignment ||| …", "une voiture ||| 0-0 1-1", 0, aliases=("amun",)),
    Layout("marian", _MARIAN, "id ||| target ||| alignment ||| …", "0 ||| une voiture ||| 0-0 1-1 ||| F0= -1", 0),
    Layout("naacl", "NAACL, WPT", "id link", "1 2 3 S", aliases=("wpt",)),
    Layout("pharaoh", "Pharaoh", "sure\tpossible", "0-0 2-1⇥1-2"),
    Layout("pharaoh", "Pharaoh", "links", "0-0 1?2 2-1"),
    Layout("pharaoh", "Pharaoh", "source\ttarget\tlinks", "a car⇥une voiture⇥0-0 1-1"),
    Layout("sockeye", "Sockeye", "target\tlinks", "une voiture⇥0-0 1-1", 0),
    Layout("simalign", "SimAlign", "id\tlinks", "0⇥0-0 1-1"),
)
"""The line formats; of two layouts that fit a file equally well, the first is meant."""


def read_lines(content: Content, _: int | None = None, *, name: str | None = None) -> Sentences | None:
    """Return the pairs of a file in the layout that fits it best; None where none fits.

    The layout is one of the format `name`, where given.
    """
    fitting = [
        (layout, items)
        for layout in LAYOUTS
        if name in (None, layout.name) and (items := _items(layout, content)) and _has_attention(items)
    ]
    if not fitting:
        return None
    layout, items = min(fitting, key=lambda one: (_bad(one[1]), _misfits(*one) if len(fitting) > 1 else 0))
    return _sentences(layout, items)


def _items(layout: Layout, content: Content) -> list[Item] | None:
    """Return the pairs of a file in a layout; None where more than a tenth, and more than one, of its lines are not."""
    if layout.name == "naacl":
        return _link_lines(layout, content)
    if layout.further:
        return _keyed_lines(layout, content)
    if layout.body:
        return _blocks(layout, content)
    most = max(len(content.filled) // 10, int(len(content.filled) > 2))
    items, bad = list[Item](), 0
    # Blank lines are pairs, unless pairs have numbers.
    for number, line in content.filled if "id" in layout.form.split() else enumerate(content.lines, 1):
        fields = layout.fields(line) if line.strip() else {}
        items.append(Item(number, fields, "" if fields is not None else line))
        bad += fields is None
        if bad > most:
            return None
    return items


def _keyed_lines(layout: Layout, content: Content) -> list[Item] | None:
    """Return the pairs of a log, whose lines with the same number are those of a pair; other lines are left out."""
    pairs, others = dict[str, dict[str, str]](), 0
    numbers = dict[str, int]()
    for number, line in content.filled:
        fields = next((one for form in (layout.form, *layout.further) if (one := layout.fields(line, form))), None)
        others += fields is None
        if fields is not None:
            key = fields["id"]
            numbers[key] = number if "positions" in fields else numbers.get(key, number)
            repeated = "positions" in fields and "positions" in pairs.get(key, {})
            pairs[key] = fields | pairs.get(key, {}) | ({"repeated": "1"} if repeated else {})
    if others and not any(len(fields) > 2 for fields in pairs.values()):
        return None  # "A-0" may be the only word of a sentence with a tab and its links behind it
    complete = {key: fields for key, fields in pairs.items() if "positions" in fields or "target" in fields}
    return [Item(numbers[key], fields) for key, fields in complete.items()]


def _blocks(layout: Layout, content: Content) -> list[Item] | None:
    """Return the pairs of a file whose lines are a header and the lines of its pair, such as the rows of a matrix."""
    if not content.filled or layout.fields(content.filled[0][1]) is None:
        return None
    items, bodies = list[Item](), list[list[str]]()
    for number, line in enumerate(content.lines, 1):
        fields = layout.fields(line)
        if fields is not None or (BAR in line and BAR in layout.form):
            items.append(Item(number, fields, line))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
    names = layout.body.split("\n")
    if names == ["weights"] and not any(are_weights(line.split()) for body in bodies[:1] for line in body[:1]):
        return None
    found = list[Item]()
    for item, body in zip(items, bodies, strict=True):
        lines = [line for line in body if line.strip()] if len(names) == 1 else body
        parts = [*lines[: len(names) - 1], "\n".join(lines[len(names) - 1 :]).strip()]
        complete = item.fields is not None and len(parts) == len(names)
        found.append(
            item._replace(fields={**(item.fields or {}), **dict(zip(names, parts, strict=True))} if complete else None)
        )
    return found


def _link_lines(layout: Layout, content: Content) -> list[Item] | None:
    """Return the pairs of a file with a link a line, from the first to the last number."""
    pairs = dict[int, list[str]]()
    lines, last, marked = dict[int, int](), 0, True
    for number, line in content.filled:
        in_columns = "\t" in line and (" " in line.strip() or line.endswith("\t"))  # columns with words or links
        fields = None if in_columns else layout.fields(line.strip())
        if fields is None or int(fields["id"]) < last:
            return None
        last = int(fields["id"])
        marked &= fields["link"][-1:].isalpha() or not fields["link"][-1:].isdecimal()
        pairs.setdefault(last, []).append(fields["link"])
        lines.setdefault(last, number)
    if not pairs or (min(pairs) > 1 and not marked):
        return None
    first = min(pairs)
    if last - first >= MOST_PAIRS:
        raise AttnvizError(
            gettext(
                "The sentence pairs are numbered up to {last}, which is more than attnviz reads. Split the file.",
                last=last,
            )
        )
    return [
        Item(lines.get(pair, 0), {"id": str(pair), "link": "\n".join(pairs.get(pair, ()))})
        for pair in range(first, last + 1)
    ]


def _has_attention(items: Iterable[Item]) -> bool:
    """Return whether some pair has links or weights."""
    return any(item.fields and any(item.fields.get(name) for name in _LINKED) for item in items)


def _bad(items: Iterable[Item]) -> int:
    return sum(item.fields is None for item in items)


def _misfits(layout: Layout, items: list[Item]) -> int:
    """Return how many of the first pairs have a link, counted from 0, of a token that the layout does not give."""
    read, misfits = partial(_pair, layout, 0, {}), 0
    for item in items[:_SAMPLE]:
        try:
            pair = read(item)
        except AttnvizError:
            misfits += 1
            continue
        for side, name in enumerate(("source", "target")):
            tokens = pair.fields.get(name)
            if pair.links and tokens is not None:
                misfits += any(link[side] >= len(split_tokens(tokens)) for link in pair.links.all)
    return misfits


def _sentences(layout: Layout, items: list[Item]) -> Sentences:
    """Return the pairs in the order of their numbers, of several with the same number the first."""
    remarks, base, title = list[str](), layout.base, layout.title
    ids = [_number(item) for item in items]
    known = [one for one in ids if one is not None]
    lines = dict[int, int]()
    """0-based place of a pair, by its number, among the sentences of other files."""
    if len(known) == len(ids) - _bad(items) and known and (layout.name != "giza" or len({*known}) == len(known)):
        first = min(*known, 1) if layout.name in ("simalign", "giza", "naacl") or "key" in layout.form else 0
        by_id = {one: item for one, item in zip(reversed(ids), reversed(items), strict=True) if one is not None}
        bad = [item for item in items if item.fields is None]
        repeated = len(by_id) < len(known) or any(item.fields and "repeated" in item.fields for item in items)
        if repeated and layout.name == "simalign":
            raise AttnvizError(gettext("Two lines have the same number of a sentence pair. Give one file at a time."))
        remarks += ["best-only"] * repeated
        remarks += ["reordered"] * ([*dict.fromkeys(known)] != sorted(by_id))
        items = [*(by_id[one] for one in sorted(by_id)), *bad]
        lines = {one: one - first for one in by_id}
        if "key" in layout.form and sorted(by_id) == [*range(first, first + len(by_id))]:
            lines = {}
    if layout.name == "naacl":
        # Word 0 means NULL, unless the file counts from 0. A link 0 0 shows that it does: NULL is never linked to NULL.
        base = 0 if any(link.split()[:2] == ["0", "0"] for item in items for link in _links_lines(item)) else 1
        remarks += [] if base else ["counted-from-0"]
        if any(link.split()[2:3] and link.split()[2].isalpha() for item in items for link in _links_lines(item)):
            remarks.append("annotated")
        lines = {one: one - min(known) for one in known}
    swapped = layout.title == _MARIAN and _targets_first(items)
    soft = any(item.fields and "," in item.fields.get("alignment", "") for item in items)
    title = "amun" if swapped else "Marian" if soft and layout.title == _MARIAN else title
    read = partial(_pair, layout, base or 0, lines, swapped=swapped, annotated="annotated" in remarks)
    return Sentences(
        items,
        read,
        title,
        layout.ends if layout.name != "naacl" else "never",
        base,
        tuple(remark for remark in remarks if remark != "annotated"),
        first=max(min(known), 1) if layout.name == "naacl" else None,
        format=layout.name,
        reason=gettext("Its lines are like “{example}”.", example=layout.example),
    )


def _links_lines(item: Item) -> list[str]:
    return (item.fields or {}).get("link", "").split("\n")


def _number(item: Item) -> int | None:
    """Return the number of a pair, where it has one."""
    fields = item.fields or {}
    if "header" in fields and (header := _GIZA_HEADER.match(fields["header"])):
        return int(header[1])
    key = fields.get("id", fields.get("key", ""))
    return int(key) if _ID.fullmatch(key) else None


def _targets_first(items: Iterable[Item]) -> bool:
    """Return whether links have the target index first, as in amun's output.

    Amun writes one link for each target token, in order. In some line the second indices must not be a permutation of
    the target indices, because otherwise they could be target indices themselves.
    """
    unclear = True
    for fields in (item.fields or {} for item in items):
        links = [link.split("-") for link in fields.get("alignment", "").split()]
        if any(len(link) != 2 for link in links) or [link[0] for link in links] != [*map(str, range(len(links)))]:
            return False
        if len(links) != len(split_tokens(fields.get("target", ""))):
            return False
        unclear &= sorted(int(link[1]) if link[1].isdecimal() else -1 for link in links) == [*range(len(links))]
    return not unclear


def _pair(
    layout: Layout,
    base: int,
    lines: Mapping[int, int],
    item: Item,
    *,
    swapped: bool = False,
    annotated: bool = False,
) -> SentencePair:
    """Return the pair of an item; raise AttnvizError, naming the line, where it is damaged."""
    try:
        if item.fields is None:
            raise AttnvizError(
                gettext("“{line}” is not like “{example}”.", line=item.text.strip()[:60], example=layout.example)
            )
        pair = _values(layout, item.fields, base, annotated=annotated)
    except AttnvizError as error:
        raise AttnvizError(gettext("Line {number}: {error}", number=item.line, error=str(error))) from error
    number = _number(item)
    remarks = pair.remarks
    links = pair.links
    if swapped and links is not None:
        links, remarks = links.swapped(), (*remarks, "target-first")
    return SentencePair(pair.fields, links, remarks, None if number is None else lines.get(number), layout.rows)


def _values(layout: Layout, fields: Fields, base: int, *, annotated: bool) -> SentencePair:
    """Return the tokens and the links or weights of a pair."""
    tokens: dict[str, object] = {side: fields[side] for side in ("source", "target") if side in fields}
    if "header" in fields:
        return _giza(fields)
    if "segments" in fields:
        return _segments(fields["segments"])
    if "link" in fields:
        return _shared_task(_links_lines(Item(0, fields)), base, annotated=annotated)
    origin = {"origin": layout.title.partition(",")[0]}
    if "weights" in fields:
        matrix = matrix_of([row.split() for row in fields["weights"].split("\n")])
        sizes = [int(size) for size in (fields.get("sizes") or f"{fields['columns']} {fields['rows']}").split()]
        if not any(
            all(size <= found <= size + 1 for found, size in zip(matrix.shape, one, strict=True))
            for one in (sizes, sizes[::-1])
        ):
            raise AttnvizError(
                gettext(
                    "the matrix has {rows} rows and {columns} columns, but its header gives another size.",
                    rows=matrix.shape[0],
                    columns=matrix.shape[1],
                )
            )
        return SentencePair({**tokens, "matrix": matrix, **origin})
    if "sure" in fields:
        sure, possible = parse_links(fields["sure"]).all, parse_links(fields["possible"]).all
        return SentencePair(tokens, Links(sure | possible, possible - sure, annotated=True))
    text = next((fields[name] for name in ("links", "alignment", "positions", "phrases") if name in fields), None)
    if text is None and fields:
        raise AttnvizError(gettext("the sentence has no alignment: the file is cut short."))
    text = text or ""
    if "," in text and _are_groups(text):
        return SentencePair({**tokens, "matrix": matrix_of([row.split(",") for row in text.split()]), **origin})
    if "positions" in fields and text and not _are_links(text):
        return SentencePair(tokens, links_of([(int(j), i) for i, j in enumerate(text.split())]))
    if not _are_links(text):
        return SentencePair(tokens, _phrases(text), ("phrases",))
    return SentencePair(
        tokens if fields else {side: "" for side in ("source", "target") if side in layout.form}, parse_links(text)
    )


def _giza(fields: Fields) -> SentencePair:
    """Return the pair of three lines of GIZA++: header, target, and each source word with the numbers of its words."""
    parts, place, words = split_tokens(fields["giza"]), 0, list[tuple[str, list[int]]]()
    with suppress(ValueError):  # no closing bracket, or no number within
        while parts[place + 1 : place + 2] == ["({"]:
            end = parts.index("})", place + 2)
            words.append((parts[place], [int(one[:9]) for one in parts[place + 2 : end]]))
            place = end + 1
    target, source = split_tokens(fields["target"]), [word for word, _ in words[1:]]
    header = _GIZA_HEADER.match(fields["header"])
    if place < len(parts) or not words or words[0][0] != "NULL" or header is None:
        raise AttnvizError(gettext("the third line of the pair is not a list of source words with their links."))
    if sorted((int(header[2]), int(header[3]))) != sorted((len(source), len(target))):
        raise AttnvizError(
            gettext(
                "the pair has {source} source words and {target} target words, but its header gives other word counts.",
                source=len(source),
                target=len(target),
            )
        )
    links = [(j, i) for j, (_, positions) in enumerate(words[1:], 1) for i in positions]
    return SentencePair({"source": source, "target": target}, links_of(links))


def _shared_task(lines: list[str], base: int, *, annotated: bool) -> SentencePair:
    """Return the links of a pair of the shared tasks of NAACL 2003 and ACL 2005, one a line."""
    matches = [match for line in lines if (match := _LINK_LINE.fullmatch(line))]
    found = [((int(match[1]), int(match[2])), (match[3] or "S").upper() == "S", match[4]) for match in matches]
    kept = [one for one in found if not base or 0 not in one[0]]
    sure = {link for link, is_sure, _ in kept if is_sure}
    links = links_of([link for link, _, _ in kept]).all
    shares = {link: float(share) for link, _, share in kept if share}
    if len(shares) < len(links) or not all(0 <= one <= 1 for one in shares.values()) or not any(shares.values()):
        shares = {}
    remarks = ("null-links",) if len(kept) < len(found) else ()
    return SentencePair({}, Links(links, links - sure, shares, annotated), remarks)


def _phrases(text: str) -> Links:
    """Return the links of a phrase alignment: each word of a phrase to each of the other."""
    links = list[Link]()
    for match in filter(None, map(_PHRASE.fullmatch, text.split())):
        source = _span(int(match[1]), int(match[2] or match[1]))
        links += [(j, i) for i in _span(int(match[3]), int(match[4] or match[3])) for j in source]
    return links_of(links)


def _span(first: int, last: int) -> range:
    """Return the indices of a phrase; raise AttnvizError where they are no valid span."""
    if not first <= last < first + _LONGEST_SPAN:
        raise AttnvizError(gettext("{first}-{last} is not a range of words.", first=first, last=last))
    return range(first, last + 1)


def _segments(text: str) -> SentencePair:
    """Return the pair of a translation with the source span of each phrase behind it.

    Links are the aligned words inside each phrase where given; otherwise each word of a phrase is linked to each of its
    source words.
    """
    target, links, before, aligned = list[str](), list[Link](), 0, False
    for segment in _SEGMENT.finditer(text):
        phrase = split_tokens(text[before : segment.start()])
        source = _span(int(segment[1]), int(segment[2]))
        if segment[3] is None:
            links += [(j, len(target) + i) for i in range(len(phrase)) for j in source]
        else:
            aligned = True
            links += [(source[0] + j, len(target) + i) for j, i in parse_links(segment[3]).all]
        target += phrase
        before = segment.end()
    return SentencePair({"target": target}, links_of(links), () if aligned else ("phrases",))


def line_near_miss(content: Content) -> str | None:
    """Return what lines that resemble a layout lack, and how to get it; None for other lines."""
    lines = content.filled
    if not lines:
        return None
    if any(line.startswith("H-") and "\t" in line for _, line in lines):
        return gettext(
            "The file looks like a fairseq log, but it has no A- lines. Run fairseq-generate with --print-alignment "
            "soft, and without --remove-bpe."
        )
    if all(_is_model_row(line.split()) for _, line in lines):
        return gettext(
            "The file looks like a table of GIZA++’s model, which has no links. The links are in the files whose names "
            "end in .A3.final, with a capital A."
        )
    first = [part.strip() for part in lines[0][1].split(BAR)]
    if len(first) in (5, 6) and first[0] and is_number(first[2]):
        return gettext(
            "The file resembles the output of Nematus, with a header before each matrix. But no row of weights "
            "follows the first header."
        )
    for layout in LAYOUTS:
        fits = [layout.fields(line) is not None for _, line in lines]
        if not layout.body and not layout.further and 2 * sum(fits) >= len(lines) and not all(fits):
            number, line = lines[fits.index(False)]
            return gettext(
                "Most lines of the file are like “{example}”, but line {number} is “{line}”.",
                example=layout.example,
                number=number,
                line=line.strip()[:60],
            )
    for number, line in lines[:_SAMPLE]:
        if any(are_links(part) for bars in line.split(BAR) for part in bars.split("\t")):
            return gettext(
                "Line {number} has links, but its fields are not in an order that attnviz knows: “{line}”. Write the "
                "source, the target and the links, with tabs between them.",
                number=number,
                line=line.strip()[:60],
            )
    if not all(BAR in line for _, line in lines):
        return None
    if any(part.split() and "= " in part for part in first) or (len(first) == 3 and is_number(first[2])):
        return gettext(
            "The file looks like an n-best list without alignments. Run moses with "
            "-print-alignment-info-in-n-best, or marian-decoder with --n-best --alignment soft."
        )
    return gettext(
        "Each line of the file looks like two sentences with ||| between them, without links. Add the links at the "
        "end of each line: source ||| target ||| 0-0 1-2."
    )


def _is_model_row(cells: list[str]) -> bool:
    """Return whether a line is of GIZA++'s table a3 or d3: two positions, two lengths and a probability."""
    whole = len(cells) == 5 and all(map(_ID.fullmatch, cells[:4]))
    return whole and is_number(cells[4]) and float(cells[4]) <= 1 < max(map(int, cells[2:4]))


def _formats() -> tuple[Format, ...]:
    """Return the formats of the table, each once."""
    found = dict[str, Format]()
    for layout in LAYOUTS:
        aliases = tuple(alias for one in LAYOUTS if one.name == layout.name for alias in one.aliases)
        found.setdefault(
            layout.name,
            Format(layout.name, layout.title, partial(read_lines, name=layout.name), line_near_miss, aliases),
        )
    return tuple(found.values())


FORMATS = _formats()
ANY = Format("", "", read_lines, line_near_miss)
"""All formats of the table as one: the layout that fits best is found among all of them."""
