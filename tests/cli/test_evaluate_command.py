"""``handfoot evaluate``."""

import json
import subprocess
import sys
import time

import pytest

from agents.play.games import PolicyError

MINI = ("--rules", "mini", "--processes", 1, "--deals")


def test_result_on_the_screen_and_in_a_file(handfoot, tmp_path):
    path = tmp_path / "result.json"
    code, out, err = handfoot("evaluate", "greedy", "random", "--rules", "mini", "--deals", 101, "--seed", 3, "--json", path)
    assert code == 0 and err == ""
    values = json.loads(path.read_text())
    assert values["num_deals"] == 102 and values["verdict"] == "better" and values["seed"] == 3
    assert "rounded up from 101" in out and "greedy is better" in out and "95 % interval" in out
    assert f"{values['difference_a_deal']['mean']:+,.1f} points a deal" in out


def test_few_game_seeds_are_said_to_be_few(handfoot):
    code, out, _ = handfoot("evaluate", "greedy", "random", *MINI, 58)
    assert code == 0 and "verdict        greedy is better" in out
    out = handfoot("evaluate", "greedy", "random", *MINI, 2)[1]
    assert "no interval: one game seed" in out and "inconclusive: one game seed gives no interval; about 10 more deals" in out
    # Against itself: whatever is said, it is not that too few were played.
    assert "inconclusive: the 95 % interval of the difference holds 0" in handfoot("evaluate", "greedy", "greedy", *MINI, 8)[1]


def test_a_policy_against_itself_is_told_apart(handfoot):
    out = handfoot("evaluate", "greedy", "greedy", *MINI, 60)[1]
    assert "greedy (A) against greedy (B)" in out and "+0.0 points a deal, 95 % interval +0.0 to +0.0" in out


def test_rules_may_be_changed_and_several(handfoot):
    code, out, _ = handfoot(
        "evaluate", "random", "greedy", "--rules", "whitnack", "--rules", "family-ask", "--set", "deals=1", "--deals", 4
    )
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
        (("random", "greedy", "--precision", "0"), "--precision"),
        (("random", "greedy", "--precision", "nan"), "--precision"),
        (("random", "greedy", "--processes", "0"), "--processes"),
        (("random", "greedy", "--out", "pyproject.toml"), "pyproject.toml"),
        (("random", "greedy", "--out", "tests"), "is not empty"),
        (("python:", "greedy"), "python:MODULE:NAME"),
        (("python:json", "greedy"), "python:MODULE:NAME"),
        (("python:json:nothing", "greedy"), "cannot be found"),
        (("python:nothing.here:x", "greedy"), "cannot be found"),
        (("python:json:dumps:speed=3", "greedy"), "has no options"),
        (("python:json:decoder", "greedy"), "neither a policy"),
    ],
)
def test_mistakes(mistake, arguments, said):
    assert said in mistake("evaluate", *arguments)


def test_a_folder_that_holds_no_policy(mistake, tmp_path):
    assert "holds no policy" in mistake("evaluate", tmp_path, "greedy")


def test_a_policy_that_fails_is_exit_code_2(handfoot, monkeypatch):
    def fail(*_, **__):
        raise PolicyError("policy 'x' failed")

    monkeypatch.setattr("training.evaluation.evaluate", fail)
    assert handfoot("evaluate", "random", "random", "--processes", 1) == (2, "", "handfoot: policy 'x' failed\n")


