"""The one error class whose message is meant for a person to read."""


class AttnvizError(Exception):
    """Something a user can put right.

    The message is a sentence that says what is wrong and what to do about it. The page and the command line
    print it as it is; any other exception is a defect of the program.
    """
