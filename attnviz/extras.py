"""Import what the core does without on first use, and name the extra of pyproject.toml that installs it."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from attnviz.errors import user_error

EXTRAS = {
    "anywidget": "notebook",
    "ray": "ray",
    "sacrebleu": "app",
    "sentencepiece": "app",
    "streamlit": "app",
    "torch": "app",
    "transformers": "huggingface",
}
"""For each library, the extra that a newcomer installs to get it."""

IMPORTING = threading.RLock()
"""Held by functions that import a module of this package at its use, where other threads may import, too.

Two threads that import a package and one of its modules may wait for each other. Python then gives one of them half of
the module (CPython issue 83065, in Python 3.14 and earlier). No module takes this lock while it is imported.
"""


@contextlib.contextmanager
def naming_extra() -> Iterator[None]:
    """Raise AttnvizError, naming the extra to install, where the block lacks one of these libraries."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise user_error(
            "This needs the package {library}, which is not installed. Install it with: pip install 'attnviz[{extra}]'",
            library=library,
            extra=EXTRAS[library],
        ) from error


def import_on_use(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports each name from its module, by `modules`, on first use.

    A name that is its module's own is the module.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with naming_extra():
            module = import_module(f"{package}.{modules[name]}")
        return module if modules[name] == name else getattr(module, name)

    return find
