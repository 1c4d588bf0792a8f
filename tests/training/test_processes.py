"""Several processes learn as one: the same steps as one process takes, repeated to the bit, and none outlives the others."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.neural.checkpoint import read_json
from training.config import ConfigError, TrainConfig
from training.learning.batches import NonFiniteError, Totals
from training.learning.forward import Forward
from training.processes import ProcessError, Processes, default_processes, usable_cores
from training.run.checkpoints import read_checkpoint
from training.run.folder import RunFolder
from training.run.report import read_log
from training.sessions import resume, train
from training.trainer import make_games

from .fake_vector_game import FakeVectorGame
from .helpers import make_learner, small_config
from .resume_run import tiny_config
from .test_resume import ROOT, assert_same_run

UPDATES = 6
_MAKING = threading.Lock()
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")


class Threads(Processes):
    """Stands for a process: a thread that meets the others at barriers."""

    def __init__(self, rank, size, shared, barrier):
        super().__init__(rank, size)
        self.shared, self.barrier = shared, barrier

    def gather(self, thing):
        self.shared[self.rank] = thing
        self.barrier.wait(300)
        found = [self.shared[rank] for rank in range(self.size)]
        self.barrier.wait(300)
        return found

    def first(self, thing, rank=0):
        return self.gather(thing)[rank]

    def add(self, numbers):
        return sum(self.gather(numbers.clone()))


def learner_of(processes):
    """A learner and a collector of that process. PyTorch's generator is the whole program's, so one thread at a time makes one."""
    with _MAKING:
        learner, collector = make_learner(games=FakeVectorGame(32, processes.rank))
    learner.processes = processes
    return learner, collector


def together(size, work):
    """work(processes) on as many threads at once; their results, or errors, in the order of the ranks."""
    shared, barrier, results = {}, threading.Barrier(size), [None] * size

    def run(rank):
        try:
            results[rank] = work(Threads(rank, size, shared, barrier))
        except NonFiniteError as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    return results


def children_of(pid):
    """Processes that this one has started and that follow it."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"training.follower" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def until(updates, run_dir):
    return lambda: len(read_log(run_dir)) >= updates


@pytest.mark.parametrize("shares", [[0, 300, 600], [0, 1, 600], [0, 0, 600]])
def test_a_minibatch_that_is_divided_gives_the_step_of_the_whole(shares):
    learner, collector = make_learner(small_config(num_games=64))
    rows = learner.prepare(collector.collect(learner.network)).rows(slice(0, 600))
    rows.teacher_actions[::3] = rows.actions[::3]
    before = {name: tensor.clone() for name, tensor in learner.network.state_dict().items()}
    _, expected = learner._step(rows, 0.01, 0.5)

    def work(processes):
        with _MAKING:
            other, _ = make_learner(small_config(num_games=64))
        other.network.load_state_dict(before)
        other.processes = processes
        own = rows.rows(slice(shares[processes.rank], shares[processes.rank + 1]))
        totals = Totals.of_each(own, [torch.arange(len(own.returns))], processes)[0]
        assert totals.rows == 600
        return other._step(own, 0.01, 0.5, totals)[1], other.network.state_dict()

    (report, one), (other_report, other) = together(2, work)
    assert torch.allclose(report, expected, atol=1e-5) and torch.equal(report, other_report)
    for name, tensor in learner.network.state_dict().items():
        assert torch.equal(one[name], other[name])
        assert torch.allclose(one[name], tensor, atol=2e-3), name  # Adam's first step has nearly the size of its rate


def test_an_update_is_the_same_in_all_processes():
    def work(processes):
        learner, collector = learner_of(processes)
        values = learner.update(collector.collect(learner.network), 0.0)
        return values, learner.network.state_dict()

    (values, one), (other_values, other) = together(2, work)
    assert values == other_values
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("what", ["advantages", "log_probs", "returns"])
def test_what_is_not_finite_in_one_process_is_named_in_all(what):
    def work(processes):
        learner, collector = learner_of(processes)
        rollout = collector.collect(learner.network)
        if processes.rank == 1:
            getattr(rollout, what)[3] = np.nan
        learner.update(rollout, 0.0)

    for error in together(2, work):
        assert isinstance(error, NonFiniteError) and error.rank == 1 and f"{what} holds 1 of" in str(error)


def test_a_loss_that_is_not_finite_in_one_process_is_named_in_all():
    def work(processes):
        learner, collector = learner_of(processes)
        batch = learner.prepare(collector.collect(learner.network))
        if processes.rank == 1:
            batch.returns[3] = torch.inf
        learner._step(batch, 0.0, totals=Totals(2 * len(batch.returns), torch.tensor(100.0), torch.tensor(1.0)))

    for error in together(2, work):
        assert isinstance(error, NonFiniteError) and error.rank == 1 and "loss term value" in str(error)


