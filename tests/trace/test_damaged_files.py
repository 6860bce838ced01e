"""Damaged files of records, what-ifs and snapshots: each is refused in one sentence, and none ends the program."""

import base64
import contextlib
import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import (
    Attention,
    AttnvizError,
    ExcludePosition,
    ForceWords,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    Trace,
    attention,
    figures,
)
from attnviz.analysis.findings import findings_of
from attnviz.export import saved_files
from attnviz.trace import Judgement, TransformerTrace, WhatIf, WhatIfs
from attnviz.trace.snapshots import Snapshots
from tests.analysis.given import equations
from tests.damaged_json import with_one_wrong_field
from tests.trace.test_records import snapshots

Damage = Callable[[dict[str, Any]], object]
"""Changes the JSON of a record."""
CLASSES = (WhatIfs, TransformerTrace, Judgement, Attention, Snapshots)


def packed(array: np.ndarray) -> dict[str, Any]:
    content = base64.b64encode(zlib.compress(array.tobytes())).decode()
    return {"dtype": array.dtype.name, "shape": array.shape, "zlib": content}


@pytest.fixture(scope="module")
def contents(records, tmp_path_factory) -> dict[type, str]:
    """Return a file of each class; what-ifs of every kind of a trace, which has interventions itself."""
    first, pieces = records[Trace], len(records[Trace].source_ids)
    row = tuple(float(j) for j in range(pieces))
    changes = (ReplaceWeights(row, 1), ReplaceEnergies(row, 1), Temperature(2.0, 1), ExcludePosition(0, 1))
    what_ifs = tuple(WhatIf(0, change, held=True) for change in (*changes, ForceWords((9,), 1)))
    moments = tmp_path_factory.mktemp("moments") / "whole.json"
    snapshots((0, 10)).save(moments)
    weights, energies = [[0.5, 0.5], [0, 1]], [[0, 0], [-np.inf, 0]]
    foreign = attention("a b", "c d", weights, energies=energies, states=np.eye(2), sure=[(0, 0)], possible=[(1, 0)])
    return {
        WhatIfs: WhatIfs(first, what_ifs, (first,) * len(what_ifs)).to_json(),
        Attention: foreign.to_json(),
        Snapshots: moments.read_text(encoding="utf-8"),
        **{kind: records[kind].to_json() for kind in (TransformerTrace, Judgement)},
    }


@pytest.fixture(params=CLASSES, ids=lambda kind: kind.__name__)
def kind(request) -> Any:
    return request.param


def test_no_field_may_be_missing_or_of_another_type(contents, kind, tmp_path, snapshot) -> None:
    """But for those of the snapshot, which have a default."""
    path, accepted = tmp_path / "damaged.json", []
    for wrong, text in with_one_wrong_field(contents[kind]):
        path.write_text(text, encoding="utf-8")
        try:
            kind.load(path)
        except AttnvizError as error:
            assert "damaged.json" in str(error)  # noqa: PT017
        else:
            accepted.append(wrong)
    assert accepted == snapshot


def filled(array: str, value: Any, columns: Any = slice(None)) -> Damage:
    """Return the damage of an array that has `value` in these columns, and 0 elsewhere."""

    def damage(record: dict[str, Any]) -> None:
        numbers = np.zeros(record[array]["shape"], np.float32)
        numbers[..., columns] = value
        record[array] = packed(numbers)

    return damage


