"""What an action does to a game. Every action here is legal: the adapters check the mask. Rule: docs/rules.md 4 to 8."""

from hf_env.engine.action_ids import ASK, DISCARD, DRAW, MELD, YES
from hf_env.engine.cards import MAX_SEATS
from hf_env.engine.dealing import (
    deal_cards,
    deal_entry,
    draw_cards,
    first_dealer,
    make_deck,
    opening_minimum,
    pick_up_foot,
)
from hf_env.engine.melds import lay_down_cards, lay_from_hand, leave_hand
from hf_env.engine.scoring import held_points, side_score
from hf_env.engine.seats import seat_after, side_of
from hf_env.engine.state import (
    ANSWER_NO,
    ANSWER_YES,
    END_MAX_TURNS,
    END_OUT,
    END_STOCK_DRAW,
    NOT_ENDED,
    NUM_EVENTS,
    NUM_RECENT_DISCARDS,
    PHASE_ANSWER,
    PHASE_DRAW,
    PHASE_OVER,
    PHASE_PLAY,
)
from hf_env.engine.takes import take_cards, take_from_pile
from hf_env.kernels.compile import kernel

EVENT_SEAT_STRIDE = 256


@kernel
def log_event(g, seat, action, red3s):
    """Append a public event of this deal to the ring."""
    at = int(g["num_events"]) % NUM_EVENTS
    g["events"][at, 0] = seat * EVENT_SEAT_STRIDE + action
    g["events"][at, 1] = red3s
    g["num_events"] += 1


@kernel
def end_deal(g, r, reason):
    """Score the deal and add it to the totals; the state stays to be looked at. Rule: docs/rules.md 8.1 to 8.5, 9.4."""
    g["phase"] = PHASE_OVER
    g["end_reason"] = reason
    over = g["single_deal"] != 0
    for side in range(int(r["sides"])):
        score = side_score(g, r, side)
        g["deal_scores"][side] = score
        g["scores"][side] += score
        g["stranded"][side] = held_points(g, r, side)
        if r["has_target"] and g["scores"][side] >= r["target"]:  # rules.md 9.4
            over = True
    if g["deal"] >= r["max_deals"]:
        over = True
    g["game_over"] = 1 if over else 0


@kernel
def _go_out(g, r, seat):
    """End the deal by a seat that has emptied its foot. Rule: docs/rules.md 7.1, 8.1."""
    g["out_seat"] = seat
    end_deal(g, r, END_OUT)


@kernel
def _pick_up(g, r, seat):
    """Pick up the foot; the deal ends if its red 3s cannot be replaced. Rule: docs/rules.md 6.3, 6.4, 8.3."""
    ended = pick_up_foot(g, r, seat)
    if ended != NOT_ENDED:
        end_deal(g, r, ended)


@kernel
def _after_laying(g, r, seat, points):
    """Opening, cards owed by a take, and the empty hand, in this order. Rule: docs/rules.md 4.14, 4.18, 5.9, 6.1."""
    side = side_of(r, seat)
    if not g["opened"][side]:
        g["laid"] += points
        if g["laid"] < opening_minimum(r, int(g["deal"])):  # rules.md 4.14, 4.16
            return
        g["opened"][side] = 1  # rules.md 4.18
        g["laid"] = 0
        g["opening_turn"][side] = g["turns"]
    if g["taking"] > 0:  # rules.md 5.9
        take_from_pile(g, r, seat, int(g["taking"]))
    if g["hand_sizes"][seat] == 0:
        if g["in_foot"][seat]:
            _go_out(g, r, seat)
        else:  # rules.md 6.1
            _pick_up(g, r, seat)


@kernel
def _draw(g, r, seat):
    """Draw from the stock; the deal ends where it cannot supply the draw. Rule: docs/rules.md 4.2, 8.2 to 8.4."""
    count = int(r["draw"][deal_entry(int(g["deal"]))])
    if not r["reshuffle"] and int(g["stock_end"]) - int(g["stock_next"]) < count:  # rules.md 8.2: nothing is drawn
        end_deal(g, r, END_STOCK_DRAW)
        return
    ended = draw_cards(g, r, seat, count, False)
    if ended != NOT_ENDED:
        end_deal(g, r, ended)
        return
    g["phase"] = PHASE_PLAY


@kernel
def _take(g, r, seat, action):
    """Lay the top card of the discard pile with its key; what else is taken follows at once or after the opening.

    Rule: docs/rules.md 5.1, 5.6, 5.9.
    """
    side = side_of(r, seat)
    g["phase"] = PHASE_PLAY
    g["num_takes"][seat] += 1
    if not g["opened"][side]:
        g["opened_by_take"][side] = 1
    points = take_cards(g, r, seat, action)
    _after_laying(g, r, seat, points)


@kernel
def _ask(g, r, seat):
    """Ask the partners, in order of turns, whether the seat may go out: the first one answers. Rule: docs/rules.md 7.4."""
    g["asked"] = 1
    g["num_asks"][seat] += 1
    g["phase"] = PHASE_ANSWER
    g["to_move"] = seat_after(r, seat, int(r["sides"]))


