"""Read the fields of a YAML file strictly: each error is a sentence with the line, what was found and what to do."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from typing import Any, NoReturn

import yaml

from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.reading import Limits, content_of, pause
from attnviz.text import with_symbols

LESSON_LIMITS = Limits(bytes=256_000, values=20_000)
"""A lesson for an hour has about 20,000 bytes and 1,000 nodes, and PyYAML reads 100,000 bytes a second."""
_DEEPEST = 20


def fail(line: int, message: str) -> NoReturn:
    """Raise AttnvizError with the number of the line before the `message`."""
    raise AttnvizError(at_line(line, message))


def at_line(line: int, message: str) -> str:
    """Return the `message` with the number of the line before it."""
    return gettext("Line {line}: {message}", line=line, message=message)


def line_of(node: yaml.Node) -> int:
    """Return the number of the line, from 1, where `node` begins."""
    return int(node.start_mark.line) + 1


class _Loader(yaml.SafeLoader):
    """Composes at most so many nodes, at most so deep, of which only texts may be repeated by aliases."""

    nodes = depth = characters = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Return the next node; raise AttnvizError where the file exceeds its limits or repeats fields or lists."""
        pause()
        event = self.peek_event()
        self.nodes += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            fail(event.start_mark.line + 1, gettext("the fields are nested too deeply for a lesson file."))
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.ScalarNode):
            self.characters += len(node.value)
        elif isinstance(event, yaml.AliasEvent):
            message = gettext("{name} repeats fields or a list. Write them out.", name=quoted(f"*{event.anchor}"))
            fail(event.start_mark.line + 1, message)
        LESSON_LIMITS.check(values=self.nodes, bytes=self.characters)
        return node


def root_of(content: bytes) -> yaml.Node:
    """Return the root of the YAML document in the bytes of a file; raise AttnvizError where there is none."""
    text = content_of(content, limits=LESSON_LIMITS).text
    try:
        root = yaml.compose(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fail(
            mark.line + 1 if mark else 1,
            gettext(
                "the file is not valid YAML ({problem}). Check the indentation. Put single quotes (') around any text "
                "that contains a colon, a # or a quotation mark.",
                problem=str(error.problem or error.context)[:200],
            ),
        )
    except yaml.reader.ReaderError as error:
        fail(
            text.count("\n", 0, error.position) + 1,
            gettext("the file has a character that YAML does not allow. Delete this character."),
        )
    if root is None:
        raise user_error("The file is empty. Write the lesson into the file.")
    return root


def description(node: yaml.Node) -> str:
    """Return what a node is, for a message."""
    if isinstance(node, yaml.MappingNode):
        return gettext("fields")
    if isinstance(node, yaml.SequenceNode):
        return gettext("a list")
    return quoted(node.value) if node.value else gettext("nothing")


def quoted(text: str) -> str:
    """Return `text` in quotation marks, shortened to 60 characters."""
    return gettext("“{text}”", text=text if len(text) <= 60 else text[:59] + "…")


def nearest_name(name: str, names: Collection[str]) -> str:
    """Return a sentence with the one of `names` that is spelled most like `name`, or with all of them."""
    if close := difflib.get_close_matches(name, names, 1, 0.6):
        return gettext("Did you mean {name}?", name=quoted(close[0]))
    return gettext("Choose from: {names}.", names=", ".join(names))


class Fields:
    """The fields of a mapping, each of which must have a known name and occur once."""

    def __init__(self, node: yaml.Node, names: Collection[str]) -> None:
        if not isinstance(node, yaml.MappingNode):
            message = gettext(
                "fields of the form “name: value” are expected here; found {found}.", found=description(node)
            )
            fail(line_of(node), message)
        self.line = line_of(node)
        self._nodes: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else description(key)
            if name not in names:
                message = gettext(
                    "there is no field {name} here. {nearest}", name=quoted(name), nearest=nearest_name(name, names)
                )
                fail(line_of(key), message)
            if name in self._nodes:
                message = gettext(
                    "the field {name} is also in line {line}. Give this field only once.",
                    name=quoted(name),
                    line=line_of(self._nodes[name]),
                )
                fail(line_of(key), message)
            self._nodes[name] = value

    def __contains__(self, name: str) -> bool:
        """Return whether there is a field of this name."""
        return name in self._nodes

    def node(self, name: str) -> yaml.Node:
        """Return the node of a field that must be there."""
        if name not in self._nodes:
            fail(self.line, gettext("the field {name} is missing. Add the field.", name=quoted(name)))
        return self._nodes[name]

    def line_of(self, name: str) -> int:
        """Return the line of a field, or of the mapping where there is no such field."""
        return line_of(self._nodes[name]) if name in self._nodes else self.line

    def items(self, name: str) -> list[yaml.Node]:
        """Return the items of a list, which must have at least one."""
        node = self.node(name)
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            message = gettext(
                "{name} must be a list, with a dash before each item; found {found}.",
                name=quoted(name),
                found=description(node) if not isinstance(node, yaml.SequenceNode) else gettext("an empty list"),
            )
            fail(line_of(node), message)
        items: list[yaml.Node] = node.value
        return items

    def text(self, name: str) -> str:
        """Return the text of a field."""
        return text_of(self.node(name), name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list; an absent field has none."""
        return tuple(text_of(item, name) for item in self.items(name)) if name in self else ()

    def one_of(self, name: str, values: Collection[str], default: str | None = None) -> str:
        """Return the text of a field, which must be one of `values`; an absent field has the `default`."""
        if default is not None and name not in self:
            return default
        return checked_choice(self.node(name), name, values)

    def choices(self, name: str, values: Collection[str]) -> tuple[str, ...]:
        """Return the texts of a list, each one of `values`; an absent field and an empty list have none."""
        if name not in self:
            return ()
        node = self.node(name)
        if isinstance(node, yaml.SequenceNode) and not node.value:
            return ()
        return tuple(checked_choice(item, name, values) for item in self.items(name))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return the whole number of a field; None where it is absent."""
        if name not in self:
            return None
        text = self.text(name)
        if not (text.isascii() and text.isdigit() and len(text) < 7 and least <= int(text) <= most):
            message = gettext(
                "{name} must be a whole number from {least} to {most}; found {found}.",
                name=quoted(name),
                least=least,
                most=most,
                found=quoted(text),
            )
            fail(self.line_of(name), message)
        return int(text)

    def positive(self, name: str) -> float:
        """Return the number of a field, which must be above 0."""
        text = self.text(name)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            message = gettext(
                "{name} must be a number above 0, such as 10 or 0.5; found {found}.",
                name=quoted(name),
                found=quoted(text),
            )
            fail(self.line_of(name), message)
        return value


def text_of(node: yaml.Node, name: str) -> str:
    """Return the text of a node, as it is written: also where YAML would read a number, a date or a truth value."""
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        fail(
            line_of(node), gettext("{name} must be a text; found {found}.", name=quoted(name), found=description(node))
        )
    text = re.sub(r"[ \t\r\n]+", " ", node.value).strip(" ")  # no-break spaces stay
    return with_symbols(text)  # YAML's escapes may name half a character (a lone surrogate)


def checked_choice(node: yaml.Node, name: str, values: Collection[str]) -> str:
    """Return the text of a node, which must be one of `values`."""
    text = text_of(node, name)
    if text not in values:
        message = gettext(
            "{name} cannot be {found}. {nearest}",
            name=quoted(name),
            found=quoted(text),
            nearest=nearest_name(text, values),
        )
        fail(line_of(node), message)
    return text
