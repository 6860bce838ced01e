"""Sections of a model card: sizes, training cost, scores, tuning, translations, and the accuracy of detectors."""

from __future__ import annotations

import csv
import itertools
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np
import torch

from attnviz.detector import Detector
from attnviz.evaluation.bleu import (
    FEWEST,
    corpus_scores,
    interval,
    resampled_bleu,
    scores_by_length,
    sentence_counts,
)
from attnviz.evaluation.compared_models import (
    Model,
    Predicted,
    TextPairs,
    TranslatedCorpus,
    beam_name,
    best_trial,
    tune,
)
from attnviz.evaluation.example_sentences import FIGURE_3, LONG
from attnviz.evaluation.forced import Advance, total_likelihood
from attnviz.evaluation.measurement_tables import MINUS, Section, TableRow, markdown_table, speed_note, table_number
from attnviz.model_folder import TRAINING_LOG, WEIGHTS_FILE
from attnviz.network import AnyNetwork, ModelConfig, Seq2SeqConfig, TransformerConfig
from attnviz.pair_files import Skipped
from attnviz.text import EOS
from attnviz.training.detection import EXCHANGES, TRANSLATION_CLASS
from attnviz.training.negatives import NEGATIVE_KINDS, SWAPPED, EncodedSentences, Negatives, load_exchanges

_SHOWN = 20
"""Skipped lines in the table for people."""


def skipped_section(skipped: Mapping[str, Sequence[Skipped]]) -> Section:
    """Return the lines of the files that hold no sentence pair."""
    records: list[TableRow] = [
        {"file": name, "line": line.number, "reason": line.reason} for name, lines in skipped.items() for line in lines
    ]
    rows = [[record["file"], table_number(record["line"], 0), record["reason"]] for record in records[:_SHOWN]]
    notes = [f"And {len(records) - _SHOWN:,} more."] if len(records) > _SHOWN else []
    body = markdown_table(["file", "line", "reason"], rows)
    return Section("skipped", "Lines that were skipped", records, body, "pairs", notes=notes)


def model_section(models: Sequence[Model]) -> Section:
    """Return sizes and, where the training log is beside the model, the cost of training."""
    columns = ["model", "attention", "m / n / n' / l", "K", "parameters"]
    made = [_sized(one.name, one.folder, one.translator.network) for one in models]
    cells = [_kind_and_sizes(one.translator.network.config) for one in models]
    return _size_section("models", "Models", columns, made, cells, "target pieces trained on")


def detector_section(judges: Sequence[Judge]) -> Section:
    """Return sizes and, where the training log is beside the model, the cost of training."""
    made, cells = [], []
    for judge in judges:
        network, config = judge.detector.network, judge.detector.network.config
        record = _sized(judge.name, judge.folder, network)
        outside = record["parameters"] - network.embedding.weight.numel()
        made.append(record | {"parameters_outside_embeddings": outside})
        cells.append((f"{config.embedding_size} / {config.model_size}",))
    columns = ["detector", "m / d", "K", "parameters", "outside the embeddings"]
    return _size_section("detectors", "Detectors", columns, made, cells, "pairs judged in training")


def _sized(name: str, folder: Path, network: AnyNetwork) -> TableRow:
    """Return the settings of a model, its parameters, the bytes of its files, and what its training cost."""
    return {
        "model": name,
        **network.config.to_dict(),
        "parameters": sum(weight.numel() for weight in network.parameters()),
        "weights_bytes": (folder / WEIGHTS_FILE).stat().st_size,
        "folder_bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        **training_cost(folder),
    }


