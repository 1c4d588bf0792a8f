"""The compiler plumbing: calls by mistake, other versions of Numba, stock Numba."""

import json
import subprocess
import sys

import numpy as np
import pytest

from hf_env.engine.melds import open_size
from hf_env.kernels.compile import INTERPRETED
from hf_env.kernels.mode import check_version
from tests.architecture.digest import all_lines
from tests.architecture.subprocesses import run_python

RUN = "from tests.architecture.digest import all_lines; import json; print(json.dumps(all_lines({scale})))"


@pytest.mark.skipif(INTERPRETED, reason="interpreted a kernel is an ordinary function")
def test_a_kernel_called_from_python_is_an_error_and_not_the_end_of_the_process():
    with pytest.raises(TypeError, match="open_size is a kernel, which only kernels can call"):
        open_size(np.zeros(1), 0, 0)


def test_another_version_of_numba_gets_a_line():
    with pytest.warns(UserWarning, match=r"tested with Numba 0\.61, 0\.68, and this is 0\.70\.1"):
        check_version("0.70.1")


def test_the_version_of_the_constraints_is_a_tested_one():
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import hf_env.kernels.mode"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.long
def test_stock_numba_says_the_same(tmp_path):
    variables = {"HF_ENV_PLAIN_NUMBA": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    theirs = json.loads(run_python(RUN.format(scale=3), **variables, timeout=3000))
    assert theirs == all_lines(3)
