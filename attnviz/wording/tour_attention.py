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
            "This translator has no attention: it cannot look back at the English words. It read them once, one "
            "after the other, and kept only one list of numbers."
        )
    looked = gettext(
        "Before this word, it looked back at the English sentence: {parts}. Each share is an attention weight, "
        "written α (alpha).",
        parts=_parts(told),
    )
    row = gettext(
        "In the heatmap, each row is a French word and each column an English word. A brighter cell means more "
        "attention. The row of this word is framed."
    )
    return f"{_written(told)} {looked}", row, f"{_crossing(told)} {_whose(told.record)}".strip()


def _written(told: TourData) -> str:
    """Return the word and its position in the translation."""
    words, (word, step) = told.record.words(), (told.word.word, told.word.step)
    name = told.target(word)
    if len(words.target_groups[word]) > 1:
        name = gettext(
            "{word} (its first piece, {piece}; the translator splits rare words into pieces)",
            word=name,
            piece=told.written(step),
        )
    if was_given(told.record, step):
        return gettext("The translator had to write {word}.", word=name)
    return gettext("The translator wrote {word}.", word=name)


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
        "For the neighbouring word {word}, it looked at {source}: the word order changes.",
        word=told.target(beside),
        source=told.source(looks.sources[beside]),
    )


def _whose(record: Any) -> str:
    if not record.has_heads:
        return ""
    return gettext(
        "A transformer looks with many heads at once. The heatmap shows this: {heads}.", heads=shown_heads(record)
    )


def annotation(told: TourData) -> tuple[str, ...]:
    """Return what an annotation is, for the piece with the most attention."""
    record, j = told.record, _strongest(told)
    units, name = record.annotations.shape[1], told.piece(j)
    if record.has_heads:
        read = gettext(
            "Before writing, the translator read the sentence: in each of {layers} layers, every piece looked at "
            "all the others. The result for {word} is a list of {units} numbers.",
            layers=record.config["layers"],
            word=name,
            units=units,
        )
        return read, gettext("These numbers are its annotation: they describe the word among its neighbours.")
    words = record.words()
    here = next(k for k, group in enumerate(words.source_groups) if j in group)
    before = coloured(quote(shorten(" ".join(words.source[: here + 1]), LONGEST)), "source")
    read = gettext(
        "Before writing, the translator read the sentence from both ends. At {word} it noted {units} numbers: "
        "{half} from reading forwards up to this word ({before}), and {half} from reading backwards from the end.",
        word=name,
        units=units,
        half=units // 2,
        before=before,
    )
    return read, gettext(
        "These numbers are its annotation: they describe the word among its neighbours. The two strips at each "
        "word show some of them, blue above 0, red below."
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
            "This stop shows one head: {head}. Its query comes from what the decoder has computed so far; each "
            "annotation has a key.",
            head=opened_name(open_head(record)),
        )
        return start, gettext(
            "The score measures how well the query fits a key: {listed}. The larger the score, the better the fit.",
            listed=_fits(told),
        )
    units = record.states.shape[1]
    if told.word.step == 0:
        start = gettext(
            "Before the first word, the decoder state is a list of {units} numbers computed from the sentence. "
            "This list is the query; the translator compares it with every annotation (the keys).",
            units=units,
        )
    else:
        start = gettext(
            "Before this word, the decoder state is a list of {units} numbers. This list is the query; the "
            "translator compares it with every annotation (the keys).",
            units=units,
        )
    fits = gettext(
        "The energy measures how well the query fits a key: {listed}. The larger the energy, the better the fit.",
        listed=_fits(told),
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
        "Softmax turns these numbers into shares of 100 %: raise e ≈ {e} to each number, then divide by the total.",
        e=decimal(np.e),
    )
    if len(order) == 1:
        return (start, gettext("There is only one piece, so it gets all the attention."))
    best, second = int(order[0]), int(order[1])
    apart = float(e[best] - e[second])
    ratio = gettext(
        "{best} is {apart} above {second}, so its share is {times} as large: {share} against {less}.",
        best=told.piece(best),
        second=told.piece(second),
        apart=decimal(apart, 1),
        times=times(float(np.exp(apart))),
        share=percent(float(alpha[best])),
        less=percent(float(alpha[second])),
    )
    return f"{start} {ratio}", gettext("Pull a bar to change how well one piece fits: all the shares change with it.")
