"""Special tokens are no words: links, gold links, error rates, tables and heads count the other words alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError, alignment_error, attention, find_heads, read_attention
from attnviz.analysis.findings import findings_of, summarise
from attnviz.analysis.gold import linkable_words, links_text, parse_gold_links
from attnviz.commands.main import main
from attnviz.export.attention_files import attention_file_content
from attnviz.trace import Attention
from attnviz.trace.tokens import to_pieces

SOURCE, TARGET = ["the", "green", "house", "."], ["la", "maison", "verte", "."]
LINKS = "0-0 1-2 2-1 3-3"
SPELLINGS = {
    "BART": (["<s>", "Ġthe", "Ġgreen", "Ġhouse", ".", "</s>"], ["<s>", "Ġla", "Ġmaison", "Ġverte", ".", "</s>"]),
    "NLLB": (
        ["eng_Latn", "▁the", "▁green", "▁house", ".", "</s>"],
        ["fra_Latn", "▁la", "▁maison", "▁verte", ".", "</s>"],
    ),
    "M2M100": (
        ["__en__", "▁the", "▁green", "▁house", ".", "</s>"],
        ["</s>", "__fr__", "▁la", "▁maison", "▁verte", ".", "</s>"],
    ),
    "mBART": (
        ["▁the", "▁green", "▁house", ".", "</s>", "en_XX"],
        ["</s>", "fr_XX", "▁la", "▁maison", "▁verte", ".", "</s>"],
    ),
    "BERT": (["[CLS]", *SOURCE, "[SEP]", "[PAD]"], ["[CLS]", *TARGET, "[SEP]"]),
    "MarianMT": (
        [">>fra<<", "▁the", "▁green", "▁house", ".", "</s>"],
        ["▁la", "▁maison", "▁verte", ".", "</s>", "<pad>"],
    ),
    "two sentences": (["the", "green", "</s>", "house", ".", "</s>"], ["la", "</s>", "maison", "verte", ".", "</s>"]),
    "RoBERTa's two sentences": (
        ["<s>", "the", "Ġgreen", "</s>", "</s>", "house", "Ġ.", "</s>"],
        ["<s>", "la", "Ġmaison", "</s>", "</s>", "verte", "Ġ.", "</s>"],
    ),
    "start and end": (["<start>", *SOURCE, "<end>"], ["<start>", *TARGET, "<end>"]),
    "language model": (["<|im_start|>", *SOURCE, "<|im_end|>"], ["<|im_start|>", *TARGET, "<|im_end|>"]),
    "PyTorch's tutorial": (["SOS", *SOURCE, "EOS"], [*TARGET, "EOS"]),
    "none": (SOURCE, TARGET),
}


def words_of(tokens: Sequence[str]) -> list[int]:
    """Return the places of the tokens that are words, found by their letters alone."""
    letters = {*SOURCE, *TARGET}
    return [place for place, token in enumerate(tokens) if token.lstrip("▁Ġ") in letters]


def weights(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """Return attention whose largest weights between words are LINKS; special rows attend to the first column."""
    matrix = np.full((len(target), len(source)), 0.1 / max(len(source) - 1, 1))
    columns, rows = words_of(source), words_of(target)
    largest = dict.fromkeys(range(len(target)), 0)
    largest |= {rows[int(i)]: columns[int(j)] for j, i in (link.split("-") for link in LINKS.split())}
    for row, column in largest.items():
        matrix[row, column] = 0.9
    return matrix / matrix.sum(axis=1, keepdims=True)


def saved(tokens: tuple[list[str], list[str]], path: Path) -> Path:
    fields = {"source": tokens[0], "target": tokens[1], "matrix": weights(*tokens).tolist()}
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


@pytest.fixture(params=SPELLINGS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(SPELLINGS[request.param], tmp_path / "file.json")


def test_words_and_links_count_words_alone(file: Path) -> None:
    (record,) = read_attention(file)
    assert linkable_words(record.words()) == (tuple(SOURCE), tuple(TARGET))
    assert links_text(record) == LINKS
    assert [f"{j}-{i}" for i, j in record.links_frame()[["i", "j"]].itertuples(index=False)] == [
        "0-0",
        "2-1",
        "1-2",
        "3-3",
    ]
    assert record.source_text.replace(".", " .").split() == SOURCE
    assert np.allclose(record.alignment.sum(axis=1), 1, atol=1e-6)
    assert record.words().alignment.sum(axis=1) == pytest.approx(1, abs=1e-6), "no weight is left out of the heatmap"


def test_error_rate_is_zero_against_links_and_words(file: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text(f"{LINKS}\n", encoding="utf-8")
    gold = {
        "id": "0",
        "en": SOURCE,
        "fr": TARGET,
        "S": [[int(n) for n in one.split("-")] for one in LINKS.split()],
        "P": [],
    }
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    for name in ("gold", "gold.jsonl"):
        assert alignment_error(file, tmp_path / name).aer == 0
        assert alignment_error(list(read_attention(file)), tmp_path / name).aer == 0
    with_words = f"{' '.join(SOURCE)}\t{' '.join(TARGET)}\t{LINKS}\n"
    (tmp_path / "aligner.tsv").write_text(with_words, encoding="utf-8")
    assert alignment_error(tmp_path / "aligner.tsv", file).aer == 0


def test_commands_count_words_alone(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold").write_text(f"{LINKS}\n", encoding="utf-8")
    assert main(["attention", str(file), "-o", str(tmp_path / "made.pharaoh")]) == 0
    assert (tmp_path / "made.pharaoh").read_text(encoding="utf-8") == f"{LINKS}\n"
    assert main(["attention", str(file), "--compare", str(tmp_path / "gold")]) == 0
    assert "0.000" in capsys.readouterr().out
    assert main(["attention", str(file), "--table", str(tmp_path / "t.csv"), "--gold", str(tmp_path / "gold")]) == 0
    header, row = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    found = dict(zip(header.replace('"', "").split(","), row.replace('"', "").split(","), strict=False))
    assert (float(found["aer_before"]), found["source_length"], found["target_length"]) == (0, "4", "4")


def test_gold_marks_of_a_heatmap_are_at_the_words(file: Path) -> None:
    (record,) = read_attention(file)
    figure = record.heatmap(gold=parse_gold_links(LINKS, record.words()))
    marks = [trace for trace in figure.data if trace.type == "scatter"]
    drawn = {(int(x), int(y)) for trace in marks for x, y in zip(trace.x, trace.y, strict=True)}
    columns, rows = (words_of(side) for side in (record.words().source, record.words().target))
    assert drawn == {(columns[int(j)], rows[int(i)]) for j, i in (link.split("-") for link in LINKS.split())}


def test_heads_are_ranked_by_words(tmp_path: Path) -> None:
    for source, target in SPELLINGS.values():
        right = weights(source, target)
        turned = np.roll(right, 1, axis=1)
        record = attention(source, target, np.stack([np.stack([turned, right]), np.stack([turned, turned])]))
        found = find_heads([record], gold=[LINKS])
        assert found.alignment_heads[0] == [0, 1]
        assert found.table["aer"].iloc[0] == 0


def test_special_tokens_can_be_named() -> None:
    tokens = ["<mine>", *SOURCE], ["<mine>", *TARGET]
    matrix = weights(*tokens)
    plain = attention(*tokens, matrix)
    assert links_text(plain) == "0-0 1-1 2-3 3-2 4-4"
    named = attention(*tokens, matrix, special=["<mine>"])
    assert links_text(named) == LINKS
    assert "special-tokens" not in named.remarks, "what was given is not assumed"
    assert links_text(Attention.from_json(named.to_json())) == LINKS
    with pytest.raises(AttnvizError, match="special"):
        attention(*tokens, matrix, special="<mine>")


def test_assumed_special_tokens_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, tokens in SPELLINGS.items():
        assert main(["attention", str(saved(tokens, tmp_path / "file.json"))]) == 0
        said = capsys.readouterr().err
        assert ("special" in said) is (name != "none"), (name, said)
    path = saved((["<mine>", *SOURCE], ["<mine>", *TARGET]), tmp_path / "file.json")
    assert main(["attention", str(path), "--special", "<mine>"]) == 0
    assert capsys.readouterr().out.endswith(f"\t{LINKS}\n")


def test_records_keep_their_words_in_every_file(file: Path, tmp_path: Path) -> None:
    (record,) = read_attention(file)
    for ending in ("json", "npz", "parquet"):
        (tmp_path / f"again.{ending}").write_bytes(attention_file_content([record], ending))
        (again,) = read_attention(tmp_path / f"again.{ending}")
        assert again.source_word_of.tolist() == record.source_word_of.tolist()
        assert links_text(again) == LINKS


MARKS = ["<s>", "</s>", "[CLS]", "<pad>", "<|x|>"]


@given(st.lists(st.sampled_from([*MARKS, "a", "b@@", "c"]), min_size=1, max_size=12))
def test_words_are_numbered_without_special_tokens(tokens: list[str]) -> None:
    found = to_pieces(tokens)
    assert [word == -1 for word in found.words] == [token in MARKS for token in tokens]
    numbers = [word for word in found.words if word >= 0]
    assert sorted({*numbers}) == [*range(len({*numbers}))]
    assert numbers == sorted(numbers)
    for place, (token, word) in enumerate(zip(tokens, found.words, strict=True)):
        joined = place > 0 and tokens[place - 1] == "b@@" and token not in MARKS
        if word >= 0 and place > 0 and found.words[place - 1] >= 0:
            assert (word == found.words[place - 1]) is joined, "words end where their marks say, also beside others"


def test_ends_of_words_are_marked_in_other_ways() -> None:
    assert to_pieces(["a</w>", "bi", "cycle</w>", "!</w>"]) == (("▁a", "▁bi", "cycle", "▁!"), (0, 1, 1, 2))
    assert to_pieces(["the_", "bi", "cycle_", "._"]) == (("▁the", "▁bi", "cycle", "▁."), (0, 1, 1, 2))
    assert to_pieces(["snake_", "case"]).words == (0, 1), "one underscore is a letter"
    assert to_pieces(["<s>", "a</w>", "b</w>", "</s>"]).words == (-1, 0, 1, -1)


def test_findings_are_about_words_alone(file: Path) -> None:
    (record,) = read_attention(file)
    words = record.words()
    assert all(one.source is None or one.source in words.places[0] for one in findings_of(record))
    assert all(one.target is None or one.target in words.places[1] for one in findings_of(record))
    summary = summarise(record)
    assert summary is not None
    assert (summary.moves, summary.identical) == (3, 0), "no special token is a word that was copied"
