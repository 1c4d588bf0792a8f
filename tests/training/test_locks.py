"""One writer a folder: the second is refused in a line, a dead one holds nothing, and readers are never refused."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.evaluation.players import first_legal, last_legal
from training.cli.main import run
from training.evaluation.contests import Plan, tournament
from training.locks import LOCK_NAME, FolderInUseError, only_writer
from training.sessions import train

from .fake_vector_game import FakeVectorGame
from .helpers import small_config

pytest.importorskip("fcntl")
ROOT = Path(__file__).parents[2]
HOLD = """
import sys, time
from pathlib import Path
from training.locks import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def held(tmp_path):
    """A folder into which another process writes, and that process."""
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield folder, process
        process.kill()


def test_the_second_writer_is_refused_by_host_and_process(held):
    folder, process = held
    who = f"process {process.pid} on {socket.gethostname()} writes into it"
    with pytest.raises(FolderInUseError, match=who), only_writer(folder):
        pass
    with pytest.raises(FolderInUseError, match=who):
        train(small_config(), folder, games=FakeVectorGame(32, 0), show_progress=False)
    with pytest.raises(FolderInUseError, match=who):
        tournament((first_legal, last_legal), Plan(deals=4, rules="mini", processes=1, out=folder))
    assert [file.name for file in folder.iterdir()] == [LOCK_NAME]


@pytest.mark.parametrize("command", [("train", "--rules", "mini", "--decisions", "1"), ("tournament", "random", "greedy", "--deals", "4")])
def test_the_command_says_it_in_a_line(held, capsys, command):
    assert run([*command, "--out", str(held[0])]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1 and f"process {held[1].pid} on " in line


def test_a_writer_that_was_killed_holds_nothing(held):
    folder, process = held
    process.send_signal(signal.SIGKILL)
    process.wait()
    with only_writer(folder):
        assert (folder / LOCK_NAME).read_text() == f"{os.getpid()} {socket.gethostname()}\n"
    assert not (folder / LOCK_NAME).exists()


def test_another_thread_is_another_writer_and_the_same_one_may_ask_again(tmp_path):
    refused = []

    def other() -> None:
        try:
            with only_writer(tmp_path):
                pass
        except FolderInUseError as error:
            refused.append(str(error))

    with only_writer(tmp_path), only_writer(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1 and "\n" not in refused[0]


def test_a_refusal_leaves_no_folder_behind(tmp_path):
    with pytest.raises(RuntimeError), only_writer(tmp_path / "a" / "b"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_lock_s_place_is_not_followed(tmp_path):
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / LOCK_NAME).symlink_to(treasure)
    with pytest.raises(OSError, match=LOCK_NAME), only_writer(folder):
        pass
    assert treasure.read_text() == "gold"
