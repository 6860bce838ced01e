"""The formats of attention files whose lines have fields: `LAYOUTS`, a table with a row for each, and their one reader.

A layout names the fields of a line in order, with their separators. A file may have other lines, which make its pairs
unreadable one by one; of several layouts that read most of its lines, the one whose links fit the tokens is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError, user_error
from attnviz.importing.format import NUMBER, Format, are_weights, is_number, matrix_of
from attnviz.importing.sentence_pair import Orientation, SentencePair, Sentences, check_numbers
from attnviz.languages import gettext
from attnviz.reading import Content, paced
from attnviz.trace import Link
from attnviz.trace.attention_builder import split_tokens
from attnviz.trace.word_link_text import Ends, Links, are_links, infer_counting, links_of, parse_links

BAR = "|||"
"""Separator of fields in many layouts."""
_REST = "…"
"""In a layout: any number of further fields."""
_ID = re.compile(r"([0-9]{1,9})")
_LOGGED_SCORE = re.compile(r"-?(?:[0-9]{1,40}\.[0-9]{1,40}(?:[eE][-+]?[0-9]{1,6})?|inf|nan)")
"""A score by `std::to_string`, with six decimals: an integer may be a translation."""
_SIZES = re.compile(r"[0-9]{1,6}[ \t]+[0-9]{1,6}")
_GIZA_HEADER = re.compile(r"# [Ss]entence pair \(([0-9]{1,9})\) source length ([0-9]{1,6}) target length ([0-9]{1,6})")
_LINK_LINE = re.compile(rf"([0-9]{{1,6}})[ \t]+([0-9]{{1,6}})(?:[ \t]+([SPsp]))?(?:[ \t]+({NUMBER}))?")
"""A link of the shared tasks: source word, target word, S or P, probability."""
_ZEROS = re.compile(r"^0[ \t]+0\b", re.MULTILINE)
_GIZA_WORD = re.compile(r"(?<!\S)(\S+)[ \t]+\(\{((?:[ \t]+[0-9]{1,9})*)[ \t]+\}\)(?!\S)")
"""A source word, and the numbers of its target words."""
_PHRASE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?=([0-9]{1,6})(?:-([0-9]{1,6}))?")
"""A source span and a target span of a phrase alignment."""
_SEGMENT = re.compile(r"(?<!\S)\|([0-9]{1,6})-([0-9]{1,6})(?:,wa=([0-9 -]*)(?:,[^|]*)?)?\|(?!\S)")
"""Source span after each translated phrase; with -tt also the word alignment inside the phrase."""
_LONGEST_SPAN = 200
_SAMPLE = 1000
"""Number of pairs that decide between two layouts that fit a file."""


class _Item(NamedTuple):
    """A pair of a file."""

    line: int
    """Number of its line, from 1."""
    text: str
    """The line."""
    fields: Mapping[str, str]
    """Its fields by their names; empty for a blank line, and a line that is not in the layout."""
    place: int | None = None
    """Line of the pair in source and target files, from 0; None where it is the pair's position in this file."""

    @property
    def is_damaged(self) -> bool:
        """Whether the line is in no layout."""
        return not self.fields and bool(self.text.strip())

    @property
    def number(self) -> int | None:
        """Number of the pair, where it has one."""
        key = self.fields.get("id") or self.fields.get("key") or self.fields.get("header", "")
        match = _ID.fullmatch(key) or _GIZA_HEADER.match(key)
        return int(match[1]) if match else None


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
    written_by: str = ""
    """The commands that write it, as Markdown."""
    base: int | None = None
    """Index of the first token by the format; None where it is inferred from all links."""
    ends: Ends = "consistent"
    """Whether links past the last token may mean `</s>`."""
    first: int | None = 0
    """Number of the first pair; None where it is 1, or 0 where a pair has that number."""
    body: tuple[str, ...] = ()
    """Names of the lines after a line of `form`; the last may stand for several lines."""
    further: tuple[str, ...] = ()
    """Forms of other lines of a log, which also has lines of no form."""
    grouped: bool = False
    """Whether a line is one link, and a pair has the lines of one number."""
    repeats: Literal["hypotheses", "refused", "kept"] = "hypotheses"
    """What pairs of one number are: hypotheses, the first of which is read; an error; or pairs in their own order."""
    rows: Orientation = "target"
    aliases: tuple[str, ...] = ()

    def fields(self, line: str) -> dict[str, str]:
        """Return the fields of a line by their names; none where the line has another layout."""
        for form in (self.form, *self.further):
            if found := _fields(form, line):
                return found
        return {}


