"""A process of the pool: ``python -m tests.fuzz.worker KIND SEED ORIGINALS ROOM`` answers numbers of cases, one a line."""

import json
import os
import shutil
import sys
import time
from pathlib import Path


def main(kind, seed, folder, room=None):
    """Make the originals (seed "make"), or answer until the input ends."""
    from tests.fuzz.cases import case, make, unharmed

    folder = Path(folder)
    if seed == "make":
        make(kind, folder)
        return
    # The pipe is for answers alone.
    pipe = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    import torch

    torch.set_num_threads(1)
    room = Path(room)
    for line in os.fdopen(0, "r"):
        shutil.rmtree(room, ignore_errors=True)
        if line.strip() == "unharmed":
            # Twice: the first time compiles, or loads what is compiled.
            first = unharmed(kind, folder, room)
            shutil.rmtree(room, ignore_errors=True)
            answers = [*first, *unharmed(kind, folder, room)]
            bad = [answer for answer in answers if answer.kind != "accepted"]
            answer = bad[0] if bad else max(answers[len(first) :], key=lambda answer: answer.seconds)
        else:
            answer = case(kind, int(seed), int(line), folder, room)
        pipe.write(json.dumps(list(answer)) + "\n")
        pipe.flush()


if __name__ == "__main__":
    started = time.perf_counter()
    main(*sys.argv[1:])
