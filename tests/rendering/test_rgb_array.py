"""The drawn table: every preset, nothing hidden, the same bytes each time."""

import time

import gymnasium
import numpy as np
import pytest
from PIL import Image

import hf_env  # noqa: F401  (registers the environment)
from hf_env import hand_and_foot_v0
from hf_env.positions import from_position
from hf_env.rendering import sprites
from hf_env.rendering.rgb_array import draw_table
from hf_env.rules import list_rules, load_rules
from tests.api.tables import table
from tests.architecture.subprocesses import run_python
from tests.observation.driving import reached_games
from tests.observation.shuffling import shuffled_world


def position_picture(view=0, **arguments):
    """A drawn position of whitnack."""
    games, rules = from_position(table("whitnack", **arguments), check=False)
    return draw_table(games, 0, rules, view)


@pytest.mark.parametrize("name", list_rules())
def test_every_preset_is_drawn_and_hides_what_a_seat_cannot_know(name):
    rules = load_rules(name)
    games = reached_games(rules, "greedy_or_random", 10, seed=3)
    rng = np.random.default_rng(0)
    looked = 0
    for slot, g in enumerate(games):
        seat = slot % rules.players
        picture = draw_table(games, slot, rules, seat)
        assert picture.shape == (600, 800, 3) and picture.dtype == np.uint8
        everything = draw_table(games, slot, rules, None)
        world = shuffled_world(g, rules, seat, rng)
        assert draw_table(world, 0, rules, seat).tobytes() == picture.tobytes()
        looked += draw_table(world, 0, rules, None).tobytes() != everything.tobytes()
    assert looked >= 8, "the worlds differ where all cards lie open, so a picture that looked would differ too"


def test_a_picture_shows_what_changes():
    base = position_picture(hands={0: "44K"})
    different = [
        position_picture(hands={0: "44Q"}),
        position_picture(hands={0: "44K"}, discard="9"),
        position_picture(hands={0: "44K"}, phase="draw"),
        position_picture(hands={0: "44K"}, sides={0: {"melds": {"K": "KKK"}}}),
        position_picture(hands={0: "44K"}, sides={0: {"melds": {"K": "KK2"}}}),
        position_picture(hands={0: "44K"}, sides={0: {"books": ["KKKKKKK"]}}),
        position_picture(hands={0: "44K"}, sides={0: {"books": ["KKKKK22"]}}),
        position_picture(hands={0: "44K"}, sides={0: {"books": ["22222**"]}}),
        position_picture(hands={0: "44K"}, sides={1: {"books": ["22222**"]}}),
        position_picture(hands={0: "44K"}, feet={1: None}),
        position_picture(hands={0: "44K"}, sides={0: {"red3": 1}}),
        position_picture(view=1, hands={0: "44K"}),
        position_picture(view=None, hands={0: "44K"}),
    ]
    pictures = [base, *different]
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)


def brightness(picture):
    """Mean lightness as grey, as somebody sees it who sees no colours."""
    return float(np.asarray(Image.fromarray(picture).convert("L"), float).mean())


def test_books_differ_without_colours_too():
    faces = [sprites.book(name, None if name == "wild" else 5, 42, 52).convert("RGB") for name in sprites.BOOKS]
    grey = [brightness(np.asarray(face)) for face in faces]
    assert min(abs(a - b) for i, a in enumerate(grey) for b in grey[:i]) > 20, grey


def test_a_full_table_stays_inside_the_picture_and_known_cards_are_shown():
    melds = {kind: kind * 4 for kind in "46789TJQ"} | {"5": "55522", "A": "AAA*", "K": "KK2", "wild": "222***"}
    books = ["4444444", "KKKKKKK", "KKKKK2*", "JJJJJJJ", "22222**", "222222*"]
    sides = {0: {"melds": melds, "books": books, "red3": 7, "opened": True}}
    arguments = {"hands": {0: "44556677889TJQQAA*bbb", 1: "44556677889TJQQAA2*bbbAA"}, "sides": sides, "discard": "9"}
    for view in (0, None):
        picture = position_picture(view, **arguments)
        border = np.concatenate([picture[:4].reshape(-1, 3), picture[-4:].reshape(-1, 3), picture[:, :4].reshape(-1, 3)])
        assert (border == sprites.TABLE).all()
    position = table("whitnack", **arguments)
    before = draw_table(*_at(position), 0)
    position["known"][1] = "44"
    assert not np.array_equal(draw_table(*_at(position), 0), before)


def _at(position):
    games, rules = from_position(position, check=False)
    return games, 0, rules


def test_the_same_bytes_in_another_process():
    code = """
import hashlib
from hf_env import hand_and_foot_v0
env = hand_and_foot_v0.env(rules="whitnack", render_mode="rgb_array")
env.reset(seed=4)
print(hashlib.sha256(env.render().tobytes()).hexdigest())
"""
    assert run_python(code) == run_python(code)


def test_twenty_pictures_a_second():
    rules = load_rules("whitnack")
    games = reached_games(rules, "greedy", 10, seed=1)
    for _ in range(2):  # the pieces are drawn once
        start = time.process_time()
        for slot in range(10):
            draw_table(games, slot, rules, 0)
        seconds = time.process_time() - start
    print(f"\n{10 / seconds:.0f} pictures a second")
    assert 10 / seconds > 20


def test_the_environments_draw():
    env = hand_and_foot_v0.env(rules="mini", render_mode="rgb_array")
    env.reset(seed=1)
    mover = env.render()
    assert mover.shape == (600, 800, 3) and mover.dtype == np.uint8
    fixed = hand_and_foot_v0.env(rules="mini", render_mode="rgb_array", render_view="all")
    fixed.reset(seed=1)
    assert not np.array_equal(fixed.render(), mover)
    seat = gymnasium.make("HandAndFoot-v0", rules="mini", render_mode="rgb_array")
    seat.reset(seed=1)
    assert seat.render().shape == (600, 800, 3)
    with_all = gymnasium.make("HandAndFoot-v0", rules="mini", render_mode="rgb_array", render_view="all")
    with_all.reset(seed=1)
    assert not np.array_equal(with_all.render(), seat.render())


def test_the_gymnasium_seat_prints_in_human_mode(capsys):
    env = gymnasium.make("HandAndFoot-v0", rules="mini", render_mode="human")
    _, info = env.reset(seed=1)
    assert capsys.readouterr().out.count("Deal 1 of 1") == 1
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert capsys.readouterr().out.count("(you)") == 1


WITHOUT_PILLOW = """
import sys
sys.modules["PIL"] = None
from hf_env import VectorGame, hand_and_foot_v0
import gymnasium
env = hand_and_foot_v0.env(rules="mini", render_mode="ansi")
env.reset(seed=1)
assert "Seat 0" in env.render()
for make in (hand_and_foot_v0.env, lambda **arguments: gymnasium.make("HandAndFoot-v0", **arguments)):
    try:
        make(rules="mini", render_mode="rgb_array")
    except ImportError as error:
        print(error)
"""


def test_without_pillow_text_works_and_drawing_says_what_to_install():
    lines = run_python(WITHOUT_PILLOW).splitlines()
    assert lines == ["drawing a table needs Pillow: pip install 'hf-env[render]'"] * 2
