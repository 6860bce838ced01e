"""Texts about the links of two programs for the same sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.analysis.alignment_error import Link
from attnviz.analysis.pair_agreement import PairAgreement, error_between
from attnviz.languages import gettext, ngettext
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal


def agreement_sentences(pairs: Sequence[PairAgreement], names: tuple[str, str]) -> list[str]:
    """Return how many links both programs have, how many only one has, and the error rate between them."""
    shared, only_first, only_other = (
        sum(len(getattr(pair, name)) for pair in pairs) for name in ("shared", "only_first", "only_other")
    )
    sentences = [ngettext("The files share {count} link.", "The files share {count} links.", shared)]
    sentences += [
        ngettext("{count} more link is only in {name}.", "{count} more links are only in {name}.", count, name=name)
        for count, name in ((only_first, names[0]), (only_other, names[1]))
        if count
    ]
    rate = error_between(pairs)
    if rate is not None:
        sentences.append(gettext("The alignment error rate between the files is {aer}.", aer=decimal(rate, 3)))
    return sentences


def only_one_sentence(source: str, target: str, link: Link, name: str) -> str:
    """Return the sentence that a link is only in the file `name`."""
    return gettext(
        "Only {name} has {source} → {target} ({link}).",
        name=shorten(name, 40),
        source=quote(shorten(source, 30)),
        target=quote(shorten(target, 30)),
        link=f"{link[0]}-{link[1]}",
    )
