"""Tiny random translators of six kinds count the words that their tokenizers read, and spell what they read."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from numpy.typing import NDArray

from attnviz import Attention, from_huggingface, read_attention
from attnviz.analysis.gold import linkable_words, links_text
from attnviz.commands.main import main

try:
    import transformers

    from tests.importing.special_models import FRAMES, SPECIAL, tiny_translator
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("transformers is not installed", allow_module_level=True)

TEXT, TARGET = "the green house", "la maison verte"


@pytest.mark.parametrize("kind", FRAMES)
def test_model_counts_words_as_its_tokenizer_does(kind: str, tmp_path: Path) -> None:
    model, tokenizer, special = tiny_translator(kind)
    record = from_huggingface(model, tokenizer, TEXT, target=TARGET)
    assert linkable_words(record.words()) == (tuple(TEXT.split()), tuple(TARGET.split()))
    assert "special-tokens" not in record.remarks, "the tokenizer says which tokens are special"
    sides = [tokenizer.convert_ids_to_tokens(ids) for ids in _ids(tokenizer)]
    assert record.head_weights.shape[-2:] == (len(sides[1]), len(sides[0]))
    for layer, head in np.ndindex(record.head_weights.shape[:2]):
        shown = record.select_heads(layer, head)
        assert links_text(shown) == _links(shown.alignment, sides, special)
    (tmp_path / "record.json").write_text(record.to_json(), encoding="utf-8")
    assert links_text(read_attention(tmp_path / "record.json")[0]) == links_text(record)


def _ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that the model reads and writes."""
    return tokenizer(TEXT)["input_ids"], tokenizer(text_target=TARGET)["input_ids"]


def _links(weights: NDArray[np.float64], sides: Sequence[Sequence[str]], special: set[str]) -> str:
    """Return the links of each word to the word that it attends to most, where this is a word."""
    columns, rows = ([n for n, token in enumerate(side) if token not in special] for side in sides)
    own = weights.argmax(axis=1).tolist()
    links = [(columns.index(own[row]), i) for i, row in enumerate(rows) if own[row] in columns]
    return " ".join(f"{j}-{i}" for j, i in sorted(links))


@pytest.mark.parametrize("kind", FRAMES)
def test_self_attention_counts_words_as_the_tokenizer_does(kind: str) -> None:
    model, tokenizer, special = tiny_translator(kind)
    source, target = _ids(tokenizer)
    start = model.generation_config.decoder_start_token_id
    for side, text, ids in (("encoder", TEXT, source), ("decoder", TARGET, [start, *target[:-1]])):
        record = from_huggingface(model, tokenizer, TEXT, target=TARGET, kind=side)
        tokens = tokenizer.convert_ids_to_tokens(ids)
        assert [place for place, word in enumerate(record.source_word_of) if word == -1] == [
            place for place, token in enumerate(tokens) if token in special
        ]
        assert linkable_words(record.words()) == (tuple(text.split()),) * 2
        assert record.source_text == record.translation == text
        for layer, head in np.ndindex(record.head_weights.shape[:2]):
            shown = record.select_heads(layer, head)
            assert links_text(shown) == _links(shown.alignment, [tokens, tokens], special)


PAIRS = [(TEXT, TARGET), ("the zebra house green the", "la maison zèbre"), ("house", "verte la")]


