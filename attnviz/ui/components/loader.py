"""Register the app's Streamlit components, one from each folder beside this file, and pack arrays for them."""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.ui.modules import loader_script

_FOLDER = Path(__file__).parent


@functools.cache
def component(name: str, *, isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    `<name>.html` and `<name>.css` in its folder are used if they exist. `isolate` mounts it in a shadow root, apart
    from the page's elements and styles.
    """
    files = {kind: _FOLDER / name / f"{name}.{kind}" for kind in ("html", "css")}
    command = st.components.v2.component(
        f"attnviz_{name}",
        js=loader_script(name),
        **{kind: path.read_text(encoding="utf-8") if path.exists() else None for kind, path in files.items()},
        isolate_styles=isolate,
    )

    def mount(*, data: Any = None, **options: Any) -> Any:
        # Streamlit 1.67 looks for data frames among the values of a dict, and imports pandas and pyarrow to do so. It
        # sends a list as it is.
        return command(data=None if data is None else [data], **options)

    return mount


def packed(values: NDArray[Any]) -> str:
    """Return an array of any shape as little-endian float32 in base64, as the browser reads it."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
