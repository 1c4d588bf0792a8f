"""``handfoot replay``."""

import json
import sys

import numpy as np
import pytest

from hf_env.engine.access import GameAccess
from hf_env.records import GameRecorder, read, write
from hf_env.rules import load_rules


def _record(rules: str, seed: int) -> dict:
    """A game of random actions."""
    rule_set = load_rules(rules)
    access, recorder = GameAccess(rule_set.to_record()), GameRecorder()
    generator = np.random.default_rng(seed)
    recorder.start(rule_set, seed, [f"name{seat}" for seat in range(rule_set.players)])
    access.start(seed)
    while True:
        recorder.deal(access.games, 0)
        while not access.is_over:
            action = int(generator.choice(access.legal()))
            access.play(action)
            recorder.action(access.games, 0, action)
        if access.game["game_over"]:
            return recorder.record()
        access.next_deal()


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.jsonl"
    write(path, [_record("mini", 1), _record("three-player", 2)])
    return path


def test_shows_each_turn_and_the_scores(handfoot, games):
    code, out, err = handfoot("replay", games)
    record = json.loads(games.read_text().splitlines()[0])
    assert code == 0 and err == "" and out.count("game ") == 2 and out.count("\ndeal ") == 5
    assert "players name0, name1" in out and "  draw " not in out and "draw [" in out
    for side, score in enumerate(record["deals"][0]["scores"]):
        assert f"side {side} (seats {side}): {score:+,} points" in out
    shown = sum(line.count(",") + 1 for line in out.splitlines() if line.lstrip()[:1].isdigit())
    actions = sum(len(deal["actions"]) for line in games.read_text().splitlines() for deal in json.loads(line)["deals"])
    assert shown == actions


def test_verifies_only(handfoot, games):
    code, out, _ = handfoot("replay", games, "--verify")
    assert code == 0 and out.count("\n") == 4 and out.count("all as the rules and the seed have it") == 2
    for record, line in zip(map(json.loads, games.read_text().splitlines()), out.splitlines()[2:], strict=True):
        deals = len(record["deals"])
        points = sum(deal["scores"][0] for deal in record["deals"]) / deals
        assert line.startswith(f"players {', '.join(record['players'])}, side 0: 1 game, {deals} deal{'s' * (deals != 1)}; {points:,.1f} ")


def test_several_files_and_packed_ones(handfoot, mistake, games, tmp_path):
    packed = tmp_path / "games.jsonl.gz"
    write(packed, read(games))
    assert packed.stat().st_size < games.stat().st_size / 2
    code, out, _ = handfoot("replay", "--verify", games, packed)
    assert code == 0 and out.count(": 2 games, all as the rules and the seeds have it") == 2 and out.count("side 0: 2 games") == 2
    assert handfoot("replay", games, packed)[1] == 2 * handfoot("replay", games)[1]
    assert "--game is of one file" in mistake("replay", games, packed, "--game", 1)
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "the compressed file is damaged" in mistake("replay", "--verify", games, packed)
    packed.write_bytes(b"no gzip")
    assert "the compressed file is damaged" in mistake("replay", packed)


def test_a_folder_without_a_report(mistake, tmp_path):
    assert "no finished report with records" in mistake("replay", "--verify", tmp_path)


def test_games_of_other_seeds(handfoot, mistake, games, tmp_path):
    records = [json.loads(line) for line in games.read_text().splitlines()]
    # Another seed, whose cards are others: those of the record count, in what is shown, verified, counted and drawn.
    shown = handfoot("replay", games)[1].replace("seed 1,", "seed 11,")
    del records[0]["seeds"]
    records[0]["seed"] += 10
    write(games, records)
    assert handfoot("replay", games)[1] == shown
    code, out, _ = handfoot("replay", "--verify", games)
    assert code == 0 and out.count("all as the rules and the seed have it") == 1
    assert out.count("all as the rules and the cards of the record have it") == 1
    code, out, _ = handfoot("replay", "--verify", games, games)
    assert code == 0 and out.count(": 2 games, all as the rules and the seeds have it (1 with the cards of their records)") == 2
    code, out, _ = handfoot("replay", games, "--game", 1, "--video", tmp_path / "game.gif")
    assert code == 0 and "pictures of game 1" in out
    records[0]["deals"][0]["deck"] = records[0]["deals"][0]["deck"][1:]
    write(games, records)
    assert "game 1: deals[0].deck: 53 cards, but decks = 1 hold 54" in mistake("replay", "--verify", games)


