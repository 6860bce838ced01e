"""The command `attnviz corpus`: write tables that measure sentence pairs or imported attention, and files of vectors.

Processes on this machine or actors of a Ray cluster do the work. The vectors are for the search for nearest neighbours.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz import AttnvizError
from attnviz.commands.attention import add_file_options, open_records, print_format, write_table
from attnviz.commands.shared import Command, add_model_options, positive, print_skipped, progress, report_escapes, share
from attnviz.memory import keep_few_shapes

if TYPE_CHECKING:
    from attnviz.corpora import Progress, Settings
    from attnviz.corpora.table_metadata import TableMetadata

    Show = Callable[[Progress], object]

_MOST_WORKERS = 8
_FIRST_LINES = 1000
"""Number of lines that are searched for escapes of Moses' tokenizer."""
DEFAULT_VECTORS = 50_000
_OF_CLUSTER = {"address": "address", "actors": "actors", "num_gpus_per_actor": "gpus_per_actor"}
"""Options that require --ray, and the matching fields of `Cluster`."""


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    from attnviz.analysis.neighbours import MOST_VECTORS
    from attnviz.analysis.posterior import DEFAULT, POSTERIOR_KINDS
    from attnviz.corpora.columns import Settings

    add, default = command.add_argument, Settings()
    add(
        "files",
        nargs="+",
        metavar="FILE",
        help="file to measure: .tsv or .txt (also .gz or .xz) with a sentence or source<TAB>target per line; "
        ".jsonl with gold links; or .parquet with columns source and target. A folder, a pattern such as 'part-*.tsv' "
        "or an address such as s3://bucket/pairs.tsv also works",
    )
    add(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="table to write, a .parquet file; for several files a folder, which gets a table of each",
    )
    add(
        "--translate",
        action="store_true",
        help="let the model translate each source, and compare its translation with the target; without this "
        "option, the model must write the target (forced decoding)",
    )
    add(
        "--kind",
        choices=[*POSTERIOR_KINDS, "none"],
        default=DEFAULT,
        help="variant of posterior attention for the links in links_after; none leaves links_after empty",
    )
    add(
        "--threshold",
        type=share,
        default=default.threshold,
        help="for each target word, keep its strongest link and all links of at least this weight",
    )
    add(
        "--gold",
        type=Path,
        metavar="FILE",
        help="file with links marked by hand, one line per pair: i-j (sure) or i?j (possible) links source word i "
        "to target word j, counted from 0",
    )
    add(
        "--batch-size",
        type=positive,
        default=default.batch_size,
        metavar="N",
        help="largest number of sentence pairs in a batch",
    )
    add(
        "--skip-malformed",
        action="store_true",
        help="leave out malformed lines, even if they are more than 1 %% of the file",
    )
    add("--limit", type=positive, metavar="N", help="use only the first N lines")
    add(
        "--vectors",
        type=_count,
        nargs="?",
        const=DEFAULT_VECTORS,
        metavar="N",
        help="also write states, context vectors and annotations of random pairs to a file .vectors.npz, to search "
        f"for neighbours; at most N of each kind (default: {DEFAULT_VECTORS:,}, largest: {MOST_VECTORS:,})",
    )
    add(
        "--workers",
        type=positive,
        metavar="N",
        default=argparse.SUPPRESS,
        help="number of processes (default: one for each processor core, or one on a GPU)",
    )
    add_model_options(command, beam=True)
    group = command.add_argument_group("options for attention of other programs", "These need no model.")
    group.add_argument(
        "--attention",
        action="store_true",
        help="the files hold attention weights or word links of another program, in any format that `attnviz "
        "attention` reads; all files together give one table",
    )
    add_file_options(group)
    _add_cluster_options(
        command.add_argument_group(
            "options for a Ray cluster",
            "All machines of the cluster must see the folder of the output and the model under the same paths.",
        )
    )


def _add_cluster_options(group: argparse._ArgumentGroup) -> None:
    add, absent = group.add_argument, argparse.SUPPRESS
    add(
        "--ray",
        action="store_true",
        help="compute with Ray actors: on this machine, or on the cluster given by --address",
    )
    add(
        "--address",
        default=absent,
        help="address of a running Ray cluster, as host:port; auto finds one on this machine",
    )
    add(
        "--actors",
        type=positive,
        default=absent,
        metavar="N",
        help="number of Ray actors, each of which loads the model (default: as many as the processor cores or GPUs "
        "of the cluster allow)",
    )
    add(
        "--num-gpus-per-actor",
        type=float,
        default=absent,
        metavar="X",
        help="number of GPUs for each Ray actor, or a fraction of one GPU (default: no GPU, but one processor "
        "core for each actor)",
    )


