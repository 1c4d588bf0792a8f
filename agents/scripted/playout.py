"""Deals played to their end by scripted players at engine speed: for tests, search and benchmarks."""

import numpy as np

from agents.scripted.dispatch import Players, scripted_action, work_for
from agents.scripted.table import PLAYER_IDS
from agents.scripted.uniform import choose_random
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS
from hf_env.engine.legality import write_mask
from hf_env.engine.purposes import FOR_DEAL_NUMBER, FOR_GAME, FOR_POLICY
from hf_env.engine.rng import advance, below, combine, stream, uniform
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action, start_game
from hf_env.engine.workspace import make_workspace
from hf_env.kernels.compile import entry, kernel

# Fields of the game record that play_deals returns, as they stand at the deal's end.
RESULT_FIELDS = (
    "deal", "deal_scores", "end_reason", "out_seat", "turns", "opening_turn", "opened_by_take", "foot_turn",
    "foot_by_discard", "num_takes", "num_asks", "num_yes", "num_no", "stranded", "red3", "clean_books", "dirty_books",
)  # fmt: skip

# More decisions than any deal has, and what stands for their number after an illegal choice.
UNLIMITED = 1 << 40
ILLEGAL = -1


@kernel
def noisy_action(players, g, r, seat, mask, key):
    """The action of the scripted player at a seat, or with the probability of its noise a random one.

    Args:
        players: Players.
    """
    noise = players.noise[seat]
    # Not the key itself, which the player gets: a choice by `random` would depend on not having been noise.
    noise_key = advance(key)
    if noise > 0.0 and uniform(noise_key) < noise:
        return choose_random(g, r, seat, mask, advance(noise_key), None)
    return scripted_action(players.numbers[seat], g, r, seat, mask, key, players.work, players.weights)


@kernel
def play_on(g, r, players, key, made, limit, work):
    """Play a game until its deal ends or `limit` decisions are made in all, `made` of them before this call.

    Args:
        g: The game's record, changed.
        r: The record of its rule set.
        players: Players of this game.
        key: uint64, of the game: all randomness of the players.
        made: Decisions made before.
        limit: Decisions made in all.
        work: A Workspace.

    Returns:
        The number of decisions made; ILLEGAL if a player chose an action that the mask forbids, the game standing where it did.
    """
    mask = work.mask
    while g["phase"] != PHASE_OVER and made < limit:
        write_mask(g, r, mask, work)
        seat = int(g["to_move"])
        action = noisy_action(players, g, r, seat, mask, combine(key, made))
        if action < 0 or not mask[action]:
            return ILLEGAL
        apply_action(g, r, action)
        made += 1
    return made


@entry
def play_games_on(games, rules, players, keys, decisions, limit):
    """Play every game, whatever state it is in, until its deal ends or `limit` decisions are made in it.

    Args:
        games: (N,) GAME_DTYPE, changed.
        rules: (R,) RULES_DTYPE, indexed by a game's `rule`.
        players: Players of N games.
        keys: (N,) uint64, one a game.
        decisions: (N,) int64, made so far, brought up to date (ILLEGAL as in play_on).
        limit: int64.
    """
    work = make_workspace()
    for i in range(games.shape[0]):
        r = rules[np.int64(games[i]["rule"])]
        at_table = Players(players.numbers[i], players.noise[i], players.work, players.weights)
        decisions[i] = play_on(games[i], r, at_table, keys[i], decisions[i], limit, work)


@entry
def write_masks(games, rules, masks, seats):
    """Legal actions of every game: masks (N, 127) int8 and the deciding seats (N,) int32, overwritten."""
    work = make_workspace()
    for i in range(games.shape[0]):
        write_mask(games[i], rules[np.int64(games[i]["rule"])], masks[i], work)
        seats[i] = games[i]["to_move"]


@entry
def start_games(games, rules, deals, seeds, single_deal):
    """Begin every game with deal number deals[i]: (N,) int64, from 1.

    Args:
        seeds: (N,) int64.
        single_deal: int64, 1: games of one deal.
    """
    deck = np.empty(MAX_CARDS, np.uint8)
    for i in range(games.shape[0]):
        start_game(games[i], rules[0], np.int64(0), seeds[i], deals[i], single_deal, deck)


