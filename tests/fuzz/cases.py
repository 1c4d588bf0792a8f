"""The kinds of cases: what is spoiled, and what is asked of it. A case is a function of the kind, the seed and its number."""

import json
import os
import random
import shutil
import zipfile
from pathlib import Path

import numpy as np

from hf_env import VectorGame, hand_and_foot_v0
from hf_env.positions import PositionError, from_position
from tests.fuzz import originals
from tests.fuzz.answers import Answer, ask_command, ask_function, print_of, timed
from tests.fuzz.mutate import Harmless, as_json, keeps_harm_away, nested, spoil_array, spoil_bytes, spoil_json
from tests.fuzz.runs import crafted_runs, spoil_file, spoiled_runs
from training.config import ConfigError, TrainConfig
from training.settings import load_config


def case(kind: str, seed: int, number: int, folder: Path, room: Path) -> Answer:
    """One case.

    Args:
        folder: of the originals of its kind. room: an empty folder.
    """
    return KINDS[kind][1](random.Random(f"{kind} {seed} {number}"), folder, room)


def make(kind: str, folder: Path) -> None:
    """Make the originals of a kind in an empty folder."""
    KINDS[kind][0](folder)


def unharmed(kind: str, folder: Path, room: Path) -> list[Answer]:
    """What is said of files that nothing has happened to: each must be accepted."""
    return [KINDS[kind][1](Harmless(number), folder, room / str(number)) for number in range(4)]


# Records, positions, snapshots.


def _records(rng, folder, room):
    room.mkdir(parents=True, exist_ok=True)
    path, what = room / "games.jsonl", "nothing"
    lines = (folder / "games.jsonl").read_bytes().splitlines()
    line = rng.choice(lines)
    if not keeps_harm_away(rng):
        if rng.random() < 0.7:
            what, value = spoil_json(json.loads(line), rng)
            line = as_json(value)
        else:
            what, line = spoil_bytes(line, rng)
    path.write_bytes(line + b"\n")
    before = print_of(room)
    options = ["--verify"] if rng.random() < 0.5 else []
    answer = timed(what, lambda: ask_command("replay", path, *options))
    return answer if print_of(room) == before else answer._replace(kind="A FILE OF THE USER'S HAS CHANGED")


def _positions(rng, folder, room):
    position, what = rng.choice(json.loads((folder / "positions.json").read_bytes())), "nothing"
    check = rng.random() < 0.8
    if not keeps_harm_away(rng):
        what, position = spoil_json(position, rng, top=False)

    def ask():
        _, rules = from_position(position, check=check)
        env = hand_and_foot_v0.env(rules=rules)
        env.reset(seed=1)
        env.unwrapped.set_position(position, check=check)
        env.observe(env.agent_selection)
        if check:
            _play(env.unwrapped._vec)

    return timed(what, lambda: ask_function(ask, (PositionError,)))


def _play(vec):
    for _ in range(40):
        vec.step(vec.random_actions())


def _snapshots(rng, folder, room):
    path, what = rng.choice(sorted((folder / "snapshots").iterdir())), "nothing"
    data = path.read_bytes()
    if not keeps_harm_away(rng):
        if rng.random() < 0.1:
            what, data = spoil_bytes(data, rng)
        else:
            # Mostly whole fields of a few bytes, which more often pass the checks than noise does.
            whole = bytearray(data)
            for _ in range(rng.randrange(1, 6)):
                at, width = rng.randrange(len(whole)), rng.choice([1, 1, 2, 4, 8])
                whole[at : at + width] = rng.choice([b"\xff" * width, bytes(width), rng.randbytes(width), b"\x01" + bytes(width - 1)])
            what, data = "some numbers", bytes(whole[: len(data)])
    rules = path.name.rpartition("-")[0]

    def ask_vector():
        vec = VectorGame(2, rules, 1)
        vec.restore(1, data)
        _play(vec)
        vec.load_state_dict(vec.state_dict())

    def ask_table():
        env = hand_and_foot_v0.env(rules=rules, render_mode="ansi")
        env.reset(seed=1)
        env.unwrapped.restore(data[:-16])
        env.observe(env.agent_selection), env.render(), env.unwrapped.position()

    ask = ask_vector if rng.random() < 0.7 else ask_table
    return timed(what, lambda: ask_function(ask, (ValueError,)))


# Rule files and configs.

_ODD_TOML = (
    "5", "-1", "0", "1", "999999999999999999999999", "1e308", "nan", "-inf", '""', '"x"', '"none"', "true", "[]", "[[]]", "{}",
    "[1, 2, 3]", '["a"]', "{a = {b = 1}}", "1979-05-27", "'\\u0000'", '"""\n\n"""', "[" * 500 + "]" * 500,
    '"python:os:abort"', '"/dev/zero"', '"../.."', "0x7fffffff", "[0, 0, 0]",
    "[1.5]", '"' + "a" * 900 + '"', "07:32:00", "=", "",
)  # fmt: skip


