"""`AttnvizError`, the error class whose messages are written for users, and `MissingFontWarning`."""


class AttnvizError(Exception):
    """An error that the user can fix.

    The message says what is wrong and what to do. The page and the command line display it as it is; any other
    exception is a bug of the program.
    """


class MissingFontWarning(UserWarning):
    """No font of this machine has some characters of a picture, which has boxes in their place."""
