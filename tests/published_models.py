"""Write the list of published models, from which `attnviz models` fetches: `python -m tests.published_models`."""

import hashlib
import json

from attnviz.commands.models import PUBLISHED
from tests.conftest import REPOSITORY


def published_models() -> dict[str, dict[str, dict[str, int | str]]]:
    """Return, for each model folder of the repository, the size in bytes and the SHA-256 of its files."""
    found: dict[str, dict[str, dict[str, int | str]]] = {}
    for folder in sorted(path.parent for path in (REPOSITORY / "models").glob("*/config.json")):
        contents = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        found[folder.name] = {
            path.relative_to(folder).as_posix(): {"bytes": len(one), "sha256": hashlib.sha256(one).hexdigest()}
            for path, one in contents.items()
        }
    return found


if __name__ == "__main__":
    PUBLISHED.write_text(json.dumps(published_models(), indent=1) + "\n", encoding="utf-8")
