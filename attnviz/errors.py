"""`AttnvizError`, the error class whose messages are written for users, and `MissingFontWarning`."""

import contextlib
from collections.abc import Iterator

from attnviz import languages


class AttnvizError(Exception):
    """An error that the user can fix.

    The message says what is wrong and what to do. The page and the command line display it as it is; any other
    exception is a bug of the program.
    """


def user_error(sentence: str, /, **values: object) -> AttnvizError:
    """Return the error with a sentence in the current language; `sentence` and `values` are those of `gettext`."""
    return AttnvizError(languages.gettext(sentence, **values))


class MissingFontWarning(UserWarning):
    """No font of this machine has some characters of a picture, which has boxes in their place."""


@contextlib.contextmanager
def locate_errors(location: str) -> Iterator[None]:
    """Begin the message of an AttnvizError with `location`, such as the name of a file, unless it is empty."""
    try:
        yield
    except AttnvizError as error:
        raise AttnvizError(f"{location}: {error}" if location else str(error)) from error
