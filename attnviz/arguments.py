"""Check the types and ranges of arguments of the Python interface, and the format versions of files."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar, cast

from attnviz import bounds
from attnviz.errors import user_error
from attnviz.languages import gettext

Function = TypeVar("Function", bound=Callable[..., Any])


def also_spelled(**spellings: str) -> Callable[[Function], Function]:
    """Let callers spell names of parameters in another way, such as `normalize="normalise"` in American English."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*values: Any, **named: Any) -> Any:
            return function(*values, **{spellings.get(name, name): value for name, value in named.items()})

        return cast(Function, call)

    return decorate


def check_text(what: str, value: object) -> None:
    """Raise AttnvizError, naming `what`, unless `value` is text."""
    if not isinstance(value, str):
        raise user_error("The {what} must be text, not {found}.", what=what, found=bounds.shortened_repr(value))


def check_texts(value: object) -> None:
    """Raise AttnvizError unless `value` is an iterable of texts; a single text would be read as its characters."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise user_error("Give a list of sentences, not {found}.", found=bounds.shortened_repr(value))


def check_piece_ids(value: object) -> None:
    """Raise AttnvizError unless `value` is a collection of whole numbers."""
    if not isinstance(value, Iterable) or not all(isinstance(one, SupportsIndex) for one in value):
        raise user_error("Give a list of ids, not {found}.", found=bounds.shortened_repr(value))


def checked_path(value: object) -> Path:
    """Return the path of a file or folder; raise AttnvizError unless `value` is one."""
    if isinstance(value, (str, os.PathLike)):
        return Path(value)
    raise user_error("Give the path of a file or folder, not {found}.", found=bounds.shortened_repr(value))


def check_seed(value: object) -> None:
    """Raise AttnvizError unless `value` can be the seed of random numbers."""
    check_whole_argument(gettext("seed"), value, 0, 2**32 - 1)


def check_whole_argument(what: str, value: object, least: int, most: int) -> None:
    """Raise AttnvizError, naming `what`, unless `value` is a whole number within these bounds."""
    if not bounds.is_whole(value, least, most):
        raise user_error(
            "The {what} must be a whole number from {least} to {most}, not {found}.",
            what=what,
            least=least,
            most=most,
            found=bounds.shortened_repr(value),
        )


def check_choice(what: str, value: object, choices: Iterable[str]) -> None:
    """Raise AttnvizError, naming `what`, unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise user_error(
            "“{what}” must be one of {choices}, not {found}.",
            what=what,
            choices=", ".join(choices),
            found=bounds.shortened_repr(value),
        )


def check_number(what: str, value: object, most: float) -> None:
    """Raise AttnvizError, naming `what`, unless `value` is a number from 0 to `most`."""
    if not bounds.is_real(value, 0, most):
        raise user_error(
            "The {what} must be a number from 0 to {most}, not {found}.",
            what=what,
            most=most,
            found=bounds.shortened_repr(value),
        )


def check_each(what: str, values: Any, kinds: tuple[type, ...]) -> None:
    """Raise AttnvizError, naming `what`, unless each of the `values` is an instance of one of `kinds`, bool apart."""
    for value in values if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else (values,):
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise user_error(
                "{found} is not one of the {what}: {kinds}.",
                found=bounds.shortened_repr(value),
                what=what,
                kinds=", ".join(kind.__name__ for kind in kinds),
            )


def check_version(what: str, version: object, known: int) -> None:
    """Raise AttnvizError, naming `what`, unless `version` is the format version `known`."""
    if type(version) is not int or version != known:
        raise user_error(
            "{what} has format version {version}, but this attnviz reads format version {known}.",
            what=what,
            version=bounds.shortened_repr(version),
            known=known,
        )
