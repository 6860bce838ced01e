"""Exports of attention and word links: any are read back equal from every format."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnviz import Attention, AttnvizError, alignment_error, attention, figures, read_attention
from attnviz.analysis.gold import GoldLinks, link_errors, word_links
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.analysis.labels import LONGEST
from attnviz.commands.main import main
from attnviz.export import FigureOptions
from attnviz.export.attention_files import LINK_ENDINGS, attention_file_content, record_of_links
from attnviz.export.saved_files import contents, picture
from attnviz.figures import Subject, step_figure
from attnviz.importing.attention_reader import records_of
from attnviz.reading import content_of
from attnviz.trace import Words
from tests.figures.payloads import close, plain
from tests.importing.attention_files import SOURCE, TARGET, matrix
from tests.saved_pages import saved_view

WORDS = st.lists(
    st.sampled_from(["the", "house", ",", '"', "l'été", "10", "S", "P", "猫", "x,y", ";", "a\\b", "שלום", "|||"]),
    min_size=1,
    max_size=7,
)


def words_between(source: Sequence[str], target: Sequence[str]) -> Words:
    groups = [tuple((index,) for index in range(len(side))) for side in (source, target)]
    return Words(tuple(source), tuple(target), np.zeros((len(target), len(source)), np.float32), groups[0], groups[1])


@st.composite
def pairs(draw: st.DrawFn) -> Attention:
    """Draw a pair of sentences with sure and possible links."""
    source, target = draw(WORDS), draw(WORDS)
    links = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    sure, possible = draw(st.frozensets(links)), draw(st.frozensets(links))
    return record_of_links(words_between(source, target), GoldLinks(sure, possible - sure))


@pytest.mark.parametrize("ending", LINK_ENDINGS)
@given(st.lists(pairs(), min_size=1, max_size=4))
@example([record_of_links(words_between("ab", "cd"), links) for links in (GoldLinks(frozenset({(1, 1)})), GoldLinks())])
def test_saved_links_are_read_back_equal(ending, records) -> None:
    if not any(record.links for record in records):
        return
    content = attention_file_content(records, ending)
    sides = [None, None]
    if ending in ("pharaoh", "naacl"):  # their files have no words
        sides = [[[*record.source_pieces] for record in records], [[*record.target_pieces] for record in records]]
    read = records_of([content_of(content, f"links.{ending}")], sides)
    assert read.format == ending
    assert [set(record.links) for record in read] == [set(record.links) for record in records]
    assert [set(record.possible) for record in read] == [set(record.possible) for record in records]
    assert [record.source_pieces for record in read] == [record.source_pieces for record in records]
    assert [record.target_pieces for record in read] == [record.target_pieces for record in records]
    marked = [record for record in read if (record.possible if ending == "pharaoh" else record.links)]
    assert all({*record.sure, *record.possible} for record in marked), "they are gold links"
    assert alignment_error(read, read, samples=0).aer == 0
    for record, saved in zip(read, records, strict=True):
        errors = link_errors(record.words(), GoldLinks(frozenset(saved.sure), frozenset(saved.possible)))
        assert errors.missed == errors.false == ()
        assert {*errors.found} == {*saved.links}, "a target word may have several links"
        assert [(j, i) for j, i, _ in word_links(record)] == sorted(saved.links)


def test_command_converts_links_and_every_head_is_written(tmp_path) -> None:
    first = tmp_path / "a.pharaoh"
    first.write_text("0-0 1?2 2-1\n1-0\n", encoding="utf-8")
    (tmp_path / "s.txt").write_text("a red car\nit rains\n", encoding="utf-8")
    (tmp_path / "t.txt").write_text("une voiture rouge\nil pleut\n", encoding="utf-8")
    sides = ["--source-file", str(tmp_path / "s.txt"), "--target-file", str(tmp_path / "t.txt")]
    for ending in LINK_ENDINGS:
        assert main(["attention", str(first), *sides, "-o", str(tmp_path / f"b.{ending}")]) == 0
    assert (tmp_path / "b.pharaoh").read_text(encoding="utf-8") == "0-0 1?2 2-1\n1-0\n"
    assert (tmp_path / "b.naacl").read_text(encoding="utf-8") == "1 1 1 S\n1 2 3 P\n1 3 2 S\n2 2 1 S\n"
    assert (tmp_path / "b.csv").read_text(encoding="utf-8-sig") == (
        "target \\ source,1 a,2 red,3 car\n1 une,S,,\n2 voiture,,,S\n3 rouge,,P,\n\n"
        "target \\ source,1 it,2 rains\n1 il,,S\n2 pleut,,\n"
    )
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2, 3)).astype(np.float32)
    record = attention("a b@@ c </s>", "x y </s>", weights)
    (tmp_path / "made.npz").write_bytes(attention_file_content([record.select_heads(1, 0)], "npz"))
    (found,) = read_attention(tmp_path / "made.npz")
    assert np.array_equal(found.head_weights, record.head_weights)
    assert found.words().source == record.words().source
    with pytest.raises(AttnvizError):
        attention_file_content([record, record], "npz")


@st.composite
def attentions(draw: st.DrawFn) -> Attention:
    """Draw a record with any of its optional parts."""
    pieces = ["▁the", "▁hou", "se", "▁猫", "猫", "▁שלום", "<0xC3>", "</s>"]
    tokens = st.lists(st.sampled_from(pieces), max_size=3).map(lambda further: ["▁a", *further])
    source, kind = draw(tokens), draw(st.sampled_from(["cross", "encoder"]))
    target = source if kind == "encoder" else draw(tokens)
    shape, chance = (len(target), len(source)), np.random.default_rng(draw(st.integers(0, 99)))
    leading = draw(st.sampled_from([(), (1, 1), (2, 3)]))
    further = {
        "energies": None if leading else np.where(np.eye(*shape, k=1) > 0, -np.inf, chance.normal(size=shape)),
        "states": chance.normal(size=(len(target), 3)),
        "gradient": chance.normal(size=shape),
        "erased": chance.normal(size=shape),
    }
    record = attention(
        source,
        target,
        chance.dirichlet(np.ones(len(source)), size=(*leading, len(target))),
        **{name: draw(st.sampled_from([None, values])) for name, values in further.items()},
        kind=kind,
        sure=draw(st.sampled_from([(), [(0, 0)]])),
        possible=draw(st.sampled_from([(), [(0, 0)]])),
        origin=draw(st.sampled_from(["", "été"])),
    )
    record = replace(record, links=draw(st.sampled_from([(), ((0, 0),)])))
    chosen = [(), (0,), (0, 0)] if leading else [()]
    return record.select_heads(*draw(st.sampled_from(chosen)) or (None,))


@pytest.mark.parametrize("ending", ["parquet", "json"])
@given(st.lists(attentions(), min_size=1, max_size=3))
def test_records_are_read_back_equal(ending, records) -> None:
    read = records_of([content_of(attention_file_content([*records, None], ending))])
    assert [record.to_json() for record in read] == [record.to_json() for record in records]
    for found, record in zip(read, records, strict=True):
        assert np.array_equal(found.alignment, record.alignment)


@pytest.fixture
def record() -> Attention:
    return attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()))


def test_page_of_attention_has_its_weights_links_and_what_is_missing(record) -> None:
    page = saved_view(contents(record, "html", FigureOptions(margins=True)).decode("utf-8"))
    assert missing_values_reason() in page.texts()
    drawn = figures.heatmap(record, end=True, margins=True, longest=LONGEST)
    assert close(plain(page.heatmap()), plain(drawn.plotly()))
    for step in range(len(record.target_pieces)):
        drawn = step_figure(subject := Subject(record, step), "look").draw(subject)
        assert close(plain(page.figure("look", step)), plain(drawn.plotly()))
    record = attention("a b", "c d", np.eye(2), sure=[(0, 1)])
    for options, marked in ((FigureOptions(), True), (FigureOptions(gold=GoldLinks()), False)):
        assert ("sure" in [one.name for one in picture(record, options).figure().data]) == marked
