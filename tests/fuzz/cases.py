"""The kinds of cases: what is spoiled, and what is asked of it. A case is a function of the kind, the seed and its number."""

import contextlib
import json
import os
import random
import shutil
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import safetensors.numpy

from agents.neural.checkpoint import sha256, values_sha256
from hf_env import VectorGame, hand_and_foot_v0
from hf_env.positions import PositionError, from_position
from tests.fuzz import originals
from tests.fuzz.answers import Answer, ask_command, ask_function, print_of, timed
from tests.fuzz.mutate import as_json, nested, odd_value, places, spoil_array, spoil_bytes, spoil_json
from training.config import ConfigError, TrainConfig
from training.settings import load_config

_RUN_FILES = ("config.json", "latest.json", "league.json", "metrics.jsonl", "games.jsonl")
_CHECKPOINT_FILES = ("policy.json", "policy.safetensors", "state.json", "state.safetensors")


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
    return [KINDS[kind][1](_Harmless(number), folder, room / str(number)) for number in range(4)]


class _Harmless(random.Random):
    """A generator by which nothing is spoiled."""


def _keeps_harm_away(rng) -> bool:
    return isinstance(rng, _Harmless)


# Runs and checkpoints.


def _fresh_run(folder, room):
    room.mkdir(parents=True, exist_ok=True)
    for name in ("run", "outside"):
        shutil.copytree(folder / name, room / name, symlinks=True)
    return room / "run"


def _checkpoints(run):
    return sorted(path for path in (run / "checkpoints").iterdir() if path.name.isdigit())


def _ask_run(rng, room, change):
    """Have the command read the run, or go on with it; nothing of the user's may change, and by reading nothing at all."""
    run, reads = room / "run", rng.random() < (0.1 if "state" in change else 0.4)
    before = print_of(room, originals.MINE), print_of(room)
    if reads:
        ask = lambda: ask_command("evaluate", run, "random", "--deals", 2, "--rules", "mini", "--set", "deals=1")  # noqa: E731
    else:
        ask = lambda: ask_command("train", "--resume", run, "--decisions", 64, "--deals", 0, "--quiet")  # noqa: E731
    # The picture takes most of the time, and reads the log alone.
    with contextlib.nullcontext() if "metrics" in change else mock.patch("training.run.report.draw_learning_curve"):
        answer = timed(f"{'evaluate' if reads else 'resume'}: {change}", ask)
    if print_of(room, originals.MINE) != before[0] or (reads and print_of(room) != before[1]):
        return answer._replace(kind="A FILE OF THE USER'S HAS CHANGED")
    return answer


def _runs(rng, folder, room):
    run = _fresh_run(folder, room)
    change = "nothing" if _keeps_harm_away(rng) else _spoil_run(run, rng)
    return _ask_run(rng, room, change)


def _spoil_run(run, rng):
    name = rng.choice([*_RUN_FILES, *_CHECKPOINT_FILES, *_CHECKPOINT_FILES, "pool"])
    if name == "pool":
        paths = [rng.choice(sorted((run / "pool").glob("*[0-9a-f].safetensors")))]
    elif name in _RUN_FILES:
        paths = [run / name]
    else:
        # Of both checkpoints as a rule, so that none whole is left to fall back to.
        paths = [folder / name for folder in _checkpoints(run)][rng.random() < 0.2 :]
    state = rng.getstate()
    for path in paths:
        rng.setstate(state)
        what = _spoil_file(path, rng)
    return f"{name}: {what}"


def _spoil_file(path, rng):
    """Spoil a file in place, or put something else where it was."""
    way = rng.random()
    if way < 0.12:
        what = rng.choice(["missing", "a folder", "a pipe", "zeros for ever", "a circle", "very large", "a link to nowhere"])
        path.unlink()
        if what == "a folder":
            path.mkdir()
        elif what == "a pipe":
            os.mkfifo(path)
        elif what == "very large":
            with open(path, "wb") as file:
                file.truncate(5 << 30)
        elif what != "missing":
            path.symlink_to({"zeros for ever": "/dev/zero", "a circle": path.name}.get(what, "no/where"))
        return what
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl") and way < 0.6:
        lines = data.splitlines() if path.suffix == ".jsonl" else [data]
        at = rng.randrange(len(lines))
        what, value = spoil_json(json.loads(lines[at]), rng)
        lines[at] = as_json(value)
        path.write_bytes(b"\n".join(lines) + b"\n")
        return what
    what, data = spoil_bytes(data, rng)
    path.write_bytes(data)
    return what


def _crafted(rng, folder, room):
    run = _fresh_run(folder, room)
    what = "nothing"
    if not _keeps_harm_away(rng):
        name = rng.choice(["policy.json", "policy.safetensors", "state.json", "state.safetensors", "state.safetensors", "pool"])
        state = rng.getstate()
        for checkpoint in _checkpoints(run):
            rng.setstate(state)
            what = f"{name}: {_craft_pool(run, checkpoint, rng) if name == 'pool' else _craft(checkpoint / name, rng)}"
            fix_checksums(checkpoint)
    return _ask_run(rng, room, what)


