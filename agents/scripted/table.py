"""The scripted players, a row each. A new player is its folder and a row here: numbers, names and classes follow from it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from agents.scripted.beam.choose import choose_beam
from agents.scripted.beam.search import make_work
from agents.scripted.expert.choose import choose_expert
from agents.scripted.greedy.choose import choose_greedy
from agents.scripted.uniform import choose_random


class ScriptedPlayer(NamedTuple):
    """One scripted player; its class in ``agents.scripted`` is its name with a capital and "Policy".

    Attributes:
        id: Its number in arrays of players; never given to another player.
        name: As of ``agents.load``.
        choose: The kernel that chooses its actions; see dispatch.py.
        summary: What it does, in a sentence.
        make_work: Makes the buffers that it works in; None: it needs none.
    """

    id: int
    name: str
    choose: Any
    summary: str
    make_work: Callable[[], Any] | None = None


PLAYERS = (
    ScriptedPlayer(0, "random", choose_random, "Uniform over the legal actions."),
    ScriptedPlayer(1, "greedy", choose_greedy, "The plain sensible player: see agents/scripted/greedy/choose.py."),
    ScriptedPlayer(2, "expert", choose_expert, "The strongest one: see agents/scripted/expert/choose.py and docs/players.md."),
    ScriptedPlayer(3, "beam", choose_beam, "Plans a turn's lay-downs by a beam: see agents/scripted/beam/choose.py.", make_work),
)
PLAYER_IDS = {player.name: player.id for player in PLAYERS}
