"""Every state that `mini` can reach in a stated number of decisions, engine and reference compared at each.

The deck of a deal is fixed, so a deal is a tree without chance; positions that come about in several ways are looked at once.
"""

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import format_cards
from hf_env.engine.state import GAME_DTYPE
from hf_env.positions import to_position
from hf_env.records import deck_for
from hf_env.rules import load_rules
from tests.differential.test_random_positions import compare_states
from tests.reference.game import ReferenceGame
from tests.reference.laying import Options


def key(game: GameAccess) -> tuple:
    """What play depends on, beside the deck: everything but the past."""
    g = game.game
    names = [name for name in GAME_DTYPE.names if name in FIELDS]
    return tuple(g[name].tobytes() for name in names), format_cards(g["discard"][: int(g["discard_size"])])


FIELDS = {
    "turns", "turn_seat", "phase", "laid", "taking", "opened", "red3", "naturals", "twos", "jokers", "num_books",
    "book_side", "book_rank", "book_naturals", "book_twos", "book_jokers", "in_foot", "known", "hands", "stock_next",
    "out_seat", "end_reason",
}  # fmt: skip


def explore(seed: int, decisions: int) -> list[int]:
    """Numbers of different states after 0, 1, ... decisions of the first deal of a seed."""
    rules = load_rules("mini")
    resolved = rules.resolved()
    options = Options(resolved)
    game = GameAccess(rules.to_record())
    game.start(seed)
    reference = ReferenceGame(resolved, seed, 1, int(game.game["dealer"]), deck_for(rules, seed, 1))
    reference.options = options
    level = [(game, reference.position())]
    counts = [1]
    for _ in range(decisions):
        following: dict[tuple, tuple[GameAccess, dict]] = {}
        for game, position in level:
            for action in game.legal():
                after = GameAccess(game.rules, game.games.copy())
                after.play(action)
                state = key(after)
                if state in following:
                    continue
                expected = ReferenceGame.from_position(resolved, position)
                expected.options = options
                expected.apply(ACTIONS.label(action))
                compare_states(rules, after, expected, f"seed {seed} {to_position(after.games, 0, rules)}")
                following[state] = after, expected.position()
        level = [(game, position) for game, position in following.values() if not game.is_over]
        counts.append(len(following))
    return counts


# Different states after 0, 1, ... decisions of the first deal of a seed. They change with the rules or the shuffle only.
WITHIN_8 = {
    0: [1, 1, 7, 9, 57, 102, 558, 1094, 3728],
    1: [1, 1, 7, 10, 46, 70, 287, 371, 1925],
    2: [1, 1, 6, 8, 52, 70, 306, 470, 1893],
}
WITHIN_11 = {
    10: [1, 1, 6, 9, 34, 54, 180, 252, 928, 1344, 5024, 6560],
    11: [1, 1, 7, 11, 36, 81, 209, 432, 1044, 2075, 4957, 8721],
    12: [1, 1, 6, 6, 36, 41, 252, 252, 1364, 1439, 8186, 8186],
    13: [1, 2, 10, 10, 64, 95, 447, 599, 2976, 4582, 19577, 26515],
}


@pytest.mark.parametrize("seed", WITHIN_8)
def test_mini(seed: int) -> None:
    """All 11,082 states within 8 decisions of three deals."""
    assert explore(seed, 8) == WITHIN_8[seed]


@pytest.mark.long
@pytest.mark.parametrize("seed", WITHIN_11)
def test_mini_long(seed: int) -> None:
    """All 106,616 states within 11 decisions of four more deals."""
    assert explore(seed, 11) == WITHIN_11[seed]