def _spoil_toml(data, rng):
    lines = data.decode().splitlines()
    settings = [at for at, line in enumerate(lines) if " = " in line and not line.startswith("#")]
    if not settings or rng.random() < 0.3:
        return spoil_bytes(data, rng)
    at = rng.choice(settings)
    key, _, value = lines[at].partition(" = ")
    ways = {
        "another value": f"{key} = {rng.choice(_ODD_TOML)}",
        "another number": f"{key} = {rng.randrange(-3, 40)}",
        "another name": f"{key}x = {value}",
        "twice": f"{lines[at]}\n{lines[at]}",
        "a long key": f"{key}{'.a' * rng.choice([3, 400, 20_000])} = {value}",
        "a table": f"[{key}]\n{lines[at]}",
        "in a list": f"{key} = {nested('', 0)}[{value}]",
    }
    what = rng.choice([*ways])
    lines[at] = ways[what]
    return f"{what} of {key}", "\n".join(lines).encode()


def _spoiled_toml(kind, rng, folder, room):
    room.mkdir(parents=True, exist_ok=True)
    original = rng.choice(sorted((folder / kind).iterdir()))
    path, what = room / original.name, "nothing"
    shutil.copy(original, path)
    if not keeps_harm_away(rng):
        if rng.random() < 0.05:
            what = spoil_file(path, rng)
        else:
            what, data = _spoil_toml(original.read_bytes(), rng)
            path.write_bytes(data)
    return what, path


def _rules(rng, folder, room):
    what, path = _spoiled_toml("rules", rng, folder, room)
    return timed(what, lambda: ask_command("rules", rng.choice(["check", "show"]), path))


def _configs(rng, folder, room):
    what, path = _spoiled_toml("configs", rng, folder, room)

    def ask():
        assert TrainConfig.from_json(json.loads(json.dumps(load_config(path).to_json()))).num_games

    answer = timed(what, lambda: ask_function(ask, (ConfigError,)))
    if answer.kind != "one line":
        return answer
    command = timed(what, lambda: ask_command("train", "--config", path, "--deals", 0, "--quiet", "--out", room / "run"))
    return command if command.kind != "accepted" else command._replace(kind="ACCEPTED, AND REFUSED BEFORE")


# Folders of contests.


def _contests(rng, folder, room):
    room.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder / "contest", room / "contest")
    contest, what, name = room / "contest", "nothing", "results"
    (contest / "mine.txt").write_text("mine")
    if not keeps_harm_away(rng):
        name = rng.choice(["settings.json", "results", "results", "results", "report.json", "records"])
        path = contest / name if name.endswith("json") else rng.choice(sorted((contest / name).iterdir()))
        if name == "results" and rng.random() < 0.7:
            what = _craft_results(path, rng)
        else:
            what = spoil_file(path, rng)
    before = print_of(contest, ["mine.txt"])
    if name in ("settings.json", "results"):
        ask = lambda: ask_command(*originals.CONTEST, "--out", contest)  # noqa: E731
    else:
        ask = lambda: ask_command("replay", "--verify", contest)  # noqa: E731
    answer = timed(f"{name}: {what}", ask)
    return answer if print_of(contest, ["mine.txt"]) == before else answer._replace(kind="A FILE OF THE USER'S HAS CHANGED")


def _craft_results(path, rng):
    with np.load(path) as held:
        arrays = dict(held)
    name = rng.choice(sorted(arrays))
    if name == "forfeits":
        what, value = spoil_json(
            [{"game": 0, "policy": 0, "seat": 0, "deal": 1, "decision": 3, "kind": "time", "reason": "r", "deals": 2}], rng
        )
        arrays[name] = np.asarray(as_json(value).decode())
    elif rng.random() < 0.1:
        del arrays[name]
        what = "gone"
    else:
        what, arrays[name] = spoil_array(arrays[name], rng)
    np.savez_compressed(path.with_suffix(".new.npz"), **arrays)
    os.replace(path.with_suffix(".new.npz"), path)
    if rng.random() < 0.1:
        with zipfile.ZipFile(path, "a") as packed:
            packed.writestr("more.npy", b"x" * 10_000_000)
    return f"{name} {what}"


KINDS = {
    "runs": (originals.make_run, spoiled_runs),
    "crafted": (originals.make_run, crafted_runs),
    "records": (originals.make_records, _records),
    "positions": (originals.make_positions, _positions),
    "snapshots": (originals.make_snapshots, _snapshots),
    "rules": (originals.make_files_of_rules, _rules),
    "configs": (originals.make_configs, _configs),
    "contests": (originals.make_contest, _contests),
}
