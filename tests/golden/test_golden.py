"""Golden games play as they were written down: every mask, observation, state, score and reward."""

import pytest

from tests.golden.games import FOLDER, GAMES, played_labels, trace, versions


@pytest.mark.parametrize("name", GAMES)
def test_a_golden_game_plays_as_written(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    written = text.splitlines()
    assert written[0] == versions(), "a version has changed: write the golden games anew, and say so in the changelog"
    rules, seed, _ = GAMES[name]
    labels = played_labels(text)
    for number, line in enumerate(trace(rules, seed, lambda vec: next(labels)), 1):
        assert line == written[number - 1], f"line {number}; a golden game changes only together with a version"
    assert number == len(written)


def test_the_golden_games_see_much():
    texts = {name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in GAMES}
    everything = "".join(texts.values())
    for wanted in (" take ", " ask ", " yes ", " no ", " meld ", "add 2>", "end out", "end stock", " discard "):
        assert wanted in everything, wanted
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)