def _size_section(
    key: str, title: str, columns: list[str], records: list[TableRow], cells: Sequence[Sequence[str]], items: str
) -> Section:
    """Return the section of some models; `cells` have their kind and sizes, and `items` is what training counts."""
    counted = ("vocabulary_size", "parameters", "parameters_outside_embeddings")
    rows = []
    for record, kind in zip(records, cells, strict=True):
        seconds = record["training_seconds"]
        rows.append(
            [record["model"], *kind, *(table_number(record[name], 0) for name in counted if name in record)]
            + [f"{table_number(record['weights_bytes'] / 1e6)} MB"]
            + [table_number(record[name], 0) for name in ("training_updates", "training_pieces")]
            + [table_number(None if seconds is None else seconds / 3600, 2)]
        )
    columns = [*columns, "weights", "updates", items, "hours of training"]
    return Section(key, title, records, markdown_table(columns, rows, 1 + len(cells[0])), "pairs")


def _kind_and_sizes(config: ModelConfig | TransformerConfig | Seq2SeqConfig) -> tuple[str, str]:
    """Return the kind of attention, and the sizes: in the order of their column, or by name for other architectures."""
    if isinstance(config, TransformerConfig):
        named = f"d = {config.model_size}, f = {config.feedforward_size}, {config.layers} layers, {config.heads} heads"
        return "transformer", named
    if isinstance(config, Seq2SeqConfig):
        named = f"m = {config.encoder_size}, n = {config.hidden_size}, n' = {config.alignment_size}, {config.cell}"
        return f"{config.attention}, {config.family}", named
    sizes = (config.embedding_size, config.hidden_size, config.alignment_size, config.maxout_size)
    return config.attention, " / ".join(map(str, sizes))


def score_section(
    models: Sequence[Model],
    corpora: Mapping[str, TextPairs],
    translated: Sequence[TranslatedCorpus],
    predicted: Predicted,
) -> Section:
    """Return BLEU, chrF2, speed and likelihood, a row for each file and model, with the searches side by side."""
    records, rows = [], []
    signatures: dict[str, str] = {}
    beams = list(dict.fromkeys(result.beam for result in translated))
    for corpus, pairs in corpora.items():
        targets = [target for _, target in pairs]
        for model in models:
            likelihood = total_likelihood(predicted[model.name, corpus])
            record: TableRow = {
                "file": corpus,
                "pairs": len(pairs),
                "model": model.name,
                "perplexity": likelihood.perplexity,
                "bits_per_character": likelihood.bits_per_character,
                "searches": [],
            }
            for result in translated:
                if (result.model, result.corpus) != (model, corpus):
                    continue
                bleu, chrf = corpus_scores(result.translations, targets)
                signatures |= {score.metric: score.signature for score in (bleu, chrf)}
                low, high = interval(resampled_bleu(sentence_counts(result.translations, targets)))
                record["searches"].append(
                    {
                        "beam": result.beam,
                        "bleu": bleu.value,
                        "bleu_low": low,
                        "bleu_high": high,
                        "chrf2": chrf.value,
                        "sentences_per_second": len(pairs) / result.seconds,
                    }
                )
            records.append(record)
            rows.append(
                [corpus, model.name, table_number(len(pairs), 0)]
                + [table_number(search[key]) for key in ("bleu", "chrf2") for search in record["searches"]]
                + [table_number(likelihood.perplexity, 2), table_number(likelihood.bits_per_character, 3)]
                + [table_number(search["sentences_per_second"], 0) for search in record["searches"]]
            )
    columns = ["file", "model", "pairs"]
    columns += [f"{metric} {beam_name(beam)}" for metric in ("BLEU", "chrF2") for beam in beams]
    columns += ["perplexity", "bits per character"] + [f"sentences/s {beam_name(beam)}" for beam in beams]
    note = (
        "sacrebleu computed these scores on detokenised, cased text: "
        + "; ".join(f"{metric} `{signature}`" for metric, signature in signatures.items())
        + ". Perplexity is per piece, so it is comparable only between models with the same tokenizer. Bits a "
        "character are comparable between all models. "
        + speed_note(models[0].translator.device.type, torch.get_num_threads())
    )
    return Section("scores", "Scores", records, markdown_table(columns, rows, 2), "pairs", notes=[note])


