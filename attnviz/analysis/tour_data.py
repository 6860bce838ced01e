"""`TourData`: the words of a translation that illustrate attention best, the steps of the tour, and the quiz.

`chance_score` is the number of right answers expected without knowledge; the browser counts the visitor's.

Words are those of `Record.words`, by 0-based index. The attention of a word is *clear* if one source word has at least
half of it, and a fifth more than any other. Two neighbouring words *cross* if both are clear and the later one attends
further left.

Sentences of the tour are plain text in which `coloured` marks names and `coloured_parts` finds them again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from attnviz.analysis.labels import decimal, fine_percent, quote, quoted_name
from attnviz.analysis.measures import total_variation
from attnviz.analysis.word_classes import is_article, is_content, is_punctuation, is_word
from attnviz.languages import gettext, gettexts
from attnviz.text import SPECIAL_PIECES, join_pieces
from attnviz.trace import Floating, Record, interventions_at

CLEAR = 0.5
"""Smallest share of the strongest source word in clear attention."""
LEAD = 0.2
"""Smallest lead of the strongest source word over every other in clear attention."""
LARGEST_SHARED = 0.95
"""Largest share that leaves visible attention to other words."""
MOVED = 0.1
"""Smallest total variation between attention and posterior attention that counts as a change."""
_TOLERANCE = 1e-6
"""Shares that differ by less are equal."""


@dataclass(frozen=True, eq=False)
class WordAttention:
    """The attention of a translation by words."""

    record: Record
    shares: Floating
    """Attention by words, (target words, source words); rows sum to 1."""

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """For each target word, the source word with the largest share, the first of equals."""
        return tuple(int(k) for k in self.shares.argmax(axis=1))

    def strongest(self, word: int) -> tuple[int, ...]:
        """Return all source words with the largest share of a target word."""
        row = self.shares[word]
        return tuple(int(k) for k in np.flatnonzero(row >= row.max() - _TOLERANCE))

    def makes_sense(self, word: int) -> bool:
        """Return whether a target word and its strongest source word both have a letter or digit and known pieces."""
        words, record = self.record.words(), self.record
        source = self.sources[word]
        sides = (
            (words.target[word], words.target_groups[word], record.target_pieces),
            (words.source[source], words.source_groups[source], record.source_pieces),
        )
        return not any(
            is_punctuation(text) or {pieces[i] for i in group} & {*SPECIAL_PIECES} for text, group, pieces in sides
        )

    def is_clear(self, word: int) -> bool:
        """Return whether the attention of a target word is clear."""
        shares = np.sort(self.shares[word])[::-1]
        return bool(shares[0] >= CLEAR and (len(shares) == 1 or shares[0] - shares[1] >= LEAD))

    def crosses(self, word: int) -> bool:
        """Return whether a target word crosses a neighbour."""
        if not self._is_illustrative(word):
            return False
        source, sources = self.sources[word], self.sources
        crosses_previous = word > 0 and self._is_illustrative(word - 1) and sources[word - 1] > source
        crosses_next = word + 1 < len(sources) and self._is_illustrative(word + 1) and sources[word + 1] < source
        return crosses_previous or crosses_next

    def _is_illustrative(self, word: int) -> bool:
        return self.makes_sense(word) and self.is_clear(word)


@dataclass(frozen=True)
class IllustrativeWord:
    """A target word, its first step, and its strongest source word; all 0-based."""

    word: int
    step: int
    source: int


def illustrative_word(record: Record) -> IllustrativeWord:
    """Return the word that the tour explains, the best by these criteria in order.

    It makes sense; its attention was not changed by hand and is clear; it crosses a neighbour; its position differs
    from that of its source word; it is a content word; both words are single pieces; some attention is left for other
    words; its share is the largest. Where no word makes sense, it is the first word.
    """
    words = record.words()
    first = np.array([group[0] for group in words.target_groups])
    groups = [list(group) for group in words.source_groups]
    shares = np.stack([record.alignment[first][:, group].sum(axis=1) for group in groups], axis=1)
    attention = WordAttention(record, shares)

    def rank(word: int) -> tuple[float, ...]:
        source, share = attention.sources[word], float(shares[word].max())
        single_pieces = len(words.target_groups[word]) == len(words.source_groups[source]) == 1
        edited = record.attends_once and bool(interventions_at(record.interventions, int(first[word])))
        return (
            attention.makes_sense(word),
            not edited,
            attention.is_clear(word),
            attention.crosses(word),
            source != word,
            is_content(words.target[word], "target"),
            single_pieces,
            share <= LARGEST_SHARED,
            share,
        )

    best = max(range(len(words.target)), key=rank)
    return IllustrativeWord(best, int(first[best]), attention.sources[best])


def most_changed_word(record: Record, posterior_weights: Floating) -> int:
    """Return the target word whose posterior attention differs most from its attention.

    `posterior_weights` are by words, (Ty, Tx) in words. Words that make sense with both, with clear posterior, come
    first; among them the largest total variation wins. Words of one piece that attend to such words and change by
    at least `MOVED` are preferred, since the page then shows the same shares for words and pieces.
    """
    words, weights = record.words(), record.words().alignment
    attention, posterior = WordAttention(record, weights), WordAttention(record, posterior_weights)
    change = total_variation(posterior_weights, weights)

    def rank(word: int) -> tuple[float, ...]:
        sources = {attention.sources[word], posterior.sources[word]}
        single_pieces = {len(words.target_groups[word]), *(len(words.source_groups[source]) for source in sources)} == {
            1
        }
        sensible = posterior.makes_sense(word) and attention.makes_sense(word) and posterior.is_clear(word)
        return sensible, single_pieces and change[word] >= MOVED, change[word]

    return max(range(len(change)), key=rank)


QUESTIONS = 5
"""Number of questions, where there are enough suitable words."""
QuestionKind = Literal["crossed", "turned", "content", "article", "other"]
"""Kinds of questions.

