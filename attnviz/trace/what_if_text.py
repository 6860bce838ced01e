"""Encode what-ifs as short text of URL-safe characters, and decode it without loss.

What-ifs are joined by `*`, their parts by `.`: the number of the parent, a letter for the kind (followed by `h` where
the translation is held), and the arguments of that kind. Steps and source pieces count from 1 here.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace.changes import (
    MOST_PIECES,
    AttendOnly,
    Change,
    ExcludeSource,
    FreezeContext,
    SetTemperature,
    SetWeights,
    TakeHypothesis,
    UniformAttention,
    WriteWords,
)
from attnviz.trace.what_ifs import MOST, WhatIf

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode_what_ifs(what_ifs: Sequence[WhatIf]) -> str:
    """Return what-ifs as text; `decode_what_ifs` decodes it."""
    return "*".join(".".join((str(one.parent), *_encoded_parts(one))) for one in what_ifs)


def decode_what_ifs(text: str) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """Return the what-ifs in a text, and a sentence for each that is left out.

    Left out are unreadable what-ifs, those that derive from one left out, and those beyond MOST.
    """
    what_ifs: list[WhatIf] = []
    problems: list[str] = []
    new_numbers = {0: 0}  # number among the readable what-ifs, by number in the text
    for number, part in enumerate(text.split("*") if text else [], 1):
        if number > MOST:
            problems.append(gettext("This link has too many what-ifs: only the first {count} are used.", count=MOST))
            break
        try:
            what_if = _decoded(part)
            if what_if.parent not in new_numbers:
                raise AttnvizError(gettext("This what-if starts from another what-if, which is missing."))
        except AttnvizError as error:
            problems.append(left_out_sentence(number, str(error)))
            continue
        what_ifs.append(dataclasses.replace(what_if, parent=new_numbers[what_if.parent]))
        new_numbers[number] = len(what_ifs)
    return tuple(what_ifs), tuple(problems)


def left_out_sentence(number: int, why: str) -> str:
    """Return a sentence about why a what-if of a link, by its number from 1, is left out."""
    return gettext("What-if {number} of this link is left out. {why}", number=number, why=why)


def _encoded_parts(what_if: WhatIf) -> tuple[str, ...]:
    """Return the parts of a what-if, except its parent."""
    form = next(form for form in _FORMS if form.fits(what_if.change))
    arguments = (encode(getattr(what_if.change, name)) for name, (encode, _) in form.arguments.items())
    return form.letter + ("h" if what_if.held else ""), *arguments


def _decoded(text: str) -> WhatIf:
    """Decode one what-if; raise AttnvizError where it is invalid."""
    parent, kind, *parts = (*text.split("."), "")
    held, parts = kind[1:] == "h", parts[:-1]
    for form in _FORMS:
        if kind in (form.letter, form.letter + "h") and len(parts) == len(form.arguments):
            decoded = zip(form.arguments.items(), parts, strict=True)
            change = form.kind(**{name: decode(part) for (name, (_, decode)), part in decoded})
            return WhatIf(_number(parent), change, held)
    raise _unreadable()


def _unreadable() -> AttnvizError:
    return AttnvizError(gettext("It cannot be read."))


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise _unreadable()
    return int(text)


def _index(text: str) -> int:
    number = _number(text)
    if not number:
        raise _unreadable()
    return number - 1


def _row(shares: Sequence[int]) -> str:
    """Return whole numbers below 4096 as two characters each of the URL-safe base64 alphabet."""
    return "".join(_DIGITS[share >> 6] + _DIGITS[share & 63] for share in shares)


def _from_row(text: str) -> tuple[int, ...]:
    if not re.fullmatch("([A-Za-z0-9_-]{2})+", text) or len(text) > 2 * MOST_PIECES:
        raise _unreadable()
    digits = [_DIGITS.index(digit) for digit in text]
    return tuple(64 * high + low for high, low in zip(digits[::2], digits[1::2], strict=True))


def _text(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode("ascii").rstrip("=")


def _from_text(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise _unreadable() from error


class _Codec(NamedTuple):
    """How an argument is encoded and decoded; `decode` raises AttnvizError where it is invalid."""

    encode: Callable[[Any], str]
    decode: Callable[[str], Any]

    def or_word(self, word: str, value: object) -> _Codec:
        """Return the codec that encodes `value` as `word`."""
        return _Codec(
            lambda argument: word if argument == value else self.encode(argument),
            lambda text: value if text == word else self.decode(text),
        )


_COUNT = _Codec(str, _number)
_INDEX = _Codec(lambda index: str(index + 1), _index)
_IDS = _Codec(lambda ids: "-".join(map(str, ids)), lambda text: tuple(map(_number, text.split("-"))))
_ROW = _Codec(_row, _from_row)
_WORD = _Codec(str, str)
_TEXT = _Codec(_text, _from_text)
_TEMPERATURE = _Codec(lambda number: str(round(1000 * number)), lambda text: _number(text) / 1000)


class _Form(NamedTuple):
    """A kind of change as text: its letter, and the codecs of its arguments, in their order; others have defaults."""

    letter: str
    kind: type[Any]
    arguments: Mapping[str, _Codec]

    def fits(self, change: Change) -> bool:
        """Return whether `change` is of this kind, and its other arguments have their defaults."""
        return type(change) is self.kind and all(
            getattr(change, field.name) == field.default
            for field in dataclasses.fields(change)
            if field.name not in self.arguments
        )


_FORMS = (
    _Form("w", SetWeights, {"step": _INDEX, "shares": _ROW}),
    _Form("w", SetWeights, {"step": _INDEX, "shares": _ROW, "lender": _WORD, "of": _TEXT}),
    _Form("o", AttendOnly, {"step": _INDEX, "source": _INDEX}),
    _Form("x", ExcludeSource, {"step": _INDEX, "source": _INDEX}),
    _Form("a", UniformAttention, {"step": _INDEX}),
    _Form("f", FreezeContext, {"step": _INDEX}),
    _Form(
        "t",
        SetTemperature,
        {"step": _INDEX.or_word("all", None), "temperature": _TEMPERATURE.or_word("inf", math.inf)},
    ),
    _Form("v", WriteWords, {"step": _INDEX, "replaced": _COUNT, "pieces": _IDS}),
    _Form("y", TakeHypothesis, {"pieces": _IDS}),
)
