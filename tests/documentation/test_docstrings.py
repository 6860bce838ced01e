"""The reference: every parameter is documented, and every environment variable is in its table."""

import importlib
import inspect
import json
import re
from collections.abc import Iterator

import pytest

from attnviz import environment
from tests.conftest import REPOSITORY
from tests.documentation.pages import DOCUMENTATION

DIRECTIVE = re.compile(r"^::: (attnviz[\w.]*)$", re.MULTILINE)
FILTERS = re.findall(r"^ +filters: (.*)$", (DOCUMENTATION / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
HIDDEN = re.compile("|".join(pattern.removeprefix("!") for pattern in json.loads(FILTERS[0])))
"""Names that the reference leaves out."""
REFERENCE = {
    name: path.name
    for path in (DOCUMENTATION / "pages" / "reference").glob("*.md")
    for name in DIRECTIVE.findall(path.read_text(encoding="utf-8"))
}


def _object(path: str) -> object:
    """Return what a dotted path names: a module, or something in it."""
    try:
        found = importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(_object(parent), name)
    return found


def _functions(one: object) -> Iterator[object]:
    if inspect.ismodule(one):
        for name in getattr(one, "__all__", ()):
            yield from _functions(getattr(one, name))
    elif inspect.isclass(one):
        methods = {name: getattr(one, name) for name in dir(one) if not HIDDEN.search(name)}
        yield from filter(inspect.isroutine, methods.values())
        if one.__init__.__doc__:  # a dataclass's has none
            yield one.__init__
    elif inspect.isroutine(one):
        yield one


@pytest.mark.parametrize("path", sorted(REFERENCE))
def test_every_parameter_in_the_reference_is_documented(path: str) -> None:
    missing = [
        f"{function.__qualname__}: {name}"
        for function in _functions(_object(path))
        if (getattr(function, "__module__", None) or "").startswith("attnviz")
        for name in inspect.signature(function).parameters
        if name not in ("self", "cls") and not re.search(rf"^ +\*{{0,2}}{name}: ", function.__doc__ or "", re.MULTILINE)
    ]
    assert missing == []


def test_every_environment_variable_is_in_the_table() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "attnviz").rglob("*.py"))
    assert sorted(set(re.findall(r"\bATTNVIZ_[A-Z_]+", code)) - vars(environment).keys()) == []
    assert "ATTNVIZ_MODELS" in vars(environment)
