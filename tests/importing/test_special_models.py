"""Tiny random translators of six kinds count the words that their tokenizers read, and spell what they read."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece

from attnviz import from_huggingface, read_attention
from attnviz.analysis.gold import linkable_words, links_text

try:
    import transformers

    from tests.importing.special_models import FRAMES, tiny_translator
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
    rows, columns = ([n for n, token in enumerate(side) if token not in special] for side in sides[::-1])
    assert record.head_weights.shape[-2:] == (len(sides[1]), len(sides[0]))
    for layer, head in np.ndindex(record.head_weights.shape[:2]):
        shown = record.select_heads(layer, head)
        own = shown.alignment.argmax(axis=1).tolist()
        links = [(columns.index(own[row]), i) for i, row in enumerate(rows) if own[row] in columns]
        assert links_text(shown) == " ".join(f"{j}-{i}" for j, i in sorted(links))
    (tmp_path / "record.json").write_text(record.to_json(), encoding="utf-8")
    assert links_text(read_attention(tmp_path / "record.json")[0]) == links_text(record)


def _ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that the model reads and writes."""
    return tokenizer(TEXT)["input_ids"], tokenizer(text_target=TARGET)["input_ids"]


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
