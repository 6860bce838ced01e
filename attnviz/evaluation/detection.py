"""Sections of a model card for detectors: sizes, and accuracy by kind of negative."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from attnviz.detector import Detector
from attnviz.evaluation.forced import Advance
from attnviz.evaluation.report import training_cost
from attnviz.evaluation.tables import Section, TableRow, markdown_table, number, speed_note
from attnviz.model_folder import WEIGHTS
from attnviz.text import EOS
from attnviz.training.detection import EXCHANGES, TRANSLATION
from attnviz.training.negatives import KINDS, SWAPPED, Negatives, Sentences, load_exchanges

Pairs = Sequence[tuple[str, str]]
_NOTE = (
    "The table gives, for each kind, the share of the pairs that the detector judges right: above one half means "
    "a translation. The pairs that are not translations are made from the pairs of the file, one of each kind if "
    f"possible, and always the same ones. A network that ignores order cannot tell a pair of the kind “{SWAPPED}” "
    "from the pair it was made from: it judges both alike, and one of the two judgements is wrong."
)


@dataclass(frozen=True)
class Judge:
    """A detector under test."""

    name: str
    folder: Path
    detector: Detector

    def negatives(self) -> Negatives:
        """Return the generator of its negatives; raise AttnvizError where its file of word exchanges cannot be read."""
        tokenizer = self.detector.tokenizer
        return Negatives(load_exchanges(self.folder / EXCHANGES, len(tokenizer)), tokenizer)


def detector_section(judges: Sequence[Judge]) -> Section:
    """Return sizes and, where the training log is beside the model, the cost of training."""
    records, rows = [], []
    for judge in judges:
        network = judge.detector.network
        config, count = network.config, sum(weight.numel() for weight in network.parameters())
        record: TableRow = {
            "model": judge.name,
            **config.to_dict(),
            "parameters": count,
            "parameters_outside_embeddings": count - network.embedding.weight.numel(),
            "weights_bytes": (judge.folder / WEIGHTS).stat().st_size,
            "folder_bytes": sum(path.stat().st_size for path in judge.folder.rglob("*") if path.is_file()),
            **training_cost(judge.folder),
        }
        records.append(record)
        hours = None if record["training_seconds"] is None else record["training_seconds"] / 3600
        rows.append(
            [
                judge.name,
                f"{config.embedding_size} / {config.model_size}",
                number(config.vocabulary_size, 0),
                number(count, 0),
                number(record["parameters_outside_embeddings"], 0),
                f"{number(record['weights_bytes'] / 1e6)} MB",
                number(record["training_updates"], 0),
                number(record["training_pieces"], 0),
                number(hours, 2),
            ]
        )
    columns = [
        "detector",
        "m / d",
        "K",
        "parameters",
        "outside the embeddings",
        "weights",
        "updates",
        "pairs judged in training",
        "hours of training",
    ]
    return Section("detectors", "Detectors", records, markdown_table(columns, rows, 2), "pairs")


def detection_section(judges: Sequence[Judge], corpora: Mapping[str, Pairs], progress: Advance) -> Section:
    """Return the accuracy on the pairs of each file, and on each kind of negative made from them."""
    records, rows = [], []
    for corpus, pairs in corpora.items():
        for judge in judges:
            record = _judged(judge, pairs, progress)
            records.append({"file": corpus, "model": judge.name, **record})
            cells = [
                number(100 * kind_result["accuracy"]) if kind_result["pairs"] else "–"
                for kind_result in record["kinds"]
            ]
            counts = " / ".join(number(kind_result["pairs"], 0) for kind_result in record["kinds"])
            rows.append([corpus, judge.name, counts, *cells, number(1000 * record["seconds_per_pair"], 2)])
    columns = ["file", "detector", "pairs of each kind", *(f"{kind}, %" for kind in (TRANSLATION, *KINDS)), "ms a pair"]
    notes = [_NOTE, speed_note(judges[0].detector.device.type, torch.get_num_threads())]
    return Section("detection", "Translations detected", records, markdown_table(columns, rows, 3), "pairs", (), notes)


def _judged(judge: Judge, pairs: Pairs, progress: Advance) -> TableRow:
    """Return accuracy by kind, the counts, and the time for each translation."""
    detector, negatives, random = judge.detector, judge.negatives(), np.random.default_rng(0)
    sides = [[[*ids, EOS] for ids in detector.tokenizer.encode_batch(list(side))] for side in zip(*pairs, strict=True)]
    encoded: list[Sentences] = list(zip(*sides, strict=True))
    encoded.sort(key=lambda pair: (len(pair[1]), len(pair[0])))  # negatives pair targets of similar length
    groups = {TRANSLATION: encoded}
    for kind in KINDS:
        negative_pairs = (negatives.make(kind, encoded, index, random) for index in range(len(encoded)))
        groups[kind] = [pair for pair in negative_pairs if pair]
    kinds, seconds = [], 0.0
    for kind, group in groups.items():
        started = time.perf_counter()
        is_translation = detector.judge_ids(group) > 0.5
        if kind == TRANSLATION:
            seconds = time.perf_counter() - started
        right = is_translation if kind == TRANSLATION else ~is_translation
        kinds.append({"kind": kind, "pairs": len(group), "accuracy": float(right.mean()) if len(group) else None})
    progress(len(pairs))
    return {"kinds": kinds, "seconds_per_pair": seconds / max(1, len(encoded))}
