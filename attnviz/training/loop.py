"""The training loop: one process, or several under torchrun; stops and resumes at any moment."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from attnviz.checkpoint import save_model
from attnviz.devices import resolve_device
from attnviz.errors import AttnvizError
from attnviz.network import RNNsearch
from attnviz.training.batches import Batch, epoch_batches, make_batch
from attnviz.training.config import TrainingConfig
from attnviz.training.log import Log
from attnviz.training.objective import Objective
from attnviz.training.optimizers import make_optimizers, set_rate
from attnviz.training.preparation import prepare, prepare_guidance
from attnviz.training.state import CHECKPOINT, Progress, load_state, save_state
from attnviz.training.validation import Validation
from attnviz.training.warm_start import start_from

_LOG_EVERY = 50
_TRIM_EVERY = 20
"""Updates between two returns of free memory: sentences of every length leave blocks that the next do not fit."""


@dataclass(frozen=True)
class Team:
    """One process among those that train together (the only one, unless torchrun started more)."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0


@contextlib.contextmanager
def team(config: TrainingConfig) -> Iterator[Team]:
    """Join the processes torchrun started, with NCCL on CUDA and gloo elsewhere."""
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    device = resolve_device(config.device)
    if size == 1:
        yield Team(rank, size, device)
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(rank, size, device)
        # Nobody leaves before all are done: a connection cut under a peer that still writes aborts it.
        dist.barrier()
    finally:
        dist.destroy_process_group()


def keep_memory(keep: bool = True) -> None:
    """Tell glibc to keep freed memory and reuse it, or to return what is free, now and from here on; does nothing
    elsewhere.

    The training loop frees and takes the same large blocks at every update, and returning them costs a page fault per
    4 KiB. Validation takes others, most of them once: kept, they would only add up (11 GB where 3 will do).
    """
    settings = (2**31 - 1, 64 * 2**20, 0) if keep else (128 * 2**10, 128 * 2**10, 65536)
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        for parameter, value in zip((-1, -2, -4), settings, strict=True):  # trim threshold, top pad, mmap count
            libc.mallopt(parameter, value)
    if not keep:
        return_memory()


