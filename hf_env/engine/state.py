"""The record of a game that the kernels work on, and the values of both records' fields.

It is a flat NumPy record without references, so that games lie side by side in one array, a copy is one memory copy, and
a snapshot is the record's bytes. Sizes are laid out for 2 to 6 seats and 8 decks. The record of a rule set, the kernels'
argument `r`, is another; its fields are declared with the options (hf_env/rules/ruleset.py, hf_env/rules/record.py).
"""

import numpy as np

from hf_env.engine.cards import MAX_BOOKS, MAX_CARDS, MAX_SEATS, NUM_KINDS, NUM_MELDS

# Lists "a deal" are stored with this many entries; deals beyond use the last one (the minimum: see opening_cycles).
MAX_DEAL_ENTRIES = 20

# Values of the fields that stand for a choice. Order is the order of the option's names in docs/rules.md.
GROW_NONE, GROW_NATURALS, GROW_ANY = 0, 1, 2
TWO_TO_ONE, MORE_NATURALS, AT_MOST = 0, 1, 2
NATURAL_PAIR, NATURAL_AND_WILD, ANY_MELD = 0, 1, 2
PERMISSION_NONE, BINDING_NO, BINDING_BOTH = 0, 1, 2
FINAL_OPTIONAL, FINAL_REQUIRED, FINAL_FORBIDDEN = 0, 1, 2
NO_LIMIT = -1  # wild_book_cap none, take_count all

# Phases of a turn, and the deal's end.
PHASE_DRAW, PHASE_PLAY, PHASE_ANSWER, PHASE_OVER = 0, 1, 2, 3
# Why a deal ended.
NOT_ENDED, END_OUT, END_STOCK_DRAW, END_STOCK_RED3, END_MAX_TURNS = 0, 1, 2, 3, 4
ANSWER_NONE, ANSWER_YES, ANSWER_NO = 0, 1, 2

# Places in book_counts.
CLEAN_BOOKS, DIRTY_BOOKS, WILD_BOOKS = 0, 1, 2

NUM_RECENT_DISCARDS = 4
NUM_EVENTS = 64
NOT_YET = -1

