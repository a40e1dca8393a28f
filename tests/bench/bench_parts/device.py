"""A device process, and the resources that it uses by the kernel's account."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from lossbench_parts.programs import Failed, last_line, output_of, start, stop


# Takes the place of a figure if the build does not know the setting to be measured.
NOT_AVAILABLE = "not available"


class Device:
    """Use as a context manager: a device process runs inside the block, with its own run directory."""

    running = []
    used_before = 0.0  # processor seconds of all devices that have ended

    def __init__(self, urnic, settings=None, enter=()):
        """`enter`: the words in front of a command that runs where the device is."""
        self.urnic, self.enter = urnic, list(enter)
        self._folder = tempfile.TemporaryDirectory(prefix="urnic-bench-")
        self._configuration = []
        if settings:
            path = pathlib.Path(self._folder.name, "settings.toml")
            path.write_text(settings, encoding="utf-8")
            self._configuration = ["--config", str(path)]
        self.environment = dict(os.environ, URNIC_DIR=os.path.join(self._folder.name, "run"))

    def __enter__(self):
        try:
            self._up()
            self.pid = int(pathlib.Path(self.environment["URNIC_DIR"], "urnicd.pid").read_text(encoding="ascii"))
            Device.running.append(self)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self in Device.running:
            Device.running.remove(self)
            with contextlib.suppress(Failed):
                Device.used_before += self.processor_seconds()
        with contextlib.suppress(Failed):
            output_of([*self.enter, self.urnic, "down"], self.environment, 20)
        self._folder.cleanup()

    def _up(self):
        process = start([*self.enter, self.urnic, "up", *self._configuration], self.environment)
        try:
            text, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            stop(process)
            raise Failed("urnic up did not end within 20 s") from None
        if "no such setting" in text:
            raise Failed(NOT_AVAILABLE)
        if process.returncode != 0:
            raise Failed(f"urnic up: {' '.join(text.split())}")

    def _read(self, name):
        try:
            return pathlib.Path(f"/proc/{self.pid}/{name}").read_text(encoding="utf-8")
        except OSError:
            raise Failed(f"the device process has ended; its log: {self._log()}") from None

    def _log(self):
        with contextlib.suppress(OSError):
            path = pathlib.Path(self.environment["URNIC_DIR"], "urnicd.log")
            return last_line(path.read_text(encoding="utf-8", errors="replace"))
        return "none"

    def set_link(self, *settings):
        """`urnic link set` of its only device."""
        output_of([*self.enter, self.urnic, "link", "set", "urnic0", *settings], self.environment, 20)

    def counters(self):
        return json.loads(output_of([*self.enter, self.urnic, "counters", "--json"], self.environment, 20))

    def rdma_cm_listeners(self):
        status = output_of([*self.enter, self.urnic, "status", "--json"], self.environment, 20)
        return json.loads(status)["rdma_cm"]["listeners"]

    def processor_seconds(self):
        """The processor time of all its threads, in seconds, from the scheduler, which counts nanoseconds."""
        self._read("stat")
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            total += int(self._read(f"task/{thread}/schedstat").split()[0])
        return total / 1e9

    @classmethod
    def all_processor_seconds(cls):
        """The processor seconds of all devices that run or have run here. A device that has crashed counts 0."""
        total = cls.used_before
        for device in cls.running:
            with contextlib.suppress(Failed):
                total += device.processor_seconds()
        return total

    def wakeups(self):
        """The number of times that the scheduler put its threads on a processor."""
        return sum(int(self._read(f"task/{thread}/schedstat").split()[2])
                   for thread in os.listdir(f"/proc/{self.pid}/task"))

    def memory(self):
        """Bytes in memory: its own, and shared memory, which is mainly its programs' rings."""
        sizes = {}
        # Every process may read `status`; only one that may trace the device process may read smaps_rollup.
        for line in self._read("status").splitlines():
            if line.startswith(("RssAnon:", "RssShmem:")):
                sizes[line.split(":")[0]] = int(line.split()[1]) * 1024
        if len(sizes) == 2:
            return {"own": sizes["RssAnon"], "shared": sizes["RssShmem"]}
        raise Failed("/proc/PID/status has no RssAnon and RssShmem")
