"""Each section of the observation follows the facts that it declares and no others.

The tables below name, for every field of the game record and of the rule record, the sections that follow it; each
field is changed in reached states, and the sections that change are compared.
"""

import numpy as np
import pytest

from hf_env import VectorGame, load_rules
from hf_env.engine.cards import BLACK3, RED3
from hf_env.engine.state import GAME_DTYPE, HIDDEN_FIELDS, PRIVATE_FIELDS, PUBLIC_FIELDS
from hf_env.rules.record import RULES_DTYPE
from tests.observation.driving import holding, reached_games
from tests.observation.facts import changed_sections

# So that all that depends on the number of the deal differs from deal to deal, and 7s count apart.
BY_DEAL = {"draw": [2, 3, 1, 2], "books_to_go_out": [[2, 2, 1], [1, 3, 0], [3, 1, 2], [0, 0, 1]], "sevens_book": 1000}
HAND = {"hand", "unseen"}  # what is held is no longer unseen
OF_DEAL = {
    "deal", "deals_left", "minimum", "needed", "quota_missing", "option_draw", "option_next_minimum", "option_quota_clean",
    "option_quota_dirty", "option_quota_wild",
}  # fmt: skip
# By field: the sections that follow it. A tuple: those that follow the observer's own row, and those that follow another's.
GAME_SECTIONS: dict[str, set[str] | tuple[set[str], set[str]]] = {
    "deal": OF_DEAL,
    "dealer": {"dealer"},
    "turns": {"turns"},
    "turn_seat": {"turn_seat", "asked", "needed"},  # who asked is whose turn it is; points laid are the turn's side's
    "phase": {"phase"},
    "asked": {"asked", "answers"},  # answers are shown while a question stands
    "may_go_out": {"may_go_out"},
    "laid": {"laid", "needed"},
    "taking": {"owed"},
    "single_deal": {"deals_left"},
    "discard_size": {"discard_size", "discard_top", "take_cards", "owed"},
    "stock_next": {"stock_size"},
    "stock_end": {"stock_size"},
    "reshuffles": {"reshuffles"},
    "num_events": {"events"},
    "answers": {"answers"},
    "opened": ({"opened", "needed"}, {"opened"}),
    "red3": {"red3s", "table_scores", "unseen"},
    "in_foot": {"in_foot"},
    "hand_sizes": {"hand_sizes"},
    "foot_sizes": {"foot_sizes"},
    "hands": (HAND, set()),
    "naturals": {"meld_naturals"},
    "twos": {"meld_twos"},
    "jokers": {"meld_jokers"},
    "clean_books": {"clean_books", "wild_books", "table_scores"},  # the bonus of a clean book of 7s
    "dirty_books": {"dirty_books"},
    # Counts of the three above, kept with them: tests/property proves it.
    "book_counts": {"table_scores", "quota_missing"},
    "table_points": {"table_scores"},
    "table": {"unseen"},
    "discard_kinds": {"discard_kinds", "unseen"},
    "known": ({"known"}, {"known", "unseen"}),
    "recent_discards": {"recent_discards"},
    "scores": {"scores"},
    "events": {"events"},
    "discard": {"discard_top", "take_cards", "owed"},
}
# No section follows these: public, but of the past, for statistics, or (to_move) made of phase, turn_seat and answers.
UNSHOWN = {
    "to_move",
    "end_reason", "out_seat", "game_over", "num_books", "deal_scores", "opening_turn", "opened_by_take", "foot_turn",
    "foot_by_discard", "num_takes", "num_asks", "num_yes", "num_no", "stranded", "book_side", "book_rank", "book_naturals",
    "book_twos", "book_jokers", "unused_1", "unused_2",
}  # fmt: skip
HIDDEN = {"feet", "stock", "given_order", "seed", "potential", "potential_start"}
NOT_TESTED_BY_CHANGE = {"rule"}  # which rule set: test_the_rule_set_decides_the_options
RULE_SECTIONS: dict[str, set[str]] = {
    "decks": {"option_decks", "unseen"},
    "hand_size": {"option_hand_size"},
    "foot_size": {"option_foot_size"},
    "bury": {"option_bury_red3", "option_bury_wild", "option_bury_black3"},
    "draw": {"option_draw"},
    "deals": set(),  # max_deals says it
    "target": {"option_target"},
    "has_target": {"option_has_target"},
    "max_deals": {"option_max_deals", "deals_left"},
    "opening": {"minimum", "needed", "option_next_minimum"},
    "num_openings": {"minimum", "needed", "option_next_minimum"},
    "opening_cycles": {"minimum", "needed", "option_next_minimum"},
    "book_size": {"option_book_size"},
    "grow": {"option_add_to_complete"},
    "wild_limit": {"option_wild_limit"},
    "max_wilds": {"option_max_wilds"},
    "min_naturals": {"option_min_naturals"},
    "wild_melds": {"option_wild_melds"},
    "wild_book_cap": {"option_wild_book_cap"},
    "take_count": {"option_take_count", "take_cards"},
    "take_key": {"option_take_key"},
    "take_wild_top": {"option_take_wild_top"},
    "take_needs_open": {"option_take_needs_open"},
    "wild_discard_freezes": {"option_wild_discard_freezes"},
    "quota": {"option_quota_clean", "option_quota_dirty", "option_quota_wild", "quota_missing"},
    "partner_foot": {"option_partner_foot"},
    "permission": {"option_permission"},
    "final_discard": {"option_final_discard"},
    "reshuffle": {"option_stock_out_reshuffle"},
    "max_turns": {"option_max_turns"},
    "card_points": {
        "option_points_joker", "option_points_two", "option_points_ace", "option_points_high", "option_points_low",
        "option_points_black3",
    },
    "clean_book": {"option_clean_book", "table_scores"},
    "dirty_book": {"option_dirty_book", "table_scores"},
    "wild_book": {"option_wild_book", "table_scores"},
    "going_out": {"option_going_out"},
    "red3_laid": {"option_red3_laid", "table_scores"},
    "red3_held": {"option_red3_held"},
    "sevens_book": {"option_sevens_book", "table_scores"},
    "has_sevens_book": set(),  # its value is the clean book's where there is none
    "unfinished_wild_penalty": {"option_unfinished_wild_penalty"},
}  # fmt: skip
LAYOUT_IS_MADE_OF = {"players", "sides"}


