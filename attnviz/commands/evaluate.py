"""The command `attnviz evaluate`: measure models on files, and print the sections of a report.

`attnviz.evaluation` measures, `attnviz.figures.why_attention_figure` draws the figure. This module chooses files,
models, sections and the output form: text, Markdown or JSON.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter
from cyclopts.validators import Number, mutually_exclusive

from attnviz.bounds import WIDEST_BEAM
from attnviz.commands.options import (
    AS_INPUT,
    AS_MODEL,
    OUTPUT_OPTIONS,
    Device,
    FilePath,
    Output,
    Positive,
    Scorers,
    Several,
    SkipMalformed,
    Unescape,
)
from attnviz.commands.shared import (
    check_suffix,
    counted,
    model_text,
    printing_to,
    progress,
    report,
    report_escapes,
    report_unused_scorers,
    write_rows,
)
from attnviz.errors import AttnvizError
from attnviz.files import replace_text
from attnviz.installed_models import find_model

if TYPE_CHECKING:
    from cyclopts import Token

    from attnviz.evaluation.alignment import GoldAlignment
    from attnviz.evaluation.compared_models import Model
    from attnviz.evaluation.forced import Advance
    from attnviz.evaluation.measurement_tables import Section, TableRow
    from attnviz.evaluation.report import Judge
    from attnviz.pair_files import Skipped

Corpora = dict[str, list[tuple[str, str]]]
Gold = dict[str, "list[GoldAlignment]"]
SkippedLines = dict[str, "list[Skipped]"]


_ONE_FORM = Group(validator=mutually_exclusive)


def _beams(_: Any, tokens: Sequence[Token]) -> tuple[int, ...]:
    """Return the beam widths of a list such as 1,5."""
    parts = tokens[0].value.split(",")
    if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= WIDEST_BEAM for part in parts):
        raise ValueError(f"must be whole numbers from 1 to {WIDEST_BEAM}, separated by commas")
    return tuple(dict.fromkeys(map(int, parts)))


@OUTPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """Which models are measured, how, and what is reported."""

    models: Annotated[tuple[str, ...], Several, AS_MODEL, Parameter(name="--model", metavar="NAME|FOLDER")] = ()
    """name of an installed model, or folder of a model; repeat the option for several models; without it, the first
    that `attnviz models` lists"""
    device: Device = "auto"
    beams: Annotated[
        tuple[int, ...], AS_MODEL, Parameter(name="--beam", converter=_beams, n_tokens=1, metavar="N,N")
    ] = (1, 5)
    """beam widths to evaluate; width 1 is greedy search"""
    length_penalty: Annotated[float, AS_MODEL, Parameter(validator=Number(gte=0, lte=10), metavar="X")] = 1.0
    """length penalty: the score of a hypothesis is its log probability divided by its length to the power X"""
    scorer: Scorers = ()
    limit: Annotated[Positive | None, AS_INPUT] = None
    """use only the first N pairs of each file"""
    skip_malformed: SkipMalformed = False
    unescape: Unescape = False
    by_length: bool = False
    """also report BLEU by source length, over all files together, with the largest beam width"""
    csv: FilePath | None = None
    """write the table of BLEU by length to this file"""
    figure: FilePath | None = None
    """write a chart of BLEU by source length to this file: .html, or .json for Plotly"""
    threshold_from: Annotated[tuple[Path, ...], Several, AS_INPUT] = ()
    """file of gold links (.jsonl) on which the best threshold for attention links is chosen; may be repeated"""
    heads: bool = False
    """also report the alignment error rate of every head of a transformer"""
    heads_csv: FilePath | None = None
    """write the alignment error rates of all heads to this file, as CSV"""
    tune: bool = False
    """compare beam widths and length penalties on the given files, instead of printing the report"""
    sentences: bool = False
    """also translate the sentences of the paper (Bahdanau et al.) and some long sentences"""
    json: Annotated[bool, Parameter(group=(OUTPUT_OPTIONS.group[0], _ONE_FORM))] = False
    """print all numbers as one JSON object"""
    markdown: Annotated[bool, Parameter(group=(OUTPUT_OPTIONS.group[0], _ONE_FORM))] = False
    """print Markdown, with a heading and the command above each table"""
    output: Output | None = None
    """file to write the report to"""

    @property
    def folders(self) -> list[Path]:
        """The folders of the models; raises AttnvizError where there is none."""
        return [find_model(model) for model in self.models or (None,)]


def evaluate_command(*files: Annotated[Path, AS_INPUT], options: _Options = _Options()) -> None:
    """Measure models: BLEU, chrF, perplexity, alignment error, speed; of detectors, accuracy.

    Args:
        files: files to evaluate on: .tsv or .tsv.xz with one source<TAB>reference per line, or .jsonl with gold links
    """
    _check(files, options)
    folders = options.folders
    pairs, skipped, gold, choosing = _read(files, options)
    with progress("sentence") as bar:
        models, judges = _load(folders, options.device)
        report_unused_scorers(options.scorer, [model.translator for model in models])
        if judges and (options.tune or options.by_length or options.sentences):
            raise AttnvizError(
                f"The model {judges[0].folder} does not translate. Leave out --tune, --by-length and --sentences."
            )
        if options.tune:
            from attnviz.evaluation.report import tuning_section

            sections = [tuning_section(model, pairs, bar.update) for model in models]
        else:
            sections = _measure(models, judges, pairs, gold, choosing, files, options, bar.update)
    if skipped:
        from attnviz.evaluation.report import skipped_section

        sections.append(skipped_section(skipped))
    with printing_to(options.output):
        print(_rendered(sections, files, options))


def _is_gold(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl"


def _check(files: Sequence[Path], options: _Options) -> None:
    paired = any(not _is_gold(path) for path in files)
    if not files and not options.sentences:
        raise AttnvizError(
            "There is no file to evaluate on. Give a file of sentence pairs (.tsv) or gold links (.jsonl)."
        )
    if (options.by_length or options.tune) and not paired:
        raise AttnvizError("The options --by-length and --tune need a file of sentence pairs. Add such a file.")
    if (options.csv or options.figure) and not options.by_length:
        raise AttnvizError("The options --csv and --figure write the table of BLEU by length. Add --by-length.")
    check_suffix(options.figure, ".html", ".json")
    if options.heads and not any(map(_is_gold, files)):
        raise AttnvizError("The option --heads needs a file of gold links (.jsonl). Add such a file.")
    if options.heads_csv and not options.heads:
        raise AttnvizError("The option --heads-csv writes the table that --heads computes. Add --heads.")
    if options.threshold_from and not any(map(_is_gold, files)):
        raise AttnvizError(
            "The option --threshold-from also needs a file of gold links (.jsonl) to evaluate on. Add such a file."
        )


def _read(files: Sequence[Path], options: _Options) -> tuple[Corpora, SkippedLines, Gold, Gold]:
    """Return, by file: pairs, skipped lines, gold links to report on, and gold links to choose the threshold on."""
    from attnviz.pair_files import read_pairs

    pairs: Corpora = {}
    skipped: SkippedLines = {}
    for path in files:
        if not _is_gold(path):
            file_pairs = read_pairs(path, skip_malformed=options.skip_malformed)
            label = _label(path, pairs)
            pairs[label] = [
                (
                    model_text(source, unescape=options.unescape),
                    model_text(target, unescape=options.unescape),
                )
                for source, target in file_pairs.pairs[: options.limit]
            ]
            if not options.unescape:
                report_escapes(enumerate(map(" ".join, pairs[label]), 1), f"{path}: pair")
            if file_pairs.skipped:
                skipped[label] = file_pairs.skipped
                report(f"{path}: {counted(len(file_pairs.skipped), 'line')} skipped")
    gold = _read_gold([path for path in files if _is_gold(path)], options.limit)
    return pairs, skipped, gold, _read_gold(options.threshold_from, None)


def _read_gold(paths: Sequence[Path], limit: int | None) -> Gold:
    if not paths:
        return {}
    from attnviz.evaluation.alignment import read_gold

    gold: Gold = {}
    for path in paths:
        gold[_label(path, gold)] = read_gold(path)[:limit]
    return gold


def _label(path: Path, labels: Container[str]) -> str:
    """Return the last part of `path`, or all of it where another file has the same last part."""
    from attnviz.evaluation.measurement_tables import short

    return str(path) if short(path) in labels else short(path)


def _load(folders: Sequence[Path], device: str) -> tuple[list[Model], list[Judge]]:
    """Return the translators and the detectors in `folders`.

    Each is named after its folder, or after the run where the folder is a run's `model`.
    """
    from attnviz.detector import Detector
    from attnviz.evaluation.compared_models import Model
    from attnviz.evaluation.report import Judge
    from attnviz.model_folder import TRAINED_MODEL, architecture
    from attnviz.translator import Translator

    models: list[Model] = []
    judges: list[Judge] = []
    for folder in folders:
        resolved, warm_up = folder.resolve(), "What is computed first takes longer."  # untimed warm-up
        name = resolved.parent.name if resolved.name == TRAINED_MODEL else resolved.name
        name = str(folder) if name in {one.name for one in models} | {one.name for one in judges} else name
        if architecture(folder) == "decomposable":
            detector = Detector.load(folder, device=device)
            detector.judge_batch([(warm_up, warm_up)])
            judges.append(Judge(name, folder, detector))
        else:
            translator = Translator.load(folder, device=device)
            translator.translate_batch([warm_up])
            models.append(Model(name, folder, translator))
    return models, judges


def _measure(
    models: Sequence[Model],
    judges: Sequence[Judge],
    pairs: Corpora,
    gold: Gold,
    choosing: Gold,
    files: Sequence[Path],
    options: _Options,
    progress: Advance,
) -> list[Section]:
    from attnviz.evaluation import compared_models as measured
    from attnviz.evaluation import report

    sections = []
    if files:
        sections += [report.model_section(models)] if models else []
        sections += [report.detector_section(judges)] if judges else []
    if pairs and judges:
        sections.append(report.detection_section(judges, pairs, progress))
    if pairs and models:
        translated = measured.translate_all(models, pairs, options.beams, options.length_penalty, progress)
        predicted = measured.predict_all(models, pairs, progress)
        sections.append(report.score_section(models, pairs, translated, predicted))
        if options.by_length:
            sections.append(report.by_length_section(pairs, translated, predicted))
            _write(sections[-1].records, options)
    if gold:
        from attnviz.evaluation.alignment_report import HEADS_COLUMNS, alignment_section, heads_table

        sections.append(alignment_section(models, gold, choosing, progress, judges, heads=options.heads))
        if options.heads_csv:
            write_rows(options.heads_csv, heads_table(sections[-1]), HEADS_COLUMNS)
    if options.sentences:
        sections.append(report.sentence_section(models, options.beams, options.length_penalty))
    return sections


def _write(records: Sequence[TableRow], options: _Options) -> None:
    """Write the requested CSV and figure; raise AttnvizError where that fails."""
    if options.csv:
        write_rows(options.csv, records, list(records[0]))
    if options.figure:
        from attnviz.figures.why_attention_figure import bleu_by_length

        figure = bleu_by_length(records).figure()
        is_json = options.figure.suffix.lower() == ".json"
        replace_text(options.figure, figure.to_json() + "\n" if is_json else figure.to_html(include_plotlyjs=True))


def _rendered(sections: Sequence[Section], files: Sequence[Path], options: _Options) -> str:
    if options.json:
        records: dict[str, list[object]] = {}
        for section in sections:
            records.setdefault(section.key, []).extend(section.records)
        return json.dumps(records, ensure_ascii=False, indent=2)
    if options.markdown:
        return "\n\n".join(section.markdown(_command(section, files, options)) for section in sections)
    return "\n\n".join(section.text() for section in sections)


def _command(section: Section, files: Sequence[Path], options: _Options) -> str:
    """Return the command that prints this section, without options that do not affect it."""
    from attnviz.evaluation.measurement_tables import command_line, short

    own = [path for path in files if section.kind == ("gold" if _is_gold(path) else "pairs")]
    if section.key in ("models", "detectors"):
        own = list(files)
    words: list[str] = []
    if section.key in ("scores", "by_length", "sentences"):
        words += ["--beam", ",".join(map(str, options.beams))]
        words += ["--length-penalty", f"{options.length_penalty:g}"]
    if section.kind != "none" and options.limit:
        words += ["--limit", str(options.limit)]
    if section.kind == "pairs" and options.unescape:
        words += ["--unescape"]
    if section.kind == "gold":
        words += [word for path in options.threshold_from for word in ("--threshold-from", short(path))]
        words += ["--heads"] if options.heads else []
    return command_line(own, options.folders, [*words, *section.switches])