"crossed": the word crosses a neighbour; "turned": its posterior attention is on another source word than its
attention; the rest are word classes, where "other" means function words and numbers.
"""
QUESTION_KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)


@dataclass(frozen=True)
class QuizQuestion:
    """A question about a target word; all indices are 0-based."""

    word: int
    kind: QuestionKind
    attended: tuple[int, ...]
    """Source words with the largest attention: correct answers by alpha."""
    meant: tuple[int, ...]
    """Source words with the largest posterior attention: correct answers by the posterior; empty where unknown."""


@dataclass(frozen=True)
class ChanceScore:
    """Expected number of correct answers without knowledge."""

    attended: float
    """By alpha, for uniformly random answers."""
    meant: float
    """By the posterior, for uniformly random answers."""
    diagonal: int
    """By alpha, for answers at the same relative position as the target word; of two nearest words the left."""


def questions(
    record: Record, posterior_weights: Floating | None, most: int = QUESTIONS, answered: Collection[int] = ()
) -> tuple[QuizQuestion, ...]:
    """Return up to `most` questions in the order of the translation.

    `posterior_weights` are by words, (Ty, Tx) in words, None where unknown; `answered` words were asked about before. A
    word is suitable if the question makes sense and alpha is clear (see `illustrative_words`). First come words that
    attend mostly to another position than their own, then those that divide their attention, then all others. Words
    that need no guess come after them: `answered` ones, and those spelled like their source word; repetitions come
    last. For variety, each of KINDS in turn gets the word with the clearest attention.
    """
    words = record.words()
    attention, posterior = (
        WordAttention(record, words.alignment),
        None if posterior_weights is None else WordAttention(record, posterior_weights),
    )
    sources, targets = len(words.source), len(words.target)

    def group_of(word: int) -> int:
        source = attention.sources[word]
        if word in answered or words.target[word].lower() == words.source[source].lower():
            return 3
        if source not in (word, _diagonal_source(word, targets, sources)):
            return 0
        return 1 if attention.shares[word].max() <= LARGEST_SHARED else 2

    suitable = [word for word in range(targets) if attention.makes_sense(word) and attention.is_clear(word)]
    suitable.sort(key=lambda word: -float(attention.shares[word].max()))
    texts: set[str] = set()
    groups: tuple[list[int], ...] = ([], [], [], [], [])
    for word in sorted(suitable, key=group_of):  # of two equal words, the harder one
        text = words.target[word].lower()
        groups[4 if text in texts else group_of(word)].append(word)
        texts.add(text)
    kinds = {word: _kind(attention, posterior, word) for word in suitable}
    chosen: list[int] = []
    for remaining in groups:
        while remaining and len(chosen) < most:
            for kind in QUESTION_KINDS:
                best = next((word for word in remaining if kinds[word] == kind), None)
                if best is not None and len(chosen) < most:
                    chosen.append(best)
                    remaining.remove(best)
    return tuple(
        QuizQuestion(word, kinds[word], attention.strongest(word), posterior.strongest(word) if posterior else ())
        for word in sorted(chosen)
    )


def chance_score(record: Record, asked_questions: tuple[QuizQuestion, ...]) -> ChanceScore:
    """Return the expected number of correct answers to `asked_questions` without knowledge."""
    words = record.words()
    sources, targets = len(words.source), len(words.target)
    on_diagonal = {question.word: _diagonal_source(question.word, targets, sources) for question in asked_questions}
    return ChanceScore(
        sum(len(question.attended) for question in asked_questions) / sources,
        sum(len(question.meant) for question in asked_questions) / sources,
        sum(on_diagonal[question.word] in question.attended for question in asked_questions),
    )


def _kind(attention: WordAttention, posterior: WordAttention | None, word: int) -> QuestionKind:
    if attention.crosses(word):
        return "crossed"
    if posterior and not set(posterior.strongest(word)) & set(attention.strongest(word)):
        return "turned"
    text = attention.record.words().target[word]
    if is_article(text, "target"):
        return "article"
    return "content" if is_content(text, "target") else "other"


def _diagonal_source(word: int, targets: int, sources: int) -> int:
    """Return the source word nearest to the diagonal in the row of a target word, the left one of two.

    Both sentences end with their end marks.
    """
    return int(np.ceil(word * (sources - 1) / max(targets - 1, 1) - 0.5))


LONGEST_WORD = 30
"""Characters of the longest word in a sentence."""
LEAST_SECOND = 0.15
"""Smallest share of the second word in a mixture that the tour shows."""
LEAST_SHARE = 0.01
"""Smallest share of attention from which a word is named besides the strongest."""
MarkKind = Literal["", "source", "target", "context"]
"""Colour of a part: none, encoder, decoder or context."""
Spans = list[tuple[MarkKind, str]]
_OPEN: dict[MarkKind, str] = {"source": "\x01", "target": "\x02", "context": "\x03"}
_CLOSE = "\x04"
_KINDS: dict[str, MarkKind] = {sign: kind for kind, sign in _OPEN.items()}
_MARKS = re.compile(f"[{''.join(_KINDS)}{_CLOSE}]")
_BORDER = re.compile(f"(?=[{''.join(_KINDS)}])|{_CLOSE}")
"""Where a coloured part begins or ends."""


def coloured(text: str, kind: MarkKind) -> str:
    """Return `text`, which may be user input, marked as a coloured part of a sentence."""
    return f"{_OPEN[kind]}{_MARKS.sub('', text)}{_CLOSE}"


def coloured_name(piece: str, kind: MarkKind) -> str:
    """Return the label of a piece, marked as a coloured part of a sentence."""
    return coloured(quoted_name(piece), kind)


def coloured_parts(sentence: str) -> Spans:
    """Return the parts of a `sentence` in order, each with its colour."""
    parts: Spans = []
    for part in _BORDER.split(sentence):
        if part:
            kind = _KINDS.get(part[0], "")
            parts.append((kind, part[1:] if kind else part))
    return parts


@dataclass(frozen=True, eq=False)
class TourData:
    """A translation and its posterior attention."""

    record: Any
    posterior_weights: Floating | None
    """Posterior attention of the heatmap, (target words, source words), where known."""

    @cached_property
    def word(self) -> IllustrativeWord:
        """The word of the first six stops."""
        return illustrative_word(self.record)

    @cached_property
    def mixed_step(self) -> int:
        """The 0-based step of the stop on mixing: the word whose second share is largest, if at least LEAST_SECOND.

        No step that was changed by hand.
        Otherwise the tour's own word: a mixture of one word teaches that a context vector is a copy.
        """
        if not self.record.attends_once or len(self.record.source_pieces) < 2:
            return self.word.step
        seconds = np.sort(self.record.alignment, axis=1)[:, -2]
        words = [is_word(join_pieces([piece])) for piece in self.record.target_pieces]
        edited = [bool(interventions_at(self.record.interventions, step)) for step in range(len(words))]
        seconds = np.where(np.array(words) & ~np.array(edited), seconds, 0.0)
        return int(seconds.argmax()) if seconds.max() >= LEAST_SECOND else self.word.step

    @cached_property
    def attention(self) -> WordAttention:
        """The attention of whole words."""
        return WordAttention(self.record, self.record.words().alignment)

    @cached_property
    def crossed_word(self) -> int | None:
        """The neighbour that the word crosses, if there is one: the translator looks at them in the other order."""
        attention, word = self.attention, self.word.word
        if not attention.crosses(word):
            return None
        return word - 1 if word > 0 and attention.sources[word - 1] > attention.sources[word] else word + 1

    @property
    def explained_words(self) -> set[int]:
        """The target words that the stops explain, about which a question would be no question."""
        groups = self.record.words().target_groups
        mixed = {word for word, group in enumerate(groups) if self.mixed_step in group}
        crossed = set() if self.crossed_word is None else {self.crossed_word}
        return {self.word.word, self.posterior_word} | mixed | crossed

    @cached_property
    def posterior_word(self) -> int:
        """The target word of the stop on posterior attention."""
        return (
            self.word.word if self.posterior_weights is None else most_changed_word(self.record, self.posterior_weights)
        )

    @property
    def energies(self) -> Floating:
        """Energies before the softmax at the word's step, (Tx,)."""
        return self.record.displayed.energies[self.word.step]

    @property
    def has_changed_weights(self) -> bool:
        """Whether an intervention changed the weights of the word's step."""
        return self.record.attends_once and bool(interventions_at(self.record.interventions, self.word.step))

    def source(self, word: int) -> str:
        """Return the label of a source word."""
        return coloured(quote(self.record.words().source[word], LONGEST_WORD), "source")

    def target(self, word: int) -> str:
        """Return the label of a target word."""
        return coloured(quote(self.record.words().target[word], LONGEST_WORD), "target")

    def piece(self, j: int) -> str:
        """Return the label of a source piece."""
        return coloured_name(self.record.source_surfaces[j], "source")

    def written(self, i: int) -> str:
        """Return the label of a target piece."""
        return coloured_name(self.record.target_pieces[i], "target")


