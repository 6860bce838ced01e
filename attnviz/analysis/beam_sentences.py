"""Sentences about a beam search: why the winner won, and what happened to every other hypothesis."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from attnviz.analysis.labels import NO_BREAK, decimal, quote, significant
from attnviz.languages import gettext, ngettext
from attnviz.trace import BeamTree

_LONGEST_QUOTE = 70
"""Characters of the longest quoted hypothesis."""
_SHARED_WORDS = 2
"""Number of words quoted before the first difference from another hypothesis."""


def hypothesis_text(tree: BeamTree, index: int, other: int | None = None) -> str:
    """Return a hypothesis in quotation marks.

    A long hypothesis that begins like hypothesis `other` is quoted from shortly before the first word that differs.
    """
    text = tree.text(index)
    if not text:
        return gettext("the empty translation")
    if other is not None and len(text) > _LONGEST_QUOTE:
        words, other_words = text.split(), tree.text(other).split()
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, other_words, strict=False)))
        first = max(shared - _SHARED_WORDS, 0)
        text = ("… " if first else "") + " ".join(words[first:])
    return quote(textwrap.shorten(text, _LONGEST_QUOTE, placeholder=" …"))


def score_computation(tree: BeamTree, index: int) -> str:
    """Return the score of a hypothesis with its computation, as in `−1.43 / 8 = −0.179`, on one line."""
    node, score = tree.nodes[index], decimal(tree.score(index), 3)
    power = "" if tree.length_penalty == 1 else f"^{significant(tree.length_penalty, 3)}"
    divided = f"{decimal(node.total)} / {node.step + 1}{power}" if tree.length_penalty else "log p"
    return f"{divided} = {score}".replace(" ", NO_BREAK)


def winner_sentence(tree: BeamTree) -> str:
    """Return why the winner won, and which hypothesis would win without length normalisation."""
    winner, likeliest = tree.winner, tree.likeliest
    if len(tree.finished) == 1:
        sentence = gettext(
            "One hypothesis finished: {winner}, with the score {score}.",
            winner=hypothesis_text(tree, winner),
            score=score_computation(tree, winner),
        )
        return sentence + (" " + gettext("Greedy search keeps only one hypothesis.") if tree.beam == 1 else "")
    sentence = gettext(
        "{winner} was chosen: it has the highest score of the {count} finished hypotheses, {score}. The second-highest "
        "score is {beaten}, for {second}.",
        winner=hypothesis_text(tree, winner),
        count=len(tree.finished),
        score=score_computation(tree, winner),
        second=hypothesis_text(tree, tree.finished[1], winner),
        beaten=score_computation(tree, tree.finished[1]),
    )
    if not tree.length_penalty:
        return f"{sentence} " + gettext("The scores are not divided by the length (the length penalty is 0).")
    if likeliest == winner:
        return f"{sentence} " + gettext(
            "The chosen hypothesis also has the highest log p: it would be chosen with or without division by the "
            "length."
        )
    return f"{sentence} " + gettext(
        "Without division by the length, {likeliest} would be chosen. The log p of this hypothesis is {larger}; that "
        "of the chosen hypothesis is {smaller}. Each piece adds a negative number to log p, which favours short "
        "hypotheses. Division by the length corrects this preference for short hypotheses.",
        likeliest=hypothesis_text(tree, likeliest, winner),
        larger=decimal(tree.nodes[likeliest].total),
        smaller=decimal(tree.nodes[winner].total),
    )


def position_sentence(tree: BeamTree, ids: Sequence[int]) -> str:
    """Return where in the tree a translation with these `ids`, `</s>` last, was dropped; empty for the winner."""
    index = tree.find(ids)
    if index == tree.winner:
        return ""
    if index is None:
        considered = next(
            length for length in range(len(ids), -1, -1) if not length or tree.find(ids[:length]) is not None
        )
        sentence = gettext(
            "From step {step} on, the translation shown is not in this tree: the search did not consider the piece "
            "written at that step.",
            step=considered + 1,
        )
        last = tree.find(ids[:considered])
        if last is None or tree.nodes[last].fate == "continued":
            return sentence
        return f"{sentence} " + gettext(
            "The beginning of the translation shown is a hypothesis in this tree. {fate}",
            fate=fate_sentence(tree, last),
        )
    if index in tree.finished:
        return gettext(
            "The translation shown has rank {place} among the finished hypotheses.",
            place=tree.finished.index(index) + 1,
        )
    return gettext(
        "The translation shown is in the tree, but is not a finished hypothesis. {fate}",
        fate=fate_sentence(tree, index),
    )


def search_sentence(tree: BeamTree) -> str:
    """Return how many hypotheses the search considered, and what happened to them."""
    counts: Counter[str] = Counter(node.fate for node in tree.nodes)
    sentence = gettext(
        "In {steps} the search considered {hypotheses}.",
        steps=ngettext("{count} step", "{count} steps", tree.steps),
        hypotheses=ngettext("{count} hypothesis", "{count} hypotheses", len(tree.nodes)),
    )
    dropped = [
        ngettext(
            "{count} hypothesis was dropped immediately",
            "{count} hypotheses were dropped immediately",
            counts["outside"],
        ),
        gettext("{count} dropped one step later", count=counts["overtaken"]),
        ngettext(
            "{count} hypothesis was unfinished when the search ended",
            "{count} hypotheses were unfinished when the search ended",
            counts["pruned"],
        ),
    ]
    shown = [part for part, fate in zip(dropped, ("outside", "overtaken", "pruned"), strict=True) if counts[fate]]
    return f"{sentence} {', '.join(shown)}." if shown else sentence


def fate_sentence(tree: BeamTree, index: int) -> str:
    """Return what happened to one hypothesis, and at which step, from 1."""
    node, step = tree.nodes[index], tree.nodes[index].step + 1
    if node.fate in ("pruned", "late"):
        pruned = node.fate == "pruned"
        return ngettext(
            "This hypothesis is unfinished: the search ended at step {step} because {count} other hypothesis had "
            "finished."
            if pruned
            else "This hypothesis ended at step {step}, but was not counted: the search stops at {count} finished "
            "hypothesis.",
            "This hypothesis is unfinished: the search ended at step {step} because {count} other hypotheses had "
            "finished."
            if pruned
            else "This hypothesis ended at step {step}, but was not counted: the search stops at {count} finished "
            "hypotheses.",
            tree.beam,
            step=step,
        )
    finished = index in tree.finished
    return gettext(
        {
            "continued": "The search continued this hypothesis.",
            "outside": (
                "This hypothesis was dropped at step {step}: it had rank {rank}, outside the beam of width {beam}."
            ),
            "overtaken": ("This hypothesis was dropped at step {step}: none of its continuations stayed in the beam."),
            "finished": ("This hypothesis finished at step {step}, but only with rank {place}; its score is {score}."),
            "won": "This hypothesis finished at step {step} and was chosen, with the score {score}.",
        }["won" if index == tree.winner else node.fate],
        step=step + (node.fate == "overtaken"),
        rank=node.rank + 1,
        beam=tree.beam,
        place=tree.finished.index(index) + 1 if finished else 0,
        score=score_computation(tree, index),
    )


def fate_label(tree: BeamTree, index: int) -> str:
    """Return what happened to a hypothesis in a word or two, for a table."""
    return gettext(
        "won"
        if index == tree.winner
        else (
            {
                "continued": "went on",
                "outside": "outside the beam",
                "overtaken": "overtaken",
                "pruned": "unfinished at the end",
                "late": "ended, not counted",
                "finished": "finished, beaten",
            }[tree.nodes[index].fate]
        )
    )
