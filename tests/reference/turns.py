"""How turns begin and end, and what an empty hand means (Rule 4, 6, 7, 8, and 12)."""

from . import going_out
from .stock import pick_up


def begin(game, seat):
    """The turn of a seat begins. Rule 6: a hand emptied by a discard is followed by the next packet now."""
    game.set_turn(seat)
    if game.hands[seat] or not game.packet_follows(seat):
        return
    pick_up(game, seat)
    if game.options.foot_after_discard == "instead_of_draw":  # 12.11: the pick-up is the draw
        game.phase = "play"
        end_if_stuck(game)


def end(game):
    """The turn is over, with or without a discard (12.24): it counts as a turn."""
    seat, options = game.seat, game.options
    game.turns += 1
    if options.foot_after_discard == "at_once" and not game.hands[seat] and game.packet_follows(seat):
        pick_up(game, seat)  # 12.11: before `max_turns` and before the next seat
    if game.over:
        return
    if game.turns >= options.max_turns:
        game.end("max_turns")
        return
    if game.last_turn:  # 12.32
        game.end("stock_draw")
        return
    if game.in_last_round():
        game.turns_left -= 1
        if game.turns_left == 0:  # 12.9
            game.end("out")
            return
    begin(game, (seat + 1) % options.players)


def emptied(game, by_laying):
    """The hand of the player to move is empty; a discard, if any, lies on the pile already."""
    if game.packet_follows(game.seat):
        if not by_laying:
            end(game)
            return
        pick_up(game, game.seat)
        end_if_stuck(game)
    elif not game.in_last_round() and going_out.may_end_with(game, by_laying):
        go_out(game, by_laying)
    else:  # 12.9 in a last round; 12.8: who is not out floats
        assert game.in_last_round() or game.options.floating
        end(game)


def go_out(game, by_laying):
    """The player to move goes out. 12 `last_round`: the other seats may have one more turn."""
    followed = {"none": False, "all": True, "without_discard": by_laying}[game.options.last_round]
    if followed and not game.last_turn:  # 12.32: no last round follows a last turn
        game.out_seat = game.seat
        game.turns_left = game.options.players  # this turn among them, which ends now
        end(game)
        return
    if not by_laying:
        game.turns += 1
    game.end("out", game.seat)


def end_if_stuck(game):
    """12.26: who has no legal action because red 3s were not replaced ends the turn without a discard."""
    if game.options.red3 == "lay_unreplaced" and not game.over and game.phase == "play" and not game.legal():
        end(game)
