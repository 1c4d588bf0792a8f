"""``handfoot tournament`` and ``handfoot crossplay``."""

import json

import pytest

from training.cli import contest as cli_contest

PLAYERS = "python:tests.evaluation.players"
MINI = ("--rules", "mini", "--deals", 64, "--processes", 1)


def test_a_tournament_with_its_report(handfoot, tmp_path):
    out = tmp_path / "out"
    code, told, err = handfoot("tournament", "random", "greedy", f"{PLAYERS}:Faulty:kind=nan", *MINI, "--out", out)
    assert (code, err) == (0, "")
    assert told.startswith("3 policies under mini, seed 0\n") and told.endswith(f"report in {out / 'report.html'}\n")
    assert "\n         1  greedy " in told and "Every pair has an order." in told
    assert f"  {PLAYERS}:Faulty:kind=nan: 128; the first: policy '{PLAYERS}:Faulty:kind=nan' returned float64" in told
    values = json.loads((out / "report.json").read_text())
    assert values["order"]["ranks"]["greedy"] == [1, 1] and len(values["forfeits"]) == 128
    assert sorted(path.name for path in out.iterdir()) == ["records", "report.html", "report.json", "results", "settings.json"]
    code, verified, _ = handfoot("replay", "--verify", out)
    assert code == 0 and "every figure of the report's matches is that of the records" in verified and "64 forfeited" in verified
    again = handfoot("tournament", "random", "greedy", f"{PLAYERS}:Faulty:kind=nan", *MINI, "--out", out)
    assert again == (0, told, "")


def test_no_records(handfoot, tmp_path):
    out = tmp_path / "out"
    assert handfoot("tournament", "random", "greedy", *MINI, "--no-records", "--out", out)[0] == 0
    assert not (out / "records").exists() and "records/*" not in (out / "report.html").read_text()


def test_a_crossplay_with_its_report(handfoot, tmp_path):
    out = tmp_path / "out"
    settings = ("--opponents", "random", "--set", "deals=1", "--deals", 64, "--processes", 1, "--out", out)
    code, told, err = handfoot("crossplay", "greedy", f"{PLAYERS}:first_legal", *settings)
    assert (code, err) == (0, "")
    values = json.loads((out / "report.json").read_text())
    for name in ("self_play", "cross_play", "gap"):
        one = values[name]
        assert f"{one['mean']:+,.1f}, 95 % interval {one['low']:+,.1f} to {one['high']:+,.1f}" in told
    assert f"of greedy: {PLAYERS}:first_legal" in told and [one["num_clusters"] for one in values["matches"]] == [16] * 3
    assert handfoot("replay", "--verify", out)[0] == 0


@pytest.mark.parametrize("command", ["tournament", "crossplay"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "POLICY"),
        (("greedy",), "needs 2 to 100 policies, not 1"),
        (("greedy", "random", "greedy"), "'greedy' is named 2 times"),
        (("greedi", "random"), "did you mean greedy"),
        (("greedy", "random", "--deals", 0), "--deals"),
        (("greedy", "random", "--rules", "whitnak"), "did you mean whitnack"),
        (("greedy", "random", "--limit", -1), "--limit"),
        (("greedy", "random", "--limit", "nan"), "--limit"),
        (("greedy", "random", "--forfeit-points", 5), "--forfeit-points"),
        (("greedy", "random", "--processes", 0), "--processes"),
        (("greedy", "random", "--out", "tests"), "is not empty"),
        (("greedy", "random", "--out", "pyproject.toml"), "pyproject.toml"),
    ],
)
def test_mistakes(mistake, command, arguments, said):
    assert said in mistake(command, *arguments)


def test_mistakes_leave_no_folder(mistake, tmp_path):
    out = tmp_path / "out"
    assert "each side is one seat" in mistake("crossplay", "greedy", "random", "--rules", "mini", "--out", out)
    assert "greedi" in mistake("crossplay", "greedy", "random", "--opponents", "greedi", "--out", out)
    assert not out.exists()


def test_a_policy_for_another_table_is_refused(mistake, tmp_path):
    refused = mistake("tournament", "greedy", f"{PLAYERS}:ForFour", *MINI, "--out", tmp_path / "out")
    assert "cannot play here: made for 4 seats, not 2" in refused


def test_what_is_to_be_installed_is_named(handfoot, monkeypatch, tmp_path):
    monkeypatch.setattr(cli_contest, "NEEDED", ("choix", "no_such_library"))
    code, out, err = handfoot("tournament", "greedy", "random", "--out", tmp_path / "out")
    assert (code, out) == (2, "") and "reports need no_such_library: pip install" in err and err.count("\n") == 1


def test_help_tells_the_values_that_are_used(handfoot):
    from training.evaluation.contests import Plan

    text = " ".join(handfoot("tournament", "--help")[1].split())
    assert f"default: {Plan.limit_seconds}" in text and f"default: {Plan.forfeit_points}" in text and f"default: {Plan.deals}" in text
