"""Example sentences (of Bahdanau, Cho & Bengio 2014, and long ones), and reference translations with their origin."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from attnviz.languages import gettext

FIGURE_3 = (
    "The agreement on the European Economic Area was signed in August 1992.",
    "It should be noted that the marine environment is the least known of environments.",
    "Destruction of the equipment means that Syria can no longer produce new chemical weapons.",
    "“This will change my future with my family,” the man said.",
)
"""Sentences of Bahdanau, Cho & Bengio 2014, Fig. 3."""

TABLE_3 = (
    (
        "An admitting privilege is the right of a doctor to admit a patient to a hospital or a medical centre to carry "
        "out a diagnosis or a procedure, based on his status as a health care worker at a hospital."
    ),
    (
        "This kind of experience is part of Disney's efforts to \"extend the lifetime of its series and build new "
        'relationships with audiences via digital platforms that are becoming ever more important," he added.'
    ),
    (
        "In a press conference on Thursday, Mr Blair stated that there was nothing in this video that might constitute "
        'a "reasonable motive" that could lead to criminal charges being brought against the prime minister.'
    ),
)
"""Long sentences of the same paper, Section 5.2.2 and Table 3."""

LONG = (
    (
        "Madam President, we support the report because it asks the Commission to publish, before the end of "
        "next year, a clear account of how much public money each Member State has spent on its railways and "
        "what the passengers have received in return."
    ),
    (
        "After three days of heavy rain the river rose so quickly on Sunday night that the firemen had to "
        "wake more than two hundred families and take them by boat to the sports hall, where volunteers were "
        "already preparing hot soup."
    ),
    (
        "My brother had promised to bring the tent, but when we arrived at the lake he discovered that he had "
        "left it in the garage, so we slept in the car with both dogs and laughed about it all the way home."
    ),
    (
        "When I was a young teacher I believed that my job was to answer questions, and it took me ten years "
        "to understand that what my students really needed was somebody who would let them ask better ones."
    ),
)
"""Sentences of 30 to 50 words: parliament, news, an everyday story, a talk."""


class ReferenceTranslation(NamedTuple):
    """A reference translation of a sentence, which may be passed on."""

    french: str
    origin: Callable[[], str]
    """Return who published it and where."""


TECHNOLOGY = (
    "Technology has transformed both the economy and social life, and should further facilitate the free flow of "
    "personal data within the Union and the transfer to third countries and international organisations, while "
    "ensuring a high level of the protection of personal data."
)
"""Last sentence of recital 6 of Regulation (EU) 2016/679, of 42 words.

EUR-Lex publishes the regulation in English and French, © European Union, 1998-2026. Commission Decision 2011/833/EU
allows its reuse with its source (CC BY 4.0). The models here were not trained on it.
"""

_EXAMPLES = {
    "The green house at the end of the street is very old.": "La maison verte au bout de la rue est très vieille.",
    "The little black cat sleeps on the big red chair.": "Le petit chat noir dort sur la grande chaise rouge.",
    "He is an honest man.": "C'est un homme honnête.",
    "The houses that my brother bought last year are beautiful.": (
        "Les maisons que mon frère a achetées l'année dernière sont belles."
    ),
    "Where is the nearest station, please?": "Où est la gare la plus proche, s'il vous plaît ?",
    "I have just arrived.": "Je viens d'arriver.",
    "Mr Schneider met Mrs Keller in Berlin on 14 May 2009.": (
        "M. Schneider a rencontré Mme Keller à Berlin le 14 mai 2009."
    ),
    "In 2004, Barack Obama lived in Chicago.": "En 2004, Barack Obama vivait à Chicago.",
    "He is sitting on the bank of the river.": "Il est assis au bord de la rivière.",
    (
        "Ladies and gentlemen, the debate is closed. The vote will take place tomorrow at noon. Thank you for your "
        "attention. The sitting is adjourned. Good night. Sleep well. Good-bye."
    ): (
        "Mesdames et Messieurs, le débat est clos. Le vote aura lieu demain à midi. Je vous remercie de votre "
        "attention. La séance est levée. Bonne nuit. Dormez bien. Au revoir."
    ),
    "I came, I saw, I laughed, I cried, I slept, I left, and then I came back again to see what was left.": (
        "Je suis venu, j'ai vu, j'ai ri, j'ai pleuré, j'ai dormi, je suis parti, et puis je suis revenu pour voir ce "
        "qui restait."
    ),
}
"""Reference translations of the app's examples, written for it."""

REFERENCE_TRANSLATIONS = {
    TECHNOLOGY: ReferenceTranslation(
        "Les technologies ont transformé à la fois l'économie et les rapports sociaux, et elles devraient encore "
        "faciliter le libre flux des données à caractère personnel au sein de l'Union et leur transfert vers des pays "
        "tiers et à des organisations internationales, tout en assurant un niveau élevé de protection des données à "
        "caractère personnel.",
        lambda: gettext("Regulation (EU) 2016/679, recital 6. © European Union, CC BY 4.0"),
    ),
    **{
        english: ReferenceTranslation(french, lambda: gettext("attnviz, MIT licence"))
        for english, french in _EXAMPLES.items()
    },
}
"""Reference translations by English sentence: the European Union's own, and those of the examples."""
