"""sb3-contrib's MaskablePPO on the Gymnasium form: what it is paid, that it plays legally, and that it learns."""

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed (extra sb3)")

from sb3_contrib.common.maskable.utils import get_action_masks

from hf_env import load_rules
from training.clients import maskable_ppo as client


def test_the_returns_that_it_sees_are_the_engines_scores():
    tables = client.make_tables(50)
    model = client.MaskablePPO("MlpPolicy", tables, seed=3, device="cpu")
    observations = tables.reset()
    games = []
    while len(games) < 100:
        masks = get_action_masks(tables)
        assert masks.shape == (50, 127) and masks.any(1).all()
        actions, _ = model.predict(observations, action_masks=masks)
        # An illegal action would raise here.
        observations, _, _, infos = tables.step(actions)
        games += [info for info in infos if "episode" in info]
    for info in games:
        scores = np.array([deal["scores"] for deal in info["deal_results"]])
        assert len(scores) == load_rules(client.RULES).deals
        own, other = scores.sum(0)
        assert info["episode"]["r"] == pytest.approx((own - other) / 1000, abs=1e-3)
        assert info["terminal_observation"].shape == observations.shape[1:] and not info["TimeLimit.truncated"]
    assert len({info["episode"]["r"] for info in games}) > 90


@pytest.mark.long
def test_it_trains_a_partner_that_beats_random_in_the_same_seat():
    model = client.train(seed=0, decisions=65_536)
    assert model.num_timesteps >= 65_536
    gain = client.worth(client.Trained(model, load_rules(client.RULES)), deals=400, seed=1)
    print(f"\nafter {model.num_timesteps:,} decisions: {gain.mean:+.0f} points a deal ({gain.low:+.0f} to {gain.high:+.0f})")
    assert gain.low > 0 and gain.num_clusters == 50


def test_random_is_worth_as_much_as_random():
    gain = client.worth("random", deals=400, seed=2)
    assert gain.low < 0 < gain.high


def test_training_ends_when_its_time_is_over():
    assert client.train(seed=0, seconds=0.0).num_timesteps == client.TABLES