def test_every_field_is_in_one_table():
    public = set(GAME_SECTIONS) | UNSHOWN | NOT_TESTED_BY_CHANGE
    assert public | HIDDEN == set(GAME_DTYPE.names)
    assert not (set(GAME_SECTIONS) & (UNSHOWN | HIDDEN)) and not (UNSHOWN & HIDDEN)
    # Only the number of cards left is known of where the stock begins and ends.
    assert set(HIDDEN_FIELDS) - {"stock_next", "stock_end"} == HIDDEN
    assert set(PUBLIC_FIELDS) | {*HIDDEN_FIELDS, *PRIVATE_FIELDS} == set(GAME_DTYPE.names)
    assert set(RULE_SECTIONS) | LAYOUT_IS_MADE_OF == set(RULES_DTYPE.names)


def test_every_section_is_in_a_table(vec):
    named: set[str] = set()
    for sections in [*GAME_SECTIONS.values(), *RULE_SECTIONS.values()]:
        named |= sections if isinstance(sections, set) else sections[0] | sections[1]
    assert named == {section.name for section in vec.observation_layout.sections}


@pytest.fixture(scope="module")
def states():
    rules = load_rules("whitnack").with_overrides(**BY_DEAL)
    parts = [reached_games(rules, name, 40, seed=6) for name in ("greedy_or_random", "non_discard", "random")]
    games = np.concatenate(parts)
    # Rare in play, but a section must follow them: an unfinished opening by a take.
    opening = games["opened"][np.arange(len(games)), games["turn_seat"] % 2] == 0
    games["taking"][opening] = np.minimum(games["discard_size"][opening], 3)
    games["laid"][opening] = 20
    games["asked"][::5] = 1
    games["answers"][::10, 1] = 1
    return games


@pytest.fixture(scope="module")
def vec(states):
    return holding(states, load_rules("whitnack").with_overrides(**BY_DEAL), events=True)


def changed_value(name: str, value: int, index: tuple[int, ...], rng: np.random.Generator) -> int:
    """Another value of a field that the encoder can show."""
    choices = {
        "dealer": range(4), "turn_seat": range(4), "phase": range(4), "answers": range(3), "recent_discards": range(15),
        "discard": range(15), "single_deal": range(2), "asked": range(2), "may_go_out": range(2), "in_foot": range(2),
        "opened": range(2), "taking": range(4), "deal": range(1, 6), "laid": range(0, 45, 5), "scores": range(-900, 900, 5),
    }  # fmt: skip
    if name == "events":
        allowed = range(6) if index[-1] == 1 else [seat * 256 + action for seat in range(4) for action in (0, 5, 126)]
    elif name == "table_points":
        allowed = [value + 5, value + 10]
    else:
        allowed = choices.get(name, [value + 1, value + 2])
    others = [x for x in allowed if x != value]
    return int(rng.choice(others))


def indices(name: str, shape: tuple[int, ...], g: np.void, rng: np.random.Generator):
    """An index of a field that means something at a table of 4 seats and 2 sides in this state."""
    if not shape:
        return ()
    rows = {"hands": 4, "feet": 4, "known": 4, "hand_sizes": 4, "foot_sizes": 4, "in_foot": 4, "answers": 4, "recent_discards": 4}
    sides = ("opened", "red3", "naturals", "twos", "jokers", "clean_books", "dirty_books", "table", "scores",
             "book_counts", "table_points")  # fmt: skip
    limit = list(shape)
    limit[0] = 2 if name in sides else rows.get(name, shape[0])
    if name in ("naturals", "dirty_books"):
        limit[1] = 11
    elif name in ("hands", "known"):
        limit[1] = BLACK3 + 1  # a red 3 is never in a hand
    elif name == "table":
        limit[1] = BLACK3  # nor is a 3 in a meld
    elif name == "discard":
        top = int(rng.integers(0, 9))
        return (max(int(g["discard_size"]) - 1 - top, 0),)
    elif name == "events":
        limit[0] = max(1, min(64, int(g["num_events"])))
    return tuple(int(rng.integers(n)) for n in limit)


