"""Our own Streamlit components: small programs for the browser, each in a folder with its Python, HTML and CSS."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.figures.browser import constants_script

_FOLDER = Path(__file__).parent


@functools.cache
def component(name: str, *, isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    `<name>.html` and `<name>.css` in its folder are taken where they are. `isolate` keeps its elements and styles apart
    from the page's.
    """
    files = {kind: _FOLDER / name / f"{name}.{kind}" for kind in ("html", "css")}
    return st.components.v2.component(
        f"attnviz_{name}",
        js=constants_script() + "\n".join(path.read_text(encoding="utf-8") for path in program_files(name)),
        **{kind: path.read_text(encoding="utf-8") if path.exists() else None for kind, path in files.items()},
        isolate_styles=isolate,
    )


def program_files(name: str) -> list[Path]:
    """Return the files that make up the program of component `name`, in their order: what all components share, and
    what is in its folder, the file of its name at the end.

    The browser is given them as one module, after the constants: Streamlit hands it a text, which has no place that an
    `import` could be relative to.
    """
    folder, own = _FOLDER / name, _FOLDER / name / f"{name}.js"
    return [_FOLDER / "view.js", _FOLDER / "shared.js", *sorted({*folder.glob("*.js")} - {own}), own]


def packed(values: NDArray[Any]) -> str:
    """Return an array of any shape as the browser reads it: little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
