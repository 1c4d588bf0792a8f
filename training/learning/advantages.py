"""Advantages over one stream of decisions a seat (GAE: Schulman et al. 2016, equation 16, without discount).

At each step one seat of each game decides, so a seat's stream is what is left of the game's decisions when the
others' are taken out. A decision receives all rewards of its seat from its own step until the step of the same
seat's next decision; a deal's end is terminal for all seats, whoever made the last move. Streams that mix seats
would bootstrap from an observation that lacks the decider's hand.
"""

from typing import NamedTuple

import numpy as np

from hf_env.kernels.compile import entry


class Played(NamedTuple):
    """A rollout of T steps of N games with S seats, as far as credit goes.

    Attributes:
        rows: (T, N) int32, where the decision made in that step lies among M decisions. -1 leaves it out of its seat's
            stream (a frozen opponent's, or one with no choice): its rewards go to the seat's decision before it.
        seats: (T, N) int32, who decided.
        rewards: (T, N, S) float32, paid by the step to each seat.
        ended: (T, N) bool, whether the step ended the deal.
        end_values: (T, N, S) float32, the value of what follows such an end: 0, but for a game cut short by the safety cap.
    """

    rows: np.ndarray
    seats: np.ndarray
    rewards: np.ndarray
    ended: np.ndarray
    end_values: np.ndarray


@entry
def seat_advantages(played, values, cut_values, gae_lambda, advantages, entry_returns):
    """Write the advantage of every decision of a rollout.

    Args:
        played: Played, with T, N, S and M as there.
        values: (M,) float32, the value of each decision's observation when it was made.
        cut_values: (N, S) float32, the value of each seat's own observation after the last step.
        gae_lambda: float.
        advantages: (M,) float32, written.
        entry_returns: (N, S) float32, written: each seat's return seen from before the first step, whether or not it
            decided then.
    """
    rows, seats, rewards, ended, end_values = played
    num_steps, num_games = rows.shape
    num_seats = rewards.shape[2]
    for game in range(num_games):
        for seat in range(num_seats):
            # Backwards, for one stream: rewards since the decision before, then that decision's value and advantage.
            collected = 0.0
            next_value = float(cut_values[game, seat])
            next_advantage = 0.0
            for step in range(num_steps - 1, -1, -1):
                if ended[step, game]:
                    collected = 0.0
                    next_value = float(end_values[step, game, seat])
                    next_advantage = 0.0
                collected += float(rewards[step, game, seat])
                row = rows[step, game]
                if row >= 0 and seats[step, game] == seat:
                    value = float(values[row])
                    next_advantage = collected + next_value - value + gae_lambda * next_advantage
                    advantages[row] = next_advantage
                    next_value = value
                    collected = 0.0
            entry_returns[game, seat] = collected + next_value + gae_lambda * next_advantage
