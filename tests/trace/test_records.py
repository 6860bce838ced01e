"""Saved records of every class, the attention of heads, frames and snapshots: tables, round trips, immutability."""

import copy
import dataclasses
import functools
import io
import json
import pickle
import pydoc
import types
import typing
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import Attention, AttnvizError, Trace, attention, export, figures
from attnviz.analysis.energy_equations import energy_decomposition
from attnviz.analysis.gold import pharaoh
from attnviz.figures.heads_figure import thumbnail
from attnviz.trace import Computation, Judgement, TransformerTrace
from attnviz.trace.parts import HeadKind
from attnviz.trace.quantity import plain_equation
from attnviz.trace.snapshots import Sentence, Snapshots, join_snapshots, load_folder
from attnviz.trace.storage import element_type
from attnviz.trace.trace import RECORDED
from tests.processes import run_python
from tests.snapshots import refusal, without_numbers

CLASSES = (Trace, TransformerTrace, Judgement)
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)


def assert_same(one: Computation, other: Computation) -> None:
    """Assert that two records have the same type and equal fields, arrays bit for bit."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert np.array_equal(mine, theirs), field.name
        else:
            assert mine == theirs, field.name


@every_class
def test_table_lists_every_array_with_its_shape(records, kind) -> None:
    record, hints = records[kind], typing.get_type_hints(kind)
    arrays = [field.name for field in dataclasses.fields(kind) if element_type(hints[field.name]) is not None]
    assert sorted(quantity.name for quantity in kind.arrays) == sorted(arrays)
    record.check_shapes()
    for quantity in kind.arrays:
        array = getattr(record, quantity.name)
        longer = np.concatenate([array, np.zeros((1, *array.shape[1:]), array.dtype)])
        # Sizes are read from some arrays: if one of those is longer, the error names another array.
        with pytest.raises(ValueError, match="has the shape"):
            dataclasses.replace(record, **{quantity.name: longer}).check_shapes()


@every_class
def test_file_has_the_whole_record_and_fingerprint_covers_all_but_the_time(records, kind, tmp_path) -> None:
    record = records[kind]
    record.save(tmp_path / "x.json")
    loaded = kind.load(tmp_path / "x.json")
    assert_same(record, loaded)
    assert loaded.to_json() == record.to_json()
    assert loaded.fingerprint == record.fingerprint
    assert dataclasses.replace(record, seconds=9.0).fingerprint == record.fingerprint
    others = [{"model": "other"}, *[{"interventions": ()}] * (kind is not Judgement)]
    assert all(dataclasses.replace(record, **other).fingerprint != record.fingerprint for other in others)
    for quantity in kind.arrays:
        array = getattr(record, quantity.name).copy()
        if array.size and array.dtype.kind == "f":
            array.flat[0] = np.nextafter(array.flat[0], np.float32(np.inf))
            changed = dataclasses.replace(record, **{quantity.name: array})
            assert changed.fingerprint != record.fingerprint, quantity.name


@every_class
def test_record_and_its_copies_are_immutable_and_other_files_refused(records, kind, snapshot) -> None:
    record = records[kind]
    again = (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record)))  # noqa: S301
    for one in (record, *again, kind.from_json(record.to_json())):
        assert_same(one, record)
        for field in dataclasses.fields(one):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, field.name, None)
            value = getattr(one, field.name)
            assert not isinstance(value, list), field.name
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
        with pytest.raises(TypeError):
            one.config["heads"] = 2
    if kind is not Judgement:
        with pytest.raises(ValueError, match="read-only"):
            record.words().alignment[...] = 0
    content = {one.__name__: records[one].to_json() for one in CLASSES if one is not kind}
    own = json.loads(records[kind].to_json())
    content |= {f"version {change:+}": json.dumps(own | {"version": own["version"] + change}) for change in (-1, 1)}
    said = {}
    for name, text in content.items():
        with pytest.raises(AttnvizError) as error:
            kind.from_json(text)
        said[name] = str(error.value)
    assert said == snapshot


def test_records_open_without_torch(records, tmp_path) -> None:
    foreign = attention(["a", "b"], ["c"], [[0.25, 0.75]])
    for record in (*records.values(), foreign):
        record.save(tmp_path / f"{type(record).__name__}.json")
    program = (
        "import sys\n"
        "for name in ('torch', 'streamlit', 'plotly', 'safetensors'): sys.modules[name] = None\n"
        "from attnviz.trace import Attention, Judgement, Trace, TransformerTrace\n"
        "for kind in (Trace, TransformerTrace, Judgement, Attention):\n"
        "    record = kind.load(f'{sys.argv[1]}/{kind.__name__}.json')\n"
        "    print(record.fingerprint, kind is Judgement or record.words().alignment.sum())\n"
    )
    printed = [line.split() for line in run_python("-c", program, tmp_path).splitlines()]
    assert [fingerprint for fingerprint, _ in printed] == [one.fingerprint for one in (*records.values(), foreign)]
    assert float(printed[0][1]) == pytest.approx(len(records[Trace].words().target), abs=1e-3)


@pytest.mark.parametrize("kind", [Trace, TransformerTrace, Judgement, Attention])
def test_help_documents_every_quantity(kind) -> None:
    shown = [line.strip(" |") for line in pydoc.plain(pydoc.render_doc(kind)).splitlines()]
    for quantity in (*kind.arrays, *kind.derived):
        symbol, equation = plain_equation(quantity.symbol), plain_equation(quantity.equation)
        assert "\\" not in symbol + equation
        assert (symbol + equation).count("{") == (symbol + equation).count("}")
        line = next(
            at for at, one in enumerate(shown) if one.startswith(f"{quantity.name}  ") and quantity.meaning in one
        )
        assert symbol in shown[line]
        assert all(size in shown[line] for size in quantity.shape)
        assert shown[line].endswith(quantity.meaning)
        assert equation in (symbol, shown[line + 1])


def test_describe_prints_every_array_with_its_size(records, snapshot) -> None:
    trace, file = records[Trace], io.StringIO()
    trace.describe(file)
    shown = file.getvalue()
    for quantity in RECORDED:
        assert f" = {getattr(trace, quantity.name).shape}  " in shown
    assert max(map(len, shown.splitlines())) <= 140
    assert without_numbers(shown) == snapshot


def test_element_type_of_an_array_is_found_also_behind_a_type_alias() -> None:
    """From NumPy 2.5 on, `NDArray` is an alias as PEP 695 makes it, with Python 3.12 and later."""

    class Alias:
        __value__ = NDArray

    alias = types.GenericAlias(Alias, (np.float32,))
    assert element_type(NDArray[np.float32]) is np.float32
    assert element_type(alias) is np.float32
    assert element_type(tuple[int, ...]) is None
    assert element_type(int) is None


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})", "α_ij = exp(e_ij) / Σ_k exp(e_ik)"),
        (r"\tilde s_{i-1} \odot \overrightarrow{h}_1", "s\u0303_{i-1} ⊙ →h_1"),
        (r"\sqrt{d/H} + \sqrt{d}\, E", "√(d/H) + √(d) E"),
        (r"\operatorname{softmax}_j(W_a s) \text{ or } \log p(y \mid x)", "softmax_j(W_a s) or log p(y | x)"),
    ],
)
def test_plain_text_of_equations(latex, plain) -> None:
    assert plain_equation(latex) == plain


@pytest.fixture
def trace(records) -> TransformerTrace:
    return records[TransformerTrace]


def test_cross_attention_by_layer_and_head(trace, snapshot) -> None:
    np.testing.assert_allclose(trace.alignment, trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    np.testing.assert_array_equal(trace.cross_attention(-1), trace.cross_alignment[-1].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(0), trace.cross_alignment[0].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(1, 3), trace.cross_alignment[1, 3])
    np.testing.assert_allclose(trace.cross_attention(0).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.cross_attention(None), trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    for layer, head in ((2, None), (-2, None), (0, 4), (0, -1), (None, 1)):
        for chosen in (trace.cross_attention, trace.select_heads, trace.heatmap):
            assert refusal(functools.partial(chosen, layer, head)) == snapshot(name=f"layer {layer}, head {head}")
    for found in (trace.alignment, trace.cross_attention(0), trace.cross_attention(0, 1), trace.words().alignment):
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0


def test_seen_by_selects_alignment_of_heads(trace) -> None:
    seen = trace.select_heads(0, 2)
    np.testing.assert_array_equal(seen.alignment, trace.cross_alignment[0, 2])
    np.testing.assert_allclose(seen.words().alignment, trace.words().merged(trace.cross_alignment[0, 2]), atol=1e-6)
    assert seen.cross_energies is trace.cross_energies
    assert seen.fingerprint != trace.fingerprint
    assert seen is trace.select_heads(0, 2) is trace.select_heads(1, 1).select_heads(0, 2)
    assert trace.select_heads() is trace.select_heads(None) is seen.select_heads() is trace
    assert trace.select_heads(-1) is trace.select_heads(1)
    assert seen.nearest_head == (0, 2)
    assert trace.select_heads(1).nearest_head[0] == 1
    loaded = TransformerTrace.from_json(seen.to_json())
    assert loaded.heads == seen.heads
    assert loaded.fingerprint == seen.fingerprint


@pytest.mark.parametrize("kind", get_args(HeadKind))
def test_heads_have_query_rows_key_columns_and_decomposable_energies(trace, kind) -> None:
    for one in trace.heads_of(kind):
        shape = (len(one.target_pieces), len(one.source_pieces))
        assert one.alignment.shape == shape
        assert one.words().alignment.sum(axis=1) == pytest.approx(1, abs=1e-5)
        for row in range(shape[0]):
            assert not one.alignment[row, one.visible_key_count(row) :].any()
            for column in range(one.visible_key_count(row)):
                units = energy_decomposition(one, None, row, column)
                assert units.energy == pytest.approx(float(one.energies[row, column]), abs=1e-5)
        np.testing.assert_allclose(one.contexts, one.alignment @ one.values, atol=1e-6)
        terms = one.streams[0] + one.added.sum(axis=0)
        np.testing.assert_allclose(terms, one.streams[-1], atol=1e-4)
        assert one.displayed is one
        assert trace.head_named(one.name) is not None
        assert one.name == f"{kind}.{one.layer + 1}.{one.head + 1}"
        assert one.blocks[one.block % len(one.blocks)] == ("cross" if kind == "cross" else "attention")
        if kind == "decoder":
            assert one.source_pieces == ("<s>", *trace.target_pieces[:-1])
    assert trace.head_named(f"{kind}.3.1") is None


@given(st.integers(1, 200), st.integers(1, 200))
def test_a_thumbnail_keeps_the_brightest_cell(rows, columns) -> None:
    matrix = np.random.default_rng(rows * 1000 + columns).random((rows, columns))
    small = thumbnail(matrix)
    assert small.shape == (min(rows, 48), min(columns, 48))
    assert small.max() == matrix.max()
    assert set(small.ravel()) <= set(matrix.ravel())


SENTENCE = Sentence(
    "a green house", "une maison verte", ("▁a", "▁gre", "en", "▁house", "</s>"), ("▁une", "▁maison", "▁verte", "</s>")
)


def snapshots(updates: tuple[int, ...], seed: int = 0, **changes: Any) -> Snapshots:
    weights = np.random.default_rng(seed).dirichlet(np.ones(5), (len(updates), 4)).astype(np.float32)
    found = Snapshots(
        "run",
        0.5,
        updates,
        (SENTENCE,),
        (weights,),
        tuple((f"said {update}",) for update in updates),
        {"loss": tuple((update, 9 / (1 + update)) for update in updates)},
        {"content": {"alike": 0.1}},
        {"content": 7},
    )
    return replace(found, **changes)


def same(one: Snapshots, other: Snapshots) -> bool:
    arrays = all(np.array_equal(a, b) for a, b in zip(one.alignments, other.alignments, strict=True))
    return arrays and {**vars(one), "alignments": 0} == {**vars(other), "alignments": 0}


def test_file_and_folder_are_read_back_and_moments_found(tmp_path) -> None:
    snapshots((0,)).save(tmp_path / "000000.json")
    other = replace(SENTENCE, source="an old house")
    for update in (10, 50):
        snapshots((update,), sentences=(other,)).save(tmp_path / f"{update:06}.json")
    snapshots((0, 5), name="another").save(tmp_path / "x.json")
    (tmp_path / "old.json").write_text('{"update": 3, "sentences": []}')
    run, another = load_folder(tmp_path)
    assert (run.name, run.updates, run.sentences) == ("run", (10, 50), (other,))
    assert (another.name, another.updates) == ("another", (0, 5))
    saved = snapshots((0, 10, 50))
    saved.save(tmp_path / "one.json")
    assert same(Snapshots.load(tmp_path / "one.json"), saved)
    found = snapshots((10, 50))
    assert [found.moment(update) for update in (0, 10, 49, 50, 99)] == [0, 0, 0, 1, 1]
    assert [found.value("loss", update) for update in (9, 10, 49, 50)] == [None, 9 / 11, 9 / 11, 9 / 51]
    assert found.value("bleu", 50) is None


@given(st.sets(st.integers(0, 40), min_size=2, max_size=8), st.integers(1, 6))
def test_parts_are_joined_in_any_order(updates, parts) -> None:
    whole = snapshots(tuple(sorted(updates)))
    places = [list(range(len(updates)))[k::parts] for k in range(parts)]
    cut = [
        replace(
            whole,
            updates=tuple(whole.updates[k] for k in some),
            alignments=(whole.alignments[0][some],),
            translations=tuple(whole.translations[k] for k in some),
            curves={"loss": tuple(whole.curves["loss"][k] for k in some)},
        )
        for some in places
        if some
    ]
    assert same(join_snapshots(cut[::-1]), whole)


@pytest.fixture(scope="module")
def translated(translator) -> Trace:
    return translator.translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


def test_rows_hold_the_numbers_of_the_arrays_and_of_each_head(translated, trace) -> None:
    frame = translated.to_frame()
    assert list(frame) == ["i", "j", "target", "source", "energy", "weight", "probability"]
    assert len(frame) == translated.alignment.size
    for row in frame.itertuples():
        assert row.target == translated.target_pieces[row.i]
        assert row.source == translated.source_pieces[row.j]
        assert row.energy == translated.energies[row.i, row.j]
        assert row.weight == translated.alignment[row.i, row.j]
        assert row.probability == translated.probabilities[row.i]
    frame = trace.to_frame()
    assert list(frame) == ["layer", "head", "i", "j", "target", "source", "energy", "weight", "probability"]
    assert len(frame) == trace.cross_alignment.size
    last = frame.iloc[-1]
    at = tuple(size - 1 for size in trace.cross_alignment.shape)
    assert (last["layer"], last["head"], last["i"], last["j"]) == at
    assert last["energy"] == trace.cross_energies[at]
    mean = frame.groupby(["i", "j"])["weight"].mean().to_numpy().reshape(trace.alignment.shape)
    np.testing.assert_allclose(mean, trace.alignment, atol=1e-6)


@pytest.mark.parametrize("threshold", [None, 0.1])
def test_links_are_those_of_pharaoh_files(translated, threshold) -> None:
    frame = translated.links_frame(threshold)
    pairs = [f"{j}-{i}" for i, j in zip(frame["i"], frame["j"], strict=True)]
    assert sorted(pairs) == sorted(pharaoh(translated.words(), threshold).split())
    words = translated.words()
    for row in frame.itertuples():
        assert (row.target, row.source) == (words.target[row.i], words.source[row.j])
        assert row.weight == words.alignment[row.i, row.j]
        assert not row.possible


def test_links_of_a_file_keep_its_marks() -> None:
    pair = {"source": ["a", "b"], "target": ["x", "y"], "matrix": [[1, 0], [0.5, 0.5]]}
    links = {"links": [[0, 0], [0, 1], [1, 1]], "gold": {"sure": [[0, 0]], "possible": [[1, 1]]}}
    record = Attention.from_json(json.dumps({"format": "attnviz-attention", "version": 1} | pair | links))
    frame = record.links_frame()
    rows = frame[["source", "target", "possible"]].values.tolist()
    assert rows == [["a", "x", False], ["a", "y", False], ["b", "y", True]]
    assert frame["i"].is_monotonic_increasing


def test_methods_draw_the_figures_and_list_the_likeliest_pieces(translated, snapshot) -> None:
    assert translated.heatmap(by="steps", step=1) == figures.heatmap(translated, by="steps", step=1).figure()
    assert translated.step_figure(0) == translated.step_figure(0, "attention")
    last = len(translated.target_pieces) - 1
    assert translated.step_figure(-1, "candidates", theme="dark") == translated.step_figure(
        last, "candidates", theme="dark"
    )
    with pytest.raises(AttnvizError):
        translated.step_figure(last + 1)
    assert refusal(lambda: translated.step_figure(0, "pie")) == snapshot
    assert translated._repr_html_() == export.heatmap_html(translated)
    candidates = translated.top(0, 5)
    assert len(candidates) == 5
    assert candidates[0] == (translated.top_pieces[0][0], pytest.approx(translated.top_probabilities[0, 0]))
    for bad in (0, -1, 101):
        assert refusal(partial(translated.top, 0, bad)) == snapshot
    with pytest.raises(AttnvizError):
        translated.top(len(translated.target_pieces))
