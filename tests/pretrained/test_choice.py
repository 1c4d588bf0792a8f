"""``pretrained`` plays as the shipped player that knows the rules best, says who that was, and refuses only where none can sit."""

import hashlib
import json
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import agents
from agents.play.judging import UnfitPolicyError
from agents.play.remarks import remark_lines
from agents.policy import UntrainedRulesWarning
from agents.registry import load, parse_spec
from agents.search import SearchPolicy
from agents.shipped import PLAYERS, ChoosingPolicy, choose, chosen_spec, shipped_players
from hf_env import hand_and_foot_v0
from hf_env.rules import diff_rules, list_rules, load_rules
from training.cli.main import run
from training.cli.tournament import summary
from training.evaluation import evaluate
from training.evaluation.contests import Plan, _fingerprint, tournament
from training.evaluation.worker import fingerprint

WHITNACK, FAMILY = load_rules("whitnack"), load_rules("family")


def actions_of(policy, rules, seed=5):
    """The actions of games in which the policy sits on one side, as one hash."""
    records = []
    agents.play_games(
        [policy, "greedy"], np.array([[0, 1] * 2, [1, 0] * 2]), np.arange(2), rules=rules, seed=seed, names=["a", "b"],
        on_record=lambda game, record: records.append((game, record["rules_fingerprint"], [deal["actions"] for deal in record["deals"]])),
    )  # fmt: skip
    return hashlib.sha256(json.dumps(sorted(records)).encode()).hexdigest()


@pytest.mark.parametrize("rules", list_rules())
def test_the_choice_is_trained_under_the_rules_or_the_nearest(rules):
    rules = load_rules(rules)
    fits = [player for player in shipped_players() if player.table == (rules.players, rules.num_sides)]
    if not fits:
        with pytest.raises(ValueError, match=f"made for {rules.players} seats in {rules.num_sides} sides; .* tables of 4 seats in 2 sides"):
            choose(rules)
        return
    number = {player.name: min(len(diff_rules(own, rules)) for own in player.rules) for player in fits}
    chosen = choose(rules)
    assert number[chosen.name] == min(number.values())
    knows = [player for player in fits if rules in player.rules]
    assert not knows or chosen in knows


def test_a_tie_goes_to_the_one_that_knows_fewer_rule_sets():
    for rules in (WHITNACK, load_rules("whitnack", deals=1), load_rules("brouillette")):
        assert choose(rules).name == "whitnack"
    # What is one option from family is nearer to the other.
    assert choose(load_rules("family", deals=1)).name == "several"
    # One choice for rule sets together, as a network that learns on needs.
    assert choose(WHITNACK, FAMILY).name == "several"


@pytest.mark.parametrize("mode", ["", "mode=argmax"])
@pytest.mark.parametrize(("rules", "name"), [(WHITNACK, "whitnack"), (FAMILY, "several")])
def test_it_plays_as_the_chosen_one(mode, rules, name):
    played = actions_of(f"pretrained:{mode}" if mode else "pretrained", rules)
    assert played == actions_of(f"pretrained:rules={name}" + (f",{mode}" if mode else ""), rules)


def test_a_match_of_several_rule_sets_has_one_choice_a_rule_set():
    sets = [load_rules("whitnack", deals=1), load_rules("family", deals=1)]
    games = {}
    for policy in ("pretrained", *(f"pretrained:rules={name}" for name in PLAYERS)):
        records = {}
        with pytest.warns(UntrainedRulesWarning):
            agents.play_games(
                [policy, "greedy"], np.array([[0, 1] * 2] * 8), np.arange(8), rules=sets, names=["a", "b"],
                on_record=lambda game, record, into=records: into.update({game: record}),
            )  # fmt: skip
        games[policy] = records
    fingerprints = {record["rules_fingerprint"] for record in games["pretrained"].values()}
    assert len(fingerprints) == 2
    for game, record in games["pretrained"].items():
        name = "whitnack" if record["rules_fingerprint"] == sets[0].fingerprint else "several"
        assert record["deals"] == games[f"pretrained:rules={name}"][game]["deals"]


def test_a_search_has_the_chosen_one_inside():
    search = load("search:policy=pretrained,rollouts=8,mode=argmax")
    assert isinstance(search, ChoosingPolicy)
    inside = search.player_for(FAMILY)
    assert isinstance(inside, SearchPolicy) and inside.name == "search:rollouts=8,policy=pretrained,rules=several,mode=argmax"
    env = hand_and_foot_v0.env(rules="family")
    env.reset(seed=3)
    found, named = (agents.analyse(f"search:policy=pretrained,{rules}rollouts=8", env) for rules in ("", "rules=several,"))
    assert replace(found, policy=named.policy) == named
    assert any(move.points is not None for move in found.legal)
    with pytest.raises(ValueError, match="pretrained is chosen by the rules"):
        SearchPolicy(policy="pretrained")


def test_before_the_rules_are_known_it_says_so():
    env = hand_and_foot_v0.env()
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match=r"pretrained chooses its player by the rules: start\(num_games, rules, seed\) comes"):
        load("pretrained").act(env.unwrapped.decision())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("rules", ["family", ["family", "whitnack"]])
