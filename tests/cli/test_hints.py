"""A slip of the keyboard is told the nearest name, wherever a name is chosen from a list; where none is near, nothing is guessed."""

import gymnasium
import pytest

from hf_env import ACTIONS, VectorGame, load_rules
from hf_env.rules import RulesError
from training.config import ConfigError
from training.settings import load_config, parse_settings, with_settings

GAME = ["--rules", "mini", "--deals", "4"]


@pytest.mark.parametrize(
    ("policy", "hint"),
    [
        ("serach", "search"), ("gredy", "greedy"), ("pretraind", "pretrained"), ("pretraind:mode=argmax", "pretrained"),
        ("pretrained:rules=sevral", "several"), ("pretrained:mode=argmx", "argmax"), ("pretrained:mdoe=argmax", "mode"),
        ("pretrained:rule=several", "rules"), ("expert:nosie=0.1", "noise"), ("search:rolouts=9", "rollouts"),
        ("search:player=gredy", "greedy"), ("search:policy=pretraind", "pretrained"),
        ("python:tests.evaluation.players:last_leagl", "last_legal"),
    ],
)  # fmt: skip
def test_policies_and_their_options(mistake, policy, hint):
    said = mistake("evaluate", policy, "greedy", *GAME)
    assert said.rstrip().endswith(f"; did you mean {hint}?") and said.count("did you mean") == 1 and "{" not in said


@pytest.mark.parametrize("policy", ["zzz", "runs/mine", "pretrained:rules=chess", "expert:speed=2", "search:xyz=1", "python:json:zzzz"])
def test_where_no_name_is_near_none_is_guessed(mistake, policy):
    assert "did you mean" not in mistake("evaluate", policy, "greedy", *GAME)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("evaluat",), "evaluate"),
        (("rules", "lst"), "list"),
        (("rules", "show", "whitnak"), "whitnack"),
        (("evaluate", "greedy", "random", "--rules", "famly"), "family"),
        (("evaluate", "greedy", "random", "--set", "deal=3"), "deals"),
        (("evaluate", "greedy", "random", "--set", "permission=nonne"), "none"),
        (("evaluate", "greedy", "random", "--set", "points.acee=15"), "points.ace"),
        (("evaluate", "greedy", "random", "--deal", "3"), "--deals"),
        (("play", "--player", "1=gredy"), "greedy"),
        (("play", "--hint", "gredy"), "greedy"),
    ],
)
def test_commands_rules_and_options(mistake, arguments, hint):
    assert hint in mistake(*arguments).lower().partition("did you mean")[2]


def test_words_at_the_table(play):
    _, out, _ = play(["hnit", "drwa", "taek", "qiut", "frobnicate"], "--rules", "mini", "--seed", 2)
    for word, hint in (("hnit", "hint"), ("drwa", "draw"), ("taek", "take"), ("qiut", "quit")):
        assert f"'{word}' is nothing that can be done here; did you mean {hint}?\n" in out
    assert "'frobnicate' is nothing that can be done here.\n" in out


def test_settings_of_training():
    for text, hint in (("num_game=8", "num_games"), ("network.widht=8", "network.width")):
        with pytest.raises(ConfigError, match=f"did you mean {hint}"):
            with_settings(None, parse_settings([text])[0])
    for settings, hint in (
        ({"seats": ["lerner", "past"]}, "learner"), ({"seats": ["learner", "pool:oponents"]}, "opponents"),
        ({"critic": "all_card"}, "all_cards"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=f"did you mean {hint}"):
            with_settings(None, settings)
    with pytest.raises(ConfigError, match="did you mean quick"):
        load_config("qick")


def test_words_from_python():
    with pytest.raises(RulesError, match="did you mean natural_pair"):
        load_rules(take_key="natural_par")
    with pytest.raises(ValueError, match="did you mean score_difference"):
        VectorGame(1, "mini", reward="score_diference")
    with pytest.raises(ValueError, match="did you mean discard 5"):
        ACTIONS.parse("disard 5")
    with pytest.raises(ValueError, match="did you mean greedy"):
        gymnasium.make("HandAndFoot-v0", rules="mini", seats={1: "gredy"})
