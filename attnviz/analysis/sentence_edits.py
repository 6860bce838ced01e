"""Edit a sentence by one word, dropped or swapped with the next, with correct spaces and punctuation."""

from __future__ import annotations

from attnviz.text import normalise, word_spans


def sentence_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence, punctuation marks included, as the functions here count them."""
    text = normalise(text)
    return tuple(text[start:end] for start, end in word_spans(text))


def without_word(text: str, word: int) -> str:
    """Return a sentence without 0-based `word`; raise IndexError where there is none."""
    text = normalise(text)
    start, end = word_spans(text)[word]
    before, after = text[:start], text[end:]
    # A mark that directly followed the word, such as a full stop, now follows the previous word.
    return " ".join(((before if after[:1].isspace() else before.rstrip()) + after).split())


def next_word(text: str, word: int) -> int | None:
    """Return the next word after 0-based `word`, skipping punctuation, which keeps its place.

    None where there is none or `word` itself is punctuation.
    """
    words = sentence_words(text)
    if not _is_word(words[word]):
        return None
    return next((k for k in range(word + 1, len(words)) if _is_word(words[k])), None)


def with_next_swapped(text: str, word: int) -> str:
    """Return a sentence in which 0-based `word` and its `next_word` are swapped; unchanged where it has none.

    Raise IndexError where there is no such word.
    """
    text = normalise(text)
    follower, spans = next_word(text, word), word_spans(text)
    if follower is None:
        return text
    (start, end), (next_start, next_end) = spans[word], spans[follower]
    return text[:start] + text[next_start:next_end] + text[end:next_start] + text[start:end] + text[next_end:]


def _is_word(word: str) -> bool:
    return any(letter.isalnum() for letter in word)