def _fields(form: str, line: str) -> dict[str, str]:
    """Return the fields of a line by their names; none where the line has another form."""
    separator, names = _parsed(form)
    parts = line.split(None, len(names) - 1) if separator == " " else line.split(separator)
    if _REST in names:
        place = names.index(_REST)
        names, last = names[:place], names[place + 1 :]
        # Of further fields the first that can be the last of the layout is it.
        parts = parts[:place] + [part for part in parts[place:] if last and _is_valid(last[0], part.strip(" \t"))][:1]
        names += last
    if len(parts) != len(names):
        return {}
    found = dict[str, str]()
    for name, part in zip(names, parts, strict=True):
        prefix, dash, bare = name.rpartition("-")
        text = part.strip(" \t")
        if not text.startswith(prefix + dash) or not _is_valid(bare, text.removeprefix(prefix + dash)):
            return {}
        found[bare] = text.removeprefix(prefix + dash)
    return found


@cache
def _parsed(form: str) -> tuple[str, tuple[str, ...]]:
    """Return the separator of the fields of a form, and their names."""
    separator = next((one for one in (BAR, "\t", " ") if one in form), "\n")
    return separator, tuple(name.strip() for name in form.split(separator))


def _is_valid(name: str, text: str) -> bool:
    """Return whether `text` may be the field `name`; names without a rule are any text."""
    return name not in _CHECKS or bool(_CHECKS[name](text))


def _are_links(text: str) -> bool:
    return not text or are_links(text)


def _are_groups(text: str) -> bool:
    """Return whether `text` is groups of weights with commas; one number, such as a score, is none."""
    return "," in text and are_weights(text.replace(",", " ").split())


_CHECKS: Mapping[str, Callable[[str], object]] = {
    "id": _ID.fullmatch,
    "key": bool,
    "score": lambda text: is_number(text) or text.lstrip("-") in ("inf", "nan"),
    "logged": _LOGGED_SCORE.fullmatch,
    "links": _are_links,
    "sure": _are_links,
    "possible": _are_links,
    "alignment": lambda text: _are_links(text) or _are_groups(text) or all(map(_PHRASE.fullmatch, text.split())),
    "positions": lambda text: _are_links(text) or _are_groups(text) or all(map(_ID.fullmatch, text.split())),
    "segments": lambda text: text.endswith("|") and _SEGMENT.search(text),
    "link": _LINK_LINE.fullmatch,
    "sizes": _SIZES.fullmatch,
    "columns": _ID.fullmatch,
    "rows": _ID.fullmatch,
    "header": _GIZA_HEADER.match,
}
_LINKED = ("links", "possible", "alignment", "positions", "segments", "link", "weights", "giza")
"""Fields with links or weights."""

