"""The command `attnviz score`: score links or attention of any program against gold links, or rank heads by them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError
from attnviz.commands.attention import add_file_options, open_records, print_format
from attnviz.commands.shared import positive, rate_text, write_rows
from attnviz.files import replace_text

if TYPE_CHECKING:
    from attnviz.analysis.alignment_error import AlignmentError, LinkScore
    from attnviz.importing.records import AttentionRecords

SUMMARY = "score links or attention of any program against gold links: AER, precision, recall, F1"
_COLUMNS = ("pair", "links", "sure", "AER", "precision", "recall", "F1")
_PRINTED = 20
"""Number of pairs that are printed; a file has all."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = command.add_argument
    add(
        "files",
        nargs="+",
        metavar="LINKS",
        help="file of links or attention, in any format that `attnviz attention` reads; also several files, a folder "
        "or a pattern",
    )
    add(
        "--gold",
        type=Path,
        required=True,
        metavar="GOLD",
        help="file of gold links, in any format that `attnviz attention` reads",
    )
    add_file_options(command)
    add("--gold-format", metavar="NAME", help="format of GOLD, if the detected format is wrong")
    add(
        "--heads",
        action="store_true",
        help="rank the heads of a file with the attention of every layer and head, or of the folder of a Hugging Face "
        "model, and print the alignment_heads for its config",
    )
    add(
        "--by",
        choices=("aer", "mutual", "erased"),
        help="with --heads: rank heads by the error rate (the default), by links that are the largest of both words, "
        "or by erasure, the fall of a word's probability without a source word, which the model in a folder computes",
    )
    add("--samples", type=positive, default=1000, help="number of resampled corpora for the bootstrap interval")
    add(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file for the scores of every pair, .csv or .json; with --heads, of every head, .csv, or the "
        "alignment_heads, .json",
    )


def run(options: argparse.Namespace) -> None:
    """Print the scores of each pair and of all pairs; raise AttnvizError where files cannot be read or compared."""
    from attnviz.evaluation.scoring import score
    from attnviz.evaluation.tables import markdown_table
    from attnviz.importing.attention_reader import read_attention

    if options.output is not None and options.output.suffix not in (".csv", ".json"):
        raise AttnvizError(f"The name of the file {options.output} must end in .csv or .json.")
    if options.by and not options.heads:
        raise AttnvizError("--by ranks heads. Add --heads.")
    links = open_records(options.files, options, attributions=options.by == "erased")
    gold = read_attention(options.gold, format=options.gold_format, encoding=options.encoding)
    print_format(links, " ".join(options.files))
    print_format(gold, str(options.gold))
    if options.heads:
        _rank_heads(links, gold, options)
        return
    scored = score(links, gold, samples=options.samples)
    for remark in scored.remarks:
        print(remark, file=sys.stderr)
    error = scored.error
    rows = [_row(str(number), sentence) for number, sentence in enumerate(error.sentences[:_PRINTED], 1)]
    print(markdown_table(list(_COLUMNS), [*rows, _row("all", error)], 1))
    if len(error.sentences) > _PRINTED:
        print(f"… and {len(error.sentences) - _PRINTED} more pairs; -o FILE writes all of them.", file=sys.stderr)
    low, high = error.interval
    print(
        f"\nAlignment error rate (AER): {error.aer:.3f}; {error.confidence:.0%} bootstrap interval: {low:.3f} to "
        f"{high:.3f}."
    )
    if options.output is not None:
        _write(options.output, error)


def _rank_heads(links: AttentionRecords, gold: AttentionRecords, options: argparse.Namespace) -> None:
    """Print the heads in the order of the measure, and those whose mean aligns best; write them to a file."""
    from attnviz.evaluation.head_finder import find_heads, head_rows
    from attnviz.evaluation.tables import markdown_table

    found, output = find_heads(links, gold, by=options.by), options.output
    columns = ["rank", "layer", "head", "AER", "precision", "recall", "F1", "mutual", "erased"]
    print(markdown_table(columns, list(head_rows(found, _PRINTED)), 1))
    print(f"\nLayers and heads count from 0. alignment_heads: {json.dumps(found.alignment_heads)}")
    if output is None:
        return
    if output.suffix == ".json":
        found.save(output)
    else:
        replace_text(output, found.table.to_csv(index_label="rank", lineterminator="\n"))


def _row(name: str, score: LinkScore) -> list[str]:
    rates = score.aer, score.precision, score.recall, score.f1
    return [name, str(score.links), str(score.sure), *map(rate_text, rates)]


def _fields(score: LinkScore) -> dict[str, Any]:
    return {
        "links": score.links,
        "sure": score.sure,
        "aer": score.aer,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
    }


def _write(path: Path, error: AlignmentError) -> None:
    """Write the scores of every pair, and in JSON also those of all pairs."""
    rows = [{"pair": number} | _fields(one) for number, one in enumerate(error.sentences, 1)]
    if path.suffix == ".json":
        whole = _fields(error) | {"interval": error.interval, "confidence": error.confidence, "pairs": rows}
        replace_text(path, json.dumps(whole, indent=1) + "\n")
    else:
        write_rows(path, rows, ["pair", *_fields(error)])