# Fields lie by how often a decision touches them, so that a game's hot part is a few adjacent cache lines (see HOT_BYTES);
# who knows a field is said by the tuples below, which together name every field once.
GAME_DTYPE = np.dtype(
    [
        ("rule", np.int32),  # index of the game's rule set
        ("deal", np.int32),  # from 1
        ("dealer", np.int32),
        ("turns", np.int32),  # turns completed in this deal
        ("turn_seat", np.int32),  # whose turn it is, also while a partner answers
        ("to_move", np.int32),  # who decides now
        ("phase", np.int32),
        ("asked", np.int32),
        ("may_go_out", np.int32),  # every partner has said yes this turn
        ("laid", np.int32),  # points laid in an unfinished opening, else 0
        ("taking", np.int32),  # cards still owed by a take in an unfinished opening
        ("end_reason", np.int32),
        ("out_seat", np.int32),  # NOT_YET: nobody
        ("game_over", np.int32),
        ("single_deal", np.int32),  # 1: the game is this one deal
        ("num_books", np.int32),
        ("discard_size", np.int32),
        ("stock_next", np.int32),
        ("stock_end", np.int32),
        ("reshuffles", np.int32),
        ("num_events", np.int32),  # of this deal; the ring keeps the last NUM_EVENTS
        ("scores", np.int32, MAX_SEATS),  # by side, finished deals
        ("table_points", np.int32, MAX_SEATS),  # by side: card points of melds and books
        # What the shaping potential counts, by side: at the deal's start and after the last step. See engine/rewards.py.
        ("potential_start", np.int32, MAX_SEATS),
        ("potential", np.int32, MAX_SEATS),
        ("hand_sizes", np.int16, MAX_SEATS),
        ("foot_sizes", np.int16, MAX_SEATS),  # 0 once picked up
        ("hands", np.int16, (MAX_SEATS, NUM_KINDS)),
        ("naturals", np.int16, (MAX_SEATS, NUM_MELDS)),  # by side: the open meld of each rank; WILD is the wild meld
        ("twos", np.int16, (MAX_SEATS, NUM_MELDS)),
        ("jokers", np.int16, (MAX_SEATS, NUM_MELDS)),
        ("clean_books", np.int16, (MAX_SEATS, NUM_MELDS)),  # by side and rank, counted from the list; WILD: wild books
        ("dirty_books", np.int16, (MAX_SEATS, NUM_MELDS)),
        ("book_counts", np.int16, (MAX_SEATS, 3)),  # by side: clean, dirty and wild books
        ("table", np.int16, (MAX_SEATS, NUM_KINDS)),  # by side: cards in melds and books, red 3s not among them
        ("discard_kinds", np.int16, NUM_KINDS),
        ("known", np.int16, (MAX_SEATS, NUM_KINDS)),  # by seat: cards known to be in the hand since a take
        ("answers", np.int8, MAX_SEATS),
        ("opened", np.int8, MAX_SEATS),  # by side
        ("red3", np.int8, MAX_SEATS),  # by side: red 3s laid
        ("in_foot", np.int8, MAX_SEATS),
        ("recent_discards", np.int8, (MAX_SEATS, NUM_RECENT_DISCARDS)),  # by seat, latest first: kind + 1, 0 for none
        # Cards that lie behind the stock as the order of the next reshuffle; 0 at every decision. See access.play.
        ("given_order", np.int16),
        ("unused_1", np.int8, 4),  # no unnamed padding anywhere: NumPy leaves it unset in copies
        # From here on touched by few decisions.
        ("seed", np.int64),
        ("deal_scores", np.int32, MAX_SEATS),  # by side, of the deal that ended last
        # Counters of behaviour in this deal.
        ("stranded", np.int32, MAX_SEATS),  # by side, when the deal ended: points lost for cards held
        ("opening_turn", np.int16, MAX_SEATS),  # by side: `turns` at the opening, NOT_YET before
        ("foot_turn", np.int16, MAX_SEATS),  # by seat
        ("num_takes", np.int16, MAX_SEATS),  # by seat
        ("num_asks", np.int16, MAX_SEATS),  # by seat
        ("num_yes", np.int16, MAX_SEATS),  # by answering seat
        ("num_no", np.int16, MAX_SEATS),
        ("events", np.int16, (NUM_EVENTS, 2)),  # seat * 256 + action, then red 3s laid by it
        ("feet", np.int8, (MAX_SEATS, NUM_KINDS)),
        ("opened_by_take", np.int8, MAX_SEATS),  # by side
        ("foot_by_discard", np.int8, MAX_SEATS),  # by seat: the hand was emptied by a discard
        ("book_side", np.int8, MAX_BOOKS),  # all books of the deal in the order of completion
        ("book_rank", np.int8, MAX_BOOKS),
        ("book_naturals", np.int8, MAX_BOOKS),
        ("book_twos", np.int8, MAX_BOOKS),
        ("book_jokers", np.int8, MAX_BOOKS),
        ("discard", np.uint8, MAX_CARDS),  # bottom first: the top is discard[discard_size - 1]
        ("stock", np.uint8, MAX_CARDS),  # stock[stock_next] is drawn first
        ("unused_2", np.int8, 2),
    ],
    align=True,
)
GAME_FIELDS = tuple(GAME_DTYPE.names or ())
assert sum(GAME_DTYPE[name].itemsize for name in GAME_FIELDS) == GAME_DTYPE.itemsize

# Private to a seat: its own row. Hidden from everybody. All other fields are public.
PRIVATE_FIELDS = ("hands",)
HIDDEN_FIELDS = ("feet", "stock", "stock_next", "stock_end", "given_order", "seed", "potential", "potential_start")
PUBLIC_FIELDS = tuple(name for name in GAME_FIELDS if name not in PRIVATE_FIELDS + HIDDEN_FIELDS)
# Where the fields that most decisions touch end, in bytes.
HOT_BYTES = dict(GAME_DTYPE.fields or {})["seed"][1]