_MARIAN = "Marian, OpenNMT-py, eole"
LAYOUTS = (
    Layout(
        "fairseq",
        "fairseq",
        "A-id\tpositions",
        "A-0⇥0-0 1-2",
        "`fairseq-generate … --print-alignment soft`, without `--remove-bpe`",
        base=0,
        further=("S-id\tsource", "H-id\tscore\ttarget"),
    ),
    Layout(
        "giza",
        "GIZA++",
        "header",
        "# Sentence pair (1) source length 2 …",
        "GIZA++, MGIZA: `*.A3.final`",
        base=1,
        ends="never",
        first=None,
        body=("target", "giza"),
        repeats="kept",
        aliases=("giza++", "mgiza"),
    ),
    Layout(
        "nematus",
        "Nematus, amun",
        "key ||| target ||| score ||| source ||| sizes",
        "0 ||| une voiture ||| 0.2 ||| a car ||| 3 3",
        "`nematus/translate.py --output_alignment`, `amun --return-nematus-alignment`",
        first=None,
        body=("weights",),
    ),
    Layout(
        "sockeye",
        "Sockeye",
        "key ||| target ||| score ||| source ||| columns ||| rows",
        "0 ||| une voiture ||| -0.2 ||| a car ||| 3 ||| 3",
        "`sockeye.translate --output-type translation_with_alignments`, `translation_with_alignment_matrix`",
        first=None,
        body=("weights",),
        rows="either",
    ),
    Layout("moses", "Moses", "segments", "une |0-0| voiture |1-1|", "`moses -report-segmentation`", 0, "never"),
    Layout(
        "moses",
        "Moses",
        "id ||| segments ||| features ||| score ||| …",
        "0 ||| une |0-0| ||| LM= -1 ||| -3",
        base=0,
        ends="never",
    ),
    Layout(
        "moses",
        "Moses",
        "id ||| target ||| features ||| score ||| … ||| alignment",
        "0 ||| une ||| LM= -1 ||| -3 ||| 0=0",
        "`moses -n-best-list … -print-alignment-info-in-n-best`",
        base=0,
        ends="never",
    ),
    Layout(
        "fast_align",
        "fast_align, cdec",
        "source ||| target ||| links",
        "a car ||| une voiture ||| 0-0 1-1",
        aliases=("cdec",),
    ),
    Layout(
        "fast_align",
        "fast_align, cdec",
        "source ||| target ||| links ||| score",
        "a car ||| une voiture ||| 0-0 1-1 ||| -12.3",
        "`force_align.py`, cdec",
    ),
    Layout(
        "marian",
        "marian-scorer",
        "logged ||| alignment",
        "-1.234567 ||| 0-0 1-1",
        "`marian-scorer --alignment`",
        base=0,
        aliases=("marian-scorer", "amun"),
    ),
    Layout(
        "marian",
        _MARIAN,
        "target ||| alignment ||| …",
        "une voiture ||| 0-0 1-1",
        "`marian-decoder --alignment soft`, `amun --return-soft-alignment`, `onmt_translate -report_align`",
        base=0,
    ),
    Layout(
        "marian",
        _MARIAN,
        "id ||| target ||| alignment ||| …",
        "0 ||| une voiture ||| 0.9,0.1 0.2,0.8 ||| F0= -1",
        "the same with `--n-best`",
        base=0,
    ),
    Layout(
        "naacl",
        "NAACL, WPT",
        "id link",
        "1 2 3 S",
        "the gold links of the NAACL 2003 and ACL 2005 workshops; many aligners, with an option `-wpt`",
        ends="never",
        first=None,
        grouped=True,
        aliases=("wpt",),
    ),
    Layout("pharaoh", "Pharaoh", "sure\tpossible", "0-0 2-1⇥1-2"),
    Layout(
        "pharaoh",
        "Pharaoh",
        "links",
        "0-0 1?2 2-1",
        "fast_align, eflomal, `awesome-align`, the TALP gold links; Python’s lists of pairs",
    ),
    Layout(
        "pharaoh",
        "Pharaoh",
        "source\ttarget\tlinks",
        "a car⇥une voiture⇥0-0 1-1",
        "`attnviz align --words`",
    ),
    Layout("sockeye", "Sockeye", "target\tlinks", "une voiture⇥0-0 1-1", base=0),
    Layout(
        "simalign",
        "SimAlign",
        "id\tlinks",
        "0⇥0-0 1-1",
        "`simalign/scripts/align_files.py`",
        first=None,
        repeats="refused",
    ),
)
"""The line formats; of two layouts that fit a file equally well, the first is meant."""


