"""Each extra alone in a new environment: its script works there, and what needs another extra says which in one line.

    python -m tests.package.check_extras            all of them
    python -m tests.package.check_extras render sb3

Takes a minute or more an extra, most of it to install; the first compiles the engine for all. `peers` and those with PyTorch
are large.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.package.installing import ROOT, Installation, build, first_ten_lines

# Modules of extras: only those of the extra itself may be there.
EXTRA_MODULES = ("torch", "safetensors", "tensorboard", "choix", "jinja2", "matplotlib", "cma", "PIL", "sb3_contrib", "rlcard")
RECORD = """
import numpy as np
from agents import load
from agents.play.games import play_games
from hf_env import records
kept = []
play_games([load("greedy")], np.zeros((1, 2), np.int64), [7], rules="mini", on_record=lambda game, record: kept.append(record))
records.write("game.jsonl", kept)
"""
PICTURE = """
import gymnasium, hf_env
env = gymnasium.make("HandAndFoot-v0", rules="mini", render_mode="rgb_array")
env.reset(seed=1)
print(env.render().shape)
"""


def check_core(folder: Path, wheel: Path) -> None:
    """Without any extra. Raises AssertionError, as all checks here do."""
    core = Installation(folder, wheel)
    assert [name for name in EXTRA_MODULES if core.has(name)] == []
    (core.work / "first.py").write_text(first_ten_lines())
    assert "Deal 4 of 4" in core.works("python", "first.py")
    assert "whitnack" in core.works("handfoot", "rules", "list")
    assert "points a deal" in core.works("handfoot", "evaluate", "greedy", "random", "--deals", "8")
    core.works("python", "-c", RECORD)
    assert "all as the rules" in core.works("handfoot", "replay", "game.jsonl", "--verify")
    core.works("handfoot", "bench", "--seconds", "0.1", "--games", "8", "--only", "vector")
    core.works("python", "-m", "training.studies.ablate_expert", "--rules", "mini", "--deals", "4")
    core.refuses("train", "handfoot", "train")
    core.refuses("train", "handfoot", "evaluate", str(core.work), "greedy", "--deals", "8")
    core.refuses("evaluate", "handfoot", "tournament", "greedy", "random", "--deals", "8", "--out", "t")
    core.refuses("evaluate", "handfoot", "evaluate", "greedy", "random", "--deals", "8", "--out", "e")
    core.refuses("render", "handfoot", "replay", "game.jsonl", "--video", "game.gif")
    core.refuses("train", "handfoot", "bench", "--training")
    core.refuses("sb3", "python", "-m", "training.clients.maskable_ppo")
    core.refuses("tune", "python", "-m", "training.studies.tune_expert")
    core.refuses("train", "python", "-m", "training.studies.fit_search_value", "--player", "greedy")


def _check_train(train: Installation) -> None:
    train.works("handfoot", "train", "--rules", "mini", "--minutes", "0.1", "--deals", "8", "--out", "run")
    assert "points a deal" in train.works("handfoot", "evaluate", "run", "random", "--rules", "mini", "--deals", "8")
    train.refuses("evaluate", "handfoot", "tournament", "greedy", "random", "--deals", "8", "--out", "t")


def _check_evaluate(evaluate: Installation) -> None:
    players = ("greedy", "random", "expert")
    evaluate.works("handfoot", "tournament", *players, "--rules", "mini", "--deals", "8", "--out", "t")
    evaluate.works("handfoot", "crossplay", *players, "--deals", "8", "--out", "c")
    evaluate.works("handfoot", "evaluate", "greedy", "random", "--rules", "mini", "--deals", "8", "--out", "e")
    assert all((evaluate.work / name / "report.html").is_file() for name in "tce")
    evaluate.refuses("train", "handfoot", "train")


def _check_render(render: Installation) -> None:
    assert render.works("python", "-c", PICTURE).strip() == "(600, 800, 3)"
    render.works("python", "-c", RECORD)
    render.works("handfoot", "replay", "game.jsonl", "--video", "game.gif")
    assert (render.work / "game.gif").read_bytes().startswith(b"GIF8")


def _check_video(video: Installation) -> None:
    video.works("python", "-c", RECORD)
    video.works("handfoot", "replay", "game.jsonl", "--video", "game.mp4")
    assert (video.work / "game.mp4").read_bytes()[4:8] == b"ftyp"


def _check_notebooks(notebooks: Installation) -> None:
    for path in sorted((ROOT / "notebooks").glob("0[12]_*.ipynb")):
        shutil.copy(path, notebooks.work)
        notebooks.works("jupyter-execute", path.name)


def _check_docs(docs: Installation) -> None:
    docs.works("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(ROOT / "docs"), "site")
    assert (docs.work / "site" / "index.html").is_file()


def _check_sb3(sb3: Installation) -> None:
    assert "points a deal" in sb3.works("python", "-m", "training.clients.maskable_ppo", "--minutes", "0.2", "--deals", "80")
    sb3.refuses("train", "handfoot", "train")


def _check_tune(tune: Installation) -> None:
    arguments = ("--rules", "mini", "--generations", "1", "--deals", "4", "--population", "4", "--out", "tuning")
    tune.works("python", "-m", "training.studies.tune_expert", *arguments)
    assert (tune.work / "tuning" / "log.jsonl").is_file()


def _check_peers(peers: Installation) -> None:
    told = peers.works("handfoot", "bench", "--peers", "--seconds", "0.5")
    assert all(name in told for name in ("OpenSpiel", "RLCard", "PettingZoo")) and "not installed" not in told, told


# By extra: what is checked, and which modules of other extras it may bring.
CHECKS: dict[str, tuple[Callable[[Installation], None], tuple[str, ...]]] = {
    "train": (_check_train, ("torch", "safetensors", "tensorboard", "matplotlib", "jinja2", "PIL")),
    "evaluate": (_check_evaluate, ("choix", "jinja2", "matplotlib", "PIL")),
    "render": (_check_render, ("PIL",)),
    "video": (_check_video, ("PIL",)),
    "notebooks": (_check_notebooks, ("torch", "safetensors", "tensorboard", "choix", "jinja2", "matplotlib", "PIL")),
    "docs": (_check_docs, ("torch", "safetensors", "tensorboard", "choix", "jinja2", "matplotlib", "PIL")),
    "sb3": (_check_sb3, ("sb3_contrib", "torch", "matplotlib", "jinja2", "PIL")),
    "tune": (_check_tune, ("cma",)),
    "peers": (_check_peers, ("rlcard", "matplotlib", "jinja2", "PIL", "torch")),
}


def main() -> None:
    """Build, then check the extras named, by default all and the core."""
    parser = argparse.ArgumentParser(description="Install the package with each extra alone and try what it is for.")
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help=f"core, {', '.join(CHECKS)}; default: all")
    chosen = parser.parse_args().extras or ["core", *CHECKS]
    if unknown := set(chosen) - {"core", *CHECKS}:
        parser.error(f"there is no extra {', '.join(sorted(unknown))}; there are core, {', '.join(CHECKS)}")
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dist").mkdir()
        _, wheel = build(folder / "dist")
        for extra in chosen:
            begun = time.monotonic()
            try:
                _check(extra, folder / extra, wheel)
            except AssertionError as error:
                failed.append(extra)
                print(f"{extra}: {error}", flush=True)
            else:
                print(f"{extra}: works alone ({time.monotonic() - begun:.0f} s)", flush=True)
    sys.exit(1 if failed else 0)


def _check(extra: str, folder: Path, wheel: Path) -> None:
    if extra == "core":
        check_core(folder, wheel)
        return
    check, brings = CHECKS[extra]
    installed = Installation(folder, wheel, extra)
    foreign = [module for module in EXTRA_MODULES if module not in brings and installed.has(module)]
    assert not foreign, f"brings {foreign}"
    check(installed)


if __name__ == "__main__":
    main()
