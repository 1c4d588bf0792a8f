"""Scripted players as policies of the protocol in agents/policy.py."""

import numpy as np

from agents.policy import PolicyBatch, mix64, uniforms
from agents.scripted.dispatch import RANDOM, choose_batch, work_for
from agents.scripted.table import PLAYER_IDS, PLAYERS, ScriptedPlayer
from agents.specs import PolicySpec, UnknownPolicyError
from hf_env.suggest import did_you_mean

# Apart from the player's own use of its key: a choice by `random` would depend on not having been noise.
_NOISE, _NOISE_ACTION = np.uint64(0x6E6F697365), np.uint64(0x616374)


class ScriptedPolicy:
    """A scripted player by name; deterministic but for each decision's key.

    Args:
        name: a key of ``agents.scripted.table.PLAYER_IDS``.
        noise: 0 to 1, the chance that a decision is made at random instead.

    Raises:
        KeyError: For another name.
        ValueError: For noise outside its range.
    """

    def __init__(self, name: str, noise: float = 0.0) -> None:
        if not 0.0 <= noise <= 1.0:
            raise ValueError(f"noise must be within 0 and 1, got {noise}")
        self.name, self.noise = name, noise
        self._number = np.int64(PLAYER_IDS[name])
        self._work = work_for([self._number])

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int32. Reads the batch's views: the redacted records of what each seat may know."""
        views = batch.views
        seats = np.ascontiguousarray(batch.seats, np.int32)
        masks = np.ascontiguousarray(batch.action_masks, np.int8)
        return self.choose(views.games, views.rules, seats, masks, np.ascontiguousarray(batch.keys, np.uint64))

    def choose(self, games: np.ndarray, rules: np.ndarray, seats: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Actions (N,) int32 for game records, redacted or true: the players read only what the seat may know.

        Arguments as of ``agents.scripted.dispatch.choose_batch``.
        """
        actions = np.empty(len(games), np.int32)
        choose_batch(self._number, games, rules, seats, masks, keys, actions, self._work)
        if self.noise > 0.0:
            noisy = np.flatnonzero(uniforms(mix64(keys ^ _NOISE)) < self.noise)
            at_random = np.empty(len(noisy), np.int32)
            own = mix64(keys[noisy] ^ _NOISE_ACTION)
            choose_batch(np.int64(RANDOM), games[noisy], rules, seats[noisy], masks[noisy], own, at_random, None)
            actions[noisy] = at_random
        return actions

    def __repr__(self) -> str:
        noise = f", {self.noise!r}" if self.noise else ""
        return f"{type(self).__name__}({self.name!r}{noise})"


class _Named(ScriptedPolicy):
    """A scripted player whose class says its name: what an entry point or a user makes without arguments."""

    player = ""

    def __init__(self, noise: float = 0.0) -> None:
        super().__init__(self.player, noise)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.noise or ''})"


def _policy_class(player: ScriptedPlayer) -> type[_Named]:
    """The class of a row of the table."""
    members = {"__doc__": player.summary, "__module__": __name__, "player": player.name}
    return type(f"{player.name.capitalize()}Policy", (_Named,), members)


POLICIES = {player.name: _policy_class(player) for player in PLAYERS}
# As names of this module: ``GreedyPolicy`` and so on, of which a copy by pickle asks too.
globals().update({policy.__name__: policy for policy in POLICIES.values()})


def make(spec: PolicySpec) -> ScriptedPolicy:
    """The policy that ``agents.load`` returns for a scripted player; ``"greedy:noise=0.1"`` makes every tenth decision at random.

    Args:
        spec: its name and options.

    Returns:
        The policy.

    Raises:
        UnknownPolicyError: an option does not exist, or noise is no number from 0 to 1.
    """
    options = dict(spec.options)
    noise = options.pop("noise", "0")
    if options:
        unknown = sorted(options)[0]
        raise UnknownPolicyError(f"{spec.name} has no option {unknown!r}; it has noise=NUMBER{did_you_mean(unknown, ['noise'])}")
    try:
        return POLICIES[spec.name](float(noise))
    except ValueError:
        raise UnknownPolicyError(f"{spec.name}: noise={noise} must be a number from 0 to 1") from None


def check(spec: PolicySpec) -> None:
    """Check a spec as ``make`` does.

    Raises:
        UnknownPolicyError: As it does.
    """
    make(spec)  # which loads nothing
