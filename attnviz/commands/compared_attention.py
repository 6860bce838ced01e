"""`attnviz attention FILE --compare OTHER`: the links of two programs side by side, and their difference."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError
from attnviz.commands.attention import open_records, print_format
from attnviz.commands.shared import rate_text, write_rows
from attnviz.files import replace_bytes, replace_text

if TYPE_CHECKING:
    from attnviz.analysis.alignment_error import Link
    from attnviz.analysis.pair_agreement import PairAgreement
    from attnviz.evaluation.link_agreement import LinkAgreement
    from attnviz.importing.records import AttentionRecords

_PRINTED, _LONGEST = 20, 40
"""Number of pairs that are printed, and of characters of their links; a file has all."""
_TABLES, _PICTURES = ("csv", "json"), ("svg", "png", "pdf")


def compare_files(options: argparse.Namespace) -> None:
    """Print or write the comparison; raise AttnvizError where the files cannot be read, compared or written."""
    from attnviz.evaluation.link_agreement import link_agreement, with_tokens_of

    ending = "" if options.output is None else options.output.suffix.removeprefix(".").lower()
    if options.output is not None and ending not in (*_TABLES, *_PICTURES):
        endings = ", ".join(f".{one}" for one in (*_TABLES, *_PICTURES))
        raise AttnvizError(f"The name of the file {options.output} must end in one of {endings}.")
    if options.table or options.gold:
        raise AttnvizError("Leave out --table and --gold where two files are compared.")
    first, other = open_records(options.files, options), open_records([options.compare], options)
    first, other = with_tokens_of(first, other), with_tokens_of(other, first)
    for records, name in ((first, " ".join(options.files)), (other, options.compare)):
        print_format(records, name)
    agreement = link_agreement(first, other)
    for remark in agreement.remarks:
        print(remark, file=sys.stderr)
    if options.sentence is not None:
        first.sentence(options.sentence)
    names = (Path(options.files[0]).name, Path(options.compare).name)
    if ending in _PICTURES:
        _draw(first, other, names, options.sentence or 1, options.output, ending)
        return
    numbers = range(len(agreement.pairs)) if options.sentence is None else range(options.sentence - 1, options.sentence)
    if ending:
        _write(options.output, agreement, numbers)
        return
    _print(agreement, numbers, names)


def _print(agreement: LinkAgreement, numbers: range, names: tuple[str, str]) -> None:
    from attnviz.evaluation.tables import markdown_table

    rows = [_row(str(index + 1), agreement.pairs[index]) for index in numbers[:_PRINTED]]
    if len(numbers) > 1:
        sums = [
            sum(len(getattr(pair, name)) for pair in agreement.pairs) for name in ("shared", "only_first", "only_other")
        ]
        rows.append(["all", *map(str, sums), rate_text(agreement.aer)])
    print(markdown_table(["pair", "both", f"only {names[0]}", f"only {names[1]}", "AER"], rows, 1))
    if len(numbers) > _PRINTED:
        print(f"… and {len(numbers) - _PRINTED} more pairs; -o FILE writes all of them.", file=sys.stderr)
    print(f"\nAlignment error rate (AER) between the files: {rate_text(agreement.aer)}.")


def _row(name: str, pair: PairAgreement) -> list[str]:
    return [name, str(len(pair.shared)), _shortened(pair.only_first), _shortened(pair.only_other), rate_text(pair.aer)]


def _text(links: frozenset[Link]) -> str:
    return " ".join(f"{j}-{i}" for j, i in sorted(links))


def _shortened(links: frozenset[Link]) -> str:
    """Return the links as text, or as many as fit, and how many there are."""
    text = _text(links)
    if len(text) <= _LONGEST:
        return text or "–"
    return f"{text[:_LONGEST].rpartition(' ')[0]} … ({len(links)})"


def _write(path: Path, agreement: LinkAgreement, numbers: range) -> None:
    """Write the links that both or only one of them has for every pair, and in JSON the error rate of all pairs."""
    rows = [_fields(index + 1, agreement.pairs[index]) for index in numbers]
    if path.suffix.lower() == ".json":
        replace_text(path, json.dumps({"aer": agreement.aer, "pairs": rows}, indent=1) + "\n")
    else:
        write_rows(path, rows, [*rows[0]])


def _fields(number: int, pair: PairAgreement) -> dict[str, Any]:
    return {
        "pair": number,
        "both": _text(pair.shared),
        "only_first": _text(pair.only_first),
        "only_other": _text(pair.only_other),
        "aer": pair.aer,
    }


def _draw(
    first: AttentionRecords, other: AttentionRecords, names: tuple[str, str], number: int, path: Path, ending: str
) -> None:
    """Write both heatmaps of a pair and their difference as a picture."""
    from attnviz.analysis.comparison import compare
    from attnviz.export.files import IMAGES
    from attnviz.export.images import image
    from attnviz.export.sheet import translation_sheet
    from attnviz.figures.comparison import comparison

    records = first[number - 1], other[number - 1]
    figure = comparison(compare(*records), names)
    heading = f"{names[0]} and {names[1]} side by side"
    replace_bytes(path, image(translation_sheet(figure, records[0], heading), IMAGES[ending]))