def _run(options: argparse.Namespace) -> None:
    """Write the table, or tables; raise AttnvizError where that fails."""
    if options.attention:
        _of_attention(options)
        return
    keep_few_shapes()
    from attnviz.corpora import Settings

    settings = Settings(
        options.translate,
        options.beam,
        None if options.kind == "none" else options.kind,
        options.threshold,
        options.batch_size,
        options.precision,
        options.unescape,
    )
    with progress("pair") as bar:

        def show(state: Progress) -> None:
            # Rows of an earlier start do not count towards the rate.
            bar.total, bar.initial = state.total, state.before
            bar.set_postfix_str(f"{state.skipped} skipped" if state.skipped else "", refresh=False)
            bar.update(state.done - bar.n)

        tables = _write_tables(options, settings, show)
    for table, about in tables.items():
        prefix = f"{table.name}: line" if len(tables) > 1 else "Line"
        print_skipped(about.named, about.skipped, prefix)
    rows, lines, skipped = (
        sum(getattr(about_table, name) for about_table in tables.values()) for name in ("rows", "lines", "skipped")
    )
    print(f"{options.output}: {rows} rows from {lines} lines, {skipped} lines skipped")
    if not options.translate and (alone := sum(map(_own_translations, tables))):
        print(f"{alone} of these rows hold a translation by the model, because their lines have no French sentence.")
    if not rows:
        raise AttnvizError(f"No line of {' '.join(options.files)} could be used: the table is empty.")
    if options.vectors:
        _write_vectors(options)


def _of_attention(options: argparse.Namespace) -> None:
    """Write one table of attention files of another program."""
    if options.output.suffix not in (".csv", ".parquet"):
        raise AttnvizError(f"A table ends in .parquet or .csv, so {options.output} was not written.")
    records = open_records(options.files, options)
    print_format(records)
    print(f"{options.output}: {write_table(records, options.output, options.gold)} rows")


def _own_translations(table: Path) -> int:
    """Return the number of pairs in a table whose target is the model's own translation."""
    from pyarrow import compute, parquet

    batches = parquet.ParquetFile(table).iter_batches(columns=["search"])
    return sum(compute.sum(compute.not_equal(batch["search"], "forced")).as_py() or 0 for batch in batches)


def _write_tables(options: argparse.Namespace, settings: Settings, show: Show) -> dict[Path, TableMetadata]:
    """Write the table of each file, with processes on this machine or the actors of a Ray cluster."""
    from attnviz.corpora import Cluster, analyse_files
    from attnviz.corpora.corpus_lines import Line, local_files, read_lines

    chosen = {name: getattr(options, option) for option, name in _OF_CLUSTER.items() if option in options}
    if options.ray:
        for name, given in (("workers", "workers" in options), ("device", options.device != "auto")):
            if given:
                raise AttnvizError(f"The options --{name} and --ray cannot be combined. Leave out one of them.")
    elif cluster_options := [name for name in _OF_CLUSTER if name in options]:
        raise AttnvizError(f"The option --{cluster_options[0].replace('_', '-')} is only for Ray. Add --ray.")
    tables = _tables(options)
    with local_files(tables) as files:
        made = analyse_files(
            dict(zip(files, tables.values(), strict=True)),
            options.model,
            settings,
            gold=options.gold,
            limit=options.limit,
            device=options.device,
            workers=1 if options.ray else _workers(options),
            cluster=Cluster(**chosen) if options.ray else None,
            skip_malformed=options.skip_malformed,
            advance=show,
        )
        for file, name in zip(files, tables, strict=True) if not options.unescape else ():
            first = (line for line in itertools.islice(read_lines(file), _FIRST_LINES) if isinstance(line, Line))
            texts = ((line.number, f"{line.source} {line.target or ''}") for line in first)
            report_escapes(texts, f"{name}: line")
    return made


def _tables(options: argparse.Namespace) -> dict[str, Path]:
    """Return the table of each file; raise AttnvizError where the options do not go with them."""
    from attnviz.corpora.corpus_lines import source_files, table_files

    files = source_files(options.files)
    if files == options.files and len(files) == 1:
        if options.output.suffix != ".parquet":
            raise AttnvizError(f"The table must be a .parquet file, not {options.output}.")
        return {files[0]: options.output}
    for name in ("gold", "vectors"):
        if getattr(options, name):
            raise AttnvizError(f"The option --{name} is for a single file. Give one file, or leave out --{name}.")
    if options.output.suffix == ".parquet" or options.output.is_file():
        raise AttnvizError(f"The tables of several files need a folder, and {options.output} names a file.")
    options.output.mkdir(parents=True, exist_ok=True)
    return table_files(files, options.output)


def _write_vectors(options: argparse.Namespace) -> None:
    """Write the vectors of the finished table; raise AttnvizError where that fails."""
    from attnviz.analysis.neighbours import vectors_path
    from attnviz.commands.shared import load_translator
    from attnviz.corpora.vectors import write_vectors

    translator = load_translator(options)
    with progress("vector", options.vectors) as bar:
        vectors = write_vectors(
            options.output,
            vectors_path(options.output),
            translator,
            options.vectors,
            lambda done: bar.update(done - bar.n),
        )
    counts = ", ".join(f"{len(array)} {kind}s" for kind, array in vectors.arrays.items())
    print(f"{vectors_path(options.output)}: {counts} from {len(vectors.pairs)} pairs")


def _count(text: str) -> int:
    """Return a number of vectors; raise argparse.ArgumentTypeError for other text, or where it is too large."""
    from attnviz.analysis.neighbours import MOST_VECTORS

    number = positive(text)
    if number > MOST_VECTORS:
        raise argparse.ArgumentTypeError(f"at most {MOST_VECTORS:,} vectors of a kind can be searched")
    return number


def _workers(options: argparse.Namespace) -> int:
    if "workers" in options:
        return int(options.workers)
    from attnviz.devices import resolve_device

    if resolve_device(options.device).type != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_WORKERS)


CORPUS_COMMAND = Command(
    "corpus",
    "measure every sentence pair of a file and write a Parquet table, one row for each pair",
    _add_options,
    _run,
)
