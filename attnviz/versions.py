"""Check that the installed Streamlit is a supported version."""

from __future__ import annotations

import re
from importlib import metadata

from attnviz.errors import AttnvizError
from attnviz.extras import naming_extra

LOWEST = (1, 66)
"""The first version whose run context reports history navigation."""
HIGHEST = 2
"""The first major version that is untested."""


def check_streamlit() -> None:
    """Raise AttnvizError where Streamlit is missing, too old, or of an untested major version."""
    lowest = ".".join(map(str, LOWEST))
    needed = f"Streamlit {lowest} or later, below {HIGHEST}: pip install 'streamlit>={lowest},<{HIGHEST}'"
    with naming_extra():
        version = metadata.version("streamlit")
    installed = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if not LOWEST <= installed < (HIGHEST,):
        raise AttnvizError(f"The page needs {needed}. The installed version is {version}.")