def _craft(path, rng):
    """Put other values into a file of a checkpoint."""
    if path.suffix == ".json":
        value = json.loads(path.read_bytes())
        # What follows from other files is mended afterwards.
        inner = value["values"] if path.name == "state.json" else value
        if rng.random() < 0.3:
            # A value of its own kind, and what it says is not true.
            path_to = rng.choice([place for place in places(inner) if place])
            holder = inner
            for key in path_to[:-1]:
                holder = holder[key]
            old = holder[path_to[-1]]
            holder[path_to[-1]] = rng.choice([0, 1, 2, 7, 10**6, 10**9]) if isinstance(old, int) else odd_value(rng)
            what = f"another value at {'.'.join(map(str, path_to))[:60]}"
        else:
            what, inner = spoil_json(inner, rng, top=False)
        value = value | {"values": inner} if path.name == "state.json" else inner
        path.write_bytes(as_json(value))
        return what
    arrays = dict(safetensors.numpy.load(path.read_bytes()))
    return _craft_arrays(path, arrays, rng)


def _craft_arrays(path, arrays, rng):
    group = rng.choice(["games/", "league/", "optimiser/", "critic/", ""])
    names = sorted(name for name in arrays if name.startswith(group)) or sorted(arrays)
    name = rng.choice(names)
    way = rng.random()
    if way < 0.08:
        del arrays[name]
        what = "gone"
    elif way < 0.12:
        arrays[rng.choice(["more", name + "/more", "rank1/" + name])] = arrays[name]
        what = "one more"
    elif way < 0.2:
        other = rng.choice(names)
        arrays[name], arrays[other] = arrays[other], arrays[name]
        what = f"changed for {other}"
    else:
        what, arrays[name] = spoil_array(arrays[name], rng)
    path.write_bytes(safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
    return f"{name} {what}"


def _craft_pool(run, checkpoint, rng):
    """Put other tensors into a frozen self, under their own hash."""
    state = json.loads((checkpoint / "state.json").read_bytes())
    league = state["values"]["league"]
    member = rng.choice(league["members"])
    old = member["digest"]
    path = run / "pool" / "crafted"
    what = _craft_arrays(path, dict(safetensors.numpy.load((run / "pool" / f"{old}.safetensors").read_bytes())), rng)
    member["digest"] = sha256(path.read_bytes())
    league["records"][member["digest"]] = league["records"].pop(old)
    os.replace(path, run / "pool" / f"{member['digest']}.safetensors")
    (checkpoint / "state.json").write_bytes(as_json(state))
    return what


def fix_checksums(checkpoint):
    """Make all checksums of a checkpoint right, where its files still hold what bears them."""
    policy, state = (json.loads((checkpoint / name).read_bytes()) for name in ("policy.json", "state.json"))
    if isinstance(policy, dict):
        policy["sha256"] = sha256((checkpoint / "policy.safetensors").read_bytes())
        if policy.pop("json_sha256", None) is not None:
            policy["json_sha256"] = values_sha256(policy)
        (checkpoint / "policy.json").write_bytes(as_json(policy))
        state["policy_sha256"] = policy["sha256"]
    state["policy_json_sha256"] = sha256((checkpoint / "policy.json").read_bytes())
    state["sha256"] = sha256((checkpoint / "state.safetensors").read_bytes())
    state["values_sha256"] = values_sha256(state["values"])
    (checkpoint / "state.json").write_bytes(as_json(state))


# Records, positions, snapshots.


def _records(rng, folder, room):
    room.mkdir(parents=True, exist_ok=True)
    path, what = room / "games.jsonl", "nothing"
    lines = (folder / "games.jsonl").read_bytes().splitlines()
    line = rng.choice(lines)
    if not _keeps_harm_away(rng):
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
    if not _keeps_harm_away(rng):
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
    if not _keeps_harm_away(rng):
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
    if not _keeps_harm_away(rng):
        if rng.random() < 0.05:
            what = _spoil_file(path, rng)
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
    if not _keeps_harm_away(rng):
        name = rng.choice(["settings.json", "results", "results", "results", "report.json", "records"])
        path = contest / name if name.endswith("json") else rng.choice(sorted((contest / name).iterdir()))
        if name == "results" and rng.random() < 0.7:
            what = _craft_results(path, rng)
        else:
            what = _spoil_file(path, rng)
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
    "runs": (originals.make_run, _runs),
    "crafted": (originals.make_run, _crafted),
    "records": (originals.make_records, _records),
    "positions": (originals.make_positions, _positions),
    "snapshots": (originals.make_snapshots, _snapshots),
    "rules": (originals.make_files_of_rules, _rules),
    "configs": (originals.make_configs, _configs),
    "contests": (originals.make_contest, _contests),
}
