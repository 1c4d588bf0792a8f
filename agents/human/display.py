"""What a person sees of the position: the table, the own hand, the legal actions in groups, the help."""

import numpy as np

from agents.human.screen import Screen
from hf_env.actions import ACTIONS
from hf_env.engine import action_ids as ids
from hf_env.engine.access import most_after
from hf_env.engine.cards import KIND_CHARS, NUM_KINDS, WILD
from hf_env.engine.state import NO_LIMIT, PHASE_DRAW
from hf_env.engine.workspace import make_workspace
from hf_env.rendering.ansi import render_table
from hf_env.rules import RuleSet

# (title, first id, end id): the groups of the list, in the order of the ids.
_GROUPS = (
    ("Begin", ids.DRAW, ids.MELD),
    ("Meld", ids.MELD, ids.ADD),
    ("Add", ids.ADD, ids.ADD_TWO),
    ("Add wild", ids.ADD_TWO, ids.ASK),
    ("Go out?", ids.ASK, ids.YES),
    ("Answer", ids.YES, ids.DISCARD),
    ("Discard", ids.DISCARD, ids.NUM_ACTIONS),
)


def spaced(counts) -> str:
    """Cards by kind with a space between kinds: ``44 5 KKK 2 *``."""
    return " ".join(KIND_CHARS[kind] * int(counts[kind]) for kind in range(NUM_KINDS) if counts[kind] > 0) or "no cards"


def show_table(screen: Screen, g: np.ndarray, rules: RuleSet, seat: int) -> None:
    """The whole table from the seat's place.

    Args:
        g: array of one redacted game.
    """
    side = rules.side_of(seat)
    # Its last lines say whose move it is and what was done last, which a person is told in better words.
    for line in render_table(g, 0, rules, seat).splitlines()[:-2]:
        own = line.startswith(f"Side {side} ") or line.endswith("(you)")
        screen.say(line, "bold" if own or line.startswith("Deal ") else "")


def show_hand(screen: Screen, g: np.void, rules: RuleSet, r: np.void, seat: int) -> None:
    """The own hand, the side's open melds, and how far an opening has come."""
    side = rules.side_of(seat)
    packet = "foot" if g["in_foot"][seat] else "hand"
    melds = [text for text in (_meld(g, side, rank) for rank in range(WILD + 1)) if text]
    if melds:
        screen.say_wrapped(f"Your side's melds: {'  '.join(melds)}", indent="  ")
    size = int(g["hand_sizes"][seat])
    screen.say_wrapped(f"Your {packet}: {spaced(g['hands'][seat])}  ({size} card{'s' * (size != 1)})", "bold", "  ")
    if not g["opened"][side]:
        screen.say_wrapped(_opening(g, rules, r), "yellow", "  ")


def _meld(g: np.void, side: int, rank: int) -> str:
    naturals, twos, jokers = (int(g[name][side, rank]) for name in ("naturals", "twos", "jokers"))
    return (KIND_CHARS[rank] if rank != WILD else "") * naturals + "2" * twos + "*" * jokers


def _opening(g: np.void, rules: RuleSet, r: np.void) -> str:
    minimum = rules.opening_minimum(int(g["deal"]))
    games, records = np.array([g]), np.array([r])
    games["rule"] = 0
    most = int(most_after(games, 0, records, -1, make_workspace()))
    if g["laid"]:
        return f"Opening: {int(g['laid'])} of {minimum} points are laid; the hand can bring it to {most}."
    alone = " alone" if int(g["phase"]) == PHASE_DRAW else ""
    return f"Your side has not opened: that takes {minimum} points in one turn; your hand{alone} can lay {most}."


def show_options(screen: Screen, g: np.void, r: np.void, mask: np.ndarray) -> None:
    """The legal actions, numbered from 1 in the order of their ids."""
    listed = np.flatnonzero(mask)
    for title, first, end in _GROUPS:
        items = [f"[{number}] {_short(int(a), g, r)}" for number, a in enumerate(listed, 1) if first <= a < end]
        if items:
            screen.say_items(title, items)


def _short(action: int, g: np.void, r: np.void) -> str:
    """An action's label without the verb that heads its group, or with what it brings."""
    label = ACTIONS.label(action)
    if action == ids.DRAW:
        count = int(r["draw"][min(int(g["deal"]), len(r["draw"])) - 1])
        stock = int(g["stock_end"]) - int(g["stock_next"])
        return "draw (ends the deal: the stock is short)" if stock < count and not r["reshuffle"] else f"draw {count}"
    if action < ids.MELD:
        size, most = int(g["discard_size"]), int(r["take_count"])
        size = size if most == NO_LIMIT else min(size, most)
        return f"{label} ({size} card{'s' * (size > 1)}, {KIND_CHARS[int(g['discard'][int(g['discard_size']) - 1])]} on top)"
    if ids.YES <= action < ids.DISCARD:
        return label
    return "ask whether you may" if action == ids.ASK else label.split(" ", 1)[1]


HELP = (
    ("What you can type", (
        "a number of the list, or the action in words; case does not matter",
        "draw   take   take+2   take+*   take>meld",
        "meld KKK   meld KK2   meld 22*      start a meld; more cards at once: meld KKKK2, or just KKKK2",
        "add K   add KK   add 2>K            to your side's melds (add 2: to the wild meld)",
        "ask   yes   no                      may I go out?",
        "discard 5                           ends your turn",
        "Beginnings do: t, m kkk, a k, d 5. Several in a line: meld KKK; add 2>K; discard 5",
        "",
        "undo         take back the last lay-down of this turn, as long as it has shown you nothing",
        "hint         what a good player would do here, how surely, and what it expects",
        "table        the whole table        list   what you can do",
        "help or ?    this                   why meld KKK   why it can or cannot be done",
        "quit         leave the table (so do Ctrl-D and Ctrl-C)",
    )),
)  # fmt: skip


def show_help(screen: Screen, rules: RuleSet, deal: int) -> None:
    """The commands, the cards, and the rules that a player needs at hand."""
    for title, lines in HELP:
        screen.say(title, "bold")
        for line in lines:
            screen.say(f"  {line}".rstrip())
    screen.say()
    screen.say("Cards and aims", "bold")
    for line in _aims(rules, deal):
        screen.say_wrapped(f"  {line}", indent="    ")


def _aims(rules: RuleSet, deal: int) -> list[str]:
    points = rules.points
    clean, dirty, wild = rules.quota(deal)
    lines = [
        f"4 to 9, T (ten), J Q K A; wild: 2 and * (joker); b is a black 3, never melded; red 3s lay themselves. Points: "
        f"* {points.joker}, 2 {points.two}, A {points.ace}, 8 to K {points.high}, 4 to 7 {points.low}, b {points.black3}.",
        f"A meld of {rules.book_size} cards is a book: clean {rules.clean_book}, dirty (with wilds) {rules.dirty_book}"
        + (f", wild {rules.wild_book}." if rules.wild_melds else ". Wilds alone make no meld."),
        f"A side's first melds of a deal must come to {rules.opening_minimum(deal)} points in one turn.",
        "Your foot waits until your hand is empty. Cards left in either count against you.",
        f"To go out a side needs {clean} clean, {dirty} dirty, {wild} wild books"
        + (", every partner in the foot" if rules.partner_foot else "")
        + (", and the partner's yes: ask." if rules.permission != "none" else "."),
    ]
    return lines
