"""The league: who sits at each seat of each training game, drawn when the game starts and kept to its end.

Beside the learner there are frozen past selves, immutable and named by the SHA-256 of their tensors, and scripted
players with or without noise. Past selves are drawn by how hard they are for the learner: prioritised fictitious
self-play, with the weighting f_hard(x) = (1 - x)^p of Vinyals et al. 2019 (AlphaStar, "Prioritized fictitious
self-play"), x being the share of games that the learner won against the member.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from agents.neural.base import NetworkConfig, PolicyValueNetwork
from agents.neural.checkpoint import CheckpointError, network_bytes, network_from_bytes, sha256
from agents.registry import load
from agents.scripted.players import ScriptedPolicy
from training.evaluation.ratings import ELO_A_TENFOLD
from training.league.lineups import LEARNER_NAME, PAST, TEAM, Lineup
from training.processes import Processes

# Numbers in ``lineups``: members from 0 on, scripted players from FIRST_SCRIPTED downwards.
LEARNER = -1
FIRST_SCRIPTED = -2
# Share of a result that is kept when another comes in: the last hundred games or so count, since the learner moves on.
_RECENT = 0.99
_NO_DIGEST = bytes(32)
# Of a game's finished deals, far above any.
_MOST_POINTS = 1 << 40


@dataclass(frozen=True)
class Member:
    """One frozen self: a number that is never used again, the decisions it had learned from, and its tensors.

    Attributes:
        data: the tensors in safetensors form; the network is made from them and never trained.
    """

    number: int
    decisions: int
    digest: str
    data: bytes
    network: PolicyValueNetwork

    @classmethod
    def from_bytes(cls, number: int, decisions: int, data: bytes, config: NetworkConfig, num_actions: int, device) -> Member:
        """A member whose digest is computed from ``data``; raises CheckpointError where they do not fit."""
        network = network_from_bytes(data, config, num_actions).to(device)
        network.requires_grad_(False)
        return cls(number, decisions, sha256(data), data, network)

    def verify(self) -> None:
        """Check that the network is still the one that was frozen.

        Raises:
            CheckpointError: Where it is not.
        """
        if sha256(network_bytes(self.network)) != self.digest:
            raise CheckpointError(f"frozen member {self.number} has changed since it was frozen")


@dataclass
class Record:
    """What the learner has reached against one player: games in which no side held both.

    Attributes:
        decisions: that a frozen self had learned from.
        games, wins: counts, a tie being half a win.
        recent_games, recent_wins: the same with older games counting less.
    """

    name: str
    decisions: int = 0
    games: int = 0
    wins: float = 0.0
    recent_games: float = 0.0
    recent_wins: float = 0.0

    def add(self, won: float) -> None:
        """Count one game: 1 won by the learner's side, 0 lost, 0.5 tied."""
        self.games += 1
        self.wins += won
        self.recent_games = _RECENT * self.recent_games + 1.0
        self.recent_wins = _RECENT * self.recent_wins + won

    @property
    def win_share(self) -> float:
        """Estimated share of games that the learner wins now, 0 to 1, drawn to a half where few were played."""
        return (self.recent_wins + 1.0) / (self.recent_games + 2.0)

    @property
    def rating(self) -> float:
        """Elo points of the player above the learner of now."""
        return ELO_A_TENFOLD * math.log10((1.0 - self.win_share) / self.win_share)


