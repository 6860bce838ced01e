"""Fixtures: files to evaluate on, made from the test sentences and translations of the tiny model."""

import json
from pathlib import Path

import pytest

from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from tests.conftest import SENTENCES
from tests.transformers import random_transformer


@pytest.fixture
def own_pairs(tmp_path, translator) -> Path:
    """Return a file whose references are the model's own greedy translations, and one line that is no pair."""
    path = tmp_path / "own" / "pairs.tsv"
    path.parent.mkdir()
    own = zip(SENTENCES, translator.translate_batch(SENTENCES, beam=1), strict=True)
    path.write_text("no tab\n" + "".join(f"{source}\t{target}\n" for source, target in own), encoding="utf-8")
    return path


@pytest.fixture
def gold_links(tmp_path) -> Path:
    path = tmp_path / "gold.jsonl"
    records = [
        {"id": "1", "en": ["A", "girl", "."], "fr": ["Une", "fille", "."], "S": [[0, 0], [1, 1]], "P": [[2, 2]]},
        {"id": "2", "en": ["Two", "dogs"], "fr": ["Deux", "chiens"], "S": [[0, 0], [1, 1]], "P": []},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def transformer(tmp_path, tokenizer) -> Path:
    folder = tmp_path / "a-transformer"
    save_model(folder, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    return folder
