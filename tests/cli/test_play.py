"""``handfoot play`` and the person as a policy: piped games, mistakes, questions, and that nothing hidden is shown."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents.human import HumanPolicy
from agents.human.narration import deal_parts
from agents.human.parsing import WishError, parse_wish, split_line
from agents.policy import PolicyBatch, SeatViews
from agents.scripted import GreedyPolicy
from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.redact import redact_rows
from hf_env.engine.state import GAME_DTYPE, PHASE_ANSWER
from hf_env.records import read, replay, steps
from hf_env.rules import load_rules
from hf_env.vector.game import VectorGame
from tests.observation.shuffling import shuffled_world

ROOT = Path(__file__).parents[2]


class Parrot:
    """An input that asks for a hint and types it, so that a whole game is played as greedy would."""

    def __init__(self, monkeypatch) -> None:
        self.said = io.StringIO()
        monkeypatch.setattr(sys, "stdout", self.said)
        self._asks = True

    def readline(self, size: int = -1) -> str:
        self._asks = not self._asks
        if not self._asks:
            return "hint\n"
        return re.findall(r"greedy would (.+)\.\n", self.said.getvalue()[-3000:])[-1].upper() + "\n"


# ------------------------------------------------------------------------------------------------------ whole games


def test_a_piped_game_of_mini_to_its_end(play, tmp_path):
    path = tmp_path / "game.jsonl"
    code, out, err = play(["1"] * 500, "--rules", "mini", "--seed", 1, "--record", path)
    assert code == 0 and err == ""
    assert "\x1b" not in out
    (record,) = read(path)
    replay(record)
    assert record["players"] == ["human", "greedy"] and record["seed"] == 1
    scores = record["deals"][0]["scores"]
    assert f"with {max(scores):,} points to {min(scores):,}." in out
    row = re.search(r"this deal +(\S+) +(\S+)", out)
    assert [int(cell.replace(",", "")) for cell in row.groups()] == scores


@pytest.mark.parametrize("seed", [7, 28])
def test_a_deal_of_whitnack_played_by_its_hints_is_greedys_own(play, tmp_path, monkeypatch, seed):
    path = tmp_path / "game.jsonl"
    parrot = Parrot(monkeypatch)
    code, _, err = play(parrot, "--seed", seed, "--set", "deals=1", "--record", path, "--hint", "greedy")
    out = parrot.said.getvalue()
    assert code == 0 and err == "" and "is not allowed" not in out and "The game is over" in out
    (record,) = read(path)
    replay(record)
    assert record["deals"][0]["actions"] == _greedy_game("whitnack", seed)
    # In the one the person asks, in the other one the partner.
    assert ("You may ask to go out." in out, "asks you: may I go out?" in out) == (seed == 7, seed == 28)


def _greedy_game(name: str, seed: int) -> list[str]:
    rules = load_rules(name, deals=1)
    access, labels, greedy = GameAccess(rules.to_record()), [], GreedyPolicy()
    access.start(seed)
    while not access.is_over:
        action = int(greedy.act(_batch(access.games, rules))[0])
        labels.append(ACTIONS.label(action))
        access.play(action)
    return labels


def test_six_players_and_two_seats(play):
    options = ("--rules", "six-threes", "--set", "deals=1", "--seed", 3, "--seat", 1, "--seat", 4)
    code, out, err = play(["1"] * 3000, *options, "--others", "random", "--player", "0=greedy")
    assert code == 0 and err == "" and "The game is over" in out
    assert "You are in seats 1 and 4; seat 0 greedy, seat 2 random, seat 3 random, seat 5 random." in out
    assert "your turn at seat 1" in out and "your turn at seat 4" in out
    assert "Seat 3 (random, your partner)" in out and "Seat 0 (greedy) drew" in out


def test_a_game_left_early_is_recorded_as_far_as_it_went(play, tmp_path):
    path = tmp_path / "game.jsonl"
    for _ in range(2):
        code, out, err = play(["draw", "quit"], "--rules", "mini", "--seed", 2, "--record", path)
        assert code == 0 and err == "" and "You have left the table." in out and f"added to {path}" in out
    games = list(read(path))
    assert len(games) == 2
    for game in games:
        replay(game)
        assert game["deals"][-1]["scores"] is None


# ------------------------------------------------------------------------------------------------------- at the table


@pytest.mark.parametrize("lines", [["quit"], ["EXIT"], [], ["draw"]])
def test_leaving_is_no_failure(play, lines):
    code, out, err = play(lines, "--rules", "mini", "--seed", 2)
    assert code == 0 and err == "" and out.endswith("You have left the table.\n")


def test_interrupting_is_leaving(play):
    class Interrupted:
        def readline(self, size=-1):
            raise KeyboardInterrupt

    code, out, err = play(Interrupted(), "--rules", "mini")
    assert code == 0 and err == "" and out.endswith("You have left the table.\n")


def test_an_illegal_wish_is_answered_with_its_rule_and_changes_nothing(play):
    code, out, _ = play(["discard 5", "TAKE", "meld bbb", "draw", "draw"], "--seed", 5)
    assert code == 0
    assert "Discard 5 is not allowed: a turn begins with drawing or taking." in out
    assert "Take is not allowed: the hand holds only 1 of the 2 A needed." in out
    assert "3s are never melded." in out
    assert "Draw is not allowed: drawing or taking begins a turn, and this one has begun." in out
    assert out.count("You drew") == 1
    assert "You can draw; list shows all, help more." in out


@pytest.mark.parametrize("word", ["frobnicate", "§§", "99", "q", "\x00\x07", "x" * 5000, "?!", "why", "why foo", "kk"])
def test_an_unknown_word_gets_a_line_and_changes_nothing(play, word):
    code, out, err = play([word], "--rules", "mini", "--seed", 2)
    assert code == 0 and err == "" and "You drew" not in out and "Traceback" not in out and "\x07" not in out
    assert out.count("> ") >= 2


def test_questions(play):
    code, out, _ = play(["why take", "why draw", "?", "table", "hint", "list", "", ";;"], "--seed", 5, "--hint", "greedy")
    assert code == 0 and "You drew" not in out
    assert "Take is not allowed: the hand holds only 1 of the 2 A needed." in out and "Draw is allowed." in out
    assert "What you can type" in out and "To go out a side needs 2 clean, 2 dirty, 1 wild books" in out
    assert "greedy would draw." in out and out.count("Stock: ") == 2 and out.count("[1] draw 2") == 3


def test_several_wishes_in_a_line_stop_at_the_first_that_fails(play):
    _, out, _ = play(["D; meld 222, discard 8; draw; d", "d; meld kkkk; d b"], "--seed", 2053)
    assert "You drew 5 A; 1 red 3 laid.\nYou discard 8." in out
    assert "Not done, as your turn was over: draw; d." in out
    # A meld of four is a start and an addition; neither is done, nor what follows.
    assert "Meld KKK is not allowed: the hand holds only 2 of the 3 K needed.\nNot done either: add K; d b." in out


def test_numbers_mean_the_list_on_the_screen(play):
    code, out, _ = play(["1", "4; 7"], "--seed", 2053)  # the list: 882 QQ2 KK2 AAA AA2 222, then discards from 5
    assert code == 0 and "AAA" in out.partition("You discard 5.")[2]


def test_a_person_partner_answers(monkeypatch):
    access, rules = _at_a_question()
    for typed, action in (("y", "yes"), ("NO", "no"), ("1", "yes"), ("draw\nmeld KKK\nno", "no")):
        chosen, out = _decide(access.games, rules, f"{typed}\n")
        assert ACTIONS.label(chosen) == action
        assert f"Seat {int(access.game['turn_seat'])} (your partner) asks you: may I go out?" in out
        assert "a question to you at seat" in out and "[1] yes  [2] no" in out
    assert "must answer first" in out


def test_a_person_may_sit_in_matches(monkeypatch):
    from agents.play.games import PolicyError, play_games

    out = io.StringIO()
    person = HumanPolicy(io.StringIO("1\n" * 1000), out)
    results = play_games([person, GreedyPolicy()], np.array([[0, 1], [1, 0]]), np.array([5, 5]), rules="mini")
    assert len(results.totals) == 2 and "game 0, deal 1" in out.getvalue() and "game 1, deal 1" in out.getvalue()
    with pytest.raises(PolicyError, match="'human' failed in act: PersonLeft"):
        play_games([HumanPolicy(io.StringIO(""), out), GreedyPolicy()], np.array([[0, 1]]), np.array([5]), rules="mini")
    with pytest.raises(RuntimeError, match="start"):
        HumanPolicy(io.StringIO("1\n"), out).act(_batch(_at_a_question()[0].games, load_rules("whitnack")))


# ------------------------------------------------------------------------------------------------ nothing hidden


def _batch(games: np.ndarray, rules) -> PolicyBatch:
    """The decision at hand of one game."""
    vec = VectorGame(1, rules, observations=True, autoreset="DISABLED")
    vec.games[0] = games[0]
    vec.refresh()
    seats, views = vec.seats.copy(), np.empty(1, GAME_DTYPE)
    redact_rows(vec.games, vec.rule_records, np.zeros(1, np.int64), seats, views)
    return PolicyBatch(
        vec.observations, vec.action_masks, np.zeros(1, np.int64), seats, np.zeros(1, bool), np.ones(1, np.uint64),
        lambda: SeatViews(views, vec.rule_records),
    )  # fmt: skip


def _decide(games: np.ndarray, rules, typed: str, hint="greedy") -> tuple[int, str]:
    out = io.StringIO()
    person = HumanPolicy(io.StringIO(typed), out, hint=hint)
    person.start(1, rules, 0)
    return int(person.act(_batch(games, rules))[0]), out.getvalue()


def _at_a_question() -> tuple[GameAccess, object]:
    rules = load_rules("whitnack")
    for seed in range(50):
        access = GameAccess(rules.to_record())
        access.start(seed)
        for label in _greedy_game("whitnack", seed):
            if int(access.game["phase"]) == PHASE_ANSWER:
                return access, rules
            access.play(ACTIONS.parse(label))
    raise AssertionError("greedy never asked")


@pytest.mark.parametrize("preset", ["whitnack", "mini"])
def test_what_is_printed_follows_no_hidden_card(preset):
    rules, rng = load_rules(preset), np.random.default_rng(7)
    access = GameAccess(rules.to_record())
    everything = "table\nhint\n?\nwhy take\nwhy ask\nwhy meld KKK\nwhy add 2>K\nwhy discard 5\nlist\nmeld 444\ntake\n1\n1\n"
    access.start(11)
    compared = 0
    while not access.is_over:
        if rng.random() < 0.3:
            seat = int(access.game["to_move"])
            other = shuffled_world(access.game, rules, seat, rng)
            assert _decide(access.games, rules, everything) == _decide(other, rules, everything)
            compared += 1
        access.play(int(rng.choice(access.legal())))
    assert compared >= 3


def test_players_at_the_table_are_handed_redacted_records_only():
    from agents.play.table import play_at_table

    class Spy:
        def __init__(self):
            self.looks = []

        def act(self, batch):
            self.note(batch.views, int(batch.seats[0]))
            return np.flatnonzero(batch.action_masks[0])[:1]

        def note(self, views, seat):
            g = views.games[0]
            self.looks.append(g["feet"].any() or g["stock"].any() or g["seed"] or np.delete(g["hands"], seat, 0).any())

    spy = Spy()
    play_at_table([spy] * 4, load_rules("whitnack", deals=1), 3, on_deal_over=lambda views: spy.note(views, 0))
    assert len(spy.looks) > 50 and not any(spy.looks)


def test_the_parts_of_a_score_sum_to_it():
    rules = load_rules("whitnack", sevens_book=1000, unfinished_wild_penalty=500, add_to_complete="any")
    access, greedy = GameAccess(rules.to_record()), GreedyPolicy()
    for seed in range(3):
        access.start(seed)
        while not access.is_over:
            access.play(int(greedy.act(_batch(access.games, rules))[0]))
        for side in range(2):
            assert sum(points for *_, points in deal_parts(access.game, access.rule, side)) == access.game["deal_scores"][side]


# ----------------------------------------------------------------------------------------------------- what is typed


@pytest.mark.parametrize(
    ("typed", "labels"),
    [
        ("t", "take"), ("take +2", "take+2"), ("take with joker", "take+*"), ("take > meld", "take>meld"), ("dr", "draw"),
        ("m kkk", "meld KKK"), ("KK2", "meld KK2"), ("k*k", "meld KK*"), ("22*", "meld 22*"), ("444", "meld 444"),
        ("meld 10 10 10 10 2", "meld TTT; add T; add 2>T"), ("meld kkjoker", "meld KK*"), ("lay kk22", "meld KK2; add 2>K"),
        ("meld k22", "meld K22"), ("meld 2222*", "meld 222; add 2; add *"), ("2", "yes"),
        ("add kk", "add K; add K"), ("a 2>k", "add 2>K"), ("add 2 to the kings", "add 2>K"), ("add joker on k", "add *>K"),
        ("add 22>wild", "add 2; add 2"), ("add k2>k", "add K; add 2>K"), ("add *", "add *"), ("put 5", "add 5"),
        ("d 5", "discard 5"), ("disc ten", "discard T"), ("x black 3", "discard b"), ("discard 3", "discard b"),
        ("D  b", "discard b"), ("ask", "ask"), ("Y", "yes"), ("n", "no"),
    ],
)  # fmt: skip
def test_what_a_person_types(typed, labels):
    listed = [ACTIONS.parse("no"), ACTIONS.parse("yes")]
    assert "; ".join(ACTIONS.label(action) for action in parse_wish(typed, listed)) == labels


@pytest.mark.parametrize(
    "typed",
    ["meld", "meld kk", "meld kkq", "meld 33b", "add", "add k2", "add q>k", "d", "d 5 6", "d r", "7", "0", "kq", "foo"],
)
def test_what_no_action_is(typed):
    with pytest.raises(WishError):
        parse_wish(typed, [0, 1])


@pytest.mark.parametrize("label", list(ACTIONS))
def test_every_label_is_understood_as_it_is(label):
    for typed in (label, label.upper(), f"  {label} "):
        first, *rest = parse_wish(typed, ())
        # A meld is laid from its naturals on; K22 begins like any other.
        assert ACTIONS.label(first) == label and not rest


def test_a_line_is_parted():
    assert split_line(" meld KKK;add  2>K , discard 5;; ") == ["meld KKK", "add 2>K", "discard 5"]


# ----------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seat", "4"), "seats 0 to 3, not 4"),
        (("--seat", "x"), "--seat"),
        (("--player", "0=greedy"), "seat 0 is yours"),
        (("--player", "1"), "SEAT=POLICY"),
        (("--player", "1="), "SEAT=POLICY"),
        (("--player", "-1=greedy"), "SEAT=POLICY"),
        (("--player", "9=greedy"), "not 9"),
        (("--player", "1=gredy"), "did you mean greedy?"),
        (("--player", "1=greedy", "--player", "1=random"), "already"),
        (("--others", "nosuch"), "nosuch"),
        (("--rules", "nil"), "nil"),
        (("--set", "deals=99"), "deals = 99"),
        (("--seed", "-1"), "--seed"),
        (("--record", "/nowhere/at/all"), "/nowhere/at/all"),
        (("extra",), "extra"),
    ],
)
def test_wrong_options(mistake, arguments, said):
    assert said in mistake("play", *arguments)


def test_it_runs_without_torch_and_on_any_bytes():
    code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'handfoot'; from training.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "play", "--rules", "mini", "--seed", "1"], cwd=ROOT, timeout=300,
        input=b"\xff\xfe\x00junk\ndraw\n" + bytes(range(256)), capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"You drew") == 1


def test_the_record_names_every_player(play, tmp_path):
    path = tmp_path / "game.jsonl"
    play(["quit"], "--player", "2=random", "--seat", "3", "--record", path)
    record = json.loads(path.read_text())
    assert record["players"] == ["greedy", "greedy", "random", "human"]
    assert len(list(steps(record))) >= 1
