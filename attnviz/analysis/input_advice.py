"""Recognise text that is no single English sentence, with advice and texts to translate instead.

It recognises escape sequences of Moses' tokenizer, web addresses, other languages, capitals, several sentences, and a
translation that only copies the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attnviz.analysis.labels import shorten
from attnviz.languages import gettext
from attnviz.text import normalise
from attnviz.trace import Record
from attnviz.trace.tokens import detokenise, is_escaped, unescaped_text

MOST_CAPITALS = 0.7
"""Share of the letters from which a text counts as written in capitals."""

_ADDRESS = re.compile(r"\b[\w+.-]{1,20}://\S*|\bwww\.\S+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_END = re.compile(r"(?P<last>\S{0,40}?)(?P<mark>[.!?…]{1,40})(?P<closing>[\"”»)\]]{0,9})\s+(?=[\"“«(\[]*[^\W\d_])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _words(
    "the an is are was were be been am of and or in to for with that this these those it its at by from as he she they "
    "we you i not have has had do does did will would can could should may must what where who when why how my your "
    "his her our their there here if but so no all some any than then about into please don't i'm it's let's"
)
"""Frequent words that are English and not French."""
_SHARED = _words("am an as die has in no on so was will")
"""Frequent English words that are also words of the languages below; alone they are no sign of English."""


@dataclass(frozen=True)
class Language:
    """A language that a visitor may type instead of English."""

    advice: Callable[[], str]
    frequent: frozenset[str]
    """Frequent words, which are not English."""
    accents: str = ""
    """Letters that English lacks; a word in lower case with one of them is a sign of the language."""
    elides: bool = False
    """Whether it has elisions, such as l'eau."""


FOREIGN_LANGUAGES: Mapping[str, Language] = {
    "fr": Language(
        lambda: gettext(
            "This looks like French. The model reads only English: what it makes of other languages means nothing. "
            "Write an English sentence."
        ),
        _words(
            "le la les un une des du dans pour que qui sur avec pas je tu il elle nous vous ils elles aux au cette ces "
            "ses sa mes mon ma notre votre leur leurs ne est et ce mais où sont était être suis sommes ont fait chez "
            "depuis très par plus bonjour merci oui ça en y es son"
        ),
        "àâçéèêëîïôùûœ",
        elides=True,
    ),
    "de": Language(
        lambda: gettext(
            "This looks like German. The model reads only English: what it makes of other languages means nothing. "
            "Write an English sentence."
        ),
        _words(
            "der das und ist nicht ein eine einen einem einer ich du er sie wir ihr es mit auf für von zu dem den des "
            "im sind hat haben wird auch sich aber oder wenn bei nach aus über mein dein sein kein heute sehr die "
            "dich mich dir mir wo guten gut bitte danke"
        ),
        "äöüß",
    ),
    "es": Language(
        lambda: gettext(
            "This looks like Spanish. The model reads only English: what it makes of other languages means nothing. "
            "Write an English sentence."
        ),
        _words(
            "el la los las un una unos unas de del que y es en por para con su sus se lo al está son muy pero como más "
            "hay yo mi tu esta este esto nos hoy"
        ),
        "áéíóúñ¿¡",
    ),
}
_ELISION = re.compile(r"(?:[cdjlmnst]|qu)'[aeiouyhàâéèêîôœ]", re.IGNORECASE)
_ABBREVIATIONS = _words(
    "mr mrs ms dr prof st vs etc jr sr gen col sgt capt lt brig rev hon sen rep gov mt fig vol art inc ltd co corp "
    "dept est jan feb mar apr jun jul aug sep sept oct nov dec messrs mme mlle approx cf al ed eds pp p"
)


@dataclass(frozen=True)
class Advice:
    """What is unsuitable about a text, and what to do."""

    sentence: str
    instead: tuple[tuple[str, str], ...] = ()
    """Texts to translate instead, each after its label."""


def advice(text: str) -> Advice | None:
    """Return what to do about `text`, or None if nothing speaks against its being one English sentence."""
    text = normalise(text)
    if is_escaped(text.split()):
        return Advice(
            gettext(
                "This text has codes in place of characters, such as &apos; or @-@, which some translation programs "
                "write. The model reads such codes letter by letter."
            ),
            ((gettext("Translate without them"), detokenise(unescaped_text(text).split())),),
        )
    if _ADDRESS.search(text):
        rest = " ".join(_ADDRESS.sub(" ", text).split())
        return Advice(
            gettext(
                "A web address is not a sentence. The model splits a web address into small pieces and translates the "
                "pieces."
            ),
            ((gettext("Translate without the web address"), rest),) if len(_WORD.findall(rest)) > 1 else (),
        )
    if language := foreign_language(text):
        return Advice(FOREIGN_LANGUAGES[language].advice())
    if is_in_capitals(text):
        return Advice(
            gettext("The model has seen few words in capitals. It splits words in capitals into small pieces."),
            ((gettext("Translate in lower case"), text.capitalize()),),
        )
    found = sentences(text)
    if sum(len(_WORD.findall(sentence)) > 1 for sentence in found) > 1:
        return Advice(
            gettext(
                "The text has {count} sentences. The model learned mostly from single sentences. Choose one sentence:",
                count=len(found),
            ),
            tuple((shorten(sentence, 28), sentence) for sentence in found),
        )
    return None


def is_in_capitals(text: str) -> bool:
    """Return whether most letters of at least two words are capitals."""
    letters = [letter for letter in text if letter.isupper() or letter.islower()]
    words = [word for word in _WORD.findall(text) if len(word) > 1 and word.isupper()]
    return len(words) > 1 and sum(map(str.isupper, letters)) >= MOST_CAPITALS * len(letters)


def foreign_language(text: str) -> str | None:
    """Return the code of the language, one of `FOREIGN_LANGUAGES`, that a text has most signs of; None for English.

    Two signs are needed, and no frequent English word. Signs are frequent words, elisions, and accents in words in
    lower case.
    """
    words = _WORD.findall(text)
    if any(word.lower() in _ENGLISH - _SHARED for word in words):
        return None
    signs = {
        code: sum(
            word.lower() in language.frequent
            or (word.islower() and not {*language.accents}.isdisjoint(word))
            or bool(language.elides and _ELISION.match(word))
            for word in words
        )
        for code, language in FOREIGN_LANGUAGES.items()
    }
    best = max(signs, key=signs.__getitem__)
    return best if signs[best] > 1 else None


def copied_advice(trace: Record) -> Advice | None:
    """Return what to do about a translation that only copies a text of at most two words; None for others."""
    copied = normalise(trace.source_text).strip(".!?").casefold()
    if len(_WORD.findall(copied)) not in (1, 2) or copied != normalise(trace.translation).strip(".!?").casefold():
        return None
    return Advice(
        gettext(
            "The translator copied the text, as it does with names. It learned mostly from whole sentences: write one, "
            "for example from “Examples”."
        )
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, split after a full stop, question or exclamation mark before a capital letter.

    No sentence ends after an abbreviation, or within a quotation or after a quoted question.
    """
    found, start = [], 0
    for end in _END.finditer(text):
        last, following = end["last"].strip('"“«([').lower(), text[end.end() :].lstrip('"“«([')
        abbreviated = end["mark"] == "." and (last in _ABBREVIATIONS or "." in last or (len(last) == 1 and last != "i"))
        quoted = text[: end.end()].count('"') % 2 == 1 or (end["closing"] != "" and end["mark"] != ".")
        if following[0].isupper() and not abbreviated and not quoted:
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [*found, text[start:].strip()]
