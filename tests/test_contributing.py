"""The contributors' documents: paths and commands exist, issue forms and hooks parse."""

import re

import attnviz
from tests.conftest import REPOSITORY

GITHUB = REPOSITORY / ".github"
GUIDE = (GITHUB / "CONTRIBUTING.md").read_text(encoding="utf-8")
TO_WRITE = ("NAME", "THE/FILE", "locales/de.po", "<module>")
"""Parts of paths that the reader fills in."""


def test_every_path_in_guide_exists() -> None:
    named = {text.removeprefix("./") for text in re.findall(r"`([\w./-]+(?:/|\.(?:py|md|js|toml|txt|yml)))`", GUIDE)}
    named |= {f".github/{link}" for link in re.findall(r"\]\(([^)#:]+)\)", GUIDE)}
    paths = {path for path in named if not any(part in path for part in TO_WRITE)}
    assert len(paths) > 20
    roots = (REPOSITORY, REPOSITORY / "attnviz", REPOSITORY / "attnviz" / "ui", REPOSITORY / "attnviz" / "importing")
    assert sorted(path for path in paths if not any((root / path).exists() for root in roots)) == []


def test_every_name_in_guide_exists() -> None:
    names = {name for name in re.findall(r"`(\w*[a-z]_\w*|[A-Z_]{3,})`", GUIDE) if "NAME" not in name}
    assert len(names) > 20
    files = [path for folder in ("attnviz", "tests", ".docs") for path in (REPOSITORY / folder).rglob("*.py")]
    words = set(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in files)))
    assert sorted(names - words) == []


def test_every_module_in_guide_commands_exists() -> None:
    modules = re.findall(r"python -m ((?:tests|attnviz)[\w.]*)", GUIDE)
    assert {"tests", "tests.catalogs", "attnviz"} <= {*modules}
    for module in modules:
        path = REPOSITORY.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_newest_changelog_version_is_package_version() -> None:
    changes = (GITHUB / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\d+\.\d+\.\d+) \((?:\d{4}-\d\d-\d\d|unreleased)\)$", changes, re.MULTILINE)
    assert versions[0] == attnviz.__version__
    assert versions == sorted(versions, reverse=True)
