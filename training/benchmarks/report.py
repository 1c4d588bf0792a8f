"""The rows of a benchmark as a table and as JSON, with the versions, the machine and the commit they belong to."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from hf_env.files import write_text
from training.benchmarks.rows import Row

FORMAT = "hf-benchmark/1"
TITLES = {
    "vector": "VectorGame, random legal play, choosing included; one thread by the core's time, two by the clock",
    "profile": "Where the time of a decision goes",
    "threads": "Threads and processes, by the clock",
    "aec": "AEC environment, by the core's time",
    "players": "Scripted players, by the core's time",
    "copies": "Copies of a game",
    "memory": "Memory a game",
    "start": "Start",
    "peers": "Random legal play beside other environments, one core each, by the core's time",
    "training": "Training, collecting and learning, by the clock",
}
_LIBRARIES = (
    "numpy",
    "numba",
    "llvmlite",
    "pettingzoo",
    "gymnasium",
    "torch",
    "open_spiel",
    "rlcard",
    "pgx",
    "jax",
    "stable_baselines3",
    "sb3_contrib",
)


def _cpu() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor() or platform.machine()
    )


def _commit() -> str | None:
    """The commit of the checkout that this package lies in, `+` after it where files were changed; None outside one."""
    here = Path(__file__).parent
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=here, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit + "+" * bool(changed.strip())


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def circumstances() -> dict[str, Any]:
    """What figures depend on: versions, machine, how busy it is, commit."""
    from hf_env import __version__
    from hf_env.actions import ACTIONS_VERSION
    from hf_env.observation.layout import LAYOUT_VERSION
    from hf_env.rules import RULES_VERSION

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    own = {
        "hf_env": __version__,
        "rules": RULES_VERSION,
        "observation": LAYOUT_VERSION,
        "actions": ACTIONS_VERSION,
        "python": platform.python_version(),
    }
    found = {library: _version(library) for library in _LIBRARIES}
    return {
        "versions": own | {library: version for library, version in found.items() if version},
        "machine": {"cpu": _cpu(), "cores": cores, "architecture": platform.machine(), "system": platform.system()},
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "commit": _commit(),
    }


def write_json(path: Path, rows: list[Row], missing: dict[str, str], settings: dict[str, Any], begun: dict[str, Any]) -> None:
    """All rows with what they depend on.

    Args:
        missing: peers that were not measured, and why.
        begun: circumstances() at the start.
    """
    values = {"format": FORMAT, "settings": settings} | begun | {
        "load_average_at_end": circumstances()["load_average"],
        "rows": [dataclasses.asdict(row) for row in rows],
        "missing": missing,
    }  # fmt: skip
    write_text(path, json.dumps(values, indent=2) + "\n")


def shown(row: Row) -> str:
    """A row's figure with its unit, as a reader wants it."""
    if row.unit == "bytes":
        return f"{row.value:,.0f} bytes"
    if row.unit == "s":
        return f"{row.value:.1f} s"
    if row.unit == "µs":
        return f"{row.value * 1000:,.0f} ns" if row.value < 1 else f"{row.value:,.1f} µs"
    if row.unit == "ns":
        return f"{row.value:,.0f} ns"
    if row.unit == "times":
        return f"{row.value:.2f} times"
    return f"{row.value:,.0f} {row.unit}"


def _note(row: Row) -> str:
    """What a reader needs beside the figure."""
    details, parts = row.details, []
    if "ratio" in details:
        parts.append(f"ours is {details['ratio']:.1f} times as fast" if details["ratio"] else "")
    if "share" in details:
        parts.append(f"{details['share']:.0%}")
    if row.section == "players":
        parts.append(f"{details['decisions'] / details['deals_ended'] * row.value:,.0f} decisions/s")
    ended = [f"{details[key]:,} {word}" for key, word in (("games_ended", "games"), ("deals_ended", "deals")) if key in details]
    if ended:
        parts.append(" and ".join(ended) + " ended")
    if "shares" in details:
        parts.append(", ".join(f"{name} {share:.0%}" for name, share in details["shares"].items()))
    if "note" in details:
        parts.append(details["note"])
    return "; ".join(part for part in parts if part)


def print_table(rows: list[Row], missing: dict[str, str], begun: dict[str, Any], width: int) -> None:
    """The rows by section, then what is missing and what the figures depend on, on stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=width)
    for section, title in TITLES.items():
        own = [row for row in rows if row.section == section]
        if not own:
            continue
        table = Table(box=box.SIMPLE, title=title, title_justify="left", title_style="bold", show_header=False)
        table.add_column(ratio=5, overflow="fold")
        table.add_column(justify="right", no_wrap=True)
        table.add_column(ratio=4, overflow="fold", style="dim")
        for row in own:
            table.add_row(row.label, shown(row), _note(row))
        console.print(table)
    for name, why in missing.items():
        console.print(f"not measured: {name} ({why})", soft_wrap=True)
    machine = begun["machine"]
    console.print(f"machine   {machine['cpu']}, {machine['cores']} cores, load {begun['load_average']} at the start", soft_wrap=True)
    console.print("versions  " + ", ".join(f"{name} {version}" for name, version in begun["versions"].items()), soft_wrap=True)
    if begun["commit"]:
        console.print(f"commit    {begun['commit']}", soft_wrap=True)
