"""Measure the models that a training run kept on its way (`train --keep-at`).

Measured are attention, translations, loss and BLEU, and what the attention has learnt about gold links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from attnviz.analysis.alignment_error import error_rate
from attnviz.analysis.learning import learnt, untaught
from attnviz.analysis.measures import links
from attnviz.errors import AttnvizError
from attnviz.evaluation.alignment import GoldAlignment, word_alignments
from attnviz.evaluation.bleu import corpus_scores
from attnviz.evaluation.forced import force_pairs, likelihoods, together
from attnviz.model_folder import CONFIG
from attnviz.text_files import Pair
from attnviz.trace.snapshots import Curve, Snapshots, joined
from attnviz.training.config import TrainingConfig
from attnviz.training.log import read_curves
from attnviz.training.loop import MOMENTS
from attnviz.training.preparation import SETTINGS
from attnviz.training.snapshots import fixed_pairs, moment
from attnviz.training.validation import validation_pairs
from attnviz.translator import Translator


@dataclass(frozen=True)
class Asked:
    """What every moment of a run is measured on."""

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


def asked_of(run: Path, name: str, fixed: Sequence[Pair], gold: Sequence[GoldAlignment], count: int) -> Asked:
    """Return what the moments of the `run` in this folder are measured on.

    These are `fixed`, or else the sentences of its own snapshots; `count` of its validation pairs, beginning with those
    whose BLEU it validates; and `gold`. Raise AttnvizError where the folder is no run, or its validation files cannot
    be read.
    """
    path = run / SETTINGS
    try:
        config = TrainingConfig.from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AttnvizError(f"{run} is not the folder of a run: its {SETTINGS} cannot be read.") from error
    except (ValueError, RecursionError) as error:
        raise AttnvizError(f"{path} is damaged ({error}). Restore it.") from error
    if config.architecture == "decomposable":
        raise AttnvizError(f"{run} trains a detector, which makes no translation to look into.")
    pairs = validation_pairs(config)
    drawn = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))[:count]]
    return Asked(name or run.resolve().name, config.guidance, fixed or fixed_pairs(config, pairs), drawn, gold)


def kept_moments(run: Path) -> dict[int, Path]:
    """Return the models that a `run` kept on its way, by update; raise AttnvizError where there are none."""
    found = {
        int(path.parent.name): path.parent
        for path in (run / MOMENTS).glob(f"*/{CONFIG}")
        if path.parent.name.isdecimal()
    }
    if not found:
        raise AttnvizError(f"{run} kept no models on the way. Train with --keep-at 0 10 25 50 100, say.")
    return dict(sorted(found.items()))


def measured(run: Path, asked: Asked, known: Snapshots | None, device: str) -> Iterator[Snapshots]:
    """Yield the snapshots of all moments so far after each measurement, in order.

    Moments in `known`, an earlier result, are not measured again.
    """
    moments, parts = kept_moments(run), [] if known is None else [known]
    training = read_curves(run / "log.csv").get("training", ())
    for update, folder in moments.items():
        if known is None or update not in known.updates:
            parts.append(_measure(Translator.load(folder, device=device), asked, update))
        yield _with(joined(parts), asked, training)


def is_of(known: Snapshots, asked: Asked) -> bool:
    """Return whether `known` was measured on what is `asked`, so that its moments can be reused."""
    sentences = [(one.source, one.target) for one in known.sentences]
    counts = {name: known.counts.get(name) for name in asked.counts}
    return (known.name, sentences, counts) == (asked.name, list(asked.fixed), asked.counts)


def _measure(translator: Translator, asked: Asked, update: int) -> Snapshots:
    """Return one moment with all its measurements."""
    found = moment(translator, asked.fixed, update, asked.name, asked.guidance)
    targets = [target for _, target in asked.pairs]
    likely = together(likelihoods(force_pairs(translator, asked.pairs), targets))
    values = {"loss": likely.nats / likely.pieces}
    values["bleu"] = corpus_scores(translator.translate_batch([source for source, _ in asked.pairs]), targets)[0].value
    counts = asked.counts
    if asked.gold and translator.network.attends:
        alignments = word_alignments(translator, asked.gold)
        values["aer"] = error_rate((links(alignment) for alignment in alignments), asked.gold).aer
        by_class = learnt(asked.gold, alignments)
        values |= {name: one.value for name, one in by_class.items()}
        counts |= {name: one.count for name, one in by_class.items()}
    return replace(found, curves={name: ((update, value),) for name, value in values.items()}, counts=counts)


def _with(found: Snapshots, asked: Asked, training: Curve) -> Snapshots:
    """Return `found` with the training loss up to its last moment, and the baselines of attention."""
    so_far = tuple((at, loss) for at, loss in training if at <= found.updates[-1])
    curves = {**found.curves, "training": so_far} if so_far else found.curves
    return replace(found, curves=curves, levels=untaught(asked.gold) if asked.gold else {})
