"""Texts about attention from a file of another program: its steps, its origin, remarks on the file, missing values."""

from __future__ import annotations

from attnviz.analysis.gold import link_count_texts
from attnviz.analysis.labels import quoted_name, shorten
from attnviz.analysis.stages import Stage, context_shares, largest_weight_text
from attnviz.analysis.transformer_steps import heads_name
from attnviz.languages import gettext, gettexts
from attnviz.trace import Attention
from attnviz.trace.attention_record import OF_HEADS


def _attention(trace: Attention, step: int) -> tuple[str, str]:
    if not trace.alignment[step].any():
        return gettext("This token has no links: its row is empty."), gettext("linked to nothing")
    sentence = gettext("This token’s attention in the file: {parts}", parts=context_shares(trace, step)[0])
    return sentence, largest_weight_text(trace, step)


ATTENTION_STAGE = Stage(2, lambda: gettext("Where it looked"), _attention, _attention)
"""The only stage of a step."""


def attention_step_sentence(trace: Attention, step: int, *, simple: bool = False) -> str:  # noqa: ARG001
    """Return the token of 0-based `step`."""
    name = quoted_name(trace.target_pieces[step])
    return gettext(
        "Token {i} of the text is {name}." if trace.is_self_attention else "Token {i} of the target is {name}.",
        i=step + 1,
        name=name,
    )


def attention_heads_text(trace: Attention) -> str:
    """Return the heads that are shown; empty where there is only one matrix."""
    return heads_name(trace.heads) if trace.head_weights.size else ""


def made_by(trace: Attention) -> str:
    """Return the origin of the numbers, in a few words."""
    key = ("self" if trace.is_self_attention else "cross") + (" of" if trace.origin else "")
    return gettext(
        {
            "self of": "self-attention of {origin}",
            "self": "self-attention of another program",
            "cross of": "attention of {origin}",
            "cross": "attention of another program",
        }[key],
        origin=shorten(trace.origin, 40),
    )


def self_attention_sentences(trace: Attention) -> str:
    """Return that rows and columns are the same text, and whether the attention is causal."""
    sentence = gettext("This is self-attention: rows and columns are the words of the same text.")
    if trace.kind != "decoder":
        return sentence
    return f"{sentence} {gettext('A word attends only to itself and to the words before it.')}"


def side_names(trace: Attention) -> tuple[str, str]:
    """Return the names of the attended and the attending side."""
    if trace.is_self_attention:
        return gettext("Keys"), gettext("Queries")
    return gettext("Source"), gettext("Target")


def remark_sentences(trace: Attention) -> list[str]:
    """Return sentences about what the reader assumed or changed."""
    texts = _remark_texts()
    sentences = [
        texts[remark]
        for remark in trace.remarks
        if remark in texts and not (trace.head_weights.size and remark in OF_HEADS)
    ]
    if "special-tokens" in trace.remarks:
        sides = ((trace.source_pieces, trace.source_word_of), (trace.target_pieces, trace.target_word_of))
        names = [piece for pieces, words in sides for piece, word in zip(pieces, words, strict=True) if word < 0]
        sentences.append(
            gettext(
                "By their spelling, these tokens are special. They count as no words: {names}.",
                names=shorten(", ".join(dict.fromkeys(names)), 80),
            )
        )
    if trace.head_weights.size:
        layers, heads = trace.head_weights.shape[:2]
        sentences.append(gettext("Layers: {layers}; heads of each layer: {heads}.", layers=layers, heads=heads))
    if trace.sure or trace.possible:
        sentences.append(gold_links_sentence(len(trace.sure), len(trace.possible)))
    return sentences


def gold_links_sentence(sure: int, possible: int) -> str:
    """Return the numbers of gold links of a file."""
    return gettext("The file has links marked by hand: {sure}, {possible}.", **link_count_texts(sure, possible))


def missing_values_reason() -> str:
    """Return what is missing, and why."""
    return gettext(
        "The file contains attention only, not what the network computes before and after the attention. So there is "
        "no context vector, no probability, no logit attribution and no verification. You cannot change a weight or a "
        "word by hand."
    )


def missing_energies_reason() -> str:
    """Return why there is no figure of energies."""
    return gettext("The file has attention weights, but no energies.")


def _remark_texts() -> dict[str, str]:
    """Return the sentences by key in `trace.attention_record.REMARKS`."""
    return gettexts(
        {
            "source-end": (
                "The matrix has one column more than there are source tokens; the extra column is read as </s>."
            ),
            "target-end": ("The matrix has one row more than there are target tokens; the extra row is read as </s>."),
            "scaled": "Every row was scaled to add up to 1.",
            "empty-rows": "Some rows are empty: their tokens have no links.",
            "links": "The file has links, not weights: all links of a token get the same weight.",
            "cut-names": ("The file cuts long tokens: it keeps 7 letters of a source token and 10 of a target token."),
            "padding": "Padding rows or columns were removed.",
            "energies-differ": "The softmax of the file’s energies does not give the weights in the matrix.",
            "one-head": "The file’s attention is that of one head.",
            "mean-of-heads": "The weights are the mean of several heads or layers.",
            "transposed": "The file has a row for each source token, so the matrix was transposed.",
            "pair-arrays-ignored": (
                "The file has several sentence pairs. Energies, states and attributions are read only from a file of "
                "one pair."
            ),
            "one-of-several": (
                "The file has several fields of weights or links, and attnviz reads only one of them. Remove the "
                "fields that you do not mean."
            ),
            "linked-source-end": "A link that points past the last source token is read as a link to </s>.",
            "linked-target-end": "A link that points past the last target token is read as a link to </s>.",
            "counted-from-0": "In this file, token numbers start at 0, although the file format starts at 1.",
            "counted-from-1": (
                "The first token is read as number 1. No link names token 0; if the first token were number 0, some "
                "links would go past the last token."
            ),
            "counted-from-0-assumed": (
                "The first token is read as number 0, although no link names token 0. The links would also be valid if "
                "token numbers started at 1."
            ),
            "counted-by-format": "In this format, token numbers start at 1.",
            "probabilities": (
                "The links have probabilities: the weights in the row of a token are proportional to the probabilities "
                "of its links."
            ),
            "phrases": (
                "The file links phrases: each target word of a phrase pair is linked to each source word of the pair."
            ),
            "null-links": "Links to word 0, which stands for “no word”, were left out.",
            "target-first": "In this file, each link names the target token first.",
            "best-only": "The file has several translations of a sentence; only the first one is read.",
            "reordered": (
                "The sentences in the file are not sorted by number; they are shown in the order of their numbers."
            ),
            "margins-dropped": "attnviz left out the file’s column of entropies and its row of sums.",
            "index-dropped": (
                "The file numbers its rows or columns 0, 1, …; attnviz left out these numbers, which are not tokens."
            ),
            "unescaped": "The escape sequences of Moses’ tokenizer were decoded.",
        }
    )
