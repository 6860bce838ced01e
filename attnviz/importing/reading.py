"""Which program's attention a file holds, told by the file itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.importing.arrays import NPY, NPZ, array_file
from attnviz.importing.found import AttentionFile, Found
from attnviz.importing.lines import bar_lines, link_lines
from attnviz.importing.tables import logged_tables
from attnviz.languages import gettext

LARGEST_FILE = 64 << 20
"""Bytes."""


def open_attention(path: str | Path) -> AttentionFile:
    """Return what the file at `path` holds; raise AttnvizError, naming it, where that cannot be read."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise AttnvizError(gettext("The file is larger than {most} MB.", most=LARGEST_FILE >> 20))
        return read_attention(path.read_bytes())
    except OSError as error:
        raise AttnvizError(f"{path} cannot be read: {error.strerror}.") from error
    except AttnvizError as error:
        raise AttnvizError(f"{path}: {error}") from error


def read_attention(content: bytes) -> AttentionFile:
    """Return what the bytes of a file hold: the open format, NumPy's arrays, Marian's or Pharaoh's lines, or a log of
    OpenNMT-py or eole; raise AttnvizError where it is none of these."""
    if content.startswith((NPY, NPZ)):
        return array_file(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AttnvizError(
            gettext("It is neither a text file nor one of NumPy's: no attention that can be read.")
        ) from error
    if text.lstrip()[:1] in ("{", "["):
        found = _json(text)
        if found:
            return found
    lines = text.split("\n")
    if found := bar_lines(lines) or logged_tables(lines) or link_lines(lines):
        return found
    raise AttnvizError(
        gettext(
            "No attention was found in it. Understood are a JSON object with source, target and matrix, NumPy's .npy "
            "and .npz, Marian's --alignment soft, links as in 0-0 1-2, and logs of OpenNMT-py and eole with "
            "-attn_debug."
        )
    )


def _json(text: str) -> AttentionFile | None:
    """Return the objects of a JSON text: one, a list of them, or one a line; None where it is no JSON."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > 1 and _is_object(lines[0]):
            return AttentionFile("JSON", lines, _json_line)
        return None
    several = whole if isinstance(whole, list) else [whole]
    return AttentionFile("JSON", several, _object) if several and all(isinstance(x, dict) for x in several) else None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _json_line(line: str) -> Found:
    try:
        return _object(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise AttnvizError(gettext("This is no JSON: {error}.", error=error)) from error


def _object(fields: Any) -> Found:
    if not isinstance(fields, Mapping):
        raise AttnvizError(gettext("This is no attention: an object with source, target and matrix is needed."))
    if "matrix" not in fields:
        raise AttnvizError(gettext("This attention lacks {names}.", names="matrix"))
    return Found(fields)
