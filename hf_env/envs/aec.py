"""The PettingZoo environment: an adapter over one game of VectorGame, with no rule in it."""

import warnings
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from hf_env.actions import ACTIONS
from hf_env.arguments import check_choice, check_int
from hf_env.engine.state import END_OUT, GAME_DTYPE
from hf_env.envs.gymnasium_seat import observation_box
from hf_env.policy_batch import PolicyBatch, player_seed, seat_keys, seat_root
from hf_env.rendering import RENDER_MODES, Renderer
from hf_env.seeds import MAX_SEED
from hf_env.vector.game import IllegalActionError, VectorGame
from hf_env.vector.results import deal_result

_DTYPES = ("int16", "float32")
# As tuples: a union would be made anew at every decision.
_INTEGERS, _BOOLEANS = (int, np.integer), (bool, np.bool_)


class HandAndFootEnv(AECEnv):
    """Hand and Foot for 2 to 6 agents ``player_0`` .. in turn order, as a PettingZoo AEC environment.

    An agent may be selected many times in a row (a turn is a chain of actions), its partner in the middle of a turn
    to answer. The observation is ``{"observation": (F,), "action_mask": (127,) int8}``, relative to the agent; the
    mask of an agent that is not to act is all 0. All agents terminate in the same step. ``rewards`` holds the last step's
    reward of each agent (float, in units of 1,000 points but for reward "win"; docs/rewards.md), ``infos`` public facts:
    ``last_action``, a label, and ``deal_results``. Rule: docs/rules.md.
    """

    metadata = {"name": "hand_and_foot_v0", "render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2}

    def __init__(
        self,
        rules: Any = "whitnack",
        *,
        reward: str = "score_difference",
        episode: str = "game",
        deal: int | None = None,
        shaping: str | None = None,
        observation_dtype: str = "int16",
        events: bool = False,
        render_mode: str | None = None,
        render_view: int | str = "mover",
        max_decisions: int = 10_000_000,
    ) -> None:
        """Make a table.

        Args:
            rules, reward, episode, deal, shaping, events, max_decisions: as VectorGame.
            observation_dtype: "int16" (the engine's numbers) or "float32" (scaled by the layout's table to about -1..1).
            render_mode: None, "ansi" (render returns text), "human" (prints it after each step) or "rgb_array" (a drawn table).
            render_view: "mover" (what the agent to act may see), "all", or a seat.

        Raises:
            ValueError: Naming the argument, the value and what is allowed.
            ImportError: For "rgb_array" without Pillow.
        """
        super().__init__()
        self._vec = VectorGame(
            1, rules, 0, reward=reward, episode=episode, deal=deal, shaping=shaping, autoreset="DISABLED", events=events,
            max_decisions=max_decisions,
        )  # fmt: skip
        check_choice("observation_dtype", observation_dtype, _DTYPES)
        self._scale = self._vec.observation_scale if observation_dtype == "float32" else None
        self.render_mode = check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self._renderer = Renderer(render_mode)
        self.render_view = self._check_view("render_view", render_view)
        self.possible_agents = [f"player_{seat}" for seat in range(self._vec.num_seats)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.layout = self._vec.observation_layout
        self.observation_spaces = {agent: self._make_observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(len(ACTIONS)) for agent in self.possible_agents}
        low, high = self._vec.state_layout.bounds()
        self.state_space = spaces.Box(low, high, dtype=np.int16)
        self._seed: int | None = None
        self._game_number = 0
        self._bind()

    def _bind(self) -> None:
        """Views of the one game's buffers, which cost less than an index into NumPy at each decision."""
        vec = self._vec
        self._observation, self._mask, self._no_mask = vec.observations[0], vec.action_masks[0], np.zeros(len(ACTIONS), np.int8)
        self._legal, self._mover = self._mask.data, vec.seats.data
        self._deal_ended, self._over = vec.deal_ended.data, (vec.terminated.data, vec.truncated.data)

    _BOUND = ("_observation", "_mask", "_no_mask", "_legal", "_mover", "_deal_ended", "_over")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self._BOUND}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def _make_observation_space(self) -> spaces.Dict:
        box = observation_box(self._vec, self._scale)
        return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (len(ACTIONS),), np.int8)})

    def observation_space(self, agent: str) -> spaces.Dict:
        """The agent's observation space, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The agent's action space, Discrete(127), the same object each time."""
        return self.action_spaces[agent]

    @property
    def rules(self):
        """The RuleSet of the game in progress."""
        return self._vec.rules[int(self._vec.games[0]["rule"])]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Start a game.

        Rules and rewards stay.

        Args:
            seed: the game's own seed (0..2**63-1), of which decks, dealer and the choice among rule sets are made; None goes on
                from the last seed (at first: from the system's entropy).
            options: none are known; what is given is ignored with a warning (PettingZoo's own tests give some).

        Raises:
            ValueError: For a seed out of range.
        """
        if options:
            warnings.warn(f"reset knows no options; {options!r} is ignored", stacklevel=2)
        if seed is not None:
            self._seed, self._game_number = check_int("seed", seed, 0, MAX_SEED), 0
            self._vec.reset(game_seeds=[self._seed])
        else:
            if self._seed is None:
                self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
            self._vec.reset(seed=self._seed if self._game_number == 0 else None)
            self._game_number += 1
        self._begin()

    def _begin(self) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._paid = False
        self._decided: set[int] = set()
        self._deal_results: list[dict[str, Any]] = []
        self._shown_results: list[dict[str, Any]] = []
        self.terminations = dict.fromkeys(self.agents, bool(self._vec.terminated[0]))
        self.truncations = dict.fromkeys(self.agents, False)
        self._write_infos(None)
        self.agent_selection = self.possible_agents[self._vec.seats[0]]

    def _write_infos(self, label: str | None) -> None:
        """Public facts only: the action just made and the finished deals' results."""
        results = self._shown_results
        self.infos = {agent: {"last_action": label, "deal_results": results} for agent in self.agents}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What an agent may know now, and its legal actions; new arrays.

        Raises:
            KeyError: For an unknown agent.
            RuntimeError: Before the first reset.
        """
        seat = self._seat_of[agent]
        self._check_started()
        if self._mover[0] == seat:
            values, mask = self._observation.copy(), self._mask.copy()
        else:
            values, mask = self._vec.observe(seat)[0].copy(), self._no_mask.copy()
        if self._scale is not None:
            values = values * self._scale
        return {"observation": values, "action_mask": mask}

    def _check_started(self) -> None:
        if not hasattr(self, "terminations"):
            raise RuntimeError("call reset() before the first step or observation")

    def step(self, action: int | None) -> None:
        """Play an action of the agent selected.

        Once all agents have terminated, ``step(None)`` removes them one by one.

        Raises:
            IllegalActionError: (a ValueError) saying why an action is illegal, before anything has changed.
            ValueError: For what is no action.
            RuntimeError: Before the first reset.
        """
        self._check_started()
        if self.agents and (self.terminations[self.agent_selection] or self.truncations[self.agent_selection]):
            self._was_dead_step(action)
            return
        seat = self._mover[0]
        label = self._play(self._as_action(action))
        self._decided.add(seat)
        self._cumulative_rewards[self.agent_selection] = 0.0
        ended = self._deal_ended[0]
        # Without shaping a step pays only when it ends a deal.
        if ended or self._paid or self._vec.shaping is not None:
            self._pay()
            self._paid = bool(ended)
        if ended:
            self._deal_results.append(self._deal_result())
            # Another list, which a caller may keep or change: the infos of earlier steps stay as they were.
            self._shown_results = list(self._deal_results)
        terminated, truncated = bool(self._over[0][0]), bool(self._over[1][0])
        if terminated or truncated:
            self.terminations = dict.fromkeys(self.agents, terminated)
            self.truncations = dict.fromkeys(self.agents, truncated)
        self._write_infos(label)
        self.agent_selection = self.possible_agents[self._mover[0]]
        if self.render_mode == "human":
            self.render()

    def _pay(self) -> None:
        """Hand out the rewards of the step just made, which may be 0."""
        for name, reward in zip(self.possible_agents, self._vec.rewards[0].tolist(), strict=True):
            self.rewards[name] = reward
            self._cumulative_rewards[name] += reward

    def _as_action(self, action: Any) -> int:
        if not self.agents:
            raise RuntimeError("the game is over; call reset() for the next one")
        if isinstance(action, _BOOLEANS) or not isinstance(action, _INTEGERS):
            raise ValueError(f"action {action!r} is no action: an integer from 0 to {len(ACTIONS) - 1} is needed")
        return int(action)

    def _play(self, action: int) -> str:
        """Play an action; its label."""
        vec = self._vec
        label = ACTIONS.label(action)
        if not self._legal[action]:
            raise IllegalActionError(f"{label} by {self.agent_selection} is illegal: {self.why_illegal(action)}")
        vec.step_unchecked(action)
        return label

    def _deal_result(self) -> dict[str, Any]:
        """Raw results of the deal just ended."""
        result, record = deal_result(self._vec, 0), self._vec.ended[0]
        if record["end_reason"] == END_OUT:
            result["out"] = self.possible_agents[int(record["out_seat"])]
        return result

    def decision(self, seed: int = 0) -> PolicyBatch:
        """The decision at hand as a policy is asked for it, a batch of one row: ``policy.act(env.decision())[0]``.

        Args:
            seed: from which, with the game's seed, the seat and the number of the decision, the policy's randomness is made;
                one way, so that no card follows from it.

        Raises:
            RuntimeError: Before the first reset and when no agent is to act.
        """
        self._check_started()
        vec = self._vec
        if self._over[0][0] or self._over[1][0]:
            raise RuntimeError("the game is over; nobody is to decide")
        seat = int(self._mover[0])
        root = seat_root(player_seed(seed, seat), int(vec.game_seeds[0]), 0, seat)
        batch = PolicyBatch.of(vec, np.zeros(1, np.int64), seat_keys(root, vec.decisions), np.array([seat not in self._decided]))
        batch.views  # noqa: B018 - made now, so that whoever looks at the batch after a step sees this decision's
        return batch

    def why_illegal(self, action: int | str) -> str:
        """One sentence on why the agent to act may not play an action, an id or a label; "it is legal" for one it may.

        Raises:
            ValueError: For what is no action.
            RuntimeError: Before the first reset.
        """
        from hf_env.explanations import why_illegal

        self._check_started()
        number = ACTIONS.parse(action) if isinstance(action, str) else action
        return why_illegal(self._vec.games, 0, self._vec.rule_records, number)

    def state(self) -> np.ndarray:
        """The whole truth, (G,) int16, as StateLayout describes it: for a central critic, not for a policy.

        Raises:
            RuntimeError: Before the first reset.
        """
        self._check_started()
        return self._vec.states()[0]

    def render(self) -> str | np.ndarray | None:
        """Show the table as the render mode says.

        Returns:
            Text in "ansi"; a picture (600, 800, 3) uint8 in "rgb_array"; None in "human", which prints, and without a mode.

        Raises:
            RuntimeError: Before the first reset.
        """
        if self.render_mode is None:
            return None
        self._check_started()
        return self._renderer.render(self._vec.games, 0, self.rules, self._view(self.render_view))

    def picture(self, view: int | str | None = None) -> Any:
        """The drawn table as a Pillow image, 800 x 600, in any render mode; a notebook shows it.

        Args:
            view: as `render_view`, which it is by default.

        Raises:
            ValueError: For another view.
            ImportError: Without Pillow.
            RuntimeError: Before the first reset.
        """
        from hf_env.rendering import load_drawing

        self._check_started()
        view = self._check_view("view", self.render_view if view is None else view)
        return load_drawing().table_image(self._vec.games, 0, self.rules, self._view(view))

    def _check_view(self, name: str, view: int | str) -> int | str:
        return view if view in ("mover", "all") else check_int(name, view, 0, self._vec.num_seats - 1)

    def _view(self, view: int | str) -> int | None:
        """The seat whose eyes they are; None: all cards lie open."""
        if isinstance(view, str):
            return None if view == "all" or self._vec.terminated[0] else int(self._vec.seats[0])
        return view

    def close(self) -> None:
        """Nothing is held open."""

    def position(self) -> dict[str, Any]:
        """The whole state as ``hf-position/1``, a JSON object; hidden cards included."""
        from hf_env.positions import to_position

        self._check_started()
        return to_position(self._vec.games, 0, self.rules)

    def set_position(self, position: dict[str, Any], check: bool = True) -> None:
        """Go on from a position, whose rules must be this environment's.

        Args:
            check: False allows a partial one.

        Raises:
            PositionError: Naming the field and what is wrong; the game is unchanged then.
        """
        from hf_env.positions import PositionError, from_position

        games, rules = from_position(position, check=check)
        fingerprints = [rule_set.fingerprint for rule_set in self._vec.rules]
        if rules.fingerprint not in fingerprints:
            names = ", ".join(rule_set.name for rule_set in self._vec.rules)
            raise PositionError(f"rules: the position is of {rules.name}, this environment plays {names}")
        games["rule"] = fingerprints.index(rules.fingerprint)
        games["single_deal"] = self._vec.episode == "deal"
        # Checked, or partial as the caller wanted it; its numbers are within their ranges either way.
        self._vec.restore_trusted(0, games[0].tobytes() + self._numbers())
        self._begin()

    def snapshot(self) -> bytes:
        """The game in the fast binary form, for ``restore``."""
        return self._vec.games[0].tobytes()

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot of an environment with the same rules. Rewards gathered so far start at 0 again.

        Raises:
            ValueError: For bytes of another length, and for such that are no game in progress or at its end.
        """
        if len(snapshot) != GAME_DTYPE.itemsize:
            raise ValueError(f"a snapshot has {GAME_DTYPE.itemsize} bytes, this one {len(snapshot)}")
        self._vec.restore(0, bytes(snapshot) + self._numbers())
        self._begin()

    def _numbers(self) -> bytes:
        """What a VectorGame's snapshot has beside the game."""
        return self._vec.decisions[:1].tobytes() + self._vec.game_numbers[:1].tobytes()
