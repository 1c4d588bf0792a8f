"""Policies that misbehave, one a kind: none of them may take with it what it plays in. ``python:tests.evaluation.hostile:NAME``."""

import multiprocessing
import os
import signal
import sys
import time

from agents.play.games import _Match
from tests.evaluation.players import first_legal


class Hostile:
    """Plays first_legal, and misbehaves whenever game 0 is among what it is asked."""

    def act(self, batch):
        if (batch.games == 0).any():
            self.misbehave()
        return first_legal(batch.observations, batch.action_masks)

    def misbehave(self):
        """Do what the class is for."""


# ----------------------------------------------------------------------------------------- what an interpreter can catch


class Raises(Hostile):
    def misbehave(self):
        raise RuntimeError("broken\nover two lines")


class RaisesBase(Hostile):
    def misbehave(self):
        raise BaseException("base")


class Interrupts(Hostile):
    def misbehave(self):
        raise KeyboardInterrupt


class Exits(Hostile):
    def misbehave(self):
        sys.exit(3)


class Speechless(Hostile):
    class Error(Exception):
        def __str__(self):
            sys.exit(4)

    def misbehave(self):
        raise self.Error


class OddArray(Hostile):
    def __array__(self, *_, **__):
        sys.exit(5)

    def act(self, batch):
        return self if (batch.games == 0).any() else super().act(batch)


# ------------------------------------------------------------------------------------------ what ends or breaks a process


class HardExit(Hostile):
    def misbehave(self):
        os._exit(3)


class Kills(Hostile):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGKILL)


class ClosesAll(Hostile):
    """Also the connection over which the result is to go."""

    def misbehave(self):
        os.closerange(3, 256)


class PutsOthersInPlace(Hostile):
    def misbehave(self):
        other = os.open(os.devnull, os.O_RDWR)
        for number in range(3, other):
            os.dup2(other, number)


class LeavesByItsChild(Hostile):
    """As a daemon does: the parent ends and the child goes on."""

    def misbehave(self):
        if os.fork():
            os._exit(0)


class LeavesAHolder(Hostile):
    """Its child holds all that the process had open, long after it."""

    def misbehave(self):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        os._exit(3)


class Sleeps(Hostile):
    def misbehave(self):
        time.sleep(1000)


class Stops(Hostile):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGSTOP)


# ------------------------------------------------------------------------------------------------ what does no harm


class Forks(Hostile):
    """Both go on."""

    def misbehave(self):
        os.fork()


class ForksAndFails(Hostile):
    """The child fails, the parent does not."""

    def misbehave(self):
        if os.fork() == 0:
            raise RuntimeError("of the child")


class ClosesOutput(Hostile):
    closed = False

    def misbehave(self):
        if not self.closed:
            self.closed = True
            os.closerange(0, 3)


class Prints(Hostile):
    """And leaves a process behind."""

    child = None

    def misbehave(self):
        if self.child is None:
            self.child = os.fork()
            if self.child == 0:
                time.sleep(60)
                os._exit(0)
        print("noise on stdout")
        os.write(1, b"noise on descriptor 1\n")


class Deaf(Hostile):
    def misbehave(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


# --------------------------------------------------------------------------------------------- before and between decisions


class InitRaises(Hostile):
    def __init__(self):
        raise RuntimeError("no\ninit")


class InitExits(Hostile):
    def __init__(self):
        sys.exit(6)


class InitRaisesThere(Hostile):
    """Only in a process that another one has started."""

    def __init__(self):
        if multiprocessing.parent_process() is not None:
            raise RuntimeError("not here")


class InitEndsThere(Hostile):
    def __init__(self):
        if multiprocessing.parent_process() is not None:
            os._exit(7)


class StartRaises(Hostile):
    def start(self, num_games, rules, seed):
        raise RuntimeError("no start")


class StartExits(Hostile):
    def start(self, num_games, rules, seed):
        sys.exit(8)


class EndsLater(Hostile):
    """Ends the process when nobody is asked."""

    def misbehave(self):
        _Match._note_deals = lambda *_: os._exit(9)


class EndsUnpacked(Hostile):
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (10,)
