"""What an installation needs to hold, read from the files that say so."""

import os
import re
import stat
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FILES = ("pyproject.toml", "constraints.txt", "Makefile", ".ci/run")


def _name(requirement: str) -> str:
    return re.split(r"[<>=\[;! ]", requirement)[0].lower().replace("_", "-")


def _pinned() -> dict[str, str]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    return {_name(line): line.partition("==")[2] for line in lines}


def test_each_dependency_is_pinned_for_make():
    project = PROJECT["project"]
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    # An extra may name others of this project, as hf-env[train].
    assert {_name(one) for one in wanted} - {"hf-env"} <= set(_pinned())
    assert all(version and "+" not in version for version in _pinned().values())


def test_core_needs_no_torch():
    assert not any(_name(one) == "torch" for one in PROJECT["project"]["dependencies"])


def test_scripts_and_policies_exist():
    from importlib import import_module

    project = PROJECT["project"]
    points = list(project["scripts"].values()) + list(project["entry-points"]["hf_env.policies"].values())
    for point in points:
        module, _, name = point.partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("package", ["hf_env", "agents", "training"])
def test_packages_are_typed(package):
    assert (ROOT / package / "py.typed").exists() and "py.typed" in PROJECT["tool"]["setuptools"]["package-data"][package]


def test_rule_sets_are_packaged():
    assert PROJECT["tool"]["setuptools"]["package-data"]["hf_env.rules"] == ["presets/*.toml"]
    assert list((ROOT / "hf_env" / "rules" / "presets").glob("*.toml"))


def test_templates_of_reports_are_packaged():
    assert PROJECT["tool"]["setuptools"]["package-data"]["training.evaluation"] == ["templates/*"]
    assert list((ROOT / "training" / "evaluation" / "templates").glob("*.html"))


def test_every_package_has_an_init_file():
    for top in ("hf_env", "agents", "training"):
        for path in (ROOT / top).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


@pytest.mark.parametrize("name", FILES)
def test_no_registry_and_no_path_of_one_machine(name):
    text = (ROOT / name).read_text()
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    for line in text.splitlines():
        if not line.startswith("#!"):
            assert not re.search(r"(?<![\w.$(){}-])/(?!dev/null)\w+/", line), line


def test_ci_calls_make_test_and_passes_on_its_exit_code(tmp_path):
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    make = tmp_path / "make"
    for code in (0, 3):
        make.write_text(f"#!/bin/sh\necho called with $@\n[ $1 = lint ] && exit 0\necho '7 passed in 1.0s'\nexit {code}\n")
        make.chmod(0o755)
        environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        result = subprocess.run([script], env=environment, capture_output=True, text=True)
        assert result.returncode == code and "called with test\n" in result.stdout
        assert "7 passed" in result.stdout.partition("closing lines")[2]
    make.write_text("#!/bin/sh\necho called with $@\nexit 2\n")
    result = subprocess.run([script], env=environment, capture_output=True, text=True)
    assert result.returncode == 1 and result.stdout == "called with lint\n"


def test_make_knows_its_targets():
    for target in ("train", "test", "test-long", "lint", "bench"):
        result = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
