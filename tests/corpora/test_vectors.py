"""Vector files of a corpus: values of each translation, deterministic sampling, and refused files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Translator
from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, vectors_path
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.corpora.vectors import vectors_of_pairs, write_vectors
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from tests.conftest import SENTENCES
from tests.transformers import random_transformer

PAIRS = [(k + 1, SENTENCES[2 * k], SENTENCES[2 * k + 1]) for k in range(len(SENTENCES) // 2)]


def test_vectors_match_the_trace_of_each_pair(translator: Translator) -> None:
    found = vectors_of_pairs(translator, PAIRS)
    assert [pair.number for pair in found.pairs] == [number for number, *_ in PAIRS]
    starts = dict.fromkeys(VECTOR_KINDS, 0)
    for index, pair in enumerate(found.pairs):
        trace = translator.translate(pair.source, target=pair.target)
        assert pair.source_pieces == trace.source_surfaces
        assert pair.target_pieces == trace.target_pieces
        theirs = {"state": trace.states, "context": trace.contexts, "annotation": trace.annotations}
        for kind in VECTOR_KINDS:
            start, own = starts[kind], theirs[kind]
            np.testing.assert_allclose(found.of(kind)[start : start + len(own)], own, atol=2e-3)
            assert found.place(kind, start) == (index, 0)
            assert found.place(kind, start + len(own) - 1) == (index, len(own) - 1)
            mine = found.rows_of(kind, pair.source)
            assert np.flatnonzero(mine).tolist() == list(range(start, start + len(own)))
            starts[kind] += len(own)
    assert all(len(found.of(kind)) == starts[kind] for kind in VECTOR_KINDS)


def test_sampling_is_deterministic_and_bounded(tmp_path: Path, model_folder: Path) -> None:
    pairs, table = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_text("".join(f"{a}\t{b}\n" for _, a, b in PAIRS * 6), encoding="utf-8")
    command = ["corpus", str(pairs), "-o", str(table), "--model", str(model_folder), "--workers", "1", "--kind", "none"]
    assert main([*command, "--vectors", "300"]) == 0
    first = vectors_path(table).read_bytes()
    found = Vectors.load(vectors_path(table))
    assert 150 < len(found.of("annotation")) <= 300
    assert len(found.of("state")) == len(found.of("context")) <= 300
    assert main([*command, "--vectors", "300"]) == 0
    assert vectors_path(table).read_bytes() == first
    translator = Translator.load(model_folder, device="cpu")
    whole = write_vectors(table, tmp_path / "whole.npz", translator)
    assert sorted(pair.number for pair in whole.pairs) == list(range(1, len(PAIRS) * 6 + 1))
    assert {pair.number for pair in found.pairs} < {pair.number for pair in whole.pairs}
    assert main([*command, "--vectors", "200001"]) == 2


def test_damaged_vector_files_are_refused(tmp_path: Path, translator: Translator, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "a.vectors.npz"
    found = vectors_of_pairs(translator, PAIRS[:1])
    found.save(path)
    assert all(np.array_equal(Vectors.load(path).of(kind), found.of(kind)) for kind in VECTOR_KINDS)
    content = path.read_bytes()
    for damaged in (
        b"",
        b"PK\x03\x04",
        content[: len(content) // 2],
        content.replace(b"attnviz-vectors", b"something else!"),
        content.replace(b"PK\x01\x02-\x03-", b"PK\x01\x02-\x03\xff"),  # a later version of zip files
    ):
        path.write_bytes(damaged)
        with pytest.raises(AttnvizError) as error:
            Vectors.load(path)
        message, cause = str(error.value).split(": ", 1)
        assert message == snapshot(name="damaged")
        assert cause
    fewer = Vectors(found.model, found.weights_digest, (), found.arrays)
    fewer.save(path)
    with pytest.raises(AttnvizError) as error:
        Vectors.load(path)
    assert str(error.value) == snapshot(name="other pairs")


def test_transformers_are_refused(tmp_path: Path, tokenizer: Tokenizer, snapshot: SnapshotAssertion) -> None:
    save_model(tmp_path / "t", random_transformer(TransformerConfig(len(tokenizer), 12, 3, 2, 5), 1), tokenizer)
    with pytest.raises(AttnvizError) as error:
        vectors_of_pairs(Translator.load(tmp_path / "t", device="cpu"), PAIRS)
    assert str(error.value) == snapshot
