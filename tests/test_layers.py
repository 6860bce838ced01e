"""The source of the package: layers, forbidden and light imports, names that stand once, payload keys."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.processes import run_python

PACKAGE = REPOSITORY / "attnviz"

LAYERS = (
    "environment browser_programs",
    "languages bounds fair_queue lru_cache memory lazy_pandas lazy_streamlit",
    "errors",
    "attention_kinds deadlines extras file_kinds files",
    "imported_families reading",
    "arguments text pair_files network versions",
    "palette",
    "browser_modules model_folder trace devices vocabulary",
    "checkpoint decoding installed_models",
    "translator detector",
    "analysis",
    "shared_translator training importing",
    "figures evaluation",
    "architectures",
    "lessons",
    "export corpora",
    "ui",
    "view",
    "displays commands",
    "__init__ __main__",
)
"""From the lowest up: a package imports from lower layers and from itself."""
UI_LAYERS = (
    "embedding",
    "examples waiting view",
    "resources",
    "inputs",
    "selection",
    "payloads",
    "blocks",
    "controls glossary side_by_side",
    "step",
    "embedded_view",
    "chrome lesson_view",
    "toolbar",
    "pages",
    "server",
)
"""The same inside `attnviz.ui`."""
FORBIDDEN = {
    "attention_kinds imported_families bounds browser_modules browser_programs lru_cache file_kinds files reading": (
        "torch streamlit plotly"
    ),
    "model_folder text vocabulary palette trace": "torch streamlit plotly",
    "analysis": "torch streamlit plotly pandas attnviz.lazy_pandas",
    "architectures figures lessons export displays commands": "torch streamlit",
    "network checkpoint decoding translator detector shared_translator": "streamlit plotly",
    "training evaluation importing": "streamlit plotly",
    "corpora": "streamlit plotly pandas attnviz.lazy_pandas",
    "ui": "torch attnviz.network attnviz.decoding attnviz.checkpoint",
}
"""Which packages import none of which libraries."""
UNPICKLING = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "cloudpickle"}


@cache
def _modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def _imports() -> list[tuple[Path, str]]:
    """Return every file of the package, relative to it, with each dotted name that it imports: `x.y` for x's y."""
    found: list[tuple[Path, str]] = []
    for path, module in _modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.Import | ast.ImportFrom):
                place = f"{'.' * node.level}{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
                found += [(path.relative_to(PACKAGE), place + alias.name) for alias in node.names]
    return found


def _imports_from_above(declared: tuple[str, ...], inside: tuple[str, ...] = ()) -> list[str]:
    """Return the imports between the packages directly `inside` a package that do not go to a lower layer."""
    layers = {name: layer for layer, names in enumerate(declared) for name in names.split()}
    depth, prefix, faults = len(inside), ("attnviz", *inside), []
    for path, name in _imports():
        if path.parts[:depth] != inside or (inside and path.name == "__init__.py" and len(path.parts) == depth + 1):
            continue
        importer, parts = path.parts[depth].removesuffix(".py"), tuple(name.split("."))
        if parts[: depth + 1] != prefix or len(parts) == depth + 1:
            continue
        imported = parts[depth + 1]
        # A name in no layer belongs to the package's own __init__.py, such as attnviz.AttnvizError.
        if imported != importer and imported in layers and layers[imported] >= layers[importer]:
            faults.append(f"{path} imports {name}")
    return faults


def test_every_package_is_in_one_layer_and_imports_lower_ones() -> None:
    assert _imports_from_above(LAYERS) == []
    assert _imports_from_above(UI_LAYERS, ("ui",)) == []
    for folder, declared in ((PACKAGE, LAYERS), (PACKAGE / "ui", UI_LAYERS)):
        there = {path.relative_to(folder).parts[0].removesuffix(".py") for path in folder.rglob("*.py")}
        names = " ".join(declared).split()
        assert sorted(names) == sorted(there if folder == PACKAGE else there - {"__init__"})


