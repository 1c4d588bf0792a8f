"""Shuffling, dealing and drawing. Rule: docs/rules.md 3, 8."""

import numpy as np

from hf_env.engine.cards import CARDS_PER_DECK, MAX_CARDS, MAX_SEATS, NUM_KINDS, RED3
from hf_env.engine.purposes import FOR_DEALER, FOR_DECK, FOR_RESHUFFLE
from hf_env.engine.rng import advance, below, shuffle, stream
from hf_env.engine.seats import side_of
from hf_env.engine.state import (
    END_STOCK_DRAW,
    END_STOCK_RED3,
    MAX_DEAL_ENTRIES,
    NOT_ENDED,
    NOT_YET,
    PHASE_DRAW,
)
from hf_env.kernels.compile import clear_record, kernel

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)


@kernel
def deal_entry(deal):
    """Index of a deal (from 1) in the lists "a deal": the last entry holds for later deals."""
    return min(deal, MAX_DEAL_ENTRIES) - 1


@kernel
def opening_minimum(r, deal):
    """Points that a first lay-down must reach in this deal (from 1). Rule: docs/rules.md 4.14."""
    n = int(r["num_openings"])
    entry = deal - 1
    if entry >= n:  # seldom: a division is slow
        entry = entry % n if r["opening_cycles"] else n - 1
    return int(r["opening"][entry])


@kernel
def first_dealer(r, seed):
    """Seat of the first dealer, drawn from the seed. Rule: docs/rules.md 2.3."""
    return below(stream(seed, FOR_DEALER, 0, 0), int(r["players"]))


@kernel
def make_deck(r, seed, deal, deck):
    """Write the shuffled order of (seed, deal), after any burial, into deck; returns the number of cards.

    A buried card goes to a random place in what is left of the stock, so that dealing needs no more chance.
    Rule: docs/rules.md 1.2, 3.2, 3.3.
    """
    n = 0
    for kind in range(NUM_KINDS):
        for _ in range(_PER_DECK[kind] * int(r["decks"])):
            deck[n] = kind
            n += 1
    state = shuffle(deck, n, stream(seed, FOR_DECK, deal, 0))
    upcard = int(r["players"]) * (int(r["hand_size"]) + int(r["foot_size"]))
    for _ in range(n):  # ends long before: the rule set leaves a card that need not be buried
        kind = deck[upcard]
        if not r["bury"][kind]:  # rules.md 3.2
            break
        state = advance(state)
        place = upcard + below(state, n - upcard)
        for i in range(upcard, place):
            deck[i] = deck[i + 1]
        deck[place] = kind
    return n


@kernel
def _takes_given_order(g, size):
    """Make the given order the stock, if there is one of just the cards below the top of the pile. Uses up discard_kinds.

    Its kinds and its place in the stock's array have been checked by whoever gave it.
    """
    given, start = int(g["given_order"]), int(g["stock_end"])
    g["given_order"] = 0
    if given != size - 1 or start + given > MAX_CARDS:
        return False
    for i in range(start, start + given):
        g["discard_kinds"][int(g["stock"][i])] -= 1
    g["discard_kinds"][int(g["discard"][size - 1])] -= 1
    for kind in range(NUM_KINDS):
        if g["discard_kinds"][kind] != 0:
            return False
    for i in range(given):  # upwards, as the two places may overlap
        g["stock"][i] = g["stock"][start + i]
    return True


@kernel
def next_card(g, r):
    """The next card off the stock, after a reshuffle if the rules have one; -1 if none can be supplied. Rule: docs/rules.md 8.4."""
    if g["stock_next"] >= g["stock_end"]:
        size = int(g["discard_size"])
        if not r["reshuffle"] or size < 2:
            return -1
        top = g["discard"][size - 1]
        if g["given_order"] == 0 or not _takes_given_order(g, size):
            for i in range(size - 1):
                g["stock"][i] = g["discard"][i]
            shuffle(g["stock"], size - 1, stream(g["seed"], FOR_RESHUFFLE, g["deal"], g["reshuffles"]))
        g["stock_next"] = 0
        g["stock_end"] = size - 1
        g["reshuffles"] += 1
        g["discard"][0] = top
        g["discard_size"] = 1
        for kind in range(NUM_KINDS):
            g["discard_kinds"][kind] = 0
        g["discard_kinds"][int(top)] = 1
    card = int(g["stock"][g["stock_next"]])
    g["stock_next"] += 1
    return card


