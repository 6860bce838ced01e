"""A file from its first line to the table of it, by one process or several, and on again after a kill: killed and
started again, a run ends with the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attnviz.corpora.analyser import Analyser
from attnviz.corpora.job import WINDOW, Job, Progress
from attnviz.corpora.parts import About
from attnviz.corpora.settings import Settings
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
    """Read sentences or pairs from `path`, as `read_lines` does, and write the table of them to `output` (Parquet).

    `model` is a folder, or an `Analyser` that is ready, which has settings of its own. With a folder, `workers`
    processes of one thread each share the work. `limit` takes the first so many lines. `advance` is told how far it is
    at first and after each `window` of lines, and what it raises ends the run. However a run ends, the same call goes
    on from the windows that were done; a table that is there already, of the same file, model and settings, is left as
    it is. Raise AttnvizError where a file or the model cannot be read, more than 1 % of the lines are malformed, unless
    with `skip_malformed`, or the table cannot be written.
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
    # Processes that would have nothing to do are not started.
    most = max(1, min(workers, -(-told.total // window)))
    compute = here(model) if isinstance(model, Analyser) else in_processes(model, settings, device, most)
    tell = advance or (lambda _: None)
    tell(told)
    for lines, skipped in compute(job.missing(there)):
        told = told.further(lines, skipped)
        tell(told)
    return job.finish()
