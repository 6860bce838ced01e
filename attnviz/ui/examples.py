"""What visitors begin with: example sentences by what they show, with questions about some translations, and corpora.

A page opens at the step of the word that the question is about. The corpora are the bundled sample, and the tables of
the server's owner.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from attnviz.environment import ATTNVIZ_CORPORA
from attnviz.evaluation.example_sentences import FIGURE_3, TABLE_3
from attnviz.extras import IMPORTING
from attnviz.languages import gettext, gettexts
from attnviz.trace import Record, Trace

DEFAULT_SENTENCE = "The green house at the end of the street is very old."
"""Default sentence: whole words, and an adjective and its noun that change places."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "Changes of order": (DEFAULT_SENTENCE, "The little black cat sleeps on the big red chair.", "He is an honest man."),
    "Long-distance agreement": ("The houses that my brother bought last year are beautiful.",),
    "One word, several": ("Where is the nearest station, please?", "I have just arrived."),
    "Names and numbers": (
        "Mr Schneider met Mrs Keller in Berlin on 14 May 2009.",
        "In 2004, Barack Obama lived in Chicago.",
    ),
    "Mistakes, and why": (
        "He is sitting on the bank of the river.",
        (
            "Ladies and gentlemen, the debate is closed. The vote will take place tomorrow at noon. Thank you for your "
            "attention. The sitting is adjourned. Good night. Sleep well. Good-bye."
        ),
        "I came, I saw, I laughed, I cried, I slept, I left, and then I came back again to see what was left.",
    ),
    "From Bahdanau et al., Fig. 3": FIGURE_3,
    "Long": TABLE_3,
}
"""Sentences by what they show; `tests/ui/test_examples.py` checks how the model translates them."""


@dataclass(frozen=True)
class _Question:
    """A question about a translation, and the words that it is about."""

    text: str
    word: str
    """French word at whose step the page opens."""
    other: str
    """French word to compare it with."""
    is_mistake: bool = False
    """Whether `word` has a wrong sense of the right English word, as the authors of the example judged."""


def question(trace: Record) -> _Question | None:
    """Return the question about the translation of an example; None for others, and for a model without attention."""
    if not (trace.translated and trace.attends):
        return None
    return {
        (DEFAULT_SENTENCE, "La maison verte à la fin de la rue est très vieille."): _Question(
            gettext("French puts “green” after “house”. How does the translator know where to look?"),
            "verte",
            "maison",
        ),
        ("He is an honest man.", "C'est un homme honnête."): _Question(
            gettext(
                "“Un homme honnête” neither lies nor steals; “un honnête homme” was a gentleman of Molière’s time. In "
                "stage 2, pull the bar of “honest” all the way to the right: what changes?"
            ),
            "homme",
            "honnête",
        ),
        (
            "The houses that my brother bought last year are beautiful.",
            "Les maisons que mon frère a acheté l'année dernière sont belles.",
        ): _Question(
            gettext("“Belles” agrees with “maisons”, far to its left. Does the translator look at “houses” again?"),
            "belles",
            "maisons",
        ),
        (
            "Where is the nearest station, please?",
            "Où est la gare la plus proche, s'il vous plaît ?",
        ): _Question(
            gettext(
                "“Please” becomes “s’il vous plaît”. Where does the translator look while it writes “s’il vous plaît”?"
            ),
            "plaît",
            "vous",
        ),
        ("I have just arrived.", "Je viens d'arriver."): _Question(
            gettext("“Je viens” means “I come”, but the English has no “come”. Which word becomes “viens”?"),
            "viens",
            "arriver",
        ),
        (
            "Mr Schneider met Mrs Keller in Berlin on 14 May 2009.",
            "M. Schneider a rencontré Mme Keller à Berlin le 14 mai 2009.",
        ): _Question(
            gettext(
                "The translator copies names. Where does the translator look to write “Keller” and not “Schneider”?"
            ),
            "Keller",
            "Schneider",
        ),
        ("He is sitting on the bank of the river.", "Il est assis sur la banque de la rivière."): _Question(
            gettext(
                "A “banque” keeps money; a river has a “rive”. No number on the page reveals that “banque” is a "
                "mistake. Where did the translator look when it wrote “banque”, and which other words were likely?"
            ),
            "banque",
            "rivière",
            is_mistake=True,
        ),
    }.get((trace.source_text, trace.translation))


def step_of_word(trace: Trace, word: str) -> int:
    """Return the 0-based step that wrote the first piece of the target word `word`, at its first occurrence."""
    words = trace.words()
    return words.target_groups[words.target.index(word)][0]


def first_step(trace: Trace) -> int:
    """Return the 0-based step that a visitor sees first: that of the question about the translation, or the first."""
    asked = question(trace)
    return 0 if asked is None else step_of_word(trace, asked.word)


def example_kind_name(kind: str) -> str:
    """Return the display name of a kind of sentence."""
    return gettexts(
        {
            "Changes of order": "Changes of order",
            "Long-distance agreement": "Long-distance agreement",
            "One word, several": "One word, several",
            "Names and numbers": "Names and numbers",
            "Mistakes, and why": "Mistakes, and why",
            "From Bahdanau et al., Fig. 3": "From Bahdanau et al., Fig. 3",
            "Long": "Long",
        }
    )[kind]


SAMPLE = Path(__file__).parent / "corpus" / "sample.tsv"
SAMPLE_LINKS = SAMPLE.with_name("sample-links.txt")


def offered_tables() -> dict[str, Path]:
    """Return the non-empty tables that the server's owner offers, by file name without the ending."""
    with IMPORTING:
        from attnviz.corpora.table_metadata import table_metadata

    folder = os.environ.get(ATTNVIZ_CORPORA)
    paths = sorted(Path(folder).glob("*.parquet")) if folder else []
    return {path.stem: path for path in paths if (metadata := table_metadata(path)) and metadata.rows}
