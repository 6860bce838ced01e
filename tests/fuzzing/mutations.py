"""Mutations of files (flipped bits, missing ends, values of another type) and random strings."""

import json
import random
from collections.abc import Callable
from typing import Any

ODD = (
    *(0, -1, 1, 2**31, 2**63, 10**30, 10**400, -(10**18), 65_536, 65_537, 999_983, 0.5, 1e308),
    *(float("nan"), float("inf"), True, False, None, "", "8", "additive", "none", "\u0000"),
    *([], [1], {}, {"a": 1}, [[[[]]]]),
)
_SCRAPS = (
    *("the", "a dog", "Two dogs play in the snow.", "L'accord", "\u2581\u2581", "</s>", "<unk>", "0-0 1-1", "1:2"),
    *("-1", "1e999", "0", "9" * 400, "nan", "[]", "{}", "null", ",", "~", "|", *"\ud800\u202e\u0000\t\n"),
    *("%s", "{0}", "$\\frac12$", "'\";--", "../../etc/passwd", "<script>", "=1+1", "字" * 30, "é" * 300, "a" * 5000),
    "\U0001f3f3\ufe0f\u200d\U0001f308",
)

Mutation = Callable[[bytearray, random.Random], bytearray]


def text(chance: random.Random) -> str:
    """Return anything that can be a string, mostly short."""
    pieces = []
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 40))):
        if chance.random() < 0.7:
            pieces.append(chance.choice(_SCRAPS))
        else:
            highest = chance.choice((127, 0x2FF, 0xFFFF, 0x10FFFF))
            pieces.append("".join(chr(chance.randrange(highest + 1)) for _ in range(chance.randrange(12))))
    return chance.choice(("", " ", "\n", ",")).join(pieces)


def flip(content: bytearray, chance: random.Random) -> bytearray:
    """Change a few bytes anywhere."""
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


def flip_early(content: bytearray, chance: random.Random) -> bytearray:
    """Change a few bytes at the start, where lengths and headers are."""
    for _ in range(chance.choice((1, 2, 4))):
        content[chance.randrange(min(len(content), 200))] = chance.randrange(256)
    return content


def cut(content: bytearray, chance: random.Random) -> bytearray:
    return content[: chance.randrange(len(content))]


def repeat(content: bytearray, chance: random.Random) -> bytearray:
    start, end = sorted(chance.randrange(len(content)) for _ in range(2))
    return content[:end] + content[start:]


def replace_value(content: bytearray, chance: random.Random) -> bytearray:
    """Replace a value of the JSON in `content`: all of it, or the header of a file of weights."""
    is_text = content[:1] in (b"{", b"[")
    length = 0 if is_text else int.from_bytes(content[:8], "little")
    record: Any = json.loads(content if is_text else content[8 : 8 + length])
    here: Any = record
    while True:
        key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
        if not isinstance(here[key], (dict, list)) or not here[key] or chance.random() < 0.2:
            break
        here = here[key]
    here[key] = text(chance) if chance.random() < 0.2 else chance.choice(ODD)
    written = bytearray(json.dumps(record).encode())
    return written if is_text else bytearray(len(written).to_bytes(8, "little")) + written + content[8 + length :]


def replace_line(content: bytearray, chance: random.Random) -> bytearray:
    lines = content.split(b"\n")
    place = chance.randrange(len(lines))
    new = [bytearray(text(chance).encode("utf-8", "surrogatepass"))]
    lines[place : place + chance.choice((0, 1, 1))] = chance.choice((new, new, []))
    return bytearray(b"\n").join(lines)


ANY: tuple[Mutation, ...] = (flip, flip_early, cut, repeat)
JSON: tuple[Mutation, ...] = (*ANY, replace_value, replace_value, replace_value)
LINES: tuple[Mutation, ...] = (*ANY, replace_line, replace_line, replace_line)
