"""Labels of figures: Plotly reads no text of a visitor as markup."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.labels import shorten
from attnviz.figures.spec import axis_labels, escape, label_stride
from attnviz.text import piece_name, with_symbols, without_isolates


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


def test_a_long_tag_is_cut_before_it_is_escaped() -> None:
    assert axis_labels(["<b>0123456789012345</b>"]) == ["&lt;b&gt;012345678901…"]


@given(st.integers(1, 5000))
def test_no_axis_has_more_labels_than_fit(count: int) -> None:
    assert len(range(0, count, label_stride(count))) <= 260
