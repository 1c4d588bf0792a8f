"""Golden games: whole games as text, with all that the environment said at every decision.

A file begins with the versions of rules, layout and actions; it may change only together with one of them. What was
played is kept in it, so that no player's change touches it. ``python -m tests.golden.games`` writes the files anew.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from hf_env import ACTIONS, VectorGame, deck_for, load_rules
from hf_env.actions import ACTIONS_VERSION
from hf_env.observation.layout import LAYOUT_VERSION
from hf_env.rules.ruleset import RULES_VERSION
from hf_env.seeds import SEEDS_VERSION
from hf_env.vector.game import END_REASONS
from tests.observation.driving import Driver

FOLDER = Path(__file__).parent
# By file: rules, seed, and the driver that chose when the file was written.
GAMES = {
    "whitnack": ({"preset": "whitnack", "deals": 2}, 2024, "greedy"),
    "whitnack-easy": ({"preset": "whitnack", "deals": 2, "books_to_go_out": [1, 0, 0]}, 7, "greedy_or_random"),
    "family": ({"preset": "family", "deals": 2}, 11, "greedy_or_random"),
    "mini": ({"preset": "mini", "deals": 4}, 3, "non_discard"),
}

Choose = Callable[[VectorGame], str]


def versions() -> str:
    """The line of versions."""
    return f"versions rules={RULES_VERSION} layout={LAYOUT_VERSION} actions={ACTIONS_VERSION} seeds={SEEDS_VERSION}"


def checksum(*arrays: np.ndarray) -> str:
    """Eight hex digits of the arrays' bytes, little-endian."""
    value = 0
    for array in arrays:
        value = zlib.crc32(array.astype(array.dtype.newbyteorder("<")).tobytes(), value)
    return f"{value:08x}"


def trace(rules: dict, seed: int, choose: Choose) -> Iterator[str]:
    """The lines of a game. choose: the label to be played."""
    vec = VectorGame(1, rules, autoreset="DISABLED", events=True)
    vec.reset(game_seeds=[seed])
    rule_set = load_rules(rules)
    yield versions()
    yield f"rules {json.dumps(rules)} fingerprint={rule_set.fingerprint}"
    yield f"seed {seed}"
    begun = True
    while not vec.terminated[0]:
        if begun:
            deal = int(vec.games[0]["deal"])
            yield f"deal {deal} dealer={vec.games[0]['dealer']} deck={deck_for(rule_set, seed, deal)}"
        label = choose(vec)
        legal = int(vec.action_masks.sum())
        shown = checksum(vec.action_masks[0], *(vec.observe(seat)[0] for seat in range(vec.num_seats)), vec.states()[0])
        yield f"{vec.seats[0]} {label:<10} legal={legal} shown={shown}"
        vec.step([ACTIONS.parse(label)])
        begun = bool(vec.deal_ended[0])
        if begun:
            g = vec.ended[0]
            yield (
                f"end {END_REASONS[int(g['end_reason'])]} out_seat={g['out_seat']} turns={g['turns']} "
                f"scores={vec.deal_scores[0].tolist()} totals={g['scores'][: vec.num_sides].tolist()} "
                f"rewards={[round(x, 4) for x in vec.rewards[0].tolist()]}"
            )


def played_labels(text: str) -> Iterator[str]:
    """The labels in a file's lines of decisions."""
    for line in text.splitlines():
        if line[:1].isdigit():
            yield line[2:].split(" legal=")[0].strip()


def main() -> None:
    """Write all files."""
    for name, (rules, seed, driver_name) in GAMES.items():
        driver = Driver(driver_name, seed)
        lines = trace(rules, seed, lambda vec, driver=driver: ACTIONS.label(int(driver.actions(vec)[0])))
        path = FOLDER / f"{name}.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
