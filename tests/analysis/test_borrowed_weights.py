"""Attention weights of a step taken from word links or from a model with another segmentation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.gold import parse_pharaoh, pharaoh
from attnviz.analysis.what_if_effects import weights_from_links, weights_from_trace
from attnviz.text import SPACE, join_pieces
from tests.figures.synthetic import trace


def cut(text: str, lengths: list[int]) -> tuple[str, ...]:
    """Return `text` as pieces of these lengths, blanks not counted, `</s>` at the end."""
    shown, pieces, place = SPACE + text.replace(" ", SPACE), [], 0
    while place < len(shown):
        blank = shown[place] == SPACE
        length = lengths[len(pieces) % len(lengths)] + blank
        piece = shown[place : place + length]
        inner = piece.find(SPACE, 1)
        pieces.append(piece if inner < 0 else piece[:inner])
        place += len(pieces[-1])
    return (*pieces, "</s>")


def with_pieces(source: tuple[str, ...], target: tuple[str, ...], seed: int) -> Trace:
    """Return a trace of these pieces whose rows are random weights."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(len(source)), size=len(target)).astype(np.float32)
    return dataclasses.replace(
        trace(),
        source_pieces=source,
        source_surfaces=source,
        target_pieces=target,
        alignment=rows,
        source_ids=tuple(range(4, 4 + len(source))),
        target_ids=tuple(range(4, 4 + len(target))),
    )


def by_characters(ours: tuple[str, ...], theirs: tuple[str, ...], row: np.ndarray) -> np.ndarray:
    """Return weights `row` over their pieces as weights over ours, character by character."""
    spread = [weight / len(text) for text, weight in zip(texts(theirs), row, strict=True) for _ in text]
    found, place = [], 0
    for text in texts(ours):
        found.append(sum(spread[place : place + len(text)]))
        place += len(text)
    return np.array(found)


def texts(pieces: tuple[str, ...]) -> list[str]:
    return [piece.replace(SPACE, "") for piece in pieces[:-1]] + ["$"]


SOURCE, TARGET = "The agreement was signed .", "L' accord a été signé ."
lengths = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@given(lengths, lengths, lengths, lengths, st.integers(0, 99))
def test_weights_of_another_segmentation_are_mapped_by_characters(
    source: list[int], target: list[int], other_source: list[int], other_target: list[int], seed: int
) -> None:
    ours = with_pieces(cut(SOURCE, source), cut(TARGET, target), seed)
    other = with_pieces(cut(SOURCE, other_source), cut(TARGET, other_target), seed + 1)
    owners = [k for k, text in enumerate(texts(other.target_pieces)) for _ in text]
    place = 0
    for step, text in enumerate(texts(ours.target_pieces)):
        rows = other.alignment[owners[place : place + len(text)]].astype(np.float64)
        place += len(text)
        expected = by_characters(ours.source_pieces, other.source_pieces, rows.mean(axis=0))
        found = weights_from_trace(ours, step, other)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_weights_of_the_same_segmentation_are_copied() -> None:
    ours, other = trace(seed=0), trace(seed=1)
    for step in range(len(ours.target_pieces)):
        np.testing.assert_allclose(weights_from_trace(ours, step, other), other.alignment[step], atol=1e-6)


def test_a_blank_piece_is_merged_with_the_next_piece() -> None:
    ours = with_pieces((SPACE + "a", "</s>"), (SPACE + "x", "</s>"), 0)
    other = with_pieces((SPACE, "a", "</s>"), (SPACE, "x", "</s>"), 1)
    expected = other.alignment[1, :2].sum(), other.alignment[1, 2]
    np.testing.assert_allclose(weights_from_trace(ours, 0, other), expected, atol=1e-6)
    assert weights_from_trace(other, 0, ours).tolist() == weights_from_trace(other, 1, ours).tolist()
    assert weights_from_trace(other, 0, ours)[0] == 0


def test_weights_of_a_translation_of_another_text_are_refused() -> None:
    with pytest.raises(AttnvizError, match="different source sentence"):
        weights_from_trace(trace(), 0, trace(source="Another sentence ."))


def test_links_share_weight_equally_between_words_then_pieces() -> None:
    found = trace()
    words = found.words()
    assert [len(group) for group in words.source_groups] == [1, 2, 1, 1, 1, 1]
    for step, piece in enumerate(found.target_pieces[:-1]):
        word = next(i for i, group in enumerate(words.target_groups) if step in group)
        weights = weights_from_links(found, step, [(0, word), (1, word), (3, (word + 1) % 5)])
        assert weights.tolist() == [0.5, 0.25, 0.25, 0, 0, 0, 0], piece
    assert join_pieces(found.source_pieces[1:3]) == "agreement"


@pytest.mark.parametrize("link", [(5, 0), (0, len(trace().words().target) - 1), (99, 0)])
def test_links_to_missing_words_are_refused(link: tuple[int, int]) -> None:
    with pytest.raises(AttnvizError, match=f"{link[0]}-{link[1]}"):
        weights_from_links(trace(), 0, [(0, 0), link])


def test_weights_from_links_are_refused_for_an_unlinked_word() -> None:
    with pytest.raises(AttnvizError, match="None of the links"):
        weights_from_links(trace(), 0, [(0, 1)])


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=9))
def test_pharaoh_links_are_read_as_written(links: list[tuple[int, int]]) -> None:
    assert parse_pharaoh("  ".join(f"{j}-{i}" for j, i in links)) == links


def test_exported_pharaoh_links_can_be_read() -> None:
    assert parse_pharaoh(pharaoh(trace().words()))


@pytest.mark.parametrize("text", ["", " ", "0", "0-", "0-1 x", "1–2", "0-1;1-1", "-1-2", "0-1 9999999-1"])
def test_malformed_links_are_refused(text: str) -> None:
    with pytest.raises(AttnvizError, match="is not a link"):
        parse_pharaoh(text)