@entry
def _numbers(seed, purpose, count, n, out):
    """out[i] = a number below n for item i of (seed, purpose); n 0: 63 bits."""
    for i in range(count):
        state = stream(seed, purpose, i, 0)
        out[i] = below(state, n) if n > 0 else np.int64(state >> np.uint64(1))


def draw_numbers(seed: int, purpose: int, count: int, n: int = 0) -> np.ndarray:
    """(count,) int64 numbers made of (seed, purpose, index) alone: below n, or of 63 bits where n is 0."""
    out = np.empty(count, np.int64)
    _numbers(np.int64(seed), np.int64(purpose), np.int64(count), np.int64(n), out)
    return out


class Table:
    """Deals side by side with a scripted player on every seat, stopped wherever wanted.

    Args:
        rules: a RuleSet.
        players: a name for each seat (of agents.scripted.table).
        noise: chance of a random action, one number or one a seat.
        deal: its number from 1 (minimum, quota); None: drawn from 1..deals of the rules.

    Raises:
        KeyError: For an unknown name.
        ValueError: For a wrong number of players.
    """

    def __init__(self, rules, players, num_deals: int, seed: int = 0, noise=0.0, deal: int | None = None) -> None:
        if len(players) != rules.players:
            raise ValueError(f"{len(players)} players for {rules.players} seats")
        self.rules = rules.to_record()
        self.games = np.zeros(num_deals, GAME_DTYPE)
        self.seeds = draw_numbers(seed, FOR_GAME, num_deals)
        self.decisions = np.zeros(num_deals, np.int64)
        numbers = np.tile(np.array([PLAYER_IDS[name] for name in players], np.int64), (num_deals, 1))
        every_noise = np.ascontiguousarray(np.broadcast_to(np.asarray(noise, np.float64), numbers.shape))
        self._players = Players(numbers, every_noise, work_for(numbers[0]))
        self._keys = draw_numbers(seed, FOR_POLICY, num_deals).astype(np.uint64)
        if deal is None:
            deals = 1 + draw_numbers(seed, FOR_DEAL_NUMBER, num_deals, int(self.rules[0]["deals"]))
        else:
            deals = np.full(num_deals, deal, np.int64)
        start_games(self.games, self.rules, deals, self.seeds, np.int64(1))

    def play(self, decisions: int = UNLIMITED) -> None:
        """Go on until each deal has ended or so many decisions are made in it, counted from its start.

        Raises:
            RuntimeError: If a player chose an illegal action: a bug of that player.
        """
        play_games_on(self.games, self.rules, self._players, self._keys, self.decisions, np.int64(decisions))
        wrong = np.flatnonzero(self.decisions == ILLEGAL)
        if len(wrong):
            raise RuntimeError(f"a scripted player chose an illegal action in the deal of seed {self.seeds[wrong[0]]}")

    def masks(self) -> tuple[np.ndarray, np.ndarray]:
        """Legal actions (N, 127) int8 (all zero once a deal is over) and deciding seats (N,) int32."""
        masks = np.empty((len(self.games), NUM_ACTIONS), np.int8)
        seats = np.empty(len(self.games), np.int32)
        write_masks(self.games, self.rules, masks, seats)
        return masks, seats


def play_deals(rules, players, num_deals: int, seed: int = 0, noise=0.0, deal: int | None = None) -> dict[str, np.ndarray]:
    """Play single deals to their end, each from scores 0. Arguments and errors as of Table.

    Returns:
        Arrays of length num_deals by name: `scores` (N, sides) int32, `decisions` (N,) int64, `seeds` (N,) int64, and
        RESULT_FIELDS of the game record.
    """
    table = Table(rules, players, num_deals, seed, noise, deal)
    table.play()
    result = {name: table.games[name].copy() for name in RESULT_FIELDS}
    scores = table.games["deal_scores"][:, : rules.num_sides].copy()
    return result | {"scores": scores, "decisions": table.decisions, "seeds": table.seeds}
