"""Write the list of published models, from which `attnviz models` fetches: `python -m tests.published_models`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from attnviz.commands.models import PUBLISHED
from tests.conftest import REPOSITORY


def published_models() -> dict[str, dict[str, dict[str, int | str]]]:
    """Return, for each model folder of the repository, the size in bytes and the SHA-256 of its files."""
    folders = sorted(path.parent for path in (REPOSITORY / "models").glob("*/config.json"))
    return {folder.name: {_name(path, folder): _stated(path) for path in _files(folder)} for folder in folders}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _stated(path: Path) -> dict[str, int | str]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    PUBLISHED.write_text(json.dumps(published_models(), indent=1) + "\n", encoding="utf-8")
