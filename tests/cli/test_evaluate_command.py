"""``handfoot evaluate``."""

import json

import pytest

from agents.seating import PolicyError

MINI = ("--rules", "mini", "--deals")


def test_result_on_the_screen_and_in_a_file(handfoot, tmp_path):
    path = tmp_path / "result.json"
    code, out, err = handfoot("evaluate", "greedy", "random", *MINI, 101, "--seed", 3, "--json", path)
    assert code == 0 and err == ""
    values = json.loads(path.read_text())
    assert values["num_deals"] == 102 and values["verdict"] == "better" and values["seed"] == 3
    assert "rounded up from 101" in out and "greedy is better" in out and "95 % interval" in out
    assert f"{values['difference_a_deal']['mean']:+,.1f} points a deal" in out


def test_few_game_seeds_are_said_to_be_few(handfoot):
    code, out, _ = handfoot("evaluate", "greedy", "random", *MINI, 58)
    assert code == 0 and "inconclusive: 29 game seeds are too few, at least 30" in out
    assert "no interval: one game seed" in handfoot("evaluate", "greedy", "random", *MINI, 2)[1]


def test_a_policy_against_itself_is_told_apart(handfoot):
    out = handfoot("evaluate", "greedy", "greedy", *MINI, 60)[1]
    assert "greedy (A) against greedy (B)" in out and "+0.0 points a deal, 95 % interval +0.0 to +0.0" in out


def test_rules_may_be_changed_and_several(handfoot):
    code, out, _ = handfoot("evaluate", "random", "greedy", "--rules", "whitnack", "--rules", "family-ask", "--set", "deals=1", "--deals", 4)
    assert code == 0 and "under whitnack, family-ask" in out and "4 deals: 4 games, 2 game seeds" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("greedi", "random"), "did you mean greedy"),
        (("greedy", "nothing/here"), "nothing/here"),
        (("greedy", ""), "names no policy"),
        (("greedy", ":a=b"), "names no policy"),
        (("random:speed=2", "greedy"), "speed"),
        (("random", "greedy", "--deals", "0"), "--deals"),
        (("random", "greedy", "--deals", "many"), "--deals"),
        (("random", "greedy", "--seed", "-1"), "--seed"),
        (("random", "greedy", "--rules", "whitnak"), "did you mean whitnack"),
        (("random", "greedy", "--rules", "none.toml"), "none.toml"),
        (("random", "greedy", "--set", "deals"), "KEY=VALUE"),
        (("random", "greedy", "--set", "deal=3"), "did you mean deals"),
        (("random", "greedy", "--set", "deals=99"), "deals = 99"),
        (("random", "greedy", "--rules", "whitnack", "--rules", "mini"), "equal numbers of seats"),
        (("random", "greedy", "--json", "no/such/folder/x.json"), "no folder"),
        (("random", "greedy", "--json", "."), "--json"),
    ],
)
def test_mistakes(mistake, arguments, said):
    assert said in mistake("evaluate", *arguments)


def test_a_folder_that_holds_no_policy(mistake, tmp_path):
    assert "holds no policy" in mistake("evaluate", tmp_path, "greedy")


def test_a_policy_that_fails_is_exit_code_1(handfoot, monkeypatch):
    def fail(*_, **__):
        raise PolicyError("policy 'x' failed")

    monkeypatch.setattr("training.evaluation.evaluate", fail)
    assert handfoot("evaluate", "random", "random") == (1, "", "handfoot: policy 'x' failed\n")


def test_an_interruption_is_exit_code_130(handfoot, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("training.evaluation.evaluate", interrupt)
    code, out, err = handfoot("evaluate", "random", "random")
    assert (code, out, err.strip()) == (130, "", "handfoot: interrupted")


def test_a_check_of_the_file_leaves_no_file_behind(mistake, tmp_path):
    mistake("evaluate", "greedi", "random", "--json", tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []
