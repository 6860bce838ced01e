"""Message catalogs: each has exactly the code's sentences, with numbers and plurals of its language."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.catalog import Catalog
from babel.numbers import format_decimal, format_percent

import attnviz
from attnviz.environment import ATTNVIZ_LOCALES
from attnviz.languages import (
    LANGUAGES,
    LOCALES,
    decimal_mark,
    format_number,
    format_share,
    gettext,
    ngettext,
    read_catalog,
)
from tests.catalogs import PSEUDO, content, extract, file_problems, problems, pseudo, update, write_pseudo
from tests.processes import run_python

PACKAGE = Path(attnviz.__file__).parent
CATALOGS = sorted(LOCALES.glob("*.po"))


def test_every_catalog_is_up_to_date() -> None:
    template = extract()
    assert {path.name: file_problems(path, template) for path in CATALOGS} == {path.name: [] for path in CATALOGS}


def module(folder: Path, *lines: str) -> Path:
    package = folder / "package"
    package.mkdir(exist_ok=True)
    (package / "texts.py").write_text("\n".join(lines), encoding="utf-8")
    return package


def test_changed_sentence_keeps_translation_as_fuzzy(tmp_path) -> None:
    package = module(tmp_path, 'gettext("Two dogs play in the snow.")', 'ngettext("{count} dog", "{count} dogs", 2)')
    catalog = Catalog(locale="fr")
    update(catalog, extract(package))
    assert len(problems(catalog, extract(package))) == 2, "both messages are missing"
    catalog["Two dogs play in the snow."].string = "Deux chiens jouent dans la neige."
    # Babel 2.19 gives French a third form, for millions.
    catalog["{count} dog"].string = ("{count} chien", *["{count} chiens"] * (catalog.num_plurals - 1))
    assert not problems(catalog, extract(package))

    dogs = 'ngettext("{count} dog", "{count} dogs", 2)'
    changed = extract(module(tmp_path, 'gettext("Two dogs play in snow.")', dogs))
    update(catalog, changed)
    path = tmp_path / "fr.po"
    path.write_bytes(content(catalog))
    again = read_catalog(path)
    translated = again["Two dogs play in snow."]
    assert translated.fuzzy
    assert translated.string == "Deux chiens jouent dans la neige."
    assert '#| msgid "Two dogs play in the snow."' in path.read_text(encoding="utf-8")
    assert problems(again, changed) == ["fuzzy: Two dogs play in snow."]

    fewer = extract(module(tmp_path, 'gettext("Two dogs play in snow.")'))
    assert any(problem.startswith("obsolete: ") for problem in problems(again, fewer))


def test_sentence_may_be_chosen_from_literals(tmp_path) -> None:
    lines = (
        'gettext("One" if b else "Two" if c else "Three", a=1)',
        'gettext({"a": "Four", "b": "Five"}[key])',
        'gettexts({"a": "Six", "b": "Seven"})',
        'ngettext("{count} dog" if b else "{count} cat", "{count} dogs" if b else "{count} cats", 2)',
    )
    dogs, cats = ("{count} dog", "{count} dogs"), ("{count} cat", "{count} cats")
    expected = {"One", "Two", "Three", "Four", "Five", "Six", "Seven", dogs, cats}
    assert {message.id for message in extract(module(tmp_path, *lines)) if message.id} == expected


@pytest.mark.parametrize("call", ["gettext(text)", "gettext(A if b else 'One')", 'gettexts({"a": f"{one}"})'])
def test_sentence_must_be_literal(tmp_path, call) -> None:
    with pytest.raises(ValueError, match="literal"):
        extract(module(tmp_path, call))


def test_catalog_must_be_as_it_is_generated(tmp_path) -> None:
    template, path, catalog = extract(module(tmp_path, 'gettext("Yes")')), tmp_path / "fr.po", Catalog(locale="fr")
    catalog.add("Yes", "Oui")
    update(catalog, template)
    path.write_bytes(content(catalog))
    assert file_problems(path, template) == []
    path.write_bytes(path.read_bytes().replace(b"texts.py", b"other.py"))
    assert len(file_problems(path, template)) == 1


def test_translation_must_keep_placeholders(tmp_path) -> None:
    package = module(tmp_path, 'gettext("{a} and {b}", a=1, b=2)', 'ngettext("One dog", "{count} dogs", 2)')
    catalog = Catalog(locale="fr")
    update(catalog, extract(package))
    catalog["{a} and {b}"].string = "{a} et {c}"
    catalog["One dog"].string = ("Un chien", "Des chiens")
    assert len(problems(catalog, extract(package))) == 2
    catalog["{a} and {b}"].string = "{b} et {a}"
    catalog["One dog"].string = ("Un chien", "{count} chiens")
    assert not problems(catalog, extract(package))


@pytest.mark.parametrize(
    ("french", "right"),
    [
        ("Oui\u00a0: «\u00a0non\u00a0».", True),
        ("Oui\u202f; non\u202f?", True),
        ("Touches (?), <a:b>", True),
        ("Oui : non", False),
        ("Oui\u00a0; non", False),
        ("«non»", False),
        ("5\u202f%", False),
        ("1\u202f000 mots", True),
        ("1 000 mots", False),
    ],
)
def test_french_punctuation_has_non_breaking_spaces(tmp_path, french, right) -> None:
    template = extract(module(tmp_path, 'gettext("Yes")'))
    catalog = Catalog(locale="fr")
    catalog.add("Yes", french)
    assert problems(catalog, template) == ([] if right else ["spaces: Yes"])


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.html")), ids=lambda path: path.name)
def test_markup_contains_no_untranslated_words(path) -> None:
    html = re.sub(r"\{\{\w+\}\}", "", path.read_text(encoding="utf-8"))
    read = re.sub(r"<[^>]*>", " ", html) + " ".join(re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', html))
    assert not re.search(r"[^\W\d_]{2,}", read), read


def test_plural_forms_are_those_of_babel(each_language) -> None:
    for count in (0, 1, 1.9, -1.9, 2, 1_000_000):
        is_one = Locale(each_language).plural_form(count) == "one"
        assert ngettext("{count} step", "{count} steps", count).endswith("s") != is_one, count


@pytest.mark.parametrize("each_language", [*LANGUAGES], indirect=True)
def test_numbers_equal_those_of_babel(each_language) -> None:
    for value in (0.5, -0.25, 1234.5678, 2.675, 0.0):
        for places in (0, 1, 2, 4):
            # Babel rounds the decimal number that Python prints, Python the number itself: 2.675 is a little less.
            expected = format_decimal(Decimal(value), f"0.{'0' * places}" if places else "0", locale=each_language)
            expected = "0" if expected == "-0" else expected.replace("-", "−")  # what rounds to zero has no sign
            assert format_number(value, f".{places}f") == expected
    assert format_number(1234567, ",") == format_decimal(1234567, locale=each_language)
    assert gettext("{count:,}", count=1234567) == format_number(1234567, ",")
    if each_language != "en":
        assert format_share(0.256) == format_percent(0.256, locale=each_language)
    assert format_share(0.9994, 1).startswith(f"99{decimal_mark()}9\u00a0")


def test_third_language_needs_only_one_file(tmp_path) -> None:
    program = (
        "from attnviz.languages import *; set_language('eo');"
        "print(LANGUAGES['eo'], gettext('Step'), ngettext('{count} step', '{count} steps', 2), format_number(0.5))"
    )
    settings = {ATTNVIZ_LOCALES: str(write_pseudo(tmp_path).parent), "PYTHONIOENCODING": "utf-8"}
    printed = run_python("-c", program, **settings)
    assert PSEUDO == "eo"
    assert printed == f"Esperanto {pseudo('Step')} {pseudo('2 steps')} 0,5\n"
