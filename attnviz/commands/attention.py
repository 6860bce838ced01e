"""The command `attnviz attention`: describe, draw, convert, measure or compare attention files of other programs."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from attnviz.commands.options import (
    AS_INPUT,
    OUTPUT_OPTIONS,
    FileNames,
    FileOrLinks,
    FilePath,
    Output,
    Positive,
    ReadingOptions,
)
from attnviz.commands.shared import (
    check_outputs,
    check_suffix,
    gold_from,
    gold_links_for,
    option_that_reads,
    print_pairs,
    report,
    report_escapes,
    report_more,
    with_gold_tokens,
    write_pairs,
)
from attnviz.errors import AttnvizError
from attnviz.evaluation.measurement_tables import table_number
from attnviz.files import replace_bytes
from attnviz.trace.drawing import DetailLevel

if TYPE_CHECKING:
    from attnviz.analysis.measures import PairAgreement
    from attnviz.evaluation.two_files import LinkAgreement
    from attnviz.importing.records import AttentionRecords
    from attnviz.importing.sentence_pair import Options
    from attnviz.trace import Attention
    from attnviz.trace.word_link_text import Link

_DRAWN = ("svg", "png", "pdf", "html", "csv", "tex")
"""File suffixes of outputs with one pair."""
TABLE_ENDINGS = (".csv", ".parquet")
"""File suffixes of tables of measures."""
_NAMED = 10
"""Number of pairs without a record that are named."""
_TRIED = 1000
"""Number of damaged pairs after which a file is refused if no pair before them can be read."""
_SHOWN = 3
"""Number of pairs printed where no file is written."""


@OUTPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """What becomes of the files."""

    output: Output | None = None
    """file to write: .svg, .png, .pdf, .html, .csv, .tex and .npz hold one pair; .json, .pharaoh, .naacl and .parquet
    hold one or all pairs, as .csv does for a file of links; .json, .npz and .parquet have the weights of every layer
    and head"""
    sentence: Annotated[Positive | None, AS_INPUT] = None
    """number of the sentence pair in the file, counted from 1"""
    compare: Annotated[str | None, AS_INPUT, Parameter(metavar="OTHER")] = None
    """file of another program for the same sentence pairs, in any known format: print the links that only one of them
    has and the error rate between them; -o writes them as .csv or .json, or one pair of heatmaps and their difference
    as .svg, .png or .pdf"""
    table: FilePath | None = None
    """table of measures to write, with a row for each pair: entropy, words without a link, words whose links are one
    word off …; .parquet, which the page Corpus opens, or .csv"""
    gold: Annotated[FileOrLinks | None, AS_INPUT] = None
    """gold links (links marked by hand) to draw in .svg, .png, .pdf and .html, and a file of which gives the error
    rate of each pair in --table: a file in any known format, or links such as 0-0 1?2: source word, sign, target word,
    counted from 0; the sign is - for a sure link, ? for a possible link"""
    level: DetailLevel = "numbers"
    """level of detail of .html: idea, numbers or everything; each has all of those before it"""

    @property
    def ending(self) -> str:
        """The ending of the file to write, without the dot; empty where none is written."""
        return "" if self.output is None else self.output.suffix.removeprefix(".").lower()


def open_records(
    names: Sequence[str],
    reading: ReadingOptions,
    outputs: Sequence[Path | None] = (),
    *,
    gold: AttentionRecords | str | None = None,
    attributions: bool = False,
) -> AttentionRecords:
    """Return the records of the files that `names` stand for.

    The model in a folder reads the sentences of the `gold` file where the options give no others, and with
    `attributions` also computes those. Raise AttnvizError where a file cannot be read, or is also one of the `outputs`.
    """
    from attnviz.corpora.corpus_lines import local_files, source_files
    from attnviz.importing.attention_reader import is_part, read_attention
    from attnviz.importing.huggingface_model import is_model_folder

    if len(names) == 1 and is_model_folder(names[0]):
        sentences = _sentences(reading, gold)
        if gold and sentences["target"] is None:
            report(
                "The model writes its own translations, because the gold links come without target words. If they are "
                "of other translations, add --target-file."
            )
        return read_attention(names[0], **vars(reading) | sentences, attributions=attributions)
    with local_files(source_files(names, is_part)) as files:
        check_outputs(filter(None, outputs), files)
        return read_attention(files, **vars(reading))


def _sentences(reading: ReadingOptions, gold: AttentionRecords | str | None) -> dict[str, Path | list[str] | None]:
    """Return the source and target sentences of the options, or else of a gold file whose pairs all have words."""
    from attnviz.evaluation.file_links import joined_words
    from attnviz.importing.records import AttentionRecords
    from attnviz.trace.tokens import detokenise

    found: dict[str, Path | list[str] | None] = {"source": reading.source, "target": reading.target}
    if not isinstance(gold, AttentionRecords):
        return found
    for place, side in enumerate(found):
        words = [joined_words(gold.tokens(index)[place]) for index in range(len(gold))]
        if found[side] is None and all(words):
            found[side] = [detokenise(one or ()) for one in words]
            report(f"The {side} sentences are those of the gold file.")
    return found


def attention_command(
    *files: FileNames,
    options: _Options = _Options(),
    reading: ReadingOptions = ReadingOptions(),
) -> None:
    """Read the attention or word links of another program: describe, draw or convert them.

    Args:
        files: file with attention weights or word links, in any known format; it may be compressed as .gz. Several
            files of one format, a folder, a pattern such as 'part-*.log' or an address such as s3://bucket/part-1.log
            are read as one file. The folder of a Hugging Face model is run on the sentences of --source-file
    """
    from attnviz.export.attention_files import ATTENTION_FILE_ENDINGS, attention_file_content
    from attnviz.export.saved_files import GOLD_ENDINGS, FigureOptions, check_ending, save

    if options.compare:
        _compare_files(files, options.compare, options, reading)
        return
    ending = options.ending
    if options.output is not None and ending not in ATTENTION_FILE_ENDINGS:
        check_ending(options.output)
    marks_gold = ending in GOLD_ENDINGS
    if options.gold and not marks_gold and not options.table:
        raise AttnvizError(
            f"Gold links are drawn in files that end in {', '.join(f'.{one}' for one in GOLD_ENDINGS)}, and counted in "
            "--table. Give -o such a name, add --table, or use the command score."
        )
    check_suffix(options.table, *TABLE_ENDINGS)
    gold = gold_from(options.gold, reading.encoding) if options.gold else None
    records = with_gold_tokens(open_records(files, reading, (options.output, options.table), gold=gold), gold)
    print_format(records)
    if options.table is not None:
        with _naming_options(records, options):
            write_table(records, options.table, [gold] if isinstance(gold, str) else gold)
        if not ending:
            _print_unread(records, range(len(records)))
            return
    draws = ending in _DRAWN and not (ending == "csv" and _has_links(records))
    with _naming_options(records, options):
        chosen = _chosen(records, options, draws=draws)
    filled = [record for record in chosen if record is not None]
    print_remarks(filled)
    if not reading.unescape:
        numbered = enumerate(chosen, options.sentence or 1)
        report_escapes(
            ((number, f"{one.source_text} {one.translation}") for number, one in numbered if one is not None), "Pair"
        )
    _print_unread(records, range(len(chosen)) if len(chosen) > 1 else ())
    if options.output is None:
        _print(records, chosen)
    elif draws:
        marked = gold_links_for(filled[0], gold, records, options.sentence or 1) if gold and marks_gold else None
        save(filled[0], options.output, FigureOptions(gold=marked, level=options.level))
    else:
        replace_bytes(options.output, attention_file_content(chosen, ending, options.sentence or 1))
        if ending == "pharaoh":
            _print_empty(filled)


@contextlib.contextmanager
def _naming_options(records: AttentionRecords, options: _Options) -> Iterator[None]:
    """End the message of an AttnvizError with the options that fix how the chosen or the first faulty pair is read."""
    try:
        yield
    except AttnvizError as error:
        index = (options.sentence or next(iter(records.problems), 0) + 1) - 1
        if not index < len(records):
            raise
        raise AttnvizError(f"{error} {_advice(records, index)}".strip()) from error


def _advice(records: AttentionRecords, index: int) -> str:
    """Return a sentence that names the options with which a pair can be read; empty where there are none."""
    if None in records.tokens(index):
        return "What a file lacks is given by --source-file and --target-file."

    def read(options: Options) -> Attention:
        return dataclasses.replace(records, options=options)[index]

    transposed = dataclasses.replace(records.options, transpose=True)
    normalised = dataclasses.replace(records.options, normalise=True)
    return option_that_reads({"--transpose": lambda: read(transposed), "--normalise": lambda: read(normalised)})


def write_table(records: AttentionRecords, path: Path, gold: Any = None) -> int:
    """Write the measures of every pair to a .csv or .parquet file, and return the number of its rows.

    The forms of `gold` are those of `alignment_error`. Raise AttnvizError where that fails.
    """
    from pyarrow import csv, parquet

    from attnviz.corpora.measured_attention import plain_columns, table_of_attention
    from attnviz.evaluation.scoring import by_record, score
    from attnviz.files import replacing

    scored = score(records, gold) if gold else None
    table = table_of_attention(records, by_record(scored.error.sentences, scored.places) if scored else ())
    report(*(scored.remarks if scored else ()))
    with replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            csv.write_csv(plain_columns(table), temporary)
        else:
            parquet.write_table(table, temporary, compression="zstd")
    rows: int = table.num_rows
    return rows


def print_format(records: AttentionRecords, name: str = "") -> None:
    """Print to standard error the format of a file, and why it was detected."""
    from attnviz.importing.records import format_sentence

    sentence = format_sentence(records)
    report(f"{name}: {sentence}" if name else sentence)


def print_remarks(records: list[Attention]) -> None:
    """Print to standard error what was inferred or assumed, each remark once, with the number of pairs it holds for."""
    from attnviz.analysis.imported_file_texts import attention_heads_text, gold_links_sentence, remark_sentences
    from attnviz.languages import gettext

    counts_by_remark: dict[str, int] = {}
    for record in records:
        heads = [gettext("Shown: {heads}.", heads=shown)] if (shown := attention_heads_text(record)) else []
        for remark in [*remark_sentences(dataclasses.replace(record, sure=(), possible=())), *heads]:
            counts_by_remark[remark] = counts_by_remark.get(remark, 0) + 1
    if drawn := [record for record in records if record.sure or record.possible]:
        counts = (sum(len(record.sure) for record in drawn), sum(len(record.possible) for record in drawn))
        counts_by_remark[gold_links_sentence(*counts)] = len(drawn)
    for remark, count in counts_by_remark.items():
        part = "" if count == len(records) else gettext(" ({count} of {all} pairs)", count=count, all=len(records))
        report(f"{remark}{part}")


def _has_links(records: AttentionRecords) -> bool:
    """Return whether a file has links instead of weights: then .csv holds the links of all pairs."""
    return all(pair.links is not None for pair in records.pairs)


def _chosen(records: AttentionRecords, options: _Options, *, draws: bool) -> list[Attention | None]:
    """Return the chosen records: that of --sentence, the first for a picture, or all, with None for blank pairs."""
    if options.sentence is not None:
        records.pair_numbered(options.sentence)
        return [records[options.sentence - 1]]
    if draws:
        if len(records) > 1:
            report(f"The figure shows sentence pair 1 of {len(records)}; choose another pair with --sentence.")
        return [records[0]]
    chosen: list[Attention | None] = []
    for index in range(len(records)):
        chosen.append(records.filled(index))
        if index in records.problems and len(records.problems) == _TRIED and not any(chosen):
            break
    if records.problems and not any(chosen):
        raise AttnvizError(next(iter(records.problems.values())))
    return chosen


def _print(records: AttentionRecords, chosen: list[Attention | None]) -> None:
    """Print sentences and links of the first pairs."""
    from attnviz.analysis.gold import links_text

    for record in chosen[:_SHOWN]:
        parts = ("", "", "") if record is None else (record.source_text, record.translation, links_text(record))
        print("\t".join(parts))
    report_more(len(chosen), _SHOWN, f" of the {len(records)} sentence pairs")


def _print_unread(records: AttentionRecords, indices: Sequence[int]) -> None:
    """Print which pairs are blank lines or damaged."""
    from attnviz.text import abbreviated

    if blank := [index + 1 for index in indices if records.is_blank(index)]:
        report(
            f"{len(blank)} of {len(records)} pairs have a blank line as source or target, and no links: "
            f"{abbreviated(blank)}."
        )
    problems = list(records.problems.values())
    report(*(f"Left out: {problem}" for problem in problems[:_NAMED]))
    report_more(len(problems), _NAMED, " pairs that cannot be read")


def _print_empty(records: list[Attention]) -> None:
    """Print how many pairs have no link, because each row has its largest weight at `</s>`, or no weight."""
    from attnviz.analysis.gold import links_text

    empty = sum(not links_text(record) for record in records)
    if empty:
        report(
            f"{empty} of {len(records)} pairs have no links: their target words are linked to nothing, or attend "
            "most to </s>."
        )


_LONGEST = 40
"""Characters of the links of a pair that are printed; a file has all."""
_TABLES, _PICTURES = ("csv", "json"), ("svg", "png", "pdf")


def _compare_files(files: Sequence[str], compared: str, options: _Options, reading: ReadingOptions) -> None:
    """Print or write the comparison; raise AttnvizError where the files cannot be read, compared or written."""
    from attnviz.evaluation.two_files import link_agreement, with_tokens_of

    ending = options.ending
    check_suffix(options.output, *(f".{one}" for one in (*_TABLES, *_PICTURES)))
    if options.table or options.gold:
        raise AttnvizError("Leave out --table and --gold where two files are compared.")
    first, other = (open_records(names, reading, (options.output,)) for names in (files, [compared]))
    first, other = with_tokens_of(first, other), with_tokens_of(other, first)
    for records, name in ((first, " ".join(files)), (other, compared)):
        print_format(records, name)
    agreement = link_agreement(first, other)
    report(*agreement.remarks)
    if options.sentence is not None:
        first.pair_numbered(options.sentence)
    names = (Path(files[0]).name, Path(compared).name)
    chosen = [
        index
        for index, place in enumerate(agreement.places)
        if options.sentence is None or place == options.sentence - 1
    ]
    if not chosen:
        raise AttnvizError(f"{compared} lacks sentence pair {options.sentence} of the file.")
    if options.output is None:
        _print_agreement(agreement, chosen, names)
    elif ending in _PICTURES:
        place, index = next((place, index) for index in chosen if (place := agreement.places[index]) is not None)
        _draw((first[place], other[index]), names, options.output, ending)
    else:
        rows = [_fields(agreement.numbers[index], agreement.pairs[index]) for index in chosen]
        write_pairs(options.output, rows, {"aer": agreement.aer})


def _print_agreement(agreement: LinkAgreement, chosen: Sequence[int], names: tuple[str, str]) -> None:
    rows = [_row(str(agreement.numbers[index]), agreement.pairs[index]) for index in chosen]
    total = list[list[str]]()
    if len(chosen) > 1:
        sums = [
            sum(len(getattr(pair, name)) for pair in agreement.pairs) for name in ("shared", "only_first", "only_other")
        ]
        total.append(["all", *map(str, sums), table_number(agreement.aer, 3)])
    print_pairs(["pair", "both", f"only {names[0]}", f"only {names[1]}", "AER"], rows, total)
    print(f"\nAlignment error rate (AER) between the files: {table_number(agreement.aer, 3)}.")


def _row(name: str, pair: PairAgreement) -> list[str]:
    links = (str(len(pair.shared)), _shortened(pair.only_first), _shortened(pair.only_other))
    return [name, *links, table_number(pair.aer, 3)]


def _text(links: frozenset[Link]) -> str:
    return " ".join(f"{j}-{i}" for j, i in sorted(links))


def _shortened(links: frozenset[Link]) -> str:
    """Return the links as text, or as many as fit, and how many there are."""
    text = _text(links)
    if len(text) <= _LONGEST:
        return text or "–"
    return f"{text[:_LONGEST].rpartition(' ')[0]} … ({len(links)})"


def _fields(number: int, pair: PairAgreement) -> dict[str, Any]:
    return {
        "pair": number,
        "both": _text(pair.shared),
        "only_first": _text(pair.only_first),
        "only_other": _text(pair.only_other),
        "aer": pair.aer,
    }


def _draw(records: tuple[Attention, Attention], names: tuple[str, str], path: Path, ending: str) -> None:
    """Write both heatmaps of a pair and their difference as a picture."""
    from attnviz.analysis.comparison import compare
    from attnviz.export.images import image, translation_sheet
    from attnviz.export.saved_files import IMAGES
    from attnviz.figures.side_by_side_figure import comparison

    spec = comparison(compare(*records), names)
    heading = f"{names[0]} and {names[1]} side by side"
    replace_bytes(path, image(translation_sheet(spec, records[0], heading), IMAGES[ending]))
