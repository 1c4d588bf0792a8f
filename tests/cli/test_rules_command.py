"""``handfoot rules``."""

import pytest

from hf_env.rules import list_rules, load_rules
from tests.rules.test_broken_files import FILES


def test_list_has_every_named_set(handfoot):
    code, out, _ = handfoot("rules", "list")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == list_rules()


@pytest.mark.parametrize("name", list_rules())
def test_what_show_prints_is_that_rule_set(handfoot, tmp_path, name):
    path = tmp_path / "shown.toml"
    code, out, _ = handfoot("rules", "show", name)
    path.write_text(out)
    assert code == 0 and load_rules(path) == load_rules(name)


def test_show_with_changes_and_from_a_file(handfoot, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('preset = "family"\ndeals = 3\n')
    out = handfoot("rules", "show", path, "--set", "points.ace=15")[1]
    assert "\ndeals = 3\n" in out and "\npoints.ace = 15\n" in out


def test_show_the_source(handfoot, mistake):
    assert "source S1" in handfoot("rules", "show", "whitnack", "--source")[1]
    assert "--source" in mistake("rules", "show", "whitnack", "--source", "--set", "deals=1")
    assert "nothing" in mistake("rules", "show", "nothing", "--source")


def test_check(handfoot, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('preset = "family"\ndeals = 3\n')
    code, out, err = handfoot("rules", "check", path)
    assert code == 0 and err == "" and "valid: 4 players in pairs" in out and "based on family, 1 option changed" in out
    assert "nothing changed" in handfoot("rules", "check", "mini")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deals = 0\n", "deals = 0"),
        ("dealz = 3\n", "did you mean deals"),
        ("deals = \n", "mine.toml"),
        ("players = 6\ndecks = 1\n", "decks"),
        ("\0\1\2", "mine.toml"),
    ],
)
def test_check_says_what_is_wrong(mistake, tmp_path, text, said):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert said in mistake("rules", "check", path)


@pytest.mark.parametrize("name", FILES)
def test_every_broken_file_is_refused(mistake, tmp_path, name):
    path = tmp_path / "house.toml"
    path.write_bytes(FILES[name])
    assert "house.toml" in mistake("rules", "check", path)


def test_a_file_of_50_megabytes_is_refused(mistake, tmp_path):
    path = tmp_path / "large.toml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    for arguments in (("rules", "check", path), ("rules", "show", path), ("bench", "--rules", path), ("play", "--rules", path)):
        assert "52,428,800 bytes" in mistake(*arguments)


def test_diff(handfoot, mistake):
    code, out, _ = handfoot("rules", "diff", "whitnack", "bicycle")
    rows = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert code == 0 and out.split()[:2] == ["whitnack", "bicycle"]
    assert rows["hand_size"].split() == ["hand_size", "13", "11"] and "deals" not in rows
    assert handfoot("rules", "diff", "mini", "mini")[1] == "they play the same\n"
    assert "bycicle" in mistake("rules", "diff", "whitnack", "bycicle")