def _read_lines(content: Content, _: int | None = None, *, name: str | None = None) -> Sentences | None:
    """Return the pairs of a file in the layout that fits it best; None where none fits.

    The layout is one of the format `name`, where given.
    """
    if not content.filled:
        return None
    fitting = list[tuple[Layout, list[_Item]]]()
    for layout in LAYOUTS:
        items = _items(layout, content) if name in (None, layout.name) else None
        needed = ("sure",) if "sure" in layout.form else _LINKED
        if items and any(item.fields.get(name, "").strip() for item in items for name in needed):
            fitting.append((layout, items))
    if not fitting:
        if name is None and all(_is_model_row(line.split()) for _, line in content.filled):
            raise user_error(
                "The file looks like a table of GIZA++’s model, which has no links. The links are in the files "
                "whose names end in .A3.final, with a capital A."
            )
        return None
    return _sentences(
        *min(
            fitting,
            key=lambda one: (sum(item.is_damaged for item in one[1]), _misfits(*one) if len(fitting) > 1 else 0),
        )
    )


def _items(layout: Layout, content: Content) -> list[_Item] | None:
    """Return the pairs of a file in a layout; None where more than a tenth, and more than one, of its lines are not."""
    if layout.body:
        return _blocks(layout, content)
    most = 0 if layout.grouped else max(len(content.filled) // 10, int(len(content.filled) > 2))
    found, bad = dict[int, dict[str, str]](), 0
    for number, line in paced(content.filled):
        is_other = layout.further and line[1:2] != "-"  # quicker than comparing all forms
        if not is_other and (fields := layout.fields(line)):
            found[number] = fields
        elif bad < most or layout.further:
            bad += 1
        else:
            return None
    if layout.further:
        # Alone, "A-0" may also be the only word of a sentence with a tab and its links behind it.
        if bad and not any("source" in fields or "target" in fields for fields in found.values()):
            return None
        return [_Item(number, "", fields) for number, fields in found.items()]
    # Blank lines are pairs, unless pairs have numbers.
    lines = content.filled if "id" in layout.form else enumerate(content.lines, 1)
    items = [_Item(number, line, found.get(number, {})) for number, line in lines]
    return _by_pair(items, content.limits.lines) if layout.grouped else items


def _blocks(layout: Layout, content: Content) -> list[_Item] | None:
    """Return the pairs of a file whose lines are a header and the lines of its pair, such as the rows of a matrix."""
    if not layout.fields(content.filled[0][1]):
        return None
    items, bodies = list[_Item](), list[list[str]]()
    for number, line in paced(enumerate(content.lines, 1)):
        fields = layout.fields(line)
        if fields or (BAR in line and BAR in layout.form):
            items.append(_Item(number, line, fields))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
    for place, (item, lines) in enumerate(zip(items, bodies, strict=True)):
        parts = "\n".join(lines).split("\n", len(layout.body) - 1)
        is_whole = bool(item.fields) and len(parts) == len(layout.body)
        fields = {**item.fields, **dict(zip(layout.body, parts, strict=False))}
        items[place] = item._replace(fields=fields if is_whole else {})
    return items


def _by_pair(items: list[_Item], most: int) -> list[_Item] | None:
    """Return a pair for each number from the first to the last, from the items of a file with one link a line.

    Return None where the items are rows of another table; raise AttnvizError where there are more pairs than `most`.
    """
    numbers = [int(item.fields["id"]) for item in items]
    marked = all(item.fields["link"].split()[2:3] for item in items)
    # Columns with words or links have tabs beside spaces.
    in_columns = any("\t" in item.text and (" " in item.text.strip() or item.text.endswith("\t")) for item in items)
    if not items or in_columns or numbers != sorted(numbers) or (numbers[0] > 1 and not marked):
        return None
    check_numbers(numbers[0], numbers[-1], most)
    pairs = {number: list[_Item]() for number in range(numbers[0], numbers[-1] + 1)}
    for number, item in zip(numbers, items, strict=True):
        pairs[number].append(item)
    return [
        _Item(
            group[0].line if group else 0,
            "",
            {"id": str(number), "link": "\n".join(one.fields["link"] for one in group)},
        )
        for number, group in pairs.items()
    ]


def _misfits(layout: Layout, items: list[_Item]) -> int:
    """Return how many of the first pairs are damaged, or have a link, counted from 0, to a token that is not there."""
    misfits = 0
    for item in items[:_SAMPLE]:
        try:
            counted = _pair(layout, 0, item).counted(0)
            infer_counting([counted] if counted else [], "never", 0)
        except AttnvizError:
            misfits += 1
    return misfits


def _sentences(layout: Layout, items: list[_Item]) -> Sentences:
    """Return the pairs in the order of their numbers; of several fields of a pair with one name, the first."""
    remarks, base, first = list[str](), layout.base, layout.first
    pairs, others = dict[int, list[_Item]](), list[_Item]()
    for item in items:
        number = item.number
        (others if number is None else pairs.setdefault(number, [])).append(item)
    repeated = any(len({tuple(item.fields) for item in group}) < len(group) for group in pairs.values())
    if pairs and not any(item.fields for item in others) and not (repeated and layout.repeats == "kept"):
        if repeated and layout.repeats == "refused":
            raise user_error("Two lines have the same number of a sentence pair. Give one file at a time.")
        order = sorted(pairs)
        remarks += ["best-only"] * repeated + ["reordered"] * ([*pairs] != order)
        if first is None:
            first = order[0] if layout.grouped else min(order[0], 1)
        has_places = "key" not in layout.form or order != [*range(first, first + len(order))]
        items = list[_Item]()
        for number in order:
            fields = {name: text for item in reversed(pairs[number]) for name, text in item.fields.items()}
            place = number - first if has_places else None
            items.append(pairs[number][0]._replace(fields=fields, place=place))
        items += others
    if layout.grouped:
        # Word 0 means NULL, unless the file counts from 0. A link 0 0 shows that it does: NULL is never linked to NULL.
        base = int(not any(_ZEROS.search(item.fields["link"]) for item in items))
        remarks += [] if base else ["counted-from-0"]
    swapped = layout.title == _MARIAN and _targets_first(items)
    return Sentences(
        items,
        partial(_pair, layout, base or 0, swapped=swapped),
        "amun" if swapped else layout.title,
        layout.ends,
        base,
        tuple(remarks),
        first=max(first or 0, 1) if layout.grouped else None,
        format=layout.name,
        reason=gettext("Its lines are like “{example}”.", example=layout.example),
    )


def _targets_first(items: Iterable[_Item]) -> bool:
    """Return whether links have the target index first, as in amun's output.

    Amun writes one link for each target token, in order. In some line the second indices must not be a permutation of
    the target indices, because otherwise they could be target indices themselves.
    """
    unclear = True
    for fields in (item.fields for item in items):
        links = [link.partition("-")[::2] for link in fields.get("alignment", "").split()]
        places = [str(place) for place in range(len(split_tokens(fields.get("target", ""))))]
        if [first for first, _ in links] != places:
            return False
        unclear &= sorted(second for _, second in links) == sorted(places)
    return not unclear


def _pair(layout: Layout, base: int, item: _Item, *, swapped: bool = False) -> SentencePair:
    """Return the pair of an item; raise AttnvizError, naming the line, where it is damaged."""
    if not item.fields and not item.is_damaged:
        return _blank(layout.form)
    try:
        pair = _values(layout, base, item)
    except AttnvizError as error:
        raise user_error("Line {number}: {error}", number=item.line, error=str(error)) from error
    if swapped and pair.links is not None:
        pair = replace(pair, links=pair.links.swapped(), remarks=(*pair.remarks, "target-first"))
    return SentencePair(pair.fields, pair.links, pair.remarks, item.place, layout.rows)


@cache
def _blank(form: str) -> SentencePair:
    """Return the pair of a blank line."""
    return SentencePair({side: "" for side in ("source", "target") if side in form}, Links(frozenset()))


def _values(layout: Layout, base: int, item: _Item) -> SentencePair:
    """Return the tokens and the links or weights of a pair."""
    fields = item.fields
    if item.is_damaged:
        raise user_error("“{line}” is not like “{example}”.", line=item.text.strip()[:60], example=layout.example)
    tokens: dict[str, object] = {side: fields[side] for side in ("source", "target") if side in fields}
    if "header" in fields:
        return _giza(fields)
    if "segments" in fields:
        return _segments(fields["segments"])
    if "link" in fields:
        return _shared_task(fields["link"], base)
    if "sure" in fields:
        sure, possible = parse_links(fields["sure"]).all, parse_links(fields["possible"]).all
        return SentencePair(tokens, Links(sure | possible, possible - sure, annotated=True))
    origin = {"origin": layout.title.partition(",")[0]}
    if "weights" in fields:
        return SentencePair({**tokens, "matrix": _matrix(fields), **origin})
    text = next((fields[name] for name in ("links", "alignment", "positions") if name in fields), None)
    if text is None:
        raise user_error("the sentence has no alignment: the file is cut short.")
    if _are_links(text):
        return SentencePair(tokens, parse_links(text))
    if _are_groups(text):
        return SentencePair({**tokens, "matrix": matrix_of([row.split(",") for row in text.split()]), **origin})
    if "positions" in fields:
        return SentencePair(tokens, links_of([(int(j), i) for i, j in enumerate(text.split())]))
    return SentencePair(tokens, _phrases(text), ("phrases",))


def _matrix(fields: Mapping[str, str]) -> NDArray[np.float64]:
    """Return the rows of weights after a header, which gives the size of the matrix, or one less for `</s>`."""
    matrix = matrix_of([row.split() for row in fields["weights"].split("\n") if row.strip()])
    sizes = [int(size) for size in (fields.get("sizes") or f"{fields['columns']} {fields['rows']}").split()]
    if not any(0 <= matrix.shape[0] - m <= 1 and 0 <= matrix.shape[1] - n <= 1 for m, n in (sizes, sizes[::-1])):
        raise user_error(
            "the matrix has {rows} rows and {columns} columns, but its header gives another size.",
            rows=matrix.shape[0],
            columns=matrix.shape[1],
        )
    return matrix


def _giza(fields: Mapping[str, str]) -> SentencePair:
    """Return the pair of three lines of GIZA++: header, target, and each source word with the numbers of its words."""
    words = _GIZA_WORD.findall(fields["giza"])
    target, source = split_tokens(fields["target"]), [word for word, _ in words[1:]]
    header = _GIZA_HEADER.match(fields["header"])
    if not words or words[0][0] != "NULL" or _GIZA_WORD.sub("", fields["giza"]).strip() or header is None:
        raise user_error("the third line of the pair is not a list of source words with their links.")
    if sorted((int(header[2]), int(header[3]))) != sorted((len(source), len(target))):
        raise user_error(
            "the pair has {source} source words and {target} target words, but its header gives other word counts.",
            source=len(source),
            target=len(target),
        )
    links = [(j, int(i)) for j, (_, positions) in enumerate(words[1:], 1) for i in positions.split()]
    return SentencePair({"source": source, "target": target}, links_of(links))


def _shared_task(text: str, base: int) -> SentencePair:
    """Return the links of a pair of the shared tasks of NAACL 2003 and ACL 2005, one a line."""
    matches = [*filter(None, map(_LINK_LINE.fullmatch, text.split("\n")))]
    found = {(int(match[1]), int(match[2])): match for match in matches}
    kept = {link: match for link, match in found.items() if not base or 0 not in link}
    # Sure links are possible too, so that a file may list them twice.
    sure = {(int(match[1]), int(match[2])) for match in matches if match[3] not in ("P", "p")}
    shares = {link: float(match[4]) for link, match in kept.items() if match[4]}
    if len(shares) < len(kept) or not all(0 <= one <= 1 for one in shares.values()) or not any(shares.values()):
        shares = {}
    links = links_of([*kept]).all
    remarks = ("null-links",) if len(kept) < len(found) else ()
    return SentencePair({}, Links(links, links - sure, shares, any(match[3] for match in found.values())), remarks)


def _phrases(text: str) -> Links:
    """Return the links of a phrase alignment: each word of a phrase to each of the other."""
    links = list[Link]()
    for match in filter(None, map(_PHRASE.fullmatch, text.split())):
        links += product(_span(match[1], match[2]), _span(match[3], match[4]))
    return links_of(links)


def _span(begin: str, end: str | None) -> range:
    """Return the indices of a phrase, of one word without `end`; raise AttnvizError where they are no valid span."""
    first, last = int(begin), int(end or begin)
    if not first <= last < first + _LONGEST_SPAN:
        raise user_error("{first}-{last} is not a range of words.", first=first, last=last)
    return range(first, last + 1)


def _segments(text: str) -> SentencePair:
    """Return the pair of a translation with the source span of each phrase behind it.

    Links are the aligned words inside each phrase where given; otherwise each word of a phrase is linked to each of its
    source words.
    """
    target, links, before, aligned = list[str](), list[Link](), 0, False
    for segment in _SEGMENT.finditer(text):
        phrase = split_tokens(text[before : segment.start()])
        source = _span(segment[1], segment[2])
        if segment[3] is None:
            links += product(source, range(len(target), len(target) + len(phrase)))
        else:
            aligned = True
            links += [(source[0] + j, len(target) + i) for j, i in parse_links(segment[3]).all]
        target += phrase
        before = segment.end()
    return SentencePair({"target": target}, links_of(links), () if aligned else ("phrases",))


def line_near_miss(content: Content) -> str | None:
    """Return what lines that resemble a layout lack, and how to get it; None for other lines."""
    lines = content.filled[:_SAMPLE]
    if not lines:
        return None
    if any(line.startswith("H-") and "\t" in line for _, line in lines):
        return gettext(
            "The file looks like a fairseq log, but it has no A- lines. Run fairseq-generate with --print-alignment "
            "soft, and without --remove-bpe."
        )
    if any("weights" in layout.body and layout.fields(lines[0][1]) for layout in LAYOUTS):
        return gettext(
            "The file resembles the output of Nematus, with a header before each matrix. But no row of weights "
            "follows the first header."
        )
    for layout in LAYOUTS:
        fits = [bool(layout.fields(line)) for _, line in lines]
        if not layout.body and not layout.further and 2 * sum(fits) >= len(lines) and not all(fits):
            number, line = lines[fits.index(False)]
            return gettext(
                "Most lines of the file are like “{example}”, but line {number} is “{line}”.",
                example=layout.example,
                number=number,
                line=line.strip()[:60],
            )
    for number, line in lines:
        if any(are_links(part) for bars in line.split(BAR) for part in bars.split("\t")):
            return gettext(
                "Line {number} has links, but its fields are not in an order that attnviz knows: “{line}”. Write the "
                "source, the target and the links, with tabs between them.",
                number=number,
                line=line.strip()[:60],
            )
    if not all(BAR in line for _, line in lines):
        return None
    first = [part.strip() for part in lines[0][1].split(BAR)]
    if any("= " in part for part in first) or (len(first) == 3 and is_number(first[2])):
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


ANY = Format("", "", _read_lines, line_near_miss)
"""All formats of the table as one: the layout that fits best is found among all of them."""


def _format(name: str) -> Format:
    """Return a format of the table, which may have several layouts."""
    layouts = [layout for layout in LAYOUTS if layout.name == name]
    return Format(
        name,
        layouts[0].title,
        partial(_read_lines, name=name),
        line_near_miss,
        tuple(alias for layout in layouts for alias in layout.aliases),
        "; ".join(f"`{layout.example}`" for layout in layouts),
        "; ".join(layout.written_by for layout in layouts if layout.written_by),
    )


LINE_FORMATS = tuple(map(_format, dict.fromkeys(layout.name for layout in LAYOUTS)))