OF_RECORDS: dict[str, Damage] = {
    "another format": lambda r: r.update(format="something-else"),
    "no pieces": lambda r: r.update(source_pieces=[], target_pieces=[]),
    "a piece too few": lambda r: r["source_pieces"].pop(),
    "pieces that are numbers": lambda r: r.update(source_pieces=[1] * len(r["source_pieces"])),
    "half a character": lambda r: r["target_pieces"].__setitem__(0, "\ud83d"),
    "half a character for a name": lambda r: r.update(model="\udc00"),
    "a time that is none": lambda r: r.update(seconds=float("nan")),
    "ids too few": lambda r: r.update(source_ids=[1]),
    "an id beyond the vocabulary": lambda r: r["target_ids"].__setitem__(0, 10**6),
    "a small vocabulary": lambda r: r["config"].update(vocabulary_size=5),
}
DAMAGE: dict[type, dict[str, Damage]] = {
    WhatIfs: OF_RECORDS
    | {
        "a candidate row too few": lambda r: r["top_pieces"].pop(),
        "base64 damaged": lambda r: r["alignment"].update(zlib="!!!"),
        "compression damaged": lambda r: r["alignment"].update(zlib=base64.b64encode(b"abcdefgh").decode()),
        "compression cut": lambda r: r["annotations"].update(zlib=r["annotations"]["zlib"][:8]),
        "wrong shape": lambda r: r["alignment"].update(shape=[2, 2]),
        "negative shape": lambda r: r["alignment"].update(shape=[-1, -1]),
        "huge shape": lambda r: r["alignment"].update(shape=[10**9, 10**9]),
        "shape of words": lambda r: r["alignment"].update(shape=["a", "b"]),
        "objects for numbers": lambda r: r["alignment"].update(dtype="object"),
        "unknown number type": lambda r: r["alignment"].update(dtype="quaternion"),
        "a bomb": lambda r: r.update(readouts={**packed(np.zeros(10**7, np.float32)), "shape": [1, 1]}),
        "more numbers than memory": lambda r: r["readouts"].update(shape=[2**20, 2**10]),
        "rows that do not sum to 1": filled("alignment", 0),
        "negative weights": filled("alignment", (-1, 2), slice(2)),
        "numbers that are none": filled("gates", np.nan),
        "a score vector of another model": lambda r: r.update(score_vector=packed(np.zeros(8, np.float32))),
        "states of another sentence": lambda r: r.update(layer_states=packed(np.zeros((99, 1, 10), np.float32))),
        "whole numbers for energies": lambda r: r.update(energies=packed(np.zeros(r["energies"]["shape"], np.int32))),
        "contexts of one half": lambda r: r.update(
            contexts=packed(np.zeros((len(r["target_pieces"]), 10), np.float32))
        ),
        "attention of another kind": lambda r: r["config"].update(attention="soft"),
        "interventions without attention": lambda r: r["config"].update(attention="none"),
        "an architecture of another class": lambda r: r["config"].update(architecture="transformer"),
        "an import without its choices": lambda r: r["config"].update(architecture="seq2seq"),
        "an unknown search": lambda r: r["search"].update(method="lucky"),
        "search with unknown fields": lambda r: r["search"].update(temperature=1),
        "an unknown intervention": lambda r: r["interventions"][0].update(kind="wish"),
        "an intervention with a field too many": lambda r: r["interventions"][0].update(position=1),
        "an intervention beyond the sentence": lambda r: r["interventions"].append(
            {"kind": "exclusion", "position": 999, "step": None}
        ),
        "an intervention beyond the vocabulary": lambda r: r["interventions"][1].update(pieces=[10**6]),
        "too many what-ifs": lambda r: r.update(what_ifs=r["what_ifs"] * 3),
        "a later parent": lambda r: r["what_ifs"][0].update(parent=2),
        "a what-if of another sentence": lambda r: r["what_ifs"][0]["trace"].update(source_ids=r["target_ids"]),
        "a what-if of another model": lambda r: r["what_ifs"][0]["trace"].update(config=r["config"] | {"dropout": 0.5}),
        "a damaged trace of a what-if": lambda r: r["what_ifs"][0]["trace"].update(target_ids=[1]),
    },
    TransformerTrace: OF_RECORDS
    | {
        "another number of heads": lambda r: r["config"].update(heads=2),
        "no heads": lambda r: r["config"].update(heads=0),
        "layers in part": lambda r: r["config"].update(layers=2.0),
        "streams of one layer": lambda r: r["decoder_streams"].update(shape=[4, 1, 16]),
        "rows that do not sum to 1": filled("cross_alignment", 0),
        "a look ahead": filled("decoder_alignment", 1, -1),
        "numbers that are none": filled("readouts", np.nan),
        "a layer that does not exist": lambda r: r.update(heads={"layer": 2, "head": None}),
        "a head of no layer": lambda r: r.update(heads={"layer": None, "head": 1}),
        "a head that does not exist": lambda r: r.update(heads={"layer": 0, "head": 4}),
        "a layer that is a fraction": lambda r: r.update(heads={"layer": 0.0, "head": None}),
    },
    Judgement: OF_RECORDS
    | {
        "sizes left out": lambda r: r.update(config={"vocabulary_size": 150}),
        "energies as weights": lambda r: r.update(source_alignment=r["energies"]),
    },
    Attention: {
        "another format": lambda r: r.update(format="attnviz-trace"),
        "a newer version": lambda r: r.update(version=2),
        "a version that does not exist": lambda r: r.update(version=0),
        "a letter in gold": lambda r: r.update(gold="0-0 x"),
        "words of one side": lambda r: r.update(words={"source": [0]}),
        "words out of order": lambda r: r["words"].update(source=[0, 0, 0, 5]),
        "an unknown remark": lambda r: r.update(remarks=["?"]),
    },
    Snapshots: {
        "another format": lambda r: r.update(format="attnviz-trace"),
        "a newer version": lambda r: r.update(version=2),
        "moments out of order": lambda r: r.update(updates=[10, 0]),
        "a moment too few": lambda r: r.update(updates=[0]),
        "a translation too few": lambda r: r.update(translations=[["a"], []]),
        "half a character": lambda r: r.update(name="\ud800"),
        "guidance below 0": lambda r: r.update(guidance=-1),
        "a letter in a curve": lambda r: r.update(curves={"loss": [[0, "x"]]}),
        "a moment twice": lambda r: r.update(curves={"loss": [[5, 1], [5, 1]]}),
        "a number that is none": lambda r: r.update(curves={"loss": [[0, float("nan")]]}),
        "a huge count": lambda r: r.update(counts={"content": 10**400}),
        "more numbers than memory": lambda r: r["alignments"][0].update(shape=[2, 40_000, 50_000]),
        "negative weights": lambda r: r.update(alignments=[packed(np.tile(np.float32([-1, 2, 0, 0, 0]), (2, 4, 1)))]),
    },
}


