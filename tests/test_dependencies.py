"""The package: ranges of its dependencies, and a wheel that runs in a fresh environment without the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.browser.server import free_port, serving
from tests.conftest import REPOSITORY

LOWEST = REPOSITORY / "tests" / "lowest-requirements.txt"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RANGES = {line.name: line.specifier for line in map(Requirement, PROJECT["dependencies"])}
ENDS = {"lowest": ["-r", str(LOWEST)], "newest": ["--upgrade", *sorted(RANGES.keys() - {"torch"})]}
"""The arguments of `pip install` for each end; torch is the installed one, since another takes gigabytes."""
SMOKE = (
    "tests/ui/test_page.py",
    "tests/figures/test_figures.py",
    "tests/export/test_exports.py",
    "tests/corpora/test_run.py",
    "tests/training/test_run.py",
    "tests/test_languages.py",
)
TEST_TOOLS = ("hypothesis", "pytest", "pytest-xdist", "syrupy")
IMPORT_ALL = """
import importlib, pkgutil, attnviz
for module in pkgutil.walk_packages(attnviz.__path__, "attnviz."):
    if not module.name.startswith(("attnviz.__main__", "attnviz.corpora.cluster")):
        importlib.import_module(module.name)
"""
"""The cluster needs Ray, an extra."""


def pins(path: Path) -> dict[str, str]:
    """Return the version of each package that a requirements file pins."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_every_pin_lies_within_its_range() -> None:
    pinned = pins(REPOSITORY / "requirements.txt")
    assert pinned.keys() == RANGES.keys()
    assert {name: version for name, version in pinned.items() if not RANGES[name].contains(version)} == {}


def test_lowest_requirements_equal_lower_bounds() -> None:
    bounds = {name: str(bound) for name, bound in RANGES.items() if name != "torch"}
    assert {name: f">={version}" for name, version in pins(LOWEST).items()} == bounds


