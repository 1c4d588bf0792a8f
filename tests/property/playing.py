"""Games of a rule set driven in equal parts by all drivers, checked at every decision. See `run`."""

import json
from dataclasses import dataclass, field

import numpy as np

from agents.scripted.dispatch import GREEDY as GREEDY_PLAYER
from agents.scripted.dispatch import choose_batch
from hf_env.actions import ACTIONS
from hf_env.engine.cards import DECK_SIZE
from hf_env.engine.invariants import MESSAGES
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.positions import to_position
from hf_env.records import GameRecorder, replay
from hf_env.rules import RuleSet
from tests.property import kernels as k

EASY_QUOTA = [1, 0, 0]
DRIVERS = (k.RANDOM, k.NON_DISCARD, k.GREEDY, k.GREEDY_OR_RANDOM, k.GREEDY_OR_RANDOM)
NUM_GAMES = 40 * len(DRIVERS)
RECORDED = 2 * len(DRIVERS)  # recording and replaying in Python take ten times as long as all the rest


@dataclass
class Findings:
    """What a run has seen. `seen`: how often each action was legal; `coverage`: by row of kernels.ROWS."""

    decisions: int = 0
    deals: int = 0
    replayed: int = 0  # decisions of games that were recorded and replayed to the same state
    seen: np.ndarray = field(default_factory=lambda: np.zeros(len(ACTIONS), np.int64))
    coverage: np.ndarray = field(default_factory=lambda: np.zeros(len(k.ROWS), np.int64))

    def table(self) -> str:
        """The coverage as text, a row a line."""
        rows = [f"{count:10,}  {name}" for name, count in zip(k.ROWS, self.coverage, strict=True)]
        return "\n".join([f"{self.decisions:,} decisions in {self.deals:,} deals; {self.replayed:,} decisions replayed", *rows])


def most_decisions(rules: RuleSet) -> int:
    """More than a deal can have: a draw or take, a question with its answers and a discard a turn, and each card laid once.

    That is 800 x 4 + 270 = 3,470 for whitnack. Rule: docs/rules.md 8.5.
    """
    return rules.max_turns * (2 + rules.seats_per_side) + DECK_SIZE * rules.decks


class Recorded:
    """The games of the first slots, recorded from their deal on and replayed when they end, or are broken off."""

    def __init__(self, games: np.ndarray, rules: list[RuleSet], slots: int) -> None:
        self.games, self.rules = games, rules
        self.recorders = [GameRecorder() for _ in range(slots)]
        self.decisions = 0
        for slot in range(slots):
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        rules = self.rules[int(self.games["rule"][slot])]
        self.recorders[slot].start(rules, int(self.games["seed"][slot]), ["test"] * rules.players)
        self.recorders[slot].deal(self.games, slot)

    def play(self, chosen: np.ndarray) -> list[int]:
        """Note the actions (N,) just played, -1 for none; replay the games that are over. Returns whose deals are over."""
        slots = len(self.recorders)
        for slot in np.flatnonzero(chosen[:slots] >= 0):
            self.recorders[slot].action(self.games, slot, int(chosen[slot]))
        over = np.flatnonzero(self.games["phase"][:slots] == PHASE_OVER).tolist()
        for slot in over:
            if self.games["game_over"][slot]:
                self.replay(slot)
        return over

    def deal(self, over: list[int]) -> None:
        """The next deals of these slots, or their next games, have been dealt."""
        for slot in over:
            if self.games["deal"][slot] == 1:
                self._begin(slot)
            else:
                self.recorders[slot].deal(self.games, slot)

    def replay(self, slot: int) -> None:
        """A game's record, as text, replays to the game's very state. AssertionError otherwise, or RecordError."""
        record = json.loads(json.dumps(self.recorders[slot].record()))
        again, game = replay(record), self.games[slot : slot + 1].copy()
        game["rule"] = 0  # its place among the rule sets here
        assert again.tobytes() == game.tobytes(), f"the replayed game is another one: {json.dumps(record)}"
        self.decisions += sum(len(deal["actions"]) for deal in record["deals"])


def run(rules: RuleSet, decisions: int, seed: int = 0, num_games: int = NUM_GAMES, recorded: int = RECORDED) -> Findings:
    """Play so many decisions or a few more; AssertionError at the first broken invariant, empty mask or endless deal.

    A fifth of the games is played by each driver, the last fifth under a quota of 1, 0, 0 (where the rules have the quota
    of whitnack; elsewhere under their own). All games of the first `recorded` of `num_games` slots are replayed.
    """
    easy = rules.with_overrides(books_to_go_out=EASY_QUOTA) if rules.quota(1) == (2, 2, 1) else rules
    records = np.concatenate([rules.to_record(), easy.to_record()])
    games = np.zeros(num_games, GAME_DTYPE)
    numbers = np.arange(num_games) % len(DRIVERS)
    drivers = np.array(DRIVERS, np.int64)[numbers]
    bounds = np.array([most_decisions(rules)] * 2, np.int64)
    masks = np.zeros((num_games, len(ACTIONS)), np.int8)
    seats, greedy = np.zeros(num_games, np.int32), np.zeros(num_games, np.int32)
    keys = np.arange(num_games, dtype=np.uint64) + np.uint64(seed * 1_000_003)
    made = np.zeros(num_games, np.int64)
    problem, chosen = np.zeros(3, np.int64), np.zeros(num_games, np.int64)
    findings = Findings()
    k.begin(games, records, (numbers == len(DRIVERS) - 1).astype(np.int64), np.int64(seed))
    recorder = Recorded(games, [rules, easy], min(recorded, num_games))
    while findings.decisions < decisions:
        k.look(games, records, masks, seats, keys, findings.seen, made, bounds, problem)
        assert problem[0] == k.OK, _describe(problem, games, rules)
        choose_batch(np.int64(GREEDY_PLAYER), games, records, seats, masks, keys, greedy)
        findings.decisions += k.move(games, records, masks, greedy, drivers, keys, made, findings.coverage, chosen)
        over = recorder.play(chosen)
        findings.deals += k.go_on(games, records, made)
        recorder.deal(over)
    for slot in range(len(recorder.recorders)):
        recorder.replay(slot)
    findings.replayed = recorder.decisions
    return findings


def _describe(problem: np.ndarray, games: np.ndarray, rules: RuleSet) -> str:
    kind, game, code = (int(value) for value in problem)
    what = {k.BROKEN: MESSAGES[code], k.NO_ACTION: "no legal action", k.TOO_LONG: "the deal does not end"}[kind]
    return f"{what}\n{rules.to_toml()}{to_position(games, game, rules)}"
