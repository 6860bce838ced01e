"""Register the app's Streamlit components, whose modules the browser imports, and pack arrays for them."""

from __future__ import annotations

import base64
import functools
import json
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.browser_modules import COMPONENTS, url_folder
from attnviz.ui.payloads import take_requests


def _loader_script(component: str) -> str:
    """Return the script that Streamlit gets for `component`: it imports the component's module from the folder.

    Streamlit sends the script with every change of the component's data and runs it from a `blob:` address, from which
    relative imports fail. The folder's address is resolved once against the page, so that all components share their
    modules. While the server is busy or restarts, the import is repeated.
    """
    return f"const version = {json.dumps(url_folder())}, name = {json.dumps(component)};\n{_LOADER_SCRIPT}"


_LOADER_SCRIPT = """const folders = window.attnvizFolders ??= {};
const folder = folders[version] ??= new URL(`./${version}/ui/components/`, document.baseURI).href;
const paths = ["mount.js", `${name}/${name}.js`];
let modules;
for (let tries = 0; !modules; tries += 1) {
  try {
    modules = await Promise.all(paths.map((path) => import(folder + path)));
  } catch (error) {
    if (tries > 9) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
export default modules[0].mountable(modules[1].default);
"""


@functools.cache
def component(name: str, *, isolate: bool = True) -> Any:
    """Return the command that mounts the component `name`, registered at the first call.

    `<name>.html` and `<name>.css` in its folder are used if they exist. `isolate` mounts it in a shadow root, apart
    from the page's elements and styles.
    """
    files = {kind: COMPONENTS / name / f"{name}.{kind}" for kind in ("html", "css")}
    command = st.components.v2.component(
        f"attnviz_{name}",
        js=_loader_script(name),
        **{kind: path.read_text(encoding="utf-8") if path.exists() else None for kind, path in files.items()},
        isolate_styles=isolate,
    )

    def mount(*, data: Any = None, **options: Any) -> Any:
        # Streamlit 1.67 looks for data frames among the values of a dict, and imports pandas and pyarrow to do so. It
        # sends a list as it is.
        return command(data=None if data is None else [data, *filter(None, [take_requests()])], **options)

    return mount


def packed(values: NDArray[Any]) -> str:
    """Return an array of any shape as little-endian float32 in base64, as the browser reads it."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