def test_losses_and_gradients_of_blocks_add_up_to_the_minibatchs():
    learner, collector = make_learner(small_config(num_games=64))
    rows = learner.prepare(collector.collect(learner.network))
    rows.teacher_actions[::3] = rows.actions[::3]
    whole = learner.losses(rows, 0.01, 0.5)
    whole.total.backward()
    expected = [parameter.grad.clone() for parameter in learner.network.parameters()]
    learner.network.zero_grad()
    totals = Totals.of(rows)
    cut = [slice(0, 300), slice(300, 301), slice(301, totals.rows)]
    losses = [learner.losses(rows.rows(part), 0.01, 0.5, totals) for part in cut]
    for name in ("total", "policy", "value", "entropy", "teacher", "approximate_kl", "clip_fraction"):
        assert sum(getattr(part, name).item() for part in losses) == pytest.approx(getattr(whole, name).item(), abs=1e-5), name
    sum(part.total for part in losses).backward()
    for parameter, gradient in zip(learner.network.parameters(), expected, strict=True):
        assert torch.allclose(parameter.grad, gradient, atol=1e-5)


@pytest.mark.parametrize("num_rows", [0, 1, 2048, 2049, 10000])
def test_blocks_cover_all_rows_in_order(num_rows):
    blocks = Forward(small_config()).blocks(num_rows)
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(num_rows))
    assert all(0 < block.stop - block.start <= 2048 for block in blocks)


def test_games_are_divided_and_differ():
    config = tiny_config(num_games=7)
    assert [make_games(config, rank, 3).num_games for rank in range(3)] == [2, 2, 3]
    alone, first, second = make_games(config), make_games(config, 0, 2), make_games(config, 1, 2)
    assert np.array_equal(alone.games["hands"][:3], first.games["hands"])
    assert not np.array_equal(alone.games["hands"][3:], second.games["hands"])


def test_settings_of_processes():
    with pytest.raises(ConfigError, match="processes must be at most num_games, got 9 for 8 games"):
        tiny_config(processes=9)
    assert 1 <= default_processes(1000) <= 8 and default_processes(1) == 1
    before = tiny_config().to_json()
    del before["processes"]
    assert TrainConfig.from_json(before | {"parts": 2, "threads": 0}) == tiny_config()


def test_games_that_are_given_are_one_processs(tmp_path):
    with pytest.raises(ConfigError, match="set processes = 1"):
        train(small_config(processes=2), tmp_path / "run", games=FakeVectorGame(32, 0), show_progress=False)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_quota_of_control_groups_counts(tmp_path):
    assert usable_cores(tmp_path) == usable_cores(tmp_path / "nothing") >= 1
    write(tmp_path / "proc/self/cgroup", "0::/user/job\n")
    write(tmp_path / "sys/fs/cgroup/user/job/cpu.max", "max 100000\n")
    assert usable_cores(tmp_path) == usable_cores(tmp_path / "nothing")
    write(tmp_path / "sys/fs/cgroup/user/cpu.max", "50000 100000\n")
    assert usable_cores(tmp_path) == 1


def test_the_quota_of_control_groups_of_version_1_counts(tmp_path):
    write(tmp_path / "proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n")
    write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    assert usable_cores(tmp_path) == usable_cores(tmp_path / "nothing")
    write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "90000\n")
    assert usable_cores(tmp_path) == 1


@needs_proc
def test_two_processes_repeat_exactly_over_a_kill_and_a_resume(tmp_path):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    updates = 8
    result = train(tiny_config(processes=2), straight, show_progress=False, should_stop=until(updates, straight))
    assert result.processes == 2 and read_json(RunFolder(straight).config)["processes"] == 2
    assert not children_of(os.getpid())
    command = [sys.executable, "-m", "tests.training.resume_run", str(killed), str(updates), "2"]
    with subprocess.Popen(command, cwd=ROOT) as process:
        wait_until(lambda: len(read_log(killed)) >= 3 or process.poll() is not None, 300)
        children = children_of(process.pid)
        process.kill()
    assert len(children) == 1 and len(read_log(killed)) < updates
    wait_until(lambda: not is_running(children[0]))
    again = resume(killed, show_progress=False, should_stop=until(updates, killed))
    assert again.processes == 2
    assert_same_run(straight, killed)
    arrays, values = read_checkpoint(straight)[1:]
    assert len(values["ranks"]) == 1 and arrays["rank1/games/games"].tobytes() != arrays["games/games"].tobytes()
    assert sum(record["games"] for record in values["league"]["records"].values()) > 0


@needs_proc
def test_a_child_that_dies_ends_the_run_with_a_line(tmp_path):
    calls = []

    def should_stop():
        calls.append(children_of(os.getpid()))
        if len(calls) == 2:
            os.kill(calls[-1][0], signal.SIGKILL)
        return False

    with pytest.raises(ProcessError, match=r"^process 1 of 2 has ended \(exit code -9\); the run can be resumed") as caught:
        train(tiny_config(processes=2), tmp_path / "run", show_progress=False, should_stop=should_stop)
    assert "\n" not in str(caught.value)
    # The second update was made, and not yet saved.
    assert read_checkpoint(tmp_path / "run")[2]["iteration"] == 1 and len(read_log(tmp_path / "run")) == 2
    assert not torch.distributed.is_initialized() and not children_of(os.getpid())


@needs_proc
def test_ctrl_c_saves_and_ends_all_processes(tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-m", "handfoot", "train", "--rules", "mini", "--decisions", "100000000", "--processes", "2",
         "--out", str(folder), "--quiet"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        wait_until(lambda: read_log(folder) or process.poll() is not None, 300)
        children = children_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out = process.communicate(timeout=120)[0]
    assert process.returncode == 130 and "s by 2 processes; checkpoint" in out
    assert len(children) == 1 and not is_running(children[0])
    assert read_checkpoint(folder)[2]["iteration"] == len(read_log(folder))