def return_memory() -> None:
    """Give the memory that is free back to the system, where the C library is glibc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def learning_rate(config: TrainingConfig, update: int) -> float:
    """Return the rate of update number `update` (from 0): a linear rise over `warmup`, then a way down to `final_rate`
    of the peak at the last update, along a cosine or, with `decay_updates`, level and then along a straight line."""
    if update < config.warmup:
        return config.learning_rate * (update + 1) / config.warmup
    falling = config.decay_updates or config.updates - config.warmup
    share = min(1.0, max(0.0, 1 - (config.updates - update) / max(1, falling)))
    height = 1 - share if config.decay_updates else (1 + math.cos(math.pi * share)) / 2
    return config.learning_rate * (config.final_rate + (1 - config.final_rate) * height)


def run(config: TrainingConfig) -> Path:
    """Train until `updates` are done or validation stops it; return the folder of the finished model.

    Where `output` holds a checkpoint the run goes on from it. Raise AttnvizError for data, folders or devices that
    cannot be used.
    """
    keep_memory()
    if config.threads:
        torch.set_num_threads(config.threads)
    with team(config) as members:
        return _Run(config, members).train()


class _Run:
    """A run in progress."""

    def __init__(self, config: TrainingConfig, members: Team) -> None:
        self.config, self.members = config, members
        self.output = Path(config.output)
        if members.leads:
            self._prepare()
        if members.size > 1:
            dist.barrier()
        if not members.leads:
            self._prepare()
        self.network = self._network().to(members.device)
        self.objective: nn.Module = Objective(self.network, config.label_smoothing, config.guidance)
        if members.size > 1:
            self.objective = DistributedDataParallel(self.objective)
        self.optimizers = make_optimizers(self.network, config)
        self.progress = Progress()
        if self.checkpoint.exists():
            self.progress = load_state(self.checkpoint, self.network, self.optimizers)
        self.validation = Validation(config, self.tokenizer, members.device) if members.leads else None
        self.log = Log(self.output / "log.csv", self.progress.update) if members.leads else None

    def _prepare(self) -> None:
        self.tokenizer, self.corpus = prepare(self.config)
        guided = self.config.guidance > 0
        self.lexicon = prepare_guidance(self.config, self.corpus, len(self.tokenizer)) if guided else None

    def _network(self) -> RNNsearch:
        """Return the network with the weights of update 0: random ones, or those of `start_from`."""
        config = self.config
        if config.start_from:
            return start_from(config.start_from, self.tokenizer, config.dropout)
        network = RNNsearch(config.model_config(len(self.tokenizer)))
        network.initialise(torch.Generator().manual_seed(config.seed))
        return network

    @property
    def checkpoint(self) -> Path:
        """The file the run resumes from."""
        return self.output / CHECKPOINT

    def train(self) -> Path:
        """Update the weights until the run is over."""
        config, progress = self.config, self.progress
        bar = self._bar()
        self.network.train()
        moments = _snapshot_moments(config)
        if progress.update == 0 and self.validation:
            self.validation.snapshot(self.network, 0)
        started, seconds_before = time.perf_counter(), progress.seconds
        window = _Window()
        over = self._is_over()
        while not over:
            for batch, links in self._rest_of_epoch():
                tokens, loss, likelihood = self._update(batch, links)
                window.add(tokens, loss, likelihood)
                progress.update += 1
                progress.batch += 1
                progress.tokens += tokens
                progress.seconds = seconds_before + time.perf_counter() - started
                bar.update()
                if progress.update % _TRIM_EVERY == 0:
                    return_memory()
                if progress.update % _LOG_EVERY == 0:
                    bar.set_postfix(window.report())
                    self._write_row(window)
                    window = _Window()
                if progress.update in moments and self.validation:
                    self.validation.snapshot(self.network, progress.update)
                if progress.update % config.validate_every == 0 or progress.update == config.updates:
                    self._validate(bar)
                if progress.update % config.checkpoint_every == 0:
                    self._checkpoint()
                over = self._is_over()
                if over:
                    break
            else:
                progress.epoch, progress.batch = progress.epoch + 1, 0
        bar.close()
        if self.members.leads:
            self._checkpoint()
        return self.output / "model"

    def _bar(self) -> tqdm[NoReturn]:
        total, done = self.config.updates, self.progress.update
        return tqdm(total=total, initial=done, unit="update", disable=not self.members.leads, dynamic_ncols=True)

    def _is_over(self) -> bool:
        progress, config = self.progress, self.config
        return progress.update >= config.updates or 0 < config.patience <= progress.failures

    def _rest_of_epoch(self) -> Iterator[tuple[Batch, Tensor | None]]:
        """Yield this process' batches of the epoch and their links, from where the run stands."""
        progress, members = self.progress, self.members
        batches = epoch_batches(self.corpus, self.config.batch_tokens, self.config.seed, progress.epoch)
        if len(batches) < members.size:
            raise AttnvizError(
                f"The data fills {len(batches)} batches, too few for {members.size} processes. Lower batch_tokens."
            )
        own = batches[members.rank :: members.size][: len(batches) // members.size]
        for indices in own[progress.batch :]:
            batch = make_batch(self.corpus, indices)
            links = self.lexicon.links(batch) if self.lexicon else None
            yield batch.to(members.device), links if links is None else links.to(members.device, non_blocking=True)

    def _update(self, batch: Batch, links: Tensor | None) -> tuple[int, float, float]:
        """Update the weights once; return target pieces, and the two losses per piece, over all processes."""
        config, progress, members = self.config, self.progress, self.members
        torch.manual_seed((config.seed * 1_000_003 + progress.update) * members.size + members.rank)
        set_rate(self.optimizers, learning_rate(config, progress.update), config)
        device = members.device.type
        with torch.autocast(device, dtype=torch.bfloat16, enabled=config.precision == "bf16"):
            loss, likelihood = self.objective(batch, links)
        tokens = batch.target_tokens
        totals = torch.tensor([tokens, 0.0, 0.0], dtype=torch.float64)
        totals[1], totals[2] = loss.detach().double().cpu(), likelihood.double().cpu()
        if members.size > 1:
            totals = self._sum(totals)
        total = int(totals[0])
        # DistributedDataParallel averages gradients over processes; the factor turns that into a sum over pieces.
        (loss * (members.size / total)).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return total, float(totals[1]) / total, float(totals[2]) / total

    def _sum(self, values: Tensor) -> Tensor:
        shared = values.to(self.members.device)
        dist.all_reduce(shared)
        return shared.cpu()

    def _write_row(self, window: _Window) -> None:
        if self.log:
            self.log.write(self.progress, rate=learning_rate(self.config, self.progress.update - 1), **window.row())

    def _validate(self, bar: tqdm[NoReturn]) -> None:
        """Measure, keep the best model by BLEU (by loss where nothing is translated), and tell every process."""
        progress = self.progress
        score = torch.zeros(1, dtype=torch.float64)
        if self.validation and self.log:
            self.network.eval()
            keep_memory(False)
            result = self.validation.measure(self.network)
            keep_memory()
            self.network.train()
            score[0] = result.loss if np.isnan(result.bleu) else -result.bleu
            self.log.write(progress, validation_loss=result.loss, validation_bleu=result.bleu)
            remark = f"update {progress.update}: validation loss {result.loss:.4f}, BLEU {result.bleu:.2f}"
            bar.write(remark, file=sys.stderr)
        if self.members.size > 1:
            shared = score.to(self.members.device, torch.float32)
            dist.broadcast(shared, 0)
            score = shared.cpu().double()
        if not np.isfinite(float(score)) or float(score) >= progress.best:
            progress.failures += 1
            return
        progress.best, progress.failures = float(score), 0
        if self.members.leads:
            save_model(self.output / "model", self.network, self.tokenizer)

    def _checkpoint(self) -> None:
        if self.members.leads:
            save_state(self.checkpoint, self.network, self.optimizers, self.progress)


@dataclass
class _Window:
    """Sums over the updates since the last row of the log."""

    tokens: int = 0
    loss: float = 0.0
    likelihood: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    def add(self, tokens: int, loss: float, likelihood: float) -> None:
        self.tokens += tokens
        self.loss += loss * tokens
        self.likelihood += likelihood * tokens

    def row(self) -> dict[str, float]:
        count = max(1, self.tokens)
        return {
            "train_loss": self.loss / count,
            "train_likelihood": self.likelihood / count,
            "tokens_per_second": self.tokens / (time.perf_counter() - self.started),
        }

    def report(self) -> dict[str, str]:
        row = self.row()
        return {"tok/s": f"{row['tokens_per_second']:.0f}", "loss": f"{row['train_likelihood']:.3f}"}


def _snapshot_moments(config: TrainingConfig) -> set[int]:
    """Return the updates, evenly spaced in log time and the last included, at which snapshots are taken."""
    if config.snapshots == 0:
        return set()
    return set(np.geomspace(min(20, config.updates), config.updates, config.snapshots).round().astype(int).tolist())
