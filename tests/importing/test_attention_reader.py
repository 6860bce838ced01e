"""Reading attention files of other programs, with and without tokens, and refusing the rest."""

from __future__ import annotations

import base64
import contextlib
import json
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention
from attnviz.commands.main import main
from attnviz.importing.attention_reader import read_attention, read_bytes, records_of
from attnviz.reading import content_of
from tests.importing.given import SOURCE, TARGET, arrays_of_one_pair, logged, marian, matrix, npy, npz
from tests.snapshots import plain


def test_read_marian_soft_alignments(snapshot: SnapshotAssertion) -> None:
    file = read_bytes("\n".join([marian(matrix(1)), marian(matrix(2))]).encode())
    assert (file.format, len(file)) == ("marian", 2)
    found = file.attention(1, " ".join(SOURCE))
    assert np.allclose(found.alignment, matrix(2), atol=1e-6)
    assert found.words().target == ("La", "zone", "économique", "a", "été", "signée", ".", "</s>")
    with pytest.raises(AttnvizError) as error:
        file.attention(0)
    assert str(error.value) == snapshot
    with pytest.raises(AttnvizError) as error:
        file.pair_numbered(3)
    assert str(error.value) == snapshot


def test_read_marian_n_best_lists_with_scores() -> None:
    line = f"0 ||| {marian(matrix())} ||| WordScores= -0.10000 -0.20000 ||| F0= -1.2 ||| -0.4"
    found = read_bytes(line.encode()).attention(0, SOURCE)
    assert np.allclose(found.alignment, matrix(), atol=1e-6)
    assert found.translation == " ".join(TARGET).replace("@@ ", "")


def test_several_links_of_a_word_share_its_row() -> None:
    found = read_bytes(b"La zone ||| 0-0 2-1 1-1 3-2").attention(0, "The economic area")
    assert found.target_pieces[-1] == found.source_pieces[-1] == "</s>", "Marian links the ends of both sentences"
    assert found.alignment.tolist() == [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]]
    assert found.remarks == ("linked-source-end", "linked-target-end", "links")


def test_read_pharaoh_links_with_and_without_sentences(snapshot: SnapshotAssertion) -> None:
    bare = read_bytes(b"0-0 2-1\n1-0\n")
    assert bare.attention(0, "a b c", "x y z").remarks == ("empty-rows", "links")
    with pytest.raises(AttnvizError) as error:
        bare.attention(0, "a", "x y")
    assert str(error.value) == snapshot
    named = read_bytes(b"The area\tLa zone\t0-0 1-1\n").attention(0)
    assert np.array_equal(named.alignment, np.eye(2))


@pytest.mark.parametrize("starred", [False, True])
def test_read_logs_of_opennmt_and_eole(starred: bool) -> None:
    rows, columns = (*TARGET, "</s>"), (*SOURCE, "</s>")
    table = logged(rows, columns, matrix(), starred=starred)
    log = f"[2026-11-22 10:00:00,123 INFO] Loading …\n[2026-11-22 10:00:01,123 INFO] {table}\nPRED SCORE: -0.1\n{table}"
    file = read_bytes(log.encode())
    assert (file.pairs.title, len(file)) == ("OpenNMT-py, eole", 2)
    found = file.attention(0)
    assert np.allclose(found.alignment, matrix(), atol=1e-7)
    assert found.target_pieces == ("▁La", "▁zone", "▁économ", "ique", "▁a", "▁été", "▁signée", "▁.", "</s>")
    assert found.source_pieces[1] == "▁economi", "cut as in the file"
    assert found.remarks == ("cut-names",)


def test_read_log_numbers_without_space_between() -> None:
    found = read_bytes(b"    a       b\nx 0.75000000.2500000\ny *1.0000000 0.0000000\n\n").attention(0)
    assert found.alignment.tolist() == [[0.75, 0.25], [1, 0]]


