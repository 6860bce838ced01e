"""Gold links of a sentence pair, also as URL text and Pharaoh lines: errors of an alignment, and their sentences.

Gold links are parsed from text and validated. `PairLinks` adds a digest of the words, which shows whether the links are
of a given pair.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.labels import decimal, face_names, percent, quote
from attnviz.analysis.measures import ErrorRate, SureAndPossible, error_rate, links, mutual_links
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext, gettexts, ngettext
from attnviz.text import abbreviated
from attnviz.trace import Aligned, Attention, Face, Floating, Link, Words, float64
from attnviz.trace.word_link_text import parse_links

MOST_GOLD_LINKS = 600
"""Largest number of links of a pair, since they are stored in the page's URL."""


@dataclass(frozen=True)
class GoldLinks:
    """Gold links between the words of a pair, `</s>` excluded, both 0-based."""

    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()
    """Links that are only possible; sure links are not repeated here."""

    def __bool__(self) -> bool:
        """Return whether there are any links."""
        return bool(self.sure or self.possible)

    def text(self) -> str:
        """Return the links as text, `0-0 1?2`, sorted by target word."""
        signed = [*((i, j, "-") for j, i in self.sure), *((i, j, "?") for j, i in self.possible)]
        return " ".join(f"{j}{mark}{i}" for i, j, mark in sorted(signed))


AnyGoldLinks = GoldLinks | str | Collection[Link]
"""Gold links of a pair: also as text, `0-0 1?2`, and as pairs, all sure, of a source and a target word, from 0."""


@dataclass(frozen=True)
class LinkErrors:
    """The links of an alignment compared with gold links; links are sorted by target word."""

    found: tuple[Link, ...]
    """The links of a file; of weights, for each target word, the link to the source word with its largest share."""
    missed: tuple[Link, ...]
    """Sure links that were not found."""
    false: tuple[Link, ...]
    """Found links that are neither sure nor possible."""
    rate: ErrorRate | None
    """Error rate of the found links; None where there is nothing to compare."""
    mutual: ErrorRate | None
    """Error rate of the found links that are also the largest share of their source word; None for those of a file."""


