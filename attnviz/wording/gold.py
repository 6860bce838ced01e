"""Texts about gold links (word links marked by hand) and how a model's alignment differs from them."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.analysis.alignment_error import ErrorRate, Link
from attnviz.analysis.gold import GoldLinks, LinkErrors
from attnviz.analysis.grid import Face
from attnviz.languages import gettext, ngettext
from attnviz.trace import Words
from attnviz.wording.attention_forms import face_names
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent


def marker_names() -> dict[str, str]:
    """Return the meaning of each marker on the heatmap."""
    return {
        "sure": gettext("sure link"),
        "possible": gettext("possible link"),
        "false": gettext("false link"),
    }


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
    sentences = (
        _file_rate_sentence(errors) if of_file else _rate_sentence(face, errors)
        for face, errors in errors_by_face.items()
    )
    return " ".join((gold_counts, *sentences))


def _file_rate_sentence(errors: LinkErrors) -> str:
    if errors.rate is None:
        return gettext("The file does not link any words.")
    sentence = ngettext(
        "The alignment error rate of the file is {aer}. Of the file’s {count} link, {precision} is among the sure or "
        "possible links. The file contains {recall} of the sure links.",
        "The alignment error rate of the file is {aer}. Of the file’s {count} links, {precision} are among the sure "
        "or possible links. The file contains {recall} of the sure links.",
        len(errors.found),
        aer=decimal(errors.rate.aer),
        precision=percent(errors.rate.precision),
        recall=percent(errors.rate.recall),
    )
    return f"{sentence} {_mutual_sentence(errors.mutual)}".strip()


def _rate_sentence(face: Face, errors: LinkErrors) -> str:
    name = face_names()[face]
    if errors.rate is None:
        return gettext("{face}: the model does not link any words.", face=name)
    sentence = ngettext(
        "{face}: alignment error rate {aer}. Of the model’s {count} link, {precision} is among the sure or "
        "possible links. The model finds {recall} of the sure links.",
        "{face}: alignment error rate {aer}. Of the model’s {count} links, {precision} are among the sure or "
        "possible links. The model finds {recall} of the sure links.",
        len(errors.found),
        face=name,
        aer=decimal(errors.rate.aer),
        precision=percent(errors.rate.precision),
        recall=percent(errors.rate.recall),
    )
    return f"{sentence} {_mutual_sentence(errors.mutual)}".strip()


def _mutual_sentence(rate: ErrorRate | None) -> str:
    """Return the error rate of mutual links only."""
    if rate is None:
        return ""
    return gettext(
        "A mutual link has the largest weight in its row and its column. For mutual links alone, the error rate "
        "is {aer}.",
        aer=decimal(rate.aer),
    )


def missed_link_sentence(words: Words, errors: LinkErrors, link: Link, *, of_file: bool = False) -> str:
    """Return that a sure link was missed, by the model or `of_file`, and what its target word is linked to instead."""
    linked = next((source for source, target in errors.found if target == link[1]), None)
    values = _link_values(words, link)
    if linked is None:
        if of_file:
            return gettext(
                "The file lacks the link {source} → {target} ({link}): it links nothing to {target}.", **values
            )
        return gettext(
            "The model misses the link {source} → {target} ({link}): it links nothing to {target}.", **values
        )
    values["other"] = quote(shorten(words.source[linked], 30))
    if of_file:
        return gettext("The file lacks the link {source} → {target} ({link}): it links {other} to {target}.", **values)
    return gettext("The model misses the link {source} → {target} ({link}): it links {other} to {target}.", **values)


def false_link_sentence(words: Words, link: Link, *, of_file: bool = False) -> str:
    """Return that a link of the model or `of_file` is no gold link, neither sure nor possible."""
    if of_file:
        return gettext(
            "The file’s link {source} → {target} ({link}) is false: it is not marked by hand.",
            **_link_values(words, link),
        )
    return gettext(
        "The model’s link {source} → {target} ({link}) is false: it is not marked by hand.", **_link_values(words, link)
    )


def _link_values(words: Words, link: Link) -> dict[str, str]:
    """Return the words of a link and their indices, since a word may occur twice."""
    j, i = link
    return {
        "source": quote(shorten(words.source[j], 30)),
        "target": quote(shorten(words.target[i], 30)),
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
    return {
        "help": gettext(
            "Click a cell to link its two words. A second click turns the sure link into a possible link; a third "
            "click removes the link. A link is written source → target."
        ),
        "keys": gettext(
            "Arrow keys move to another cell, Enter or Space sets the link, Ctrl+Z undoes, and Escape leaves the "
            "heatmap."
        ),
        "cells": gettext("Cells for drawing links"),
        "cell": gettext("{source} → {target}: {kind}"),
        "none": gettext("no link"),
        "sure": gettext("sure link"),
        "possible": gettext("possible link"),
        "count-sure": gettext("sure: {count}"),
        "count-possible": gettext("possible: {count}"),
        "count-false": gettext("false: {count}"),
        "score": gettext("Error rate of the file {aer}, precision {precision}, recall {recall}.")
        if of_file
        else gettext("{face}: error rate {aer}, precision {precision}, recall {recall}."),
        "most": gettext("No more than {most} links can be drawn."),
        "undo": gettext("Undo"),
        "save": gettext("Save the links:")
        if count == 1
        else gettext("Save the links of pair {number}:", number=number),
        "save-all": gettext("Save the links of all {count} pairs:", count=count),
    }


def link_file_names() -> dict[str, str]:
    """Return the name of each format in which links are saved, by the extension of its files."""
    return {"pharaoh": "Pharaoh", "naacl": "NAACL", "json": "JSON", "csv": "CSV"}
