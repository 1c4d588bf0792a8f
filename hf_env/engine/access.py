"""The engine for ordinary Python: few entries on one game of an array, and `GameAccess`, which owns the buffers.

For code that looks at one game at a time (positions, records, reasons, tests). Loops over many games belong into
kernels of their own.
"""

from collections.abc import Sequence

import numpy as np

from hf_env.engine.action_ids import ASK, MELD
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS, MAX_CARDS, NUM_KINDS
from hf_env.engine.dealing import first_dealer, make_deck
from hf_env.engine.invariants import first_broken_invariant
from hf_env.engine.legality import write_mask
from hf_env.engine.melds import lay_down_cards, lay_from_hand
from hf_env.engine.opening import most_points
from hf_env.engine.scoring import side_score, table_score
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.takes import take_cards
from hf_env.engine.transitions import apply_action, deal_order, head_game, head_next_deal, next_deal, start_game
from hf_env.engine.workspace import make_workspace
from hf_env.kernels.compile import copy_record, entry


@entry
def begin_game(games, i, rules, rule, seed, deal, single_deal, deck):
    """Begin game i under rules[rule] with its deal number `deal` (from 1); single_deal 1: the game is that deal alone."""
    start_game(games[i], rules[rule], rule, seed, deal, single_deal, deck)


@entry
def begin_next_deal(games, i, rules, deck):
    """Deal game i's next deal. Expects the last one to be over and the game not."""
    next_deal(games[i], rules[games[i]["rule"]], deck)


@entry
def begin_game_with(games, i, rules, head, dealer, deck, n):
    """As begin_game, with a given order deck[:n].

    Args:
        head: (4,) int64 rule, seed, deal, single_deal; dealer -1: the seed's.
    """
    g = games[i]
    r = rules[head[0]]
    head_game(g, r, head[0], head[1], head[2], head[3])
    if dealer >= 0:
        g["dealer"] = dealer
    deal_order(g, r, deck, n)


@entry
def begin_next_deal_with(games, i, rules, deck, n):
    """As begin_next_deal, with a given order deck[:n]."""
    g = games[i]
    r = rules[g["rule"]]
    head_next_deal(g, r)
    deal_order(g, r, deck, n)


@entry
def write_legal(games, i, rules, work):
    """Write the legal actions of game i's seat to move into work.mask, (127,) int8."""
    write_mask(games[i], rules[games[i]["rule"]], work.mask, work)


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
    """Write the shuffled order of (seed, deal) into deck.

    Returns:
        The number of cards and the seat of the first dealer.
    """
    return make_deck(rules[rule], seed, deal, deck), first_dealer(rules[rule], seed)


@entry
def most_after(games, i, rules, action, work):
    """Most points that an opening can come to after a lay-down or take whose cards are held and fit.

    With action -1: without any further one.
    """
    g = games[i]
    r = rules[g["rule"]]
    s = work.spare[0]
    copy_record(s, g)
    seat = int(g["to_move"])
    points = int(g["laid"])
    if MELD <= action < ASK:
        rank, naturals, twos, jokers = lay_down_cards(action)
        points += lay_from_hand(s, r, seat, rank, naturals, twos, jokers)
    elif action >= 0:
        points += take_cards(s, r, seat, action)
    return points + most_points(s, r, seat, work)


def check_deck(rule: np.void, kinds: Sequence[int]) -> None:
    """Check an order of cards before it is dealt.

    Args:
        rule: a record of RULES_DTYPE.
        kinds: of the cards, from the first that is dealt.

    Raises:
        ValueError: One line on why the order cannot be dealt.
    """
    decks = int(rule["decks"])
    if len(kinds) != sum(CARDS_PER_DECK) * decks:
        raise ValueError(f"{len(kinds)} cards, but decks = {decks} hold {sum(CARDS_PER_DECK) * decks}")
    _check_kinds(kinds)
    numbers = np.bincount(np.asarray(kinds, np.int64), minlength=NUM_KINDS)
    for kind, number in enumerate(CARDS_PER_DECK):
        if numbers[kind] != number * decks:
            raise ValueError(f"{numbers[kind]} of {KIND_CHARS[kind]}, but decks = {decks} hold {number * decks}")
    upcard = kinds[int(rule["players"]) * (int(rule["hand_size"]) + int(rule["foot_size"]))]
    if rule["bury"][upcard]:
        raise ValueError(f"the upcard is {KIND_CHARS[upcard]}, which is buried")


