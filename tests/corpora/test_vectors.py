"""Vector files of a corpus: values of each translation, deterministic sampling, and refused files."""

import numpy as np

from attnviz import Translator
from attnviz.analysis.neighbours import VECTOR_KINDS, Vectors, vectors_path
from attnviz.commands.main import main
from attnviz.corpora.vectors import vectors_of_pairs, write_vectors
from tests.conftest import SENTENCES

PAIRS = [(k + 1, SENTENCES[2 * k], SENTENCES[2 * k + 1]) for k in range(len(SENTENCES) // 2)]


def test_vectors_match_the_trace_of_each_pair(translator) -> None:
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
            np.testing.assert_allclose(found.arrays[kind][start : start + len(own)], own, atol=2e-3)
            assert found.place(kind, start) == (index, 0)
            assert found.place(kind, start + len(own) - 1) == (index, len(own) - 1)
            mine = found.rows_of(kind, pair.source)
            assert np.flatnonzero(mine).tolist() == list(range(start, start + len(own)))
            starts[kind] += len(own)
    assert all(len(found.arrays[kind]) == starts[kind] for kind in VECTOR_KINDS)


def test_sampling_is_deterministic_and_bounded(tmp_path, model_folder) -> None:
    pairs, table = tmp_path / "pairs.tsv", tmp_path / "out.parquet"
    pairs.write_text("".join(f"{a}\t{b}\n" for _, a, b in PAIRS * 6), encoding="utf-8")
    command = ["corpus", str(pairs), "-o", str(table), "--model", str(model_folder), "--workers", "1", "--kind", "none"]
    assert main([*command, "--vectors", "300"]) == 0
    first = vectors_path(table).read_bytes()
    found = Vectors.load(vectors_path(table))
    assert 150 < len(found.arrays["annotation"]) <= 300
    assert len(found.arrays["state"]) == len(found.arrays["context"]) <= 300
    assert main([*command, "--vectors", "300"]) == 0
    assert vectors_path(table).read_bytes() == first
    translator = Translator.load(model_folder, device="cpu")
    whole = write_vectors(table, tmp_path / "whole.npz", translator)
    assert sorted(pair.number for pair in whole.pairs) == list(range(1, len(PAIRS) * 6 + 1))
    assert {pair.number for pair in found.pairs} < {pair.number for pair in whole.pairs}
    assert main([*command, "--vectors", "200001"]) == 2
