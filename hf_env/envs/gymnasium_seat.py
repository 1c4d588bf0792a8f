"""One seat of a table as a Gymnasium environment; the other seats are policies.

The agent's step plays its action, then the others' decisions until the agent is to decide again or the game ends.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from hf_env.actions import ACTIONS
from hf_env.arguments import check_choice, check_int
from hf_env.engine.action_ids import DRAW
from hf_env.policy_batch import DecisionCounter, PolicyBatch, player_seed, uniforms
from hf_env.rendering import RENDER_MODES, Renderer
from hf_env.seeds import MAX_SEED
from hf_env.suggest import did_you_mean
from hf_env.vector.game import IllegalActionError, VectorGame
from hf_env.vector.results import deal_result

POLICY_GROUP = "hf_env.policies"
_ONLY_DRAW = np.zeros(len(ACTIONS), np.int8)
_ONLY_DRAW[DRAW] = 1


class MaskedDiscrete(spaces.Discrete):
    """Discrete(127) whose ``sample()`` without a mask draws among the actions that are legal now.

    So random loops work although an illegal action raises. The first sample after ``seed()`` is always the draw, which
    is legal at every game's first decision: Gymnasium's checker seeds the space in the middle of one game, samples, and
    plays that action as the first of another.
    """

    def __init__(self, current_mask: Callable[[], np.ndarray | None]) -> None:
        self._current_mask = current_mask
        super().__init__(len(ACTIONS))
        self._just_seeded = False

    def seed(self, seed: int | None = None):
        """Seed the space's generator; after a given seed the next sample is the draw."""
        self._just_seeded = seed is not None
        return super().seed(seed)

    def sample(self, mask=None, probability=None):
        """A random action; mask and probability as in Discrete."""
        if mask is None and probability is None:
            mask = _ONLY_DRAW if self._just_seeded else self._current_mask()
            self._just_seeded = False
        return super().sample(mask, probability)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.Discrete) and (self.n, self.start) == (other.n, other.start)

    def __deepcopy__(self, memo) -> "MaskedDiscrete":
        return self

    __hash__ = None  # type: ignore[assignment]


def _random_policy(batch: PolicyBatch) -> np.ndarray:
    """Uniform over the legal actions."""
    masks = batch.action_masks
    picks = (uniforms(batch.keys) * masks.sum(1)).astype(np.int64)
    return np.array([np.flatnonzero(mask)[pick] for mask, pick in zip(masks, picks, strict=True)])


def find_policy(name: str) -> Any:
    """The policy of a name from the entry-point group ``hf_env.policies``; "random" always exists.

    Raises:
        ValueError: Naming the installed ones.
    """
    if name == "random":
        return _random_policy
    found = {point.name: point for point in entry_points(group=POLICY_GROUP)}
    if name not in found:
        known = sorted({"random", *found})
        hint = did_you_mean(name, known)
        raise ValueError(f"seats: no policy {name!r} is installed; installed are {', '.join(known)} (or pass a callable){hint}")
    return found[name].load()()


def _as_actor(policy: Any) -> Callable[[PolicyBatch], np.ndarray]:
    """What is called with a batch, for a name, a policy with ``act``, or a function of (observations, masks)."""
    if isinstance(policy, str):
        policy = find_policy(policy)
    if policy is _random_policy:
        return policy
    if hasattr(policy, "act"):
        return policy.act
    if callable(policy):
        return lambda batch: policy(batch.observations, batch.action_masks)
    raise ValueError(f"seats: {policy!r} is neither a policy (with act), nor a function, nor a policy's name")


def seat_actors(vec: VectorGame, seat: int, seats: Mapping[int, Any], num_games: int) -> tuple[dict[int, Callable], list[int]]:
    """What plays each other seat, {seat: function of a batch}, and for each seat the seed of which its player's keys are made.

    Policies with `start` are started for `num_games`, and get that seed; the games' own seeds make the keys of games differ.

    Raises:
        ValueError: For a seat that is not another one of the table, or for what is no policy.
    """
    others = [other for other in range(vec.num_seats) if other != seat]
    for other in seats:
        if other not in others:
            raise ValueError(f"seats: {other!r} is not another seat of this table; the others are {others}")
    actors = {other: _as_actor(seats.get(other, "random")) for other in others}
    # The same object in several seats is one player.
    first = {id(policy): other for other, policy in sorted(seats.items(), reverse=True)}
    players = [player_seed(0, first.get(id(seats.get(other)), other)) for other in range(vec.num_seats)]
    for other in sorted(first.values()):
        if hasattr(seats[other], "start"):
            seats[other].start(num_games, tuple(rules.model_copy(deep=True) for rules in vec.rules), players[other])
    return actors, players


def observation_box(vec: VectorGame, scale: np.ndarray | None) -> spaces.Box:
    """The space of one seat's observations: int16, or with a scale float32."""
    low, high = vec.observation_layout.bounds()
    if scale is None:
        return spaces.Box(low, high, dtype=np.int16)
    return spaces.Box(low * scale, high * scale, dtype=np.float32)