def no_attention_reason() -> str:
    """Return why a translator without attention has no stop about attention."""
    return gettext(
        "This translator has no attention: it gives no weights to English words. So this stop of the tour has nothing "
        "to show. Under “More”, choose a model with attention, then come back."
    )


def quiz_introduction(tour: TourData, questions: Sequence[QuizQuestion]) -> str:
    """Return the introduction of the quiz, or why there is none."""
    if not tour.record.attends:
        return no_attention_reason()
    if not questions:
        return gettext(
            "No word of this translation attends clearly to a single English word, so the quiz has no clear question "
            "to ask. Try a longer sentence, for example one from “Examples”."
        )
    if len(questions) == 1:
        return gettext(
            "Choose the English word that the translator looked at most for this French word. The pictures are hidden "
            "until you have answered."
        )
    return gettext(
        "Here are {count} French words of different kinds. For each French word, choose the English word that the "
        "translator looked at most. The pictures are hidden until you have answered.",
        count=len(questions),
    )


def answer_explanation(tour: TourData, question: QuizQuestion) -> str:
    """Return the attention and the posterior attention of a word in one sentence."""
    attended = question.attended[0]
    share = fine_percent(tour.record.words().alignment[question.word, attended])
    values = {"word": tour.source(attended), "share": share}
    if tour.posterior_weights is None or not question.meant:
        text = gettext("{share} of the attention went to {word}.", **values)
    else:
        meant = attended if attended in question.meant else question.meant[0]
        values |= {
            "later": fine_percent(tour.posterior_weights[question.word, meant]),
            "other": tour.source(meant),
        }
        text = gettext(
            "{word}: α = {share} before the French word is known, α′ = {later} after."
            if meant == attended
            else "Before the French word was known, {word} had α = {share}. Once the French word is known, {other} has "
            "α′ = {later}.",
            **values,
        )
    if question.kind != "crossed":
        return text
    return f"{text} {gettext('At this word, the French word order differs from the English order.')}"


