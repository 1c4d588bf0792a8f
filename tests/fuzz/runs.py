"""Cases of runs and checkpoints: files that are spoiled, and such that were made with care, with right checksums."""

import contextlib
import json
import os
import shutil
from unittest import mock

import numpy as np
import safetensors.numpy

from agents.neural.checkpoint import sha256, values_sha256
from tests.fuzz import originals
from tests.fuzz.answers import ask_command, print_of, timed
from tests.fuzz.mutate import as_json, keeps_harm_away, odd_value, places, spoil_array, spoil_bytes, spoil_json

_RUN_FILES = ("config.json", "latest.json", "league.json", "metrics.jsonl", "games.jsonl")
_CHECKPOINT_FILES = ("policy.json", "policy.safetensors", "state.json", "state.safetensors")


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


def spoiled_runs(rng, folder, room):
    run = _fresh_run(folder, room)
    change = "nothing" if keeps_harm_away(rng) else _spoil_run(run, rng)
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
        what = spoil_file(path, rng)
    return f"{name}: {what}"


def spoil_file(path, rng):
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


def crafted_runs(rng, folder, room):
    run = _fresh_run(folder, room)
    what = "nothing"
    if not keeps_harm_away(rng):
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
