"""The engine and the slow reference, side by side: legal actions, position, scores and ends at every decision.

The reference was written from the rules and not from the engine; where the two differ one of them is wrong, and the
message holds all that is needed to see which: the rule set, the seed, the driver, and the position before.
"""

import functools
import hashlib
import json
import random
import struct
from collections import Counter

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.invariants import MESSAGES
from hf_env.engine.state import END_MAX_TURNS, END_OUT, END_STOCK_DRAW, END_STOCK_RED3
from hf_env.positions import to_position
from hf_env.records import GameRecorder, deck_for, replay
from hf_env.rules import RuleSet
from tests.differential.drivers import Driver
from tests.reference.game import ReferenceGame
from tests.reference.laying import Options

REASONS = {END_OUT: "out", END_STOCK_DRAW: "stock_draw", END_STOCK_RED3: "stock_red3", END_MAX_TURNS: "max_turns"}
MASK64 = (1 << 64) - 1
GAMMA, M1, M2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
FOR_RESHUFFLE = 3


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * M1) & MASK64
    x = ((x ^ (x >> 27)) * M2) & MASK64
    return x ^ (x >> 31)


def reshuffled(seed: int, deal: int, number: int, below_top: str) -> str:
    """The stock after a reshuffle, first card drawn first, worked out again in plain Python.

    `below_top`: the discards below the top one, the uppermost first.
    """
    words = struct.pack("<4Q", seed, FOR_RESHUFFLE, deal, number)
    state = int.from_bytes(hashlib.blake2b(words, digest_size=8, person=b"hf_env seeds 2").digest(), "little")
    cards = list(reversed(below_top))
    for i in range(len(cards) - 1, 0, -1):
        state = (state + GAMMA) & MASK64
        j = ((_mix(state) >> 33) * (i + 1)) >> 31
        cards[i], cards[j] = cards[j], cards[i]
    return "".join(cards)


@functools.lru_cache(maxsize=2)
def options_of(rules: RuleSet) -> Options:
    """The reference's options, with what its searches found in earlier games of these rules."""
    return Options(rules.resolved())


class Difference(AssertionError):
    """The engine and the reference disagree."""


class SideBySide:
    """One game of both, broken off after `most_decisions`. `decisions` and `ends` count what happened."""

    def __init__(self, rules: RuleSet, seed: int, most_decisions: int = 1 << 30) -> None:
        self.rules = rules
        self.seed = seed
        self.most_decisions = most_decisions
        self.resolved = rules.resolved()
        self.options = options_of(rules)
        self.engine = GameAccess(rules.to_record())
        self.decisions = 0
        self.ends: Counter[str] = Counter()
        self.totals = [0] * rules.num_sides
        self.last = ""

    def play(self, driver: Driver, rng: random.Random) -> None:
        """Play a whole game."""
        self.engine.start(self.seed)
        self.recorder = GameRecorder()
        self.recorder.start(self.rules, self.seed, ["test"] * self.rules.players)
        first_dealer = int(self.engine.game["dealer"])
        deal = 1
        while True:
            dealer = (first_dealer + deal - 1) % self.rules.players
            self._begin_deal(deal, dealer)
            self._play_deal(driver, rng)
            if self.decisions >= self.most_decisions or self._end_deal(deal):
                break
            deal += 1
            self.engine.next_deal()
        self._replay()

    def _replay(self) -> None:
        """What was recorded replays to the same state."""
        record = json.loads(json.dumps(self.recorder.record()))
        if replay(record)[0].tobytes() != self.engine.game.tobytes():
            self._differ("the replayed game is another one")

    def _begin_deal(self, deal: int, dealer: int) -> None:
        deck = deck_for(self.rules, self.seed, deal)
        self.recorder.deal(self.engine.games, 0)

        def reshuffle(count: int, below_top: str) -> str:
            return reshuffled(self.seed, deal, count, below_top)

        self.reference = ReferenceGame(self.resolved, self.seed, deal, dealer, deck, reshuffle, self.totals)
        self.reference.options = self.options

    def _play_deal(self, driver: Driver, rng: random.Random) -> None:
        reference, engine = self.reference, self.engine
        while True:
            legal = engine.legal()
            self._compare([ACTIONS.label(action) for action in legal])
            if reference.over:
                return
            action = driver(engine, legal, rng)
            self.last = ACTIONS.label(action)
            self.decisions += 1
            engine.play(action)
            reference.apply(self.last)
            self.recorder.action(engine.games, 0, action)
            if self.decisions >= self.most_decisions:
                return

    def _compare(self, labels: list[str]) -> None:
        reference, engine = self.reference, self.engine
        legal = reference.legal()
        if set(labels) != legal:
            self._differ(f"legal: engine only {sorted(set(labels) - legal)}, reference only {sorted(legal - set(labels))}")
        if not reference.over and not legal:
            self._differ("no legal action")
        code = engine.broken_invariant()
        if code:
            self._differ(MESSAGES[code])
        ours, theirs = to_position(engine.games, 0, self.rules, history=False), reference.position()
        if engine.is_over != reference.over:
            self._differ(f"over: engine {engine.is_over}, reference {reference.over}")
        if not reference.over and int(engine.game["to_move"]) != reference.to_move():
            self._differ("seat to move")
        for key in theirs:
            if key == "rules" or (key in ("turn", "scores") and reference.over):
                continue
            if ours[key] != theirs[key]:
                self._differ(f"{key}: engine {ours[key]}, reference {theirs[key]}")

    def _end_deal(self, deal: int) -> bool:
        """Compare scores and the end; whether the game is over."""
        reference, game, rules = self.reference, self.engine.game, self.rules
        reason, out_seat = REASONS[int(game["end_reason"])], int(game["out_seat"])
        if (reason, out_seat) != (reference.end_reason, -1 if reference.out_seat is None else reference.out_seat):
            self._differ(f"end: engine {reason, out_seat}, reference {reference.end_reason, reference.out_seat}")
        scores = reference.deal_scores()
        sides = rules.num_sides
        self.totals = [total + score for total, score in zip(self.totals, scores, strict=True)]
        if [int(s) for s in game["deal_scores"][:sides]] != scores or self.engine.scores() != scores:
            self._differ(f"scores: engine {game['deal_scores'][:sides]}, reference {scores}")
        if [int(s) for s in game["scores"][:sides]] != self.totals:
            self._differ(f"totals: engine {game['scores'][:sides]}, reference {self.totals}")
        self.ends[reason] += 1
        if rules.target is None:
            over = deal == rules.deals
        else:
            over = deal == rules.max_deals or max(self.totals) >= rules.target
        if bool(game["game_over"]) != over:
            self._differ(f"game over: engine {game['game_over']}, expected {over}")
        return over

    def _differ(self, what: str) -> None:
        raise Difference(
            f"{what}\nrules {self.rules.to_toml()!r} seed {self.seed} decision {self.decisions} after {self.last!r}\n"
            f"{json.dumps(self.reference.position())}"
        )
