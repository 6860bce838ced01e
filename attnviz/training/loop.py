"""The training loop, in one process or several under torchrun; it can stop after any update and resume."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from attnviz.arguments import check_each
from attnviz.checkpoint import save_model
from attnviz.errors import AttnvizError
from attnviz.memory import keep_memory, return_memory
from attnviz.model_folder import TRAINED_MODEL, TRAINING_LOG
from attnviz.network import AnyNetwork, build_network
from attnviz.network.products import choose_precision
from attnviz.training.detection import DetectorMeasurement
from attnviz.training.encoded_pairs import epoch_batches
from attnviz.training.log import MEAN, Log, Window, write_curve
from attnviz.training.preparation import prepare_training, start_from
from attnviz.training.processes import Interrupted, ProcessGroup, Stopped, StopRequest, join_process_group
from attnviz.training.run_state import (
    CHECKPOINT,
    FORECAST_AFTER,
    FORECAST_AGAIN,
    LossSums,
    Pace,
    TrainingProgress,
    WeightCopies,
    learning_rate,
    load_state,
    make_optimizers,
    read_model_config,
    save_state,
    set_rate,
    snapshot_moments,
)
from attnviz.training.tasks import DetectionTask, Inputs, TranslationTask
from attnviz.training.training_config import TrainingConfig
from attnviz.training.validation import Measurement

MOMENTS = "moments"
"""Subfolder of a run with the models saved during training, each named after its update."""
_LOG_EVERY = 50
_READ_EVERY = 10
"""Updates between two readings of the losses."""
_TRIM_EVERY = 5
"""Updates between two returns of free memory: sentences of varying length leave blocks that later ones do not fit."""


def train(config: TrainingConfig, *, kill: bool = False) -> Path:
    """Train until `updates` are done or early stopping ends the run.

    Where `output` holds a checkpoint the run resumes from it. After SIGINT or SIGTERM it finishes the update, saves its
    state and raises Stopped, a KeyboardInterrupt. A second signal stops at once.

    Args:
        config: The options of the run.
        kill: Whether a second signal ends the process.

    Returns:
        The folder of the finished model.

    Raises:
        AttnvizError: The data, a folder or the device cannot be used.
    """
    check_each("settings", (config,), (TrainingConfig,))
    if config.threads:
        torch.set_num_threads(config.threads)
    with join_process_group(config) as members:
        precision = (
            "bf16" if members.broadcast(choose_precision(config.precision, members.device) == "bf16") else "fp32"
        )
        training = _Run(dataclasses.replace(config, precision=precision), members, kill)
        if config.precision == "auto":
            training.report(f"Trains in {precision}, the faster precision on {members.device} here.")
        return training.train()


class _Run:
    """A training run in progress."""

    def __init__(self, config: TrainingConfig, members: ProcessGroup, kill: bool) -> None:
        self.config, self.members = config, members
        self.stop = StopRequest(several=members.size > 1, kill=kill)
        self.output = Path(config.output)
        if members.is_main:
            self._prepare()
        members.wait()
        if not members.is_main:
            self._prepare()
        return_memory()
        self.network: Any = self._network().to(members.device)
        """Of the kind that the task trains."""
        self.objective = self.task.objective(self.network)
        if members.size > 1:
            self.objective = DistributedDataParallel(self.objective)
        self.optimizers = make_optimizers(self.network, config)
        self.progress, self.pace = TrainingProgress(), Pace()
        self.unread: list[tuple[int, Tensor]] = []
        """Loss terms and the two losses, (2,), of the updates whose losses have not been read."""
        self.moments = snapshot_moments(config)
        if self.checkpoint.exists():
            self.progress = load_state(self.checkpoint, self.network, self.optimizers)
        self.window = Window(self.progress.since_row)
        self.validation = self.task.validation() if members.is_main else None
        self.log = Log(self.output / "log.csv", self.progress.update) if members.is_main else None
        self.copies = (
            WeightCopies(self.output / "copies", config.average) if config.average and members.is_main else None
        )
        self.bar: tqdm[NoReturn] = tqdm(
            total=config.updates,
            initial=self.progress.update,
            unit="update",
            disable=not members.is_main,
            dynamic_ncols=True,
        )

    def _prepare(self) -> None:
        self.tokenizer, self.corpus = prepare_training(self.config)
        task = DetectionTask if self.config.architecture == "decomposable" else TranslationTask
        self.task = task(self.config, self.corpus, self.tokenizer, self.members.device)

    def _network(self) -> AnyNetwork:
        """Return a network of the run's sizes, with the weights of update 0: random ones, or those of `start_from`.

        With a checkpoint, only its config is read here: its weights are loaded later, and `start_from` is not needed.
        """
        config, known = self.config, read_model_config(self.checkpoint)
        if known:
            return build_network(known)
        if not config.start_from:
            network = build_network(config.model_config(len(self.tokenizer)))
            network.initialise(torch.Generator().manual_seed(config.seed))
            self.task.begin(network)
            return network
        network = start_from(config.start_from, self.tokenizer, config.dropout, config.guidance)
        if config.guidance and not network.attends_once:
            which = "many" if network.attends else "no attention"
            raise AttnvizError(
                f"Guidance needs a model with one attention distribution per step, but {config.start_from} has "
                f"{which}. Set guidance to 0."
            )
        return network

    @property
    def checkpoint(self) -> Path:
        """File from which the run resumes."""
        return self.output / CHECKPOINT

    def train(self) -> Path:
        """Train until the run is over; raise Stopped where a stop is requested before."""
        try:
            with self.stop.listening(self.members.is_main), contextlib.closing(self.bar):
                return self._train()
        finally:
            del self.objective  # it refers to the process group, see `join_process_group`

    def _train(self) -> Path:
        self.network.train()
        keep_memory()
        if self.progress.update == 0 and self.validation:
            self.validation.snapshot(self.network, 0)
            self._save_moment()
        begun = time.perf_counter() - self.progress.seconds
        if self.progress.validated < self.progress.update:
            self._validate_when_due()
        while not self._is_over():
            self._stop_when_asked()
            ready = time.perf_counter()
            for inputs, terms in self._rest_of_epoch():
                self._update(inputs, terms)
                now = time.perf_counter()
                self.progress.seconds = now - begun
                self.pace.add(now - ready)
                self._between_updates()
                self._stop_when_asked()
                if self._is_over():
                    break
                ready = time.perf_counter()
            else:
                self.progress.epoch, self.progress.batch = self.progress.epoch + 1, 0
        self._read_losses()
        if self.members.is_main:
            self._checkpoint()
            try:
                self._average()
            except Interrupted:
                raise self._stopped() from None
            assert self.log
            if (self.output / TRAINED_MODEL).is_dir():  # no validation may have had a finite score
                shutil.copyfile(self.log.path, self.output / TRAINED_MODEL / TRAINING_LOG)
        return self.output / TRAINED_MODEL

    def _stop_when_asked(self) -> None:
        """Save the state and raise Stopped where any process of the run was asked to stop."""
        if not self.members.any(self.stop.requested):
            return
        self._read_losses()
        if self.members.is_main and self.progress.update:
            self._save_state()
        self.members.wait()  # torchrun kills the other processes when one exits
        raise self._stopped()

    def _stopped(self) -> Stopped:
        return Stopped(f"Stopped after update {self.progress.update:,}; run the same command to go on.")

    def _between_updates(self) -> None:
        """Do what is due after an update: log row, snapshot, validation, checkpoint."""
        config, update = self.config, self.progress.update
        self.bar.update()
        if update % _TRIM_EVERY == 0:
            return_memory()
        if update % _LOG_EVERY == 0:
            self._read_losses()
            self.bar.set_postfix(self.window.report())
            if self.log:
                self.log.write(self.progress, self.window.row(), rate=learning_rate(config, update - 1))
            self.progress.since_row = LossSums()
            self.window = Window(self.progress.since_row)
        if update in self.moments and self.validation:
            self.validation.snapshot(self.network, update)
        self._save_moment()
        self._validate_when_due()
        if self.pace.updates in (FORECAST_AFTER, FORECAST_AGAIN) and update < config.updates:
            self.report(self.pace.left(config, update))
        if update % config.checkpoint_every == 0:
            self._read_losses()
            if self.members.is_main:
                self._checkpoint()

    def report(self, remark: str) -> None:
        """Print `remark` above the progress bar, from the leading process only."""
        if self.members.is_main:
            self.bar.write(remark, file=sys.stderr)

    def _is_over(self) -> bool:
        progress, config = self.progress, self.config
        return progress.update >= config.updates or 0 < config.patience <= progress.failures

    def _rest_of_epoch(self) -> Iterator[Inputs]:
        """Yield the objective's inputs and number of loss terms for each remaining batch of this process in the epoch.

        Raise AttnvizError where the data has fewer batches than there are processes.
        """
        progress, members = self.progress, self.members
        batches = epoch_batches(self.corpus, self.config.batch_tokens, self.config.seed, progress.epoch)
        if len(batches) < members.size:
            raise AttnvizError(
                f"The training data fills {len(batches)} batches, which are too few for {members.size} processes. "
                "Lower batch_tokens."
            )
        own = batches[members.rank :: members.size][: len(batches) // members.size]
        for number, indices in enumerate(own[progress.batch :], progress.batch):
            seed = (self.config.seed, progress.epoch, number * members.size + members.rank)
            yield self.task.inputs(indices, seed)

    def _update(self, inputs: tuple[Any, ...], terms: int) -> None:
        """Update the weights once; `inputs` have this many loss `terms`: target pieces or, for a detector, pairs."""
        config, progress, members = self.config, self.progress, self.members
        torch.manual_seed((config.seed * 1_000_003 + progress.update) * members.size + members.rank)
        set_rate(self.optimizers, learning_rate(config, progress.update), config)
        device = members.device.type
        with torch.autocast(device, dtype=torch.bfloat16, enabled=config.precision == "bf16"):
            loss, likelihood = self.objective(*inputs)
        total = members.count(terms)
        # DistributedDataParallel averages gradients over processes; the factor turns that into a sum over terms.
        (loss * (members.size / total)).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.unread.append((total, torch.stack([loss.detach(), likelihood])))
        progress.update += 1
        progress.batch += 1
        progress.tokens += total
        if len(self.unread) >= _READ_EVERY or self.pace.updates < FORECAST_AFTER:
            self._read_losses()

    def _read_losses(self) -> None:
        """Add the losses of the last updates to the sums; every process of the run must call this.

        Reading a number from a GPU waits for its work to finish, so the losses of several updates are read at once.
        """
        if self.unread:
            losses = self.members.total(torch.stack([losses for _, losses in self.unread])).tolist()
            for (tokens, _), (loss, likelihood) in zip(self.unread, losses, strict=True):
                self.progress.since_row.add(tokens, loss, likelihood)
            self.unread.clear()

    def _validate_when_due(self) -> None:
        """Validate where it is due; a validation that a stop interrupts is due again when the run resumes."""
        update = self.progress.update
        if update % self.config.validate_every and update != self.config.updates:
            self.progress.validated = update
            return
        with contextlib.suppress(Interrupted):
            self._validate()
            self.progress.validated = update

    def _validate(self) -> None:
        """Validate, save the model if it is the best, and share the score with all processes.

        Raise Interrupted where a stop interrupts the validation.
        """
        progress, score, interrupted = self.progress, 0.0, False
        if self.validation:
            self.network.eval()
            started = time.perf_counter()
            try:
                result = self._measured(self.network, f"update {progress.update}")
            except Interrupted:
                interrupted = True
            else:
                self.pace.validation = time.perf_counter() - started
                score = result.score
                if self.pace.updates >= FORECAST_AFTER and progress.update < self.config.updates:
                    self.report(self.pace.left(self.config, progress.update))
            self.network.train()
        if self.members.any(interrupted):
            raise Interrupted
        score = self.members.broadcast(score)
        if not np.isfinite(score) or score >= progress.best:
            progress.failures += 1
            return
        progress.best, progress.failures = score, 0
        if self.members.is_main:
            self._save(self.network)

    def _save(self, network: AnyNetwork) -> None:
        save_model(self.output / TRAINED_MODEL, network, self.tokenizer)
        self.task.finish(self.output / TRAINED_MODEL)

    def _save_moment(self) -> None:
        """Save the weights as a model folder after the updates in `keep_at`."""
        if self.progress.update in self.config.keep_at and self.members.is_main:
            folder = self.output / MOMENTS / f"{self.progress.update:06}"
            save_model(folder, self.network, self.tokenizer)

    def _measured(self, network: Any, label: str, weights: str = "") -> Measurement | DetectorMeasurement:
        """Validate `network`, which is in evaluation mode; print, log and plot the result."""
        assert self.validation
        assert self.log
        keep_memory(False)
        with self.stop.cutting_short():
            result = self.validation.measure(network)
        keep_memory()
        self.log.write(self.progress, result.columns, weights=weights)
        self.report(f"{label}: {result}")
        write_curve(self.log.path, self.output / "curve.html", self.output.resolve().name)
        return result

    def _checkpoint(self) -> None:
        """Save the state, and a copy of the weights where they are to be averaged."""
        update = self.progress.update
        # Delete old copies only after saving the state, so that a kill in between loses none that a resume needs.
        if self.copies:
            self.copies.save_copy(self.network, update)
        self._save_state()
        if self.copies:
            self.copies.delete_old(update)

    def _save_state(self) -> None:
        save_state(self.checkpoint, self.network, self.optimizers, self.progress)

    def _average(self) -> None:
        """Replace the finished model by the mean of the copies, where the run averages weights, and validate it."""
        if not self.copies:
            return
        updates = self.copies.updates(self.progress.update)
        network = build_network(self.network.config).to(self.members.device).eval()
        self.copies.average(network, updates)
        self._save(network)
        label = f"{MEAN} of the weights after updates {', '.join(map(str, updates))}"
        self._measured(network, label, f"{MEAN} of {len(updates)}")
