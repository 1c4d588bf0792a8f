"""Rule 5 and 12: taking from the discard pile.

A take is one of three kinds: its key is melded with the top card ("meld"), a pair is only shown ("show", 12
`shown_pair`), or there is no key and a card of the pile must be laid ("use", 12 `any_use`).
"""

from .cards import NATURALS, WILDS, by_deal, canonical, without
from .lay_downs import legal as legal_lay_downs
from .lay_downs import state_legal
from .stock import receive_known

LABELS = ("take", "take+2", "take+*", "take>meld")


def number_taken(game):
    count = by_deal(game.options.take_count, game.deal)  # 12.21: perhaps a list
    return len(game.discard) if count == "all" else min(count, len(game.discard))


def legal(game):
    """The labels of the takes of the player to move."""
    if _barred(game):
        return set()
    return {label for label in LABELS if _take_legal(game, label)}


def _barred(game):
    """Whatever the key: nothing to take, a 3 on top, too few cards, or a side that must have opened."""
    if number_taken(game) == 0 or len(game.discard) < game.options.take_min:  # 12.28: the top card counts
        return True
    return game.discard[0] in "br" or (game.options.take_needs_open and not game.side().opened)


def _frozen(game):
    """12 `freeze_by`: only two naturals of a natural top card take."""
    return bool(set(game.discard) & game.options.freezing())


def _wild_top_taken(game):
    """May the wild on top be taken, by a pair of the same wild?"""
    if game.options.take_wild_top != "matching_pair":
        return False
    return not _frozen(game) or game.options.take_key == "shown_pair"  # 12.3: a frozen pile does not change that key


def kind_of_take(game):
    """Is the top card melded, shown or used? See the module. The take itself may still be illegal."""
    if game.options.take_key == "shown_pair":
        return "show"
    if game.options.take_key == "any_use" and game.discard[0] in NATURALS and not _frozen(game):
        return "use"
    return "meld"  # 12.3: under any_use also what a wild on top or a frozen pile leaves


def _take_legal(game, label):
    kind = kind_of_take(game)
    top = game.discard[0]
    if top in WILDS and not _wild_top_taken(game):
        return False
    if kind != "meld" and label != "take":  # 12.2
        return False
    if kind == "show":
        return without(game.hands[game.seat], top * 2) is not None
    if kind == "use":
        return _use_legal(game)
    melded = meld_key(game, label)
    if melded is None:
        return False
    hand, melds, books, _ = melded
    others = game.discard[1 : number_taken(game)]
    if game.options.take_opens == "counts":  # 12.4: they come before the minimum is reached
        return state_legal(game, hand + game.stays_in_hand(others), melds, books, "")
    return state_legal(game, hand, melds, books, others)


# ------------------------------------------------------------------------------------ the key is melded


def _key(game, label):
    """The cards that the hand gives for this take, or None if the option or the top card forbids it."""
    keys = game.options.take_keys() if game.options.take_key != "any_use" else ("natural_pair",)
    top = game.discard[0]
    if top in WILDS:  # 12.28: whatever keys a list names
        return top * 2 if label == "take" else None
    if label == "take":
        return top * 2 if "natural_pair" in keys else None
    if _frozen(game):  # 12.28
        return None
    if label == "take>meld":
        return "" if "own_meld" in keys and top in game.side().melds else None
    return top + label[-1] if "natural_and_wild" in keys else None


def meld_key(game, label):
    """(hand, melds, books, cards laid) after the key cards and the top card are laid; None if they cannot be."""
    key = _key(game, label)
    if key is None:
        return None
    hand = without(game.hands[game.seat], key)
    if hand is None:
        return None
    top, side = game.discard[0], game.side()
    after = game.options.place("wild" if top in WILDS else top, key + top, side.melds, side.books)
    return after and (hand, *after, key + top)


# ----------------------------------------------------------------------------------- 12 `any_use`, `shown_pair`


def _use_legal(game):
    """12.1: legal only if a lay-down with a card of the pile is legal from the hand with all cards taken."""
    if not game.side().opened and game.options.take_opens != "counts":
        return False
    trial = game.copy()
    take_to_use(trial)
    return bool(legal_lay_downs(trial))


def take_to_use(game):
    """12 `any_use`: all cards come into the hand; the kinds among them are owed (12.1: not red 3s that are laid)."""
    taken = _take_off(game)
    game.phase = "play"
    receive_known(game, game.seat, taken)
    game.must_use = canonical(set(game.stays_in_hand(taken)))


def take_after_showing(game):
    """12.2: at least two of the kind shown are known, and then the cards taken."""
    seat, top = game.seat, game.discard[0]
    missing = max(0, 2 - game.known[seat].count(top))
    game.known[seat] = canonical(game.known[seat] + top * missing)
    game.phase = "play"
    receive_known(game, seat, _take_off(game))


def _take_off(game):
    """The cards taken leave the pile."""
    number = number_taken(game)
    taken, game.discard = game.discard[:number], game.discard[number:]
    return taken
