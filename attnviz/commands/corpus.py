"""The command `attnviz corpus`: write tables that measure sentence pairs or imported attention, and files of vectors.

Processes on this machine or actors of a Ray cluster do the work. The vectors are for the search for nearest neighbours.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from attnviz.commands.attention import TABLE_ENDINGS, open_records, print_format, write_table
from attnviz.commands.options import (
    AS_INPUT,
    OUTPUT_OPTIONS,
    Beam,
    FileNames,
    FilePath,
    ModelOptions,
    Output,
    Positive,
    ReadingOptions,
    Share,
    SkipMalformed,
)
from attnviz.commands.shared import check_outputs, check_suffix, counted, print_skipped, progress, report_escapes
from attnviz.errors import AttnvizError
from attnviz.memory import keep_few_shapes

if TYPE_CHECKING:
    from attnviz.corpora import Progress, Settings
    from attnviz.corpora.table_metadata import TableMetadata

    Show = Callable[[Progress], object]

_MOST_WORKERS = 8
_FIRST_LINES = 1000
"""Number of lines that are searched for escapes of Moses' tokenizer."""
_RAY = Group(
    "A Ray cluster",
    help="All machines of the cluster must see the folder of the output and the model under the same paths.",
)


@OUTPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """What is measured, and where it is written; the defaults are those of `corpora.Settings`."""

    output: Output
    """table to write, a .parquet file; for several files a folder, which gets a table of each"""
    attention: Annotated[bool, AS_INPUT] = False
    """the files hold attention weights or word links of another program, in any format that `attnviz attention` reads;
    all files together give one table, and no model is needed"""
    translate: bool = False
    """let the model translate each source, and compare its translation with the target; without this option, the model
    must write the target (forced decoding)"""
    beam: Beam = 5
    kind: Literal["balanced", "posterior", "none"] = "balanced"
    """variant of posterior attention for the links in links_after; none leaves links_after empty"""
    threshold: Share = 0.1
    """for each target word, keep its strongest link and all links of at least this weight"""
    gold: Annotated[FilePath | None, AS_INPUT] = None
    """file with links marked by hand, one line per pair: i-j (sure) or i?j (possible) links source word i to target
    word j, counted from 0"""
    batch_size: Positive = 64
    """largest number of sentence pairs in a batch"""
    skip_malformed: SkipMalformed = False
    limit: Annotated[Positive | None, AS_INPUT] = None
    """use only the first N lines"""
    vectors: Annotated[int | None, Parameter(validator=Number(gte=1, lte=200_000), metavar="[N]")] = None
    """also write states, context vectors and annotations of random pairs to a file .vectors.npz, to search for
    neighbours; at most N of each kind (without N 50,000, the largest is 200,000)"""
    workers: Positive | None = None
    """number of processes (default: one for each processor core, or one on a GPU)"""


@Parameter(name="*", group=_RAY)
@dataclass(frozen=True)
class _ClusterOptions:
    """The Ray cluster that computes."""

    ray: bool = False
    """compute with Ray actors: on this machine, or on the cluster given by --address"""
    address: str | None = None
    """address of a running Ray cluster, as host:port; auto finds one on this machine"""
    actors: Positive | None = None
    """number of Ray actors, each of which loads the model (default: as many as the processor cores or GPUs of the
    cluster allow)"""
    gpus_per_actor: Annotated[float | None, Parameter(name="--num-gpus-per-actor", metavar="X")] = None
    """number of GPUs for each Ray actor, or a fraction of one GPU (default: no GPU, but one processor core for each
    actor)"""

    @property
    def given(self) -> dict[str, Any]:
        """The fields of `Cluster` that were given."""
        return {name: value for name, value in vars(self).items() if name != "ray" and value is not None}


def corpus_command(
    *files: FileNames,
    options: _Options,
    reading: ReadingOptions = ReadingOptions(),
    model: ModelOptions = ModelOptions(),
    cluster: _ClusterOptions = _ClusterOptions(),
) -> None:
    """Measure every sentence pair of a file and write a Parquet table, one row for each pair.

    Args:
        files: file to measure: .tsv or .txt (also .gz or .xz) with a sentence or source<TAB>target per line; .jsonl
            with gold links; or .parquet with columns source and target. A folder, a pattern such as 'part-*.tsv' or
            an address such as s3://bucket/pairs.tsv also works
    """
    if options.attention:
        _of_attention(files, options, reading)
        return
    folder = model.folder  # fails before torch is imported
    keep_few_shapes()
    from attnviz.corpora import Settings

    settings = Settings(
        options.translate,
        options.beam,
        None if options.kind == "none" else options.kind,
        options.threshold,
        options.batch_size,
        model.precision,
        reading.unescape,
    )
    with progress("pair") as bar:

        def show(state: Progress) -> None:
            # Rows of an earlier start do not count towards the rate.
            bar.total, bar.initial = state.total, state.before
            bar.set_postfix_str(f"{state.skipped} skipped" if state.skipped else "", refresh=False)
            bar.update(state.done - bar.n)

        tables = _write_tables(files, options, settings, folder, model.device, cluster, show)
    for table, about in tables.items():
        prefix = f"{table.name}: line" if len(tables) > 1 else "Line"
        print_skipped(about.named, about.skipped, prefix)
    rows, lines, skipped = (
        sum(getattr(about_table, name) for about_table in tables.values()) for name in ("rows", "lines", "skipped")
    )
    print(f"{options.output}: {counted(rows, 'row')} from {counted(lines, 'line')}, {counted(skipped, 'line')} skipped")
    if not options.translate and (alone := sum(map(_own_translations, tables))):
        print(f"Rows with a translation by the model, because their line has no French sentence: {alone}.")
    if not rows:
        raise AttnvizError(f"No line of {' '.join(files)} could be used: the table is empty.")
    if options.vectors:
        _write_vectors(options.output, options.vectors, model)