class League:
    """Players that a new game may meet, those that games in progress still need, and the results against each.

    Args:
        lineup: how seats are filled (training/league/lineups.py).
        size: past selves to draw from.
        hardness: the power p of the weighting.
        num_games, num_sides: of the vector of games.
        generator: of the draws.
        processes: that learn together; results of several are counted when all of them ``take_finished``, in the order of
            their ranks.

    Attributes:
        lineups: (num_games, num_seats) int32, who sits where now: LEARNER, a member's number, or a scripted player's.
        totals: (num_games, num_sides) int64, points of the finished deals of the games in progress.
        started: (num_games, num_seats, 32) uint8, the SHA-256 of each seat's player when the game started; 0: the learner.
    """

    def __init__(self, lineup: Lineup, size: int, hardness: float, num_games: int, num_sides: int, generator, processes=None) -> None:
        self.processes = processes or Processes()
        self.lineup, self.size, self.hardness, self.generator = lineup, size, hardness, generator
        num_seats = len(lineup.seats)
        self.lineups = np.full((num_games, num_seats), LEARNER, np.int32)
        self.totals = np.zeros((num_games, num_sides), np.int64)
        self.started = np.zeros((num_games, num_seats, 32), np.uint8)
        self.scripted = [cast(ScriptedPolicy, load(name)) for name in lineup.scripted]
        self.members: dict[int, Member] = {}
        self.candidates: list[int] = []
        self.next_number = 0
        self.records: dict[str, Record] = {scripted_digest(name): Record(name) for name in lineup.scripted}
        self.finished: dict[tuple[str, ...], int] = {}
        self._results: list[tuple[str, float]] = []
        self.draw(np.arange(num_games))

    def scripted_player(self, number: int) -> ScriptedPolicy | None:
        """The scripted player of a number in ``lineups``; None for a member's."""
        return self.scripted[FIRST_SCRIPTED - number] if number <= FIRST_SCRIPTED else None

    def digest(self, number: int) -> str:
        """SHA-256 of a player: of a member's tensors, or of a scripted player's name and noise; empty: the learner."""
        if number == LEARNER:
            return ""
        if number <= FIRST_SCRIPTED:
            return scripted_digest(self.lineup.scripted[FIRST_SCRIPTED - number])
        return self.members[number].digest

    def add(self, network: PolicyValueNetwork, decisions: int) -> Member:
        """Freeze a copy of ``network``; over ``size``, the candidate whose neighbours in age are nearest leaves."""
        device = network.observation_scale.device
        member = Member.from_bytes(self.next_number, decisions, network_bytes(network), network.config, network.num_actions, device)
        self.next_number += 1
        self.members[member.number] = member
        self.records.setdefault(member.digest, Record(f"self {member.number}", decisions))
        self.candidates.append(member.number)
        if len(self.candidates) > self.size:
            self.candidates.pop(self._most_crowded())
        self.release()
        return member

    def _most_crowded(self) -> int:
        """Index among the candidates; first and newest stay, so that the league keeps reaching over the whole run."""
        ages = [self.members[number].decisions for number in self.candidates]
        if len(ages) <= 2:
            return 0
        gaps = [ages[i + 1] - ages[i - 1] for i in range(1, len(ages) - 1)]
        return 1 + int(np.argmin(gaps))

    def draw(self, slots: np.ndarray) -> None:
        """Draw new line-ups for slots whose games have just started, turned round the table by a number of seats."""
        num_seats, num_sides = self.lineups.shape[1], self.totals.shape[1]
        past = self._past_shares() if self.candidates else None
        for slot in slots:
            turn = int(self.generator.integers(num_seats))
            teams: dict[tuple[str, int], int] = {}
            for place, entry in enumerate(self.lineup.seats):
                team = (entry, place % num_sides)
                if team not in teams:
                    number = self._draw_one(entry, past)
                    if entry.startswith(TEAM):
                        teams[team] = number
                else:
                    number = teams[team]
                self.lineups[slot, (place + turn) % num_seats] = number
            self.totals[slot] = 0
            self.started[slot] = self._digests(slot)

    def _draw_one(self, entry: str, past: np.ndarray | None) -> int:
        """A player for a seat; a past self is the learner while there is none."""
        names, shares = self.lineup.choices(entry)
        name = names[int(self.generator.choice(len(names), p=shares))] if len(names) > 1 else names[0]
        if name == LEARNER_NAME or (name == PAST and past is None):
            return LEARNER
        if name == PAST:
            return self.candidates[int(self.generator.choice(len(self.candidates), p=past))]
        return FIRST_SCRIPTED - self.lineup.scripted.index(name)

    def _past_shares(self) -> np.ndarray:
        """Chance of each candidate, by how hard it is for the learner."""
        records = [self.records[self.members[number].digest] for number in self.candidates]
        weights = np.array([(1.0 - record.win_share) ** self.hardness for record in records])
        return weights / weights.sum()

    def _digests(self, slot: int) -> np.ndarray:
        digests = [bytes.fromhex(self.digest(int(number))) or _NO_DIGEST for number in self.lineups[slot]]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), 32)

    def end_games(self, slots: np.ndarray, complete: np.ndarray) -> None:
        """Take in games that are over: each must name the same players as at its start; their results are counted.

        Args:
            slots: (K,).
            complete: (K,) bool, False for a game cut short, which has no result.

        Raises:
            CheckpointError: Where a seat's player is another than when the game started.
        """
        for slot, is_complete in zip(slots, complete, strict=True):
            if not np.array_equal(self._digests(slot), self.started[slot]):
                raise CheckpointError(f"a seat of game {slot} is played by another than when the game started")
            names = tuple(self.digest(int(number)) or LEARNER_NAME for number in self.lineups[slot])
            self.finished[names] = self.finished.get(names, 0) + 1
            if is_complete:
                self._count(self.lineups[slot], self.totals[slot])

    def _count(self, seats: np.ndarray, totals: np.ndarray) -> None:
        """The result of a game for each player that sat against the learner."""
        sides = np.arange(len(seats)) % len(totals)
        learners = set(sides[seats == LEARNER].tolist())
        for number in sorted(set(seats.tolist()) - {LEARNER}):
            others = set(sides[seats == number].tolist())
            ours, theirs = learners - others, others - learners
            if ours and theirs:
                lead = max(totals[side] for side in ours) - max(totals[side] for side in theirs)
                result = self.digest(number), 0.5 + 0.5 * float(np.sign(lead))
                if self.processes.size == 1:
                    self._add_results([result])
                else:
                    self._results.append(result)

    def _add_results(self, results: list[tuple[str, float]]) -> None:
        for digest, won in results:
            self.records[digest].add(won)

    def take_finished(self) -> list[dict[str, Any]]:
        """Line-ups of the games that ended since the last call, with their numbers; the frozen among them are verified.

        Raises:
            CheckpointError: For a member whose network is not the one that was frozen.
        """
        if self.processes.size > 1:
            self._share()
        named = {digest for seats in self.finished for digest in seats}
        for member in self.members.values():
            if member.digest in named:
                member.verify()
        lines = [{"seats": list(seats), "games": games} for seats, games in sorted(self.finished.items())]
        self.finished = {}
        return lines

    def _share(self) -> None:
        """Count what ended in all processes."""
        found = self.processes.gather((self._results, self.finished))
        self._results, self.finished = [], {}
        for results, finished in found:
            self._add_results(results)
            for names, games in finished.items():
                self.finished[names] = self.finished.get(names, 0) + games

    def release(self) -> None:
        """Forget members that are neither candidates nor in a game in progress; their records stay."""
        needed = set(self.candidates) | set(np.unique(self.lineups).tolist())
        self.members = {number: member for number, member in self.members.items() if number in needed}

    def table(self) -> list[dict[str, Any]]:
        """Every player ever met: its hash, name, games, the learner's wins, and its rating above the learner."""
        return [{"digest": digest, **asdict(record), "rating": record.rating} for digest, record in self.records.items()]

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values for the checkpoint; the members' tensors lie in files of their own."""
        arrays: dict[str, np.ndarray] = {"lineups": self.lineups, "totals": self.totals, "started": self.started}
        values: dict[str, Any] = {
            "next_number": self.next_number,
            "candidates": self.candidates,
            "members": [{"number": m.number, "decisions": m.decisions, "digest": m.digest} for m in self.members.values()],
            "records": {digest: asdict(record) for digest, record in self.records.items()},
            "generator": self.generator.bit_generator.state,
        }
        return arrays, values

    def load_state(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any], members: list[Member]) -> None:
        """Inverse of ``state``, with the members made from their files.

        Args:
            arrays: as of ``state``, from anywhere.
            values: of the kinds that training/run/schema.py says.
            members: those of the values.

        Raises:
            ValueError: For arrays that are none of this league's. Nothing has changed then.
        """
        own = self.state()[0]
        for name, array in own.items():
            found = arrays[name]
            if found.shape != array.shape or found.dtype != array.dtype:
                raise ValueError(f"league/{name} is {list(found.shape)} of {found.dtype}, not {list(array.shape)} of {array.dtype}")
        scripted = range(FIRST_SCRIPTED, FIRST_SCRIPTED - len(self.scripted), -1)
        strangers = set(np.unique(arrays["lineups"]).tolist()) - {LEARNER, *scripted, *(member.number for member in members)}
        if strangers:
            raise ValueError(f"league/lineups names a player {min(strangers)} that is not there")
        missing = [name for name in self.lineup.scripted if scripted_digest(name) not in values["records"]]
        if missing:
            raise ValueError(f"there are no results against {missing[0]}")
        if np.abs(arrays["totals"].astype(np.float64)).max(initial=0) > _MOST_POINTS:
            raise ValueError("league/totals holds more points than a game has")
        for name, array in own.items():
            array[...] = arrays[name]
        self.members = {member.number: member for member in members}
        self.next_number, self.candidates = values["next_number"], list(values["candidates"])
        self.records = {digest: Record(**record) for digest, record in values["records"].items()}
        self.generator.bit_generator.state = values["generator"]


def scripted_digest(name: str) -> str:
    """What names a scripted player in the records of games: the SHA-256 of its name and options."""
    return sha256(f"scripted:{name}".encode())
