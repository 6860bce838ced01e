"""Analyse a whole file, in one process or several; a killed run continues and ends with the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.job import WINDOW, Job, Progress
from attnviz.corpora.settings import Settings
from attnviz.corpora.table_parts import About
from attnviz.corpora.workers import here, in_processes
from attnviz.model_folder import weights_digest


def analyse_file(
    path: str | Path,
    output: str | Path,
    model: str | Path | Analyser,
    settings: Settings | None = None,
    *,
    gold: str | Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    workers: int = 1,
    window: int = WINDOW,
    skip_malformed: bool = False,
    advance: Callable[[Progress], object] | None = None,
) -> About:
    """Read sentences or pairs from `path`, as `read_lines` does, and write their table to `output` (Parquet).

    `model` is a folder, or an `Analyser` with settings of its own. With a folder, `workers` processes of one thread
    each share the work. `limit` takes only the first lines. `advance` is called with the progress at the start and
    after each `window` of lines; an exception from it ends the run. However a run ends, the same call continues after
    the finished windows; a finished table of the same file, model and settings stays unchanged. Raise AttnvizError
    where a file or the model cannot be read, or the table cannot be written.
    """
    if isinstance(model, Analyser):
        settings, name, digest = model.settings, model.name, model.weights_digest
    else:
        settings, name, digest = settings or Settings(), Path(model).resolve().name, weights_digest(model)
    job = Job(
        Path(path),
        Path(output),
        name,
        digest,
        settings,
        None if gold is None else Path(gold),
        limit,
        window,
        skip_malformed,
    )
    job.check()
    if known := job.made():
        return known
    job.begin()
    there = job.there()
    told = Progress.at_first(job.total, there)
    # Do not start processes that have no work.
    most = max(1, min(workers, -(-told.total // window)))
    compute = here(model) if isinstance(model, Analyser) else in_processes(model, settings, device, most)
    tell = advance or (lambda _: None)
    tell(told)
    for lines, skipped in compute(job.missing(there)):
        told = told.further(lines, skipped)
        tell(told)
    return job.finish()
