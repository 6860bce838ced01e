"""Read CTranslate2 results with `return_attention=True`, as JSON.

Each sentence has `hypotheses`, `scores` and `attention`. The hypothesis of the highest score is the best, or, without
scores, the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.format import Format, is_number
from attnviz.importing.formats.json_object import SOURCES, named
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.reading import Content, objects


def read(content: Content, _: int | None) -> Sentences | None:
    """Return a pair for each result, with its best hypothesis; None unless all have hypotheses, and one attention."""
    results = objects(content)
    if not results or not all(isinstance(result.get("hypotheses"), list) for result in results):
        return None
    if not any(result.get("attention") for result in results):
        return None
    several = any(len(result["hypotheses"]) > 1 for result in results)
    reason = gettext("Every JSON object has hypotheses and their attention, like the results of CTranslate2.")
    return Sentences(results, _read, remarks=("best-only",) if several else (), reason=reason)


def _read(result: Mapping[str, Any]) -> SentencePair:
    hypotheses, attention = result["hypotheses"], result.get("attention")
    if not isinstance(attention, list) or not hypotheses or len(attention) != len(hypotheses):
        raise AttnvizError(gettext("A result must have one attention matrix for each of its hypotheses."))
    scores = result.get("scores")
    scored = isinstance(scores, list) and len(scores) == len(hypotheses) and all(is_number(str(s)) for s in scores)
    best = max(range(len(hypotheses)), key=lambda n: float(scores[n])) if scores and scored else 0
    target = hypotheses[best]
    if isinstance(target, list) and target and all(isinstance(token, Mapping) for token in target):
        target = [str(token.get("token", "")) for token in target]
    fields = {"target": target, "matrix": attention[best], "origin": "CTranslate2"}
    if (source := named(result, SOURCES)) is not None:
        fields["source"] = source[1]
    return SentencePair(fields)


def near_miss_message(content: Content) -> str | None:
    """Return the message for results without attention; None for other content."""
    results = objects(content)
    if not results or not any("hypotheses" in result for result in results):
        return None
    return gettext(
        "The file looks like CTranslate2 results without attention. Call translate_batch with return_attention=True."
    )


FORMAT = Format(
    "ctranslate2",
    "CTranslate2",
    read,
    near_miss_message,
    example='`[{"hypotheses": [[…]], "attention": [[[…]]]}]`',
    written_by="`translate_batch(…, return_attention=True)`, dumped as JSON",
)
