"""Example sentences: each shows what its category promises, with the shipped model and a beam of five."""

from itertools import chain

from attnviz.ui.examples import EXAMPLES, first_step, question


def test_questions_open_at_words_of_their_translation(shipped_translator, snapshot) -> None:
    attended = {}
    for sentence in chain.from_iterable(EXAMPLES.values()):
        trace = shipped_translator.translate(sentence, beam=5)
        if (asked := question(trace)) is None:
            continue
        words = trace.words()
        most = dict(zip(words.target, (words.source[j] for j in words.alignment.argmax(axis=1)), strict=True))
        opened = next(i for i, group in enumerate(words.target_groups) if first_step(trace) in group)
        assert words.target[opened] == asked.word
        attended[sentence] = {word: most[word] for word in (asked.word, asked.other)}
    assert len(attended) == 7
    assert attended == snapshot(name="attended words")
