"""The first page with a translator that waits for a file if a sentence says so: “It takes until /a/file is there.”."""

import re
import time
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.translator import Translator
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import translate_page
from attnviz.ui.server import MIDDLEWARE, ROUTES

_translate = Translator.translate


def slow_translate(self: Any, text: str, **how: Any) -> Any:
    """Wait for the file that the text names, then translate it."""
    if said := re.search(r"until (\S+) is there", text):
        while not Path(said[1]).exists():
            time.sleep(0.05)
    return _translate(self, text, **how)


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate_page.TRANSLATE_PAGE])
else:
    Translator.translate = slow_translate  # type: ignore[method-assign]
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
