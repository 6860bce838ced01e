"""Read CTranslate2 results with `return_attention=True`, as JSON.

Each sentence has `hypotheses`, `scores` and `attention`; the first hypothesis is the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.file_content import Content
from attnviz.importing.format import Format
from attnviz.importing.formats.json_object import SOURCES, named
from attnviz.importing.formats.json_text import objects
from attnviz.importing.sentence_pair import Found, Sentences
from attnviz.languages import gettext


def detect(content: Content) -> str | None:
    """Return why the content is CTranslate2 results: every object has hypotheses and attention; None otherwise."""
    found = objects(content)
    if not found or not all(isinstance(one.get("hypotheses"), list) and one.get("attention") for one in found):
        return None
    return gettext("Every JSON object has hypotheses and their attention, like the results of CTranslate2.")


def read(content: Content) -> Sentences:
    """Return one sentence pair for each result, with its first hypothesis."""
    found = objects(content) or []
    several = any(len(one["hypotheses"]) > 1 for one in found)
    return Sentences(found, _read, remarks=("best-only",) if several else ())


def _read(result: Mapping[str, Any]) -> Found:
    hypotheses, attention = result["hypotheses"], result["attention"]
    if not isinstance(attention, list) or not hypotheses or len(attention) != len(hypotheses):
        raise AttnvizError(gettext("A result must have one attention matrix for each of its hypotheses."))
    target = hypotheses[0]
    if isinstance(target, list) and target and all(isinstance(one, Mapping) for one in target):
        target = [str(one.get("token", "")) for one in target]
    fields = {"target": target, "matrix": attention[0], "origin": "CTranslate2"}
    if (source := named(result, SOURCES)) is not None:
        fields["source"] = source[1]
    return Found(fields)


def resembles(content: Content) -> str | None:
    """Return the message for results without attention; None for other content."""
    found = objects(content)
    if not found or not any("hypotheses" in one for one in found):
        return None
    return gettext(
        "The file looks like CTranslate2 results without attention. Call translate_batch with return_attention=True."
    )


FORMAT = Format("ctranslate2", "CTranslate2", detect, read, resembles)
