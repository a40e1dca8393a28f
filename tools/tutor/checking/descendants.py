"""Ends what a learner's program has started: its children and theirs, wherever they hide."""

import ctypes
import os
import pathlib
import signal
import time

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
# The device process ends by itself, and its copiers with it. It is told to first.
_DEVICE_PROCESS = "urnicd"
_PATIENCE = 5


def adopt():
    """From now on processes whose parents have ended are children of this process (prctl(2), PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _processes():
    """Of each process: number, name, parent, session (proc(5), stat)."""
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            text = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it has gone
        name, _, rest = text.partition("(")[2].rpartition(")")
        state, parent, _, session = rest.split()[:4]
        if state != "Z":
            yield int(folder.name), name, int(parent), int(session)


def _kill(number, what):
    try:
        os.kill(number, what)
    except OSError:
        pass  # it has gone, or is another user's


def end_session(leader):
    """Ends the process and all of its session. What has made a session of its own is left to `end_all`."""
    for number, _, _, session in _processes():
        if session == leader:
            _kill(number, signal.SIGKILL)


def _all_below(ancestor):
    """The descendants of a process, as (number, name)."""
    children = {}
    for number, name, parent, _ in _processes():
        children.setdefault(parent, []).append((number, name))
    found, todo = [], [ancestor]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += [number for number, _ in below]
    return found


def count():
    """How many descendants this process has."""
    return len(_all_below(os.getpid()))


def _reap():
    """Takes leave of the children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def _stop_all():
    """Stops the descendants but the device process: what is stopped makes no further processes meanwhile."""
    stopped, end = set(), time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        new = [number for number, name in _all_below(os.getpid()) if number not in stopped and name != _DEVICE_PROCESS]
        if not new:
            return
        for number in new:
            _kill(number, signal.SIGSTOP)
        stopped.update(new)


def end_all():
    """Ends all processes that are descendants of this one. Returns the names of those that stay: there are none, unless they
    are of another user."""
    _stop_all()
    for number, name in _all_below(os.getpid()):
        _kill(number, signal.SIGTERM if name == _DEVICE_PROCESS else signal.SIGKILL)
    told = time.monotonic()
    while (left := _all_below(os.getpid())) and time.monotonic() < told + _PATIENCE:
        for number, name in left:
            if name != _DEVICE_PROCESS or time.monotonic() > told + 1:
                _kill(number, signal.SIGKILL)
        time.sleep(0.01)
        _reap()
    _reap()
    return [name for _, name in left]


def tasks_of_user():
    """How many threads the processes of this user have: what RLIMIT_NPROC counts."""
    count = 0
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and folder.stat().st_uid == os.getuid():
                count += len(os.listdir(folder / "task"))
        except OSError:
            pass  # it has gone
    return count
