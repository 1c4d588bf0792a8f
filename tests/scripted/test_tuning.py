"""The search for the weights of `expert` goes on where it stopped, and leaves a record."""

import json

import numpy as np

from agents.scripted.expert.tuned import tuned_for
from agents.scripted.expert.weights import HIGH, LOW
from hf_env.rules import load_rules
from training.studies.tune_expert import search

SETTINGS = {"rule_names": ["mini"], "num_deals": 20, "population": 4, "sigma": 0.1, "seed": 3}


def test_a_search_in_two_parts_is_the_search_in_one(tmp_path):
    start = tuned_for(load_rules("mini"))
    whole = search(tmp_path / "whole", start, generations=4, **SETTINGS)
    search(tmp_path / "parts", start, generations=2, **SETTINGS)
    parts = search(tmp_path / "parts", start, generations=4, **SETTINGS)
    np.testing.assert_array_equal(whole, parts)
    assert (whole != start).any() and (whole >= LOW).all() and (whole <= HIGH).all()
    lines = [[json.loads(line) for line in (tmp_path / name / "log.jsonl").read_text().splitlines()] for name in ("whole", "parts")]
    assert [line["generation"] for line in lines[0]] == [1, 2, 3, 4]
    assert [line["best"] for line in lines[0]] == [line["best"] for line in lines[1]]
