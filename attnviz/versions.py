"""Whether the installed Streamlit is one that the page runs with."""

from __future__ import annotations

import re
from importlib import metadata

from attnviz.errors import AttnvizError

LOWEST = (1, 66)
"""The run context tells of history navigation."""
HIGHEST = 2
"""The first major version that has not been tried."""


def check_streamlit() -> None:
    """Raise AttnvizError where Streamlit is missing, too old, or of another major version."""
    lowest = ".".join(map(str, LOWEST))
    needed = f"Streamlit {lowest} or later, below {HIGHEST}: pip install 'streamlit>={lowest},<{HIGHEST}'"
    try:
        version = metadata.version("streamlit")
    except metadata.PackageNotFoundError as error:
        raise AttnvizError(f"The page needs {needed}.") from error
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if not LOWEST <= found < (HIGHEST,):
        raise AttnvizError(f"The page needs {needed}. Installed is {version}.")