def test_it_sits_at_the_gymnasium_table(rules):
    env = gymnasium.make("HandAndFoot-v0", rules=rules, seats={1: load("pretrained:mode=argmax")}, disable_env_checker=True)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        env.step(int(np.flatnonzero(info["action_mask"])[0]))


def test_the_result_names_who_played():
    result = evaluate("pretrained", "greedy", deals=8, rules=[WHITNACK, FAMILY])
    assert remark_lines(result.remarks) == [
        "pretrained played as pretrained:rules=whitnack under whitnack", "pretrained played as pretrained:rules=several under family",
    ]  # fmt: skip
    assert result.to_json()["remarks"] == [
        {"policy": "pretrained", "rules": "whitnack", "player": "pretrained:rules=whitnack", "untrained": ""},
        {"policy": "pretrained", "rules": "family", "player": "pretrained:rules=several", "untrained": ""},
    ]
    assert not evaluate("pretrained:rules=several", "greedy", deals=8).remarks


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_contest_names_who_played_and_knows_them_again(tmp_path):
    plan = Plan(deals=2, rules=load_rules("whitnack", deals=1), processes=1, out=tmp_path / "cup")
    with pytest.warns(UntrainedRulesWarning, match="pretrained was trained under whitnack; under whitnack with other options"):
        result = tournament(["pretrained", "search:policy=pretrained,rollouts=2", "random"], plan)
    digests = json.loads((tmp_path / "cup" / "settings.json").read_text())["checkpoints"]
    infos = [load(f"pretrained:rules={name}").info["sha256"] for name in PLAYERS]
    assert digests == [infos[0], infos[0], None]
    said = json.loads((tmp_path / "cup" / "report.json").read_text())["remarks"]
    assert [entry["player"] for entry in said] == ["pretrained:rules=whitnack", "search:rollouts=2,policy=pretrained,rules=whitnack"]
    lines = remark_lines(result.remarks)
    assert all(entry["untrained"] for entry in said) and len(lines) == 4 and summary(result).splitlines()[-4:] == lines


def test_under_several_rule_sets_a_contest_knows_all_who_play():
    rules, infos = [WHITNACK, FAMILY, load_rules("family-ask")], [load(f"pretrained:rules={name}").info["sha256"] for name in PLAYERS]
    for text in ("pretrained", "search:policy=pretrained"):
        spec = parse_spec(text)
        # By the name alone where the contest begins, by what was loaded where it is played.
        assert _fingerprint(spec, spec, rules) == fingerprint(spec, load(spec), rules) == "+".join(infos)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_commands_say_it_beside_the_figures(capsys, tmp_path):
    played = "pretrained played as pretrained:rules=whitnack under brouillette"
    warned = "pretrained was trained under whitnack; under brouillette"
    options = ["--rules", "brouillette", "--set", "deals=1", "--deals", "2", "--processes", "1"]
    commands = (
        ["evaluate", "pretrained", "greedy", *options, "--json", str(tmp_path / "it.json")],
        ["crossplay", "pretrained", "random", "--opponents", "greedy", *options, "--out", str(tmp_path / "c")],
    )
    for command in commands:
        assert run(command) == 0
        out, err = capsys.readouterr()
        assert err.splitlines()[0] == "pretrained plays as pretrained:rules=whitnack"
        lines = [line.strip() for line in out.splitlines() if not line.startswith("report in")]
        assert lines[-2] == played and lines[-1].startswith(warned), command[0]
    assert [entry["player"] for entry in json.loads((tmp_path / "it.json").read_text())["remarks"]] == ["pretrained:rules=whitnack"]
    assert played in (tmp_path / "c" / "report.html").read_text()


def test_where_none_can_sit_one_line_says_which_tables_there_are(capsys):
    for command in (["evaluate"], ["evaluate", "--processes", "2"], ["tournament"], ["play"]):
        seats = ["--others", "pretrained"] if command[0] == "play" else ["pretrained", "greedy", "--deals", "8"]
        assert run([*command, *seats, "--rules", "mini"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "was made for 2 seats in 2 sides; they play at tables of 4 seats in 2 sides" in said
    with pytest.raises(UnfitPolicyError, match="'pretrained' cannot play here"):
        evaluate("pretrained", "greedy", deals=8, rules="mini")


def test_training_goes_on_from_the_chosen_one():
    from training.config import ConfigError
    from training.learning.initial import chosen_initial, load_initial

    for rules, name in (([WHITNACK], "whitnack"), ([FAMILY], "several"), ([WHITNACK, FAMILY], "several")):
        assert chosen_initial("pretrained", rules) == f"pretrained:rules={name}"
        assert load_initial("pretrained", rules).config == load(f"pretrained:rules={name}").network.config
    with pytest.raises(ConfigError, match="initial_policy: no shipped player was made for 2 seats"):
        load_initial("pretrained", [load_rules("mini")])
    assert chosen_initial("runs/mine", [FAMILY]) == "runs/mine"


def test_a_spec_that_names_its_player_is_left_as_it_is():
    for text in ("pretrained:rules=several,mode=argmax", "search:policy=pretrained,rules=several", "greedy", "runs/x:mode=argmax"):
        spec = parse_spec(text)
        assert chosen_spec(spec, load_rules("mini")) is spec
