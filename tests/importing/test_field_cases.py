"""Files that people have are read right, or refused with what they are: each test makes several of its kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import Attention, AttnvizError, alignment_error, read_attention
from attnviz.analysis.gold import linkable_words, links_text
from attnviz.commands.main import main
from attnviz.importing.attention_reader import read_bytes
from tests.snapshots import plain

SOURCES = ["she reads old books", "no", "we saw two boats"]
TARGETS = ["elle lit de vieux livres", "non", "nous avons vu deux bateaux"]
LINKS = ["0-0 1-1 2-3 3-4", "0-0", "0-0 1-1 1-2 2-3 3-4"]


def _file(path: Path, lines: Sequence[str], end: str = "\n") -> Path:
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def _from(links: str, base: int) -> list[tuple[int, int]]:
    """Return links of Pharaoh text that count tokens from `base`."""
    return [(int(j) + base, int(i) + base) for j, i in (link.split("-") for link in links.split())]


def _weights(source: Sequence[str], target: Sequence[str], links: str, shift: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Return random rows (Ty, Tx) that sum to 1, whose largest weight is that of their first link, or the last."""
    weights = np.random.default_rng(len(source)).uniform(0, 0.1, (len(target), len(source)))
    weights[:, -1] += 0.2
    for j, i in reversed(_from(links, 0)):
        weights[i + shift[1], j + shift[0]] = 2 + j / 10
    rows: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return rows


def _converted(capsys: pytest.CaptureFixture[str], *given: str | Path) -> tuple[list[Attention], str]:
    """Return the records in the .json file that the command makes, and what it said."""
    made = Path(given[0]).parent / "made.json"
    assert main(["attention", *map(str, given), "-o", str(made)]) == 0, capsys.readouterr().err
    return list(read_attention(made)), capsys.readouterr().err


def _refused(capsys: pytest.CaptureFixture[str], *given: str | Path) -> str:
    """Return the error with which both the command and Python refuse a file."""
    capsys.readouterr()
    assert main(["attention", *map(str, given)]) != 0
    said = capsys.readouterr().err
    with pytest.raises(AttnvizError) as error:
        read_attention(given[0])
    assert str(error.value) in said
    return said


def _sides(tmp_path: Path, sources: Sequence[str] = SOURCES, targets: Sequence[str] = TARGETS) -> list[str]:
    """Return the options with files of the sentences."""
    files = _file(tmp_path / "sources", sources), _file(tmp_path / "targets", targets)
    return ["--source-file", str(files[0]), "--target-file", str(files[1])]


FRAMES = {
    "NLLB": (["deu_Latn", "{}", "</s>"], ["</s>", "spa_Latn", "{}", "</s>"]),
    "BART": (["<s>", "{}", "</s>"], ["<s>", "{}", "</s>"]),
    "BERT": (["[CLS]", "{}", "[SEP]"], ["[CLS]", "{}", "[SEP]"]),
    "mBART": (["{}", "</s>", "de_DE"], ["es_XX", "{}", "</s>"]),
    "M2M100": (["__de__", "{}", "</s>"], ["__es__", "{}", "</s>", "<pad>"]),
}


def _framed(frame: Sequence[str], words: str) -> list[str]:
    return [token for part in frame for token in (words.split() if part == "{}" else [part])]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("first", [LINKS[0], "0-0 1-1 2-3 3-2 3-4"], ids=["a word without a link", "all linked"])
