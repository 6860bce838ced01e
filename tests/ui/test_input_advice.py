"""Advice about text that is no single English sentence: what is recognised, and what its buttons translate."""

import pytest

from attnviz.analysis.input_advice import advice, foreign_language, sentences
from attnviz.ui.examples import EXAMPLES, SAMPLE
from tests.ui.opening import field, set_field
from tests.ui.shown_payloads import panel_texts

SAMPLES = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
SECOND = "A man sleeps in the snow."
TWO = f"Two dogs play. {SECOND}"


def test_each_kind_of_unsuitable_text_gets_its_advice(snapshot) -> None:
    unsuitable = [
        TWO,
        "THE GREEN HOUSE IS OLD.",
        "Le chat est sur la table.",
        "Das ist ein Haus.",
        "La casa es muy grande.",
        "See https://example.org/a for details.",
        "It &apos;s a well @-@ known house .",
    ]
    found = map(advice, unsuitable)
    assert [(one.sentence, one.instead) if one else None for one in found] == snapshot


def test_english_sentences_get_no_advice() -> None:
    """Of the sample's sentences at most 1 in 500 may; of the page's examples, only the one of seven sentences."""
    assert sum(advice(english) is not None for english, *_ in SAMPLES) <= len(SAMPLES) / 500
    examples = [sentence for kind in EXAMPLES.values() for sentence in kind]
    assert [len(sentences(one)) for one in examples if advice(one)] == [7]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich bin heute sehr müde.", "de"),
        ("Wo ist der Bahnhof?", "de"),
        ("El perro duerme en la nieve.", "es"),
        ("¿Dónde está la estación?", "es"),
        ("Il est fatigué.", "fr"),
        ("The café in El Paso was closed.", None),
        ("He studied at Die Zeit in Hamburg.", None),
        ("No, so am I.", None),
    ],
)
def test_languages_are_told_apart(text: str, language: str | None) -> None:
    assert foreign_language(text) == language


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (TWO, 2),
        ("Mr. Smith met Dr. J. K. Brown in the U.S. Senate.", 1),
        ("No. It is, e.g. Sparta's director, No. 5 of St. Louis.", 2),
        ('"Why?" Tom asked. He left.', 2),
        ('He said: "Come in. Sit down." She sat down.', 2),
        ("It costs 3.5 million... and more.", 1),
        ("So do I. She does not!", 2),
        ("", 1),
    ],
)
def test_text_is_split_at_the_ends_of_sentences(text: str, count: int) -> None:
    found = sentences(text)
    assert " ".join(found) == text
    assert len(found) == count


def test_button_translates_what_is_advised(page) -> None:
    app = page(sentence=SECOND.upper())
    assert len(panel_texts(app, "advice")) == 1
    for text, number in ((SECOND.upper(), 0), (TWO, 1)):
        set_field(app, "sentence", text)
        app.button(key=f"advice_{number}").click().run()
        assert (field(app, "sentence")["value"], panel_texts(app, "advice")) == (SECOND, [])