def by_length_section(
    corpora: Mapping[str, TextPairs], translated: Sequence[TranslatedCorpus], predicted: Predicted
) -> Section:
    """Return BLEU by source length, over all files together, of each model with its widest beam."""
    beam = max(result.beam for result in translated)
    pairs = [pair for corpus in corpora.values() for pair in corpus]
    translations: dict[str, list[str]] = {}
    for result in translated:
        if result.beam == beam:
            translations.setdefault(result.model.name, []).extend(result.translations)
    likely = {model: [result for corpus in corpora for result in predicted[model, corpus]] for model in translations}
    records = scores_by_length([source for source, _ in pairs], [target for _, target in pairs], translations, likely)
    first, *others = translations
    rows = []
    for label, group in itertools.groupby(records, key=itemgetter("words")):
        inside = list(group)
        rows.append(
            [label, table_number(inside[0]["pairs"], 0)]
            + [table_number(record["bleu"]) + _half_width(record) for record in inside]
            + [_gap(record) for record in inside[1:]]
            + [table_number(record["bits_per_character"], 3) for record in inside]
        )
    columns = ["source words", "pairs", *translations, *(f"{name} {MINUS} {first}" for name in others)]
    columns += [f"bits per character, {name}" for name in translations]
    note = "The number after ± is half the width of the 95% interval from 1,000 resamplings of the sentences"
    note += "; brackets hold the 95% interval of the difference, from a paired bootstrap" if others else ""
    note += f". Rows with fewer than {FEWEST} sentences have no interval."
    digits = {"mean_words": 2, "length_ratio": 4, "bits_per_character": 4}
    records = [
        {name: round(value, digits.get(name, 3)) if isinstance(value, float) else value for name, value in row.items()}
        for row in records
    ]
    title = f"BLEU by source length, {beam_name(beam)}"
    return Section("by_length", title, records, markdown_table(columns, rows), "pairs", ("--by-length",), [note])


def _half_width(record: TableRow) -> str:
    return "" if record["bleu_low"] is None else f" ±{(record['bleu_high'] - record['bleu_low']) / 2:.1f}"


def _gap(record: TableRow) -> str:
    gap, low, high = (
        table_number(record[name], signed=True) for name in ("difference", "difference_low", "difference_high")
    )
    return gap if record["difference_low"] is None else f"{gap} [{low}, {high}]"


def tuning_section(model: Model, corpora: Mapping[str, TextPairs], progress: Advance) -> Section:
    """Return mean BLEU over the files for each beam width and length penalty, the best in bold."""
    trials = tune(model.translator, corpora, progress=progress)
    best = best_trial(trials)
    penalties = list(dict.fromkeys(trial.length_penalty for trial in trials))
    rows = []
    for beam in dict.fromkeys(trial.beam for trial in trials):
        beam_trials = [trial for trial in trials if trial.beam == beam]
        cells = [f"**{table_number(t.bleu, 2)}**" if t is best else table_number(t.bleu, 2) for t in beam_trials]
        rows.append([beam_name(beam), *cells, table_number(beam_trials[0].sentences_per_second, 0)])
    columns = ["search \\ length penalty", *(f"{penalty:.1f}" for penalty in penalties), "sentences/s"]
    note = (
        f"Best for {model.name}: {beam_name(best.beam)}, length penalty {best.length_penalty:.1f} (mean BLEU "
        f"{best.bleu:.2f}: {', '.join(f'{file} {bleu:.2f}' for file, bleu in best.by_file.items())})."
    )
    records = [{"model": model.name, **asdict(trial), "best": trial is best} for trial in trials]
    title = f"Beam width and length penalty, {model.name}"
    return Section("tuning", title, records, markdown_table(columns, rows), "pairs", ("--tune",), [note])


