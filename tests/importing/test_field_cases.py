"""Situations of word alignment that were once misread without a word: each is read right, or refused with a reason."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, read_attention
from attnviz.analysis.gold import links_text
from attnviz.commands.program import main
from attnviz.importing.attention_reader import read_bytes, records_of
from attnviz.importing.records import format_sentence
from attnviz.reading import content_of
from attnviz.trace import Attention

SIDES = (["the green house", "two dogs", "he sleeps"], ["la maison verte", "deux chiens", "il dort"])
LINKS = ((0, 0), (2, 1), (1, 2)), ((0, 0), (1, 1)), ((0, 0), (1, 1))


def _write(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in texts]


SPELLINGS = {
    "parentheses": lambda j, i: f"({j}-{i})",
    "colons": lambda j, i: f"{j}:{i}",
    "colons and a share": lambda j, i: f"{j}:{i}/1",
    "marks": lambda j, i: f"{j}-{i}-S",
    "marks after a slash": lambda j, i: f"{j}-{i}/S",
    "probabilities": lambda j, i: f"{j}-{i}:0.75",
}


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("name", SPELLINGS)
def test_links_are_read_in_every_spelling(name: str, base: int) -> None:
    lines = [" ".join(SPELLINGS[name](j + base, i + base) for j, i in pair) for pair in LINKS]
    records = read_bytes("\n".join(lines).encode())
    assert records.format == "pharaoh"
    given = records_with_sides("\n".join(lines))
    assert [record.links for record in given] == [tuple(sorted(pair)) for pair in LINKS]
    assert [bool(record.sure) for record in given] == [name.startswith("marks")] * 3


def records_with_sides(text: str) -> list[Attention]:
    return list(records_of(content_of(text.encode(), "links"), [*SIDES]))


@pytest.mark.parametrize("brackets", ["()", "[]"])
def test_lists_of_pairs_are_read(brackets: str) -> None:
    opened, closed = brackets
    lines = ["[" + ", ".join(f"{opened}{j}, {i}{closed}" for j, i in pair) + "]" for pair in LINKS]
    assert [record.links for record in records_with_sides("\n".join(lines))] == [tuple(sorted(pair)) for pair in LINKS]


def test_two_columns_are_sure_and_possible_links(tmp_path: Path) -> None:
    records = records_with_sides("0-0 2-1\t1-2\n0-0\t1-1 0-1\n0-0 1-1\t\n")
    assert [record.sure for record in records] == [((0, 0), (2, 1)), ((0, 0),), ((0, 0), (1, 1))]
    assert [record.possible for record in records] == [((1, 2),), ((0, 1), (1, 1)), ()]


SPACES = ["\u00a0", "\u202f", "\u3000", "\u2028", "\u2009"]


@pytest.mark.parametrize("space", SPACES)
def test_tokens_end_at_spaces_and_tabs_only(space: str, tmp_path: Path) -> None:
    source, target = ["he", "paid", "euros"], ["il", f"paye{space}!", "euros"]
    forms = {
        "a.tsv": f"{' '.join(source)}\t{' '.join(target)}\t0-0 1-1 2-2\n",
        "a.txt": f"{' '.join(source)} ||| {' '.join(target)} ||| 0-0 1-1 2-2\n",
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (record,) = read_attention(tmp_path / name)
        assert len(record.words().target) == len(target)
        assert links_text(record) == "0-0 1-1 2-2"
    rows = "0.8,0.1,0.1 0.1,0.8,0.1 0.1,0.1,0.8"
    (tmp_path / "soft").write_text(f"{' '.join(target)} ||| {rows}\n", encoding="utf-8")
    (record,) = read_attention(tmp_path / "soft", [" ".join(source)])
    assert record.alignment.shape == (3, 3)
    (tmp_path / "source").write_text(f"he paid{space}well euros\n", encoding="utf-8")
    (record,) = read_attention(tmp_path / "soft", tmp_path / "source")
    assert len(record.words().source) == 3


def test_sentences_of_the_shared_tasks_have_no_tags(tmp_path: Path) -> None:
    links = "".join(f"{n} {j + 1} {i + 1} S\n" for n, pair in enumerate(LINKS, 1) for j, i in pair)
    tagged = ["".join(f"<s snum={n:04}> {text} </s>\n" for n, text in enumerate(side, 1)) for side in SIDES]
    files = _write(tmp_path, wa=links, e=tagged[0], f=tagged[1])
    records = read_attention(*files)
    assert [record.source_text for record in records] == SIDES[0]
    assert [record.links for record in records] == [tuple(sorted(pair)) for pair in LINKS]
    plain = _write(tmp_path, e="<s> is a tag\nx y\nz w\n", f="\n".join(SIDES[1]) + "\n")
    assert read_attention(files[0], *plain)[1].source_pieces == ("▁x", "▁y")


def _giza(numbers: list[int]) -> str:
    lines = []
    for number, source, target, pair in zip(numbers, *SIDES, LINKS, strict=True):
        words = ["NULL ({ })"]
        for j, word in enumerate(source.split()):
            places = " ".join(str(i + 1) for k, i in sorted(pair) if k == j)
            words.append(f"{word} ({{ {places} }})" if places else f"{word} ({{ }})")
        sizes = f"source length {len(source.split())} target length {len(target.split())}"
        lines += [f"# Sentence pair ({number}) {sizes} alignment score : 0.01", target, " ".join(words)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("numbers", "lost"), [([1, 3, 4], [2]), ([2, 5, 6], [1, 3, 4]), ([4, 1, 2], [3]), ([1, 2, 3], [])]
)
def test_numbers_of_giza_are_those_of_the_pairs(numbers: list[int], lost: list[int]) -> None:
    records = read_bytes(_giza(numbers).encode())
    assert [pair.line for pair in records.pairs] == [number - 1 for number in sorted(numbers)]
    assert ("lacks" in format_sentence(records)) is bool(lost)
    if lost:
        assert f": {', '.join(map(str, lost))}." in format_sentence(records)


@settings(max_examples=50)
@given(st.text(alphabet="({ })0123456789ab NULL", max_size=400))
def test_any_third_line_of_giza_is_read_or_refused(words: str) -> None:
    text = f"# Sentence pair (1) source length 1 target length 1 alignment score : 0.1\nb\nNULL ({{ }}) {words}\n"
    with suppress(AttnvizError):
        (record,) = read_bytes(text.encode())
        assert record.source_text == words.split(" ")[0]


@pytest.mark.parametrize("pad", [(1, 1), (3, 5), (0, 4), (4, 0)])
@pytest.mark.parametrize("ends", [False, True])
def test_zeros_after_the_tokens_are_padding(pad: tuple[int, int], ends: bool) -> None:
    source, target = "the green old house", "la vieille maison"
    if ends:
        source, target = f"<start> {source} <end>", f"{target} <end>"
    sizes = len(target.split()), len(source.split())
    matrix = np.random.default_rng(1).dirichlet(np.ones(sizes[1]), size=sizes[0])
    record = read_attention(np.pad(matrix, [(0, pad[0]), (0, pad[1])]), [source], [target])[0]
    assert record.alignment.shape == sizes
    assert np.allclose(record.alignment, matrix, atol=1e-6)
    assert "padding" in record.remarks
    assert not {"source-end", "target-end"} & {*record.remarks}


def test_damaged_and_blank_pairs_do_not_stop_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = [
        f"{s} ||| {t} ||| {' '.join(f'{j}-{i}' for j, i in pair)}" for s, t, pair in zip(*SIDES, LINKS, strict=True)
    ]
    lines = [good[0], " ||| euh ||| ", good[1], "no fields at all", good[2], *good * 8]
    (file,) = _write(tmp_path, file="\n".join(lines) + "\n")
    assert main(["attention", file, "-o", str(tmp_path / "made.pharaoh")]) == 0
    said = capsys.readouterr().err
    assert "pairs have a blank line" in said
    assert ": 2." in said
    assert "Left out: Pair 4: Line 4: “no fields at all”" in said
    made = (tmp_path / "made.pharaoh").read_text(encoding="utf-8").split("\n")
    assert [bool(line) for line in made[:5]] == [True, False, True, False, True]
    assert len(made) == len(lines) + 1
    assert main(["attention", file, "--sentence", "4"]) == 2
    assert "Line 4" in capsys.readouterr().err


def test_an_empty_source_of_a_matrix_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "0 ||| une fleur ||| 7.1 |||  ||| 0 3\n1.0\n1.0\n1.0\n\n"
        "1 ||| deux chats ||| 3.2 ||| two cats ||| 2 2\n0.8 0.1 0.1\n0.1 0.8 0.1\n0.05 0.05 0.9\n\n"
    )
    (file,) = _write(tmp_path, file=text)
    assert main(["attention", file]) == 0
    captured = capsys.readouterr()
    assert captured.out == "\t\t\ntwo cats\tdeux chats\t0-0 1-1\n"
    assert "1 of 2 pairs have a blank line" in captured.err


def test_attention_that_a_model_did_not_return_is_asked_for() -> None:
    for value in ((), ((), (), ()), (None, None), ((None, None), (None, None))):
        with pytest.raises(AttnvizError, match='attn_implementation="eager"'):
            read_attention(value, ["the green house"], ["la maison verte"])
    assert read_attention((torch.ones(1, 1, 1, 3) / 3,), ["a b"], ["x"])[0].alignment.shape == (1, 3)


@pytest.mark.parametrize("name", ["a3", "d3"])
def test_tables_of_a_model_are_refused(name: str) -> None:
    rows = [(1, 1, 8, 100, 1), (5, 2, 8, 100, 0.25), (4, 3, 8, 100, 1e-7)]
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    with pytest.raises(AttnvizError, match=r"A3\.final"):
        read_bytes(text.encode(), f"x.{name}.final")
    weights = "1 0 0 0 0\n0 1 0 0 0\n0 0 0.5 0.25 0.25\n"
    assert read_bytes(weights.encode()).format == "csv"


def test_xml_is_refused(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<sentences><s id="1"><sure>2-1 3-2</sure></s></sentences>\n'
    with pytest.raises(AttnvizError, match="XML"):
        read_bytes(text.encode(), "gold.xml")


def test_exponential_line_of_giza_is_refused_at_once() -> None:
    digits = "1" * 60
    text = f"# Sentence pair (1) source length 1 target length 1 score : 1\nb\nNULL ({{ }}) a ({{ {digits} x }})\n"
    with pytest.raises(AttnvizError):
        list(read_bytes(text.encode()))
    with pytest.raises(AttnvizError):
        list(read_bytes(("9" * 100_000 + "-0\n").encode()))
