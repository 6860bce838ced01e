"""`read_attention`: every format's files are read as what they hold, what was assumed is said, others are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import AttnvizError, read_attention
from attnviz.importing.formats import FORMATS
from attnviz.text import SPACE
from tests.importing.attention_files import CONTENTS, FILES, File

FIXTURES = Path(__file__).parent / "fixtures" / "attention"
CASES = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))


def _tokens(pieces: tuple[str, ...]) -> list[str]:
    return [piece.removeprefix(SPACE) for piece in pieces]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['file']}" for n, case in enumerate(CASES)])
def test_every_case_is_read_as_expected_or_refused(case: dict[str, Any]) -> None:
    given = {side: case[side] for side in ("source", "target") if side in case}
    path = FIXTURES / case["file"]
    if case["expect"] == "refuse":
        with pytest.raises(AttnvizError) as error:
            list(read_attention(path, **given))
        assert all(word in str(error.value) for word in case["mention"])
        return
    records = read_attention(path, **given, **case.get("options", {}))
    assert records.format == case["format"]
    assert records.reason
    assert len(records) == len(case["expect"])
    for number, (record, expected) in enumerate(zip(records, case["expect"], strict=True)):
        if "words" in expected:
            assert [list(record.words().source), list(record.words().target)] == expected["words"]
            continue
        assert [_tokens(record.source_pieces), _tokens(record.target_pieces)] == [
            expected["source"],
            expected["target"],
        ]
        assert [list(link) for link in record.links] == expected.get("links", [])
        if "matrix" in expected:
            assert np.allclose(record.alignment, expected["matrix"], atol=1e-4)
        if "possible" in case:
            assert [list(link) for link in record.possible] == case["possible"][number]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_two_files_of_every_format_are_read_as_what_they_hold(file: File, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.write_bytes(CONTENTS[file.name])
    records = read_attention(path, **file.given)
    assert (records.format, len(records)) == (file.format, len(file.pairs))
    assert read_attention(path, **file.given, format=file.format).format == file.format
    for number, (record, (source, target)) in enumerate(zip(records, file.pairs, strict=True)):
        sides = [
            [token for token in _tokens(side) if token != "</s>"]
            for side in (record.source_pieces, record.target_pieces)
        ]
        assert sides == [source.split(), target.split()]
        if file.links is None:
            assert np.allclose(record.alignment, file.matrices[number], atol=1e-6)
            assert record.links == ()
        else:
            assert record.links == tuple(file.links[number])
            assert {(j, i) for i, j in np.argwhere(record.alignment > 0).tolist()} == {*file.links[number]}
    assert set(records[0].remarks) - {"source-end", "target-end"} == set(file.remarks) - {"source-end", "target-end"}
    assert records[0].possible == tuple(file.possible)


def test_every_format_has_two_files() -> None:
    names = [file.format for file in FILES]
    assert {one.name for one in FORMATS} == {*names}
    assert min(map(names.count, names)) >= 2
