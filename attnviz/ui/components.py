"""Our own Streamlit components: small programs for the browser, kept as files among the assets."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).parent / "assets"


@functools.cache
def component(name: str, *kinds: str, programs: tuple[str, ...] = (), isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    Its program is `<name>.js` in the assets, after `shared.js` and the other `programs` it is made of, all as one
    module; `kinds` says which of "html" and "css" it has besides. `isolate` keeps its elements and styles apart from
    the page's.
    """
    files = {kind: _asset(f"{name}.{kind}") for kind in kinds}
    program = "\n".join(_asset(f"{part}.js") for part in ("shared", *programs, name))
    return st.components.v2.component(
        f"attnviz_{name}",
        js=program,
        html=files.get("html"),
        css=files.get("css"),
        isolate_styles=isolate,
    )


def _asset(file: str) -> str:
    return (ASSETS / file).read_text(encoding="utf-8")
