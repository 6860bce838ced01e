"""Measure the models that were saved during a training run (`train --keep-at`).

Measured are attention, translations, loss and BLEU, and what the attention has learnt about gold links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from attnviz.analysis.alignment_error import error_rate
from attnviz.analysis.learning import learning_baselines, learning_measures
from attnviz.analysis.measures import links
from attnviz.errors import AttnvizError
from attnviz.evaluation.alignment import GoldAlignment, word_alignments
from attnviz.evaluation.bleu import corpus_scores
from attnviz.evaluation.forced import force_pairs, likelihoods, total_likelihood
from attnviz.model_folder import CONFIG
from attnviz.text_files import Pair
from attnviz.trace.snapshots import Curve, Snapshots, joined
from attnviz.training.config import TrainingConfig
from attnviz.training.log import read_curves
from attnviz.training.loop import MOMENTS
from attnviz.training.preparation import SETTINGS
from attnviz.training.validation import fixed_pairs, take_snapshot, validation_pairs
from attnviz.translator import Translator


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
    whose BLEU it validates; and `gold`. Raise AttnvizError where the folder is no run, or its validation files cannot
    be read.
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
    folders = {
        int(path.parent.name): path.parent
        for path in (run / MOMENTS).glob(f"*/{CONFIG}")
        if path.parent.name.isdecimal()
    }
    if not folders:
        raise AttnvizError(
            f"{run} saved no models during training. Train with the option --keep-at, for example --keep-at 0 10 "
            "25 50 100."
        )
    return dict(sorted(folders.items()))


def measure_checkpoints(run: Path, data: EvaluationData, known: Snapshots | None, device: str) -> Iterator[Snapshots]:
    """Yield the snapshots of all moments so far after each measurement, in order.

    Moments in `known`, an earlier result, are not measured again.
    """
    moments, parts = saved_moments(run), [] if known is None else [known]
    training = read_curves(run / "log.csv").get("training", ())
    for update, folder in moments.items():
        if known is None or update not in known.updates:
            parts.append(_measure(Translator.load(folder, device=device), data, update))
        yield _with_baselines(joined(parts), data, training)


def was_measured_on(known: Snapshots, data: EvaluationData) -> bool:
    """Return whether `known` was measured on `data`, so that its moments can be reused."""
    sentences = [(sentence.source, sentence.target) for sentence in known.sentences]
    counts = {name: known.counts.get(name) for name in data.counts}
    return (known.name, sentences, counts) == (data.name, list(data.fixed), data.counts)


def _measure(translator: Translator, data: EvaluationData, update: int) -> Snapshots:
    """Return one moment with all its measurements."""
    snapshots = take_snapshot(translator, data.fixed, update, data.name, data.guidance)
    targets = [target for _, target in data.pairs]
    likely = total_likelihood(likelihoods(force_pairs(translator, data.pairs), targets))
    values = {"loss": likely.nats / likely.pieces}
    values["bleu"] = corpus_scores(translator.translate_batch([source for source, _ in data.pairs]), targets)[0].value
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