class HandAndFootSeatEnv(gymnasium.Env):
    """``gymnasium.make("HandAndFoot-v0")``: one seat plays, the other seats are policies.

    The observation is one Box (F,), float32 by default; the legal actions are in ``info["action_mask"]`` (127,) int8
    and ``action_masks()`` (127,) bool, as sb3-contrib's MaskablePPO expects. An illegal action raises.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
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
        render_mode: str | None = None,
        render_view: str = "seat",
    ) -> None:
        """Make a table.

        Args:
            seat: the agent's.
            seats: {seat: policy} of the others, each a name (entry-point group ``hf_env.policies``), a policy with ``act``, or
                a function ``(observations (1, F) int16, action_masks (1, 127)) -> actions (1,)``; a seat not named plays
                "random".
            rules, reward, episode, deal, shaping, events: as VectorGame.
            observation_dtype: "float32" (scaled by the layout's table) or "int16".
            render_mode: None, "ansi" (render returns text), "human" (prints it after each step) or "rgb_array" (a drawn table).
            render_view: "seat" (what the agent may see) or "all".

        Raises:
            ValueError: Naming the argument, the value and what is allowed.
            ImportError: For "rgb_array" without Pillow.
        """
        self._vec = VectorGame(1, rules, 0, reward=reward, episode=episode, deal=deal, shaping=shaping, autoreset="DISABLED", events=events)
        self.seat = check_int("seat", seat, 0, self._vec.num_seats - 1)
        check_choice("observation_dtype", observation_dtype, ("int16", "float32"))
        self._scale = self._vec.observation_scale if observation_dtype == "float32" else None
        self.render_mode = check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self._renderer = Renderer(render_mode)
        self.render_view = check_choice("render_view", render_view, ("seat", "all"))
        self._actors, self._players = seat_actors(self._vec, self.seat, dict(seats or {}), 1)
        self.layout = self._vec.observation_layout
        self.observation_space = observation_box(self._vec, self._scale)
        self.action_space = MaskedDiscrete(self._sampling_mask)
        self._counter = DecisionCounter(1, self._vec.num_seats)
        self._started = False

    def _sampling_mask(self) -> np.ndarray | None:
        """The actions among which the action space's sample() draws; None before the first reset."""
        return self._vec.action_masks[0] if self._started else None

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a game and play up to the agent's first decision.

        Args:
            seed: the game's; None draws one.
            options: none are known; Gymnasium passes some, they are ignored.
        """
        super().reset(seed=seed)
        game_seed = seed if seed is not None else int(self.np_random.integers(0, MAX_SEED, endpoint=True))
        self._vec.reset(game_seeds=[check_int("seed", game_seed, 0, MAX_SEED)])
        self._counter.start(0, self._players, game_seed)
        self._started = True
        self._deal_results: list[dict[str, Any]] = []
        self._reward_before = self._play_others()
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play the agent's action and the others' until the agent decides again; the reward is the sum on the way.

        Raises:
            IllegalActionError: (a ValueError) saying why an action is illegal, before anything has changed.
            RuntimeError: Before the first reset or after the game's end.
        """
        if not self._started or self._over:
            raise RuntimeError("the game has not begun or is over; call reset()")
        if isinstance(action, bool | np.bool_) or np.ndim(action) or not np.issubdtype(np.asarray(action).dtype, np.integer):
            raise ValueError(f"action {action!r} is no action: an integer from 0 to {len(ACTIONS) - 1} is needed")
        reward = self._step_one(int(action)) + self._play_others() + self._reward_before
        # What shaping paid before the agent's first decision comes with its first step, so that the sums are right.
        self._reward_before = 0.0
        vec = self._vec
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, bool(vec.terminated[0]), bool(vec.truncated[0]), self._info()

    @property
    def _over(self) -> bool:
        return bool(self._vec.terminated[0] or self._vec.truncated[0])

    def _step_one(self, action: int) -> float:
        vec = self._vec
        vec.step([action])
        if vec.deal_ended[0]:
            self._deal_results.append(deal_result(vec, 0))
        return float(vec.rewards[0, self.seat])

    def _play_others(self) -> float:
        """Play the other seats' decisions; the agent's reward on the way."""
        reward = 0.0
        vec = self._vec
        while not self._over and vec.seats[0] != self.seat:
            seat = int(vec.seats[0])
            action = self._actors[seat](self._batch())
            try:
                reward += self._step_one(int(np.asarray(action).reshape(-1)[0]))
            except IllegalActionError as error:
                raise IllegalActionError(f"the policy in seat {seat}: {error}") from None
        return reward

    def _batch(self) -> PolicyBatch:
        slots = np.zeros(1, np.int64)
        return PolicyBatch.of(self._vec, slots, *self._counter.next(slots, self._vec.seats))

    def _observation(self) -> np.ndarray:
        values = self._vec.observe(self.seat)[0].copy()
        return values if self._scale is None else values * self._scale

    def action_masks(self) -> np.ndarray:
        """(127,) bool, True where an action is legal for the agent now; all False once the game is over."""
        return self._vec.action_masks[0].astype(bool)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._vec.action_masks[0].copy(), "deal_results": list(self._deal_results)}

    def render(self) -> str | np.ndarray | None:
        """Show the table as the render mode says.

        Returns:
            Text in "ansi"; a picture (600, 800, 3) uint8 in "rgb_array"; None in "human", which prints, without a mode, and
            before the first reset.
        """
        if self.render_mode is None or not self._started:
            return None
        vec = self._vec
        view = None if self.render_view == "all" else self.seat
        return self._renderer.render(vec.games, 0, vec.rules[int(vec.games[0]["rule"])], view)
