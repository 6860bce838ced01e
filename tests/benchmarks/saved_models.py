"""Measure the models that a training run saved (`train --keep-at`), for the page *How it learns*.

    python -m tests.benchmarks.saved_models runs/kept --links gold.jsonl -o models/mine/snapshots/kept.json

Measured are attention, translations, loss and BLEU, and what the attention has learnt about gold links.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from attnviz import AttnvizError, TrainingConfig, Translator
from attnviz.analysis.measures import error_rate, links
from attnviz.commands.shared import progress
from attnviz.evaluation.alignment import GoldAlignment, read_gold
from attnviz.evaluation.bleu import corpus_scores
from attnviz.evaluation.forced import force_pairs, likelihoods, total_likelihood
from attnviz.evaluation.model_alignments import word_alignments
from attnviz.model_folder import CONFIG_FILE
from attnviz.pair_files import Pair, read_pairs
from attnviz.trace.snapshots import Curve, Snapshots, join_snapshots
from attnviz.training.log import read_curves
from attnviz.training.loop import MOMENTS
from attnviz.training.preparation import SETTINGS
from attnviz.training.validation import fixed_pairs, take_snapshot, validation_pairs
from tests.benchmarks.harness import exit_status
from tests.benchmarks.learning_measures import learning_baselines, learning_measures


@dataclass(frozen=True)
class EvaluationData:
    """Sentences on which every saved model of a run is measured."""

    name: str
    """Name of the run."""
    guidance: float
    fixed: Sequence[Pair]
    """Sentences whose alignments are stored."""
    pairs: Sequence[Pair]
    """Pairs for loss and BLEU."""
    gold: Sequence[GoldAlignment]
    """Sentences with gold links; may be empty."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of sentences of each measure; those about links are counted when measured."""
        return {"loss": len(self.pairs), "bleu": len(self.pairs)} | ({"aer": len(self.gold)} if self.gold else {})


def evaluation_data(
    run: Path, name: str, fixed: Sequence[Pair], gold: Sequence[GoldAlignment], count: int
) -> EvaluationData:
    """Return the sentences on which the saved models of the `run` in this folder are measured.

    These are `fixed`, or else the sentences of its own snapshots; `count` of its validation pairs, beginning with those
    whose BLEU it validates; and `gold`.
    """
    path = run / SETTINGS
    try:
        config = TrainingConfig.from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AttnvizError(f"{run} is not the folder of a training run: its file {SETTINGS} cannot be read.") from error
    except (ValueError, RecursionError) as error:
        raise AttnvizError(f"{path} is damaged ({error}). Restore it.") from error
    if config.architecture == "decomposable":
        raise AttnvizError(f"{run} trains a detector, which does not translate. Give a run that trains a translator.")
    pairs = validation_pairs(config)
    drawn = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))[:count]]
    return EvaluationData(name or run.resolve().name, config.guidance, fixed or fixed_pairs(config, pairs), drawn, gold)


def saved_moments(run: Path) -> dict[int, Path]:
    """Return the folders of the models saved during `run`, by update; raise AttnvizError where there are none."""
    found = [path.parent for path in (run / MOMENTS).glob(f"*/{CONFIG_FILE}")]
    folders = {int(path.name): path for path in found if path.name.isdecimal()}
    if not folders:
        raise AttnvizError(
            f"{run} saved no models during training. Train with the option --keep-at, for example --keep-at 0 10 "
            "25 50 100."
        )
    return dict(sorted(folders.items()))


def measure_checkpoints(run: Path, data: EvaluationData, known: Snapshots | None, device: str) -> Iterator[Snapshots]:
    """Yield the snapshots of all moments so far after each measurement, in order; those in `known` are not measured."""
    moments, parts = saved_moments(run), [] if known is None else [known]
    training = read_curves(run / "log.csv").get("training", ())
    for update, folder in moments.items():
        if known is None or update not in known.updates:
            parts.append(_measure(Translator.load(folder, device=device), data, update))
        yield _with_baselines(join_snapshots(parts), data, training)


