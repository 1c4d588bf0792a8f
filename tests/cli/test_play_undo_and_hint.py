"""``handfoot play``: what was laid can be taken back until it has shown something; a hint tells moves with what they are worth."""

import io
import re
from itertools import pairwise

import numpy as np
import pytest

from agents.human import HumanPolicy, PersonLeft
from agents.human.hints import Adviser, adviser_for
from agents.play.table import play_at_table
from agents.policy import PolicyBatch
from agents.scripted import GreedyPolicy
from hf_env.actions import ACTIONS
from hf_env.records import GameRecorder, read, replay
from hf_env.rules import load_rules
from hf_env.vector.game import VectorGame

MINI, WHITNACK = load_rules("mini"), load_rules("whitnack", deals=1)


class Noted(GreedyPolicy):
    """Greedy, who notes what each decision was and its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple] = []

    def act(self, batch):
        self.asked.append((int(batch.seats[0]), int(batch.keys[0]), batch.observations.tobytes(), batch.action_masks.tobytes()))
        return super().act(batch)


class Wavering:
    """An input that lays by greedy's hints, and takes back each lay-down once where it may; then it lays the same again."""

    def __init__(self, said: io.StringIO) -> None:
        self.said, self.hinted, self.undone, self.last = said, False, 0, ""

    def readline(self, size: int = -1) -> str:
        told = self.said.getvalue()[-4000:]
        if not self.hinted:
            self.hinted = True
            return "hint\n"
        self.hinted = False
        action = re.findall(r"greedy would (.+)\.\n", told)[-1]
        if not action.startswith(("meld", "add")):
            return f"{action}\n"
        self.undone += 1
        # Where it has shown something the undo is refused, and nothing is left of the line.
        return f"{action}; undo; {action}\n" if self.undone % 2 else f"{action}\n"


class Direct(Wavering):
    """The same without taking back."""

    def readline(self, size: int = -1) -> str:
        return super().readline(size).partition(";")[0].rstrip() + "\n"


def played(rules, seed, lines):
    """Record, output and what the other seats were asked, of a game of a person in seat 0."""
    out, recorder, others = io.StringIO(), GameRecorder(), Noted()
    person = HumanPolicy(lines(out), out, hint="greedy")
    play_at_table([person] + [others] * (rules.players - 1), rules, seed, recorder=recorder)
    return recorder.record(), out.getvalue(), others.asked


@pytest.mark.parametrize(("rules", "seed"), [(MINI, 1), (MINI, 2), (WHITNACK, 7)])
def test_a_game_with_takings_back_is_the_game_without(rules, seed):
    """The record, the cards and what the others were asked are those of the game in which nothing was taken back."""
    wavering, said, asked = played(rules, seed, Wavering)
    direct, _, asked_directly = played(rules, seed, Direct)
    assert said.count("Taken back: ") >= 2
    assert wavering == direct
    replay(wavering)
    assert asked == asked_directly


def at(rules, seed, *typed):
    """What is said from the last of the typed lines on."""
    out = io.StringIO()
    person = HumanPolicy(io.StringIO("".join(f"{line}\n" for line in typed)), out, hint="greedy")
    with pytest.raises(PersonLeft):
        play_at_table([person] + [GreedyPolicy()] * (rules.players - 1), rules, seed)
    return out.getvalue().rpartition(f"> {typed[-1]}\n")[2]


NOTHING = "Nothing can be taken back but what was laid in this turn"


def test_what_was_laid_comes_back_to_the_hand_one_after_another():
    before = at(load_rules("whitnack"), 2053, "draw", "list")
    back = at(load_rules("whitnack"), 2053, "draw", "meld AAA; add 2>A", "undo; undo")
    assert "Taken back: add 2>A." in back and "Taken back: meld AAA." in back
    assert before.strip() == back.partition("Taken back: meld AAA.\n")[2].strip()
    assert NOTHING in at(load_rules("whitnack"), 2053, "draw", "meld AAA", "undo", "undo")


@pytest.mark.parametrize("word", ["undo", "UNDO", "take back", "Take  back", "back"])
def test_words_for_it(word):
    assert "Taken back: meld AAA." in at(load_rules("whitnack"), 2053, "draw", "meld AAA", word)


def test_a_draw_a_take_and_a_discard_stay():
    rules = load_rules("whitnack")
    assert NOTHING in at(rules, 2053, "undo")
    assert NOTHING in at(rules, 2053, "draw", "undo")
    assert NOTHING in at(rules, 2053, "draw", "discard 8", "undo")
    refused = at(rules, 2053, "undo; draw")
    assert "Not done either: draw." in refused


