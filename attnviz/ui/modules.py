"""Serve the app's ES modules from one folder that is named by the digest of its contents.

A changed module changes the name of the folder, so that browsers may cache its files for ever.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from attnviz.browser_modules import with_imports

_PACKAGE = Path(__file__).resolve().parents[1]
_COMPONENTS = _PACKAGE / "ui" / "components"


@functools.cache
def _files() -> dict[str, bytes]:
    """Return the contents of all modules by their path in the folder, which is their path in the package."""
    files = sorted([*_PACKAGE.glob("figures/*.js"), *_COMPONENTS.rglob("*.js")])
    return {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in files}


@functools.cache
def digest() -> str:
    """Return the digest of all modules and their paths."""
    return hashlib.sha256(repr(_files()).encode()).hexdigest()[:12]


def folder() -> str:
    """Return the name of the folder that the modules are served from."""
    return f"attnviz-modules-{digest()}"


@functools.cache
def packed_module(path: str) -> bytes | None:
    """Return the module at `path` in the folder, compressed by gzip, or None where there is none."""
    text = _files().get(path)
    return None if text is None else gzip.compress(text, mtime=0)


def module_of(component: str) -> Path:
    """Return the path of a component's module, which exports its mount function."""
    return _COMPONENTS / component / f"{component}.js"


def needed(components: Iterable[str]) -> list[str]:
    """Return the paths in the folder of all modules that `components` import."""
    modules = with_imports([_COMPONENTS / "mount.js", *map(module_of, components)])
    return [path.relative_to(_PACKAGE).as_posix() for path in modules]


def stub(component: str) -> str:
    """Return the script that Streamlit gets for `component`: it imports the component's module from the folder.

    Streamlit sends the script with every change of the component's data and runs it from a `blob:` address, from which
    relative imports fail. The folder's address is resolved once against the page, so that all components share their
    modules. While the server is busy or restarts, the import is repeated.
    """
    return f"const version = {json.dumps(folder())}, name = {json.dumps(component)};\n{_STUB}"


_STUB = """const folders = window.attnvizFolders ??= {};
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
