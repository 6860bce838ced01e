"""Our own Streamlit components: small programs for the browser, each in a folder with its Python, HTML and CSS."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

_FOLDER = Path(__file__).parent


@functools.cache
def component(name: str, *, programs: tuple[str, ...] = (), isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    Its program is `<name>/<name>.js`, after `view.js`, `shared.js` and the other `programs` of its folder that it is
    made of, all as one module; `<name>.html` and `<name>.css` beside it are taken where they are. `isolate` keeps its
    elements and styles apart from the page's.
    """
    folder = _FOLDER / name
    common = (_FOLDER / f"{part}.js" for part in ("view", "shared"))
    parts = [*common, *(folder / f"{part}.js" for part in (*programs, name))]
    files = {kind: folder / f"{name}.{kind}" for kind in ("html", "css")}
    return st.components.v2.component(
        f"attnviz_{name}",
        js="\n".join(path.read_text(encoding="utf-8") for path in parts),
        **{kind: path.read_text(encoding="utf-8") if path.exists() else None for kind, path in files.items()},
        isolate_styles=isolate,
    )


def packed(values: NDArray[Any]) -> str:
    """Return an array of any shape as the browser reads it: little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
