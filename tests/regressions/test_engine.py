"""Each bug of the engine that was found leaves here what shows it."""

import random

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import WILD
from hf_env.positions import from_position, to_position
from hf_env.rules import load_rules
from tests.api.tables import game_at, table
from tests.differential.drivers import DRIVERS
from tests.differential.harness import SideBySide
from tests.rules.strategies import random_rule_set


@pytest.mark.parametrize("top", "2*")
def test_a_wild_taken_with_a_pair_is_no_natural(top: str) -> None:
    """A 2 taken with two 2s made a wild meld of four: the kind of 2s and the index of wild melds are one number."""
    game = game_at(table(
        {"take_wild_top": "matching_pair"}, hands={0: top * 2 + "45"}, sides={0: {"opened": True}}, discard=top + "7", phase="draw"
    ))  # fmt: skip
    game.play(ACTIONS.parse("take"))
    assert game.broken_invariant() == 0
    assert int(game.game["naturals"][0, WILD]) == 0
    assert to_position(game.games, 0, load_rules(take_wild_top="matching_pair"))["sides"][0]["melds"] == {"wild": top * 3}


@pytest.mark.parametrize(("seed", "driver", "game"), [(7, "greedy", 702), (11, "non_discard", 1101)])
def test_games_that_showed_it(seed: int, driver: str, game: int) -> None:
    """The random rule sets in which the comparison with the reference found it."""
    SideBySide(random_rule_set(seed), game, 3_000).play(DRIVERS[driver], random.Random(game))


def test_the_next_dealer_follows_this_one() -> None:
    """The second deal of a position with another dealer than its seed would draw is dealt by the next seat."""
    rules = load_rules("mini", deals=3)
    for dealer in (0, 1):
        game = GameAccess(rules.to_record())
        game.start(1)
        position = to_position(game.games, 0, rules) | {"dealer": dealer}
        game = GameAccess(rules.to_record(), from_position(position)[0])
        while not game.is_over:
            game.play(int(game.legal()[-1]))
        game.next_deal()
        assert int(game.game["dealer"]) == 1 - dealer and int(game.game["turn_seat"]) == dealer