def was_measured_on(known: Snapshots, data: EvaluationData) -> bool:
    """Return whether `known` was measured on `data`, so that its moments can be reused."""
    sentences = [(sentence.source, sentence.target) for sentence in known.sentences]
    counts = {name: known.counts.get(name) for name in data.counts}
    return (known.name, sentences, counts) == (data.name, list(data.fixed), data.counts)


def _measure(translator: Translator, data: EvaluationData, update: int) -> Snapshots:
    snapshots = take_snapshot(translator, data.fixed, update, data.name, data.guidance)
    targets = [target for _, target in data.pairs]
    likely = total_likelihood(likelihoods(force_pairs(translator, data.pairs), targets))
    values = {"loss": likely.nats / likely.pieces}
    translations = translator.translate_batch([source for source, _ in data.pairs], beam=1)
    values["bleu"] = corpus_scores(translations, targets)[0].value
    counts = data.counts
    if data.gold and translator.network.attends:
        alignments = word_alignments(translator, data.gold)
        values["aer"] = error_rate((links(alignment) for alignment in alignments), data.gold).aer
        by_class = learning_measures(data.gold, alignments)
        values |= {name: score.value for name, score in by_class.items()}
        counts |= {name: score.count for name, score in by_class.items()}
    return replace(snapshots, curves={name: ((update, value),) for name, value in values.items()}, counts=counts)


def _with_baselines(snapshots: Snapshots, data: EvaluationData, training: Curve) -> Snapshots:
    """Return `snapshots` with the training loss up to its last moment, and the baselines of attention."""
    so_far = tuple((at, loss) for at, loss in training if at <= snapshots.updates[-1])
    curves = {**snapshots.curves, "training": so_far} if so_far else snapshots.curves
    return replace(snapshots, curves=curves, levels=learning_baselines(data.gold) if data.gold else {})


def measurement_table(snapshots: Snapshots) -> str:
    names = [name for name in snapshots.curves if name != "training"]
    rows = [["update", *names]]
    for update in snapshots.updates:
        values = (dict(snapshots.curves[name]).get(update) for name in names)
        rows.append([f"{update:,}", *("" if value is None else f"{value:.3f}" for value in values)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="folder of a run made with train --keep-at")
    output = ".json file to write; models that it already contains are not measured again"
    parser.add_argument("-o", "--output", type=Path, required=True, help=output)
    sentences = "file of source<TAB>target whose alignments are stored (default: those of the run’s own snapshots)"
    parser.add_argument("--sentences", type=Path, help=sentences)
    gold = "files of gold links (.jsonl), to measure the alignment error rate and the attention on each kind of link"
    parser.add_argument("--links", type=Path, nargs="+", default=[], help=gold)
    parser.add_argument("--limit", type=int, default=300, help="number of validation pairs for loss and BLEU")
    parser.add_argument("--name", default="", help="name of the run on the page (default: the name of its folder)")
    parser.add_argument("--device", default="auto", help="device: auto, cpu, cuda, cuda:1 or mps")
    return exit_status(lambda: _run(parser.parse_args(arguments)))


def _run(options: argparse.Namespace) -> None:
    if options.output.suffix != ".json":
        raise AttnvizError(f"The output must be a .json file, not {options.output}.")
    fixed = read_pairs(options.sentences).pairs if options.sentences else []
    gold = [pair for path in options.links for pair in read_gold(path)]
    data = evaluation_data(options.run_folder, options.name, fixed, gold, options.limit)
    known = Snapshots.load(options.output) if options.output.exists() else None
    if known and not was_measured_on(known, data):
        raise AttnvizError(
            f"{options.output} was measured on other sentences, links or validation pairs. Choose another output, "
            "or delete this file."
        )
    snapshots = known
    with progress("moment", len(saved_moments(options.run_folder))) as bar:
        for snapshots in measure_checkpoints(options.run_folder, data, known, options.device):
            snapshots.save(options.output)
            bar.update()
    assert snapshots is not None  # a run has at least one saved model
    print(measurement_table(snapshots))


if __name__ == "__main__":
    sys.exit(main())
