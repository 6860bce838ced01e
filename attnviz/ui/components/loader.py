"""Serve the app's ES modules under the digest of their contents, register its Streamlit components, and pack arrays.

All modules share a URL folder named by the digest of their contents: a changed module changes the name, so that
browsers may cache the files for ever. The server (`ui.server`) answers requests for them.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.browser_modules import with_imports

_PACKAGE = Path(__file__).resolve().parents[2]
_COMPONENTS = _PACKAGE / "ui" / "components"


@functools.cache
def _files() -> dict[str, bytes]:
    """Return the contents of all modules by their path in the package, which is also their path in the URL folder."""
    files = sorted([*_PACKAGE.glob("figures/*.js"), *_COMPONENTS.rglob("*.js")])
    return {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in files}


@functools.cache
def digest() -> str:
    """Return the digest of all modules and their paths."""
    return hashlib.sha256(repr(_files()).encode()).hexdigest()[:12]


def url_folder() -> str:
    """Return the name of the URL folder of the modules."""
    return f"attnviz-modules-{digest()}"


@functools.cache
def packed_module(path: str) -> bytes | None:
    """Return the module at `path` in the URL folder, compressed by gzip, or None where there is none."""
    content = _files().get(path)
    return None if content is None else gzip.compress(content, mtime=0)


def module_path(component: str) -> Path:
    """Return the path of a component's module, whose default export mounts the component."""
    return _COMPONENTS / component / f"{component}.js"


def needed_modules(components: Iterable[str]) -> list[str]:
    """Return the URL paths of the modules of `components` and of all that these import."""
    modules = with_imports([_COMPONENTS / "mount.js", *map(module_path, components)])
    return [path.relative_to(_PACKAGE).as_posix() for path in modules]


def loader_script(component: str) -> str:
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
    files = {kind: _COMPONENTS / name / f"{name}.{kind}" for kind in ("html", "css")}
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
