"""Who decides in test games: from nothing but random to a plain sensible player, all on labels alone.

Random play seldom sees a foot and never goes out; these together reach everything. See `DRIVERS`.
"""

import random
from collections.abc import Callable, Sequence

Driver = Callable[[Sequence[str], str, random.Random], str]


def play_random(labels: Sequence[str], hand: str, rng: random.Random) -> str:
    """Any legal action."""
    return rng.choice(labels)


def play_non_discard(labels: Sequence[str], hand: str, rng: random.Random) -> str:
    """With probability 0.8 one that neither draws nor discards, where there is one."""
    busy = [label for label in labels if not label.startswith(("discard", "draw"))]
    return rng.choice(busy if busy and rng.random() < 0.8 else labels)


def play_greedy(labels: Sequence[str], hand: str, rng: random.Random) -> str:
    """Takes when it can, asks, lays what it can (naturals first), discards what it holds least of; answers at random."""
    if labels[0] in ("yes", "no"):
        return rng.choice(labels)
    for wanted in ("take", "ask"):
        found = [label for label in labels if label.startswith(wanted)]
        if found:
            return rng.choice(found)
    lay_downs = [label for label in labels if label.startswith(("meld", "add"))]
    if lay_downs:
        natural = [label for label in lay_downs if "2" not in label and "*" not in label]
        wild = [label for label in lay_downs if label in ("add 2", "add *") or label.startswith(("meld 2", "meld *"))]
        return rng.choice(natural or (wild if wild and rng.random() < 0.8 else lay_downs))
    if "draw" in labels:
        return "draw"
    return min(labels, key=lambda label: (label[-1] in "2*", label[-1] != "b", hand.count(label[-1]), rng.random()))


def play_greedy_or_random(labels: Sequence[str], hand: str, rng: random.Random) -> str:
    """As play_greedy, every fifth action at random."""
    return (play_random if rng.random() < 0.2 else play_greedy)(labels, hand, rng)


# The last of the five is for whitnack with an easier quota, where its games end by going out.
EASY_QUOTA = [1, 0, 0]
DRIVERS: dict[str, Driver] = {
    "random": play_random,
    "non_discard": play_non_discard,
    "greedy": play_greedy,
    "greedy_or_random": play_greedy_or_random,
    "easy_quota": play_greedy_or_random,
}
