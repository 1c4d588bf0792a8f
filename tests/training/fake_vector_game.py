"""A small deterministic stand-in for ``hf_env.VectorGame``: same attributes, toy rules, learnable in seconds.

Four seats in pairs. A turn: ``draw`` (forced), then one to three additions, the first of them now and then
preceded by an ask that the partner answers in the middle of the turn, then a discard (forced). The observation
shows a wanted rank: adding it brings the side a point, any other of the five legal ones nothing. A deal has a
fixed number of turns that differs by game and deal; a game has two deals.
"""

from types import SimpleNamespace

import numpy as np

from agents.policy import mix64

DRAW, ADD, ASK, YES, NO, DISCARD = 0, 75, 110, 111, 112, 113
PHASE_DRAW, PHASE_PLAY, PHASE_ANSWER, PHASE_DISCARD = range(4)
NUM_RANKS = 5
POINTS = 100


class FakeVectorGame:
    """See the module. num_games, seed: as VectorGame; ``scale`` multiplies rewards."""

    num_seats, num_sides, num_actions, observation_width = 4, 2, 127, 12
    observation_layout = SimpleNamespace(sections=(SimpleNamespace(name="all", length=12),))

    def __init__(self, num_games: int, seed: int = 0, scale: float = 1.0, deals_a_game: int = 2) -> None:
        self.num_games, self.seed, self.scale, self.deals_a_game = num_games, seed, scale, deals_a_game
        n = num_games
        self.observation_scale = np.full(self.observation_width, 0.5, np.float32)
        self.observations = np.zeros((n, self.observation_width), np.int16)
        self.action_masks = np.zeros((n, self.num_actions), np.int8)
        self.seats = np.zeros(n, np.int32)
        self.rewards = np.zeros((n, self.num_seats), np.float32)
        self.terminated = np.zeros(n, bool)
        self.truncated = np.zeros(n, bool)
        self.deal_ended = np.zeros(n, bool)
        self.deal_scores = np.zeros((n, self.num_sides), np.int32)
        self.end_reasons = np.zeros(n, np.int32)
        self.final_observations = np.zeros((n, self.num_seats, self.observation_width), np.int16)
        self.reset(seed)

    def reset(self, seed=None):
        """All games from their first deal."""
        self.seed = self.seed if seed is None else seed
        n = self.num_games
        self._state = {
            name: np.zeros(n, np.int64) for name in ("draws", "deal", "turn_seat", "phase", "plays_left", "wanted", "turns_left", "asked")
        }
        self._scores = np.zeros((n, self.num_sides), np.int64)
        self._begin_deal(np.ones(n, bool))
        self._refresh()

    def _random(self, where, below):
        """Integers below ``below`` for the chosen slots, from each slot's own counter."""
        slots = np.flatnonzero(where)
        self._state["draws"][slots] += 1
        own = mix64(slots.astype(np.uint64) + np.uint64(self.seed * 1000))
        keys = mix64(own ^ self._state["draws"][slots].astype(np.uint64))
        return (keys >> np.uint64(33)).astype(np.int64) % below

    def _begin_deal(self, where):
        s = self._state
        s["deal"][where] += 1
        self._scores[where] = 0
        s["turn_seat"][where] = self._random(where, self.num_seats)
        s["turns_left"][where] = 5 + self._random(where, 7)
        self._begin_turn(where)

    def _begin_turn(self, where):
        s = self._state
        s["phase"][where] = PHASE_DRAW
        s["plays_left"][where] = 1 + self._random(where, 3)
        s["wanted"][where] = self._random(where, NUM_RANKS)
        s["asked"][where] = 0

    def _to_move(self):
        s = self._state
        return np.where(s["phase"] == PHASE_ANSWER, (s["turn_seat"] + 2) % 4, s["turn_seat"]).astype(np.int32)

    def _refresh(self):
        s = self._state
        self.seats[:] = self._to_move()
        self.observations[:] = self.observe(self.seats)
        masks = self.action_masks
        masks[:] = 0
        masks[s["phase"] == PHASE_DRAW, DRAW] = 1
        masks[s["phase"] == PHASE_DISCARD, DISCARD] = 1
        play = s["phase"] == PHASE_PLAY
        masks[play, ADD : ADD + NUM_RANKS] = 1
        masks[play & (s["asked"] == 0) & (s["wanted"] == 0), ASK] = 1
        masks[s["phase"] == PHASE_ANSWER, YES : NO + 1] = 1

    def observe(self, seats):
        """(N, F) int16: phase, wanted rank, whose turn relative to the seat, plays and turns left, asked."""
        s = self._state
        out = np.zeros((self.num_games, self.observation_width), np.int16)
        rows = np.arange(self.num_games)
        out[:, 0] = s["phase"]
        out[rows, 1 + s["wanted"]] = 2
        out[:, 6] = (s["turn_seat"] - seats) % self.num_seats
        out[:, 7], out[:, 8], out[:, 9], out[:, 10] = s["plays_left"], s["turns_left"], s["asked"], s["deal"]
        return out

    def states(self):
        """(N, G) int16: everything."""
        return np.stack([self._state[name] for name in sorted(self._state)], 1).astype(np.int16)

    def step(self, actions):
        """One decision of each game; ended games start anew in the same step."""
        actions = np.asarray(actions)
        rows = np.arange(self.num_games)
        if not self.action_masks[rows, actions].all():
            raise ValueError(f"illegal action in slot {int(np.flatnonzero(self.action_masks[rows, actions] == 0)[0])}")
        s = self._state
        phase = s["phase"].copy()
        side = s["turn_seat"] % self.num_sides
        self.rewards[:] = 0
        s["phase"][phase == PHASE_DRAW] = PHASE_PLAY
        asks = (phase == PHASE_PLAY) & (actions == ASK)
        s["phase"][asks], s["asked"][asks] = PHASE_ANSWER, 1
        s["phase"][phase == PHASE_ANSWER] = PHASE_PLAY
        adds = (phase == PHASE_PLAY) & ~asks
        hits = adds & (actions - ADD == s["wanted"])
        self._pay(hits, side, POINTS)
        # Asking is worth something when the partner says yes.
        self._pay((phase == PHASE_ANSWER) & (actions == YES), side, POINTS // 2)
        s["plays_left"][adds] -= 1
        s["wanted"][adds] = self._random(adds, NUM_RANKS)
        s["phase"][adds & (s["plays_left"] == 0)] = PHASE_DISCARD
        self._end_turns(phase == PHASE_DISCARD)

    def _pay(self, where, side, points):
        slots = np.flatnonzero(where)
        self._scores[slots, side[slots]] += points
        own = np.arange(self.num_seats)[None] % self.num_sides == side[slots, None]
        self.rewards[slots] += np.where(own, points, -points).astype(np.float32) / 1000 * np.float32(self.scale)

    def _end_turns(self, discards):
        s = self._state
        s["turns_left"][discards] -= 1
        self.deal_ended[:] = discards & (s["turns_left"] == 0)
        self.deal_scores[self.deal_ended] = self._scores[self.deal_ended]
        self.end_reasons[:] = np.where(self.deal_ended, 1 + (self._scores[:, 0] < self._scores[:, 1]), 0)
        self.terminated[:] = self.deal_ended & (s["deal"] == self.deals_a_game)
        if self.terminated.any():
            for seat in range(self.num_seats):
                self.final_observations[:, seat] = self.observe(np.full(self.num_games, seat))
        going_on = discards & ~self.deal_ended
        s["turn_seat"][going_on] = (s["turn_seat"][going_on] + 1) % self.num_seats
        self._begin_turn(going_on)
        s["deal"][self.terminated] = 0
        self._begin_deal(self.deal_ended.copy())
        self._refresh()

    def state_dict(self):
        """Generators and games in progress as arrays."""
        rest = {"scores": self._scores.copy(), "seed": np.array([self.seed])}
        return {name: value.copy() for name, value in self._state.items()} | rest

    def load_state_dict(self, state):
        """Bit-exact inverse of ``state_dict``."""
        for name in self._state:
            self._state[name][:] = state[name]
        self._scores[:] = state["scores"]
        self.seed = int(state["seed"][0])
        self._refresh()
