"""The engine's speed beside a fixed NumPy loop, against the stored baseline: a warning, not a failure, where it has fallen."""

import json
import warnings
from pathlib import Path

import pytest

from training.benchmarks import guard

BASELINE = Path(__file__).parent / "baseline.json"


class SlowerWarning(UserWarning):
    """Something is more than 20 % slower, beside NumPy, than when the baseline was written."""


def test_speed_beside_the_numpy_loop():
    ratios = guard.measure_ratios(rounds=5)
    for line in guard.slower(ratios, guard.read_baseline(BASELINE)):
        warnings.warn(line, SlowerWarning, stacklevel=1)
    # So far below the baseline lies no noise: the kernels would be running interpreted.
    for name, ratio in guard.read_baseline(BASELINE).items():
        assert ratios[name] > 0.1 * ratio, name


def test_what_is_a_fifth_slower_is_named():
    baseline = {"a": 2.0, "b": 10.0}
    assert guard.slower({"a": 1.61, "b": 30.0}, baseline) == []
    (line,) = guard.slower({"a": 1.5, "b": 10.0}, baseline)
    assert line == "a: 1.5 times the NumPy loop, 25% below the baseline of 2"
    with pytest.raises(ValueError, match="write a new baseline"):
        guard.slower({"a": 2.0}, baseline)


def test_a_baseline_of_another_loop_is_refused(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(json.loads(BASELINE.read_text()) | {"loop": guard.LOOP_VERSION + 1}))
    with pytest.raises(ValueError, match="write a new baseline"):
        guard.read_baseline(path)


def test_the_loop_is_the_same_each_time():
    one, two = guard.NumpyLoop(), guard.NumpyLoop()
    assert one.play() == two.play() == 20 * 256
    assert (one._out == two._out).all() and one._out.any()