def _of_attention(files: Sequence[str], options: _Options, reading: ReadingOptions) -> None:
    """Write one table of attention files of another program."""
    check_suffix(options.output, *TABLE_ENDINGS)
    records = open_records(files, reading, (options.output,))
    print_format(records)
    print(f"{options.output}: {write_table(records, options.output, options.gold)} rows")


def _own_translations(table: Path) -> int:
    """Return the number of pairs in a table whose target is the model's own translation."""
    from pyarrow import compute, parquet

    batches = parquet.ParquetFile(table).iter_batches(columns=["search"])
    return sum(compute.sum(compute.not_equal(batch["search"], "forced")).as_py() or 0 for batch in batches)


def _write_tables(
    names: Sequence[str],
    options: _Options,
    settings: Settings,
    folder: Path,
    device: str,
    cluster: _ClusterOptions,
    show: Show,
) -> dict[Path, TableMetadata]:
    """Write the table of each file, with processes on this machine or the actors of a Ray cluster."""
    from attnviz.corpora import Cluster, analyse_files
    from attnviz.corpora.corpus_lines import Line, local_files, read_lines

    if cluster.ray:
        for name, given in (("workers", options.workers), ("device", device != "auto")):
            if given:
                raise AttnvizError(f"The options --{name} and --ray cannot be combined. Leave out one of them.")
    elif cluster.given:
        name = next(iter(cluster.given)).replace("gpus_", "num-gpus-").replace("_", "-")
        raise AttnvizError(f"The option --{name} is only for Ray. Add --ray.")
    tables = _tables(list(names), options)
    with local_files(tables) as files:
        check_outputs(tables.values(), files)
        made = analyse_files(
            dict(zip(files, tables.values(), strict=True)),
            folder,
            settings,
            gold=options.gold,
            limit=options.limit,
            device=device,
            workers=1 if cluster.ray else options.workers or _workers(device),
            cluster=Cluster(**cluster.given) if cluster.ray else None,
            skip_malformed=options.skip_malformed,
            advance=show,
        )
        for file, name in zip(files, tables, strict=True) if not settings.unescape else ():
            first = (line for line in itertools.islice(read_lines(file), _FIRST_LINES) if isinstance(line, Line))
            texts = ((line.number, f"{line.source} {line.target or ''}") for line in first)
            report_escapes(texts, f"{name}: line")
    return made


def _tables(names: list[str], options: _Options) -> dict[str, Path]:
    """Return the table of each file; raise AttnvizError where the options do not go with them."""
    from attnviz.corpora.corpus_lines import source_files, table_files

    files = source_files(names)
    if files == names and len(files) == 1:
        check_suffix(options.output, ".parquet")
        return {files[0]: options.output}
    for name in ("gold", "vectors"):
        if getattr(options, name) is not None:
            raise AttnvizError(f"The option --{name} is for a single file. Give one file, or leave out --{name}.")
    if options.output.suffix.lower() == ".parquet" or options.output.is_file():
        raise AttnvizError(f"The tables of several files need a folder, and {options.output} names a file.")
    options.output.mkdir(parents=True, exist_ok=True)
    return table_files(files, options.output)


def _write_vectors(table: Path, most: int, model: ModelOptions) -> None:
    """Write the vectors of the finished table; raise AttnvizError where that fails."""
    from attnviz.analysis.neighbours import vectors_path
    from attnviz.corpora.vectors import write_vectors

    translator = model.load()
    with progress("vector", most) as bar:
        vectors = write_vectors(table, vectors_path(table), translator, most, lambda done: bar.update(done - bar.n))
    counts = ", ".join(f"{len(array)} {kind}s" for kind, array in vectors.arrays.items())
    print(f"{vectors_path(table)}: {counts} from {len(vectors.pairs)} pairs")


def _workers(device: str) -> int:
    """Return the number of processes for a device."""
    from attnviz.devices import resolve_device

    if resolve_device(device).type != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_WORKERS)
