"""The command `attnviz score`: score links or attention of any program against gold links, or rank heads by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from attnviz.commands.attention import open_records, print_format
from attnviz.commands.options import (
    AS_OUTPUT,
    INPUT_OPTIONS,
    FileNames,
    FilePath,
    Name,
    Output,
    Positive,
    ReadingOptions,
)
from attnviz.commands.shared import check_suffix, print_pairs, report, write_pairs
from attnviz.errors import AttnvizError
from attnviz.evaluation.measurement_tables import markdown_table, table_number
from attnviz.files import replace_text

if TYPE_CHECKING:
    from attnviz.analysis.measures import LinkScore, WordError
    from attnviz.evaluation.scoring import ScoredLinks
    from attnviz.importing.records import AttentionRecords

_COLUMNS = ("pair", "links", "sure", "AER", "precision", "recall", "F1")
_LINKS = (".pharaoh", ".txt")
"""File suffixes of outputs with links."""
_HEADS = 20
"""Number of heads that are printed; a file has all."""


@INPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """What is scored, and how."""

    gold: FilePath
    """file of gold links, in any format that `attnviz attention` reads"""
    gold_format: Name | None = None
    """format of GOLD, if the detected format is wrong"""
    heads: Annotated[bool, AS_OUTPUT] = False
    """rank the heads of a file with the attention of every layer and head, or of the folder of a Hugging Face model,
    and print the alignment_heads for its config"""
    by: Annotated[Literal["aer", "mutual", "erased"] | None, AS_OUTPUT] = None
    """with --heads: rank heads by the error rate (the default), by links that are the largest of both words, or by
    erasure, the fall of a word's probability without a source word, which the model in a folder computes"""
    reverse: Annotated[str | None, Parameter(metavar="FILE")] = None
    """links or attention of the other direction, from target to source, to be symmetrised with LINKS; its links may
    name source and target in either order"""
    symmetrise: Annotated[
        Literal["intersection", "union", "grow-diag-final-and"] | None, Parameter(alias="--symmetrize")
    ] = None
    """with --reverse: how both directions become one alignment (default: grow-diag-final-and)"""
    errors: Annotated[Positive | None, AS_OUTPUT] = None
    """also print the N most frequent word pairs that are linked without a gold link, or that lack a sure link"""
    samples: Annotated[Positive, AS_OUTPUT] = 1000
    """number of resampled corpora for the bootstrap interval"""
    output: Output | None = None
    """file for the scores of every pair, .csv or .json; with --heads, of every head, .csv, or the alignment_heads,
    .json; with --reverse, also for the symmetrised links, .pharaoh or .txt"""


def score_command(
    *files: FileNames,
    options: _Options,
    reading: ReadingOptions = ReadingOptions(),
) -> None:
    """Score links or attention of any program against gold links: AER, precision, recall, F1.

    Args:
        files: file of links or attention, in any format that `attnviz attention` reads; also several files, a folder
            or a pattern
    """
    from attnviz.evaluation.scoring import score, symmetrise
    from attnviz.importing.attention_reader import read_attention

    _check(options)
    gold = read_attention(options.gold, format=options.gold_format, encoding=reading.encoding)
    links: Any = open_records(files, reading, (options.output,), gold=gold, attributions=options.by == "erased")
    print_format(links, " ".join(files))
    print_format(gold, str(options.gold))
    if options.heads:
        _rank_heads(links, gold, options)
        return
    if options.reverse:
        reverse = open_records([options.reverse], replace(reading, source=None, target=None), (options.output,))
        print_format(reverse, options.reverse)
        links = symmetrise(links, reverse, options.symmetrise or "grow-diag-final-and")
    scored = score(links, gold, samples=options.samples)
    report(*scored.remarks)
    _print_scores(scored)
    if options.errors:
        _print_errors(scored.error.word_errors, options.errors)
    if options.output is None:
        return
    if options.output.suffix.lower() in _LINKS:
        convention = scored.convention
        replace_text(options.output, links.pharaoh(swapped=convention.swapped, base=convention.links_base))
    else:
        _write(options.output, scored, options.errors)


