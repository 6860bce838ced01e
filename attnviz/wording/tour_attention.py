"""The first four stops of the tour: attention of a word, annotations, query and keys, softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.heads import open_head
from attnviz.analysis.illustrative_words import Looks
from attnviz.languages import gettext
from attnviz.wording.coloured_text import coloured
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.scorers import texts_of
from attnviz.wording.stages import times, was_given
from attnviz.wording.tour_data import LEAST, LONGEST, TourData
from attnviz.wording.transformer_stages import opened_name, shown_heads


def one_word(told: TourData) -> tuple[str, ...]:
    """Return the text about the word and its row of the heatmap."""
    if not told.record.attends:
        return _written(told), gettext(
            "This translator has no attention: it cannot look back at the English words. It read them once, one after "
            "the other, and all it has of them is one list of numbers."
        )
    looked = gettext(
        "Before that it looked back at the English sentence: {parts}. Such a share is a weight, written α (alpha).",
        parts=_parts(told),
    )
    row = gettext(
        "A row of the picture is a French word, a column an English one; the brighter, the more it looked. The row of "
        "this word is framed."
    )
    return f"{_written(told)} {looked}", row, f"{_crossing(told)} {_whose(told.record)}".strip()


def _written(told: TourData) -> str:
    """Return the word and its position in the translation."""
    words, (word, step) = told.record.words(), (told.word.word, told.word.step)
    name = told.target(word)
    if len(words.target_groups[word]) > 1:
        name = gettext(
            "{word} (its first piece, {piece}: a rarer word is written in several)", word=name, piece=told.written(step)
        )
    if was_given(told.record, step):
        return gettext("It was given {word}.", word=name)
    return gettext("It has just written {word}.", word=name)


def _parts(told: TourData) -> str:
    """Return the source words with the most attention, with their shares."""
    shares = told.shares()
    order = sorted(range(len(shares)), key=lambda k: -shares[k])
    named = [k for k in order[:3] if shares[k] >= LEAST] or order[:1]
    return ", ".join(gettext("{share} at {word}", share=percent(shares[k]), word=told.source(k)) for k in named)


def _crossing(told: TourData) -> str:
    """Return the sentence about a neighbour that the word crosses; empty without one."""
    looks, word = Looks(told.record, told.record.words().alignment), told.word.word
    if not looks.crosses(word):
        return ""
    beside = word - 1 if word > 0 and looks.sources[word - 1] > looks.sources[word] else word + 1
    return gettext(
        "Its neighbour {word} looked at {source}: here the order changes.",
        word=told.target(beside),
        source=told.source(looks.sources[beside]),
    )


def _whose(record: Any) -> str:
    if not record.has_heads:
        return ""
    return gettext("A transformer looks with many heads at once; on show is this: {heads}.", heads=shown_heads(record))


def annotation(told: TourData) -> tuple[str, ...]:
    """Return what an annotation is, for the piece with the most attention."""
    record, j = told.record, _strongest(told)
    units, name = record.annotations.shape[1], told.piece(j)
    if record.has_heads:
        read = gettext(
            "Before it wrote a word, it read the sentence: in {layers} layers every piece looked at all the others. "
            "What came out at {word} are {units} numbers.",
            layers=record.config["layers"],
            word=name,
            units=units,
        )
        return read, gettext("They are its annotation: the word as it stands among its neighbours.")
    words = record.words()
    here = next(k for k, group in enumerate(words.source_groups) if j in group)
    before = coloured(quote(shorten(" ".join(words.source[: here + 1]), LONGEST)), "source")
    read = gettext(
        "Before it wrote a word, it read the sentence from both ends. At {word} it noted {units} numbers: {half} from "
        "reading up to it, {before}, and {half} from reading back to it from the end.",
        word=name,
        units=units,
        half=units // 2,
        before=before,
    )
    return read, gettext(
        "They are its annotation: the word as it stands among its neighbours. The two strips at each word "
        "show some of them, blue above 0, red below."
    )


def _strongest(told: TourData) -> int:
    """Return the piece of the source word with the largest weight."""
    alpha = told.record.alignment[told.word.step]
    return int(max(told.record.words().source_groups[told.word.source], key=lambda j: float(alpha[j])))


def keys(told: TourData) -> tuple[str, ...]:
    """Return how query and keys make energies, or scores."""
    record = told.record
    if record.has_heads:
        start = gettext(
            "Opened here is one head: {head}. What it has so far is its query; each annotation has a key.",
            head=opened_name(open_head(record)),
        )
        return start, gettext(
            "How well the two fit is one number, the score: {listed}. The larger, the better the fit.",
            listed=_fits(told),
        )
    units = record.states.shape[1]
    if told.word.step == 0:
        start = gettext(
            "Before the first word, what it has in mind are {units} numbers made from the sentence. They are "
            "the query; it holds them against every annotation, the keys.",
            units=units,
        )
    else:
        start = gettext(
            "What it has in mind before this word are {units} numbers. They are the query; it holds them "
            "against every annotation, the keys.",
            units=units,
        )
    fits = gettext(
        "How well the two fit is one number, the energy: {listed}. The larger, the better the fit.", listed=_fits(told)
    )
    return start, _made_alike(record), fits


def _made_alike(record: Any) -> str:
    """Return how a query and a key are compared."""
    return texts_of(record.config["attention"]).fit(record.annotations.shape[1], record.queries.shape[1])


def _fits(told: TourData) -> str:
    """Return the two pieces with the largest energies and the one with the smallest."""
    order = np.argsort(-told.energies, kind="stable")
    named = [int(j) for j in (order if len(order) < 4 else [*order[:2], order[-1]])]
    return ", ".join(f"{told.piece(j)}\u00a0{decimal(float(told.energies[j]), 1)}" for j in named)


def softmax(told: TourData) -> tuple[str, ...]:
    """Return how the softmax makes shares, and what the user can try."""
    e, alpha = told.energies.astype(np.float64), told.opened.alignment[told.word.step]
    order = np.argsort(-e, kind="stable")
    start = gettext(
        "Softmax makes shares of them, 100 % in all: each counts as the number {e}… raised to it.", e=decimal(np.e)
    )
    if len(order) == 1:
        return (start, gettext("There is only one, so that it gets all of the look."))
    best, second = int(order[0]), int(order[1])
    apart = float(e[best] - e[second])
    ratio = gettext(
        "{best} is {apart} above {second}, so it gets {times} its share: {share} against {less}.",
        best=told.piece(best),
        second=told.piece(second),
        apart=decimal(apart, 1),
        times=times(float(np.exp(apart))),
        share=percent(float(alpha[best])),
        less=percent(float(alpha[second])),
    )
    return f"{start} {ratio}", gettext("Pull a bar: change how well one piece fits, and see all the shares follow.")
