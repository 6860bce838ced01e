"""`Attention`, the attention of another program: checks, merging of pieces into words, saving and opening."""

import functools
import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Attention, AttnvizError, attention
from attnviz.trace.tokens import to_pieces
from tests.importing.attention_files import SOURCE, TARGET, matrix
from tests.snapshots import refusal
from tests.strategies import texts
from tests.trace.test_records import assert_same


def test_attention_keeps_given_numbers_also_in_files_and_of_tensors() -> None:
    record = attention(SOURCE, TARGET, matrix(), sure=[(0, 0)], possible=[(2, 1), (0, 0)])
    assert np.allclose(record.alignment, matrix(), atol=1e-7)
    assert record.source_pieces[-1] == record.target_pieces[-1] == "</s>"
    assert record.remarks == ("source-end", "target-end")
    assert record.source_text == " ".join(SOURCE)
    assert record.translation == " ".join(TARGET).replace("@@ ", "")
    assert record.possible == ((2, 1),)  # without the sure links
    fields = {"source": SOURCE, "target": TARGET, "matrix": matrix().tolist()}
    for gold in ("0-0 1?2 2-1", {"sure": [[0, 0], [2, 1]], "possible": [[1, 2]]}):
        found = Attention.from_json(json.dumps(fields | {"gold": gold}))
        assert (found.sure, found.possible) == (((0, 0), (2, 1)), ((1, 2),))
    weights, states = matrix(), np.arange(18.0).reshape(9, 2)
    weights[0, 6] = 0
    weights[0] /= weights[0].sum()
    energies = np.log(weights, where=weights > 0, out=np.full(weights.shape, -np.inf))
    found = attention(SOURCE, TARGET, weights, energies=energies, states=states, sure=[(0, 0)], origin="Marian")
    assert_same(Attention.from_json(found.to_json()), found)
    assert np.array_equal(found.energies, energies.astype(np.float32))
    assert np.array_equal(found.states, states.astype(np.float32))
    assert "energies-differ" not in found.remarks
    others = attention(SOURCE, TARGET, matrix(), energies=np.zeros((9, 7)))
    assert "energies-differ" in others.remarks
    for dtype in (torch.float32, torch.bfloat16):
        tensor = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=dtype, requires_grad=True)
        assert attention("a b", "c d", tensor).alignment.tolist() == [[0.25, 0.75], [1, 0]]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ("bi@@ cycle s", ("bicycle", "s")),
        ("▁bi cycle ▁is ▁red .", ("bicycle", "is", "red", ".")),
        ("bi ##cycle is", ("bicycle", "is")),
        ("bicycle ￭s are ( ￭red ￭)", ("bicycles", "are", "(red)")),
        ("The Ġbi cycle Ġd Ã©jÃł", ("The", "bicycle", "déjà")),
        ("don't <unk> [SEP]", ("don't", "<unk>", "</s>")),
        ("@@ ￭ ##", ("@@", "￭", "##")),
        ("▁caf <0xC3> <0xA9> ▁noir", ("café", "noir")),
        ("▁ <0xF0> <0x9F> <0x98> <0x80> ▁a", ("😀", "a")),
        ("▁a <0xC3> <0x41> b", ("a", "<0xC3>", "Ab")),
        ("Hello ĠçĮ « Ġd Ã©jÃł", ("Hello", "猫", "déjà")),
    ],
)
def test_word_marks_of_many_tokenizers(tokens, words) -> None:
    split = tokens.split()
    found = attention(split, "x", np.full((1, len(split)), 1 / len(split)))
    assert found.words().source == words


def test_rows_are_scaled_only_with_normalise_and_output_of_models_is_named(snapshot) -> None:
    halves = matrix() / 2
    assert refusal(lambda: attention(SOURCE, TARGET, halves)) == snapshot
    scaled = attention(SOURCE, TARGET, halves, normalise=True)
    assert "scaled" in scaled.remarks
    assert np.allclose(scaled.alignment, matrix(), atol=1e-6)
    empty = attention("a b", "x y", [[0, 0], [0, 1]])
    assert empty.remarks == Attention.from_json(empty.to_json()).remarks == ("empty-rows",)
    steps = tuple((np.ones((1, 2, 1, 3)) / 3,) * 2 for _ in range(2))
    for given_ in (steps, np.ones((2, 2, 3)) / 3, (np.ones((1, 2)), np.ones((1, 3)))):
        assert refusal(functools.partial(attention, "a b c", "d e", given_)) == snapshot(name="several")


UNFIT: dict[str, dict[str, Any]] = {
    "a matrix of one weight": {"matrix": [[1.0]]},
    "a transposed matrix": {"matrix": matrix()[:8, :6].T},
    "rows of two lengths": {"matrix": [[0.5, 0.5], [1.0]]},
    "negative weights": {"matrix": -np.round(matrix(), 2)},
    "weights that are none": {"matrix": [[float("nan")] * 6] * 8},
    "huge weights": {"matrix": [[1e300] * 6] * 8},
    "no rows": {"matrix": []},
    "a text as matrix": {"matrix": "1 2 3"},
    "no tokens": {"source": []},
    "an empty token": {"source": ["a", " ", "c", "d", "e", "f"]},
    "numbers as tokens": {"source": [1] * 6},
    "a long token": {"source": ["a" * 201] * 6},
    "half a character": {"source": ["\ud800"] * 6},
    "too many tokens": {"source": ["a"] * 1001},
    "a number as tokens": {"source": 7},
    "energies of another shape": {"energies": [[0.0]]},
    "states of another shape": {"states": [[0.0]]},
    "a link of no words": {"sure": [(0, 99)]},
    "a link of letters": {"sure": [(0, "x")]},
    "a number as links": {"sure": 3},
    "a long origin": {"origin": "x" * 300},
}


@pytest.mark.parametrize("given", UNFIT.values(), ids=UNFIT.keys())
def test_mismatched_arguments_are_refused(given, snapshot) -> None:
    assert refusal(lambda: attention(**{"source": SOURCE, "target": TARGET, "matrix": matrix(), **given})) == snapshot


@given(st.lists(texts.filter(lambda text: text.strip() and len(text) <= 200), min_size=1, max_size=8))
def test_every_piece_belongs_to_a_word_in_order(tokens) -> None:
    try:
        found = to_pieces(tokens)
    except AttnvizError:
        assert any("\ud800" <= letter <= "\udfff" for token in tokens for letter in token)
        return
    assert len(found.pieces) == len(found.words) == len(tokens)
    assert found.words[0] == 0
    assert {*np.diff(found.words).tolist()} <= {0, 1}
