"""Random legal play in other libraries' card games, each a class with the same three members as loops.AecPlay.

``chunk()`` makes some decisions and returns their number; ``decisions`` and ``games`` count what was made and ended. At
each decision the legal actions as a mask and the mover's observation are written, as our own are. What a library needs is
imported when its game is made: importing jax starts threads, importing PettingZoo's games warns.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import warnings
from typing import Any

import numpy as np

from training.benchmarks.loops import CHUNK, AecPlay

# Games side by side: of pgx, and of ours, where a core's own cache holds them all.
PGX_GAMES, OUR_GAMES = 1024, 256


class OpenSpielPlay:
    """A game of OpenSpiel from Python, the observation written into one buffer; its information state where it has no other."""

    def __init__(self, game: str, seed: int) -> None:
        import pyspiel
        from open_spiel.python.observation import make_observation

        self._game = pyspiel.load_game(game)
        perfect_recall = not self._game.get_type().provides_observation_tensor
        self._observation = make_observation(self._game, pyspiel.IIGObservationType(perfect_recall=perfect_recall))
        self._mask = np.zeros(self._game.num_distinct_actions(), np.int8)
        self._random = random.Random(seed).random
        self.decisions = self.games = 0
        self._state = self._game.new_initial_state()

    def chunk(self) -> int:
        """Make CHUNK decisions; cards that chance deals are none."""
        state, draw, write, mask = self._state, self._random, self._observation.set_from, self._mask
        made = 0
        while made < CHUNK:
            if state.is_terminal():
                self.games += 1
                state = self._game.new_initial_state()
                continue
            legal = state.legal_actions()
            if not state.is_chance_node():
                # Faster than an array made of legal_actions_mask(), which is a list.
                mask.fill(0)
                mask[legal] = 1
                write(state, state.current_player())
                made += 1
            # All chances of these games are even.
            state.apply_action(legal[int(draw() * len(legal))])
        self._state = state
        self.decisions += made
        return made


class RLCardPlay:
    """A game of RLCard through reset() and step(), whose states hold the observation and the legal actions."""

    def __init__(self, game: str, seed: int) -> None:
        import rlcard

        self._env = rlcard.make(game, {"seed": seed})
        self._random = random.Random(seed).random
        self.decisions = self.games = 0
        self._state, _ = self._env.reset()

    def chunk(self) -> int:
        """Make CHUNK decisions."""
        env, draw, state = self._env, self._random, self._state
        for _ in range(CHUNK):
            legal = list(state["legal_actions"])
            self.mask = np.zeros(env.num_actions, np.int8)
            self.mask[legal] = 1
            self.observation = state["obs"]
            state, _ = env.step(legal[int(draw() * len(legal))])
            if env.is_over():
                self.games += 1
                state, _ = env.reset()
        self._state = state
        self.decisions += CHUNK
        return CHUNK


class PgxPlay:
    """PGX_GAMES games of pgx, choice and step compiled together, with pgx's own restart of ended games."""

    def __init__(self, game: str, seed: int) -> None:
        import jax
        import jax.numpy as jnp
        import pgx
        from pgx.experimental import auto_reset

        env = pgx.make(game)
        step = auto_reset(env.step, env.init)

        def play_one(state, key):
            choice, chance = jax.random.split(key)
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            return step(state, jax.random.categorical(choice, logits), chance)

        def play_all(states, key):
            key, own = jax.random.split(key)
            states = jax.vmap(play_one)(states, jax.random.split(own, PGX_GAMES))
            return states, key, states.terminated.sum()

        self._play = jax.jit(play_all)
        self._key = jax.random.PRNGKey(seed)
        self._states = jax.jit(jax.vmap(env.init))(jax.random.split(self._key, PGX_GAMES))
        self.decisions = self.games = 0

    def chunk(self) -> int:
        """One decision in every game."""
        self._states, self._key, ended = self._play(self._states, self._key)
        self._states.observation.block_until_ready()
        self.games += int(ended)
        self.decisions += PGX_GAMES
        return PGX_GAMES


class OurVectorPlay:
    """Our VectorGame with OUR_GAMES games, masks and observations."""

    def __init__(self, seed: int) -> None:
        from training.benchmarks.vector import RandomPlay

        self._play = RandomPlay(OUR_GAMES, "whitnack", seed)
        self.chunk = self._play.step
        self.check = self._play.check

    @property
    def games(self) -> int:
        """Games ended so far."""
        return self._play.ended

    @property
    def decisions(self) -> int:
        """Decisions made so far."""
        return self._play.decisions


def our_aec(seed: int) -> AecPlay:
    """Our AEC environment."""
    from hf_env import hand_and_foot_v0

    return AecPlay(hand_and_foot_v0.env(), seed)


def pettingzoo_play(game: str, seed: int) -> AecPlay:
    """A card game of PettingZoo's own, of the newest version that is there.

    Raises:
        ModuleNotFoundError: Without one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecation of importing the games, which their registry does too
        classic = importlib.import_module("pettingzoo.classic")
        names = sorted(name for _, name, _ in pkgutil.iter_modules(classic.__path__) if name.startswith(f"{game}_v"))
        if not names:
            raise ModuleNotFoundError(f"this PettingZoo has no game {game}")
        module = importlib.import_module(f"pettingzoo.classic.{names[-1]}")
        return AecPlay(module.env(), seed)


def wrapped_rlcard_play(game: str, seed: int) -> AecPlay:
    """A game of RLCard's through ``last()`` and ``step()``, by PettingZoo's own adapter and in its usual wrappers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import rlcard
        from pettingzoo.classic.rlcard_envs.rlcard_base import RLCardBase
        from pettingzoo.utils import wrappers

        made = rlcard.make(game)
        env = RLCardBase(game, made.num_players, tuple(made.state_shape[0]))
        # As the games of pettingzoo.classic.rlcard_envs are made; the adapter leaves this attribute to them.
        env.render_mode = None
        env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
        env = wrappers.AssertOutOfBoundsWrapper(env)
        return AecPlay(wrappers.OrderEnforcingWrapper(env), seed)


def make_play(library: str, game: str, seed: int) -> Any:
    """The play of a peer's game, or of ours.

    Raises:
        ImportError: Where the library or the game is not installed.
    """
    makers = {
        "hf_env": lambda: OurVectorPlay(seed) if game == "VectorGame" else our_aec(seed),
        "OpenSpiel": lambda: OpenSpielPlay(game, seed),
        "RLCard": lambda: RLCardPlay(game, seed),
        "PettingZoo": lambda: pettingzoo_play(game, seed),
        "RLCard by PettingZoo": lambda: wrapped_rlcard_play(game, seed),
        "pgx": lambda: PgxPlay(game, seed),
    }
    return makers[library]()
