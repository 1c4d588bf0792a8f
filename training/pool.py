"""Frozen past selves as opponents: immutable, named by a hash, drawn for a game when it starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.neural.checkpoint import CheckpointError, network_bytes, network_from_bytes, sha256
from agents.neural.network import MlpNetwork, NetworkConfig

LEARNER = -1


@dataclass(frozen=True)
class Member:
    """One frozen self: a number that is never used again, the decisions it had learned from, and its tensors.

    data: the tensors in safetensors form; the network is made from them and never trained.
    """

    number: int
    decisions: int
    digest: str
    data: bytes
    network: MlpNetwork

    @classmethod
    def from_bytes(cls, number: int, decisions: int, data: bytes, config: NetworkConfig, device) -> Member:
        """A member whose digest is computed from ``data``; raises CheckpointError where they do not fit."""
        network = network_from_bytes(data, config).to(device)
        network.requires_grad_(False)
        return cls(number, decisions, sha256(data), data, network)

    def verify(self) -> None:
        """Raises CheckpointError if the network is no longer the one that was frozen."""
        if sha256(network_bytes(self.network)) != self.digest:
            raise CheckpointError(f"frozen member {self.number} has changed since it was frozen")


class Pool:
    """Members that a new game may meet, and those that games in progress still need.

    size: members to draw from. frozen_share: share of games with a frozen side.
    num_games, num_sides: of the vector of games. generator: of the draws.
    lineups: (num_games, num_sides) int32, who plays each side now: LEARNER or a member's number.
    """

    def __init__(self, size: int, frozen_share: float, num_games: int, num_sides: int, generator) -> None:
        self.size, self.frozen_share, self.generator = size, frozen_share, generator
        self.lineups = np.full((num_games, num_sides), LEARNER, np.int32)
        self.members: dict[int, Member] = {}
        self.candidates: list[int] = []
        self.next_number = 0

    def add(self, network: MlpNetwork, decisions: int) -> Member:
        """Freeze a copy of ``network``; over ``size``, the candidate whose neighbours in age are nearest leaves."""
        device = network.observation_scale.device
        member = Member.from_bytes(self.next_number, decisions, network_bytes(network), network.config, device)
        self.next_number += 1
        self.members[member.number] = member
        self.candidates.append(member.number)
        if len(self.candidates) > self.size:
            self.candidates.pop(self._most_crowded())
        self.release()
        return member

    def _most_crowded(self) -> int:
        """Index among the candidates; first and newest stay, so that the pool keeps reaching over the whole run."""
        ages = [self.members[number].decisions for number in self.candidates]
        if len(ages) <= 2:
            return 0
        gaps = [ages[i + 1] - ages[i - 1] for i in range(1, len(ages) - 1)]
        return 1 + int(np.argmin(gaps))

    def draw(self, slots: np.ndarray) -> None:
        """Draw new line-ups for slots whose games have just started: all learner, or one side frozen."""
        for slot in slots:
            self.lineups[slot] = LEARNER
            if self.candidates and self.generator.random() < self.frozen_share:
                side = self.generator.integers(self.lineups.shape[1])
                self.lineups[slot, side] = self.candidates[self.generator.integers(len(self.candidates))]

    def release(self) -> None:
        """Forget members that are neither candidates nor in a game in progress."""
        needed = set(self.candidates) | set(np.unique(self.lineups).tolist())
        self.members = {number: member for number, member in self.members.items() if number in needed}
