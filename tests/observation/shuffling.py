"""Another world that a seat cannot tell from the one it is in: all that it cannot know is dealt out anew."""

import numpy as np

from hf_env.engine.cards import NUM_KINDS, RED3
from hf_env.engine.state import PHASE_OVER
from hf_env.rules import RuleSet


def _slots(g: np.void, rules: RuleSet, seat: int) -> tuple[list[tuple[str, int, int]], list[int]]:
    """Places of the cards that the seat cannot know as (packet, seat, cards), and the cards in them."""
    places, pool = [], []
    for other in range(rules.players):
        if other != seat:
            hidden = g["hands"][other] - g["known"][other]
            pool += [kind for kind in range(NUM_KINDS) for _ in range(hidden[kind])]
            places.append(("hands", other, int(hidden.sum())))
    for other in range(rules.players):
        if not g["in_foot"][other]:
            pool += [kind for kind in range(NUM_KINDS) for _ in range(g["feet"][other, kind])]
            places.append(("feet", other, int(g["feet"][other].sum())))
    stock = g["stock"][int(g["stock_next"]) : int(g["stock_end"])]
    pool += [int(kind) for kind in stock]
    places.append(("stock", 0, len(stock)))
    return places, pool


def shuffled_world(g: np.void, rules: RuleSet, seat: int, rng: np.random.Generator) -> np.ndarray:
    """(1,) record of a game that differs from g in everything that `seat` cannot know.

    Kept: sizes, cards publicly known in hands, no red 3 in a hand. Changed: the other cards of the other hands, all feet
    not picked up (the seat's own too), order and place of the stock, seed, what shaping counts.
    """
    out = np.array([g])
    world = out[0]
    places, pool = _slots(g, rules, seat)
    rng.shuffle(pool)
    # Red 3s lie in feet and stock only, unless the deal ended while a red 3 taken up could not be replaced.
    in_hands = sum(int(g["hands"][other, RED3]) for other in range(rules.players))
    assert in_hands == 0 or g["phase"] == PHASE_OVER
    hand_cards = sum(size for packet, _, size in places if packet == "hands")
    others = [kind for kind in pool if kind != RED3]
    rest = others[hand_cards:] + [kind for kind in pool if kind == RED3]
    rng.shuffle(rest)
    cards = iter(others[:hand_cards] + rest)
    for packet, other, size in places:
        kinds = [next(cards) for _ in range(size)]
        if packet == "stock":
            world["stock"][:] = 0
            world["stock"][:size] = kinds
            world["stock_next"], world["stock_end"] = 0, size
        else:
            world[packet][other] = np.bincount(kinds, minlength=NUM_KINDS)
            if packet == "hands":
                world["hands"][other] += g["known"][other]
    world["seed"] = rng.integers(0, 2**62)
    for name in ("potential", "potential_start"):
        world[name] = rng.integers(-3000, 3000, len(world[name]))
    return out