def _literal(text: str) -> str:
    """Return `text` escaped for Markdown."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", text)


def sentence_section(models: Sequence[Model], beams: Sequence[int], length_penalty: float) -> Section:
    """Return every model's translations of the sentences `FIGURE_3` and `LONG`."""
    texts = [*FIGURE_3, *LONG]
    translations_by_search = {
        (model.name, beam): model.translator.translate_batch(texts, beam=beam, length_penalty=length_penalty)
        for model in models
        for beam in beams
    }
    records, lines = [], []
    for place, text in enumerate(texts):
        lines.append(f"- {text}")
        for (name, beam), translations in translations_by_search.items():
            records.append({"source": text, "model": name, "beam": beam, "translation": translations[place]})
            label = beam_name(beam) if len(models) == 1 else f"{name}, {beam_name(beam)}"
            lines.append(f"  - {label}: {_literal(translations[place])}")
    title = "The paper's sentences, and long ones"
    return Section("sentences", title, records, "\n".join(lines), "none", ("--sentences",))


def training_cost(folder: Path) -> TableRow:
    """Return updates, pieces and seconds of training, by name of their column; None each where there is no log.

    They are in the last row of the training log, in the model's folder or beside it in the folder of a run.
    """
    path = folder / TRAINING_LOG
    path = path if path.is_file() else folder.parent / "log.csv"
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            *_, row = csv.DictReader(file)
        return {
            "training_updates": int(row["update"]),
            "training_pieces": int(row["tokens"]),
            "training_seconds": float(row["seconds"]),
        }
    except (OSError, csv.Error, KeyError, ValueError, TypeError):  # no log, or an empty one
        return dict.fromkeys(("training_updates", "training_pieces", "training_seconds"))


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


def detection_section(judges: Sequence[Judge], corpora: Mapping[str, TextPairs], progress: Advance) -> Section:
    """Return the accuracy on the pairs of each file, and on each kind of negative made from them."""
    records, rows = [], []
    for corpus, pairs in corpora.items():
        for judge in judges:
            record = _judged(judge, pairs, progress)
            records.append({"file": corpus, "model": judge.name, **record})
            cells = [
                table_number(100 * kind_result["accuracy"]) if kind_result["pairs"] else "–"
                for kind_result in record["kinds"]
            ]
            counts = " / ".join(table_number(kind_result["pairs"], 0) for kind_result in record["kinds"])
            rows.append([corpus, judge.name, counts, *cells, table_number(1000 * record["seconds_per_pair"], 2)])
    columns = [
        "file",
        "detector",
        "pairs of each kind",
        *(f"{kind}, %" for kind in (TRANSLATION_CLASS, *NEGATIVE_KINDS)),
        "ms a pair",
    ]
    notes = [_NOTE, speed_note(judges[0].detector.device.type, torch.get_num_threads())]
    return Section("detection", "Translations detected", records, markdown_table(columns, rows, 3), "pairs", (), notes)


def _judged(judge: Judge, pairs: TextPairs, progress: Advance) -> TableRow:
    """Return accuracy by kind, the counts, and the time for each translation."""
    detector, negatives, random = judge.detector, judge.negatives(), np.random.default_rng(0)
    sides = [[[*ids, EOS] for ids in detector.tokenizer.encode_batch(list(side))] for side in zip(*pairs, strict=True)]
    encoded: list[EncodedSentences] = list(zip(*sides, strict=True))
    encoded.sort(key=lambda pair: (len(pair[1]), len(pair[0])))  # negatives pair targets of similar length
    groups = {TRANSLATION_CLASS: encoded}
    for kind in NEGATIVE_KINDS:
        negative_pairs = (negatives.make(kind, encoded, index, random) for index in range(len(encoded)))
        groups[kind] = [pair for pair in negative_pairs if pair]
    kinds, seconds = [], 0.0
    for kind, group in groups.items():
        started = time.perf_counter()
        is_translation = detector.judge_ids(group) > 0.5
        if kind == TRANSLATION_CLASS:
            seconds = time.perf_counter() - started
        right = is_translation if kind == TRANSLATION_CLASS else ~is_translation
        kinds.append({"kind": kind, "pairs": len(group), "accuracy": float(right.mean()) if len(group) else None})
    progress(len(pairs))
    return {"kinds": kinds, "seconds_per_pair": seconds / max(1, len(encoded))}