def _check_kinds(kinds: Sequence[int]) -> None:
    wrong = [kind for kind in kinds if not 0 <= kind < NUM_KINDS]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no kind of card")


class GameAccess:
    """One game played from Python, an action at a time.

    `rules`: array of RULES_DTYPE, ``RuleSet.to_record()`` or several of them; `games`: array of one game, `game` its record.
    """

    def __init__(self, rules: np.ndarray, games: np.ndarray | None = None) -> None:
        self.rules = rules
        self.games = np.zeros(1, GAME_DTYPE) if games is None else games
        self.work = make_workspace()

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

    def start(
        self,
        seed: int,
        deal: int = 1,
        *,
        single_deal: bool = False,
        rule: int = 0,
        deck: Sequence[int] | None = None,
        dealer: int | None = None,
    ) -> None:
        """Begin a game at a deal (from 1) from totals 0.

        Args:
            deck: kinds, dealt in this order in place of the seed's.
            dealer: who deals it, in place of the seed's dealer; only with a deck.

        Raises:
            ValueError: For a deck that cannot be dealt or a dealer who is no seat; the game is as it was.
        """
        if deck is None:
            if dealer is not None:
                raise ValueError("a dealer is given only with a deck")
            begin_game(self.games, 0, self.rules, rule, seed, deal, int(single_deal), self.work.deck)
            return
        players = int(self.rules[rule]["players"])
        if dealer is not None and not 0 <= dealer < players:
            raise ValueError(f"dealer {dealer} is no seat from 0 to {players - 1}")
        number = self._put_deck(self.rules[rule], deck)
        head = np.array([rule, seed, deal, single_deal], np.int64)
        begin_game_with(self.games, 0, self.rules, head, -1 if dealer is None else dealer, self.work.deck, number)

    def next_deal(self, deck: Sequence[int] | None = None) -> None:
        """Deal the next deal of the game.

        Args:
            deck: as of `start`.
        """
        if deck is None:
            begin_next_deal(self.games, 0, self.rules, self.work.deck)
        else:
            begin_next_deal_with(self.games, 0, self.rules, self.work.deck, self._put_deck(self.rule, deck))

    def _put_deck(self, rule: np.void, deck: Sequence[int]) -> int:
        """Put a given order into the buffer; returns its length."""
        check_deck(rule, deck)
        self.work.deck[: len(deck)] = deck
        return len(deck)

    def legal(self) -> np.ndarray:
        """Ids of the legal actions, ascending; none once the deal is over."""
        write_legal(self.games, 0, self.rules, self.work)
        return np.flatnonzero(self.work.mask)

    def play(self, action: int, order: Sequence[int] = ()) -> None:
        """Play a legal action; whether it is legal is not looked at.

        Args:
            order: kinds. A reshuffle in the action makes them the stock, if they are just the cards below the top of the
                discard pile; any other order is passed over, and the seed shuffles.

        Raises:
            ValueError: For what is no kind.
        """
        if len(order):
            self._put_order(order)
        play_action(self.games, 0, self.rules, int(action))
        if len(order):  # said anew for each action, so that no copy of the game carries an order along
            self.games["given_order"][0] = 0

    def _put_order(self, order: Sequence[int]) -> None:
        """Lay an order behind the stock, where the next reshuffle looks for it; nothing where there is no room."""
        _check_kinds(order)
        g = self.game
        left, stock = int(g["stock_end"]) - int(g["stock_next"]), g["stock"]
        if left + len(order) > MAX_CARDS:
            return  # more cards than there are: it cannot be what the pile holds
        if int(g["stock_end"]) + len(order) > MAX_CARDS:
            stock[:left] = stock[int(g["stock_next"]) : int(g["stock_end"])].copy()
            g["stock_next"], g["stock_end"] = 0, left
        end = int(g["stock_end"])
        stock[end : end + len(order)] = order
        g["given_order"] = len(order)

    def scores(self) -> list[int]:
        """Each side's score of this deal, as if it ended now."""
        return [int(score_now(self.games, 0, self.rules, side)) for side in range(int(self.rule["sides"]))]

    def broken_invariant(self) -> int:
        """Code of the first broken invariant, 0 for none."""
        return int(broken_invariant(self.games, 0, self.rules))
