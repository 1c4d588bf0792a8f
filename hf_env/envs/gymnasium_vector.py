"""One seat of N tables as a Gymnasium vector environment on VectorGame; the other seats are policies, asked in batches."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from hf_env.actions import ACTIONS
from hf_env.arguments import check_choice, check_int
from hf_env.envs.gymnasium_seat import observation_box, seat_actors
from hf_env.policy_batch import DecisionCounter, PolicyBatch
from hf_env.rendering import Renderer
from hf_env.seeds import MAX_SEED
from hf_env.vector.game import IllegalActionError, VectorGame
from hf_env.vector.results import deal_result

_MODES = (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)
_RENDER_MODES = ("ansi", "rgb_array")


class HandAndFootSeatVectorEnv(VectorEnv):
    """``gymnasium.make_vec("HandAndFoot-v0", num_envs=N, vectorization_mode="vector_entry_point")``.

    Slot i plays the same games, with the same observations and rewards, as ``gymnasium.make("HandAndFoot-v0")`` with the
    same arguments and seed i. Observations are (N, F), float32 by default; the legal actions are in
    ``info["action_mask"]`` (N, 127) int8 and ``action_masks()`` (N, 127) bool. An illegal action raises.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Any = "whitnack",
        *,
        seat: int = 0,
        seats: Mapping[int, Any] | None = None,
        reward: str = "score_difference",
        episode: str = "game",
        deal: int | None = None,
        shaping: str | None = None,
        observation_dtype: str = "float32",
        events: bool = False,
        autoreset_mode: AutoresetMode | str = "SAME_STEP",
        render_mode: str | None = None,
        render_view: str = "seat",
    ) -> None:
        """Make N tables. The arguments not told here: as HandAndFootSeatEnv.

        Args:
            num_envs: 1 or more.
            autoreset_mode: "SAME_STEP" (the step that ends a game starts the slot's next one and gives its first observation;
                the last is in ``info["final_obs"]``, its info in ``info["final_info"]``) or "DISABLED" (an ended game stays,
                its mask is all 0 and its actions are ignored, until ``reset(options={"reset_mask": mask})``).
            render_mode: None, "ansi" or "rgb_array": render returns a tuple of N texts or pictures.

        Raises:
            ValueError: Naming the argument, the value and what is allowed.
            ImportError: For "rgb_array" without Pillow.
        """
        self.num_envs = check_int("num_envs", num_envs, 1, 1 << 24)
        self.autoreset_mode = _as_mode(autoreset_mode)
        # Games are started here, not by VectorGame, so that their seeds are those of single environments.
        vec = self._vec = VectorGame(
            self.num_envs, rules, 0, reward=reward, episode=episode, deal=deal, shaping=shaping, autoreset="DISABLED", events=events
        )  # fmt: skip
        self.seat = check_int("seat", seat, 0, vec.num_seats - 1)
        check_choice("observation_dtype", observation_dtype, ("int16", "float32"))
        self._scale = vec.observation_scale if observation_dtype == "float32" else None
        self.render_mode = check_choice("render_mode", render_mode, (None, *_RENDER_MODES))
        self._renderer = Renderer(render_mode)
        self.render_view = check_choice("render_view", render_view, ("seat", "all"))
        self._actors, self._players = seat_actors(vec, self.seat, dict(seats or {}), self.num_envs)
        self.metadata = {"render_modes": list(_RENDER_MODES), "render_fps": 2, "autoreset_mode": self.autoreset_mode}
        self.layout = vec.observation_layout
        self.single_observation_space = observation_box(vec, self._scale)
        self.single_action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = MaskedMultiDiscrete(self)
        n = self.num_envs
        self._generators: list[np.random.Generator | None] = [None] * n
        self._game_seeds = np.zeros(n, np.int64)
        self._counter = DecisionCounter(n, vec.num_seats)
        self._rewards_before = np.zeros(n)
        self._deal_results: list[list[dict[str, Any]]] = [[] for _ in range(n)]
        self._started = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start games and play up to the agent's first decisions.

        Args:
            seed: of slot 0, slot i has seed + i; or a list of N, None in it for a slot that goes on from its last seed; None:
                all go on (at first: from the system's entropy).
            options: ``{"reset_mask": (N,) bool}`` starts only these slots.

        Returns:
            Observations (N, F) and the info.

        Raises:
            ValueError: For seeds or a mask that do not fit.
        """
        chosen = self._reset_mask(options)
        seeds = self._slot_seeds(seed)
        for slot in np.flatnonzero(chosen):
            given = seeds[slot]
            if given is not None:
                check_int("seed", given, 0, MAX_SEED)
                self._generators[slot] = seeding.np_random(int(given))[0]
            self._game_seeds[slot] = self._next_seed(slot) if given is None else int(given)
        self._start_games(chosen)
        self._started = True
        return self._observations(), self._info(chosen)

    def _reset_mask(self, options: dict[str, Any] | None) -> np.ndarray:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, bool)
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options: reset_mask must be an array of {self.num_envs} bool, at least one of them True")
        if not self._started and not mask.all():
            raise ValueError("options: reset_mask cannot leave out slots in the first reset")
        return mask

    def _slot_seeds(self, seed) -> list[int | None]:
        n = self.num_envs
        if seed is None:
            return [None] * n
        if isinstance(seed, int | np.integer):
            check_int("seed", seed, 0, MAX_SEED - n + 1)
            return [int(seed) + slot for slot in range(n)]
        seeds = list(seed) if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str) else []
        if len(seeds) != n:
            raise ValueError(f"seed={seed!r} must be a whole number, or a list of {n}, one a slot")
        return seeds

    def _next_seed(self, slot: int | np.integer) -> int:
        """As the single environment's reset() without a seed."""
        generator = self._generators[slot]
        if generator is None:
            generator = self._generators[slot] = seeding.np_random(None)[0]
        return int(generator.integers(0, MAX_SEED, endpoint=True))

    def _start_games(self, chosen: np.ndarray) -> None:
        self._vec.reset(game_seeds=self._game_seeds, slots=chosen)
        for slot in np.flatnonzero(chosen):
            # Keys as in the single form; policies tell games apart by the slot.
            self._counter.start(slot, self._players, self._game_seeds[slot])
            self._deal_results[slot] = []
        self._rewards_before[chosen] = 0.0
        self._play_others(chosen, self._rewards_before)

    def step(self, actions) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play the agent's action in each game and the others' until the agent decides again.

        Args:
            actions: (N,) integers.

        Returns:
            Observations (N, F), rewards (N,) float64 (their sums on the way), terminations and truncations (N,) bool, and the
            info.

        Raises:
            IllegalActionError: (a ValueError), naming slot, label and reason, before any game has moved.
            ValueError: For another shape or type.
            RuntimeError: Before the first reset.
        """
        if not self._started:
            raise RuntimeError("the games have not begun; call reset()")
        live = ~(self._vec.terminated | self._vec.truncated)
        rewards = np.where(live, self._rewards_before, 0.0)
        self._step_some(np.asarray(actions), live, rewards)
        self._play_others(live, rewards)
        self._rewards_before[live] = 0.0
        terminated, truncated = self._vec.terminated.copy(), self._vec.truncated.copy()
        ended = live & (terminated | truncated)
        info: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            info = self._final(ended)
            for slot in np.flatnonzero(ended):
                self._game_seeds[slot] = self._next_seed(slot)
            self._start_games(ended)
        return self._observations(), rewards, terminated, truncated, info | self._info(np.ones(self.num_envs, bool))

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """What the agent saw at the end of the games that have ended, in Gymnasium's form."""
        last = np.full(self.num_envs, None, object)
        observations = self._observations()
        for slot in np.flatnonzero(ended):
            last[slot] = observations[slot]
        return {"final_obs": last, "_final_obs": ended.copy(), "final_info": self._info(ended), "_final_info": ended.copy()}

    def _step_some(self, actions: np.ndarray, slots: np.ndarray, rewards: np.ndarray) -> None:
        """Play actions (N,) in the games of the mask `slots`; add the agent's rewards."""
        vec = self._vec
        vec.step(actions, slots)
        rewards[slots] += vec.rewards[slots, self.seat]
        for slot in np.flatnonzero(slots & vec.deal_ended):
            self._deal_results[slot].append(deal_result(vec, slot))

    def _play_others(self, slots: np.ndarray, rewards: np.ndarray) -> None:
        """Play the other seats' decisions in the games of the mask until each is the agent's or over; add its rewards."""
        vec = self._vec
        actions = np.zeros(self.num_envs, np.int64)
        while True:
            waiting = slots & (vec.seats != self.seat) & ~(vec.terminated | vec.truncated)
            if not waiting.any():
                return
            for seat, actor in self._actors.items():
                rows = np.flatnonzero(waiting & (vec.seats == seat))
                if len(rows):
                    actions[rows] = np.asarray(actor(self._batch(rows))).reshape(len(rows))
            seats = vec.seats
            try:
                self._step_some(actions, waiting, rewards)
            except IllegalActionError as error:
                legal = (actions >= 0) & (actions < len(ACTIONS))
                legal &= vec.action_masks[np.arange(self.num_envs), np.where(legal, actions, 0)] != 0
                seat = int(seats[np.flatnonzero(waiting & ~legal)[0]])
                raise IllegalActionError(f"the policy in seat {seat}: {error}") from None

    def _batch(self, rows: np.ndarray) -> PolicyBatch:
        return PolicyBatch.of(self._vec, rows, *self._counter.next(rows, self._vec.seats[rows]))

    def _observations(self) -> np.ndarray:
        values = self._vec.observe(self.seat)
        return values.copy() if self._scale is None else values * self._scale

    def action_masks(self) -> np.ndarray:
        """(N, 127) bool, True where an action is legal for the agent now; all False where a game is over."""
        return self._vec.action_masks.astype(bool)

    def _info(self, slots: np.ndarray) -> dict[str, Any]:
        """The info of the slots of a mask, in Gymnasium's form: values by slot and beside each a mask of where it holds."""
        results = np.full(self.num_envs, None, object)
        for slot in np.flatnonzero(slots):
            results[slot] = list(self._deal_results[slot])
        masks = np.where(slots[:, None], self._vec.action_masks, 0).astype(np.int8)
        return {"action_mask": masks, "_action_mask": slots.copy(), "deal_results": results, "_deal_results": slots.copy()}

    def render(self) -> tuple[Any, ...] | None:
        """Each table as text ("ansi") or a picture (600, 800, 3) uint8; None without a render mode or before the reset."""
        if self.render_mode is None or not self._started:
            return None
        vec, view = self._vec, None if self.render_view == "all" else self.seat
        return tuple(self._renderer.render(vec.games, slot, vec.rules[int(vec.games[slot]["rule"])], view) for slot in range(self.num_envs))


class MaskedMultiDiscrete(spaces.MultiDiscrete):
    """Discrete(127) for each slot, whose ``sample()`` without a mask draws among the actions that are legal now."""

    def __init__(self, env: HandAndFootSeatVectorEnv) -> None:
        self._env = env
        super().__init__([len(ACTIONS)] * env.num_envs)

    def sample(self, mask=None, probability=None):
        """Random actions (N,) int64; mask and probability as in MultiDiscrete."""
        if mask is None and probability is None and self._env._started:
            # An ended game has no legal action; what is drawn for it is ignored.
            masks = self._env._vec.action_masks
            mask = tuple(np.where(masks.any(1, keepdims=True), masks, 1).astype(np.int8))
        return super().sample(mask, probability)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.MultiDiscrete) and np.array_equal(self.nvec, other.nvec)

    def __deepcopy__(self, memo) -> "MaskedMultiDiscrete":
        return self

    __hash__ = None  # type: ignore[assignment]


def _as_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode of a name.

    Raises:
        ValueError: Naming what is allowed.
    """
    for known in _MODES:
        if mode is known or mode in (known.name, known.value):
            return known
    allowed = ", ".join(repr(known.name) for known in _MODES)
    raise ValueError(f"autoreset_mode={mode!r} is not known; allowed: {allowed}")