def _check(options: _Options) -> None:
    """Raise AttnvizError for options that do not fit together."""
    check_suffix(options.output, ".csv", ".json", *(_LINKS if options.reverse else ()))
    if options.by and not options.heads:
        raise AttnvizError("--by ranks heads. Add --heads.")
    if options.symmetrise and not options.reverse:
        raise AttnvizError("--symmetrise needs the links of the other direction. Add --reverse FILE.")
    if options.heads and (options.reverse or options.errors):
        raise AttnvizError("--heads ranks heads. Leave out --reverse and --errors.")


def _print_scores(scored: ScoredLinks) -> None:
    """Print the scores of the first pairs, and of all pairs together."""
    error = scored.error
    rows = [_row(str(number), one) for number, one in zip(scored.numbers, error.sentences, strict=True)]
    print_pairs(_COLUMNS, rows, [_row("all", error)])
    low, high = error.interval
    print(
        f"\nAlignment error rate (AER): {error.aer:.3f}; {error.confidence:.0%} bootstrap interval: {low:.3f} to "
        f"{high:.3f}."
    )


def _print_errors(errors: Sequence[WordError] | None, most: int) -> None:
    """Print the most frequent wrong word pairs, or how to name them."""
    if errors is None:
        report("Wrong word pairs cannot be named, because the words are unknown. Add --source-file and --target-file.")
        return
    if not errors:
        print("\nThere are no wrong word pairs.")
        return
    print(f"\nWrong word pairs: the {min(most, len(errors))} most frequent of {len(errors)}.\n")
    rows = [
        [one.source, one.target, "no gold link" if one.linked else "missing link", str(one.count)]
        for one in errors[:most]
    ]
    print(markdown_table(["source", "target", "error", "count"], rows, 3))


def _rank_heads(links: AttentionRecords, gold: AttentionRecords, options: _Options) -> None:
    """Print the heads in the order of the measure, and those whose mean aligns best; write them to a file."""
    from attnviz.evaluation.head_finder import find_heads, head_rows

    found, output = find_heads(links, gold, by=options.by), options.output
    columns = ["rank", "layer", "head", "AER", "precision", "recall", "F1", "mutual", "erased"]
    print(markdown_table(columns, list(head_rows(found, _HEADS)), 1))
    if found.tied > 1:
        print(
            f"\n{found.tied} heads tie for the best value of “{found.by}”; alignment_heads begins with the first of "
            "them, by layer and head. More sentences may tell them apart."
        )
    print(
        "\nLayers and heads count from 0, those of --layer and --head from 1. "
        f"alignment_heads: {json.dumps(found.alignment_heads)}"
    )
    if output is None:
        return
    if output.suffix.lower() == ".json":
        found.save(output)
    else:
        replace_text(output, found.table.to_csv(index_label="rank", lineterminator="\n"))


def _row(name: str, score: LinkScore) -> list[str]:
    rates = score.aer, score.precision, score.recall, score.f1
    return [name, str(score.links), str(score.sure), *(table_number(rate, 3) for rate in rates)]


def _fields(score: LinkScore) -> dict[str, Any]:
    return {
        "links": score.links,
        "sure": score.sure,
        "aer": score.aer,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
    }


def _write(path: Path, scored: ScoredLinks, most: int | None) -> None:
    """Write the scores of every pair; in JSON also those of all pairs, and the `most` frequent wrong word pairs."""
    error = scored.error
    rows = [{"pair": number} | _fields(one) for number, one in zip(scored.numbers, error.sentences, strict=True)]
    whole = _fields(error) | {"interval": error.interval, "confidence": error.confidence}
    if most and error.word_errors is not None:
        whole["errors"] = [asdict(one) for one in error.word_errors[:most]]
    write_pairs(path, rows, whole)