def test_one_game(handfoot, mistake, games):
    code, out, _ = handfoot("replay", games, "--game", 2)
    assert code == 0 and out.startswith("game 2: rules three-player") and "game 1" not in out
    assert "holds 2 games, not 3" in mistake("replay", games, "--game", 3)
    assert "--game" in mistake("replay", games, "--game", 0)


@pytest.mark.parametrize("verify", [(), ("--verify",)])
def test_what_differs_is_named(mistake, games, verify):
    records = [json.loads(line) for line in games.read_text().splitlines()]
    records[1]["deals"][2]["scores"][0] += 5
    write(games, records)
    assert "game 2: deals[2].scores" in mistake("replay", games, *verify)


def test_a_game_broken_off(handfoot, games):
    record = json.loads(games.read_text().splitlines()[1])
    record["deals"] = record["deals"][:2]
    deal = record["deals"][1]
    deal["actions"], deal["scores"] = deal["actions"][:7], None
    del deal["end"]
    write(games, [record])
    code, out, _ = handfoot("replay", games)
    assert code == 0 and out.endswith("broken off here\n")
    code, out, _ = handfoot("replay", "--verify", games)
    assert code == 0 and out.splitlines()[-1] == "not counted, since broken off: 1 game"


@pytest.mark.parametrize(("content", "said"), [(b"", "no game"), (b"{", "line 1: no JSON"), (b"{}\n", "format"), (b"\xff\x00\n", "line 1")])
def test_files_that_are_no_records(mistake, tmp_path, content, said):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert said in mistake("replay", path)


def test_files_that_cannot_be_read(mistake, tmp_path):
    assert "No such file" in mistake("replay", tmp_path / "none")
    assert "directory" in mistake("replay", tmp_path)


def test_an_animation_is_written(handfoot, games, tmp_path):
    out = tmp_path / "game.gif"
    code, said, err = handfoot("replay", games, "--game", 1, "--video", out, "--seat", 1)
    assert code == 0 and err == "" and said.count("\n") == 1 and "pictures of game 1" in said
    assert out.read_bytes().startswith(b"GIF89a")
    film = tmp_path / "game.mp4"
    code, said, err = handfoot("replay", games, "--game", 1, "--video", film, "--seat", 1)
    assert code == 0 and err == "" and said.count("\n") == 1 and "pictures of game 1" in said
    assert film.read_bytes()[4:8] == b"ftyp"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.gif", "game.mp4", "games.jsonl"]


def test_a_film_without_its_library(mistake, games, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.delitem(sys.modules, "hf_env.rendering.video", raising=False)
    said = mistake("replay", games, "--game", 1, "--video", tmp_path / "game.mp4")
    assert "--video: writing MP4 needs imageio-ffmpeg: pip install 'hf-env[video]'" in said


def test_an_animation_that_cannot_be_made(mistake, games, tmp_path):
    out = tmp_path / "game.gif"
    assert "several games" in mistake("replay", games, "--video", out)
    assert "must end with .gif or .mp4" in mistake("replay", games, "--game", 1, "--video", tmp_path / "game.avi")
    assert "no folder" in mistake("replay", games, "--game", 1, "--video", tmp_path / "none" / "game.gif")
    assert "seat 2 is not one of 0 to 1" in mistake("replay", games, "--game", 1, "--video", out, "--seat", 2)
    assert "one file" in mistake("replay", games, games, "--video", out)
    assert "--seat is of --video" in mistake("replay", games, "--seat", 0)
    assert "--verify and --video" in mistake("replay", games, "--verify", "--video", out)
    records = [json.loads(line) for line in games.read_text().splitlines()]
    records[0]["deals"][0]["scores"][0] += 5
    write(games, records)
    assert "game 1: deals[0].scores" in mistake("replay", games, "--game", 1, "--video", out)
    assert not out.exists()
