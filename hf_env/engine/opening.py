"""Whether an opening can still reach its minimum: the exact maximum of points that a hand can lay.

A plan lays, rank by rank, some naturals and some wilds; ranks meet only in the number of wilds they share, so the
maximum is a max-plus convolution over ranks of `points of naturals laid with exactly w wilds`. Which wilds they are
never matters to a meld, so the dearest are laid. Rule: docs/rules.md 4.15, 4.17, 5.6.
"""

from hf_env.engine.cards import JOKER, NUM_MELDS, TWO, WILD
from hf_env.engine.growth import NO_ROW, PlanRows, rank_plans_by_search
from hf_env.engine.melds import may_start_wild_meld, wild_limit_allows
from hf_env.engine.seats import side_of
from hf_env.engine.state import GROW_ANY, GROW_NONE
from hf_env.kernels.compile import kernel

IMPOSSIBLE = -(1 << 20)
# Wilds in one hand at most (8 decks hold 48), plus one, rounded up.
PLAN_WIDTH = 56
# Rows of the work buffer: a plan a slot, prefixes and suffixes of their convolution, and two of a candidate's.
ROW_PLANS, ROW_PREFIX, ROW_SUFFIX = 0, NUM_MELDS, 2 * NUM_MELDS + 1
ROW_OTHERS = 3 * NUM_MELDS + 2
ROW_CANDIDATE = ROW_OTHERS + 1
ROW_SLOTS = ROW_CANDIDATE + 1
NUM_ROWS = ROW_SLOTS + 1


@kernel
def wild_capacity(r, size):
    """Most wilds that a natural meld of exactly `size` cards may hold."""
    wilds = 0
    while wilds < size and wild_limit_allows(r, size - wilds - 1, wilds + 1, False):
        wilds += 1
    return wilds


@kernel
def plan_fits(r, naturals, wilds, open_naturals, open_wilds):
    """Whether exactly so many more cards of a rank can be laid, books closed at their size and not growing.

    Melds of one rank follow each other: all but the last are full books, so their number follows from the total.
    """
    if naturals + wilds == 0:
        return True
    book_size = int(r["book_size"])
    all_naturals = open_naturals + naturals
    all_wilds = open_wilds + wilds
    total = all_naturals + all_wilds
    if total < 3:
        return False
    if total <= book_size:
        return wild_limit_allows(r, all_naturals, all_wilds, False)
    full = total // book_size
    rest = total - full * book_size
    if rest == 1 or rest == 2:
        return False
    capacity = wild_capacity(r, book_size)
    room = min(capacity, book_size - open_naturals) + (full - 1) * capacity
    if rest > 0:
        room += wild_capacity(r, rest)
    return all_wilds <= room


@kernel
def rank_plans(r, value, held, open_naturals, open_wilds, wilds, plans, row):
    """plans[row, w] = most points of naturals of this rank laid with exactly w wilds, w = 0..wilds (no growing books)."""
    for w in range(wilds + 1):
        best = IMPOSSIBLE
        for naturals in range(held, -1, -1):
            if plan_fits(r, naturals, w, open_naturals, open_wilds):
                best = naturals * value
                break
        plans[row, w] = best


@kernel
def wilds_fit(r, wilds, open_wilds, wild_books):
    """Whether exactly so many more wilds can be laid in wild melds."""
    if wilds == 0:
        return True
    book_size = int(r["book_size"])
    books = wild_books
    rest = wilds
    if open_wilds > 0:
        if rest <= book_size - open_wilds:
            return True
        rest -= book_size - open_wilds
        books += 1
    while rest > 0:
        if int(r["grow"]) == GROW_ANY and books > 0:
            return True
        if rest < 3 or not may_start_wild_meld(r, books):
            return False
        if rest <= book_size:
            return True
        rest -= book_size
        books += 1
    return True


@kernel
def wild_plans(r, open_wilds, wild_books, wilds, plans, row):
    """plans[row, w] = 0 if exactly w wilds fit into wild melds, else IMPOSSIBLE."""
    for w in range(wilds + 1):
        plans[row, w] = 0 if wilds_fit(r, w, open_wilds, wild_books) else IMPOSSIBLE