def _module_name(path: Path) -> str:
    parts = ("attnviz", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_packages_do_not_import_forbidden_modules() -> None:
    forbidden = {package: names.split() for packages, names in FORBIDDEN.items() for package in packages.split()}
    faults = []
    for path, name in _imports():
        packages = forbidden.get(path.parts[0].removesuffix(".py"), [])
        if any(f"{name}.".startswith(f"{other}.") for other in (*packages, *UNPICKLING)) or name.startswith("."):
            faults.append(f"{path} imports {name}")
    assert faults == []


LIGHT = {
    "attnviz attnviz.trace attnviz.text attnviz.model_folder attnviz.analysis.measures attnviz.analysis.recomputation"
    " attnviz.analysis attnviz.analysis.stages attnviz.analysis.findings attnviz.commands.main": (
        "torch streamlit plotly pandas safetensors sacrebleu"
    ),
    "attnviz.figures attnviz.export": "torch streamlit safetensors",
    "attnviz.translator attnviz.training attnviz.evaluation": "streamlit plotly pandas",
    "attnviz.importing.attention_reader attnviz.importing.huggingface": "torch transformers streamlit plotly pandas",
}
"""Modules, and the libraries that importing them does not import."""


def _imported_at_once(module: str) -> set[str]:
    """Return the names that importing a module of the package imports, from other modules of it too."""
    files = {_module_name(path.relative_to(PACKAGE)): tree for path, tree in _modules().items()}
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        waiting += [name.rpartition(".")[0]] if "." in name and name.startswith("attnviz") else []
        for node in files[name].body if name in files else ():
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                waiting += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return reached


@pytest.mark.parametrize("modules", LIGHT)
def test_modules_import_no_heavy_libraries(modules) -> None:
    for module in modules.split():
        assert {name.partition(".")[0] for name in _imported_at_once(module)} & {*LIGHT[modules].split()} == set()


def _imports_at_use(node: ast.AST) -> Iterator[str]:
    """Yield the modules that functions import without holding `IMPORTING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and not isinstance(node, ast.Module):
            yield child.module or ""
        elif not (
            isinstance(child, ast.With | ast.If)
            and ast.unparse(child).startswith(("with IMPORTING:", "if TYPE_CHECKING:"))
        ):
            yield from _imports_at_use(child)


def test_app_imports_one_module_at_a_time() -> None:
    pages = [_module_name(path.relative_to(PACKAGE)) for path in PACKAGE.glob("ui/pages/*_page.py")]
    at_once = set[str]().union(*map(_imported_at_once, pages))
    assert "attnviz.analysis.stages" in at_once
    assert "attnviz.network" not in at_once
    faults = [
        f"{path} imports {name}"
        for path, module in _modules().items()
        if path.is_relative_to(PACKAGE / "ui")
        for name in _imports_at_use(module)
        if name.startswith("attnviz.") and name not in at_once
    ]
    assert faults == []


_FIRST_VISIT = """
import re, sys
from tests.ui.opening import open_page
from tests.ui.shown_payloads import fetched, fetching

addresses = [one["at"] for one in fetching(open_page())]
addresses = [at for at in addresses if not re.search("-tables|-pictures|-file", at)]
assert len(addresses) > 4 and all(map(fetched, addresses))
print(*sorted({"pandas", "pyarrow", "sacrebleu", "sympy", "torch._dynamo"} & set(sys.modules)))
"""


@pytest.mark.nightly
def test_first_visit_imports_no_library_of_tables_or_scores_and_no_compiler() -> None:
    """They would take 75 MiB and seconds before anybody opens a table or another page."""
    assert run_python("-c", _FIRST_VISIT) == "\n"


def _public_names(module: ast.Module) -> set[str]:
    """Return the names that a module defines at its top level, and that do not begin with an underscore."""
    names = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_every_module_and_every_public_name_has_a_name_of_its_own() -> None:
    names = Counter(name for module in _modules().values() for name in _public_names(module))
    names += Counter(path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


PAYLOAD_KEY = re.compile(r"\b(?:data|payload|record|words)\.([A-Za-z_]\w*)")
"""A key that JavaScript reads from a payload or from its labels."""
METHODS = {"map", "flatMap", "findLastIndex"}
"""Methods of arrays in payloads."""


def test_every_payload_key_that_javascript_reads_is_made_in_python() -> None:
    made = set[str]()  # strings, keyword arguments and fields of data classes
    for module in _modules().values():
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                made.add(node.value)
            elif isinstance(node, ast.keyword) and node.arg:
                made.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                made.add(node.target.id)
    scripts = [*PACKAGE.glob("ui/components/**/*.js"), *PACKAGE.glob("export/assets/*.js")]
    read = {(path.name, key) for path in scripts for key in PAYLOAD_KEY.findall(path.read_text(encoding="utf-8"))}
    assert {(name, key) for name, key in read if key not in made | METHODS} == set()
