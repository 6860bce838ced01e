"""French page: no English text remains, and switching the language keeps the visitor's choices."""

import json
import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from attnviz.palette import FONT
from attnviz.ui.examples import EXAMPLES
from tests.ui.shown_payloads import all_payloads, shown_trace

UNSEEN = re.compile(r"id|js_content|css_content|.*path|query_param_key|component_name|tag|type|shortcut")
"""Fields of Streamlit's protobuf messages, and of figures, that the page does not show."""
PROSE = re.compile(r"[^\W\d_]{2,}[ \u00a0][^\W\d_]{2,}")
"""At least two words: shorter texts may be the same in both languages."""
NO_LANGUAGE = {"middle left", "middle center", "middle right", FONT}
"""Values of Plotly and CSS, not prose."""


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a payload, also the texts in JSON strings, such as figures."""
    if isinstance(value, dict):
        value = [one for name, one in value.items() if not UNSEEN.fullmatch(name)]
    if isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        if value.startswith(('{"', '[{"', '[[{"')):
            yield from strings(json.loads(value))
        else:
            yield from re.split(r"<[^>]*>", re.sub(r"(?s)<style>.*?</style>", "", value))


def prose(app: AppTest) -> set[str]:
    """Return every text of two words or more on the page, but sentences to translate, their beginnings and LaTeX."""
    sentences = {sentence for several in EXAMPLES.values() for sentence in several}
    sentences |= {one.translation for one in shown_trace(app).hypotheses}

    def walk(block: Any) -> Iterator[str]:
        for node in block.children.values():
            if hasattr(node.proto, "ListFields"):
                yield from strings(MessageToDict(node.proto, preserving_proto_field_name=True))
            if hasattr(node, "children"):
                yield from walk(node)

    assert not app.exception
    found = {text.strip() for text in (*walk(app._tree), *strings(list(all_payloads(app))))}
    shown = {text for text in found - sentences if PROSE.search(text) and "\\begin" not in text}
    return {text for text in shown if not text.endswith(" …")}


def test_french_page_shares_no_prose_with_the_english_page(page) -> None:
    english, french = prose(page(lang="en")), prose(page(lang="fr"))
    assert len(english) > 100
    assert english & french == NO_LANGUAGE
