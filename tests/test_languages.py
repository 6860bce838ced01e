"""Message catalogs: exactly the code's sentences; numbers, decimal commas and plurals of each language."""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from babel import Locale
from babel.messages.catalog import Catalog
from babel.numbers import format_decimal, format_percent

import attnviz
from attnviz import Trace
from attnviz.analysis.labels import decimal, number, signed, significant
from attnviz.analysis.logit_attribution import logit_attribution, logit_attribution_sentence
from attnviz.analysis.stages import step_sentence
from attnviz.analysis.verification import Discrepancy, discrepancy_text
from attnviz.architectures import narrate
from attnviz.environment import ATTNVIZ_LOCALES
from attnviz.export import heatmap_tikz
from attnviz.languages import (
    LANGUAGES,
    LOCALES,
    decimal_mark,
    format_number,
    format_share,
    gettext,
    ngettext,
    read_catalog,
    set_language,
)
from attnviz.model_folder import read_weights
from attnviz.ui.blocks import tables_payload
from attnviz.ui.step.gold_panel import findings_payload
from tests.analysis.given import equations
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


def test_sentence_is_a_literal_or_chosen_from_literals(tmp_path) -> None:
    lines = (
        'gettext("One" if b else "Two" if c else "Three", a=1)',
        'gettext({"a": "Four", "b": "Five"}[key])',
        'gettexts({"a": "Six", "b": "Seven"})',
        'ngettext("{count} dog" if b else "{count} cat", "{count} dogs" if b else "{count} cats", 2)',
    )
    dogs, cats = ("{count} dog", "{count} dogs"), ("{count} cat", "{count} cats")
    expected = {"One", "Two", "Three", "Four", "Five", "Six", "Seven", dogs, cats}
    assert {message.id for message in extract(module(tmp_path, *lines)) if message.id} == expected
    for call in ("gettext(text)", "gettext(A if b else 'One')", 'gettexts({"a": f"{one}"})'):
        with pytest.raises(ValueError, match="literal"):
            extract(module(tmp_path, call))


def test_catalog_must_be_as_it_is_generated_and_keep_placeholders(tmp_path) -> None:
    package = module(tmp_path, 'gettext("{a} and {b}", a=1, b=2)', 'ngettext("One dog", "{count} dogs", 2)')
    catalog = Catalog(locale="fr")
    update(catalog, extract(package))
    catalog["{a} and {b}"].string = "{a} et {c}"
    catalog["One dog"].string = ("Un chien", "Des chiens")
    assert len(problems(catalog, extract(package))) == 2
    catalog["{a} and {b}"].string = "{b} et {a}"
    catalog["One dog"].string = ("Un chien", "{count} chiens")
    assert not problems(catalog, extract(package))
    template, path, catalog = extract(module(tmp_path, 'gettext("Yes")')), tmp_path / "fr.po", Catalog(locale="fr")
    catalog.add("Yes", "Oui")
    update(catalog, template)
    path.write_bytes(content(catalog))
    assert file_problems(path, template) == []
    path.write_bytes(path.read_bytes().replace(b"texts.py", b"other.py"))
    assert len(file_problems(path, template)) == 1


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
    assert format_number(np.int64(-1234567)) == format_decimal(-1234567, locale=each_language).replace("-", "−")
    assert gettext("{count}", count=1234567) == format_number(1234567) != "1234567"
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


POINT = re.compile(r"\d\.\d")


@pytest.fixture
def _in_french() -> None:
    set_language("fr")


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate("Two dogs play in the snow, and nobody looks at them.", beam=1)


SPREAD = "like a weight spread evenly over {count:.1f} pieces"


@pytest.mark.parametrize(
    ("count", "ending"),
    [(1.94, "1,9 sous-mot"), (1.96, "2,0 sous-mots"), (1.0, "1,0 sous-mot"), (3.0, "3,0 sous-mots")],
)
@pytest.mark.usefixtures("_in_french")
def test_plural_starts_at_2_as_rounded(count, ending) -> None:
    assert ngettext(SPREAD, SPREAD, count).endswith(f" {ending}")  # a number that is written rounded
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1,23", "0,012", "+0,50")
    assert number(0.25) == "0{,}250"
    set_language("en")
    assert (decimal(-1.234), significant(0.0123), signed(0.5)) == ("−1.23", "0.012", "+0.50")
    assert (signed(0.004), signed(-0.004)) == ("0.00", "0.00")
    assert number(0.25) == "0.250"


@pytest.mark.usefixtures("_in_french")
def test_sentences_contain_no_decimal_points(trace, model_folder) -> None:
    sentences = [*findings_payload(trace)["steps"], findings_payload(trace)["summary"]]
    sentences += [finding["text"] for finding in findings_payload(trace)["findings"]]
    for step in range(len(trace.target_pieces)):
        sentences.append(step_sentence(trace, step))
        sentences += [text for stage in narrate(trace, step) for text in (stage.sentence, stage.outcome)]
        sentences += [equation.latex for equation in equations(trace, step)]
    entries = logit_attribution(trace, read_weights(model_folder), 1, trace.target_ids[1])
    sentences.append(logit_attribution_sentence(trace, entries, "un", None))
    sentences.append(discrepancy_text(trace, Discrepancy("energies", (1,), 2.5, 2.0), 3))
    assert not [text for text in sentences if POINT.search(text)]
    assert any(re.search(r"\d,\d", text) for text in sentences)
    assert re.search(r"\d\.\d{4}", heatmap_tikz(trace)), "a file for a machine"
    assert not re.search(r"\{\d,\d", heatmap_tikz(trace))


@pytest.mark.usefixtures("_in_french")
def test_tables_of_charts_have_decimal_commas_and_french_words() -> None:
    columns = {"v": [-0.5, None], "rank": [-3, 12345678], "saturated": [True, False], "piece": ["0.5", "a"]}
    (payload,) = tables_payload([("units", pd.DataFrame(columns, index=[0.5, -1]))])["tables"]
    assert payload["rows"] == [["0,5", "−0,5", "−3", "oui", "0.5"], ["−1", "", "12\u202f345\u202f678", "non", "a"]]
    assert payload["texts"] == [True, False, False, True, True]
