"""Long-lived processes that answer cases one after another, and are replaced when they die or do not answer.

``python -m tests.fuzz.pool KIND COUNT [SEED [FIRST]]`` runs cases of a kind and prints what came of them.
"""

import contextlib
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.answers import Answer

ROOT = Path(__file__).parents[2]
# How much longer than for unharmed files an answer may take, and when it is no longer waited for.
LATER_SECONDS = 5.0
_WAIT_SECONDS = 60.0
# A worker may take so much address space: what a file makes it allocate must end within.
_MOST_BYTES = 24 << 30


def _limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))


class Worker:
    """One process."""

    def __init__(self, kind, seed, folder, room):
        self.arguments = [sys.executable, "-m", "tests.fuzz.worker", kind, str(seed), str(folder), str(room)]
        self.said = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            self.arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, preexec_fn=_limit
        )
        self.number = None

    def give(self, number):
        self.number, self.since = number, time.monotonic()
        with contextlib.suppress(OSError):  # it has ended, as the next look at it will find
            self.process.stdin.write(f"{number}\n".encode())
            self.process.stdin.flush()

    def take(self):
        """The Answer, where there is one by now."""
        if select.select([self.process.stdout], [], [], 0)[0]:
            line = self.process.stdout.readline()
            if line:
                return Answer(*json.loads(line))
            code = self.process.wait()
            self.said.seek(0)
            last = self.said.read().decode(errors="replace")[-1500:]
            return Answer(f"SIGNAL {-code}" if code < 0 else f"EXIT {code}", "", last, time.monotonic() - self.since, 0.0)
        # Unharmed files come first, when kernels may have to be compiled.
        if time.monotonic() - self.since > _WAIT_SECONDS * (10 if self.number == "unharmed" else 1):
            return Answer("HANGS", "", "", _WAIT_SECONDS, 0.0)
        return None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.said.close()


def run_cases(kind, count, seed=0, first=0, processes=1):
    """Answers of cases by number; what came too late is marked so."""
    with tempfile.TemporaryDirectory() as folder:
        originals = Path(folder) / "originals"
        originals.mkdir()
        subprocess.run([sys.executable, "-m", "tests.fuzz.worker", kind, "make", originals], cwd=ROOT, check=True, stdout=sys.stderr)
        rooms = iter(range(1_000_000))

        def worker():
            return Worker(kind, seed, originals, Path(folder) / f"room{next(rooms)}")

        waiting, answers = iter(range(first, first + count)), {}
        workers = [worker() for _ in range(processes)]
        slowest = 0.0
        try:
            for one in workers:
                one.give("unharmed")
            while any(one.number is not None for one in workers):
                select.select([one.process.stdout for one in workers], [], [], 0.2)
                for at, one in enumerate(workers):
                    answer = one.take() if one.number is not None else None
                    if answer is None:
                        continue
                    if one.number == "unharmed":
                        assert answer.kind == "accepted", answer
                        slowest = max(slowest, answer.seconds)
                    else:
                        answers[one.number] = _judged(answer, slowest)
                    if (not answer.is_fine and one.process.poll() is None and answer.kind == "HANGS") or one.process.poll() is not None:
                        one.end()
                        one = workers[at] = worker()
                    number = next(waiting, None)
                    one.number = None
                    if number is not None:
                        one.give(number)
        finally:
            for one in workers:
                one.end()
        return answers, slowest


def _judged(answer, slowest):
    # Both clocks, so that a busy machine is not blamed on a file.
    late = answer.seconds > slowest + LATER_SECONDS and (answer.cpu > slowest + LATER_SECONDS or answer.seconds > slowest + 25)
    return answer._replace(kind=f"LATE ({answer.kind})") if late and answer.is_fine else answer


def table(kind, seed, answers, slowest, took):
    """What came of the cases, in lines."""
    counts = Counter(answer.kind for answer in answers.values())
    most = max((answer.seconds for answer in answers.values()), default=0.0)
    lines = [f"{kind}, seed {seed}: {len(answers):,} cases in {took:,.0f} s; unharmed {slowest:.1f} s, longest {most:.1f} s"]
    lines += [f"  {name}: {number:,}" for name, number in counts.most_common()]
    wrong = {number: answer for number, answer in sorted(answers.items()) if not answer.is_fine}
    return lines + [f"  case {number}: {answer.kind}: {answer.change}\n{answer.line}" for number, answer in wrong.items()]


def main(kind, count, seed=0, first=0, processes=None):
    """Run and print; the exit code says whether all was fine."""
    started = time.monotonic()
    answers, slowest = run_cases(kind, int(count), int(seed), int(first), int(processes or os.environ.get("JOBS", 1)))
    print("\n".join(table(kind, seed, answers, slowest, time.monotonic() - started)), flush=True)
    return int(not all(answer.is_fine for answer in answers.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
