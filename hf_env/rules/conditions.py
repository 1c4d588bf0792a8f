"""Which combinations of options cannot be played, and the line that says so.

Each condition looks at one thing and returns the line, or nothing. They run in order, so a later one may rely on
what the ones before have made sure of. Rule: docs/rules.md 10.4.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hf_env.engine.cards import DECK_SIZE
from hf_env.rules import reach
from hf_env.rules.errors import RulesError, shown
from hf_env.rules.options import MAX_DEAL_SCORE

if TYPE_CHECKING:
    from hf_env.rules.ruleset import RuleSet

# Kinds of which a deck's ten cards need replacement or burial: 4 twos, 2 jokers, 2 red 3s, 2 black 3s.
_SPECIAL_CARDS_A_DECK = 10
_SEATING_PLAYERS = {"pairs": (4, 6), "threes": (6,), "alone": (2, 3, 4, 5, 6)}
_LONE_PRESETS = {2: "two-player", 3: "three-player", 5: "five-player"}
_LONE_SETTINGS = 'partner_foot = false and permission = "none"'


def check_conditions(rules: "RuleSet") -> None:
    """Check that options fit together.

    Raises:
        RulesError: The line of the first condition that does not hold.
    """
    for condition in CONDITIONS:
        line = condition(rules)
        if line:
            raise RulesError(line)


def seating_fits_players(rules: "RuleSet") -> str | None:
    """Pairs need 4 or 6 players, threes need 6. Rule: docs/rules.md 2.1."""
    allowed = _SEATING_PLAYERS[rules.seating]
    if rules.players in allowed:
        return None
    needs = " or ".join(map(str, allowed))
    preset = _LONE_PRESETS.get(rules.players)
    start = f", or start from the preset {preset}" if preset else ""
    others = 'seating = "pairs", or ' if rules.players in _SEATING_PLAYERS["pairs"] else ""
    return (
        f"seating = {shown(rules.seating)} needs {needs} players, and players = {rules.players}: "
        f'set {others}seating = "alone" with {_LONE_SETTINGS}{start}'
    )


def partners_where_asked(rules: "RuleSet") -> str | None:
    """Conditions on partners need partners. Rule: docs/rules.md 2.2."""
    if rules.seats_per_side > 1:
        return None
    for key, off in (("partner_foot", False), ("permission", "none")):
        if getattr(rules, key) != off:
            return (
                f"{key} = {shown(getattr(rules, key))} needs partners, and with seating = {shown(rules.seating)} "
                f"there are none: set {_LONE_SETTINGS}"
            )
    return None


def enough_cards(rules: "RuleSet") -> str | None:
    """After the deal an upcard that need not be buried exists, and red 3s can be replaced."""
    cards = DECK_SIZE * rules.decks
    dealt = rules.players * (rules.hand_size + rules.foot_size)
    needed = _SPECIAL_CARDS_A_DECK * rules.decks + 1
    if cards - dealt >= needed:
        return None
    return (
        f"decks = {rules.decks} leaves {cards - dealt} of {cards} cards after dealing hand_size = {rules.hand_size} "
        f"and foot_size = {rules.foot_size} to {rules.players} players, and at least {needed} must be left"
    )


def a_meld_can_be_laid(rules: "RuleSet") -> str | None:
    """A hand that never holds three cards, nor two beside the top of the discard pile, can never open."""
    for deal in _listed_deals(rules):
        if reach.most_opening_cards(rules, deal) < reach.SMALLEST_MELD:
            return (
                f"hand_size = {rules.hand_size} with draw = {rules.draw_count(deal)} (deal {deal}) is impossible: "
                f"no hand could ever hold enough cards for a meld of {reach.SMALLEST_MELD}"
            )
    return None


def opening_reachable(rules: "RuleSet") -> str | None:
    """No minimum is above what the best possible hand can lay."""
    for deal in _listed_deals(rules):
        minimum, most = rules.opening_minimum(deal), reach.most_opening_points(rules, deal)
        if minimum > most:
            return (
                f"opening = {minimum} in deal {deal} cannot be reached: the best hand of up to "
                f"{reach.most_opening_cards(rules, deal)} cards lays {most} points at most"
            )
    return None


def wild_melds_agree(rules: "RuleSet") -> str | None:
    """The cap and the quota of wild books fit with what wild melds are allowed."""
    cap = rules.wild_book_cap
    if not rules.wild_melds and cap is not None:
        return f"wild_book_cap = {cap} contradicts wild_melds = false: leave one of them out"
    for deal in _listed_deals(rules):
        quota, wild = shown(rules.quota(deal)), rules.quota(deal)[2]
        if wild and not rules.wild_melds:
            return (
                f"books_to_go_out = {quota} in deal {deal} needs {_books(wild, 'wild')}, and wild_melds = false "
                "bans them: set the third number to 0"
            )
        if cap is not None and wild > cap:
            return f"books_to_go_out = {quota} in deal {deal} needs {_books(wild, 'wild')}, more than wild_book_cap = {cap} allows"
    return None


def quota_reachable(rules: "RuleSet") -> str | None:
    """Some side can complete the required books from the cards in play, in every deal."""
    for deal in _listed_deals(rules):
        reason = _why_quota_fails(rules, deal)
        if reason:
            return f"books_to_go_out = {shown(rules.quota(deal))} in deal {deal} cannot be reached: {reason}"
    return None


def every_player_has_a_turn(rules: "RuleSet") -> str | None:
    """A deal that ends before everybody has played is no deal (and no side could satisfy partner_foot)."""
    if rules.max_turns >= rules.players:
        return None
    return f"max_turns = {rules.max_turns} is too few: at least one turn for each of players = {rules.players}"


def scores_fit(rules: "RuleSet") -> str | None:
    """Neither the best nor the worst conceivable score of a deal exceeds 16 bits in units of 5 points."""
    best, worst = reach.bounds_of_score(rules)
    if best > MAX_DEAL_SCORE:
        name = max(("clean_book", "dirty_book", "wild_book", "sevens_book"), key=lambda key: getattr(rules, key) or 0)
        return (
            f"{name} = {getattr(rules, name)}, the largest bonus, is too much: with the other points a side "
            f"could score {best:,} in a deal, and the limit is {MAX_DEAL_SCORE:,}"
        )
    if worst > MAX_DEAL_SCORE:
        return (
            f"points = {shown(rules.points.model_dump())} with red3_held = {rules.red3_held} is too much: a side "
            f"could lose {worst:,} in a deal, and the limit is {MAX_DEAL_SCORE:,}"
        )
    return None


CONDITIONS: tuple[Callable[["RuleSet"], str | None], ...] = (
    seating_fits_players,
    partners_where_asked,
    enough_cards,
    every_player_has_a_turn,
    a_meld_can_be_laid,
    opening_reachable,
    wild_melds_agree,
    quota_reachable,
    scores_fit,
)


def _listed_deals(rules: "RuleSet") -> range:
    """Deals from 1 that differ in anything listed by deal; later ones repeat."""
    return range(1, max(len(rules.draw), len(rules.opening), len(rules.books_to_go_out)) + 1)


def _books(count: int, kind: str) -> str:
    return f"{count} {kind} book{'' if count == 1 else 's'}"


def _why_quota_fails(rules: "RuleSet", deal: int) -> str | None:
    clean, dirty, wild = rules.quota(deal)
    size, naturals, wilds = rules.book_size, reach.naturals_of_a_rank(rules), reach.wilds_in_play(rules)
    if clean and naturals < size:
        return (
            f"a clean book needs book_size = {size} naturals of one rank, and decks = {rules.decks} "
            f"hold{'s' * (rules.decks == 1)} {naturals}"
        )
    if wild * size > wilds:
        return f"{_books(wild, 'wild')} of book_size = {size} need {wild * size} wilds, and there are {wilds} in play"
    fewest = reach.fewest_wilds(rules, clean, dirty)
    if dirty and reach.fewest_wilds(rules, 0, 1) is None:
        return (
            f"no book of book_size = {size} can be dirty with wild_limit = {shown(rules.wild_limit)}, "
            f"max_wilds = {rules.max_wilds}, min_naturals = {rules.min_naturals} and decks = {rules.decks}"
        )
    if fewest is None:
        return (
            f"{_books(clean, 'clean')} and {_books(dirty, 'dirty')} of book_size = {size} need more naturals than "
            f"the {naturals} of each rank in play"
        )
    if fewest + wild * size > wilds:
        return f"such books hold at least {fewest + wild * size} wilds, and there are {wilds} in play"
    needed, most = (clean + dirty + wild) * size, reach.most_cards_of_a_side(rules, deal)
    if needed > most:
        return f"such books hold {needed} cards, and a side can get {most} at most"
    return None
