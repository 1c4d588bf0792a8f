"""Random valid combinations of all options, of small games whose deals end soon.

A house rule of Rule 12 is left at its default more often than not, so that few of them meet at a time; but with
`crowded` nearly all are set. What the rules refuse is not drawn, or mended (`_mend`).
"""

from .cards import NAMES, NATURALS
from .options import DEFAULTS
from .tables import A_DECK, MINI, decks_of

RANKS = [NAMES[rank] for rank in NATURALS]
SEATINGS = [(2, "alone")] * 6 + [(3, "alone")] * 2 + [(4, "pairs")] * 6 + [(6, "pairs"), (6, "threes")]
SEATINGS += [(7, "alone"), (8, "pairs"), (8, "fours"), (8, "alone")]

# Every house rule with values to draw from; the default is drawn beside them.
HOUSE_RULES = {
    "red3": ["lay_unreplaced", "penalty"],
    "red3_laid": [-50, 0, 200],
    "upcard": [False],
    "opening_by": ["total"],
    "opening_totals": [[[0, 15], [100, 60]], [[-500, 0], [50, 40], [200, 90]]],
    "opening_books": [True],
    "opening_meld": ["one", "naturals"],
    "opening_waived": [["clean_book"], ["empty_hand"], ["clean_book", "empty_hand"]],
    "take_opens": ["counts"],
    "take_key": [
        "shown_pair", "any_use", "any_use", ["own_meld"], ["natural_and_wild"], ["natural_pair", "own_meld"],
    ],
    "take_count": [[1, "all"], ["all", 0], [3, 7]],
    "melds_a_rank": ["once"],
    "freeze_by": [["wild"], ["red3"], ["black3"], ["wild", "red3", "black3"]],
    "wild_limit": ["equal", "by_size"],
    "wilds_by_size": [[0, 1, 2, 3], [2, 1, 2], [1]],
    "add_to_complete": ["keep_clean"],
    "books_any": [0, 0, 0, 1, 2],
    "clean_as_dirty": [True],
    "required_ranks": [[], [], [], ["seven"], ["ace", "four"]],
    "rank_books": [{"seven": {"clean": 1500, "dirty": 50}, "king": {"dirty": 0}}],
    "take_min": [2, 5],
    "last_round": ["all", "without_discard"],
    "floating": [True],
    "foot_after_discard": ["instead_of_draw", "at_once"],
    "short_draw": ["draws_rest", "last_turn"],
    "max_reshuffles": [0, 1, 3],
    "black3_melds": ["going_out"],
    "no_discard": [["wild"], ["seven", "ace"], ["wild", "seven", "ace"]],
    "sevens_unfinished": [100],
    "sevens_held": [50],
    "twos_book": [2000],
    "jokers_book": [2500],
    "sevens_book": [1000],
    "red3_bonus": [[[2, 100], [3, 300]]],
    "red3_unopened": ["zero", "minus"],
    "packets": [[4, 3, 2], [1, 1, 2], [2, 2], [5, 3]],
}  # fmt: skip


def random_rules(rng, crowded=False):
    """A valid rule set, as a resolved dict."""
    players, seating = rng.choice(SEATINGS)
    rules = MINI | _decks(rng, players) | _plain_options(rng, seating != "alone") | {"players": players, "seating": seating}
    share = 0.9 if crowded else rng.choice([0.1, 0.3, 0.5])
    for key, values in HOUSE_RULES.items():
        if rng.random() < share:
            rules[key] = rng.choice(values)
    return _mend(rules)


def _decks(rng, players):
    """Mostly ordinary decks; now and then few ranks and many 3s, where the thorny places are."""
    if rng.random() < 0.5:
        return {"decks": max(1, players // 2)}
    deck = {"naturals": rng.choice([4, 8]), "twos": rng.choice([1, 4]), "jokers": rng.choice([0, 2])}
    deck |= {"red3": rng.choice([2, 6, 8]), "black3": rng.choice([2, 6, 8])}
    return {"decks": max(1, players // 2), "ranks": rng.sample(RANKS, rng.choice([2, 4, 6])), "deck": deck}


def _plain_options(rng, partners):
    """The options of Rule 11."""
    return {
        "book_size": rng.choice([3, 3, 4, 5]),
        "add_to_complete": rng.choice(["none", "naturals", "any"]),
        "wild_limit": rng.choice(["two_to_one", "more_naturals", "at_most"]),
        "max_wilds": rng.randrange(4),
        "min_naturals": rng.choice([1, 2, 2]),
        "wild_melds": rng.random() < 0.8,
        "wild_book_cap": rng.choice([None, None, 1]),
        "final_discard": rng.choice(["optional", "required", "forbidden"]),
        "hand_size": rng.choice([2, 3, 4, 6]),
        "foot_size": rng.choice([2, 2, 3, 4]),
        "draw": rng.choice([1, 2, [2, 3]]),
        "opening": rng.choice([[0], [15], [15], [50, 90]]),
        "bury_upcard": rng.choice([["red3", "wild"], [], ["wild", "black3"]]),
        "take_count": rng.choice([0, 1, 3, 7, "all"]),
        "take_key": rng.choice(["natural_pair", "natural_and_wild", "any_meld"]),
        "take_wild_top": rng.choice(["blocked", "matching_pair"]),
        "take_needs_open": rng.random() < 0.1,
        "books_to_go_out": rng.choice([[0, 1, 0], [1, 0, 0], [[0, 0, 0], [1, 1, 0]], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        "partner_foot": partners and rng.random() < 0.5,
        "permission": rng.choice(["none", "binding_no", "binding_both"]) if partners else "none",
        "stock_out": rng.choice(["end_deal", "reshuffle"]),
        "max_turns": rng.choice([20, 60, 100]),
    }


def _mend(rules):
    """Take back what the rules refuse."""
    if not rules["wild_melds"]:  # Rule 10: no cap and no quota where wild melds are banned
        rules["wild_book_cap"] = None
        if rules["books_to_go_out"] == [0, 0, 1]:
            rules["books_to_go_out"] = [0, 1, 0]
    if "ranks" in rules:  # 12.15: the quota counts these ranks only
        rules["required_ranks"] = [rank for rank in rules.get("required_ranks", []) if rank in rules["ranks"]]
    if rules["stock_out"] == "end_deal":  # 12 `max_reshuffles` belongs to reshuffles
        rules.pop("max_reshuffles", None)
    _add_decks(rules)
    return rules


def _add_decks(rules):
    """12.15: enough cards are left after the deal."""
    sizes = rules.get("packets") or [rules["hand_size"], rules["foot_size"]]
    deck = A_DECK | rules.get("deck", {})
    special = deck["twos"] + deck["jokers"] + deck["red3"] + deck["black3"]
    while len(decks_of(rules)) - rules["players"] * sum(sizes) < rules["decks"] * special + 1:
        rules["decks"] += 1
    assert rules["decks"] <= 12 and len(decks_of(rules)) <= 648


def house_rules_set(rules):
    """Names of the house rules that differ from their defaults."""
    return {key for key, value in DEFAULTS.items() if rules.get(key, value) != value}
