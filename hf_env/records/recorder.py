"""Games recorded while they are played, and decks without playing."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.access import deck_order
from hf_env.engine.cards import format_cards
from hf_env.engine.state import PHASE_OVER
from hf_env.engine.workspace import make_workspace
from hf_env.positions import rules_value
from hf_env.positions.schema import END_REASONS
from hf_env.records.schema import FORMAT, check_seed
from hf_env.rules import RuleSet, RulesLike, load_rules
from hf_env.seeds import SEEDS_VERSION


def deck_for(rules: RulesLike, seed: int, deal: int) -> str:
    """The shuffled order of a deal (from 1), after any burial, without playing.

    Hands, feet, upcard and stock lie in it in the order of docs/rules.md 3.3.

    Raises:
        RulesError: For the rules.
        ValueError: For a deal below 1 or a seed out of 0 to 2**63 - 1.
    """
    if deal < 1:
        raise ValueError(f"deals count from 1, not {deal}")
    check_seed(seed)
    deck = make_workspace().deck
    number, _ = deck_order(load_rules(rules).to_record(), 0, int(seed), int(deal), deck)
    return format_cards(deck[:number])


class GameRecorder:
    """Collects a game while it is played through the kernels.

    Call `start` once, `deal` when a deal has been dealt, `action` after each action has been applied and before the
    next deal is dealt, `take_back` where one was undone; `record` gives the record at any moment.
    """

    def __init__(self) -> None:
        self._rules: RuleSet | None = None
        self._record: dict[str, Any] = {}
        self._reshuffles = 0

    def start(self, rules: RulesLike, seed: int, players: Sequence[str], *, single_deal: bool = False) -> None:
        """Begin a record. `players`: a name for each seat.

        Raises:
            RulesError: For the rules.
            ValueError: For a wrong number of names.
        """
        self._rules = load_rules(rules)
        if len(players) != self._rules.players:
            raise ValueError(f"{len(players)} names for {self._rules.players} seats")
        check_seed(seed)
        self._record = {
            "format": FORMAT,
            "rules": rules_value(self._rules),
            "rules_fingerprint": self._rules.fingerprint,
            "seed": int(seed),
            "seeds": SEEDS_VERSION,
            "players": [str(name) for name in players],
        }
        if single_deal:
            self._record["single_deal"] = True
        self._record["deals"] = []

    def deal(self, games: np.ndarray, i: int) -> None:
        """A deal of games[i] has been dealt (it may be over already, for want of a red 3's replacement)."""
        g, rules = games[i], self._started()
        entry = {
            "deal": int(g["deal"]),
            "dealer": int(g["dealer"]),
            "deck": deck_for(rules, int(g["seed"]), int(g["deal"])),
            "actions": [],
            "reshuffles": [],
            "scores": None,
        }
        self._record["deals"].append(entry)
        self._reshuffles = 0
        self._look(g)

    def action(self, games: np.ndarray, i: int, action: int) -> None:
        """An action has been applied to games[i]."""
        self.actions(games, i, [action])

    def actions(self, games: np.ndarray, i: int, actions: Iterable[int]) -> None:
        """Actions have been applied to games[i], of which only the last may have brought a reshuffle or the deal's end."""
        self._started()
        self._record["deals"][-1]["actions"].extend(ACTIONS.label(action) for action in actions)
        self._look(games[i])

    def take_back(self) -> None:
        """The last action was taken back; only for one that brought neither a reshuffle nor the deal's end."""
        self._started()
        self._record["deals"][-1]["actions"].pop()

    def record(self) -> dict[str, Any]:
        """The record so far, as plain Python that ``json`` writes."""
        self._started()
        return json.loads(json.dumps(self._record))

    def _started(self) -> RuleSet:
        if self._rules is None:
            raise RuntimeError("start() comes first")
        return self._rules

    def _look(self, g: np.void) -> None:
        """Note a reshuffle and the deal's end. One action brings one reshuffle at most: it leaves one discard."""
        entry = self._record["deals"][-1]
        if int(g["reshuffles"]) > self._reshuffles:
            self._reshuffles = int(g["reshuffles"])
            entry["reshuffles"].append(format_cards(g["stock"][: int(g["stock_end"])]))
        if int(g["phase"]) == PHASE_OVER:
            entry["scores"] = [int(score) for score in g["deal_scores"][: self._started().num_sides]]
            entry["end"] = END_REASONS[int(g["end_reason"])]