def chance_sentence(chances: ChanceScore, count: int, *, after: bool) -> str:
    """Return the expected number of correct answers to `count` questions by chance."""
    text = gettext(
        "Expected correct answers: {chance} of {count} by random guessing, {straight} of {count} by following the "
        "diagonal of the heatmap.",
        chance=decimal(chances.attended, 1),
        straight=chances.diagonal,
        count=count,
    )
    if after and abs(chances.meant - chances.attended) >= 0.05:
        text += " " + gettext(
            "If answers are judged by α′ (attention after the word), expect {chance} correct answers by random "
            "guessing.",
            chance=decimal(chances.meant, 1),
        )
    return text


def quiz_labels(tour: TourData) -> dict[str, str]:
    """Return the texts of the quiz, with placeholders that the browser fills."""
    heads = not tour.record.attends_once
    return gettexts(
        {
            "ask": "Word {k} of {n}: where did the translator look most for “{word}”?",
            "english": "English words to choose from",
            "right": "Right.",
            "wrong": "Wrong: {word} got {share} of the attention.",
            "shades": (
                "The stronger the shade of a word, the more the translator looked at it. The underlined word has the "
                "largest posterior attention."
                if tour.posterior_weights is not None
                else "The stronger the shade of a word, the more the translator looked at it."
            ),
            "next": "Next word",
            "end": "What did I score?",
            "score": (
                "Correct answers, judged by the mean attention of the heads: {hits} of {n}."
                if heads
                else "Correct answers, judged by α (before the word): {hits} of {n}."
            ),
            "again": "Ask me again",
            "lead": "Next: Why attention?",
            "explained": (
                "The terms of this page are explained beside the step, under “What the words on this page mean”."
            ),
        }
    ) | {
        "later": gettext("Correct answers, judged by α′ (after the word): {hits} of {n}.")
        if tour.posterior_weights is not None
        else "",
    }