def test_what_has_shown_something_stays():
    """At every decision of whole games: what can be taken back are the lay-downs since the hand, the foot or the stock last changed."""
    looked, seen = [], {"foot": 0, "answer": 0, "take": 0}

    class Watching(HumanPolicy):
        """Greedy, who looks at what could be taken back."""

        def act(self, batch):
            g, seat = batch.views.games[0], int(batch.seats[0])
            action = int(GreedyPolicy().act(batch)[0])
            stock = int(g["stock_end"]) - int(g["stock_next"])
            looked.append(((seat, int(g["turns"]), stock, bool(g["in_foot"][seat])), self.laid, action))
            return np.array([action])

    for seed in (3, 7, 11, 28):
        play_at_table([Watching()] * 4, WHITNACK, seed)
    for (place, laid, action), (next_place, next_laid, _) in pairwise(looked):
        label = ACTIONS.label(action)
        lays = label.startswith(("meld", "add"))
        assert next_laid == ((*laid, action) if lays and place == next_place else ())
        seen["foot"] += lays and place[:2] == next_place[:2] and place[3] != next_place[3]
        seen["answer"] += label in ("yes", "no")
        seen["take"] += label.startswith("take")
    assert all(seen.values()) and any(laid for _, laid, _ in looked)


def test_the_record_of_a_game_left_after_taking_back_holds_what_lies(play, tmp_path):
    path = tmp_path / "game.jsonl"
    play(["draw", "meld AAA; meld KK2", "undo", "quit"], "--seed", 2053, "--record", path)
    (record,) = read(path)
    replay(record)
    assert record["deals"][0]["actions"][-2:] == ["draw", "meld AAA"]


# --------------------------------------------------------------------------------------------------------------- hints


def decision(rules, seed=3) -> PolicyBatch:
    vec = VectorGame(1, rules, 0, autoreset="DISABLED")
    vec.reset(game_seeds=[seed])
    return PolicyBatch.of(vec, np.zeros(1, np.int64), np.ones(1, np.uint64), np.ones(1, bool))


def test_by_default_the_player_that_knows_the_rules_best_is_asked(monkeypatch):
    pytest.importorskip("torch")
    assert [adviser_for(load_rules(name)) for name in ("whitnack", "family", "mini")] == [
        "pretrained:rules=whitnack", "pretrained:rules=several", "expert",
    ]  # fmt: skip
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert adviser_for(WHITNACK) == "expert"


def test_a_learned_player_tells_its_best_moves_and_what_it_expects(play):
    pytest.importorskip("torch")
    code, out, _ = play(["draw", "hint", "quit"], "--seed", 2053)
    assert code == 0
    said = out.partition("> hint\n")[2]
    head, columns, first, *_ = said.splitlines()
    found = re.fullmatch(r"pretrained:rules=whitnack would (.+), expecting [+-][\d,]+ points\.", head)
    assert found and columns.split() == ["move", "probability"]
    assert first.split("  ")[1].strip() == found[1] and float(first.split()[-1].rstrip("%")) > 1
    assert len(said.partition("> quit")[0].splitlines()) <= 7


def test_a_search_tells_the_points_of_moves(play):
    code, out, _ = play(["draw", "hint", "quit"], "--seed", 2053, "--hint", "search:rollouts=20")
    rows = out.partition("> hint\n")[2].partition("> quit")[0].splitlines()
    assert code == 0 and rows[0].startswith("search:rollouts=20 would ") and rows[1].split() == ["move", "probability", "points"]
    assert re.search(r"%  +[+-][\d,]+$", rows[2])


def test_a_hint_changes_nothing_and_fails_in_a_line():
    class Meddling:
        """Writes into all that it gets, and answers rubbish."""

        def act(self, batch):
            batch.action_masks[:] = 1
            batch.observations[:] = 0
            raise SystemExit("no\nhint")

    batch = decision(MINI)
    masks, observations = batch.action_masks.copy(), batch.observations.copy()
    (line,) = Adviser(Meddling()).advice(batch, MINI)
    assert line.startswith("No hint: policy ") and line.endswith(" failed: SystemExit: no hint.")
    assert (batch.action_masks == masks).all() and (batch.observations == observations).all()


def test_one_who_cannot_sit_is_refused(mistake, play, tmp_path):
    assert "no shipped player was made for 2 seats in 2 sides" in mistake("play", "--rules", "mini", "--hint", "pretrained")
    assert "did you mean" in mistake("play", "--rules", "mini", "--hint", "exprt")
    lines = Adviser("pretrained").advice(decision(MINI), MINI)
    assert len(lines) == 1 and lines[0].startswith("No hint: policy 'pretrained' cannot play here: no shipped player")


def test_who_played_is_said_at_the_end(play):
    pytest.importorskip("torch")
    code, out, _ = play(["quit"], "--rules", "family", "--others", "pretrained")
    assert code == 0 and "seat 1 pretrained:rules=several" in out
    assert out.endswith("You have left the table.\npretrained played as pretrained:rules=several under family.\n")
