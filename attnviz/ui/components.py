"""Our own Streamlit components: small programs for the browser, kept as files among the assets."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).parent / "assets"


@functools.cache
def component(name: str, *kinds: str, isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    Its program is `<name>.js` in the assets, after `shared.js`; `kinds` says which of "html" and "css" it has besides.
    `isolate` keeps its elements and styles apart from the page's.
    """
    files = {kind: (ASSETS / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("js", *kinds)}
    shared = (ASSETS / "shared.js").read_text(encoding="utf-8")
    return st.components.v2.component(
        f"attnviz_{name}",
        js=f"{shared}\n{files['js']}",
        html=files.get("html"),
        css=files.get("css"),
        isolate_styles=isolate,
    )
