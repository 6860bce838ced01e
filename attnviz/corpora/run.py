"""Write the table of a whole file, in one process or several; a killed run can be resumed and gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.job import WINDOW, Job, Progress
from attnviz.corpora.settings import Settings
from attnviz.corpora.table_parts import TableMetadata
from attnviz.corpora.workers import parallel_compute, sequential_compute
from attnviz.devices import resolve_device
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
) -> TableMetadata:
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
        settings = settings.with_precision_for(resolve_device(device))
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
    if finished := job.finished_table():
        return finished
    job.begin()
    existing = job.existing_parts()
    progress = Progress.at_start(job.total, existing)
    # Do not start processes that have no work.
    processes = max(1, min(workers, -(-progress.total // window)))
    compute = (
        sequential_compute(model)
        if isinstance(model, Analyser)
        else parallel_compute(model, settings, device, processes)
    )
    report = advance or (lambda _: None)
    report(progress)
    for lines, skipped in compute(job.missing_windows(existing)):
        progress = progress.advanced_by(lines, skipped)
        report(progress)
    return job.finish()
