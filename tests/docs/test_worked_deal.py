"""docs/rewards.md is what its script writes, and its figures hang together."""

import re
import sys

import gymnasium
import numpy as np
import pytest

from hf_env import ACTIONS
from tests.docs.pages import DOCS

sys.path.insert(0, str(DOCS))
import worked_deal


def test_the_page_is_what_the_script_writes():
    text = worked_deal.PAGE.read_text(encoding="utf-8")
    assert worked_deal.page(text) == text, "run python docs/worked_deal.py"


def test_every_reward_and_shaping_has_its_columns():
    text = worked_deal.PAGE.read_text(encoding="utf-8")
    for name in ("none", "table", "full"):
        block = re.search(rf"<!-- generated: shaping {name} -->\n(.*?)<!-- end", text, re.DOTALL)[1]
        assert all(f"`{reward}`: {side}" in block for reward in ("score_difference", "score", "win") for side in worked_deal.SIDES)


@pytest.mark.parametrize("shaping", [None, "table", "full"])
def test_a_step_pays_what_the_counts_changed_by(shaping):
    """The ledger of the page from the page's own counts: the formulas of the text, without the environment's rewards."""
    _, counts = worked_deal.counted()
    scores = np.array(counts[-1][1], float)
    steps = len(worked_deal.PLAYED)
    paid = np.zeros((steps, 2))
    if shaping is not None:
        potential = np.array([row[("table", "full").index(shaping)] for row in counts[:-1]], float)
        potential -= potential[0]
        paid[: steps - 1] = np.diff(potential, axis=0)
    rest = paid.sum(0)
    for reward in ("score_difference", "score", "win"):
        expected = paid.copy()
        expected[-1] = (0 if reward == "win" else scores) - rest
        if reward != "score":
            expected = expected - expected[:, ::-1]
        expected /= 1000
        if reward == "win":
            expected[-1] += np.sign(scores - scores[::-1])
        assert np.abs(worked_deal.ledger(reward, shaping) - expected).max() < 5e-6


def last_column(agent: str) -> list[float]:
    """What the page says that ``last()`` gives an agent, before each of its actions and at the end."""
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in worked_deal.last_block().splitlines()[2:]]
    return [float(reward) for decision, name, reward, _ in rows if name == f"`{agent}`" and "sum" not in decision]


def test_gymnasium_gives_the_same_a_step_earlier():
    rest = iter(worked_deal.PLAYED)

    def play_on(observations, masks):
        return np.array([ACTIONS.parse(next(rest))])

    env = gymnasium.make(
        "HandAndFoot-v0", rules=worked_deal.RULES, seats=dict.fromkeys((1, 2, 3), play_on), shaping="full"
    )  # fmt: skip
    env.reset(seed=worked_deal.SEED)
    rewards, over = [], False
    while not over:
        _, reward, over, _, _ = env.step(ACTIONS.parse(next(rest)))
        rewards.append(reward)
    first, second, *others = last_column("player_0")
    assert len(others) > 2 and np.allclose(rewards, [first + second, *others], atol=1e-6)
