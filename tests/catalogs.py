"""Update the message catalogs from the code: `python -m tests.catalogs` rewrites each `.po` file.

`--check` only says what is not up to date, and fails; `--new de` begins a language; `--pseudo FOLDER` writes a
generated one there, which the app shows with `ATTNVIZ_LOCALES=FOLDER`.
"""

import argparse
import ast
import functools
import io
import re
import string
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import write_po

import attnviz
from attnviz.languages import LOCALES, read_catalog

PACKAGE = Path(attnviz.__file__).parent
MESSAGES = {"gettext": 1, "gettexts": 1, "ngettext": 2, "user_error": 1}
"""How many of a function's arguments are English sentences."""
PSEUDO = "eo"
"""Code of the generated language: Babel must know it, and nobody has translated the app to Esperanto."""


@functools.cache
def messages_of(path: Path, text: str) -> tuple[tuple[str, ...], ...]:
    """Return the English sentences of the calls of functions in `MESSAGES`; raise ValueError where one is no literal.

    Babel's own extraction for Python misses calls inside f-strings, and passes over a sentence that is no literal.
    """
    found, tree = [], ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        count = MESSAGES.get(ast.unparse(call.func), 0)
        found += zip(*(literals(path, one) for one in call.args[:count]), strict=True)
    return tuple(found)


def literals(path: Path, node: ast.expr) -> Iterator[str]:
    """Yield the sentences that an expression chooses from, `a if b else c` or a table; raise ValueError for another."""
    match node:
        case ast.Constant(str() as sentence):
            yield sentence
        case ast.IfExp(body=one, orelse=other):
            yield from (*literals(path, one), *literals(path, other))
        case ast.Dict(values=rows) | ast.Subscript(value=ast.Dict(values=rows)):
            for row in rows:
                yield from literals(path, row)
        case _:
            raise ValueError(f"{path}:{node.lineno}: a sentence must be a literal, without f")


def extract(package: Path = PACKAGE) -> Catalog:
    """Return the messages of a package by their English, each with the files it is in, in the order of the code."""
    template = Catalog()
    for path in sorted(package.rglob("*.py")):
        for message in messages_of(path, path.read_text(encoding="utf-8")):
            place = (path.relative_to(package.parent).as_posix(), 1)
            template.add(message if len(message) > 1 else message[0], locations=[place])
    return template


def update(catalog: Catalog, template: Catalog) -> None:
    """Bring `catalog` up to date: a changed sentence keeps its translation, marked as fuzzy.

    What the code has no more stays as obsolete while something is untranslated, which it may be the translation of.
    """
    catalog.update(template, update_creation_date=False)
    for message in catalog:  # Babel 2.18 reads the previous English of a fuzzy translation, `#|`, as a comment
        if not message.fuzzy:
            message.user_comments = [comment for comment in message.user_comments if not comment.startswith("|")]
    if all(all(forms(message)) and not message.fuzzy for message in catalog if message.id):
        catalog.obsolete.clear()


def content(catalog: Catalog) -> bytes:
    """Return the file of `catalog`: by source file, without line numbers and without the version of Babel."""
    written = io.BytesIO()
    write_po(written, catalog, width=120, sort_by_file=True, include_lineno=False, include_previous=True)
    lines = written.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b'"Generated-By: '))


def file_problems(path: Path, template: Catalog) -> list[str]:
    """Return the `problems` of the catalog in a file, and whether this command would write another file."""
    catalog = read_catalog(path)
    found = problems(catalog, template)
    update(catalog, template)
    return found if content(catalog) == path.read_bytes() else [*found, "not as python -m tests.catalogs writes it"]


_FRENCH_SPACES = re.compile("(?!\u00a0)\\s[:%»]|(?!\u202f)\\s[;?!]|«(?!\u00a0)|[0-9](?!\u202f)\\s[0-9]{3}")
"""A wrong space in French, or none after «: U+00A0 is right at « » : %, U+202F at ; ? ! and between thousands."""


