"""The folder of a contest: what is removed from it, and what its files are refused for."""

import json
import shutil

import numpy as np
import pytest

from agents import load
from hf_env.records import RecordError
from hf_env.rules import load_rules
from training.evaluation.matches import duel, play_clusters
from training.evaluation.recount import report_files
from training.evaluation.store import Block, OtherSettingsError, Store

OURS = ("records/draft-000-000000.jsonl.gz", "records/draft-012-000128.jsonl.gz", "results/000-000016.npz.part")
THEIRS = ("records/draft-mine.jsonl.gz", "records/draft-1.jsonl.gz", "records/draft-notes", "results/notes.part", "results/mine.npz.part")


def test_only_drafts_of_its_own_naming_are_removed(tmp_path):
    store = Store(tmp_path / "out", True)
    with store.opened({"seed": 1}):
        for name in (*OURS, *THEIRS):
            (store.folder / name).write_text(name)
        (store.folder / "records" / "draft-folder.jsonl.gz").mkdir()
    with store.opened({"seed": 1}):
        pass
    assert not any((store.folder / name).exists() for name in OURS)
    assert all((store.folder / name).read_text() == name for name in THEIRS)
    assert (store.folder / "records" / "draft-folder.jsonl.gz").is_dir()


RULES = load_rules("mini", deals=2)
MATCH = duel(0, 1, ("random", "greedy"), RULES)
BLOCK = Block(0, 0, 4)
SETTINGS = {"seed": 1}


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    """A folder of a contest with a finished block, and a report."""
    store = Store(tmp_path_factory.mktemp("contest") / "out", False)
    with store.opened(SETTINGS):
        part = play_clusters(MATCH, (load("random"), load("greedy")), ("random", "greedy"), (RULES,), 1, 0, 4)
        store.save(BLOCK, part)
    found = store.load(BLOCK, (MATCH,), 2)
    assert np.array_equal(found.results.totals, part.results.totals) and found.results.num_decisions == part.results.num_decisions
    (store.folder / "records").mkdir()
    (store.folder / "records" / "000-000000.jsonl.gz").write_bytes(b"")
    return store.folder


def crafted(change):
    def craft(path):
        with np.load(path) as held:
            arrays = dict(held)
        change(arrays)
        np.savez_compressed(path, **arrays)

    return craft


def forfeit(**changes):
    values = {"game": 0, "policy": 0, "seat": 0, "deal": 1, "decision": 3, "kind": "time", "reason": "r", "deals": 2} | changes
    return crafted(lambda arrays: arrays.update(forfeits=np.asarray(json.dumps([values]))))


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[:300]),
    "rubbish": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)),
    "an array less": crafted(lambda arrays: arrays.pop("totals")),
    "other games": crafted(lambda arrays: arrays.update(deal_games=arrays["deal_games"] + 10**9)),
    "games below 0": crafted(lambda arrays: arrays.update(deal_games=arrays["deal_games"] - 5)),
    "other totals": crafted(lambda arrays: arrays.update(totals=arrays["totals"] + 5)),
    "floats": crafted(lambda arrays: arrays.update(deal_scores=arrays["deal_scores"] * 1.5)),
    "another shape": crafted(lambda arrays: arrays.update(behaviour_turns=arrays["behaviour_turns"][None])),
    "seats that are not there": crafted(lambda arrays: arrays.update(out_seats=arrays["out_seats"] + 99)),
    "a count of text": crafted(lambda arrays: arrays.update(count=np.asarray("4"))),
    "forfeits that are no list": crafted(lambda arrays: arrays.update(forfeits=np.asarray("{"))),
    "a forfeit of another game": forfeit(game=10**6),
    "a forfeit of another policy": forfeit(policy=7),
    "a forfeit of another kind": forfeit(kind="rain"),
    "a forfeit of more fields": forfeit(more=1),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_results_that_cannot_be_are_refused_in_a_line_that_names_the_file(name, contest, tmp_path):
    shutil.copytree(contest, tmp_path / "out")
    path = min((tmp_path / "out" / "results").iterdir())
    DAMAGE[name](path)
    with pytest.raises(OtherSettingsError, match="without that file its games are played again") as caught:
        Store(tmp_path / "out", False).load(BLOCK, (MATCH,), 2)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "5", "[]", "[" * 10_000, "\x00"])
def test_reports_and_settings_that_cannot_be(text, contest, tmp_path):
    shutil.copytree(contest, tmp_path / "out")
    (tmp_path / "out" / "report.json").write_text(text)
    with pytest.raises(RecordError, match=r"report\.json"):
        report_files(tmp_path / "out")
    (tmp_path / "out" / "settings.json").write_text(text)
    with pytest.raises(OtherSettingsError, match=r"settings\.json"), Store(tmp_path / "out", False).opened(SETTINGS):
        pass
