"""Section of a model card: alignment error rates of attention, posterior attention and each head against gold links."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from attnviz.analysis.measures import error_rate, links, mutual_links
from attnviz.analysis.transformer_steps import heads_name
from attnviz.evaluation.alignment import GoldAlignment, best_threshold
from attnviz.evaluation.compared_models import Model
from attnviz.evaluation.forced import Advance
from attnviz.evaluation.measurement_tables import Section, TableRow, markdown_table, table_number
from attnviz.evaluation.model_alignments import (
    detected_alignments,
    head_alignments,
    posterior_alignments,
    word_alignments,
)
from attnviz.evaluation.report import Judge
from attnviz.network import Seq2Seq, Transformer
from attnviz.trace import Array, Link
from attnviz.trace.parts import Heads

WHEN = ("before", "after")
"""Attention, and posterior attention once the word is known."""
DIRECTIONS = ("target looks", "both look")
"""The attention of a detector in one direction and in both."""
HEADS_COLUMNS = (
    "transformer",
    "weights",
    "file",
    "sentences",
    "layer",
    "head",
    "links",
    "aer",
    "precision",
    "recall",
)
"""Columns of the file of all heads."""
DIGITS = 12
"""Digits of the weights' digest in that file, which identifies the measured model."""
_NOTE = (
    "AER = 1 − (|A∩S| + |A∩(S∪P)|) / (|A| + |S|), with the model's links A, sure links S and possible links P; lower "
    "is better. The links connect words and are computed under forced decoding. “Before the word” means the attention "
    "α. “After the word” means the posterior attention, computed once the written piece is known "
    "(`analysis.posterior`). Argmax links each target word to the source word with the largest weight. Mutual argmax "
    "keeps a link only if its weight is also the largest of its source word."
)


_BEFORE_ALONE = {
    Transformer: "the alignment is the mean cross-attention of all heads of all layers. A transformer has many "
    "attention distributions per step, so it has no posterior attention.",
    Seq2Seq: "the model was imported, so its alignment is the attention before the word.",
}
"""What is measured for models without posterior attention."""


def alignment_section(
    models: Sequence[Model],
    gold: Mapping[str, Sequence[GoldAlignment]],
    choosing: Mapping[str, Sequence[GoldAlignment]],
    progress: Advance,
    judges: Sequence[Judge] = (),
    *,
    heads: bool = False,
) -> Section:
    """Return the alignment error rates on each file of `gold`, before and after the word.

    Links are by argmax, by mutual argmax and, with files for `choosing`, by the threshold that is best on those
    together. For a transformer, `heads` adds every head and each layer's mean.
    """
    records, notes = [], [_NOTE]
    for model in models:
        network = model.translator.network
        if not network.attends:
            notes.append(f"{model.name} has no attention, so it has no alignment.")
            continue
        if not network.attends_once:
            notes.append(f"{model.name}: {_BEFORE_ALONE[type(network)]}")
        if heads and isinstance(network, Transformer):
            for chosen in _all_heads(network.config):
                find = partial(head_alignments, model.translator, chosen)
                rated = _error_rates(f"{model.name}, {heads_name(chosen)}", WHEN[0], find, gold, choosing)
                records += [record | _head_columns(model, chosen) for record in rated]
        readings = (
            partial(word_alignments, model.translator),
            partial(posterior_alignments, model.translator, progress=progress),
        )
        for when, find in zip(WHEN, readings[: 1 + network.attends_once], strict=False):
            records += _error_rates(model.name, when, find, gold, choosing)
    for judge in judges:
        for direction in DIRECTIONS:
            find = partial(detected_alignments, judge.detector, both=direction == DIRECTIONS[1])
            records += _error_rates(judge.name, direction, find, gold, choosing)
        notes.append(
            f"{judge.name} is a detector and reads both sentences at once. “Target looks” is the attention of each "
            "target piece over the source. “Both look” is this attention times the attention in the other direction."
        )
    records.sort(key=lambda record: list(gold).index(record["file"]))
    rows = [
        [record["file"], record["model"], record["word"], record["links"], table_number(record["sentences"], 0)]
        + [table_number(record[key], 3) for key in ("aer", "precision", "recall")]
        + [table_number(record["pairs_per_second"], 0)]
        for record in records
    ]
    if choosing:
        notes.append(f"The threshold is the multiple of 0.01 with the lowest AER on {' and '.join(choosing)}.")
    columns = ["gold links", "model", "word", "links", "sentences", "AER", "precision", "recall", "pairs/s"]
    return Section("alignment", "Alignment error rate", records, markdown_table(columns, rows, 4), "gold", (), notes)


def heads_table(section: Section) -> list[TableRow]:
    """Return the rows of the heads in a section of `alignment_section`, for a file with HEADS_COLUMNS."""
    rows = [{name: record[name] for name in HEADS_COLUMNS} for record in section.records if "layer" in record]
    return [row | {rate: round(row[rate], 4) for rate in ("aer", "precision", "recall")} for row in rows]


def _head_columns(model: Model, heads: Heads) -> TableRow:
    """Return the model, by its weights, and the heads of a row, counted from 1; None for all of a layer's heads."""
    layer, head = heads.layer, heads.head
    return {
        "transformer": model.name,
        "weights": model.translator.weights_digest[:DIGITS],
        "layer": None if layer is None else layer + 1,
        "head": None if head is None else head + 1,
    }


def _all_heads(config: Any) -> list[Heads]:
    """Return the means of a transformer's layers, and its heads."""
    layers = range(config.layers)
    single = [Heads(layer, head) for layer in layers for head in range(config.heads)]
    return [*(Heads(layer) for layer in layers), *single]


def _error_rates(
    name: str,
    when: str,
    find: Callable[[Sequence[GoldAlignment]], list[Array]],
    gold: Mapping[str, Sequence[GoldAlignment]],
    choosing: Mapping[str, Sequence[GoldAlignment]],
) -> list[TableRow]:
    """Return the error rates of the alignments that `find` returns, on each file by each rule."""
    files = [*gold.values(), *choosing.values()]
    sentences = list(dict.fromkeys(sentence for file in files for sentence in file))
    started = time.perf_counter()
    alignments = find(sentences)
    speed = len(sentences) / (time.perf_counter() - started)
    matrices = dict(zip(sentences, alignments, strict=True))
    rules: dict[str, Callable[[Array], list[Link]]] = {"argmax": links, "mutual argmax": mutual_links}
    if choosing:
        choosing_sentences = [sentence for file in choosing.values() for sentence in file]
        threshold = best_threshold([matrices[sentence] for sentence in choosing_sentences], choosing_sentences)
        rules[f"threshold {threshold:.2f}"] = lambda matrix: links(matrix, threshold)
    records = []
    for label, file in gold.items():
        for rule, draw in rules.items():
            rate = error_rate((draw(matrices[sentence]) for sentence in file), file)
            records.append(
                {"file": label, "sentences": len(file), "model": name, "word": when, "links": rule}
                | asdict(rate)
                | {"pairs_per_second": speed}
            )
    return records