def problems(catalog: Catalog, template: Catalog) -> list[str]:
    """Return what is missing, fuzzy or obsolete in a catalog, or has other placeholders or wrong spaces."""
    found = [f"obsolete: {message.id}" for message in catalog.obsolete.values()]
    found += [f"obsolete: {message.id}" for message in catalog if message.id and message.id not in template]
    for message in template:
        own = catalog.get(message.id) if message.id else None
        if not message.id:
            continue
        if own is None or own.id != message.id or not all(forms(own)):
            found.append(f"missing: {message.id}")
        elif own.fuzzy:
            found.append(f"fuzzy: {message.id}")
        elif not same_placeholders(own):
            found.append(f"placeholders: {message.id}")
        elif str(catalog.locale) == "fr" and any(map(_FRENCH_SPACES.search, forms(own))):
            found.append(f"spaces: {message.id}")
    return found


def forms(message: Message) -> tuple[str, ...]:
    """Return the translations of a message: one, or one for each plural form."""
    return message.string if isinstance(message.string, tuple) else (message.string or "",)


def same_placeholders(message: Message) -> bool:
    """Return whether translations have the placeholders of the English; a singular may leave out the count."""
    english = message.id if isinstance(message.id, tuple) else (message.id,)
    try:
        expected = placeholders(english[-1])
    except ValueError:  # braces of LaTeX or CSS
        return True
    first, *others = (placeholders(text) for text in forms(message))
    if len(english) == 1:
        return first == expected
    return first | {"count"} == expected | {"count"} and all(one == expected for one in others)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


_KEPT = re.compile(r"(<[^>]*>|%?\{[^{}]*\}|&\w+;)")
_ACCENTED = str.maketrans(
    {pair[2]: pair[:2] for pair in "áàa éèe íìi óòo úùu ýÿy ñnn šss ÁàA ÉèE ÍìI ÓòO ÚùU ÝÿY".split()}  # noqa: SIM905
)


def pseudo(text: str) -> str:
    """Return a text with accents, 40 % longer, in brackets; its placeholders and markup stay. LaTeX stays as it is."""
    if "\\" in text:
        return text
    parts = (part if _KEPT.fullmatch(part) else part.translate(_ACCENTED) for part in _KEPT.split(text))
    return f"[{''.join(parts)}]"


def write_pseudo(folder: Path) -> Path:
    """Write a catalog of the whole app in the generated language into `folder`."""
    made = datetime(2000, 1, 1, tzinfo=UTC)
    catalog = Catalog(locale=PSEUDO, fuzzy=False, creation_date=made, revision_date=made)
    for message in extract():
        if message.id:
            english = message.id if isinstance(message.id, tuple) else (message.id,)
            translated = tuple(map(pseudo, english))
            catalog.add(message.id, translated if len(english) > 1 else translated[0], message.locations)
    path = folder / f"{PSEUDO}.po"
    path.write_bytes(content(catalog))
    return path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.catalogs", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where something is not up to date")
    parser.add_argument("--new", metavar="CODE", help="begin the catalog of a language, such as de")
    parser.add_argument("--pseudo", type=Path, metavar="FOLDER", help="write a generated language into FOLDER")
    options = parser.parse_args(arguments)
    if options.pseudo:
        print(write_pseudo(options.pseudo))
        return 0
    template, status = extract(), 0
    if options.new is not None:
        path = LOCALES / f"{options.new}.po"
        if path.exists():
            parser.error(f"{path.name} is there already")
        made = datetime.now(UTC)
        try:
            new = Catalog(locale=options.new, fuzzy=False, creation_date=made, revision_date=made)
            Locale.parse(options.new)
        except (UnknownLocaleError, ValueError) as error:
            parser.error(f"--new: {error}")
        path.write_bytes(content(new))
    for path in sorted(LOCALES.glob("*.po")):
        if not options.check:
            catalog = read_catalog(path)
            update(catalog, template)
            path.write_bytes(content(catalog))
        found = file_problems(path, template)
        print(f"{path.name}: {len(template)} messages, {len(found)} to review", *found, sep="\n  ")
        status = status or int(bool(found))
    return status if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
