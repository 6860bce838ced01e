"""A training run of seconds on a tiny text, with models saved on the way, for tests of how a model learns."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from attnviz.training import TrainingConfig, train

MOMENTS = (0, 20, 60, 150)
_SUBJECTS = {"the cat": "le chat", "the dog": "le chien", "a girl": "une fille", "the king": "le roi"}
_VERBS = {"sees": "voit", "likes": "aime", "finds": "trouve"}
_OBJECTS = {"a red house": "une maison rouge", "the black sea": "la mer noire", "a blue book": "un livre bleu"}


def write_texts(folder: Path) -> tuple[Path, Path]:
    """Write a training and a validation file in which French puts adjectives after nouns; return their paths."""
    triples = list(itertools.product(_SUBJECTS.items(), _VERBS.items(), _OBJECTS.items()))
    lines = [f"{s[0]} {v[0]} {o[0]}.\t{s[1]} {v[1]} {o[1]}.\n" for s, v, o in triples]
    folder.mkdir(exist_ok=True)
    training, validation = folder / "train.tsv", folder / "validation.tsv"
    training.write_text("".join(lines[::2] + lines[1::4]), encoding="utf-8")
    validation.write_text("".join(lines[3::4]), encoding="utf-8")
    return training, validation


def kept_run(folder: Path, *, guidance: float = 0.0, name: str = "run", keep_at: tuple[int, ...] = MOMENTS) -> Path:
    """Train in `folder`/`name` on the texts of `write_texts`; return that folder."""
    training, validation = write_texts(folder)
    config = TrainingConfig(
        data=(str(training),),
        validation=(str(validation),),
        output=str(folder / name),
        vocabulary_size=90,
        embedding_size=16,
        hidden_size=24,
        alignment_size=16,
        maxout_size=16,
        batch_tokens=120,
        updates=MOMENTS[-1],
        warmup=10,
        learning_rate=1e-2,
        matrix_rate=0.0,
        validate_every=50,
        checkpoint_every=50,
        bleu_sentences=6,
        snapshots=4,
        keep_at=keep_at,
        dropout=0.0,
        device="cpu",
        precision="fp32",
        threads=1,
        patience=0,
        guidance=guidance,
    )
    train(config)
    return folder / name


LINKS = "".join(
    json.dumps({"id": str(k), "en": en.split(), "fr": fr.split(), "S": links, "P": []}) + "\n"
    for k, (en, fr, links) in enumerate(
        [
            (
                "the cat sees a red house .",
                "le chat voit une maison rouge .",
                [[0, 0], [1, 1], [2, 2], [3, 3], [4, 5], [5, 4], [6, 6]],
            ),
            (
                "a girl likes the black sea .",
                "une fille aime la mer noire .",
                [[0, 0], [1, 1], [2, 2], [3, 3], [4, 5], [5, 4], [6, 6]],
            ),
        ]
    )
)
"""Gold links of two sentences of the text, in the format of gold files."""
