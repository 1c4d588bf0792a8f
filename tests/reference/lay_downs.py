"""Which lay-downs are legal, and which states a lay-down or a take may lead to (Rule 4, 5, 7, and 12)."""

from . import going_out, openings
from .cards import ALL_LAYDOWNS, BLACK_LAYDOWNS, LAYDOWNS, without


def legal(game):
    """The labels of the lay-downs of the player to move."""
    labels = LAYDOWNS if game.options.black3_melds == "never" else ALL_LAYDOWNS
    return {label for label in labels if lay_down_legal(game, label)}


def lay_down_legal(game, label):
    cards = ALL_LAYDOWNS[label][1]
    hand = without(game.hands[game.seat], cards)
    if hand is None:
        return False
    if game.must_use and not set(cards) & set(game.must_use):  # 12.1: the first must hold a card that was taken
        return False
    if game.options.opening_meld == "one" and game.opening_unfinished() and label.startswith("meld"):
        return False  # 12.7: only the meld begun first may be added to
    side = game.side()
    after = game.options.lay(label, side.melds, side.books)
    if after is None:
        return False
    if label in BLACK_LAYDOWNS and not going_out.black_legal(game):
        return False
    return state_legal(game, hand, *after, game.discard[: game.taking])


def state_legal(game, hand, melds, books, owed):
    """May a lay-down or take lead to this? `owed`: the cards of a take that come once the side is open."""
    if not game.side().opened:
        opening = opening_of(game, owed)
        if not openings.is_complete(game.options, opening, hand, melds, books):
            return openings.can_complete(game.options, opening, hand, melds, books)
    hand += game.stays_in_hand(owed)
    if not game.in_foot(game.seat):
        return True
    if "b" in melds and not game.in_last_round():
        enough = going_out.only_black_left(game, hand, books)
    else:
        enough = going_out.keeps_enough(game, hand, melds, books)
    if not enough:
        return False
    if going_out.is_bound(game):
        return game.options.can_finish(game.deal, hand, melds, books)
    return True


def opening_of(game, owed):
    """What the opening of the player to move must reach."""
    packet_follows = game.packet_follows(game.seat)
    if packet_follows or going_out.need_keep_none(game):
        keep = 0
    else:  # 12.27: in the last packet a card to keep and one to discard are left, cards owed among them
        keep = max(0, 2 - len(game.stays_in_hand(owed)))
    total = game.scores[game.options.side_of(game.seat)]
    return openings.Opening(game.deal, total, len(owed), packet_follows, keep)
