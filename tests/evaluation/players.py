"""Players for these tests, which do what a test needs and no more."""

import os
import time
from typing import ClassVar

import numpy as np

from agents import load


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


class Faulty:
    """Plays first_legal, and in some games, by their number in the block, answers as `kind` says. Can be pickled."""

    name = "faulty"

    def __init__(self, kind: str, games=None, from_decision: int = 3) -> None:
        self.kind, self.games, self.from_decision = kind, games, from_decision
        # By game the keys of the decisions, so that one that is asked twice counts once.
        self.seen: dict[int, set[int]] = {}

    def start(self, num_games, rules, seed):
        self.seen = {}
        if self.kind == "silent start":
            time.sleep(1000)
        if self.kind == "start":
            raise ZeroDivisionError("no\nstart")

    def act(self, batch):
        actions = first_legal(batch.observations, batch.action_masks)
        bad = np.array([self.games is None or game in self.games for game in batch.games.tolist()])
        for row, (game, key) in enumerate(zip(batch.games.tolist(), batch.keys.tolist(), strict=True)):
            self.seen.setdefault(game, set()).add(key)
            bad[row] &= len(self.seen[game]) >= self.from_decision
        return self.answer(batch, actions, bad) if bad.any() else actions

    def answer(self, batch, actions, bad):
        if self.kind == "exception":
            raise ZeroDivisionError("oh\nno")
        if self.kind == "shape":
            return np.zeros((len(batch), 2), int)
        if self.kind == "nan":
            return np.where(bad, np.nan, actions)
        if self.kind == "none":
            return None
        if self.kind == "illegal":
            actions[bad] = (batch.action_masks[bad] == 0).argmax(1)
            return actions
        if self.kind == "silent":
            time.sleep(1000)
        if self.kind == "exit":
            os._exit(3)
        raise AssertionError(self.kind)


class Circle:
    """Three of these beat each other in a circle: number n plays well, but gives up against n + 1, whom it recognises.

    It recognises the other by what both note in this process: a player of flesh and blood would see a face.
    """

    seated: ClassVar[dict[tuple[int, int], int]] = {}

    def __init__(self, number: int) -> None:
        self.number, self.name = number, ("rock", "paper", "scissors")[number]
        self.well = load("greedy")

    def start(self, num_games, rules, seed):
        self.seated.clear()
        self.seats = rules.players

    def act(self, batch):
        actions = self.well.act(batch)
        for row, (game, seat) in enumerate(zip(batch.games.tolist(), batch.seats.tolist(), strict=True)):
            self.seated[game, seat] = self.number
            others = {self.seated.get((game, other)) for other in range(self.seats)}
            if (self.number + 1) % 3 in others:
                actions[row] = 126 - batch.action_masks[row, ::-1].argmax()
        return actions


class ForFour:
    """Refuses any table but one of four seats."""

    name = "four"

    def start(self, num_games, rules, seed):
        if rules.players != 4:
            raise ValueError(f"made for 4 seats, not {rules.players}")

    def act(self, batch):
        return first_legal(batch.observations, batch.action_masks)
