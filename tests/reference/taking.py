"""Rule 5: what a take of the discard pile brings onto the table."""

from .laying import NATURALS, WILDS, without


def _key(game, label):
    """The cards that the hand gives for this take, or None if the option or the top card forbids it."""
    options = game.options
    top = game.discard[0]
    frozen = options.wild_discard_freezes and any(card in WILDS for card in game.discard)
    if top in WILDS:
        allowed = label == "take" and options.take_wild_top == "matching_pair" and not frozen
        return top * 2 if allowed else None
    if top not in NATURALS:
        return None
    if label == "take":
        return top * 2
    if frozen:
        return None
    if label == "take>meld":
        return "" if options.take_key == "any_meld" and top in game.side().melds else None
    return top + label[-1] if options.take_key in ("natural_and_wild", "any_meld") else None


def number_taken(game):
    count = game.options.take_count
    return len(game.discard) if count == "all" else min(count, len(game.discard))


def take(game, label):
    """(hand, melds, books, cards laid) after the key cards and the top card are laid; None if they cannot be."""
    side = game.side()
    if number_taken(game) == 0 or (game.options.take_needs_open and not side.opened):
        return None
    key = _key(game, label)
    if key is None:
        return None
    hand = without(game.hands[game.seat], key)
    if hand is None:
        return None
    top = game.discard[0]
    after = game.options.place("wild" if top in WILDS else top, key + top, side.melds, side.books)
    return after and (hand, *after, key + top)