def test_verbose_log_gives_full_token_names() -> None:
    columns = (*SOURCE, "</s>")
    header = f"\nSENT 1: {list(columns)}\nPRED 1: {' '.join(TARGET)}\nPRED SCORE: -0.4242\n\n"
    found = read_bytes((header + logged((*TARGET, "</s>"), columns, matrix())).encode()).attention(0)
    assert found.words().source == (*SOURCE, "</s>")
    assert found.remarks == ()


def test_read_numpy_arrays_with_and_without_tokens(snapshot: SnapshotAssertion) -> None:
    alone = read_bytes(npy(matrix()))
    with pytest.raises(AttnvizError) as error:
        alone.attention(0)
    assert str(error.value) == snapshot
    assert np.allclose(alone.attention(0, SOURCE, TARGET).alignment, matrix(), atol=1e-7)
    named = read_bytes(npz(source=SOURCE, target=TARGET, matrix=matrix(), energies=np.log(matrix())))
    assert np.allclose(named.attention(0).energies, np.log(matrix()), atol=1e-6)


def stored_as(ending: str, arrays: dict[str, object], folder: Path) -> Path:
    """Return the file that holds these arrays, one for NumPy or for PyTorch."""
    path = folder / f"pair.{ending}"
    if ending == "npz":
        path.write_bytes(npz(**arrays))
    else:
        torch.save({k: v if np.array(v).dtype.kind == "U" else torch.tensor(v) for k, v in arrays.items()}, path)
    return path


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_links_words_and_heads_of_arrays_are_read(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays: dict[str, Any] = arrays_of_one_pair()
    path = stored_as(ending, arrays, tmp_path)
    (record,) = read_attention(path)
    assert np.allclose(record.head_weights, arrays["matrix"], atol=1e-7)
    assert record.words().source == ("green", "house s", ".")
    assert record.words().target == ("mai sons", "vertes", ".")
    assert record.links == ((0, 2), (1, 0), (1, 1), (3, 3))
    assert (record.sure, record.possible) == (((0, 1), (1, 0)), ((2, 2),))
    assert main(["attention", str(path)]) == 0
    assert capsys.readouterr().out == "green house s .\tmai sons vertes .\t0-1 1-0 2?2\n"
    (chosen,) = read_attention(path, layer=1, head=0)
    assert np.allclose(chosen.alignment, arrays["matrix"][1, 0], atol=1e-7)
    (stored,) = read_attention(stored_as(ending, arrays | {"layer": 1, "head": 0}, tmp_path))
    assert stored.fingerprint == chosen.fingerprint
    assert read_attention(path, layer=0)[0].heads == read_attention(path, layer=0, head=None)[0].heads != stored.heads
    assert main(["attention", str(path), "--layer", "2", "--head", "1", "-o", str(tmp_path / "again.npz")]) == 0
    (again,) = read_attention(tmp_path / "again.npz")
    assert again.fingerprint == chosen.fingerprint


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_stored_head_is_read_from_an_array_of_one_layer(ending: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = arrays_of_one_pair(head=1)
    arrays["matrix"] = arrays["matrix"][0]
    (record,) = read_attention(stored_as(ending, arrays, tmp_path))
    assert np.allclose(record.alignment, arrays["matrix"][1], atol=1e-7)
    assert record.remarks == ("one-head",)


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_energies_of_several_pairs_are_ignored_with_a_remark(ending: str, tmp_path: Path) -> None:
    weights = np.full((2, 3, 4), 0.25)
    arrays: dict[str, Any] = {
        "matrix": weights,
        "energies": np.zeros_like(weights),
        "source": [["a", "b", "c", "d"]] * 2,
        "target": [["x", "y", "z"]] * 2,
    }
    records = read_attention(stored_as(ending, arrays, tmp_path))
    assert len(records) == 2
    for record in records:
        assert "pair-arrays-ignored" in record.remarks


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_links_alone_in_arrays_are_read(ending: str, tmp_path: Path) -> None:
    arrays = arrays_of_one_pair()
    del arrays["matrix"]
    (record,) = read_attention(stored_as(ending, arrays, tmp_path))
    assert record.links == ((0, 2), (1, 0), (1, 1), (3, 3))
    assert record.words().links == ((0, 1), (1, 0), (2, 2))


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"links": [[0, 9]]}, id="link-past-the-end"),
        pytest.param({"links": [0, 1]}, id="links-of-one-dimension"),
        pytest.param({"links": [[0.5, 1]]}, id="half-a-token"),
        pytest.param({"sure": "0-0"}, id="links-as-text"),
        pytest.param({"source_word_of": [0, 1]}, id="too-few-words"),
        pytest.param({"layer": 2}, id="no-such-layer"),
        pytest.param({"head": [0, 1]}, id="two-heads"),
        pytest.param({"origin": ["a", "b"]}, id="two-origins"),
        pytest.param({"matrix": np.ones((2, 4, 4)) / 4, "source": [["a"] * 4] * 2}, id="of-two-pairs"),
    ],
)
def test_wrong_links_words_and_heads_of_arrays_are_refused(
    more: dict[str, object], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        read_attention(stored_as("npz", arrays_of_one_pair(**more), tmp_path))[0]
    assert plain(error.value, tmp_path) == snapshot


def test_row_and_column_numbers_of_pandas_are_no_tokens() -> None:
    weights = np.random.default_rng(5).dirichlet(np.ones(3), size=4)
    source, target = ["the", "dog", "sleeps"], ["le", "chien", "dort", "."]
    for table in (pd.DataFrame(weights), pd.DataFrame(weights, index=target), pd.DataFrame(weights, columns=source)):
        records = records_of([content_of(table.to_csv().encode(), "a.csv")], [[source], [target]])
        assert np.allclose(records[0].alignment, weights, atol=1e-6)
        assert "index-dropped" in records[0].remarks
        assert records.tokens(0) == (source, target)
        with pytest.raises(AttnvizError):
            read_bytes(table.to_csv().encode())[0]
    unlabelled = read_bytes(pd.DataFrame(weights * 3).to_csv(index=False).encode())
    found = unlabelled.attention(0, source, target, normalise=True)
    assert np.allclose(found.alignment, weights, atol=1e-6)
    assert found.remarks == ("scaled", "index-dropped")
    counted = read_bytes(b",1,2\n1,0.9,0.1\n2,0.2,0.8\n")[0]
    assert (counted.words().source, counted.remarks) == (("1", "2"), ())


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("first", [0, 1])
def test_numbered_links_are_those_of_their_lines(order: Sequence[int], first: int) -> None:
    links = ["0-0 1p2", "", "0-1 1-0"]
    lines = "".join(f"{number + first}\t{links[number]}\n" for number in order)
    sides = [["a b c", "p", "d e"], ["x y z", "q", "u v"]]
    records = records_of([content_of(lines.encode(), "links.txt")], sides)
    assert records.format == "simalign"
    assert [record.links for record in records] == [((0, 0), (1, 2)), (), ((0, 1), (1, 0))]
    assert records[0].possible == ((1, 2),)
    assert ("reordered" in records[0].remarks) is (order != (0, 1, 2))
    left_out = content_of(lines.replace(f"{1 + first}\t\n", "").encode(), "links.txt")
    assert [record.links for record in records_of([left_out], sides)] == [((0, 0), (1, 2)), ((0, 1), (1, 0))]
    with pytest.raises(AttnvizError):
        read_bytes((lines + lines).encode())


def test_best_hypothesis_of_ctranslate2_has_the_highest_score() -> None:
    matrices = np.random.default_rng(6).dirichlet(np.ones(2), size=(2, 2)).tolist()
    result = {"source": ["a", "b"], "hypotheses": [["c", "d"], ["e", "f"]], "attention": matrices, "scores": [-2, -1.5]}
    (record,) = read_bytes(json.dumps([result]).encode())
    assert record.words().target == ("e", "f")
    assert np.allclose(record.alignment, matrices[1], atol=1e-6)
    records = read_bytes(json.dumps([result, {"hypotheses": [["c"]], "attention": []}]).encode())
    assert (records.format, len(records)) == ("ctranslate2", 2)
    with pytest.raises(AttnvizError):
        records[1]


@pytest.mark.parametrize("endian", ["little", "big"])
def test_inseq_attributions_of_part_of_a_target_are_read(endian: str) -> None:
    weights = np.random.default_rng(7).dirichlet(np.ones(2), size=2).astype(np.float32)
    packed = base64.b64encode(weights.T.astype(">f4" if endian == "big" else "<f4").tobytes()).decode()
    stored = {"__ndarray__": f"b64:{packed}", "dtype": "float32", "shape": [2, 2], "Corder": True, "endian": endian}
    fields = {"source": ["a", "b"], "target": ["<pad>", "c", "d", "e"], "attr_pos_start": 1, "attr_pos_end": 3}
    sequence = {**fields, "source_attributions": stored}
    (record,) = read_bytes(json.dumps({"sequence_attributions": [sequence]}).encode())
    assert record.words().target == ("c", "d")
    assert np.allclose(record.alignment, weights, atol=1e-6)
    with pytest.raises(AttnvizError):
        read_bytes(json.dumps({"sequence_attributions": [sequence | {"attr_pos_end": 4}]}).encode())[0]


def test_tokens_as_objects_are_read_by_their_token_or_text(snapshot: SnapshotAssertion) -> None:
    pair = {"source": [{"token": "a"}, {"text": "b"}], "target": ["x"], "matrix": [[0.5, 0.5]]}
    assert read_bytes(json.dumps(pair).encode())[0].words().source == ("a", "b")
    with pytest.raises(AttnvizError) as error:
        read_bytes(json.dumps(pair | {"source": [{"token": "a"}, {"id": 5}]}).encode())[0]
    assert str(error.value) == snapshot


def test_numbers_written_as_texts_are_no_weights(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_bytes(npy(np.array([["0.5", "0.5"], ["1", "0"]]))).attention(0, "a b", "x y")
    assert str(error.value) == snapshot


def test_kind_of_arrays_that_is_no_text_is_ignored() -> None:
    assert read_bytes(npz(source=SOURCE, target=TARGET, matrix=matrix(), kind=np.zeros(2)))[0].kind == "cross"


def test_more_links_than_tokens_allow_are_refused_before_they_become_lists(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_bytes(npz(**arrays_of_one_pair(links=np.zeros((1_000_001, 2), np.int8))))[0]
    assert str(error.value) == snapshot


def test_json_that_is_no_object_is_told_what_an_object_needs(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_bytes(b"[[1, 2], [3]]")
    assert str(error.value) == snapshot


def test_pair_of_softalignments_without_weights_keeps_its_place() -> None:
    lines = "var alignments = [\n[[0, 1.0, 0]], \n[], \n[[0, 0.5, 0], [1, 0.5, 0]], \n]\n"
    records = records_of([content_of(lines.encode(), "a.js")], [["a", "", "b c"], ["x", "", "y"]])
    assert records.is_blank(1)
    assert records[2].alignment.tolist() == [[0.5, 0.5]]


def test_padding_of_joey_nmt_batch_is_removed() -> None:
    padded = np.zeros((1, 12, 10), np.float32)
    padded[0, :9, :7] = matrix()
    padded[0, 9:, 0] = 1  # the decoder continues after its end
    file = read_bytes(npz(source=SOURCE, tokens=(*TARGET, "</s>"), attention_probs=padded))
    found = file.attention(0)
    assert np.allclose(found.alignment, matrix(), atol=1e-6)
    assert set(found.remarks) == {"padding", "source-end"}


def test_read_open_format_as_object_list_and_json_lines(tmp_path: Path) -> None:
    record = attention(SOURCE, TARGET, matrix(), sure=[(1, 2)])
    bare = {"source": list(SOURCE), "target": list(TARGET), "matrix": matrix().tolist()}
    line = json.dumps(bare)
    for text in (record.to_json(), f"[{line}, {line}]", f"{line}\n{line}\n{line}", f"\ufeff{line}"):
        path = tmp_path / "attention.json"
        path.write_text(text, encoding="utf-8")
        found = read_attention(path)
        last = found[len(found) - 1]
        assert np.array_equal(last.alignment, record.alignment)
    assert read_bytes(record.to_json().encode()).attention(0).fingerprint == record.fingerprint


def test_given_tokens_replace_those_of_file() -> None:
    record = attention("a b", "x", [[0.5, 0.5]])
    found = read_bytes(record.to_json().encode()).attention(0, "c@@ d", "y")
    assert found.words().source == ("cd",)
    assert found.translation == "y"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"Hello.", id="greeting"),
        pytest.param(b"\xff\xfe", id="neither-text-nor-numpy"),
        pytest.param(npy(np.zeros((2, 3, 4))), id="two-matrices"),
        pytest.param(npz(other=np.eye(2)), id="no-array"),
        pytest.param(b"\x93NUMPY\x01\x00", id="cut-npy"),
        pytest.param(b"PK\x03\x04", id="cut-npz"),
        pytest.param(b'{"matrix": [[1]]}', id="no-tokens"),
        pytest.param(b'[{"matrix": 1}, {"source": "a"}]', id="no-tokens-in-list"),
        pytest.param(b"a ||| 1,2 3", id="rows-of-two-lengths"),
        pytest.param(b"a ||| 0-0 x", id="marian-no-link"),
        pytest.param(b"a\tb\tc\t0-0", id="pharaoh-four-columns"),
        pytest.param(b"0-0 " * 10_001, id="too-many-links"),
    ],
)
def test_unreadable_content_is_refused(content: bytes, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_bytes(content).attention(0)
    assert plain(error.value) == snapshot


def test_oversized_and_pickled_arrays_are_refused(snapshot: SnapshotAssertion) -> None:
    huge = npy(np.zeros(1)).replace(b"(1,)", b"(9999999999,)".ljust(4))
    pickled = BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    bomb = BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("matrix.npy", b"\0" * (65 << 20))
    for content in (huge, pickled.getvalue(), bomb.getvalue()):
        with pytest.raises(AttnvizError) as error:
            read_bytes(content)
        assert plain(error.value) == snapshot


def test_missing_file_is_named(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_attention(tmp_path / "none.txt")
    assert plain(error.value, tmp_path) == snapshot


_KINDS = (
    marian(matrix()).encode(),
    logged((*TARGET, "</s>"), (*SOURCE, "</s>"), matrix()).encode(),
    b"a b\tc d\t0-0 1-1",
    npy(matrix()),
    npz(source=SOURCE, target=TARGET, matrix=matrix()),
    b"La zone ||| 0-0 1-1",
    attention(SOURCE, TARGET, matrix(), energies=np.log(matrix()), sure=[(0, 0)]).to_json().encode(),
)


@given(
    st.sampled_from(_KINDS),
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=0, max_size=6)), max_size=4),
    st.sampled_from([None, "a b c", " ".join(SOURCE)]),
    st.booleans(),
)
def test_any_file_content_is_read_or_refused(
    content: bytes, changes: list[tuple[int, bytes]], source: str | None, normalise: bool
) -> None:
    for place, put in changes:
        place %= len(content)
        content = content[:place] + put + content[place + len(put) // 2 :]
    with contextlib.suppress(AttnvizError):
        file = read_bytes(content)
        for index in range(min(len(file), 3)):
            file.attention(index, source, normalise=normalise)


def test_links_of_blank_line_do_not_stop_other_pairs() -> None:
    records = read_bytes(b"a b ||| c d ||| 0-0 1-1\n ||| e ||| 0-0\n")
    assert records[0].links == ((0, 0), (1, 1))
    assert records.filled(1) is None
    assert "blank line" in records.problems[1]


def test_typed_source_beside_given_blank_target() -> None:
    records = records_of([content_of(b"0-0\n0-0\n", "links.txt")], [["a", "b"], ["c", ""]])
    assert records[0].links == ((0, 0),)
    with pytest.raises(AttnvizError, match="blank line"):
        records.attention(1, "b")
    assert records.attention(1, "b", "d").translation == "d"


def test_given_tokens_equal_to_those_of_file_keep_its_words() -> None:
    fields = {"source": ["a", "b"], "target": ["c"], "matrix": [[0.5, 0.5]], "words": {"source": [0, 0], "target": [0]}}
    content = content_of(json.dumps(fields).encode())
    for source, words in (("a b", (0, 0)), (["a", "b"], (0, 0)), (["a", "x"], (0, 1))):
        assert tuple(records_of([content], [[source], None])[0].source_word_of) == words


@pytest.mark.parametrize("chosen", [{"layer": 0}, {"head": 0}, {"layer": -1, "head": 0}])
@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 1)])
def test_only_head_of_an_array_is_no_mean_where_it_is_chosen(shape: tuple[int, ...], chosen: dict[str, int]) -> None:
    array = matrix().reshape(*shape, *matrix().shape)
    (record,) = read_attention(array, [SOURCE], [TARGET], **chosen)  # type: ignore[arg-type]
    assert {"one-head", "mean-of-heads"} & {*record.remarks} == {"one-head"}
    assert np.allclose(record.alignment, matrix(), atol=1e-7)
    (record,) = read_attention(array, [SOURCE], [TARGET])
    assert not {"one-head", "mean-of-heads"} & {*record.remarks}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"matrix": "a text", "alignment": torch.tensor(matrix())}, id="text-as-matrix"),
        pytest.param({"matrix": [], "alignment": torch.tensor(matrix())}, id="no-matrix"),
        pytest.param({"matrix": {"mean": 1}, "alignment": torch.tensor(matrix())}, id="dict-as-matrix"),
        pytest.param({"matrix": matrix().tolist(), "source": [1, 2], "src": SOURCE}, id="ids-as-tokens"),
        pytest.param({"matrix": matrix(), "target": torch.tensor([1, 2]), "tgt": TARGET}, id="tensor-as-tokens"),
        pytest.param({"Matrix": np.eye(3), "matrix": matrix()}, id="name-in-upper-case"),
        pytest.param({"matrix": matrix(), "kind": 3, "format": 2}, id="numbers-as-kind-and-format"),
    ],
)
def test_names_with_another_kind_of_value_are_passed_over(other: dict[str, Any]) -> None:
    (record,) = read_attention({"source": SOURCE, "target": TARGET, **other})
    assert np.allclose(record.alignment, matrix(), atol=1e-7)
    assert record.source_pieces == read_attention(matrix(), [SOURCE], [TARGET])[0].source_pieces


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"source": torch.tensor([1, 2, 3])}, id="ids"),
        pytest.param({"source": {"first": 1}}, id="dict"),
        pytest.param({"source": [1, "b", "c"]}, id="number-among-tokens"),
        pytest.param({"source": [["a", "b", "c"], 3]}, id="number-among-sentences"),
        pytest.param({"matrix": "a text"}, id="text-as-matrix"),
        pytest.param({"energies": "a text"}, id="text-as-energies"),
        pytest.param({"links": "0-0 1-1"}, id="text-as-links"),
        pytest.param({"remarks": "unknown"}, id="unknown-remark"),
    ],
)
def test_values_of_a_dict_that_cannot_be_read_are_named(other: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        list(read_attention({"matrix": matrix(), "source": SOURCE, "target": TARGET, **other}))
    assert str(error.value) == snapshot


def test_one_remark_of_an_array_may_be_a_text() -> None:
    (record,) = read_attention({"matrix": matrix(), "source": SOURCE, "target": TARGET, "remarks": "transposed"})
    assert "transposed" in record.remarks


@pytest.mark.parametrize("value", ["inf", "-inf", "Inf", "nan"])
def test_infinite_weight_of_a_table_is_refused_as_such(value: str, snapshot: SnapshotAssertion) -> None:
    for table in (f",a,b\nx,0.5,{value}\ny,0.1,0.9\n", f"0.5,{value}\n0.1,0.9\n"):
        with pytest.raises(AttnvizError) as error:
            records_of([content_of(table.encode(), "a.csv")], [["a b"], ["x y"]])[0]
        assert str(error.value) == snapshot


def own_table(columns: str, rows: tuple[str, str], *, last: str = "") -> bytes:
    return f"target \\ source,{columns}\n{rows[0]},0.5,0.5{last}\n{rows[1]},0.25,0.75{last}\n".encode()


@pytest.mark.parametrize(
    ("table", "source", "target", "remarks"),
    [
        pytest.param(own_table("1 a,2 b", ("1 x", "2 y")), "a b", "x y", (), id="whole"),
        pytest.param(own_table("1 a,2 b,sum", ("1 x", "2 y"), last=",1"), "a b", "x y", ("margins-dropped",), id="sum"),
        pytest.param(own_table("1 a,2 b", ("x", "y")), "a b", "x y", (), id="rows-without-numbers"),
        pytest.param(own_table("1 a,3 b", ("1 x", "2 y")), "1 a 3 b", "x y", (), id="column-taken-out"),
        pytest.param(own_table("1 a,2 b", ("1 x", "4 y")), "a b", "1 x 4 y", (), id="rows-taken-out"),
    ],
)
def test_numbers_of_an_exported_table_are_no_part_of_tokens(
    table: bytes, source: str, target: str, remarks: tuple[str, ...]
) -> None:
    (record,) = read_bytes(table, "a.csv")
    assert (" ".join(record.words().source), " ".join(record.words().target)) == (source, target)
    assert np.allclose(record.alignment, [[0.5, 0.5], [0.25, 0.75]])
    assert record.remarks == remarks


TOKENS = {"source": ["a", "b"], "target": ["x", "y"]}
ROWS = [[0.5, 0.5], [0.25, 0.75]]
GRAPH: dict[str, Any] = {
    "nodes": [{"name": name, "group": group} for name, group in (("a", 1), ("b", 1), ("x", 2), ("y", 2))],
    "links": [{"source": 0, "target": 2, "value": weight} for row in ROWS for weight in row],
}


@pytest.mark.parametrize(
    ("value", "alignment"),
    [
        pytest.param(
            [{"source": [{"token": "a"}, {"token": "b"}], "hypotheses": [TOKENS["target"]], "attention": [ROWS]}],
            ROWS,
            id="source-tokens-of-ctranslate2-as-objects",
        ),
        pytest.param({**TOKENS, "Source": ["c", "d"], "matrix": ROWS}, ROWS, id="names-that-differ-in-case"),
        pytest.param({**TOKENS, "links": ["0-0", "1-1"]}, np.eye(2), id="links-as-texts"),
        pytest.param(
            {
                "sequence_attributions": [
                    {"source": "a b", "target": "x y", "source_attributions": [*zip(*ROWS, strict=True)]}
                ]
            },
            ROWS,
            id="tokens-of-inseq-as-text",
        ),
        pytest.param(GRAPH, ROWS, id="graph"),
    ],
)
def test_objects_of_all_programs_are_read_alike(value: object, alignment: Any) -> None:
    (record,) = read_bytes(json.dumps(value).encode(), "a.json")
    assert (record.words().source, record.words().target) == (("a", "b"), ("x", "y"))
    assert np.allclose(record.alignment, alignment)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(GRAPH | {"links": GRAPH["links"][:3]}, id="graph-without-a-link"),
        pytest.param(GRAPH | {"nodes": GRAPH["nodes"][1:]}, id="graph-without-a-node"),
        pytest.param([{**TOKENS, "hypotheses": [TOKENS["target"]], "attention": [None]}], id="no-attention"),
        pytest.param(
            {"sequence_attributions": [{"source": [1, 2], "target": "x y", "source_attributions": ROWS}]},
            id="ids-of-inseq",
        ),
        pytest.param(
            {"sequence_attributions": [{"target": "x y", "source_attributions": ROWS}]}, id="inseq-without-source"
        ),
    ],
)
def test_incomplete_objects_of_programs_are_refused(value: object, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_bytes(json.dumps(value).encode(), "a.json")[0]
    assert str(error.value) == snapshot
