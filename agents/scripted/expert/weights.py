"""The numbers that `expert` plays by, each with its meaning and the rule of play that it belongs to.

A vector of float64, an argument of every kernel of `expert`, so that a search over it compiles nothing anew. Units are
points of the rule set unless said otherwise. The values in expert_tuned.py come from a recorded search
(training/studies/tune_expert.py); RULES_OF_PLAY says what the ablation switches off.
"""

from typing import NamedTuple

import numpy as np


class Weight(NamedTuple):
    """One number: its name, where the search starts, the range that it keeps to, and what it means."""

    name: str
    start: float
    low: float
    high: float
    meaning: str


WEIGHTS = (
    # Outlook
    Weight("half_turns", 1.5, 0.2, 10.0, "turns after which a wanted card has come with probability 1/2"),
    Weight("race_turns", 2.0, 0.2, 8.0, "turns that an opponent leaves us who may go out"),
    Weight("near_turns", 6.0, 1.0, 20.0, "turns that opponents leave us who lack one book and sit in their feet"),
    Weight("reach", 1.0, 0.1, 3.0, "share of the cards that come to our side in time which are laid in time"),
    Weight("counting", 1.0, 0.0, 1.0, "how much the unseen cards of a rank count, against the mean of all ranks"),
    Weight("wild_reach", 0.6, 0.05, 3.0, "share of the wilds that come to our side which go to the wild meld"),
    Weight("wild_held", 0.5, 0.0, 1.0, "share of the wilds held which go to the wild meld"),
    # Wilds
    Weight("wild_book_share", 0.1, 0.0, 0.4, "worth of a wild kept, as a share of the wild book's bonus"),
    Weight("dirty_book_share", 0.2, 0.0, 1.0, "worth of a wild kept, as a share of the dirty book's bonus"),
    Weight("wild_owed", 0.3, 0.0, 2.0, "share of the wild book's bonus more, while the quota lacks one"),
    # Laying
    Weight("release_hand", 12.0, 0.0, 80.0, "worth of a card less in the hand"),
    Weight("release_out", 10.0, -20.0, 150.0, "worth of a card less in the foot while going out lacks only that"),
    Weight("foot_now", 30.0, 0.0, 400.0, "worth of emptying the hand by melding"),
    Weight("foot_next", 15.0, 0.0, 400.0, "worth of coming to one card in the hand, for the discard"),
    Weight("opening_worth", 100.0, -600.0, 1200.0, "worth of opening from the hand, against the wilds and keys that it costs"),
    Weight("opening_key", 60.0, 0.0, 300.0, "cost of opening from the hand for each pair or more in it: keys to open by a take"),
    Weight("opening_round", 8.0, 0.0, 80.0, "worth of opening more for each round that has passed"),
    Weight("opening_late", 200.0, 0.0, 1500.0, "worth of opening more at the end of the deal"),
    # Taking
    Weight("drawn_card", 25.0, 0.0, 120.0, "worth of a card drawn from the stock"),
    Weight("loose_card", 8.0, -20.0, 60.0, "worth of a card taken that fits nothing yet"),
    Weight("fitting_card", 45.0, 0.0, 200.0, "worth of a card taken that fits an open meld, or three with the hand"),
    Weight("pairing_card", 15.0, -10.0, 120.0, "worth of a card taken that makes a pair with the hand"),
    # Discarding
    Weight("keep_pair", 25.0, 0.0, 200.0, "worth of a pair in the hand"),
    Weight("keep_trio", 60.0, 0.0, 400.0, "worth of three of a rank in the hand"),
    Weight("keep_single", 10.0, 0.0, 100.0, "worth of a single card, times the chance that two more come"),
    Weight("gift_card", 25.0, 0.0, 150.0, "cost of each card of the pile that the next player takes"),
    # Going out
    Weight("out_bias", 0.0, -600.0, 800.0, "worth of going out beyond the estimates"),
    Weight("out_theirs", 1.0, 0.0, 3.0, "how much the others' loss of prospects counts"),
    Weight("out_ours", 1.0, 0.0, 3.0, "how much our loss of prospects counts"),
    Weight("out_held", 1.0, 0.0, 3.0, "how much the cards that the others hold count"),
)
NUM_WEIGHTS = len(WEIGHTS)
(
    HALF_TURNS, RACE_TURNS, NEAR_TURNS, REACH, COUNTING, WILD_REACH, WILD_HELD, WILD_BOOK_SHARE, DIRTY_BOOK_SHARE,
    WILD_OWED, RELEASE_HAND, RELEASE_OUT, FOOT_NOW, FOOT_NEXT, OPENING_WORTH, OPENING_KEY, OPENING_ROUND, OPENING_LATE,
    DRAWN_CARD, LOOSE_CARD, FITTING_CARD, PAIRING_CARD, KEEP_PAIR, KEEP_TRIO, KEEP_SINGLE, GIFT_CARD, OUT_BIAS,
    OUT_THEIRS, OUT_OURS, OUT_HELD,
) = range(NUM_WEIGHTS)  # fmt: skip
LOW = np.array([weight.low for weight in WEIGHTS])
HIGH = np.array([weight.high for weight in WEIGHTS])

# The rules of play that the ablation switches off, each by the weights that it rests on and the values without it.
RULES_OF_PLAY = {
    "count the cards of each rank that are left": {COUNTING: 0.0},
    "see the end coming when an opponent may go out": {RACE_TURNS: 100.0},
    "see it coming when an opponent lacks one step": {NEAR_TURNS: 100.0},
    "save wilds for the wild book": {WILD_BOOK_SHARE: 0.0, WILD_HELD: 0.0, WILD_OWED: 0.0},
    "value wilds by the dirty books": {DIRTY_BOOK_SHARE: 0.0},
    "hurry to the foot": {RELEASE_HAND: 0.0, FOOT_NOW: 0.0, FOOT_NEXT: 0.0},
    "lay from the foot when nothing else is missing": {RELEASE_OUT: 0.0},
    "wait with a dear opening": {OPENING_WORTH: 1e6, OPENING_KEY: 0.0},
    "value a take by the cards known in the pile": {LOOSE_CARD: 25.0, FITTING_CARD: 25.0, PAIRING_CARD: 25.0},
    "keep pairs and trios when discarding": {KEEP_PAIR: 0.0, KEEP_TRIO: 0.0},
    "keep singles that may still grow": {KEEP_SINGLE: 0.0},
    "discard by danger": {GIFT_CARD: 0.0},
    "weigh going out": {OUT_BIAS: 1e6},
}