def without_python_settings() -> dict[str, str]:
    """Return the environment, pip's settings included, without variables that add packages to Python's path."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def required_packages(name: str) -> set[str]:
    """Return the names of a package of this environment and all it requires here."""
    found, open_ = set[str](), [name]
    while open_:
        one = canonicalize_name(open_.pop())
        if one not in found:
            found.add(one)
            lines = map(Requirement, metadata.requires(one) or [])
            open_ += [line.name for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
    return found


class Environment:
    """A fresh virtual environment with this environment's torch."""

    def __init__(self, folder: Path) -> None:
        self._run(sys.executable, "-m", "venv", str(folder / "venv"))
        self.scripts = folder / "venv" / "bin"
        self.site_packages = next(folder.glob("venv/lib/*/site-packages"))
        # Links in a folder beside the environment: pip does not uninstall from there.
        linked = folder / "linked"
        linked.mkdir()
        for name in sorted(required_packages("torch") - {"setuptools", *RANGES} | {"torch"}):
            package = metadata.distribution(name)
            # Several packages of NVIDIA share one folder.
            for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
                if not (linked / top).exists():
                    (linked / top).symlink_to(str(package.locate_file(top)))
        (self.site_packages / "linked.pth").write_text(f"{linked}\n", encoding="utf-8")

    def _run(self, *command: str, folder: Path = REPOSITORY) -> str:
        done = subprocess.run(
            command, cwd=folder, env=without_python_settings(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        return done.stdout

    def python(self, *arguments: str) -> str:
        """Run the environment's Python in the repository; return what it prints."""
        return self._run(str(self.scripts / "python"), *arguments)

    def program(self, name: str, *arguments: str, folder: Path) -> str:
        """Run one of the environment's programs in `folder`; return what it prints."""
        return self._run(str(self.scripts / name), *arguments, folder=folder)

    def install(self, *arguments: str) -> str:
        """Run `pip install`; return what it prints on standard output."""
        return self.python("-m", "pip", "install", "--quiet", "--no-compile", *arguments)

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that attnviz depends on."""
        listed = json.loads(self.python("-m", "pip", "list", "--format", "json"))
        found = {canonicalize_name(one["name"]): one["version"] for one in listed}
        return {name: version for name, version in found.items() if name in RANGES}

    def planned(self, source: Path) -> set[str]:
        """Return the names of the packages that `pip install` of a folder would install or replace."""
        report = json.loads(self.install("--dry-run", "--report", "-", str(source)))
        return {canonicalize_name(one["metadata"]["name"]) for one in report["install"]}


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints a line to the terminal, also from a pytest-xdist worker."""

    def aloud(line: str) -> None:
        with capsys.disabled():
            sys.stderr.write(f"\n{line}\n")

    return aloud


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a copy of the files the package is built from, since building writes beside them."""
    copy = tmp_path / "source"
    shutil.copytree(REPOSITORY / "attnviz", copy / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "models" / "small-additive", copy / "models" / "small-additive")
    (copy / ".streamlit").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "app.py", ".streamlit/config.toml"):
        shutil.copy(REPOSITORY / name, copy / name)
    return copy


@pytest.mark.nightly
@pytest.mark.parametrize("end", ENDS)
def test_lowest_and_highest_versions_work(end: str, tmp_path: Path, say: Callable[[str], None]) -> None:
    environment = Environment(tmp_path)
    tools = pins(REPOSITORY / "tests" / "requirements.txt")
    environment.install(*ENDS[end], *(f"{name}=={tools[name]}" for name in TEST_TOOLS))
    versions = environment.versions()
    say(f"{end}: {versions}")
    if end == "lowest":
        assert versions.items() >= pins(LOWEST).items()
    assert all(RANGES[name].contains(version) for name, version in versions.items())
    environment.python("-c", IMPORT_ALL)
    # Other versions may warn of what changes in releases that the pins are past, or not at yet.
    output = environment.python("-m", "pytest", "-n0", "-q", "-m", "not nightly", "-W", "default", *SMOKE)
    say(f"{end}: {output.splitlines()[-1]}")
    assert re.search(r"\d+ passed", output)


@pytest.mark.nightly
def test_installing_keeps_recent_torch_numpy_and_pandas(
    tmp_path: Path, source: Path, say: Callable[[str], None]
) -> None:
    environment = Environment(tmp_path)
    environment.install("numpy", "pandas")
    say(f"kept: {environment.versions()}")
    planned = environment.planned(source)
    assert {"attnviz", "streamlit"} <= planned
    assert not planned & {"torch", "numpy", "pandas"}


@pytest.mark.nightly
def test_wheel_is_complete_and_runs_elsewhere(tmp_path: Path, source: Path, say: Callable[[str], None]) -> None:
    environment = Environment(tmp_path)
    subprocess.run([sys.executable, "-m", "build", str(source), "--outdir", str(tmp_path / "dist")], check=True)
    files = sorted(map(str, (tmp_path / "dist").iterdir()))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    (wheel,) = (name for name in files if name.endswith(".whl"))
    say(f"wheel: {Path(wheel).stat().st_size / 1e6:.1f} MB")
    environment.install(wheel)
    files_of_package = {path.relative_to(source) for path in (source / "attnviz").rglob("*") if path.is_file()}
    absent = {path for path in files_of_package if not (environment.site_packages / path).is_file()}
    assert all(path.name.endswith(".d.ts") for path in absent)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "small-additive" in environment.program("attnviz", "models", folder=elsewhere)
    assert environment.program("attnviz", "translate", "A man is walking.", folder=elsewhere).strip()
    environment.program("attnviz", "figure", "A house.", "-o", "house.svg", folder=elsewhere)
    assert (elsewhere / "house.svg").stat().st_size > 1000
    assert app_answers(environment, elsewhere)


def app_answers(environment: Environment, folder: Path) -> bool:
    """Return whether the page of `attnviz app`, started in `folder`, is served with the settings of the package."""
    port = free_port()
    root = f"http://127.0.0.1:{port}"
    command = [str(environment.scripts / "attnviz"), "app", "--port", str(port)]
    health, log = f"{root}/_stcore/health", folder / "log"
    with (
        serving(command, health, log, folder=folder, environment=without_python_settings()),
        urllib.request.urlopen(f"{root}/", timeout=60) as answer,
    ):
        return "script-src" in answer.headers["Content-Security-Policy"]