@kernel
def _answer(g, r, seat, is_yes):
    """Note a partner's answer; the next one answers, or after a no or the last yes the asker plays on. Rule: docs/rules.md 7.4, 7.5."""
    g["answers"][seat] = ANSWER_YES if is_yes else ANSWER_NO
    asker = int(g["turn_seat"])
    following = seat_after(r, seat, int(r["sides"]))
    if is_yes:
        g["num_yes"][seat] += 1
    else:
        g["num_no"][seat] += 1
    if is_yes and following != asker:
        g["to_move"] = following
        return
    g["may_go_out"] = 1 if is_yes else 0
    g["phase"] = PHASE_PLAY
    g["to_move"] = asker


@kernel
def _discard(g, r, seat, kind):
    """Discard a card and end the turn: the deal may be over, else the next seat draws, first picking up the foot if the hand is empty.

    Rule: docs/rules.md 4.3, 6.2, 7.1, 8.5.
    """
    leave_hand(g, seat, kind, 1)
    g["discard"][g["discard_size"]] = kind
    g["discard_size"] += 1
    g["discard_kinds"][kind] += 1
    for i in range(NUM_RECENT_DISCARDS - 1, 0, -1):
        g["recent_discards"][seat, i] = g["recent_discards"][seat, i - 1]
    g["recent_discards"][seat, 0] = kind + 1
    g["turns"] += 1
    if g["hand_sizes"][seat] == 0 and g["in_foot"][seat]:
        _go_out(g, r, seat)
        return
    if g["turns"] >= r["max_turns"]:  # rules.md 8.5
        end_deal(g, r, END_MAX_TURNS)
        return
    g["asked"] = 0
    g["may_go_out"] = 0
    for i in range(int(r["players"])):
        g["answers"][i] = 0
    g["phase"] = PHASE_DRAW
    turn_seat = seat_after(r, seat, 1)
    g["turn_seat"] = turn_seat
    g["to_move"] = turn_seat
    if g["hand_sizes"][turn_seat] == 0 and not g["in_foot"][turn_seat]:  # rules.md 6.2
        g["foot_by_discard"][turn_seat] = 1
        _pick_up(g, r, turn_seat)


@kernel
def _red3s_laid(g):
    """Red 3s laid by all sides; a loop over so few would cost more than all six, of which some are 0."""
    red3 = g["red3"]
    return int(red3[0]) + int(red3[1]) + int(red3[2]) + int(red3[3]) + int(red3[4]) + int(red3[5])


@kernel
def apply_action(g, r, action):
    """Play one legal action of the seat to move. The deal may be over after it (phase PHASE_OVER)."""
    seat = int(g["to_move"])
    red3s = _red3s_laid(g)
    if action >= DISCARD:
        _discard(g, r, seat, action - DISCARD)
    elif action == DRAW:
        _draw(g, r, seat)
    elif action < MELD:
        _take(g, r, seat, action)
    elif action < ASK:
        rank, naturals, twos, jokers = lay_down_cards(action)
        points = lay_from_hand(g, r, seat, rank, naturals, twos, jokers)
        _after_laying(g, r, seat, points)
    elif action == ASK:
        _ask(g, r, seat)
    else:
        _answer(g, r, seat, action == YES)
    log_event(g, seat, action, _red3s_laid(g) - red3s)


@kernel
def deal_order(g, r, deck, n):
    """Deal the order deck[:n] as the game's current deal, which may be over at once."""
    ended = deal_cards(g, r, deck, n)
    if ended != NOT_ENDED:
        end_deal(g, r, ended)


@kernel
def start_deal(g, r, deck):
    """Shuffle and deal the game's current deal. `deck`: (MAX_CARDS,) uint8 to work in."""
    deal_order(g, r, deck, make_deck(r, int(g["seed"]), int(g["deal"]), deck))


@kernel
def head_game(g, r, rule, seed, deal, single_deal):
    """All of a game's beginning but the cards: totals 0, the dealer, the deal's number."""
    g["rule"] = rule
    g["seed"] = seed
    g["deal"] = deal
    g["single_deal"] = single_deal
    g["game_over"] = 0
    g["dealer"] = (first_dealer(r, g["seed"]) + deal - 1) % int(r["players"])
    for side in range(MAX_SEATS):
        g["scores"][side] = 0


@kernel
def start_game(g, r, rule, seed, deal, single_deal, deck):
    """Begin a game: totals 0, its first deal dealt. `deal` counts from 1; `single_deal`: the game is this deal alone."""
    head_game(g, r, rule, seed, deal, single_deal)
    start_deal(g, r, deck)


@kernel
def head_next_deal(g, r):
    """All of the next deal but the cards; the deal moves one seat on from who dealt, also where a position said who did.

    Rule: docs/rules.md 2.3.
    """
    g["deal"] += 1
    g["dealer"] = seat_after(r, int(g["dealer"]), 1)


@kernel
def next_deal(g, r, deck):
    """Deal the game's next deal."""
    head_next_deal(g, r)
    start_deal(g, r, deck)
