"""`attnviz app`: the host names that the server accepts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attnviz.commands.main import main


class Started(Exception):
    pass


@pytest.mark.parametrize(
    ("arguments", "variable", "named", "own"),
    [
        ([], "", set(), False),
        (["--host", "example.org", "--host", "*.example.org"], "", {"example.org", "*.example.org"}, False),
        (["--address", "0.0.0.0"], "*.hf.space other.test", {"*.hf.space", "other.test"}, True),
    ],
)
def test_app_accepts_local_and_configured_host_names(
    arguments: list[str], variable: str, named: set[str], own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    command: list[str] = []

    def start(_program: str, given: list[str], _environment: object) -> None:
        command.extend(given)
        raise Started

    monkeypatch.setenv("ATTNVIZ_HOSTS", variable)
    monkeypatch.setattr(os, "execve", start)
    monkeypatch.chdir(Path.cwd())
    with pytest.raises(Started):
        main(["app", *arguments])
    hosts = {command[place + 1] for place, word in enumerate(command) if word == "--server.allowedHosts"}
    assert {"localhost", "127.0.0.1", "::1", *named} <= hosts
    assert "*" not in hosts
    if not own:
        assert hosts == {"localhost", "127.0.0.1", "::1", *named}
