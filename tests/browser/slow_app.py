"""The first page with a translator that waits for a file if a sentence says so: “It takes until /a/file is there.”."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz import Translator
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import translate_page
from attnviz.ui.server import MIDDLEWARE, ROUTES, lifespan


def slow(translate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that waits for the files that its texts name before it translates them."""

    def translate_later(self: Any, text: Any, **how: Any) -> Any:
        for path in re.findall(r"until (\S+) is there", str(text)):
            while not Path(path).exists():
                time.sleep(0.05)
        return translate(self, text, **how)

    return translate_later


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate_page.TRANSLATE_PAGE])
else:
    for name in ("translate", "translate_together"):
        setattr(Translator, name, slow(getattr(Translator, name)))
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
