"""Labels and numbers, also of right-to-left words; sentences about a beam search and what became of its hypotheses."""

import dataclasses
import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Attention, attention
from attnviz.analysis.alignment_summary import summarise, summary_sentence
from attnviz.analysis.beam_sentences import (
    fate_label,
    fate_sentence,
    hypothesis_text,
    position_sentence,
    score_computation,
    search_sentence,
    winner_sentence,
)
from attnviz.analysis.findings import finding_sentence, findings_of
from attnviz.analysis.labels import NO_BREAK, capitalised, decimal, duration, quoted_name, shorten
from attnviz.analysis.tour_data import coloured, coloured_name
from attnviz.architectures import narrate
from attnviz.export.saved_files import heatmap_html
from attnviz.figures.heatmap import heatmap
from attnviz.figures.spec import escape
from attnviz.text import EOS, piece_name, with_symbols, without_isolates
from attnviz.trace import BeamTree
from tests.figures.synthetic import ASSIS, CHAT, NOIR, small


def test_labels_are_capitalised_in_colour_too(each_language) -> None:
    comma = quoted_name(",")
    assert capitalised(comma) == comma[0].upper() + comma[1:] != comma
    assert capitalised(coloured_name(",", "source")) == coloured(capitalised(comma), "source")
    assert (capitalised(""), capitalised("“the”"), capitalised("été")) == ("", "“the”", "Été")


@given(st.text())
def test_literal_escapes_markup_and_round_trips(text: str) -> None:
    escaped = escape(text)
    assert not re.search(r"[<>$\n]", escaped)
    assert html.unescape(escaped) == with_symbols(text.replace("\n", " "))


@given(st.text(), st.integers(2, 40))
def test_shortening_keeps_the_beginning(text: str, longest: int) -> None:
    short, text = shorten(text, longest), with_symbols(text.replace("\n", " "))
    assert len(without_isolates(short)) <= longest
    short = without_isolates(short)
    assert short == without_isolates(text) or (short.endswith("…") and without_isolates(text).startswith(short[:-1]))


@pytest.mark.parametrize(
    ("piece", "name"),
    [("▁bi", "bi"), ("cycle", "·cycle"), ("</s>", "</s>"), ("<unk>", "<unk>"), ("▁", "␣"), (".", "."), ("d’", "·d’")],
)
def test_piece_name_shows_whether_the_piece_opens_a_word(piece: str, name: str) -> None:
    assert piece_name(piece) == name


HEBREW, ARABIC = "הבית הירוק גדול", "كَتَبَ الطالبُ ٣"


def _bare(text: str) -> str:
    """Return the right-to-left letters of a text that are outside isolates."""
    outside = re.sub("\u2068[^\u2068\u2069]*\u2069", "", text.replace("&quot;", '"'))
    return "".join(one for one in outside if unicodedata.bidirectional(one) in ("R", "AL", "AN"))


@pytest.fixture(params=[(HEBREW, "la maison verte"), ("the green house", ARABIC), (HEBREW, ARABIC)])
def record(request) -> Attention:
    return attention(*request.param, [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def test_sentences_and_tables_isolate_right_to_left_words(record) -> None:
    texts_shown = [heatmap(record).alt, heatmap(record, by="steps").alt, summary_sentence(summarise(record))]
    texts_shown += [finding_sentence(record, finding) for finding in findings_of(record)]
    for step in range(3):
        stage = narrate(record, step)[0]
        texts_shown += [stage.sentence, stage.outcome]
        texts_shown.append(str(record.step_figure(step).layout.meta["alt"]))
    table = heatmap(record).frame()
    texts_shown += [*table.index, *table.columns]
    assert [one for one in texts_shown if _bare(one)] == []
    assert "\u2068" in "".join(texts_shown)
    assert _bare(re.sub("<caption.*?</caption>", "", heatmap_html(record))) == ""


def test_durations_have_two_units_at_most() -> None:
    assert [duration(seconds) for seconds in (12, 300, 3600 * 4 + 300)] == ["12 s", "5 min", "4 h 05 min"]


def beginning_with(tree: BeamTree, **changes: object) -> BeamTree:
    return dataclasses.replace(tree, nodes=(dataclasses.replace(tree.nodes[0], **changes), *tree.nodes[1:]))


def test_sentences_about_a_search(each_language, snapshot) -> None:
    tree = small()
    by_likelihood = small(length_penalty=0.0)
    assert by_likelihood.text(by_likelihood.winner) == "le"
    assert position_sentence(tree, tree.ids(tree.winner)) == ""
    line = tuple(
        dataclasses.replace(tree.nodes[k], parent=place - 1 if place else None, rank=0)
        for place, k in enumerate((0, 3, 7, 10))
    )
    empty = beginning_with(tree, piece="</s>", piece_id=EOS, fate="finished", total=-9.0)
    others = {"shorter": (8, EOS), "pruned": (8, CHAT, ASSIS, EOS), "overtaken": (9, NOIR, EOS), "unknown": (77, EOS)}
    sentences = {
        "winner": winner_sentence(tree),
        "winner by likelihood": winner_sentence(by_likelihood),
        "winner with a fractional penalty": winner_sentence(small(length_penalty=0.5)),
        "winner without a foil": winner_sentence(dataclasses.replace(tree, nodes=line, beam=1)),
        "dropped hypotheses": search_sentence(tree),
        "an empty translation": hypothesis_text(empty, 0),
        **{f"fate, {fate_label(tree, index)}": fate_sentence(tree, index) for index in (0, 1, 2, 4, 10, 11)},
        **{f"position, {name}": position_sentence(tree, ids) for name, ids in others.items()},
        "position, never finished": position_sentence(tree, tree.ids(12)),
    }
    assert {name: sentence.replace(NO_BREAK, " ") for name, sentence in sentences.items()} == snapshot


def test_scores_are_written_out(each_language) -> None:
    for penalty, expected in (
        (1.0, f"{decimal(-3.0)} / 4 = {decimal(-0.75, 3)}"),
        (0.5, f"{decimal(-2.0)} / 2^{decimal(0.5, 1)} = {decimal(-1.414, 3)}"),
    ):
        tree = small(length_penalty=penalty)
        computed = score_computation(tree, tree.finished[0])
        assert " " not in computed, "it stays on one line"
        assert computed.replace(NO_BREAK, " ") == expected


def test_long_hypothesis_is_shortened_to_where_it_differs() -> None:
    tree = beginning_with(small(), piece="\u2581" + "\u2581".join(f"mot{k}" for k in range(20)))
    assert hypothesis_text(tree, 10).startswith("“mot0 mot1")
    assert hypothesis_text(tree, 10).endswith("…”")
    assert hypothesis_text(tree, 11, other=10) == "“… mot18 mot19 assis noir assis”"
    assert hypothesis_text(tree, 2, other=10) == "“chat”"
