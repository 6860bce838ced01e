"""The command `attnviz app`: serve the app with Streamlit."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
from pathlib import Path

from attnviz import AttnvizError
from attnviz.commands.shared import Command, positive
from attnviz.environment import ATTNVIZ_CORPORA, ATTNVIZ_HOSTS, ATTNVIZ_RUNS, ATTNVIZ_VISITORS
from attnviz.versions import check_streamlit


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument("--port", type=positive, help="port of the page (default: 8501)")
    command.add_argument(
        "--address", help="address to listen on; 0.0.0.0 also lets other machines connect (default: 127.0.0.1)"
    )
    command.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name under which visitors open the page, such as example.org or *.example.org; may "
        "be repeated; * allows every name",
    )
    command.add_argument(
        "--base-path", metavar="PATH", help="URL path under which a reverse proxy serves the page, for example: attnviz"
    )
    command.add_argument(
        "--visitors",
        type=positive,
        metavar="N",
        help="largest number of visitors at the same time; further visitors wait in a queue",
    )
    command.add_argument(
        "--runs", type=Path, help="folder with the training runs (made by attnviz train) that visitors may watch"
    )
    command.add_argument(
        "--corpora", type=Path, help="folder with the corpus tables (written by attnviz corpus) that visitors may open"
    )


def _run(options: argparse.Namespace) -> None:
    """Replace this process by Streamlit, which serves the page.

    Raise AttnvizError if Streamlit or a folder in the options is missing.
    """
    check_streamlit()
    command = [sys.executable, "-m", "streamlit", "run", str(_script())]
    for host in _hosts(options):
        command += ["--server.allowedHosts", host]
    for name, value in (("port", options.port), ("address", options.address), ("baseUrlPath", options.base_path)):
        if value:
            command += [f"--server.{name}", str(value)]
    # A second OpenBLAS thread makes no verification or logit attribution faster, and costs a busy server 50 % more
    # processor time.
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    if options.visitors:
        environment[ATTNVIZ_VISITORS] = str(options.visitors)
    if options.runs:
        if not options.runs.is_dir():
            raise AttnvizError(
                f"There is no folder {options.runs}. Give --runs the folder that contains the folders of the "
                "training runs."
            )
        environment[ATTNVIZ_RUNS] = str(options.runs.resolve())
    if options.corpora:
        if not options.corpora.is_dir():
            raise AttnvizError(
                f"There is no folder {options.corpora}. Give --corpora the folder that contains the tables."
            )
        environment[ATTNVIZ_CORPORA] = str(options.corpora.resolve())
    os.execve(sys.executable, command, environment)


def _script() -> Path:
    """Return the script that Streamlit runs; beside it is the folder with Streamlit's settings.

    A wheel has both inside the package (pyproject.toml), a checkout beside it.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "start" / "app.py"
    return packaged if packaged.is_file() else package.parent / "app.py"


def _hosts(options: argparse.Namespace) -> list[str]:
    """Return the host names under which the page accepts requests.

    All others are refused, which prevents DNS rebinding: a foreign page that points its own name at this machine.
    """
    names = ["localhost", "127.0.0.1", "::1", *options.host, *os.environ.get(ATTNVIZ_HOSTS, "").split()]
    if options.address and options.address not in ("127.0.0.1", "localhost", "::1"):
        own = socket.gethostname()
        names += [options.address, own, f"{own}.local", *_addresses(own)]
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


APP_COMMAND = Command("app", "start the page", _add_options, _run)
