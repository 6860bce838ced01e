"""The command `attnviz models`: list the models, and copy or fetch some."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

from attnviz import AttnvizError
from attnviz.installed_models import installed_detectors, installed_models, user_models

SUMMARY = "list the models, and copy or fetch models"
ADDRESS_VARIABLE = "ATTNVIZ_MODELS_URL"
"""Environment variable of the web address that models are fetched from."""
PUBLISHED = Path(__file__).resolve().parents[1] / "published_models.json"
"""For each published model, the size in bytes and the SHA-256 of its files."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="model to copy or fetch; without a name, the models are listed"
    )
    command.add_argument(
        "--to",
        type=Path,
        default=user_models(),
        metavar="FOLDER",
        help="folder in which the folder of the model is made; the app also searches the folder “models” in the "
        "working directory",
    )
    command.add_argument(
        "--from",
        dest="address",
        default=os.environ.get(ADDRESS_VARIABLE),
        metavar="URL",
        help="web address of a folder with model folders, for models that are not installed (default: that in the "
        f"environment variable {ADDRESS_VARIABLE})",
    )


def run(options: argparse.Namespace) -> None:
    """List the models, or bring those that the options name into a folder.

    Raise AttnvizError if a name is unknown, a folder exists already, or a file cannot be fetched or is not the
    published one.
    """
    published: dict[str, dict[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    installed = installed_models() | installed_detectors()
    if not options.names:
        _list(published, installed)
        return
    known = installed.keys() | published.keys()
    for name in options.names:
        if name not in known:
            raise AttnvizError(f"There is no model {name}. The models are: {', '.join(sorted(known))}.")
    for name in options.names:
        folder = options.to / name
        if folder.exists() and any(folder.iterdir()):
            raise AttnvizError(f"The folder {folder} exists already. Delete it, or choose another folder with --to.")
        if name in installed:
            shutil.copytree(installed[name], folder, dirs_exist_ok=True)
        else:
            _fetch(name, published[name], folder, options.address)
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
    """Fetch the `files` of a model into `folder`, and check their digests."""
    if not address:
        raise AttnvizError(
            f"The model {name} is not installed, and no address to fetch it from is set. Give the address with --from "
            f"or in the environment variable {ADDRESS_VARIABLE}. You can also copy the folder of the model into "
            f"{folder.parent}."
        )
    import pooch
    from requests import RequestException

    pooch.get_logger().setLevel(logging.WARNING)
    registry = {file: f"sha256:{stated['sha256']}" for file, stated in files.items()}
    fetcher = pooch.create(path=folder, base_url=f"{address.rstrip('/')}/{name}/", registry=registry)
    try:
        for file in sorted(files, key=lambda file: file == "config.json"):  # a folder with a config is a model
            fetcher.fetch(file, downloader=pooch.HTTPDownloader(progressbar=False, timeout=60))
    except RequestException as error:
        raise AttnvizError(
            f"The model {name} could not be fetched from {address}: {error}. Check the address and the network, or "
            f"copy the folder of the model into {folder.parent}."
        ) from error
    except ValueError as error:  # pooch's error for a wrong digest and for an unknown protocol
        raise AttnvizError(
            f"A file of the model {name} at {address} is not the published one: {error}. Ask for the model at another "
            "address."
        ) from error
    except OSError as error:
        raise AttnvizError(f"The model {name} cannot be stored in {folder}: {error}.") from error
