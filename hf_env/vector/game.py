"""N games side by side in shared NumPy buffers: what the trainer, the search and the benchmarks stand on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.arguments import check_choice, check_int
from hf_env.engine.rewards import (
    REWARD_SCORE,
    REWARD_SCORE_DIFFERENCE,
    REWARD_WIN,
    SHAPING_FULL,
    SHAPING_NONE,
    SHAPING_TABLE,
)
from hf_env.engine.state import GAME_DTYPE
from hf_env.engine.workspace import needs_growth
from hf_env.observation.layout import ObservationLayout, StateLayout
from hf_env.rules.loading import load_rule_sets
from hf_env.seeds import MAX_SEED
from hf_env.vector import step as v
from hf_env.vector.runner import GameRunner
from hf_env.vector.saved import STATE_NAMES, load_state, read_only, restore, target

REWARDS = {"score_difference": REWARD_SCORE_DIFFERENCE, "score": REWARD_SCORE, "win": REWARD_WIN}
SHAPINGS = {None: SHAPING_NONE, "table": SHAPING_TABLE, "full": SHAPING_FULL}
EPISODES = ("game", "deal")
END_REASONS = ("", "out", "stock_draw", "stock_red3", "max_turns")
# A game of max_deals deals is far below; this only bounds what a mistake could cost.
DEFAULT_MAX_DECISIONS = 10_000_000
_MAX_THREADS = 1024


class IllegalActionError(ValueError):
    """An action that is not legal now. No game has moved."""


class VectorGame:
    """N games in shared NumPy buffers, stepped together.

    The buffers belong to the next decision of each game: ``observations`` (N, F) int16 of the seat that decides,
    ``action_masks`` (N, 127) int8, which can only be read, ``seats`` (N,) int32; and to the step just made: ``rewards`` (N, seats) float32,
    ``terminated`` and ``truncated`` (N,) bool, ``deal_ended`` (N,) bool, ``deal_scores`` (N, sides) int32 and
    ``end_reasons`` (N,) int32 (index into END_REASONS) of the deals that ended with it. They are reused: copy what is
    to be kept. ``ended`` holds the record of each slot's deal that ended last, with its counters of behaviour.

    The n-th game of slot i has a seed made from (seed, i, n) only, whatever happens in other slots.
    """

    def __init__(
        self,
        num_games: int,
        rules: Any = "whitnack",
        seed: int = 0,
        *,
        reward: str = "score_difference",
        episode: str = "game",
        deal: int | None = None,
        shaping: str | None = None,
        autoreset: str = "SAME_STEP",
        events: bool = False,
        observations: bool = True,
        max_decisions: int = DEFAULT_MAX_DECISIONS,
        threads: int = 1,
    ) -> None:
        """Start N games.

        Args:
            num_games: 1 or more.
            rules: a preset's name, a path, a RuleSet, a dict of overrides, or a list of those (each game draws one by its seed;
                same numbers of seats and sides).
            seed: 0..2**63-1.
            reward: "score_difference" (own deal score minus the mean of the others', /1000), "score" (own deal score /1000) or
                "win" (+1 shared among the winners of the game).
            episode: "game", or "deal": one deal from scores 0, its number given by `deal`, or drawn from the game's seed.
            shaping: None, "table" (open points) or "full" (hidden cards too: a training signal that no policy may read).
            autoreset: "SAME_STEP" (an ended game's slot holds its next game at once; what all seats saw at its end is in
                ``final_observations``) or "DISABLED" (it stays; its mask is all 0, its actions are ignored).
            events: with the observation's section of public events.
            observations: False leaves ``observations`` unwritten.
            max_decisions: a safety cap that truncates a game.
            threads: among which the games are shared out, 1 or more; the results are the same. It pays from some thousands of
                games a thread (docs/performance.md).

        Raises:
            ValueError: (RulesError for rules) naming the argument, the value and what is allowed.
        """
        self.num_games = check_int("num_games", num_games, 1, 1 << 24)
        self.rules = load_rule_sets(rules)
        self.num_seats, self.num_sides = self.rules[0].players, self.rules[0].num_sides
        self.num_actions = len(ACTIONS)
        self._make_layouts(events)
        check_choice("autoreset", autoreset, ("SAME_STEP", "DISABLED"))
        self.metadata = {"autoreset_mode": _autoreset_mode(autoreset)}
        self.reward = check_choice("reward", reward, REWARDS)
        self.shaping = check_choice("shaping", shaping, SHAPINGS)
        self.episode = check_choice("episode", episode, EPISODES)
        self.deal = _check_deal(deal, episode)
        check_choice("events", events, (False, True))
        check_choice("observations", observations, (False, True))
        self.rule_records = np.concatenate([rule_set.to_record() for rule_set in self.rules])
        self._with_growth = needs_growth(self.rule_records)
        check_int("max_decisions", max_decisions, 1, 1 << 60)
        self._settings = np.zeros(v.NUM_SETTINGS, np.int64)
        self._write_settings(deal, autoreset, events, observations, max_decisions)
        self.threads = check_int("threads", threads, 1, _MAX_THREADS)
        self._allocate()
        self.reset(seed)

    def _make_layouts(self, events: bool) -> None:
        table = (self.num_seats, self.num_sides)
        self.observation_layout, self.state_layout = ObservationLayout(table, events=events), StateLayout(table)
        self.observation_width = self.observation_layout.width
        self.observation_scale = self.observation_layout.scales()

    def _write_settings(self, deal: int | None, autoreset: str, events: bool, observations: bool, max_decisions: int) -> None:
        """Put the arguments of the constructor, already checked, where the kernels read them."""
        settings = {
            v.REWARD: REWARDS[self.reward], v.SHAPING: SHAPINGS[self.shaping], v.AUTORESET: autoreset == "SAME_STEP",
            v.SINGLE_DEAL: self.episode == "deal", v.FIXED_DEAL: deal or 0, v.EVENTS: bool(events), v.OBSERVE: bool(observations),
            v.MAX_DECISIONS: max_decisions,
        }  # fmt: skip
        self._settings[list(settings)] = list(settings.values())

    def _allocate(self) -> None:
        n, seats, sides = self.num_games, self.num_seats, self.num_sides
        self.games = np.zeros(n, GAME_DTYPE)
        self.ended = np.zeros(n, GAME_DTYPE)
        self.observations = np.zeros((n, self.observation_width), np.int16)
        # The engine judges by its own: what is shown of it cannot be written to.
        self._masks = np.zeros((n, self.num_actions), np.int8)
        self.action_masks = read_only(self._masks)
        self.seats = np.zeros(n, np.int32)
        self.rewards = np.zeros((n, seats), np.float32)
        self.terminated = np.zeros(n, bool)
        self.truncated = np.zeros(n, bool)
        self.deal_ended = np.zeros(n, bool)
        self.deal_scores = np.zeros((n, sides), np.int32)
        self.end_reasons = np.zeros(n, np.int32)
        final_games = n if self._settings[v.AUTORESET] else 0
        self.final_observations = np.zeros((final_games, seats, self.observation_width), np.int16)
        self.game_seeds = np.zeros(n, np.int64)
        self.game_numbers = np.zeros(n, np.int64)
        self.decisions = np.zeros(n, np.int64)
        self._all = np.ones(n, np.int8)
        self._actions = np.zeros(n, np.int64)
        # Of observe(), made when first asked for.
        self._other = np.zeros((0, self.observation_width), np.int16)
        # How often games may have changed: whoever made something of them for the decision at hand can tell that it has passed.
        self.num_moves = 0
        self._runner = GameRunner(self)

    def _run(self, mode: int, chosen: np.ndarray) -> None:
        self.num_moves += mode != v.MODE_DRAW
        self._runner.run(mode, chosen)

    def reset(self, seed: int | None = None, *, game_seeds: Sequence[int] | np.ndarray | None = None, slots=None) -> None:
        """Start new games.

        Args:
            seed: of all slots, whose games are counted from 0 again; None keeps the seed and goes on counting.
            game_seeds: (N,) the games' own seeds instead (``deck_for(rules, seed, deal)`` gives their decks); games that follow
                them by autoreset are made from (seed, slot, number) again.
            slots: (N,) bool or indices of the games to start; None: all.

        Raises:
            ValueError: For a seed out of range.
        """
        chosen = self._all if slots is None else self._chosen(slots)
        seeds = self._game_seeds(game_seeds)
        if seed is not None:
            self._settings[v.SEED] = check_int("seed", seed, 0, MAX_SEED)
            self.game_numbers[chosen != 0] = 0
        self._settings[v.EXPLICIT_SEEDS] = seeds is not None
        if seeds is not None:
            self.game_seeds[chosen != 0] = seeds[chosen != 0]
        self._run(v.MODE_START, chosen)

    def _game_seeds(self, game_seeds) -> np.ndarray | None:
        if game_seeds is None:
            return None
        # As objects, so that NumPy neither rounds nor wraps them.
        seeds = list(np.asarray(game_seeds, object).reshape(-1)) if not isinstance(game_seeds, str) else []
        if len(seeds) != self.num_games:
            raise ValueError(f"game_seeds={game_seeds!r} must be {self.num_games} whole numbers from 0 to {MAX_SEED}")
        return np.array([check_int("game_seeds", game_seed, 0, MAX_SEED) for game_seed in seeds], np.int64)

    def _chosen(self, slots) -> np.ndarray:
        """(N,) int8, 1 for the slots named by a mask or by numbers."""
        slots = np.asarray(slots)
        chosen = np.zeros(self.num_games, np.int8)
        if slots.dtype == bool and slots.shape == (self.num_games,):
            chosen[slots] = 1
            return chosen
        if slots.size and (slots.dtype.kind not in "iu" or slots.min() < 0 or slots.max() >= self.num_games):
            n = self.num_games
            raise ValueError(f"slots={slots.tolist()!r}: games are 0 to {n - 1}, a mask has {n} entries")
        chosen[slots.astype(np.int64)] = 1
        return chosen

    def _check_slot(self, slot: int) -> int:
        return check_int("slot", slot, 0, self.num_games - 1)

    def _check_out(self, out: np.ndarray, width: int) -> np.ndarray:
        """out, if kernels can write into it: they look at no bounds."""
        shape = (self.num_games, width)
        if not isinstance(out, np.ndarray) or out.dtype != np.int16 or out.shape != shape or not out.flags.c_contiguous:
            raise ValueError(f"out must be a C-contiguous int16 array of shape {shape}")
        return out

    def step(self, actions, slots=None) -> None:
        """Play one action in every game: (N,) integers. The results stand in the buffers.

        Args:
            slots: (N,) bool or indices of the games to play in; None: all. The others' actions are not looked at, and their
                places in the buffers stay as they are.

        Raises:
            IllegalActionError: Naming slot, label and reason, before any game has moved.
            ValueError: For another shape or type.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_games,):
            raise ValueError(f"actions have shape {actions.shape}; step needs ({self.num_games},), one a game")
        if actions.dtype.kind not in "iu":
            raise ValueError(f"actions have dtype {actions.dtype}; step needs integers")
        self._actions[:] = actions
        chosen = self._all if slots is None else self._chosen(slots)
        self.num_moves += 1
        illegal = self._runner.step(chosen)
        if illegal >= 0:
            self._raise_illegal(illegal)

    def step_unchecked(self, action: int) -> None:
        """Play one action, known to be legal, in every game: for adapters that have looked at the mask themselves."""
        self._actions[:] = action
        self._run(v.MODE_STEP, self._all)

    def random_actions(self) -> np.ndarray:
        """A legal action of every game, each as likely: (N,) int64, new; 0 for a game that is over.

        By the game's seed and the number of its decision: asked again before the next step, the same.
        """
        self._run(v.MODE_DRAW, self._all)
        return self._actions.copy()

    def stop(self, slots) -> None:
        """Break off the games of these slots (as for ``reset``): they count as truncated until they are started again.

        Raises:
            ValueError: For a slot that does not exist.
            RuntimeError: With autoreset, which would start them at once.
        """
        if self._settings[v.AUTORESET]:
            raise RuntimeError("games can be broken off only with autoreset='DISABLED'")
        chosen = self._chosen(slots) != 0
        self.truncated[chosen] = True
        self._masks[chosen] = 0

    def _raise_illegal(self, slot: int) -> None:
        from hf_env.explanations import why_illegal

        action = int(self._actions[slot])
        if not 0 <= action < len(ACTIONS):
            what = f"{action} by seat {self.seats[slot]} is no action; they are 0 to {len(ACTIONS) - 1}"
            raise IllegalActionError(f"game {slot}: {what}")
        label = ACTIONS.label(action)
        reason = why_illegal(self.games, slot, self.rule_records, action)
        raise IllegalActionError(f"game {slot}: {label} by seat {self.seats[slot]} is illegal: {reason}")

    def observe(self, seats, out: np.ndarray | None = None) -> np.ndarray:
        """Observation (N, F) int16 of one seat of each game as things stand, the mover's or any other's.

        Args:
            seats: (N,) integers or one for all.
            out: (N, F) int16, where to write, else a buffer that the next call reuses.

        Raises:
            ValueError: For seats or an array that do not fit.
        """
        seats = np.asarray(seats)
        if seats.shape not in ((), (self.num_games,)) or seats.dtype.kind not in "iu":
            raise ValueError(f"seats={seats.tolist()!r} must be one whole number or {self.num_games} of them")
        if ((seats < 0) | (seats >= self.num_seats)).any():
            raise ValueError(f"seats={seats.tolist()!r} must be 0 to {self.num_seats - 1}")
        each = np.empty(self.num_games, np.int32)
        each[:] = seats
        if out is None:
            if not len(self._other):
                self._other = np.zeros((self.num_games, self.observation_width), np.int16)
            out = self._other
        self._check_out(out, self.observation_width)
        v.observe_games(self.games, self.rule_records, each, out, self._settings[v.EVENTS])
        return out

    def states(self, out: np.ndarray | None = None) -> np.ndarray:
        """State vectors (N, G) int16, the whole truth of each game (StateLayout).

        Args:
            out: (N, G) int16, where to write, else new.

        Raises:
            ValueError: For an array that does not fit.
        """
        if out is None:
            out = np.empty((self.num_games, self.state_layout.width), np.int16)
        self._check_out(out, self.state_layout.width)
        v.write_states(self.games, self.rule_records, out)
        return out

    def refresh(self) -> None:
        """Write masks, observations and seats anew after ``games`` was changed from outside."""
        self._run(v.MODE_REFRESH, self._all)

    def snapshot(self, slot: int) -> bytes:
        """One game's whole state in the fast binary form, for ``restore`` into any slot of a like VectorGame.

        Raises:
            ValueError: For a slot that does not exist.
        """
        self._check_slot(slot)
        return self.games[slot].tobytes() + self.decisions[slot].tobytes() + self.game_numbers[slot].tobytes()

    def restore(self, slot: int, snapshot: bytes) -> None:
        """Put a snapshot into a slot and write its buffers. Bytes that are no game in progress, or at its end, are refused.

        Raises:
            ValueError: For a slot that does not exist, bytes of another length or rule set, and no whole game.
        """
        self._check_slot(slot)
        restore(self, slot, snapshot)

    def restore_trusted(self, slot: int, snapshot: bytes) -> None:
        """As ``restore``, for bytes that ``snapshot`` has just given: other bytes may crash the process.

        Args:
            slot: 0 to N - 1.
            snapshot: of a VectorGame with the same rule sets.
        """
        size = GAME_DTYPE.itemsize
        target(self, "games")[slot] = np.frombuffer(snapshot, np.uint8, size)
        self.decisions[slot], self.game_numbers[slot] = np.frombuffer(snapshot, np.int64, 2, size)
        game = self.games[slot]
        self.game_seeds[slot] = game["seed"]
        over = bool(game["game_over"])
        self.terminated[slot], self.truncated[slot], self.deal_ended[slot] = over, False, over
        chosen = np.zeros(self.num_games, np.int8)
        chosen[slot] = 1
        self._run(v.MODE_REFRESH, chosen)

    def state_dict(self) -> dict[str, np.ndarray]:
        """All games in progress and all that decides about the next ones, as arrays; bit-exact (see load_state_dict)."""
        # Records as bytes: NumPy's copy of records leaves the padding between fields unset.
        return {name: target(self, name).copy() for name in STATE_NAMES}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        """Put back what state_dict gave, in a VectorGame made with the same arguments.

        Raises:
            ValueError: Naming the first array that is missing, of another shape or dtype, or holds what none of these games can
                come to. Nothing has changed then.
        """
        load_state(self, state)

    def __getstate__(self) -> dict[str, Any]:
        # A view of the copy's own buffer.
        return {name: value for name, value in self.__dict__.items() if name != "action_masks"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.action_masks = read_only(self._masks)


def _autoreset_mode(name: str):
    """Gymnasium's AutoresetMode of that name."""
    from gymnasium.vector import AutoresetMode

    return AutoresetMode[name]


def _check_deal(deal: int | None, episode: str) -> int | None:
    if deal is not None and episode != "deal":
        raise ValueError(f"deal={deal!r} needs episode='deal'")
    return deal if deal is None else check_int("deal", deal, 1, 1000)
