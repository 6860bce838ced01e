"""`AttnvizError`, the error class whose messages are written for users, and `MissingFontWarning`."""

import contextlib
from collections.abc import Iterator


class AttnvizError(Exception):
    """An error that the user can fix.

    The message says what is wrong and what to do. The page and the command line display it as it is; any other
    exception is a bug of the program.
    """


class MissingFontWarning(UserWarning):
    """No font of this machine has some characters of a picture, which has boxes in their place."""


@contextlib.contextmanager
def locate_errors(location: str) -> Iterator[None]:
    """Begin the message of an AttnvizError with `location`, such as the name of a file, unless it is empty."""
    try:
        yield
    except AttnvizError as error:
        raise AttnvizError(f"{location}: {error}" if location else str(error)) from error