def test_damaged_file_is_refused_by_name(contents, kind, tmp_path) -> None:
    path = tmp_path / "damaged.json"
    for name, damage in DAMAGE[kind].items():
        written = json.loads(contents[kind])
        damage(written)
        path.write_text(json.dumps(written), encoding="utf-8")
        with pytest.raises(AttnvizError, match=r"damaged\.json"):
            pytest.fail(f"{name}: {kind.load(path)}")


@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_changed_byte_is_harmless_or_refused(contents, place, value) -> None:
    for kind in (WhatIfs, TransformerTrace, Judgement):
        content = bytearray(contents[kind].encode())
        content[place % len(content)] = value
        with contextlib.suppress(AttnvizError):
            kind.from_json(content.decode("utf-8", errors="replace"))


SCALARS = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5)
REPLACEMENTS = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=5), SCALARS, max_size=2)


def draw(trace: Trace) -> None:
    subject = figures.Subject(trace, 0)
    for picture in figures.step_figures(subject).values():
        with contextlib.suppress(AttnvizError):  # some need the weights of the model
            picture.draw(subject).figure().to_json()
    trace.heatmap().to_json()
    equations(trace, 0)
    findings_of(trace)
    for ending in ("csv", "html", "json", "pharaoh", "tex"):
        saved_files.contents(trace, ending, saved_files.FigureOptions())


@pytest.fixture(scope="module")
def drawn(records) -> None:
    """Draw once, since Hypothesis takes constants of all modules there are, and figures import some when drawn."""
    draw(records[Trace])


@pytest.mark.usefixtures("drawn")
@given(st.data())
def test_any_field_value_is_refused_or_drawn(contents, data) -> None:
    record = json.loads(contents[WhatIfs])
    record.pop("what_ifs")
    holder = record
    name = data.draw(st.sampled_from(sorted(record)))
    while isinstance(holder[name], (dict, list)) and holder[name] and data.draw(st.booleans()):
        holder = holder[name]
        name = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[name] = data.draw(REPLACEMENTS)
    with contextlib.suppress(AttnvizError):
        draw(Trace.from_json(json.dumps(record)))
