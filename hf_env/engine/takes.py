"""Taking from the discard pile. Rule: docs/rules.md 5."""

from hf_env.engine.action_ids import TAKE, TAKE_JOKER, TAKE_MELD, TAKE_TWO
from hf_env.engine.cards import JOKER, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.melds import leave_hand_for_meld, may_start_wild_meld, open_size, place, wild_limit_allows
from hf_env.engine.seats import side_of
from hf_env.engine.state import ANY_MELD, NATURAL_AND_WILD, NO_LIMIT
from hf_env.kernels.compile import kernel


@kernel
def take_fits(g, r, seat, action):
    """Whether the key of a take is held and its cards make a legal meld with the top card.

    What comes after it (opening, keeping a card) is not looked at. Rule: docs/rules.md 5.2 to 5.5, 5.8.
    """
    size = int(g["discard_size"])
    if size == 0:
        return False
    side = side_of(r, seat)
    top = int(g["discard"][size - 1])
    hand = g["hands"][seat]
    if top == TWO or top == JOKER:  # rules.md 5.3: a wild top card blocks the take, or a pair of it takes it
        if action != TAKE or not r["take_wild_top"] or r["wild_discard_freezes"] or hand[top] < 2:
            return False
        held = open_size(g, side, WILD)
        if held == 0:
            return may_start_wild_meld(r, int(g["clean_books"][side, WILD]))
        return held + 3 <= int(r["book_size"])
    if top >= NUM_NATURALS:  # rules.md 5.2: a 3 blocks
        return False
    # rules.md 5.8: a wild in the pile leaves only the natural pair as key.
    if action != TAKE and r["wild_discard_freezes"] and (g["discard_kinds"][TWO] > 0 or g["discard_kinds"][JOKER] > 0):
        return False
    naturals, twos, jokers = key_cards(action)
    if action == TAKE_MELD:  # rules.md 5.4: which keys there are
        if int(r["take_key"]) != ANY_MELD or open_size(g, side, top) == 0:
            return False
    elif action != TAKE and int(r["take_key"]) < NATURAL_AND_WILD:
        return False
    if hand[top] < naturals or hand[TWO] < twos or hand[JOKER] < jokers:
        return False
    all_naturals = int(g["naturals"][side, top]) + naturals + 1
    all_wilds = int(g["twos"][side, top]) + int(g["jokers"][side, top]) + twos + jokers
    # rules.md 5.5: a new meld, or one that all cards fit into.
    return all_naturals + all_wilds <= int(r["book_size"]) and wild_limit_allows(r, all_naturals, all_wilds, False)


@kernel
def key_cards(action):
    """(naturals, 2s, jokers) that a take of a natural top card needs from the hand. Rule: docs/rules.md 5.4."""
    if action == TAKE:
        return 2, 0, 0
    if action == TAKE_TWO:
        return 1, 1, 0
    if action == TAKE_JOKER:
        return 1, 0, 1
    return 0, 0, 0


@kernel
def take_cards(g, r, seat, action):
    """Lay the top card with its key and note the cards owed in `taking`, rules.md 5.1.

    Returns:
        The points laid.
    """
    side = side_of(r, seat)
    size = int(g["discard_size"])
    top = int(g["discard"][size - 1])
    g["discard_size"] = size - 1
    g["discard_kinds"][top] -= 1
    count = int(r["take_count"])
    if count == NO_LIMIT or count > size:
        count = size
    g["taking"] = count - 1
    naturals, twos, jokers = key_cards(action)
    rank = top
    if top == TWO or top == JOKER:
        rank = WILD
        naturals = 0
        twos = 2 if top == TWO else 0
        jokers = 2 if top == JOKER else 0
    points = int(r["card_points"][top]) + leave_hand_for_meld(g, r, seat, rank, naturals, twos, jokers)
    place(g, r, side, rank, naturals + (1 if rank != WILD else 0), twos + (1 if top == TWO else 0), jokers + (1 if top == JOKER else 0))
    return points


@kernel
def take_from_pile(g, r, seat, count):
    """Bring the next `count` cards of the pile into the hand, publicly known there. Red 3s are laid, not replaced.

    Returns:
        The number of red 3s. Rule: docs/rules.md 5.9, 5.11.
    """
    red3s = 0
    for _ in range(count):
        size = int(g["discard_size"]) - 1
        card = int(g["discard"][size])
        g["discard_size"] = size
        g["discard_kinds"][card] -= 1
        if card == RED3:
            g["red3"][side_of(r, seat)] += 1
            red3s += 1
            continue
        g["hands"][seat, card] += 1
        g["known"][seat, card] += 1
        g["hand_sizes"][seat] += 1
    g["taking"] = 0
    return red3s
