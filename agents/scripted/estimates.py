"""What unfinished melds and held cards are worth: the estimates that `greedy` compares.

Every estimate is in points of the rule set's own scoring, so that one player fits every rule set. Arguments named
`chance` are the probability that one more card of a wanted kind reaches the side in time.
"""

from hf_env.engine.cards import BLACK3, NUM_KINDS, NUM_MELDS, NUM_NATURALS, RED3, SEVEN, TWO, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.going_out import has_quota, partners_ready
from hf_env.engine.melds import may_start_wild_meld
from hf_env.engine.state import NO_LIMIT
from hf_env.kernels.compile import kernel

# Turns after which a wanted card has come with probability 1/2. A rank is 1 card in 13, a turn brings a side's seats
# 2 cards each and takes more.
HALF_TURNS = 1.5
# An opponent who may go out leaves us about so many turns: it still needs the right cards, and mostly a yes.
RACE_TURNS = 2.0
# Wilds come less often than naturals that may also be wilds' places.
WILD_CHANCE = 0.9
# Share of a book's bonus that one wild in the hand stands for: a wild book needs 7 of them and some never gather; a
# dirty book needs one or two.
WILD_BOOK_SHARE = 0.1
DIRTY_BOOK_SHARE = 0.2


@kernel
def stock_left(g):
    """Cards in the stock. Public, and the same in a redacted record."""
    return int(g["stock_end"]) - int(g["stock_next"])


@kernel
def stock_turns(g, r):
    """Turns that the stock leaves each seat, float64."""
    cards = stock_left(g)
    if r["reshuffle"]:
        cards += max(int(g["discard_size"]) - 1, 0)
    draw = int(r["draw"][deal_entry(int(g["deal"]))])
    return cards / (draw * int(r["players"]))


@kernel
def turns_left(g, r, side):
    """Turns that each seat may still expect, float64."""
    turns = stock_turns(g, r)
    sides = int(r["sides"])
    for other in range(int(r["players"])):
        if other % sides != side and g["in_foot"][other] and has_quota(g, r, other % sides) and partners_ready(g, r, other):
            turns = min(turns, RACE_TURNS)
    return turns


@kernel
def chance_of_card(turns, half_turns):
    """Probability that a wanted card comes within so many turns.

    Args:
        half_turns: after which it is 1/2.
    """
    return turns / (turns + half_turns)


@kernel
def power(base, exponent):
    """Base ** exponent for a small exponent >= 0, by multiplication: the same number compiled and interpreted."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


@kernel
def book_bonus(r, rank, wilds):
    """Bonus of a finished book of this rank (WILD: of wilds) that holds so many wilds."""
    if rank == WILD:
        return int(r["wild_book"])
    if wilds > 0:
        return int(r["dirty_book"])
    return int(r["sevens_book"]) if rank == SEVEN else int(r["clean_book"])


@kernel
def meld_value(r, rank, naturals, wilds, chance):
    """Expected bonus of a meld: its book's, if every missing card comes."""
    size = naturals + wilds
    if size == 0:
        return 0.0
    missing = max(int(r["book_size"]) - size, 0)
    step = chance * WILD_CHANCE if rank == WILD else chance
    value = book_bonus(r, rank, wilds) * power(step, missing)
    if rank == WILD and missing > 0:
        value -= int(r["unfinished_wild_penalty"]) * (1.0 - power(step, missing))
    return value


@kernel
def open_melds_value(g, r, side, chance):
    """Expected bonuses of all open melds of a side."""
    value = 0.0
    for rank in range(NUM_MELDS):
        wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        value += meld_value(r, rank, int(g["naturals"][side, rank]), wilds, chance)
    return value


@kernel
def wild_value(g, r, side, chance, dirty_book_share, wild_book_share):
    """What a wild kept in the hand is worth for later: the larger of these shares of the two bonuses that can be had."""
    value = dirty_book_share * int(r["dirty_book"])
    unfinished = int(g["twos"][side, WILD]) + int(g["jokers"][side, WILD]) > 0
    if unfinished or may_start_wild_meld(r, int(g["clean_books"][side, WILD])):
        value = max(value, wild_book_share * int(r["wild_book"]))
    return value * chance


@kernel
def average_points(r):
    """Mean card points of a deck's cards other than red 3s, float64."""
    points = 2.0 * int(r["card_points"][BLACK3]) + 2.0 * int(r["card_points"][TWO + 1])
    for kind in range(NUM_NATURALS + 1):
        points += 4.0 * int(r["card_points"][kind])
    return points / 52.0


@kernel
def held_estimate(g, r, seat):
    """Expected loss for a seat's cards as the others see them: hand, and foot while it is not picked up."""
    red3s = 2.0 * int(r["red3_held"]) / 54.0
    return int(g["hand_sizes"][seat]) * average_points(r) + int(g["foot_sizes"][seat]) * (average_points(r) + red3s)


@kernel
def add_caught(g, r, seat, others, ours):
    """Add to `others` and `ours` what the sides lose for the cards they are caught with if the deal ends now; returns both.

    By the seat whose turn it is, whose own cards are laid; `seat` knows its own.
    """
    sides = int(r["sides"])
    for other in range(int(r["players"])):
        if other % sides != seat % sides:
            others += held_estimate(g, r, other)
        elif other != g["turn_seat"]:
            ours += held_exactly(g, r, other) if other == seat else held_estimate(g, r, other)
    return others, ours


@kernel
def held_exactly(g, r, seat):
    """Loss for the cards of a seat's hand, which only that seat may ask for."""
    points = 0
    for kind in range(NUM_KINDS):
        points += int(g["hands"][seat, kind]) * int(r["card_points"][kind])
    return points


@kernel
def cards_of_take(g, r):
    """Number of cards that a take brings now, the top one included."""
    count = int(r["take_count"])
    size = int(g["discard_size"])
    return size if count == NO_LIMIT else min(count, size)


@kernel
def unseen(g, r, seat, kind, per_deck):
    """Cards of a kind that the seat sees nowhere: not in its hand, on a table, in the pile, or known in a hand."""
    if kind == RED3:
        return 0
    left = per_deck * int(r["decks"]) - int(g["hands"][seat, kind]) - int(g["discard_kinds"][kind])
    for side in range(int(r["sides"])):
        left -= int(g["table"][side, kind])
    for other in range(int(r["players"])):
        if other != seat:
            left -= int(g["known"][other, kind])
    return max(left, 0)
