"""Special tokens and marks of pieces are no words: links, error rates, tables and heads count the other words alone."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Attention, AttnvizError, attention, find_heads, read_attention
from attnviz.analysis.gold import linkable_words, links_text
from attnviz.commands.main import main
from attnviz.export.attention_files import attention_file_content
from attnviz.trace.tokens import to_pieces

SOURCE, TARGET = ["the", "green", "house", "."], ["la", "maison", "verte", "."]
LINKS = "0-0 1-2 2-1 3-3"
SPELLINGS = {
    "BART": ("<s> Ġthe Ġgreen Ġhouse . </s>", "<s> Ġla Ġmaison Ġverte . </s>"),
    "NLLB": ("eng_Latn ▁the ▁green ▁house . </s>", "fra_Latn ▁la ▁maison ▁verte . </s>"),
    "M2M100": ("__en__ ▁the ▁green ▁house . </s>", "</s> __fr__ ▁la ▁maison ▁verte . </s>"),
    "mBART": ("▁the ▁green ▁house . </s> en_XX", "</s> fr_XX ▁la ▁maison ▁verte . </s>"),
    "BERT": ("[CLS] the green house . [SEP] [PAD]", "[CLS] la maison verte . [SEP]"),
    "MarianMT": (">>fra<< ▁the ▁green ▁house . </s>", "▁la ▁maison ▁verte . </s> <pad>"),
    "two sentences": ("the green </s> house . </s>", "la </s> maison verte . </s>"),
    "RoBERTa's two sentences": ("<s> the Ġgreen </s> </s> house Ġ. </s>", "<s> la Ġmaison </s> </s> verte Ġ. </s>"),
    "start and end": ("<start> the green house . <end>", "<start> la maison verte . <end>"),
    "language model": ("<|im_start|> the green house . <|im_end|>", "<|im_start|> la maison verte . <|im_end|>"),
    "PyTorch's tutorial": ("SOS the green house . EOS", "la maison verte . EOS"),
    "XLM": ("<s> the</w> green</w> house</w> .</w> </s>", "<s> la</w> maison</w> verte</w> .</w> </s>"),
    "none": ("the green house .", "la maison verte ."),
}


def words_of(tokens: Sequence[str]) -> list[int]:
    """Return the places of the tokens that are words, found by their letters alone."""
    letters = {*SOURCE, *TARGET}
    return [place for place, token in enumerate(tokens) if token.lstrip("▁Ġ").removesuffix("</w>") in letters]


def weights(source: Sequence[str], target: Sequence[str]) -> np.ndarray:
    """Return attention whose largest weights between words are LINKS; special rows attend to the first column."""
    matrix = np.full((len(target), len(source)), 0.1 / max(len(source) - 1, 1))
    columns, rows = words_of(source), words_of(target)
    largest = dict.fromkeys(range(len(target)), 0)
    largest |= {rows[int(i)]: columns[int(j)] for j, i in (link.split("-") for link in LINKS.split())}
    for row, column in largest.items():
        matrix[row, column] = 0.9
    return matrix / matrix.sum(axis=1, keepdims=True)


def saved(source: str, target: str, path: Path) -> Path:
    sides = source.split(), target.split()
    fields = {"source": sides[0], "target": sides[1], "matrix": weights(*sides).tolist()}
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SPELLINGS)
def test_words_and_links_count_words_alone(name, tmp_path, capsys) -> None:
    file, made = saved(*SPELLINGS[name], tmp_path / "file.json"), tmp_path / "made.pharaoh"
    (record,) = read_attention(file)
    words = record.words()
    assert linkable_words(words) == (tuple(SOURCE), tuple(TARGET))
    assert links_text(record) == LINKS
    frame = record.links_frame()[["i", "j"]].itertuples(index=False)
    assert {f"{j}-{i}" for i, j in frame} == {*LINKS.split()}
    assert (record.source_text.replace(" .", "."), record.translation.replace(" .", ".")) == (
        "the green house.",
        "la maison verte.",
    )
    assert words.alignment.sum(axis=1) == pytest.approx(1, abs=1e-6), "no weight is left out of the heatmap"
    assert main(["attention", str(file), "-o", str(made)]) == 0
    assert ("special" in capsys.readouterr().err) is (name != "none")
    assert made.read_text(encoding="utf-8") == f"{LINKS}\n"
    for ending in ("json", "npz", "parquet"):
        (tmp_path / f"again.{ending}").write_bytes(attention_file_content([record], ending))
        (again,) = read_attention(tmp_path / f"again.{ending}")
        assert again.source_word_of.tolist() == record.source_word_of.tolist()
        assert links_text(again) == LINKS
    sides = [side.split() for side in SPELLINGS[name]]
    right, turned = record.alignment, np.roll(record.alignment, 1, axis=1)
    heads = attention(*sides, np.stack([np.stack([turned, right]), np.stack([turned, turned])]))
    found = find_heads([heads], gold=[LINKS])
    assert (found.alignment_heads[0], found.table["aer"].iloc[0]) == ([0, 1], 0)


def test_special_tokens_can_be_named(tmp_path, capsys) -> None:
    tokens = ["<mine>", *SOURCE], ["<mine>", *TARGET]
    plain = attention(*tokens, weights(*tokens))
    assert links_text(plain) == "0-0 1-1 2-3 3-2 4-4"
    named = attention(*tokens, weights(*tokens), special=["<mine>"])
    assert links_text(named) == LINKS
    assert "special-tokens" not in named.remarks, "what was given is not assumed"
    assert links_text(Attention.from_json(named.to_json())) == LINKS
    with pytest.raises(AttnvizError, match="special"):
        attention(*tokens, weights(*tokens), special="<mine>")
    path = saved(*map(" ".join, tokens), tmp_path / "file.json")
    assert main(["attention", str(path), "--special", "<mine>"]) == 0
    assert capsys.readouterr().out.endswith(f"\t{LINKS}\n")


MARKS = ["<s>", "</s>", "[CLS]", "<pad>", "<|x|>"]


@given(st.lists(st.sampled_from([*MARKS, "a", "b@@", "c"]), min_size=1, max_size=12))
def test_words_are_numbered_without_special_tokens(tokens) -> None:
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
