"""Another sentence from one: a word dropped, changed, or swapped with the next, blanks and marks as they should be."""

from __future__ import annotations

from attnviz.text import normalise, word_spans


def sentence_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence, marks of punctuation among them, as the functions here count them."""
    text = normalise(text)
    return tuple(text[start:end] for start, end in word_spans(text))


def without_word(text: str, word: int) -> str:
    """Return a sentence without 0-based `word`; raise IndexError where there is none."""
    text = normalise(text)
    start, end = word_spans(text)[word]
    before, after = text[:start], text[end:]
    # What followed the word directly, a full stop say, then follows the one before it.
    return " ".join(((before if after[:1].isspace() else before.rstrip()) + after).split())


def next_word(text: str, word: int) -> int | None:
    """Return the word after 0-based `word` that is no mark of punctuation, or None where there is none or `word` is
    one itself: marks keep their places."""
    words = sentence_words(text)
    if not _is_word(words[word]):
        return None
    return next((k for k in range(word + 1, len(words)) if _is_word(words[k])), None)


def swapped(text: str, word: int) -> str:
    """Return a sentence in which 0-based `word` and its `next_word` have changed places; as it is where it has none.
    Raise IndexError where there is no such word."""
    text = normalise(text)
    follower, spans = next_word(text, word), word_spans(text)
    if follower is None:
        return text
    (start, end), (next_start, next_end) = spans[word], spans[follower]
    return text[:start] + text[next_start:next_end] + text[end:next_start] + text[start:end] + text[next_end:]


def _is_word(word: str) -> bool:
    return any(letter.isalnum() for letter in word)
