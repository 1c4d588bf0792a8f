"""Going out, keeping a card, asking, and what may be discarded (Rule 7, and 12)."""

from .cards import LAYDOWNS


def partners_ready(game):
    """Rule 7.2. A partner whose last packet is picked up has played part of a turn from it, since it is not its turn now.

    12.11: where it was picked up at the end of a turn, that is enough.
    """
    return not game.options.partner_foot or all(game.in_foot(seat) for seat in game.partners(game.seat))


def allowed(game, books):
    """Rule 7, 1 to 3, with these books of the side, for a side that has opened: is the player out?"""
    permitted = game.options.permission == "none" or not game.partners(game.seat) or game.may_go_out
    return permitted and partners_ready(game) and game.options.quota_met(game.deal, books)


def may_end_with(game, by_laying):
    """May the player go out with the last card, laid or discarded?"""
    ruled_out = "required" if by_laying else "forbidden"
    side = game.side()
    return game.options.final_discard != ruled_out and side.opened and allowed(game, side.books)  # 12.27: open


def is_bound(game):
    """The yes binds: only what ends in going out may be done."""
    return game.options.permission == "binding_both" and game.may_go_out


# ------------------------------------------------------------------------------------- keeping a card


def need_keep_none(game):
    """12 `floating` and 12.9: no card need be kept for the discard."""
    return game.options.floating or game.in_last_round()


def keeps_enough(game, hand, melds, books):
    """Rule 7, keeping a card: may a player in the foot be left with this hand before the discard?"""
    if need_keep_none(game) or len(hand) >= 2:
        return True
    final_discard = game.options.final_discard
    if len(hand) == 0:
        return final_discard != "required" and allowed(game, books)
    if final_discard != "forbidden" and allowed(game, books):
        return True
    return final_discard != "required" and _can_be_laid_last(game, hand, melds, books)


def _can_be_laid_last(game, card, melds, books):
    """Can the one card that is left be laid, and is going out allowed then?"""
    for label, (_, cards) in LAYDOWNS.items():
        if cards == card:
            after = game.options.lay(label, melds, books)
            if after is not None and allowed(game, after[1]):
                return True
    return False


# --------------------------------------------------------------------------------- 12 `black3_melds`


def black_laid_this_turn(game):
    """12.10: the turn of going out. Black 3s of an earlier turn lie there in a last round only, and bind nobody."""
    return "b" in game.side().melds and not game.in_last_round()


def black_legal(game):
    """12.10: only a side that has opened lays black 3s, from the last packet; 12.9: not in a last round.

    That the player is out, and what must be left, is looked at by `only_black_left`.
    """
    return game.side().opened and game.in_foot(game.seat) and not game.in_last_round()


def only_black_left(game, hand, books):
    """12.10: with black 3s laid in this turn, may this hand be left, the side's books being these?

    Going out stays allowed, every card but at most one is a black 3, and `final_discard` can be kept.
    """
    if not allowed(game, books):
        return False
    others = len(hand.replace("b", ""))
    if others == 0 and hand:
        return True  # all black 3s are laid, or all but one
    return game.options.ends_with(others)


# ----------------------------------------------------------------------------- the question, the discard


def ask_legal(game):
    options, side, hand = game.options, game.side(), game.hands[game.seat]
    if options.permission == "none" or game.asked or not game.partners(game.seat):
        return False
    if game.in_last_round() or not side.opened or not hand:  # 12.9; 12.27; without a card there is nothing to ask for
        return False
    if not (game.in_foot(game.seat) and partners_ready(game) and options.quota_met(game.deal, side.books)):
        return False
    if options.permission == "binding_both":
        return options.can_finish(game.deal, hand, side.melds, side.books)
    return True


def discards(game):
    """The kinds that may be discarded now."""
    hand = game.hands[game.seat]
    if not _discard_legal(game, hand):
        return set()
    barred = game.options.barred_discards()
    return {card for card in hand if card not in barred} or set(hand)  # 12.18: a hand of nothing else may discard any


def _discard_legal(game, hand):
    """Any card of the hand, or none."""
    if not game.in_foot(game.seat) or game.in_last_round():
        return True
    if is_bound(game) or black_laid_this_turn(game):
        return len(hand) == 1 and may_end_with(game, by_laying=False)
    if game.options.floating:
        return True
    return len(hand) > 1 or may_end_with(game, by_laying=False)
