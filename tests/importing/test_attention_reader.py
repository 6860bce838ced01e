"""Reading attention files of other programs, with and without tokens, and refusing the rest."""

from __future__ import annotations

import contextlib
import json
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention
from attnviz.importing.attention_reader import read_attention, read_bytes
from tests.importing.given import SOURCE, TARGET, logged, marian, matrix, npy, npz
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
        file.sentence(3)
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
    assert (file.title, len(file)) == ("OpenNMT-py, eole", 2)
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
