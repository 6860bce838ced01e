"""Every regular expression of the package takes linear time on hostile text, also those that are written in a call.

Python's engine backtracks and holds the global interpreter lock: one text that makes it take exponential time stops a
server for everybody. Each repetition of each pattern is made long in turn, and what follows it is made not to match.
"""

import ast
import importlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from re import _parser as parser
from typing import Any

import pytest

import attnviz
from tests.processes import run_python

PACKAGE = Path(attnviz.__file__).parent
METHODS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SHORT, LONG = 3_000, 6_000
"""Lengths of hostile texts, in repetitions."""
SLOW = 0.02
"""Seconds under which a time is too short to be compared."""
GROWTH = 3.2
"""Largest ratio of the times of two texts, one twice as long: 2 is linear, 4 quadratic."""
REPEATS = (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT)


def modules() -> list[Path]:
    """Return the modules of the package that use regular expressions."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "\nimport re\n" in path.read_text("utf-8")]


def methods_of(name: str, path: Path) -> tuple[str, ...]:
    """Return the methods of a named pattern that its module calls, and those of others if its name is public."""
    readers = [path] if name.startswith("_") else modules()
    source = "\n".join(one.read_text("utf-8") for one in readers)
    called = set(re.findall(rf"\b{name}\.(fullmatch|match|search|sub|split|findall|finditer)\b", source))
    others = set(re.findall(r"\bpattern\.(fullmatch|match|search|sub|split|findall|finditer)\b", source))
    return tuple(sorted(called or others)) or ("fullmatch", "search")


def named(values: dict[str, Any]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns among the values of a module, also those in its tables, with their names."""
    for name, value in values.items():
        inner = list(value.values()) if isinstance(value, dict) else [value]
        inner = [one for part in inner for one in (part if isinstance(part, tuple | list) else [part])]
        yield from ((name, one) for one in inner if isinstance(one, re.Pattern))


def patterns_of(path: Path) -> dict[str, tuple[re.Pattern[Any], tuple[str, ...]]]:
    """Return the patterns of a module and their use, by name or line; fail for one made while a function runs."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    by_name = enumerate(named(vars(module)))
    found = {f"{name}.{key} {number}": (value, methods_of(key, path)) for number, (key, value) in by_name}
    tree = ast.parse(path.read_text("utf-8"))
    statements = [one for one in tree.body if not isinstance(one, ast.FunctionDef | ast.ClassDef)]
    top = {id(node) for statement in statements for node in ast.walk(statement)}
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
        if not is_call or ast.unparse(node.func.value) != "re" or node.func.attr not in METHODS or id(node) in top:
            continue
        literal = node.args[0]
        if not (isinstance(literal, ast.Constant) and isinstance(literal.value, str | bytes)):
            pytest.fail(f"{name}:{node.lineno}: give this pattern a name at the top of the module")
        found[f"{name}:{node.lineno}"] = (re.compile(literal.value), (node.func.attr,))
    return found


def character(node: tuple[Any, Any]) -> str:
    """Return a character that a node of a parsed pattern matches."""
    kind, value = node
    if kind is parser.LITERAL:
        return chr(value)
    if kind is parser.RANGE:
        return chr(value[0])
    if kind is parser.CATEGORY:
        one = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_SPACE": "a"}
        return one.get(str(value), "-")
    if kind is parser.IN and value[0][0] is not parser.NEGATE:
        return character(value[0])
    excluded = {chr(value)} if kind is parser.NOT_LITERAL else set()
    if kind is parser.IN:
        excluded = {character(part) for part in value[1:]}
    return next(one for one in "a1 -,|" if one not in excluded)


def inner_of(kind: Any, value: Any) -> list[Any]:
    """Return the patterns within a node that is a group or a choice."""
    if kind is parser.BRANCH:
        return value[1]
    return [value] if kind is parser.ATOMIC_GROUP else [value[-1]] if kind is parser.SUBPATTERN else []


def texts(nodes: Any, long: Any, count: int) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text that matches `nodes`, and whether each holds the repetition `long`, `count` times."""
    for kind, value in nodes:
        if kind in REPEATS:
            least, most, inner = value
            once = "".join(part for part, _ in texts(inner, long, count))
            within = any(hit for _, hit in texts(inner, long, count))
            if value is long:
                yield once * min(count, most if most is not parser.MAXREPEAT else count), True
                return
            yield once * max(least, min(1, most)), within
            if within:
                return
        elif branches := [list(texts(inner, long, count)) for inner in inner_of(kind, value)]:
            yield from next((one for one in branches if any(hit for _, hit in one)), branches[0])
        elif kind in (parser.AT, parser.ASSERT, parser.ASSERT_NOT, parser.GROUPREF, parser.GROUPREF_EXISTS):
            continue
        else:
            yield character((kind, value)), False


def repetitions(nodes: Any) -> Iterator[Any]:
    """Yield the repetitions in a parsed pattern, also those within one another."""
    for kind, value in nodes:
        if kind in REPEATS:
            yield value
        for inner in [value[2]] if kind in REPEATS else inner_of(kind, value):
            yield from repetitions(inner)


def hostile(pattern: re.Pattern[Any], count: int) -> list[Any]:
    """Return texts that make each repetition of a pattern long, and the matching text again and again."""
    is_bytes = isinstance(pattern.pattern, bytes)
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if is_bytes else pattern.flags)
    found = list[str]()
    for long in repetitions(parsed):
        begin = ""
        for part, hit in texts(parsed, long, count):
            begin += part
            if hit:
                break
        found += [begin + end for end in ("\x00", "-0", "!", " x")]
    once = "".join(part for part, _ in texts(parsed, None, 1))
    found += [once * count, once[:-1] * count + "\x00", once[:1] * count + "\x00"]
    return [text.encode("latin-1", "replace") for text in found] if is_bytes else found


def seconds(pattern: re.Pattern[Any], methods: tuple[str, ...], text: Any) -> float:
    """Return the shortest processor time in which these methods of a pattern read a text."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for method in methods:
            if method in ("fullmatch", "match"):
                getattr(pattern, method)(text)
            else:
                list(pattern.finditer(text))
        best = min(best, time.process_time() - started)
        if best < SLOW:
            break
    return best


def check(pattern: re.Pattern[Any], methods: tuple[str, ...], name: str) -> None:
    """Print a line where a pattern takes more than linear time; a short text first, for exponential time."""
    for small, short, long in zip(*(hostile(pattern, count) for count in (30, SHORT, LONG)), strict=True):
        seconds(pattern, methods, small)
        times = seconds(pattern, methods, short), seconds(pattern, methods, long)
        if times[1] > max(SLOW, GROWTH * times[0]):
            print(f"slow {name}: {pattern.pattern!r} on {long[:60]!r}: {times[0]:.3f} and {times[1]:.3f} s", flush=True)
            return


@pytest.mark.nightly
def test_every_pattern_takes_linear_time() -> None:
    lines = run_python("-c", "from tests.test_linear_patterns import run; run()").splitlines()
    assert [line for line in lines if line.startswith("slow")] == []
    assert len(lines) > 80, "the patterns are found"


def run() -> None:
    """Check all patterns, and print the name of each before it, so that one that never ends is known."""
    for path in modules():
        for name, (pattern, methods) in patterns_of(path).items():
            print(name, flush=True)
            check(pattern, methods, name)
