"""The wheel and the sdist hold what they must, and the wheel works in an environment without torch."""

import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.package.check_extras import check_core
from tests.package.installing import ROOT, build

pytestmark = pytest.mark.long

PACKAGES = ("hf_env", "agents", "training")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


def package_files() -> set[str]:
    """All files of the packages that belong to the code, as paths below the root."""
    kept = {"handfoot.py"}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".nbi", ".nbc"):
                kept.add(path.relative_to(ROOT).as_posix())
    return kept


def test_the_wheel_holds_the_packages_whole_and_nothing_else(built):
    names = {name for name in zipfile.ZipFile(built[1]).namelist() if ".dist-info/" not in name}
    assert names == package_files()
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    for folder, suffix in (("hf_env/rules/presets", ".toml"), ("training/evaluation/templates", ".html"), ("agents/search/fitted", ".npz")):
        assert any(Path(name).parent.as_posix() == folder and name.endswith(suffix) for name in names), folder


def test_the_sdist_holds_them_too_with_documents_and_tests(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert package_files() <= names
    wanted = {"README.md", "CHANGELOG.md", "Makefile", "constraints.txt", "pyproject.toml", "docs/rules.md", "tests/reference/game.py"}
    assert wanted <= names
    assert not any(name.endswith((".pyc", ".nbi", ".nbc")) or name.startswith((".venv", "runs")) for name in names)


def test_the_core_works_without_torch(built, tmp_path):
    check_core(tmp_path, built[1])