@pytest.fixture(params=FRAMES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of a model, with the sentences beside it."""
    model, tokenizer, _ = tiny_translator(request.param)
    for one in (model, tokenizer):
        one.save_pretrained(tmp_path / "model")
    for name, lines in zip(("source", "target"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path / "model"


def _records(folder: Path) -> list[Attention]:
    """Return the records of PAIRS, after a check of their words and links."""
    special = {*SPECIAL} - {"<unk>"}
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given = [list(side) for side in zip(*PAIRS, strict=True)]
    records = list(read_attention(folder, source=given[0], target=given[1]))
    for record, pair in zip(records, PAIRS, strict=True):
        sides = [tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"]) for text in pair]
        assert record.source_pieces[-1] in special, "the model's own tokens are not removed"
        assert linkable_words(record.words()) == tuple(
            tuple(token for token in side if token not in special) for side in sides
        )
        assert [len(side) for side in linkable_words(record.words())] == [len(text.split()) for text in pair]
        assert links_text(record) == _links(record.alignment, sides, special)
    return records


def test_folder_and_command_count_the_same_words(folder: Path, tmp_path: Path) -> None:
    records = _records(folder)
    assert any(links_text(record) for record in records)
    given = [str(folder), "--source-file", str(tmp_path / "source"), "--target-file", str(tmp_path / "target")]
    assert main(["attention", *given, "-o", str(tmp_path / "made.pharaoh")]) == 0
    made = (tmp_path / "made.pharaoh").read_text(encoding="utf-8").split("\n")
    assert made == [*map(links_text, records), ""]
    assert main(["attention", *given, "-o", str(tmp_path / "made.json")]) == 0
    again = read_attention(tmp_path / "made.json")
    assert [links_text(one) for one in again] == [links_text(one) for one in records]
    assert [one.source_word_of.tolist() for one in again] == [one.source_word_of.tolist() for one in records]


def test_commands_score_heads_by_words(folder: Path, tmp_path: Path) -> None:
    records, gold, table = _records(folder), tmp_path / "gold", tmp_path / "heads.csv"
    given = [str(folder), "--source-file", str(tmp_path / "source"), "--target-file", str(tmp_path / "target")]
    given += ["--gold", str(gold)]
    for layer, head in np.ndindex(2, 2):
        links = []
        for record in records:  # a score takes the largest weight at a word
            rows, columns = (np.flatnonzero(side >= 0) for side in (record.target_word_of, record.source_word_of))
            largest = record.head_weights[layer, head][np.ix_(rows, columns)].argmax(axis=1).tolist()
            links.append(" ".join(f"{j}-{i}" for i, j in enumerate(largest)))
        gold.write_text("\n".join(links) + "\n", encoding="utf-8")
        assert main(["score", *given, "--heads", "-o", str(table)]) == 0
        with table.open(encoding="utf-8", newline="") as lines:
            errors = {(int(row["layer"]), int(row["head"])): float(row["aer"]) for row in csv.DictReader(lines)}
        assert len(errors) == 4
        assert errors[layer, head] == 0
        shown = ["--layer", str(layer + 1), "--head", str(head + 1)]
        assert main(["score", *given, *shown, "-o", str(tmp_path / "scores.json")]) == 0
        assert json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["aer"] == 0


@pytest.mark.parametrize("separate", [False, True])
def test_marian_spells_each_side_with_its_own_vocabulary(separate: bool, tmp_path: Path) -> None:
    sides = {
        "source": ["the green house is old", "two dogs play"],
        "target": ["la maison verte est vieille", "deux chiens"],
    }
    pieces = {}
    for side, lines in sides.items():
        (tmp_path / side).write_text("\n".join(lines * 30) + "\n", encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(tmp_path / side),
            model_prefix=str(tmp_path / side),
            vocab_size=60,
            minloglevel=2,
            bos_id=-1,
            eos_id=1,
            unk_id=0,
            pad_id=-1,
            hard_vocab_limit=False,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{side}.model"))
        pieces[side] = [model.id_to_piece(n) for n in range(2, model.get_piece_size())]
    vocabularies = [pieces["source"], pieces["target"]] if separate else [pieces["source"] + pieces["target"]]
    for name, own in zip(("vocab.json", "target.json"), vocabularies, strict=False):
        tokens = dict.fromkeys(["</s>", "<unk>", *own, "<pad>"])
        (tmp_path / name).write_text(json.dumps({token: n for n, token in enumerate(tokens)}), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that normalises punctuation
        tokenizer = transformers.MarianTokenizer(
            source_spm=str(tmp_path / "source.model"),
            target_spm=str(tmp_path / "target.model"),
            vocab=str(tmp_path / "vocab.json"),
            source_lang="en",
            target_lang="fr",
            **({"target_vocab_file": str(tmp_path / "target.json"), "separate_vocabs": True} if separate else {}),
        )
    size = 200
    model = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=size,
            decoder_vocab_size=size,
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
        )
    )
    source, target = sides["source"][0], sides["target"][0]
    record = from_huggingface(model, tokenizer, source, target=target)
    assert record.source_pieces == (*tokenizer.tokenize(source), "</s>")
    assert linkable_words(record.words()) == (tuple(source.split()), tuple(target.split()))
    for one in (model, tokenizer):
        one.save_pretrained(tmp_path / "model")
    for side, line in (("source", source), ("target", target)):
        (tmp_path / f"{side}.txt").write_text(line + "\n", encoding="utf-8")
    files = [f"--{side}-file={tmp_path / side}.txt" for side in sides]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that normalises punctuation
        assert main(["attention", str(tmp_path / "model"), *files, "-o", str(tmp_path / "made.json")]) == 0
    (again,) = read_attention(tmp_path / "made.json")
    assert (again.source_pieces, again.target_pieces) == (record.source_pieces, record.target_pieces)
    assert np.abs(again.head_weights - record.head_weights).max() < 1e-6
