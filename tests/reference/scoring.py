"""Rule 9: what a deal scores."""

from .laying import book_type


def side_score(game, number):
    """What a side scores in this deal, as if it ended now."""
    options, side = game.options, game.sides[number]
    score = 0
    for meld in side.melds.values():
        score += options.value(meld)
    for book in side.books:
        score += options.value(book)
        kind = book_type(book)
        if kind == "clean" and book[0] == "7" and options.sevens_book is not None:
            score += options.sevens_book
        else:
            score += {"clean": options.clean_book, "dirty": options.dirty_book, "wild": options.wild_book}[kind]
    score += options.red3_laid * side.red3
    if game.out_seat is not None and options.side_of(game.out_seat) == number:
        score += options.going_out
    if "wild" in side.melds:
        score -= options.unfinished_wild_penalty
    for seat in range(options.players):
        if options.side_of(seat) == number:
            held = game.hands[seat] + (game.feet[seat] or "")
            score -= options.value(held) + options.red3_held * held.count("r")
    return score
