"""Word classes of English and French by closed lists: articles, function words, punctuation.

The lists are short and ignore context: French `des` and `du` always count as articles, also for `de les` and `de le`,
and English `that` is always a function word.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

Side = Literal["source", "target"]
"""English is the source, French the target."""

ARTICLES: dict[Side, frozenset[str]] = {
    "source": frozenset({"the", "a", "an"}),
    "target": frozenset({"le", "la", "les", "l'", "l", "un", "une", "des", "du"}),
}
"""Articles, in lower case."""

_ENGLISH = """
about after against all also am among an and any are as at be because been before being between both but by can
cannot could did do does doing down during each either every everyone few for from get going got had has have
having he her here hers herself him himself his how however i if in into is it its itself just let may me mid
might mine more most much must my myself neither no nobody none nor not nothing of off on one only or other
others ought our ours out over own per perhaps same shall she should since so some someone something such than
that their theirs them themselves then there these they this those through thus till to too toward towards under
until up upon us very was we were what when where whether which while who whom whose why will with within
without would yes yet you your yours n't 's 're 've 'll 'd 'm ca wo
"""

_FRENCH_REPEATED = """
ait aux avaient avait avec avez avions avoir avons ces cette dans elle elles est étaient était été être ils leur
leurs mes mon nos notre nous ont par pas plus pour que qui sera seront ses sommes son sont suis sur tes ton une
vos votre vous
"""

_FRENCH = """
à afin ai ainsi alors après as au aucun aucune aussi autre autres avais avant ayant bien c c' car ce ceci cela
celle celles celui cependant cet ceux chacun chaque chez ci comme comment d d' de depuis dès devait devant
devons doit doivent donc dont en encore entre es et étais étant eu eux fait faut furent fut ici il j j' je
jusqu' jusque là laquelle lequel lesquels lorsqu' lorsque lui m m' ma mais me même mêmes mien moi moins n n' ne
ni on ou où parce pendant peu peut peuvent plusieurs pourquoi pourrait près puis puisqu' puisque qu qu' quand
quel quelle quelles quelqu' quelque quelques quels quoi quoiqu' rien s s' sa sans sauf se selon serait seulement
si soi soient soit somme sous t t' ta te tel telle toi tous tout toute toutes très trop tu un va vers voici
voilà y
"""

REPEATED_BY_GRAMMAR = ARTICLES["target"] | frozenset(_FRENCH_REPEATED.split())
"""French words that grammar repeats: les plus grands, vous vous souvenez, ne … pas, auxiliaries of compound tenses."""

FUNCTION_WORDS: dict[Side, frozenset[str]] = {
    "source": ARTICLES["source"] | frozenset(_ENGLISH.split()),
    "target": REPEATED_BY_GRAMMAR | frozenset(_FRENCH.split()),
}
"""Articles, pronouns, prepositions, conjunctions, auxiliaries, negations and the like, in lower case.

French may omit the English ones, or express them by an ending.
"""


def is_article(word: str, side: Side) -> bool:
    """Return whether `word` is in the list of articles of its language."""
    return word.lower() in ARTICLES[side]


def is_punctuation(word: str) -> bool:
    """Return whether `word` has neither a letter nor a digit."""
    return not any(character.isalnum() for character in word)


@lru_cache(maxsize=10_000)
def is_word(text: str) -> bool:
    """Return whether `text` has a letter or digit and is not a special piece."""
    return not is_punctuation(text) and text not in ("</s>", "<unk>")


def is_content(word: str, side: Side) -> bool:
    """Return whether `word` has a letter and is not a function word of its language.

    That leaves nouns, verbs, adjectives, adverbs and names.
    """
    return any(character.isalpha() for character in word) and word.lower() not in FUNCTION_WORDS[side]


def content_words(source: Sequence[str]) -> tuple[int, ...]:
    """Return the 0-based places of the words of a source sentence that are no punctuation and no function words."""
    return tuple(
        place for place, word in enumerate(source) if is_word(word) and word.casefold() not in FUNCTION_WORDS["source"]
    )
