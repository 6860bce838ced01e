"""Encode what-ifs as a short address parameter of URL-safe characters, and decode it without loss.

What-ifs are joined by `*`, their parts by `.`: the number of the parent, a letter for the kind (followed by `h` where
the translation is held), and the arguments of that kind. Steps and source pieces count from 1 here.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Sequence

import numpy as np

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

ALL_STEPS, INFINITE = "all", "inf"
"""Step of a change at all steps, and temperature of uniform weights."""


def encode_what_ifs(what_ifs: Sequence[WhatIf]) -> str:
    """Return what-ifs as text; `decode_what_ifs` decodes it."""
    return "*".join(".".join((str(one.parent), *_encoded_parts(one))) for one in what_ifs)


def decode_what_ifs(text: str) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """Return the what-ifs of an address, and a sentence for each that is left out.

    Left out are unreadable what-ifs, those that derive from one left out, and those beyond MOST.
    """
    what_ifs: list[WhatIf] = []
    problems: list[str] = []
    new_numbers = {0: 0}  # number among the readable what-ifs, by number in the address
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
        what_ifs.append(WhatIf(new_numbers[what_if.parent], what_if.change, what_if.held))
        new_numbers[number] = len(what_ifs)
    return tuple(what_ifs), tuple(problems)


def left_out_sentence(number: int, why: str) -> str:
    """Return a sentence about why a what-if of an address, by its number from 1, is left out."""
    return gettext("What-if {number} of this link is left out. {why}", number=number, why=why)


def _encoded_parts(what_if: WhatIf) -> tuple[str, ...]:
    """Return the parts of a what-if, except its parent."""
    match what_if.change:
        case SetWeights(step=step, shares=shares, lender=lender, of=of):
            parts = ("w", _position(step), _row(shares), *((lender, _text(of)) if lender else ()))
        case AttendOnly(step=step, source=source):
            parts = ("o", _position(step), _position(source))
        case ExcludeSource(step=step, source=source):
            parts = ("x", _position(step), _position(source))
        case UniformAttention(step=step):
            parts = ("a", _position(step))
        case FreezeContext(step=step):
            parts = ("f", _position(step))
        case SetTemperature(temperature=temperature, step=None):
            parts = ("t", ALL_STEPS, _thousandths(temperature))
        case SetTemperature(temperature=temperature, step=int(step)):
            parts = ("t", _position(step), _thousandths(temperature))
        case WriteWords(step=step, pieces=pieces, replaced=replaced):
            parts = ("v", _position(step), str(replaced), _ids(pieces))
        case TakeHypothesis(pieces=pieces):
            parts = ("y", _ids(pieces))
    return parts[0] + ("h" if what_if.held else ""), *parts[1:]


def _decoded(text: str) -> WhatIf:
    """Decode one what-if; raise AttnvizError where it is invalid."""
    parent, kind, *parts = (*text.split("."), "")
    letter, held, parts = kind[:1], kind[1:] == "h", parts[:-1]
    if kind[1:] not in ("", "h"):
        raise _unreadable()
    match letter, parts:
        case "w", [step, row]:
            change: Change = SetWeights(_index(step), _from_row(row))
        case "w", [step, row, lender, of]:
            change = SetWeights(_index(step), _from_row(row), lender, _from_text(of))
        case "o", [step, source]:
            change = AttendOnly(_index(step), _index(source))
        case "x", [step, source]:
            change = ExcludeSource(_index(step), _index(source))
        case "a", [step]:
            change = UniformAttention(_index(step))
        case "f", [step]:
            change = FreezeContext(_index(step))
        case "t", [step, thousandths]:
            change = SetTemperature(_temperature(thousandths), None if step == ALL_STEPS else _index(step))
        case "v", [step, replaced, pieces]:
            change = WriteWords(_index(step), _from_ids(pieces), _number(replaced))
        case "y", [pieces]:
            change = TakeHypothesis(_from_ids(pieces))
        case _:
            raise _unreadable()
    return WhatIf(_number(parent), change, held)


def _unreadable() -> AttnvizError:
    return AttnvizError(gettext("It cannot be read."))


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise _unreadable()
    return int(text)


def _thousandths(temperature: float) -> str:
    return INFINITE if temperature == math.inf else str(round(1000 * temperature))


def _temperature(text: str) -> float:
    return math.inf if text == INFINITE else _number(text) / 1000


def _position(index: int) -> str:
    """Return the index of a step or a source piece as a number from 1."""
    return str(index + 1)


def _index(text: str) -> int:
    number = _number(text)
    if not number:
        raise _unreadable()
    return number - 1


def _ids(pieces: Sequence[int]) -> str:
    return "-".join(map(str, pieces))


def _from_ids(text: str) -> tuple[int, ...]:
    return tuple(map(_number, text.split("-")))


def _row(shares: Sequence[int]) -> str:
    """Return whole numbers below 4096 as two characters each of the URL-safe base64 alphabet."""
    numbers = np.asarray(shares, dtype=np.uint16)
    return "".join(_SIGNS[number >> 6] + _SIGNS[number & 63] for number in numbers.tolist())


def _from_row(text: str) -> tuple[int, ...]:
    if not re.fullmatch("([A-Za-z0-9_-]{2})+", text) or len(text) > 2 * MOST_PIECES:
        raise _unreadable()
    signs = [_SIGNS.index(sign) for sign in text]
    return tuple(64 * high + low for high, low in zip(signs[::2], signs[1::2], strict=True))


_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def _text(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode("ascii").rstrip("=")


def _from_text(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise _unreadable() from error
