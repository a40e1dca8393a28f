"""The machine that runs the bench, and its other load meanwhile."""

import contextlib
import os
import time

TICKS = os.sysconf("SC_CLK_TCK")


def stay_on(cores):
    """Binds this process, and all processes that it starts later, to its first `cores` cores. Returns their numbers."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, allowed)
    return allowed


def describe(cores):
    model = "unknown processor"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return {"processor": model, "cores": len(cores), "kernel": os.uname().release, "groups": scheduling_groups()}


def scheduling_groups():
    """Among which groups of processes the kernel shares the processors: a thread that yields gives way within its group only."""
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as lines:
        for line in lines:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            in_version_1 = "cpu" in controllers.split(",") and path != "/"
            in_version_2 = controllers == "" and os.path.exists(f"/sys/fs/cgroup/{path}/cpu.weight")
            if in_version_1 or in_version_2:
                return "one control group for all"
    with contextlib.suppress(OSError), open("/proc/sys/kernel/sched_autogroup_enabled", encoding="ascii") as enabled:
        if enabled.read().strip() == "1":
            return "a group for each session (autogroups)"
    return "no groups"


class Others:
    """The share of the cores that other programs take. Does not count this process, the processes that it has started
    and waited for, the processor seconds that `own` returns for other processes of the bench, and interrupts."""

    def __init__(self, cores, own):
        self._cores, self._own = cores, own
        self._busy, self._ours, self._begin = self._busy_seconds(), self._our_seconds(), time.monotonic()

    def _busy_seconds(self):
        wanted = {f"cpu{core}" for core in self._cores}
        total = 0
        with open("/proc/stat", encoding="ascii") as lines:
            for line in lines:
                name, *times = line.split()
                if name in wanted:
                    user, nice, system, _, _, _, _, steal = map(int, times[:8])
                    total += user + nice + system + steal
        return total / TICKS

    def _our_seconds(self):
        return sum(os.times()[:4]) + self._own()

    def share(self):
        """The share of all cores since this object was made."""
        theirs = self._busy_seconds() - self._busy - (self._our_seconds() - self._ours)
        return max(0.0, theirs) / (time.monotonic() - self._begin) / len(self._cores)
