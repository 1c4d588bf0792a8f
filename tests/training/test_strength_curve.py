"""The curve over a run's frozen selves: all of them, in order, against anchors that stay, and damage told in a line."""

import json

from click.testing import CliRunner

from agents.neural import NetworkConfig
from tests.training.helpers import small_config
from training.sessions import train
from training.studies.strength_curve import frozen_selves, main


def test_every_frozen_self_and_the_last_policy_are_measured(tmp_path):
    config = small_config(
        rules="mini", decisions_budget=8000, pool_interval=0.2, pool_size=2, num_games=16, num_evaluations=0, checkpoint_seconds=0.01,
        network=NetworkConfig(width=8, rank_width=8),
    )  # fmt: skip
    result = train(config, tmp_path / "run", show_progress=False)
    selves = frozen_selves(tmp_path / "run")
    decisions = [number for number, _ in selves]
    # Those too that the league no longer draws from.
    assert len(selves) == 5 and decisions == sorted(decisions) and decisions[-1] == result.decisions
    done = CliRunner().invoke(main, [str(tmp_path / "run"), "--deals", "8"], catch_exceptions=False)
    assert done.exit_code == 0 and done.output.count("\n") == 2 + len(selves) and done.output.count("itself") == 1
    rows = json.loads((tmp_path / "run" / "strength_curve.json").read_text())["rows"]
    assert [row["decisions"] for row in rows] == decisions and sum(row.get("is_best_frozen", False) for row in rows) == 1
    for row in rows:
        assert all(row[name]["low"] <= row[name]["mean"] <= row[name]["high"] for name in ("random", "greedy", "expert"))
    seconds = [row["seconds"] for row in rows]
    assert seconds == sorted(seconds) and seconds[-1] > 0
    assert (tmp_path / "run" / "strength_curve.png").read_bytes()[:4] == b"\x89PNG"
    # A damaged self is named.
    next((tmp_path / "run" / "pool").iterdir()).write_bytes(b"nothing")
    done = CliRunner().invoke(main, [str(tmp_path / "run"), "--deals", "8"])
    assert done.exit_code == 2 and "is damaged" in done.output and done.output.count("\n") == 1