@kernel
def wild_points(r, twos, jokers, count):
    """Points of the dearest `count` of the wilds held."""
    two = int(r["card_points"][TWO])
    joker = int(r["card_points"][JOKER])
    if joker >= two:
        first = min(jokers, count)
        return first * joker + (count - first) * two
    first = min(twos, count)
    return first * two + (count - first) * joker


@kernel
def convolve(plans, a, b, out, wilds):
    """plans[out, w] = max over u + v = w of plans[a, u] + plans[b, v]."""
    for w in range(wilds + 1):
        best = IMPOSSIBLE
        for u in range(w + 1):
            left = plans[a, u]
            right = plans[b, w - u]
            if left >= 0 and right >= 0 and left + right > best:
                best = left + right
        plans[out, w] = best


@kernel
def rank_is_active(r, held, open_cards, wilds):
    """Whether anything of this rank can be laid at all with so many wilds at hand (growing books aside)."""
    if open_cards > 0:
        return True
    if held >= 3:
        return True
    if held == 2:
        return wilds >= 1 and wild_limit_allows(r, 2, 1, False)
    return held == 1 and wilds >= 2 and wild_limit_allows(r, 1, 2, False)


@kernel
def slot_plans(g, r, seat, slot, wilds, row, work):
    """Write the plans of one slot (a rank, or WILD) of a seat's hand into work.plans[row]; False if nothing of it can be laid."""
    plans = work.plans
    side = side_of(r, seat)
    if slot == WILD:
        open_wilds = int(g["twos"][side, WILD]) + int(g["jokers"][side, WILD])
        books = int(g["clean_books"][side, WILD])
        if open_wilds == 0 and books == 0 and (wilds < 3 or not may_start_wild_meld(r, books)):
            return False
        wild_plans(r, open_wilds, books, wilds, plans, row)
        return True
    held = int(g["hands"][seat, slot])
    open_naturals = int(g["naturals"][side, slot])
    open_wilds = int(g["twos"][side, slot]) + int(g["jokers"][side, slot])
    if int(r["grow"]) != GROW_NONE:
        books = int(g["clean_books"][side, slot]) + int(g["dirty_books"][side, slot])
        if held == 0 and open_naturals == 0 and books == 0:
            return False
        rank_plans_by_search(g, r, side, slot, held, wilds, PlanRows(plans, row, NO_ROW, NO_ROW), work.growth)
        value = int(r["card_points"][slot])
        for w in range(wilds + 1):
            if plans[row, w] >= 0:
                plans[row, w] *= value
        return True
    if not rank_is_active(r, held, open_naturals + open_wilds, wilds):
        return False
    rank_plans(r, int(r["card_points"][slot]), held, open_naturals, open_wilds, wilds, plans, row)
    return True


@kernel
def best_total(r, twos, jokers, plans, row):
    """Most points over all numbers of wilds used, plans[row, w] being the naturals' points with w wilds."""
    best = 0
    for w in range(twos + jokers + 1):
        if plans[row, w] >= 0:
            best = max(best, plans[row, w] + wild_points(r, twos, jokers, w))
    return best


@kernel
def most_points(g, r, seat, work):
    """Most card points that a seat can lay from its hand onto its side's melds as they stand. Rule: docs/rules.md 4.15."""
    plans = work.plans
    twos = int(g["hands"][seat, TWO])
    jokers = int(g["hands"][seat, JOKER])
    wilds = twos + jokers
    at = ROW_PREFIX
    plans[at, 0] = 0
    for w in range(1, wilds + 1):
        plans[at, w] = IMPOSSIBLE
    for slot in range(NUM_MELDS):
        if slot_plans(g, r, seat, slot, wilds, ROW_CANDIDATE, work):
            convolve(plans, at, ROW_CANDIDATE, at + 1, wilds)
            at += 1
    return best_total(r, twos, jokers, plans, at)