def test_an_interruption_is_exit_code_130(handfoot, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("training.evaluation.evaluate", interrupt)
    code, out, err = handfoot("evaluate", "random", "random", "--processes", 1)
    assert (code, out, err.strip()) == (130, "", "handfoot: interrupted")


def test_a_check_of_the_file_leaves_no_file_behind(mistake, tmp_path):
    mistake("evaluate", "greedi", "random", "--json", tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


def test_precision_behaviour_and_seats_are_told(handfoot, tmp_path):
    path = tmp_path / "result.json"
    code, out, _ = handfoot("evaluate", "greedy", "random", *MINI, 60, "--precision", 20, "--json", path)
    values = json.loads(path.read_text())
    assert code == 0 and "an interval of ± 20 points a deal needs about " in out and " more deals" in out
    assert f"would need {values['variance']['times_as_many_deals_unpaired']:.1f} times as many deals" in out
    for label in (
        "opening round",
        "foot round",
        "takes",
        "clean books",
        "dirty books",
        "wild books",
        "gone out",
        "points stranded",
        "asks",
        "answered yes",
    ):
        assert f"\n  {label} " in out
    assert out.count("\n    seat ") == 2 == len(values["seats"])
    assert set(values["more_deals_for"]) == {"100", "50", "25", "20"} and set(values["behaviour"]) == {"a", "b"}
    assert values["behaviour"]["a"]["clean_books"] > values["behaviour"]["b"]["clean_books"]
    assert "needs no more deals" in handfoot("evaluate", "greedy", "random", *MINI, 60, "--precision", 5000)[1]


def test_a_report_with_its_records(handfoot, mistake, tmp_path):
    out = tmp_path / "out"
    code, told, err = handfoot("evaluate", "greedy", "random", *MINI, 70, "--out", out, "--processes", 2)
    assert (code, err) == (0, "") and told.endswith(f"report in {out / 'report.html'}\n")
    assert sorted(path.name for path in out.iterdir()) == ["records", "report.html", "report.json", "results", "settings.json"]
    same = handfoot("evaluate", "greedy", "random", *MINI, 70, "--processes", 1)[1]
    assert told.splitlines()[:-2] == same.splitlines()[:-1]
    code, verified, _ = handfoot("replay", "--verify", out)
    assert code == 0 and "greedy against random: 70 games, 70 deals" in verified and "every figure of the report" in verified
    assert "seed is 0 there and 1 now" in mistake("evaluate", "greedy", "random", *MINI, 70, "--out", out, "--seed", 1)
    values = json.loads((out / "report.json").read_text())
    values["clusters"]["difference_sums"][7] += 5
    (out / "report.json").write_text(json.dumps(values))
    assert "difference_sums are others in the report" in mistake("replay", "--verify", out)


def test_a_policy_of_ones_own(handfoot):
    code, out, _ = handfoot("evaluate", "python:tests.evaluation.players:first_legal", "random", *MINI, 60)
    assert code == 0 and out.startswith("python:tests.evaluation.players:first_legal against random")
    code, out, err = handfoot("evaluate", "python:tests.evaluation.players:Faulty:kind=nan", "random", *MINI, 60)
    assert code == 2 and "not a number among them" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Exits", "failed in act: SystemExit: 3"),
        ("StartExits", "failed in start: SystemExit: 8"),
        ("HardExit", "ended the process that asked it (exit code 3)"),
        ("Sleeps", "did not answer within 0.5 s"),
    ],
)
def test_a_policy_that_fails_in_a_process_ends_the_command(mistake, name, said):
    policy = f"python:tests.evaluation.hostile:{name}"
    started = time.monotonic()
    assert mistake("evaluate", policy, "random", *MINI, 100, "--limit", 0.5) == f"handfoot: policy {policy!r} {said}\n"
    # Asked for all its decisions at once, and once more for one: each with the start of a process.
    assert time.monotonic() - started < 60


def test_what_a_policy_prints_is_kept_apart_from_the_result():
    arguments = ["evaluate", "python:tests.evaluation.hostile:Prints", "random", "--rules", "mini", "--deals", "2", "--limit", "0"]
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "handfoot", *arguments], capture_output=True, text=True, timeout=300, check=True)
    # Its child is still there; the command's streams, and so the reader's wait for their end, are not.
    assert time.monotonic() - started < 55
    assert "noise on stdout" in done.stderr and "noise on descriptor 1" in done.stderr
    assert "noise on" not in done.stdout and done.stdout.startswith("python:tests.evaluation.hostile:Prints against random")


@pytest.mark.parametrize("command", [("evaluate", "{}", "random"), ("tournament", "{}", "random"), ("play", "--others", "{}")])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.evaluation.hostile:InitRaises", "cannot be made: RuntimeError: no init"),
        ("tests.evaluation.hostile:InitExits", "cannot be made: SystemExit: 6"),
        ("raises_on_import:Policy", "cannot be imported: ZeroDivisionError: division by zero"),
        ("exits_on_import:Policy", "cannot be imported: SystemExit: 9"),
        ("broken_file:Policy", "cannot be imported: SyntaxError: "),
        ("lacks_a_library:Policy", "cannot be found: No module named 'no_such_library'"),
    ],
)
def test_a_policy_that_cannot_be_loaded_is_named_with_the_reason(mistake, monkeypatch, tmp_path, command, name, said):
    texts = {
        "raises_on_import": "1 / 0",
        "exits_on_import": "raise SystemExit(9)",
        "broken_file": "x = (",
        "lacks_a_library": "import no_such_library",
    }
    for module, text in texts.items():
        (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert f"'python:{name}' {said}" in mistake(*(part.format(f"python:{name}") for part in command))
