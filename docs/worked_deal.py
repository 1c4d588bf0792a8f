"""The worked deal of docs/rewards.md: ``python docs/worked_deal.py`` writes its tables anew; a test compares.

The deal is given by a seed and its actions, so the page does not change when a player does.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hf_env import ACTIONS, VectorGame, hand_and_foot_v0, load_rules
from hf_env.engine.cards import format_counts
from hf_env.vector.game import END_REASONS, REWARDS, SHAPINGS

PAGE = Path(__file__).parent / "rewards.md"
RULES = load_rules("mini", players=4, seating="pairs", decks=2, permission="binding_no")
SEED = 477
# Found by letting `greedy` play the seeds from 0: the shortest deal with a question to the partner.
PLAYED = (
    "take+2", "meld KK*", "discard 5",
    "draw", "discard b",
    "draw", "add 4", "discard A",
    "draw", "discard b",
    "draw", "add K", "discard b",
    "draw", "discard A",
    "draw", "discard 5",
    "draw", "discard K",
    "draw", "ask", "yes", "meld TT2", "discard 8",
)  # fmt: skip
THREE = load_rules("mini", players=3, decks=2)
SIDES = ("seats 0, 2", "seats 1, 3")


def table(head: list[str], rows: list[list], align: str) -> str:
    """A Markdown table. align: a letter a column, l or r."""
    marks = ["---" if each == "l" else "--:" for each in align]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in [head, marks, *rows])


def points(value: float) -> str:
    """A reward of whole points / 1,000 with its sign, 0 as 0."""
    return "0" if abs(value) < 5e-4 else f"{value:+.3f}"


def game(reward: str, shaping: str | None) -> VectorGame:
    """The deal at its beginning."""
    vec = VectorGame(1, RULES, reward=reward, shaping=shaping, autoreset="DISABLED")
    vec.reset(game_seeds=[SEED])
    return vec


def ledger(reward: str, shaping: str | None) -> np.ndarray:
    """(decisions, sides) the rewards of each decision; partners are checked to get the same."""
    vec, rows = game(reward, shaping), []
    for label in PLAYED:
        vec.step([ACTIONS.parse(label)])
        assert (vec.rewards[0, :2] == vec.rewards[0, 2:]).all()
        rows.append(vec.rewards[0, :2].tolist())
    assert vec.terminated[0]
    return np.array(rows)


def counted() -> tuple[list[int], np.ndarray]:
    """Seats (T,) of the decisions, and (T + 1, 2 kinds, sides) points that the potentials count, before and after each."""
    vecs = [game("score", shaping) for shaping in ("table", "full")]
    seats, rows = [], [[vec.games[0]["potential"][:2].tolist() for vec in vecs]]
    for label in PLAYED:
        seats.append(int(vecs[0].seats[0]))
        for vec in vecs:
            vec.step([ACTIONS.parse(label)])
        rows.append([vec.games[0]["potential"][:2].tolist() for vec in vecs])
    # Once the deal is over the record holds the potentials' start again; the score is what was counted.
    rows[-1] = [[None, None], vecs[0].deal_scores[0].tolist()]
    return seats, np.array(rows, object)


def deal_block() -> str:
    """What was dealt, and the deal decision by decision."""
    seats, counts = counted()
    start = game("score", None).games[0]
    hands = [[f"{seat}", f"`{format_counts(start['hands'][seat])}`", f"`{format_counts(start['feet'][seat])}`"] for seat in range(4)]
    rows = [["", "", "dealt", *counts[0].reshape(-1)]]
    for number, (seat, label) in enumerate(zip(seats, PLAYED, strict=True), 1):
        shown = ["" if value is None else value for value in counts[number].reshape(-1)]
        rows.append([number, seat, f"`{label}`", *shown])
    head = ["decision", "seat", "action", "open, side 0", "open, side 1", "if it ended now, side 0", "if it ended now, side 1"]
    return "\n\n".join([table(["seat", "hand", "foot"], hands, "rll"), table(head, rows, "rrlrrrr")])


def score_block() -> str:
    """How the deal ended, and its raw points."""
    vec = game("score", None)
    for label in PLAYED:
        vec.step([ACTIONS.parse(label)])
    a, b = vec.deal_scores[0].tolist()
    reason, seat = END_REASONS[int(vec.end_reasons[0])], int(vec.ended[0]["out_seat"])
    rows = [
        ["score of the deal, points", a, b],
        ["`score_difference`", points((a - b) / 1000), points((b - a) / 1000)],
        ["`score`", points(a / 1000), points(b / 1000)],
        ["`win`, this game being one deal", f"{np.sign(a - b):+d}", f"{np.sign(b - a):+d}"],
    ]
    ended = f"It ended by `{reason}`, seat {seat} going out. What each setting makes of it:"
    return f"{ended}\n\n{table(['', *SIDES], rows, 'lrr')}"


def rewards_block(shaping: str | None) -> Callable[[], str]:
    """What makes the table of one shaping: each decision that pays, and the sums."""

    def make() -> str:
        ledgers = [ledger(reward, shaping) for reward in REWARDS]
        seats, _ = counted()
        paid = np.concatenate(ledgers, 1)
        rows = [
            [number + 1, seats[number], f"`{PLAYED[number]}`", *map(points, paid[number])]
            for number in range(len(PLAYED))
            if np.abs(paid[number]).max() > 5e-4
        ]
        rows.append(["**sum**", "", "", *(f"**{points(value)}**" for value in paid.sum(0))])
        head = ["decision", "seat", "action", *(f"`{reward}`: {side}" for reward, side in itertools.product(REWARDS, SIDES))]
        return table(head, rows, "rrlrrrrrr")

    return make


def last_block() -> str:
    """What env.last() gives each agent, with the reward score_difference and the shaping full."""
    env = hand_and_foot_v0.env(rules=RULES, reward="score_difference", shaping="full")
    env.reset(seed=SEED)
    labels, rows, sums = iter(PLAYED), [], dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        sums[agent] += reward
        label = None if terminated else next(labels)
        shown = "" if label is None else f"`{label}`"
        rows.append([len(rows) + 1 if label else "end", f"`{agent}`", points(reward), shown])
        env.step(None if label is None else ACTIONS.parse(label))
    rows += [["**sum**", f"`{agent}`", f"**{points(total)}**", ""] for agent, total in sums.items()]
    return table(["decision", "agent", "`last()` gives", "then it plays"], rows, "rlrl")


def three_block() -> str:
    """The end of a deal of three lone players, who play the legal action of the lowest number."""
    rows = []
    for reward in REWARDS:
        vec = VectorGame(1, THREE, reward=reward, autoreset="DISABLED")
        vec.reset(game_seeds=[SEED])
        while not vec.terminated[0]:
            vec.step(vec.action_masks.argmax(1))
        rows.append([f"`{reward}`", *map(points, vec.rewards[0])])
    scores = ["score of the deal, points", *vec.deal_scores[0].tolist()]
    return table(["", "seat 0", "seat 1", "seat 2"], [scores, *rows], "lrrr")


BLOCKS: dict[str, Callable[[], str]] = {
    "deal": deal_block,
    "scores": score_block,
    "shaping none": rewards_block(None),
    "shaping table": rewards_block("table"),
    "shaping full": rewards_block("full"),
    "last": last_block,
    "three sides": three_block,
}
assert [f"shaping {shaping or 'none'}" for shaping in SHAPINGS] == [name for name in BLOCKS if name.startswith("shaping")]


def page(text: str) -> str:
    """The page's text with its tables made anew."""
    from hf_env.observation.document import with_tables

    return with_tables(PAGE.name, text, BLOCKS)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote the tables of {PAGE.name}")