def linkable_words(words: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the source and target words that links may join: all except special tokens, such as `</s>`."""
    return words.linkable.source, words.linkable.target


@dataclass(frozen=True)
class PairLinks:
    """Gold links of a sentence pair, and a digest of the words that they join.

    As text for a URL they are `digest.0-0.1-2.2p1`: pairs of source and target word, sure ones with `-` and possible
    ones with `p`. Without a digest the links are between the current words.
    """

    digest: str
    """Twelve hexadecimal digits, the first six of the source words."""
    links: GoldLinks

    @classmethod
    def of(cls, source: Sequence[str], target: Sequence[str], links: GoldLinks) -> PairLinks:
        """Return `links` between the words of `source` and `target`, without `</s>`."""
        texts = (json.dumps(list(side)) for side in (source, target))
        return cls("".join(hashlib.sha256(text.encode("utf-8")).hexdigest()[:6] for text in texts), links)

    @classmethod
    def parse(cls, text: str, words: Words) -> PairLinks:
        """Return the links in a text of `text`; raise AttnvizError where they are invalid or index missing words."""
        digest, _, remainder = text.partition(".")
        own = cls.of(*linkable_words(words), GoldLinks())
        if not re.fullmatch("[0-9a-f]{12}", digest):
            digest, remainder = own.digest, text
        links = parse_sure_and_possible(remainder.replace(".", " "))
        return cls(digest, validated(links, words) if digest == own.digest else links)

    def text(self) -> str:
        """Return the links as text for a URL."""
        return ".".join((self.digest, *self.links.text().replace("?", "p").split()))

    def joins(self, words: Words) -> bool:
        """Return whether the links are between these words."""
        return self.digest == PairLinks.of(*linkable_words(words), self.links).digest

    def joins_source(self, words: Words) -> bool:
        """Return whether the links are between these source words and any target words."""
        return self.digest[:6] == PairLinks.of(*linkable_words(words), self.links).digest[:6]


def as_gold_links(given: AnyGoldLinks) -> GoldLinks:
    """Return links in any form of `AnyGoldLinks`; raise AttnvizError, naming it, where one is malformed."""
    if isinstance(given, str):
        return parse_sure_and_possible(given) if given.strip() else GoldLinks()
    if isinstance(given, GoldLinks):
        return GoldLinks(given.sure, given.possible - given.sure)
    try:
        return GoldLinks(frozenset((int(j), int(i)) for j, i in given))
    except (TypeError, ValueError) as error:
        raise user_error(
            "A link must be a pair of numbers: source word and target word, both counted from 0."
        ) from error


def parse_gold_links(text: str, words: Words) -> GoldLinks:
    """Return the links in a text between `words`: `i-j` sure, `i?j` or `ipj` only possible.

    Raise AttnvizError, naming it, where a link is malformed or out of range, and where there are too many.
    """
    return validated(parse_sure_and_possible(text), words)


def validated(gold: GoldLinks, words: Words) -> GoldLinks:
    """Return `gold`; raise AttnvizError where links are out of range of the words, or there are too many."""
    if (count := len(gold.sure | gold.possible)) > MOST_GOLD_LINKS:
        raise user_error("There are {count} links; at most {most} can be shown.", count=count, most=MOST_GOLD_LINKS)
    source, target = map(len, linkable_words(words))
    if faulty := links_out_of_range(gold, source, target):
        raise AttnvizError(
            ngettext(
                "The link {links} is out of range: the source words are numbered from 0 to {source}, and the target "
                "words from 0 to {target}.",
                "The links {links} are out of range: the source words are numbered from 0 to {source}, and the target "
                "words from 0 to {target}.",
                len(faulty),
                links=abbreviated(faulty, " "),
                source=source - 1,
                target=target - 1,
            )
        )
    return gold


def links_out_of_range(gold: SureAndPossible, source: int, target: int) -> list[str]:
    """Return the links, as text, that name words beyond the numbers of `source` and `target` words."""
    return [
        f"{j}{'-' if (j, i) in gold.sure else '?'}{i}"
        for j, i in sorted(gold.sure | gold.possible, key=lambda link: link[::-1])
        if not (0 <= j < source and 0 <= i < target)
    ]


def recorded_gold_links(trace: Aligned) -> GoldLinks:
    """Return the gold links stored in a record, which only an `Attention` has."""
    sure, possible = (frozenset(getattr(trace, name, ())) for name in ("sure", "possible"))
    return GoldLinks(sure, possible - sure)


def link_errors(words: Words, gold: GoldLinks, shares: Floating | None = None) -> LinkErrors:
    """Return the errors of the links of `words` against `gold`, whose links must be in range.

    Words from a file of links have the links of the file. Otherwise, as in `attnviz evaluate`, each target word except
    `</s>` is linked to the source word of its largest share. `shares`, (N, M), target by source words, replace the
    alignment, for posterior attention.
    """
    found, mutual = {*words.links}, None
    if not words.links or shares is not None:
        source, target = words.places
        word_weights = float64(words.alignment if shares is None else shares)[np.ix_(target, source)]
        if not word_weights.size:
            return LinkErrors((), (), (), None, None)
        found, mutual = {*links(word_weights)}, _rate(mutual_links(word_weights), gold)
    found_links, missed, false = (
        tuple(sorted(pairs, key=lambda link: link[::-1]))
        for pairs in (found, gold.sure - found, found - gold.sure - gold.possible)
    )
    return LinkErrors(found_links, missed, false, _rate([*found], gold), mutual)


def _rate(found: list[Link], gold: GoldLinks) -> ErrorRate | None:
    return error_rate([found], [gold]) if found or gold.sure else None


def pharaoh(words: Words, threshold: float | None = None) -> str:
    """Return the links of a translation as `i-j`, source before target, both 0-based, without `</s>`.

    Each target word links to the source word with the largest share in `words.alignment` (attention, or posterior
    attention from `posterior_words`), and to none where that is a special token; with a `threshold`, to all with at
    least that share.
    """
    return " ".join(f"{j}-{i}" for j, i in _strongest_links(words, threshold))


def links_text(record: Aligned) -> str:
    """Return the links of a record between its words, as `pharaoh` does.

    Where a file had links instead of weights, return all of them, with `i?j` for possible ones.
    """
    return " ".join(f"{j}{'?' if possible else '-'}{i}" for j, i, possible in word_links(record))


def word_links(record: Aligned, threshold: float | None = None) -> list[tuple[int, int, bool]]:
    """Return the links of `links_text`: source word, target word (0-based), and whether it is only a possible link."""
    words = record.words()
    if not isinstance(record, Attention) or not words.links:
        return [(j, i, False) for j, i in _strongest_links(words, threshold)]
    possible = {*record.possible} - {*record.sure}
    return [(j, i, (j, i) in possible) for j, i in words.links]


def _strongest_links(words: Words, threshold: float | None) -> list[tuple[int, int]]:
    """Return the links of `pharaoh`, (source word, target word)."""
    # The columns of special tokens stay: a word that attends to one of them most has no counterpart.
    source, target = words.places
    return [(source.index(j), i) for j, i in links(words.alignment[target], threshold) if j in source]


def parse_sure_and_possible(text: str) -> GoldLinks:
    """Return the links of a text of gold links, which need not be between known words.

    `i-j` is sure, `i?j` or `ipj` only possible. Raise AttnvizError where a link is malformed or there is none.
    """
    found = parse_links(text)
    if not found.all:
        raise user_error(
            "There is no link. Write links as 0-0 1?2: the source word, then the target word, counted from 0."
        )
    return GoldLinks(found.all - found.possible, found.possible)


def marker_names() -> dict[str, str]:
    """Return the meaning of each marker on the heatmap."""
    return gettexts(
        {
            "sure": "sure link",
            "possible": "possible link",
            "false": "false link",
        }
    )


def link_count_texts(sure: int, possible: int) -> dict[str, str]:
    """Return the numbers of sure and possible links in words, under "sure" and "possible"."""
    return {
        "sure": ngettext("{count} sure link", "{count} sure links", sure),
        "possible": ngettext("{count} possible link", "{count} possible links", possible),
    }


def gold_summary(gold: GoldLinks, errors_by_face: Mapping[Face, LinkErrors], *, of_file: bool = False) -> str:
    """Return how the links of each displayed face, of a model or `of_file`, compare with the gold links."""
    gold_counts = gettext(
        "This pair of sentences has {sure} and {possible}, marked by hand.",
        **link_count_texts(len(gold.sure), len(gold.possible)),
    )
    return " ".join(
        (gold_counts, *(_rate_sentence(face, errors, of_file=of_file) for face, errors in errors_by_face.items()))
    )


def _rate_sentence(face: Face, errors: LinkErrors, *, of_file: bool) -> str:
    name, rate = face_names()[face], errors.rate
    if rate is None:
        return gettext(
            "The file does not link any words." if of_file else "{face}: the model does not link any words.", face=name
        )
    sentence = ngettext(
        "The alignment error rate of the file is {aer}. Of the file’s {count} link, {precision} is among the sure or "
        "possible links. The file contains {recall} of the sure links."
        if of_file
        else "{face}: alignment error rate {aer}. Of the model’s {count} link, {precision} is among the sure or "
        "possible links. The model finds {recall} of the sure links.",
        "The alignment error rate of the file is {aer}. Of the file’s {count} links, {precision} are among the sure or "
        "possible links. The file contains {recall} of the sure links."
        if of_file
        else "{face}: alignment error rate {aer}. Of the model’s {count} links, {precision} are among the sure or "
        "possible links. The model finds {recall} of the sure links.",
        len(errors.found),
        face=name,
        aer=decimal(rate.aer),
        precision=percent(rate.precision),
        recall=percent(rate.recall),
    )
    if errors.mutual is None:
        return sentence
    mutual = gettext(
        "A mutual link has the largest weight in its row and its column. For mutual links alone, the error rate is "
        "{aer}.",
        aer=decimal(errors.mutual.aer),
    )
    return f"{sentence} {mutual}"


def missed_link_sentence(words: Words, errors: LinkErrors, link: Link, *, of_file: bool = False) -> str:
    """Return that a sure link was missed, by the model or `of_file`, and what its target word is linked to instead."""
    linked = next((source for source, target in errors.found if target == link[1]), None)
    key = ("file" if of_file else "model") + (" nothing" if linked is None else "")
    return gettext(
        {
            "file nothing": "The file lacks the link {source} → {target} ({link}): it links nothing to {target}.",
            "file": "The file lacks the link {source} → {target} ({link}): it links {other} to {target}.",
            "model nothing": "The model misses the link {source} → {target} ({link}): it links nothing to {target}.",
            "model": "The model misses the link {source} → {target} ({link}): it links {other} to {target}.",
        }[key],
        other="" if linked is None else quote(words.source[linked], 30),
        **_link_values(words, link),
    )


def false_link_sentence(words: Words, link: Link, *, of_file: bool = False) -> str:
    """Return that a link of the model or `of_file` is no gold link, neither sure nor possible."""
    return gettext(
        "The file’s link {source} → {target} ({link}) is false: it is not marked by hand."
        if of_file
        else "The model’s link {source} → {target} ({link}) is false: it is not marked by hand.",
        **_link_values(words, link),
    )


def _link_values(words: Words, link: Link) -> dict[str, str]:
    """Return the words of a link and their indices, since a word may occur twice."""
    j, i = link
    return {
        "source": quote(words.source[j], 30),
        "target": quote(words.target[i], 30),
        "link": f"{j}-{i}",
    }


def links_help(*, of_file: bool = False) -> str:
    """Return how links are written, and which words they count: of a translation or `of_file`."""
    written = gettext(
        "Write links as 0-0 1?2: a source word, a sign, a target word. The sign is - for a sure link and ? for a "
        "possible link. Words are numbered from 0, as in the two lists below."
    )
    if of_file:
        return written
    words = gettext(
        "The words are those of the sentence and of the translation shown. The model wrote the translation, or you "
        "entered it under “Your own translation”."
    )
    return f"{written} {words}"


def hidden_links_message() -> str:
    """Return the message that the gold links belong to words that are not displayed."""
    return gettext(
        "The links marked by hand belong to another translation of this sentence. The page shows the links again with "
        "the translation that they belong to."
    )


def removed_links_message() -> str:
    """Return the message that gold links were dropped because the sentence changed."""
    return gettext("The links marked by hand belonged to the previous sentence and were removed.")


def drawing_texts(number: int, count: int, *, of_file: bool) -> dict[str, str]:
    """Return the texts of the mode in which links are drawn on the heatmap, for pair `number` of `count`."""
    return gettexts(
        {
            "help": (
                "Click a cell to link its two words. A second click turns the sure link into a possible link; a third "
                "click removes the link. A link is written source → target."
            ),
            "keys": (
                "Arrow keys move to another cell, Enter or Space sets the link, Ctrl+Z undoes, and Escape leaves the "
                "heatmap."
            ),
            "cells": "Cells for drawing links",
            "cell": "{source} → {target}: {kind}",
            "none": "no link",
            "sure": "sure link",
            "possible": "possible link",
            "count-sure": "sure: {count}",
            "count-possible": "possible: {count}",
            "count-false": "false: {count}",
            "score": (
                "Error rate of the file {aer}, precision {precision}, recall {recall}."
                if of_file
                else "{face}: error rate {aer}, precision {precision}, recall {recall}."
            ),
            "most": "No more than {most} links can be drawn.",
            "undo": "Undo",
        }
    ) | {
        "save": gettext("Save the links:")
        if count == 1
        else gettext("Save the links of pair {number}:", number=number),
        "save-all": gettext("Save the links of all {count} pairs:", count=count),
    }


def link_file_names() -> dict[str, str]:
    """Return the name of each format in which links are saved, by the extension of its files."""
    return {"pharaoh": "Pharaoh", "naacl": "NAACL", "json": "JSON", "csv": "CSV"}
