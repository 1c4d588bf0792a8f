"""What the rules say of one seat and one action, for ordinary Python that explains a decision: the kernels' own answers."""

import numpy as np

from hf_env.engine.action_ids import ADD, ADD_TWO, ASK, MELD
from hf_env.engine.cards import MAX_CARDS, WILD
from hf_env.engine.dealing import deal_entry, opening_minimum
from hf_env.engine.going_out import has_quota, partners_ready
from hf_env.engine.melds import can_add, lay_down_cards, may_start_wild_meld, wild_limit_allows
from hf_env.engine.seats import side_of
from hf_env.engine.takes import key_cards
from hf_env.kernels.compile import entry

NOBODY = -1
ANSWERS_DTYPE = np.dtype(
    [
        ("minimum", np.int64),  # points that the opening must reach in this deal
        # Cards of the hand that a lay-down, or a take of a natural top card, needs; rank: of a lay-down.
        ("rank", np.int64),
        ("naturals", np.int64),
        ("twos", np.int64),
        ("jokers", np.int64),
        ("may_start_wild_meld", np.int64),  # 1: were none open
        ("fits", np.int64),  # 1: some meld or book of the side takes the one card of an addition
        ("unready_partner", np.int64),  # the first partner who keeps the side from going out; NOBODY
        ("has_quota", np.int64),  # 1: the side has the books that going out requires
        ("books", np.int64, 3),  # that the side has: clean, dirty, wild
        ("quota", np.int64, 3),  # that it must have
    ]
)


@entry
def ask_rules(games, i, rules, seat, action, answers):
    """Write what the rules say of a seat of game i, and of an action of it, into answers, (1,) ANSWERS_DTYPE, of zeros."""
    g, a = games[i], answers[0]
    r = rules[g["rule"]]
    side = side_of(r, seat)
    a["minimum"] = opening_minimum(r, int(g["deal"]))
    a["may_start_wild_meld"] = may_start_wild_meld(r, int(g["clean_books"][side, WILD]))
    if MELD <= action < ASK:
        rank, naturals, twos, jokers = lay_down_cards(action)
        a["rank"] = rank
        a["naturals"] = naturals
        a["twos"] = twos
        a["jokers"] = jokers
        a["fits"] = action >= ADD and can_add(g, r, side, rank, action >= ADD_TWO)
    elif action < MELD:
        naturals, twos, jokers = key_cards(action)
        a["naturals"] = naturals
        a["twos"] = twos
        a["jokers"] = jokers
    a["unready_partner"] = NOBODY
    if not partners_ready(g, r, seat):
        for other in range(side, int(r["players"]), int(r["sides"])):
            if other != seat and not g["in_foot"][other] and a["unready_partner"] == NOBODY:
                a["unready_partner"] = other
    a["has_quota"] = has_quota(g, r, side)
    for kind in range(3):
        a["books"][kind] = g["book_counts"][side, kind]
        a["quota"][kind] = r["quota"][deal_entry(int(g["deal"])), kind]


@entry
def most_wilds(rules, rule, naturals, is_book):
    """Most wilds beside so many naturals in a natural meld (is_book: in a book that grows) under rules[rule]."""
    most = 0
    while most < MAX_CARDS and wild_limit_allows(rules[rule], naturals, most + 1, is_book):
        most += 1
    return most
