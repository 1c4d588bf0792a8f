"""The engine for ordinary Python: few entries on one game of an array, and `GameAccess`, which owns the buffers.

For code that looks at one game at a time (positions, records, reasons, tests). Loops over many games belong into
kernels of their own.
"""

import numpy as np

from hf_env.engine.action_ids import ASK, MELD, NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS
from hf_env.engine.dealing import first_dealer, make_deck
from hf_env.engine.invariants import first_broken_invariant
from hf_env.engine.jit import copy_record, entry
from hf_env.engine.legality import write_mask
from hf_env.engine.melds import lay_down_cards, lay_from_hand
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH, most_points
from hf_env.engine.scoring import side_score, table_score
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.takes import take_cards
from hf_env.engine.transitions import apply_action, next_deal, start_game


@entry
def begin_game(games, i, rules, rule, seed, deal, single_deal, deck):
    """Begin game i under rules[rule] with its deal number `deal` (from 1); single_deal 1: the game is that deal alone."""
    start_game(games[i], rules[rule], rule, seed, deal, single_deal, deck)


@entry
def begin_next_deal(games, i, rules, deck):
    """Deal game i's next deal. Expects the last one to be over and the game not."""
    next_deal(games[i], rules[games[i]["rule"]], deck)


@entry
def write_legal(games, i, rules, mask, tmp, plans):
    """Write the legal actions of game i's seat to move into mask, (127,) int8."""
    write_mask(games[i], rules[games[i]["rule"]], mask, tmp, plans, 0)


@entry
def play_action(games, i, rules, action):
    """Play a legal action in game i; whether it is legal is not looked at."""
    apply_action(games[i], rules[games[i]["rule"]], action)


@entry
def score_now(games, i, rules, side):
    """The side's score of the deal if it ended now; once it has ended, its score."""
    return side_score(games[i], rules[games[i]["rule"]], side)


@entry
def open_points(games, i, rules, rule, side):
    """Points of game i's deal that lie open for the side, under rules[rule]: cards, bonuses of books, red 3s. Public."""
    return table_score(games[i], rules[rule], side)


@entry
def broken_invariant(games, i, rules):
    """Code of the first invariant that game i breaks, 0 for none: see invariants.MESSAGES."""
    return first_broken_invariant(games[i], rules[games[i]["rule"]])


@entry
def deck_order(rules, rule, seed, deal, deck):
    """Write the shuffled order of (seed, deal) into deck. Returns the number of cards and the seat of the first dealer."""
    return make_deck(rules[rule], seed, deal, deck), first_dealer(rules[rule], seed)


@entry
def most_after(games, i, rules, action, tmp, plans):
    """Most points that an opening can come to after a lay-down or take whose cards are held and fit.

    With action -1: without any further one.
    """
    g = games[i]
    r = rules[g["rule"]]
    s = tmp[0]
    copy_record(s, g)
    seat = int(g["to_move"])
    points = int(g["laid"])
    if MELD <= action < ASK:
        rank, naturals, twos, jokers = lay_down_cards(action)
        points += lay_from_hand(s, r, seat, rank, naturals, twos, jokers)
    elif action >= 0:
        points += take_cards(s, r, seat, action)
    return points + most_points(s, r, seat, plans, 0)


class Buffers:
    """The work buffers that the kernels are handed: mask (127,) int8, two spare games, plans, a deck."""

    def __init__(self) -> None:
        self.mask = np.zeros(NUM_ACTIONS, np.int8)
        self.tmp = np.zeros(2, GAME_DTYPE)
        self.plans = np.zeros((NUM_ROWS, PLAN_WIDTH), np.int64)
        self.deck = np.zeros(MAX_CARDS, np.uint8)


class GameAccess:
    """One game played from Python, an action at a time.

    `rules`: array of RULES_DTYPE, ``RuleSet.to_record()`` or several of them; `games`: array of one game, `game` its record.
    """

    def __init__(self, rules: np.ndarray, games: np.ndarray | None = None) -> None:
        self.rules = rules
        self.games = np.zeros(1, GAME_DTYPE) if games is None else games
        self.buffers = Buffers()

    @property
    def game(self) -> np.void:
        """The game's record; a view."""
        return self.games[0]

    @property
    def rule(self) -> np.void:
        """The record of the game's rule set; a view."""
        return self.rules[int(self.games[0]["rule"])]

    @property
    def is_over(self) -> bool:
        """Whether the deal is over."""
        return int(self.games[0]["phase"]) == PHASE_OVER

    def start(self, seed: int, deal: int = 1, *, single_deal: bool = False, rule: int = 0) -> None:
        """Begin a game at a deal (from 1) from totals 0."""
        begin_game(self.games, 0, self.rules, rule, seed, deal, int(single_deal), self.buffers.deck)

    def next_deal(self) -> None:
        """Deal the next deal of the game."""
        begin_next_deal(self.games, 0, self.rules, self.buffers.deck)

    def legal(self) -> np.ndarray:
        """Ids of the legal actions, ascending; none once the deal is over."""
        b = self.buffers
        write_legal(self.games, 0, self.rules, b.mask, b.tmp, b.plans)
        return np.flatnonzero(b.mask)

    def play(self, action: int) -> None:
        """Play a legal action; whether it is legal is not looked at."""
        play_action(self.games, 0, self.rules, int(action))

    def scores(self) -> list[int]:
        """Each side's score of this deal, as if it ended now."""
        return [int(score_now(self.games, 0, self.rules, side)) for side in range(int(self.rule["sides"]))]

    def broken_invariant(self) -> int:
        """Code of the first broken invariant, 0 for none."""
        return int(broken_invariant(self.games, 0, self.rules))
