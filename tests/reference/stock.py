"""Cards that come from the stock, red 3s, and packets that are picked up (Rule 3, 4, 6, 8)."""

from .cards import by_deal, canonical


def next_card(game):
    """Rule 8: the next card of the stock, after a reshuffle if it must be and may be; None if there is none."""
    if not game.stock and _may_reshuffle(game):
        cards = game.discard[1:]
        order = game.reshuffle(game.reshuffles, cards)
        assert sorted(order) == sorted(cards)
        game.reshuffles += 1
        game.discard = game.discard[0]
        game.stock = order
    if not game.stock:
        return None
    card, game.stock = game.stock[0], game.stock[1:]
    return card


def _may_reshuffle(game):
    most = game.options.max_reshuffles
    if most is not None and game.reshuffles >= most:  # 12.17
        return False
    return game.options.stock_out == "reshuffle" and len(game.discard) > 1


def receive(game, seat, card):
    """A card comes to a seat: a red 3 is laid, but with 12 `red3` = penalty it comes into the hand."""
    if card == "r" and not game.options.keeps_red3s():
        game.side(seat).red3 += 1
    else:
        game.hands[seat] = canonical(game.hands[seat] + card)


def receive_known(game, seat, cards):
    """Cards of the discard pile come into the hand, where they are known."""
    for card in cards:
        receive(game, seat, card)
    game.known[seat] = canonical(game.known[seat] + game.stays_in_hand(cards))


def draw_cards(game):
    """The draw of a turn."""
    options = game.options
    number = by_deal(options.draw, game.deal)
    ends_at_once = options.stock_out == "end_deal" and options.short_draw == "ends"
    if ends_at_once and len(game.stock) < number:
        game.end("stock_draw")
        return
    for drawn in range(number):
        card = next_card(game)
        if card is None:
            _found_short(game, drawn)
            return
        receive(game, game.seat, card)
        if card == "r" and options.red3 == "lay" and not replace_one(game, game.seat):
            return


def _found_short(game, drawn):
    """The stock gave only so many cards of the draw."""
    options = game.options
    if options.short_draw == "ends":
        # With end_deal the stock held enough for the draw, so it is a replacement that is missing.
        game.end("stock_red3" if options.stock_out == "end_deal" else "stock_draw")
    elif drawn == 0:  # 12.17: a draw that finds no card at all
        game.end("stock_draw")
    elif options.short_draw == "last_turn":  # 12.32
        game.last_turn = True


def replace_one(game, seat):
    """Draw the replacement of a red 3, again if it is one. False, and the deal is over, if there is none."""
    while True:
        card = next_card(game)
        if card is None:
            game.end("stock_red3")
            return False
        receive(game, seat, card)
        if card != "r":
            return True


def lay_red3s(game, seat):
    """Lay all red 3s of a packet; then draw as many cards, one at a time. See 12 `red3` for the other ways."""
    if game.options.keeps_red3s():
        return
    number = game.hands[seat].count("r")
    game.hands[seat] = game.hands[seat].replace("r", "")
    game.side(seat).red3 += number
    if game.options.red3 == "lay":
        for _ in range(number):
            if game.over or not replace_one(game, seat):
                return
    elif not game.hands[seat] and game.packet_follows(seat):
        pick_up(game, seat)  # 12.26: a packet of red 3s only gives way to the next at once


def pick_up(game, seat):
    """The next packet comes into the empty hand: the knee before the foot."""
    assert not game.hands[seat]
    packets = game.feet if game.knees is None or game.knees[seat] is None else game.knees
    game.hands[seat], packets[seat] = packets[seat], None
    game.known[seat] = ""
    lay_red3s(game, seat)
