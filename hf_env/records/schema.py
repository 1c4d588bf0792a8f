"""What a record (``hf-record/1``) must look like before it is played: types and ranges of its fields. See hf_env.records."""

from collections.abc import Mapping
from typing import Any

from hf_env.engine.cards import KIND_CHARS, MAX_CARDS
from hf_env.rules import RulesError, RuleSet, load_rules
from hf_env.rules.errors import shown
from hf_env.seeds import SEEDS_VERSION

FORMAT = "hf-record/1"


class RecordError(ValueError):
    """A record was refused or does not replay; the message is one line that names the first thing that differs."""


def has_own_cards(record: Mapping[str, Any]) -> bool:
    """Whether the record's decks and reshuffles count, and not its seed, of which today's code makes other cards."""
    return bool(record.get("seeds") != SEEDS_VERSION)


def check_seed(seed: int) -> None:
    """Check the seed of a game.

    Raises:
        ValueError: For a number out of 0..2**63 - 1.
    """
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"seed {seed} is not from 0 to 2**63 - 1")


def kinds_of(cards: Any, place: str) -> list[int]:
    """Kinds of the record's text of one card or more.

    Raises:
        RecordError: Naming the place.
    """
    if not isinstance(cards, str) or not 0 < len(cards) <= MAX_CARDS:
        raise RecordError(f"{place}: must be a text of 1 to {MAX_CARDS} cards, not {shown(cards)}")
    wrong = next((card for card in cards if card not in KIND_CHARS), None)
    if wrong is not None:
        raise RecordError(f"{place}: {wrong!r} is no card; cards are {' '.join(KIND_CHARS)}")
    return [KIND_CHARS.index(card) for card in cards]


def check_head(record: Mapping[str, Any]) -> RuleSet:
    """The rule set of a record whose own fields are as they must be.

    Raises:
        RecordError: Naming the field and what is wrong.
    """
    if not isinstance(record, Mapping):
        raise RecordError(f"a record is a table of fields, not {type(record).__name__}")
    if record.get("format") != FORMAT:
        raise RecordError(f"format: must be {FORMAT!r}, not {record.get('format')!r}")
    for name, kind in (("rules", (str, Mapping)), ("seed", int), ("deals", list)):
        if not isinstance(record.get(name), kind) or isinstance(record.get(name), bool):
            raise RecordError(f"{name}: missing or of a wrong type")
    try:
        rules = load_rules(record["rules"])
        check_seed(record["seed"])
    except RulesError as error:
        raise RecordError(f"rules: {error}") from None
    except ValueError as error:
        raise RecordError(f"seed: {error}") from None
    if "seeds" in record and (type(record["seeds"]) is not int or record["seeds"] < 1):
        raise RecordError(f"seeds: must be a whole number from 1, not {shown(record['seeds'])}")
    if record.get("rules_fingerprint", rules.fingerprint) != rules.fingerprint:
        given = record["rules_fingerprint"]
        raise RecordError(f"rules_fingerprint: {given!r} in the record, these rules have {rules.fingerprint!r} now")
    if not record["deals"]:
        raise RecordError("deals: none")
    players = record.get("players")
    if players is not None and (not isinstance(players, list) or len(players) != rules.players):
        raise RecordError(f"players: must be a list of {rules.players} names")
    return rules


def check_entry(entry: Any, where: str, rules: RuleSet, own_cards: bool) -> None:
    """Check a deal's entry of a record.

    Raises:
        RecordError: Where it lacks a field that it needs; more are needed where the record has cards of its own.
    """
    if not isinstance(entry, Mapping):
        raise RecordError(f"{where}: must be a table of fields")
    for name, kind in (("dealer", int), ("deck", str), ("actions", list), ("reshuffles", list), ("deal", int)):
        if name in entry and (not isinstance(entry[name], kind) or isinstance(entry[name], bool)):
            raise RecordError(f"{where}.{name}: of a wrong type")
    for name in ("dealer", "deck", "actions", "scores", "reshuffles")[: 5 if own_cards else 4]:
        if name not in entry:
            raise RecordError(f"{where}.{name}: missing")
    if not 1 <= entry.get("deal", 1) <= 1000:
        raise RecordError(f"{where}.deal: must be from 1 to 1000, not {entry['deal']}")
    if own_cards and not 0 <= entry["dealer"] < rules.players:
        raise RecordError(f"{where}.dealer: must be a seat from 0 to {rules.players - 1}, not {shown(entry['dealer'])}")
    scores = entry["scores"]
    if scores is not None and (not isinstance(scores, list) or len(scores) != rules.num_sides):
        raise RecordError(f"{where}.scores: must be null or a list of {rules.num_sides}")
