"""Let former names of version 0.2 work until version 0.4, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def former_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of `module`, whose former `names` are given with the current ones (PEP 562)."""

    def module_getattr(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is now {module}.{names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return module_getattr


def current_name(name: str, names: Mapping[str, str], what: str) -> str:
    """Return the current name of `name`, which may be one of the former `names`; `what` is for the warning."""
    if name not in names:
        return name
    warnings.warn(f"{what} {name!r} is now {names[name]!r}", DeprecationWarning, stacklevel=3)
    return names[name]


class FormerAttribute:
    """A class attribute that returns the attribute `current` under its former name."""

    def __init__(self, current: str) -> None:
        self._current = current

    def __set_name__(self, owner: type, name: str) -> None:
        """Store class and former name for the warning."""
        self._names = f"{owner.__name__}.{name} is now {owner.__name__}.{self._current}"

    def __get__(self, instance: object, owner: type) -> Any:
        """Return the attribute of the instance, or of the class."""
        warnings.warn(self._names, DeprecationWarning, stacklevel=2)
        return getattr(owner if instance is None else instance, self._current)
