"""A record as an animated GIF and as MP4."""

import io

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from hf_env.engine.access import GameAccess
from hf_env.engine.state import PHASE_DRAW
from hf_env.records import RecordError, steps
from hf_env.rendering.animation import FPS, gif, mp4
from hf_env.rendering.rgb_array import draw_table
from hf_env.rules import load_rules
from tests.architecture.subprocesses import run_python
from tests.cli.test_replay_command import _record

# Distance that a film's compression makes; another picture is farther.
LOSS = 4


def first_picture(view=None):
    access = GameAccess(load_rules("mini").to_record())
    access.start(1)
    return draw_table(access.games, 0, load_rules("mini"), view)


def frames_of(path):
    """What a film says of itself, and then its frames (600, 800, 3) int16."""
    reader = imageio_ffmpeg.read_frames(str(path))
    described = next(reader)
    yield described
    width, height = described["size"]
    for frame in reader:
        yield np.frombuffer(frame, np.uint8).reshape(height, width, 3).astype(np.int16)


def distance(one, other):
    """Mean over all colours of all points."""
    return float(np.abs(one - other).mean())


def test_an_animation_has_a_picture_for_each_turn_and_each_deals_end():
    record = _record("mini", 1)
    data, number = gif(record)
    moments = [step.action is None or step.games[0]["phase"] == PHASE_DRAW for step in steps(record)]
    assert number == sum(moments) > 5
    film = Image.open(io.BytesIO(data))
    assert film.size == (800, 600) and film.n_frames == number and film.info["loop"] == 0
    durations = []
    for frame in range(number):
        film.seek(frame)
        durations.append(film.info["duration"])
    assert durations == [900] * (number - 1) + [4000]
    film.seek(0)
    shown = np.asarray(film.convert("RGB"), int)
    assert np.abs(shown - first_picture()).mean() < 2
    assert gif(record, view=0)[0] != data
    assert gif(record, each="action")[1] == len(moments)


def test_an_animation_refuses_a_seat_that_is_not_there_and_a_record_that_differs():
    record = _record("mini", 1)
    with pytest.raises(IndexError, match="seat 2"):
        gif(record, view=2)
    record["deals"][-1]["scores"][0] += 5
    with pytest.raises(RecordError, match="scores"):
        gif(record)


def test_a_film_shows_the_same_pictures_for_as_long(tmp_path):
    record, path = _record("mini", 1), tmp_path / "game.mp4"
    drawn = []
    number = mp4(record, path, on_progress=drawn.append)
    assert number == gif(record)[1] and drawn == list(range(1, number + 1))
    described, *frames = frames_of(path)
    assert described["size"] == (800, 600) and described["fps"] == FPS == 10 and described["codec"] == "h264"
    assert len(frames) == 9 * (number - 1) + 40
    assert distance(frames[0], first_picture()) < LOSS
    jumps = [i for i in range(1, len(frames)) if distance(frames[i - 1], frames[i]) > 1]
    assert jumps == [9 * i for i in range(1, number)]


def test_a_film_hides_what_a_seat_cannot_know(tmp_path):
    path = tmp_path / "game.mp4"
    mp4(_record("mini", 1), path, view=0)
    _, first, *_ = frames_of(path)
    assert distance(first, first_picture(0)) < LOSS < distance(first, first_picture())


def test_a_film_that_fails_leaves_what_was_there(tmp_path):
    record, path = _record("mini", 1), tmp_path / "game.mp4"
    path.write_bytes(b"before")
    record["deals"][-1]["scores"][0] += 5
    with pytest.raises(RecordError, match="scores"):
        mp4(record, path)
    with pytest.raises(IndexError, match="seat 2"):
        mp4(record, path, view=2)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match=r"^[^\n]+$"):
        mp4(_record("mini", 1), tmp_path / "none" / "game.mp4")


WITHOUT_FFMPEG = """
import sys
sys.modules["imageio_ffmpeg"] = None
from hf_env.rendering.animation import gif, mp4
from tests.cli.test_replay_command import _record
assert gif(_record("mini", 1))[1] > 5
try:
    mp4(_record("mini", 1), "never.mp4")
except ImportError as error:
    print(error)
"""


def test_without_imageio_ffmpeg_a_gif_is_made_and_a_film_says_what_to_install():
    assert run_python(WITHOUT_FFMPEG) == "writing MP4 needs imageio-ffmpeg: pip install 'hf-env[video]'\n"
