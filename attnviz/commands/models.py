"""The command `attnviz models`: list the models, and copy or fetch some."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from attnviz.commands.options import Folder
from attnviz.deadlines import with_deadline
from attnviz.environment import ATTNVIZ_MODELS_URL
from attnviz.errors import AttnvizError
from attnviz.files import remove_abandoned, replace_bytes
from attnviz.installed_models import installed_detectors, installed_models, user_models
from attnviz.model_folder import CONFIG_FILE

PUBLISHED = Path(__file__).resolve().parents[1] / "published_models.json"
"""For each published model, the size in bytes and the SHA-256 of its files."""
_PATIENCE = 60.0
"""Seconds that a server may take to begin to send a file, or between two parts of it."""
_SLOWEST = 10_000
"""Bytes a second of the slowest connection."""


def models_command(
    *names: Annotated[str, Parameter(metavar="NAME")],
    to: Annotated[Folder | None, Parameter(show_default=False)] = None,
    address: Annotated[
        str | None, Parameter(name="--from", metavar="URL", env_var=ATTNVIZ_MODELS_URL, show_env_var=True)
    ] = None,
) -> None:
    """List the models, and copy or fetch models.

    Args:
        names: model to copy or fetch; without a name, the models are listed
        to: folder in which the folder of the model is made (default: your own folder of models); the app also searches
            the folder “models” in the working directory
        address: web address of a folder with model folders, for models that are not installed
    """
    published: dict[str, dict[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    installed = installed_models() | installed_detectors()
    if not names:
        _list(published, installed)
        return
    known = installed.keys() | published.keys()
    for name in names:
        if name not in known:
            raise AttnvizError(f"There is no model {name}. The models are: {', '.join(sorted(known))}.")
    for name in names:
        folder = (to or user_models()) / name
        begun = name not in installed and folder.is_dir() and _is_begun(folder, published[name])
        if folder.exists() and any(folder.iterdir()) and not begun:
            raise AttnvizError(f"The folder {folder} exists already. Delete it, or choose another folder with --to.")
        if name in installed:
            shutil.copytree(installed[name], folder, dirs_exist_ok=True)
        else:
            _fetch(name, published[name], folder, address)
        print(f"{name} is in {folder}")


def _list(published: dict[str, dict[str, Any]], installed: dict[str, Path]) -> None:
    """Print the name, size and place of each model."""
    names = [*installed, *(name for name in published if name not in installed)]
    width = max(map(len, names), default=0)
    for name in names:
        if name in installed:
            size = sum(path.stat().st_size for path in installed[name].rglob("*") if path.is_file())
            place = str(installed[name])
        else:
            size = sum(int(file["bytes"]) for file in published[name].values())
            place = f"not installed; fetch it with: attnviz models {name}"
        print(f"{name:<{width}}  {size / 1e6:>6.1f} MB  {place}")


def _fetch(name: str, files: dict[str, Any], folder: Path, address: str | None) -> None:
    """Fetch the `files` of a model into `folder`, where some may be already, and check their digests."""
    if not address:
        raise AttnvizError(
            f"The model {name} is not installed, and no address to fetch it from is set. Every clone of the repository "
            f"has it: copy its folder models/{name} into {folder.parent}. Or give the address of a folder with this "
            f"folder with --from or in the environment variable {ATTNVIZ_MODELS_URL}."
        )
    for file in sorted(files, key=lambda file: file == CONFIG_FILE):  # a folder with a config is a model
        if (folder / file).exists():
            continue
        size, url = int(files[file]["bytes"]), f"{address.rstrip('/')}/{name}/{file}"
        try:
            content = with_deadline(_PATIENCE + size / _SLOWEST, functools.partial(_content, url, size))
        except OSError as error:
            reason = "the server sends too slowly" if isinstance(error, TimeoutError) else error
            raise AttnvizError(
                f"The model {name} could not be fetched from {address}: {reason}. Check the address and the network, "
                f"or copy the folder of the model into {folder.parent}."
            ) from error
        if _digest(content) != files[file]["sha256"]:
            raise AttnvizError(
                f"The file {file} of the model {name} at {address} is not the published one. Ask for the model at "
                "another address."
            )
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(folder / file, content)


def _content(url: str, size: int) -> bytes:
    """Return the first `size` bytes at a web address, and one more if there are more; raise OSError where that fails.

    The bytes are as sent: a compressed body is not unpacked.
    """
    import requests
    from urllib3.exceptions import HTTPError

    with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=_PATIENCE) as response:
        response.raise_for_status()
        try:
            content: bytes = response.raw.read(size + 1, decode_content=False)
        except HTTPError as error:
            raise OSError(str(error)) from error
    if len(content) < size:
        raise OSError(f"{url} ended after {len(content)} of {size} bytes")
    return content


def _is_begun(folder: Path, files: dict[str, Any]) -> bool:
    """Return whether a folder has only files that were fetched of a model, and not all: then fetching goes on."""
    remove_abandoned(folder)
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    return CONFIG_FILE not in there and all(
        name in files and path.is_file() and _digest(path.read_bytes()) == files[name]["sha256"]
        for name, path in there.items()
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
