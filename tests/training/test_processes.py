"""Training runs stopped by a signal: what they save, and that they resume unchanged."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from attnviz import TrainingConfig, train
from attnviz.commands.main import main
from attnviz.training.loop import _Run
from attnviz.training.processes import Interrupted, ProcessGroup, Stopped, StopRequest
from attnviz.training.run_state import read_progress
from tests.conftest import REPOSITORY
from tests.processes import wait_until
from tests.small_run import assert_same_run, tiny, train_command

SHORT = {"updates": 17, "validate_every": 10, "average": 2, "matrix_rate": 0.5, "bleu_sentences": 2}


def stopping_at(config: TrainingConfig, moment: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> str:
    """Train, and send SIGTERM to this process when `moment` says so in an update; return what it prints."""
    update = _Run._update

    def signalled(self: _Run, *inputs: object) -> tuple[int, float, float]:
        if moment():
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, *inputs)

    with monkeypatch.context() as patched:
        patched.setattr(_Run, "_update", signalled)
        with pytest.raises(Stopped) as stopped:
            train(config)
    return str(stopped.value)


@pytest.fixture(scope="module")
def whole(files, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    train(tiny(files, folder, **SHORT))
    return folder


@pytest.mark.parametrize("last", [1, 10, 15])  # 10 validates; 15 is after a checkpoint
def test_stopped_run_saves_and_resumes_unchanged(files, whole, tmp_path, monkeypatch, last, snapshot) -> None:
    config = tiny(files, tmp_path / "stopped", **SHORT)
    counted = iter(range(1, 100))
    handler = signal.getsignal(signal.SIGTERM)
    output = stopping_at(config, lambda: next(counted) == last, monkeypatch)
    assert signal.getsignal(signal.SIGTERM) is handler
    assert output == snapshot
    assert read_progress(tmp_path / "stopped/checkpoint.safetensors").update == last
    train(config)
    assert_same_run(whole, tmp_path / "stopped")
    finished = [(run / "model/model.safetensors").read_bytes() for run in (whole, tmp_path / "stopped")]
    assert finished[0] == finished[1]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt, also where a shell started the tests with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_second_signal_interrupts_and_stop_cuts_short() -> None:
    request = StopRequest()
    with request.listening(announce=False):
        signal.raise_signal(signal.SIGINT)
        assert request.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(Interrupted), request.cutting_short():
        raise AssertionError("the block began")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_train_stops_on_signal_with_code_130_and_resumes(files, tmp_path, number, capsys) -> None:
    arguments = train_command(tiny(files, tmp_path / "run", snapshots=0))
    how = {"cwd": REPOSITORY, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    checkpoint = tmp_path / "run/checkpoint.safetensors"
    with subprocess.Popen([sys.executable, "-m", "attnviz", *arguments], **how) as process:
        try:
            wait_until(lambda: checkpoint.exists() or process.poll() is not None)
            process.send_signal(number)
            _, output = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, output
    (update,) = re.findall(r"Stopped after update (\d+)", output)
    assert read_progress(checkpoint).update == int(update)
    assert main(arguments) == 0
    assert Path(capsys.readouterr().out.strip()).is_dir()


def test_pieces_are_counted_exactly_over_processes(monkeypatch) -> None:
    sent = []

    def reduce(tensor: torch.Tensor) -> None:
        sent.append(tensor.dtype)
        tensor.mul_(2)

    monkeypatch.setattr(dist, "all_reduce", reduce)
    monkeypatch.setattr(dist, "broadcast", lambda tensor, _: sent.append(tensor.dtype))
    two = ProcessGroup(0, 2, torch.device("cpu"))
    assert two.count(2**24 + 1) == 2**25 + 2
    amounts = torch.tensor([[0.5, 3.0]])
    assert two.total(amounts).tolist() == [[1.0, 6.0]]
    assert amounts.tolist() == [[0.5, 3.0]]
    assert two.broadcast(-41.5) == -41.5
    assert set(sent) == {torch.int64, torch.float32}
    alone = ProcessGroup(0, 1, torch.device("cpu"))
    assert (alone.count(2**24 + 1), alone.total(amounts).tolist()) == (2**24 + 1, [[0.5, 3.0]])
