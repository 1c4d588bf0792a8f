"""PettingZoo's versioned entry: ``from hf_env import hand_and_foot_v0; env = hand_and_foot_v0.env()``."""

from hf_env.envs.aec import HandAndFootEnv as raw_env

__all__ = ["env", "raw_env"]


def env(**arguments) -> raw_env:
    """The environment (see HandAndFootEnv for the arguments).

    No wrapper stands around it: an illegal action raises with its reason instead of ending the game.
    """
    return raw_env(**arguments)
