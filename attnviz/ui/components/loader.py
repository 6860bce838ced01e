"""Our own Streamlit components: small programs for the browser, each in a folder with its Python, HTML and CSS.

Streamlit sends a component's program along with each change of its data. Ours are fetched from beside the page, once,
and what is sent is no more than where from.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
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
        js=starter(program_name(name)),
        **{kind: path.read_text(encoding="utf-8") if path.exists() else None for kind, path in files.items()},
        isolate_styles=isolate,
    )


def starter(address: str) -> str:
    """Return the program that Streamlit is given, for the one at `address`. It asks again where the server is busy or
    just begins again.

    Of two changes at once Streamlit ends the first, and may do so after the second: what goes on then is not to end.
    """
    return _STARTER.replace("PROGRAM", json.dumps(address))


_STARTER = """let run;
for (let tries = 0; !run; tries += 1) {
  try {
    run = (await import(new URL(PROGRAM, document.baseURI).href)).default;
  } catch (error) {
    if (tries > 9) throw error;
    await new Promise((soon) => setTimeout(soon, 1000));
  }
}
const last = new WeakMap();
export default (mounted) => {
  const end = run(mounted), place = mounted.parentElement;
  const stop = () => last.get(place) === stop && end?.();
  last.set(place, stop);
  return stop;
};
"""


@functools.cache
def program_name(name: str) -> str:
    """Return the name under which the program of component `name` is served; another program has another name."""
    return f"attnviz-{name}-{hashlib.sha256(program(name).encode()).hexdigest()[:12]}.js"


def named_program(served: str) -> str | None:
    """Return the program that is served under a name, or None where there is none: it may come from a browser."""
    folders = (path.parent.name for path in _FOLDER.glob("*/__init__.py"))
    return next((program(name) for name in folders if program_name(name) == served), None)


@functools.cache
def program(name: str) -> str:
    """Return the program of component `name`, one module."""
    return constants_script() + "\n".join(path.read_text(encoding="utf-8") for path in program_files(name))


def program_files(name: str) -> list[Path]:
    """Return the files that make up the program of component `name`, in their order: what all components share, and
    what is in its folder, the file of its name at the end.

    The browser is given them as one module, after the constants: a dozen fetches instead of forty.
    """
    folder, own = _FOLDER / name, _FOLDER / name / f"{name}.js"
    shared = [_FOLDER / f"{shared}.js" for shared in ("view", "shared", "keyboard", "larger", "records")]
    return [*shared, *sorted({*folder.glob("*.js")} - {own}), own]


def packed(values: NDArray[Any]) -> str:
    """Return an array of any shape as the browser reads it: little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
