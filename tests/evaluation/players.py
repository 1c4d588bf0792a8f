"""Players for these tests, which do what a test needs and no more."""

import numpy as np


def first_legal(observations, action_masks):
    """The legal action of the lowest number: deterministic."""
    return action_masks.argmax(1)


def last_legal(observations, action_masks):
    """The legal action of the highest number: deterministic, and not first_legal."""
    return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(1)


class Noted:
    """Plays first_legal and keeps what each seat saw first in each deal of each game, and all keys."""

    def __init__(self) -> None:
        self.first_sights: dict[tuple[int, int, int], tuple] = {}
        self.keys: list[int] = []
        self.seats_of_game: dict[int, set[int]] = {}
        self.started = 0

    def start(self, num_games, rules, seed):
        self.started += 1

    def act(self, batch):
        for game, seat, view in zip(batch.games.tolist(), batch.seats.tolist(), batch.views.games, strict=True):
            sight = tuple(view["hands"][seat]), int(view["dealer"]), int(view["foot_sizes"][seat])
            self.first_sights.setdefault((game, int(view["deal"]), seat), sight)
            self.seats_of_game.setdefault(game, set()).add(seat)
        self.keys += batch.keys.tolist()
        return first_legal(batch.observations, batch.action_masks)


class Answers:
    """Returns whatever `answer(batch)` gives, or raises it."""

    name = "crooked"

    def __init__(self, answer) -> None:
        self.answer = answer

    def act(self, batch):
        answer = self.answer(batch)
        if isinstance(answer, Exception):
            raise answer
        return answer


def illegal(batch):
    """An action that is not legal in row 0, legal ones elsewhere."""
    actions = batch.action_masks.argmax(1)
    actions[0] = np.flatnonzero(batch.action_masks[0] == 0)[0]
    return actions
