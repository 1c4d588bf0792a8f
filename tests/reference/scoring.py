"""Rule 9: what a deal scores."""


def side_score(game, number):
    """What a side scores in this deal, as if it ended now."""
    options, side = game.options, game.sides[number]
    score = 0
    for meld in side.melds.values():
        score += options.value(meld)
    for book in side.books:
        score += options.value(book) + options.book_bonus(book)
    score += options.red3_points(side.red3, side.opened)
    if game.out_seat is not None and options.side_of(game.out_seat) == number:
        score += options.going_out
    if "wild" in side.melds:
        score -= options.unfinished_wild_penalty
    if "7" in side.melds:  # 12.21: once a side
        score -= options.sevens_unfinished
    for seat in range(options.players):
        if options.side_of(seat) == number:
            score -= _held(game, seat)
    return score


def _held(game, seat):
    """What the cards of a hand, and of packets not picked up, cost."""
    options = game.options
    cards = game.hands[seat] + "".join(game.packets_to_come(seat))
    return options.value(cards) + options.red3_held * cards.count("r") + options.sevens_held * cards.count("7")
