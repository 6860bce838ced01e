"""What the scripts beside the benchmarks share: how they end where a file or an option is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable

from attnviz.errors import AttnvizError


def exit_status(run: Callable[[], None]) -> int:
    """Call `run` and return 0; for an AttnvizError, print its sentence on standard error and return 2."""
    try:
        run()
    except AttnvizError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