@kernel
def draw_cards(g, r, seat, count, replacing):
    """Draw until `count` cards other than red 3s came into the hand; red 3s are laid at once.

    Returns:
        NOT_ENDED, or why the deal ends: a missing card is a red 3's replacement (`replacing`: all are), or the ordinary
        draw. Cards that came stay. Rule: docs/rules.md 1.5, 4.2, 8.2, 8.3.
    """
    side = side_of(r, seat)
    for _ in range(count):
        pending = replacing
        while True:
            card = next_card(g, r)
            if card < 0:
                return END_STOCK_RED3 if pending or not r["reshuffle"] else END_STOCK_DRAW
            if card != RED3:
                break
            # rules.md 4.2: a red 3 is laid at once, and replaced.
            g["red3"][side] += 1
            pending = True
        g["hands"][seat, card] += 1
        g["hand_sizes"][seat] += 1
    return NOT_ENDED


@kernel
def lay_red3s(g, r, seat):
    """Lay the red 3s of a seat's hand and draw their replacements.

    Returns:
        As draw_cards. Rule: docs/rules.md 3.5, 6.4.
    """
    n = int(g["hands"][seat, RED3])
    if n == 0:
        return NOT_ENDED
    g["hands"][seat, RED3] = 0
    g["hand_sizes"][seat] -= n
    g["red3"][side_of(r, seat)] += n
    return draw_cards(g, r, seat, n, True)


@kernel
def pick_up_foot(g, r, seat):
    """The foot becomes the hand; its red 3s are laid and replaced.

    Returns:
        As draw_cards. Rule: docs/rules.md 6.3, 6.4.
    """
    for kind in range(NUM_KINDS):
        g["hands"][seat, kind] = g["feet"][seat, kind]
        g["feet"][seat, kind] = 0
    g["hand_sizes"][seat] = g["foot_sizes"][seat]
    g["foot_sizes"][seat] = 0
    g["in_foot"][seat] = 1
    g["foot_turn"][seat] = g["turns"]
    return lay_red3s(g, r, seat)


@kernel
def clear_deal(g):
    """Set all that belongs to one deal to its start; totals, seed, rule set and the deal's number stay."""
    rule, deal, dealer, seed = g["rule"], g["deal"], g["dealer"], g["seed"]
    single_deal, game_over = g["single_deal"], g["game_over"]
    s0, s1, s2, s3, s4, s5 = g["scores"][0], g["scores"][1], g["scores"][2], g["scores"][3], g["scores"][4], g["scores"][5]
    clear_record(g)
    g["rule"] = rule
    g["deal"] = deal
    g["dealer"] = dealer
    g["seed"] = seed
    g["single_deal"] = single_deal
    g["game_over"] = game_over
    g["scores"][0] = s0
    g["scores"][1] = s1
    g["scores"][2] = s2
    g["scores"][3] = s3
    g["scores"][4] = s4
    g["scores"][5] = s5
    g["phase"] = PHASE_DRAW
    g["out_seat"] = NOT_YET
    for i in range(MAX_SEATS):
        g["opening_turn"][i] = NOT_YET
        g["foot_turn"][i] = NOT_YET


@kernel
def deal_cards(g, r, deck, n):
    """Deal a shuffled order: hands, feet, upcard, stock; then lay the red 3s of the hands in turn order.

    Expects g's seed, deal, dealer and totals.

    Returns:
        NOT_ENDED or why the deal ended already. Rule: docs/rules.md 2.3, 3.1, 3.3, 3.5.
    """
    clear_deal(g)
    players = int(r["players"])
    first = (int(g["dealer"]) + 1) % players
    at = 0
    for offset in range(players):
        seat = (first + offset) % players
        for _ in range(int(r["hand_size"])):
            g["hands"][seat, int(deck[at])] += 1
            at += 1
        g["hand_sizes"][seat] = r["hand_size"]
    for offset in range(players):
        seat = (first + offset) % players
        for _ in range(int(r["foot_size"])):
            g["feet"][seat, int(deck[at])] += 1
            at += 1
        g["foot_sizes"][seat] = r["foot_size"]
    g["discard"][0] = deck[at]
    g["discard_kinds"][int(deck[at])] = 1
    g["discard_size"] = 1
    at += 1
    for i in range(n - at):
        g["stock"][i] = deck[at + i]
    g["stock_next"] = 0
    g["stock_end"] = n - at
    g["turn_seat"] = first
    g["to_move"] = first
    for offset in range(players):
        ended = lay_red3s(g, r, (first + offset) % players)
        if ended != NOT_ENDED:
            return ended
    return NOT_ENDED