def test_special_tokens_are_no_words(
    frame: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, links = [], [first, *LINKS[1:]]
    for source, target, one in zip(SOURCES, TARGETS, links, strict=True):
        tokens = _framed(FRAMES[frame][0], source), _framed(FRAMES[frame][1], target)
        shift = (tokens[0].index(source.split()[0]), tokens[1].index(target.split()[0]))
        # The last column is special: a word without a link attends to it.
        weights = _weights(*tokens, one, shift)
        pairs.append({"source": tokens[0], "target": tokens[1], "matrix": weights.tolist()})
    path = _file(tmp_path / "pairs.jsonl", [json.dumps(pair) for pair in pairs])
    assert main(["attention", str(path), "-o", str(tmp_path / "made.pharaoh")]) == 0
    assert (tmp_path / "made.pharaoh").read_text(encoding="utf-8").splitlines() == links
    assert "special" in capsys.readouterr().err
    for record, source, target in zip(read_attention(path), SOURCES, TARGETS, strict=True):
        assert linkable_words(record.words()) == (tuple(source.split()), tuple(target.split()))
    gold = _file(tmp_path / "gold", links)
    worded = _file(tmp_path / "gold.tsv", ["\t".join(row) for row in zip(SOURCES, TARGETS, links, strict=True)])
    files = [tmp_path / "made.pharaoh"]
    if first != LINKS[0]:  # where weights are scored, a word that attends most to a special token has a link too
        files.append(path)
    for file in files:
        for own in (gold, worded):
            assert alignment_error(file, own).aer == 0
            capsys.readouterr()
            assert main(["attention", str(file), "--compare", str(own)]) == 0
            assert "between the files: 0.000" in capsys.readouterr().out


BLANKS = ["\u00a0", "\u202f", "\u3000", "\u2028", "\u2009", "\u0085", "\u000b", "\u001f"]


@pytest.mark.parametrize("blank", BLANKS, ids=[f"U+{ord(blank):04X}" for blank in BLANKS])
@pytest.mark.parametrize("shape", ["tab", "bars", "links", "soft", "json"])
def test_only_blanks_of_ascii_end_a_token(
    blank: str, shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = ["wait" + blank + "! come here", "10" + blank + "000 men"]
    targets = ["attends" + blank + "! viens" + blank + "là", "10" + blank + "000" + blank + "hommes"]
    links = ["0-0 1-1 2-1", "0-0 1-0"]
    rows = list(zip(sources, targets, links, strict=True))
    sides = _sides(tmp_path, sources, targets)
    given: list[str | Path]
    if shape == "tab":
        given = [_file(tmp_path / "f.tsv", ["\t".join(row) for row in rows])]
    elif shape == "bars":
        given = [_file(tmp_path / "f.txt", [" ||| ".join(row) for row in rows])]
    elif shape == "links":
        given = [_file(tmp_path / "f.links", links), *sides]
    elif shape == "soft":
        soft = ["0.8,0.1,0.1 0.1,0.5,0.4", "0.6,0.4"]
        lines = [f"{target} ||| {weights}" for target, weights in zip(targets, soft, strict=True)]
        given = [_file(tmp_path / "f.soft", lines), *sides[:2]]
    else:
        fields = [
            {"source": source, "target": target, "matrix": _weights(source.split(" "), target.split(" "), one).tolist()}
            for source, target, one in rows
        ]
        given = [_file(tmp_path / "f.jsonl", [json.dumps(one) for one in fields])]
    converted, _ = _converted(capsys, *given)
    options: dict[str, Any] = {"source": sources} if shape == "soft" else {}
    if shape == "links":
        options = {"source": sources, "target": targets}
    for records in (converted, list(read_attention(given[0], **options))):
        assert [len(record.source_pieces) for record in records] == [3, 2]
        assert [len(record.target_pieces) for record in records] == [2, 1]
        if shape in ("tab", "bars", "links"):
            assert [links_text(record) for record in records] == links
        assert records[0].alignment[0].argmax() == 0, "the first word is linked to the first"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("pad", ["", "0000"])
def test_tags_of_the_shared_tasks_are_no_tokens(
    end: str, pad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links, marks = [], "SPSSSPSSSS"
    expected = []
    for number, pair in enumerate(LINKS, 1):
        found = []
        for place, (j, i) in enumerate(_from(pair, 1)):
            links.append(f"{pad}{number} {j} {i} {marks[place]}")
            found.append(f"{j - 1}{'-' if marks[place] == 'S' else '?'}{i - 1}")
        expected.append(" ".join(found))
    path = _file(tmp_path / "test.wa", links, end)
    sides = []
    for side, lines in (("e", SOURCES), ("f", TARGETS)):
        tagged = [f"<s snum={pad}{number}> {line} </s>" for number, line in enumerate(lines, 1)]
        sides.append(_file(tmp_path / f"test.{side}", tagged, end))
    converted, _ = _converted(capsys, path, "--source-file", sides[0], "--target-file", sides[1])
    for records in (converted, list(read_attention(path, *sides))):
        assert [links_text(record) for record in records] == expected
        assert [record.words().source for record in records] == [tuple(line.split()) for line in SOURCES]
        assert [record.words().target for record in records] == [tuple(line.split()) for line in TARGETS]


@pytest.mark.parametrize("lost", [[1], [2], [2, 3], [1, 4]])
def test_numbers_of_giza_pairs_are_read(lost: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources, targets, links = (
        [*SOURCES, "stop now", "go"],
        [*TARGETS, "arrête maintenant", "va"],
        [*LINKS, "0-0", "0-0"],
    )
    kept = [number for number in range(1, 6) if number not in lost]
    lines = []
    for number in kept:
        source, target = sources[number - 1].split(), targets[number - 1].split()
        pairs = _from(links[number - 1], 1)
        of_word = [" ".join(str(i) for j, i in pairs if j == place) for place in range(1, len(source) + 1)]
        shown = [f"{word} ({{ {one}{' ' * bool(one)}}})" for word, one in zip(source, of_word, strict=True)]
        sizes = f"source length {len(source)} target length {len(target)}"
        lines += [
            f"# Sentence pair ({number}) {sizes} alignment score : 0.001",
            " ".join(target),
            " ".join(["NULL ({ })", *shown]),
        ]
    path = _file(tmp_path / "corpus.A3.final", lines)
    converted, said = _converted(capsys, path)
    assert [links_text(record) for record in converted] == [links[number - 1] for number in kept]
    assert f"numbers: {', '.join(map(str, lost))}." in said
    given, _ = _converted(capsys, path, *_sides(tmp_path, [line.upper() for line in sources], targets))
    assert [record.words().source for record in given] == [tuple(sources[n - 1].upper().split()) for n in kept]


PLOTTED = {
    "plot": ("<start> where is the key <end>", "dónde está la llave <end>", (11, 16)),
    "square": ("I lost my old key", "perdí mi llave", (8, 8)),
    "wide": ("yes", "sí señor", (2, 9)),
    "tall": ("a b c d", "x", (7, 4)),
    "one more": ("a b c d", "x y z", (3, 5)),
    "end in the text": ("a b </s>", "x y </s>", (6, 6)),
}


@pytest.mark.parametrize("name", PLOTTED)
@pytest.mark.parametrize("kind", ["matrix", "heads", "npz"])
def test_empty_rows_and_columns_at_the_end_are_padding(
    name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, (rows, columns) = PLOTTED[name]
    sizes = len(target.split()), len(source.split())
    plain = np.random.default_rng(3).dirichlet(np.ones(sizes[1]), (2, 3, sizes[0]))  # (L, H, Ty, Tx)
    padded = np.zeros((2, 3, rows, columns))
    padded[:, :, : sizes[0], : sizes[1]] = plain
    expected = plain[1, 2] if kind == "matrix" else plain.mean(axis=(0, 1))
    saved = padded[1, 2] if kind == "matrix" else padded
    if kind == "npz":
        path = tmp_path / "weights.npz"
        np.savez(path, attention=saved)
    else:
        path = tmp_path / "weights.npy"
        np.save(path, saved)
    converted, _ = _converted(capsys, path, *_sides(tmp_path, [source], [target]))
    for (record,) in (converted, read_attention(path, [source], [target]), read_attention(saved, [source], [target])):
        assert record.alignment.shape == sizes
        assert np.abs(record.alignment - expected).max() < 1e-6
        assert (len(record.target_pieces), len(record.source_pieces)) == sizes, "no end mark is invented"
        words = linkable_words(record.words())
        assert words == tuple(tuple(w for w in side.split() if w[0] != "<") for side in (source, target))


def test_a_padded_batch_is_cut_to_each_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [(len(target.split()), len(source.split())) for source, target in zip(SOURCES, TARGETS, strict=True)]
    batch = np.zeros((3, 9, 7))
    for matrix, (rows, columns) in zip(batch, sizes, strict=True):
        matrix[:rows, :columns] = np.random.default_rng(rows).dirichlet(np.ones(columns), rows)
    np.save(tmp_path / "batch.npy", batch)
    converted, _ = _converted(capsys, tmp_path / "batch.npy", *_sides(tmp_path))
    for records in (converted, list(read_attention(batch, SOURCES, TARGETS))):
        assert [record.alignment.shape for record in records] == sizes
        for record, matrix in zip(records, batch, strict=True):
            rows, columns = record.alignment.shape
            assert np.abs(record.alignment - matrix[:rows, :columns]).max() < 1e-6


@pytest.mark.parametrize("side", ["source", "target", "both"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("shape", ["nematus", "bars", "tab"])
def test_pair_with_an_empty_side_is_named_and_the_others_read(
    shape: str, place: int, side: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources, targets, links = [*SOURCES], [*TARGETS], [*LINKS]
    sources[place] = "" if side != "target" else sources[place]
    targets[place] = "" if side != "source" else targets[place]
    links[place] = ""
    lines = []
    for number, (source, target, one) in enumerate(zip(sources, targets, links, strict=True)):
        if shape == "nematus":
            ended = [*source.split(), "</s>"], [*target.split(), "</s>"]
            lines.append(f"{number} ||| {target} ||| 1.5 ||| {source} ||| {len(ended[0])} {len(ended[1])}")
            lines += [" ".join(f"{weight:.6f}" for weight in row) for row in _weights(*ended, one)]
            lines.append("")
        else:
            lines.append((" ||| " if shape == "bars" else "\t").join((source, target, one)))
    path = _file(tmp_path / f"pairs.{shape}", lines)
    assert main(["attention", str(path), "-o", str(tmp_path / "made.pharaoh")]) == 0
    said = capsys.readouterr().err
    assert f"no links: {place + 1}." in said
    made = (tmp_path / "made.pharaoh").read_text(encoding="utf-8").split("\n")
    whole = [" ".join(f"{j}-{i}" for j, i in _from(one, 0)) for one in links]
    if shape == "nematus":  # a row has one largest weight
        whole = [
            " ".join(sorted({one.split("-")[1]: one for one in reversed(text.split())}.values())) for text in whole
        ]
    assert made == [*whole, ""]
    records = read_attention(path)
    assert [records.is_blank(index) for index in range(3)] == [index == place for index in range(3)]
    for index in {0, 1, 2} - {place}:
        assert linkable_words(records[index].words()) == (tuple(SOURCES[index].split()), tuple(TARGETS[index].split()))


class Output(dict[str, Any]):
    """What a model of transformers returns: a dictionary that also gives its values as a tuple."""

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(self.values())


WITHOUT_WEIGHTS: list[Any] = [
    (),
    [],
    ((), (), (), ()),
    (None, None, None),
    ((None, None), (None, None)),
    [[], []],
    Output(cross_attentions=()),
    Output(cross_attentions=((), ())),
    Output(cross_attentions=None, encoder_attentions=None, decoder_attentions=None, attentions=None),
    Output(attentions=(None, None)),
    Output(sequences=np.zeros((1, 4), int), cross_attentions=((None,), (None,))),
]


@pytest.mark.parametrize("number", range(len(WITHOUT_WEIGHTS)))
def test_output_without_weights_names_eager_attention(number: int) -> None:
    with pytest.raises(AttnvizError) as error:
        read_attention(WITHOUT_WEIGHTS[number], source=[SOURCES[0]], target=[TARGETS[0]])
    assert 'attn_implementation="eager"' in str(error.value)


MARKED = {
    "XLM": (
        ["she</w>", "re", "ads</w>", "old</w>", "bo", "ok", "s</w>"],
        ["el", "le</w>", "lit</w>", "de</w>", "vi", "eux</w>", "livres</w>"],
    ),
    "one piece a word": (["she</w>", "reads</w>", "old</w>", "books</w>"], [f"{w}</w>" for w in TARGETS[0].split()]),
    "with special tokens": (
        ["<s>", "she</w>", "reads</w>", "ol", "d</w>", "books</w>", "</s>"],
        ["<s>", "elle</w>", "l", "it</w>", "de</w>", "vieux</w>", "liv", "res</w>", "</s>"],
    ),
}


def _piece_links(sides: Sequence[Sequence[str]], links: str, mark: str) -> list[tuple[int, int]]:
    """Return links of words as links of the first token of each."""
    firsts = []
    for side in sides:
        words, begins = list[int](), True
        for place, token in enumerate(side):
            if token not in ("<s>", "</s>"):
                words += [place] if begins else []
                begins = token.endswith(mark)
        firsts.append(words)
    return [(firsts[0][j], firsts[1][i]) for j, i in _from(links, 0)]


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("shape", ["json", "tab", "bars", "links"])
def test_marks_of_ends_of_words_are_no_text(
    name: str, shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = MARKED[name]
    pairs = _piece_links(sides, LINKS[0], "</w>")
    links = " ".join(f"{j}-{i}" for j, i in pairs)
    texts = [" ".join(side) for side in sides]
    given: list[str | Path]
    if shape == "json":
        fields = {"source": sides[0], "target": sides[1], "matrix": _weights(*sides, links).tolist()}
        given = [_file(tmp_path / "f.json", [json.dumps(fields)])]
    elif shape == "links":
        given = [_file(tmp_path / "f.links", [links]), *_sides(tmp_path, [texts[0]], [texts[1]])]
    else:
        given = [_file(tmp_path / "f.txt", [(" ||| " if shape == "bars" else "\t").join((*texts, links))])]
    ((record,), _) = _converted(capsys, *given)
    assert linkable_words(record.words()) == (tuple(SOURCES[0].split()), tuple(TARGETS[0].split()))
    assert (record.source_text, record.translation) == (SOURCES[0], TARGETS[0])
    if shape != "json":
        assert links_text(record) == LINKS[0]
    assert "</w>" not in "".join((*record.source_pieces, *record.target_pieces))


def _spelled(name: str, base: int) -> list[str]:
    shapes = {
        "parentheses": lambda pairs: " ".join(f"({j}-{i})" for j, i in pairs),
        "pairs": lambda pairs: " ".join(f"({j},{i})" for j, i in pairs),
        "tuples": lambda pairs: str(list(pairs)),
        "lists": lambda pairs: str([list(pair) for pair in pairs]),
        "sets": lambda pairs: "{" + ", ".join(f"({j}, {i})" for j, i in pairs) + "}",
        "commas": lambda pairs: ", ".join(f"{j}-{i}" for j, i in pairs),
    }
    return [shapes[name](_from(one, base)) for one in LINKS]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("name", ["parentheses", "pairs", "tuples", "lists", "sets", "commas"])
def test_links_in_other_spellings_are_read_or_named(
    name: str, base: int, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = _spelled(name, base)
    path = _file(tmp_path / "links.txt", lines, end)
    said = f"“{lines[0].split()[0]}"
    try:
        records = list(read_attention(path, SOURCES, TARGETS))
    except AttnvizError:
        assert main(["attention", str(path), *_sides(tmp_path)]) != 0
        assert said in capsys.readouterr().err, "the refusal quotes the links"
        return
    converted, _ = _converted(capsys, path, *_sides(tmp_path))
    for found in (records, converted):
        assert [links_text(record) for record in found] == LINKS
        assert [record.words().source for record in found] == [tuple(line.split()) for line in SOURCES]


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("empty", ["possible", "sure", "none"])
def test_column_of_possible_links_is_not_dropped(
    base: int, empty: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sure, possible = [*LINKS], ["1-2", "", "3-1 0-2"]
    if empty != "none":
        possible[0] = possible[0] if empty == "sure" else ""
    if empty == "sure":
        sure[0], possible[0] = "", "0-0 1-2"
    shifted = [[" ".join(f"{j}-{i}" for j, i in _from(one, base)) for one in side] for side in (sure, possible)]
    path = _file(tmp_path / "gold.txt", ["\t".join(row) for row in zip(*shifted, strict=True)])
    records = list(read_attention(path, SOURCES, TARGETS))
    converted, said = _converted(capsys, path, *_sides(tmp_path))
    for found in (records, converted):
        assert [sorted(record.sure) for record in found] == [sorted(_from(one, 0)) for one in sure]
        assert [sorted(record.possible) for record in found] == [sorted(_from(one, 0)) for one in possible]
    counts = [sum(len(one.split()) for one in side) for side in (sure, possible)]
    assert f"{counts[0]} sure links, {counts[1]} possible link" in said


TABLES = {
    "a3": ["1 1 4 5 0.91", "2 1 4 5 0.05", "3 2 4 5 0.4", "0 3 7 6 1e-05"],
    "a3 of counts": ["1 1 8 100 1", "5 2 8 100 1", "4 3 8 100 1"],
    "d3": ["1 2 5 6 0.25", "2 2 5 6 0.5", "3 1 5 6 0.125"],
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("file", ["corpus.a3.final", "corpus.d3.final", "corpus.txt"])
def test_tables_of_gizas_model_are_refused(
    name: str, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(tmp_path / file, TABLES[name] * 3)
    said = _refused(capsys, path)
    assert "GIZA++" in said
    assert ".A3.final" in said
    assert main(["attention", str(path), "--normalise", "-o", str(tmp_path / "out.svg")]) != 0
    assert not (tmp_path / "out.svg").exists()


@pytest.mark.parametrize("head", ["<?xml version='1.0' encoding='utf-8'?>", "", "\ufeff<?xml version='1.0'?>"])
@pytest.mark.parametrize("root", ["sentences", "DATASET"])
def test_gold_links_in_xml_are_refused(
    head: str, root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [head] if head else []
    lines.append(f"<{root}>")
    for number, (source, target, links) in enumerate(zip(SOURCES, TARGETS, LINKS, strict=True), 1):
        pairs = " ".join(f"{j}-{i}" for j, i in _from(links, 1))
        lines += [f'<s id="{number}">', f"<english>{source}</english>", f"<czech>{target}</czech>"]
        lines += [f"<sure>{pairs}</sure>", "<possible></possible>", "</s>"]
    assert "XML" in _refused(capsys, _file(tmp_path / "gold.wa", [*lines, f"</{root}>"]))


@settings(max_examples=50)
@given(st.text(alphabet="({ })0123456789ab NULL", max_size=400))
def test_any_third_line_of_giza_is_read_or_refused(words: str) -> None:
    text = f"# Sentence pair (1) source length 1 target length 1 alignment score : 0.1\nb\nNULL ({{ }}) {words}\n"
    with suppress(AttnvizError):
        (record,) = read_bytes(text.encode())
        assert record.source_text == words.split(" ")[0]


def test_damaged_and_blank_pairs_do_not_stop_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = ["a b ||| c d ||| 0-0 1-1", "e ||| f ||| 0-0", "g h ||| i ||| 1-0"]
    lines = [good[0], " ||| euh ||| ", good[1], "no fields at all", good[2], *good * 8]
    file = str(tmp_path / "file")
    Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["attention", file, "-o", str(tmp_path / "made.pharaoh")]) == 0
    said = capsys.readouterr().err
    assert "no links: 2." in said
    assert "Left out: Pair 4: Line 4: “no fields at all”" in said
    made = (tmp_path / "made.pharaoh").read_text(encoding="utf-8").split("\n")
    assert [bool(line) for line in made[:5]] == [True, False, True, False, True]
    assert len(made) == len(lines) + 1
    assert main(["attention", file, "--sentence", "4"]) == 2
    assert "Line 4" in capsys.readouterr().err


def test_exponential_line_of_giza_is_refused_at_once() -> None:
    digits = "1" * 60
    text = f"# Sentence pair (1) source length 1 target length 1 score : 1\nb\nNULL ({{ }}) a ({{ {digits} x }})\n"
    with pytest.raises(AttnvizError):
        list(read_bytes(text.encode()))
    with pytest.raises(AttnvizError):
        list(read_bytes(("9" * 100_000 + "-0\n").encode()))


def test_tokens_that_are_no_strings_damage_their_pair_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = {"source": ["a", "b"], "target": ["c"], "matrix": [[0.25, 0.75]]}
    lines = [good, good | {"source": [1, None]}, good | {"matrix": [[0.5]]}, good]
    path = tmp_path / "file.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert main(["attention", str(path)]) == 0
    captured = capsys.readouterr()
    assert [bool(line.strip()) for line in captured.out.splitlines()] == [True, False, False]
    assert captured.err.count("Left out: Pair") == 2
    records = read_attention(path)
    assert [records.filled(index) is None for index in range(4)] == [False, True, True, False]
    assert sorted(records.problems) == [1, 2]


def test_a_source_alone_in_a_log_of_fairseq_is_a_pair_that_is_cut_short(tmp_path: Path) -> None:
    lines = ["S-0\ta b", "H-0\t-0.1\tc", "A-0\t1-0", "S-1\te"]
    records = read_attention(_file(tmp_path / "log", lines))
    assert [bool(pair.problem) for pair in records.pairs] == [False, True]


@pytest.mark.parametrize("line", ["[[[0, 0.5, 0], [1, 0.5, 0], [1, 0.5, 0], ], ], ", "[[0, x, 0], ], "])
def test_damaged_table_of_soft_alignments_is_a_damaged_pair(line: str, tmp_path: Path) -> None:
    lines = ["var alignments = [", "[[[0, 0.5, 0], ], [[1, 0.5, 0], ], ], ", line, "]"]
    records = read_attention(_file(tmp_path / "x.ali.js", lines), ["a b"] * 2, ["c"] * 2)
    assert [bool(pair.problem) for pair in records.pairs] == [False, True]
    assert records[0].alignment.tolist() == [[0.5, 0.5]]


HEADER_OF_NEMATUS = "0 ||| une voiture ||| 0.2 ||| a car ||| 2 2"


@pytest.mark.parametrize("rows", [["b c"], ["", HEADER_OF_NEMATUS]], ids=["text", "blank"])
def test_header_of_nematus_needs_rows_of_weights(rows: list[str], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        read_attention(_file(tmp_path / "file", [HEADER_OF_NEMATUS, *rows]))
    assert plain(error.value, tmp_path) == snapshot