@pytest.mark.parametrize("name", [*GAME_SECTIONS, *sorted(UNSHOWN), *sorted(HIDDEN)])
def test_a_field_changes_the_sections_that_follow_it_and_no_other(name, states, vec):
    rng = np.random.default_rng(len(name))
    layout = vec.observation_layout
    declared = GAME_SECTIONS.get(name, set())
    own, others = declared if isinstance(declared, tuple) else (declared, declared)
    met: list[set[str]] = [set(), set()]
    base = states.copy()
    for seat in range(4):
        for _ in range(3):
            mutated = base.copy()
            rows = []
            for g in mutated:
                index = indices(name, GAME_DTYPE[name].shape, g, rng)
                if index:
                    g[name][index] = changed_value(name, int(g[name][index]), index, rng)
                else:
                    g[name] = changed_value(name, int(g[name]), index, rng)
                rows.append(index[0] if index else 0)
            vec.games[:] = base
            before = vec.observe(seat).copy()
            vec.games[:] = mutated
            after = vec.observe(seat)
            for row, changed in zip(rows, changed_sections(layout, before, after), strict=True):
                by_side = name in ("opened", "red3")
                is_own = row == (seat % 2 if by_side else seat)
                allowed = own if is_own else others
                assert changed <= allowed, (name, changed - allowed)
                met[0 if is_own else 1] |= changed
                if name in ("hands", "known", "discard_kinds", "red3", "table", "scores", "hand_sizes", "turns", "dealer"):
                    assert changed or not allowed, (name, "not shown")
    assert met[0] | met[1] == own | others
    if isinstance(declared, tuple):
        assert met == [own, others]


@pytest.mark.parametrize("name", RULE_SECTIONS)
def test_an_option_changes_the_sections_that_follow_it_and_no_other(name, states):
    rng = np.random.default_rng(0)
    own = VectorGame(len(states), load_rules("whitnack").with_overrides(**BY_DEAL), 0, events=True)
    own.games[:] = states
    layout = own.observation_layout
    before = own.observe(0).copy()
    original = own.rule_records.copy()
    choices = dict.fromkeys(("grow", "wild_limit", "take_key", "permission", "final_discard"), 3)
    choices |= {"opening_cycles": 2, "reshuffle": 2}
    met: set[str] = set()
    for _ in range(40):
        own.rule_records[:] = original
        field = own.rule_records[0][name]
        if not RULES_DTYPE[name].shape:
            other = [x for x in range(choices.get(name, int(field) + 9)) if x != int(field)]
            own.rule_records[0][name] = 1 if name == "num_openings" else rng.choice(other)
        else:
            index = tuple(int(rng.integers(min(n, 15 if name in ("bury", "card_points") else 5))) for n in field.shape)
            field[index] = field[index] ^ 1 if name == "bury" else field[index] + 5
            if name == "opening":
                field[4:] += 5
        after = own.observe(0)
        for changed in changed_sections(layout, before, after):
            assert changed <= RULE_SECTIONS[name], (name, changed - RULE_SECTIONS[name])
            met |= changed
    # "opening_cycles" shows beyond the list's end only, see the next test.
    assert met == RULE_SECTIONS[name] or name == "opening_cycles"


def test_the_minimum_beyond_the_list_follows_the_tail():
    shown = {}
    for tail in ("cycle", "hold_last"):
        vec = VectorGame(1, {"opening_tail": tail, "target": 10000}, 0, episode="deal", deal=5)
        decoded = vec.observation_layout.decode(vec.observations[0])
        shown[tail] = [int(decoded[name][0]) * 5 for name in ("minimum", "needed", "option_next_minimum")]
    assert shown == {"cycle": [50, 50, 90], "hold_last": [150, 150, 150]}


def test_the_rule_set_decides_the_options():
    vec = VectorGame(40, ["whitnack", "saskatchewan"], 3)
    assert set(vec.games["rule"].tolist()) == {0, 1}
    for i in range(40):
        decoded = vec.observation_layout.decode(vec.observations[i])
        quota = [int(decoded[f"option_quota_{kind}"][0]) for kind in ("clean", "dirty", "wild")]
        assert quota == ([2, 2, 1] if vec.games["rule"][i] == 0 else [1, 1, 1])


def test_red_3s_are_counted_as_seen_once_laid(states, vec):
    vec.games[:] = states
    before = vec.observe(2).copy()
    vec.games["red3"][:, 1] += 1
    after = vec.observe(2)
    at = vec.observation_layout["unseen"].slice.start + RED3
    assert (before[:, at] - after[:, at] == 1).all()
