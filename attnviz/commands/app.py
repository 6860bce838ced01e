"""The command `attnviz app`: serve the app with Streamlit."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from attnviz.commands.options import Folder, Positive, Scorers, Several
from attnviz.environment import ATTNVIZ_CORPORA, ATTNVIZ_HOSTS, ATTNVIZ_RUNS, ATTNVIZ_VISITORS
from attnviz.errors import AttnvizError
from attnviz.extras import naming_extra
from attnviz.versions import check_streamlit


def app_command(
    *,
    port: Positive | None = None,
    address: str | None = None,
    host: Annotated[tuple[str, ...], Several, Parameter(metavar="NAME")] = (),
    base_path: Annotated[str | None, Parameter(metavar="PATH")] = None,
    visitors: Positive | None = None,
    runs: Folder | None = None,
    corpora: Folder | None = None,
    scorer: Scorers = (),  # noqa: ARG001 - registered before, for this process and its child
) -> None:
    """Start the page.

    Args:
        port: port of the page (default: 8501)
        address: address to listen on; 0.0.0.0 also lets other machines connect (default: 127.0.0.1)
        host: additional host name under which visitors open the page, such as example.org or *.example.org; may be
            repeated; * allows every name
        base_path: URL path under which a reverse proxy serves the page, for example: attnviz
        visitors: largest number of visitors at the same time; further visitors wait in a queue
        runs: folder with the training runs (made by attnviz train) that visitors may watch
        corpora: folder with the corpus tables (written by attnviz corpus) that visitors may open
    """
    with naming_extra():
        metadata.version("torch")
    check_streamlit()
    command = [sys.executable, "-m", "streamlit", "run", str(_script())]
    for name in _hosts(address, host):
        command += ["--server.allowedHosts", name]
    for name, value in (("port", port), ("address", address), ("baseUrlPath", base_path)):
        if value:
            command += [f"--server.{name}", str(value)]
    # A second OpenBLAS thread makes no verification or logit attribution faster, and costs a busy server 50 % more
    # processor time.
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    if visitors:
        environment[ATTNVIZ_VISITORS] = str(visitors)
    for option, folder, variable, content in (
        ("runs", runs, ATTNVIZ_RUNS, "folders of the training runs"),
        ("corpora", corpora, ATTNVIZ_CORPORA, "tables"),
    ):
        if folder and not folder.is_dir():
            raise AttnvizError(f"There is no folder {folder}. Give --{option} the folder that contains the {content}.")
        if folder:
            environment[variable] = str(folder.resolve())
    os.execve(sys.executable, command, environment)


def _script() -> Path:
    """Return the script that Streamlit runs; beside it is the folder with Streamlit's settings.

    A wheel has both inside the package (pyproject.toml), a checkout beside it.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "start" / "app.py"
    return packaged if packaged.is_file() else package.parent / "app.py"


def _hosts(address: str | None, further: Sequence[str]) -> list[str]:
    """Return the host names under which the page accepts requests.

    All others are refused, which prevents DNS rebinding: a foreign page that points its own name at this machine.
    """
    names = ["localhost", "127.0.0.1", "::1", *further, *os.environ.get(ATTNVIZ_HOSTS, "").split()]
    if address and address not in ("127.0.0.1", "localhost", "::1"):
        own = socket.gethostname()
        names += [address, own, f"{own}.local", *_addresses(own)]
    return list(dict.fromkeys(names))


def _addresses(own: str) -> list[str]:
    """Return the IP addresses of this machine, as far as they can be found without a network request."""
    addresses = set()
    with contextlib.suppress(OSError):
        addresses |= {str(address[0]) for *_, address in socket.getaddrinfo(own, None)}
    for family, other in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        # Connecting a datagram socket sends nothing, but selects the local address.
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((other, 9))
            addresses.add(str(probe.getsockname()[0]))
    return sorted(addresses)
