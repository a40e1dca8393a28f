"""DPDK's dpdk-testpmd on devices with the face mlx5, driven by its own commands while it runs."""

import os
import re
import unittest

import fabric

# Flows by the verbs: those of mlx5dv need DevX (docs/mlx5-face.md).
DEVICE_ARGUMENTS = "dv_flow_en=0"
MEMORY = ("--no-huge", "-m", "512")
# Files without names, one for each page.
HUGE_PAGES = 128
IN_HUGE_PAGES = ("--in-memory", "-m", str(2 * HUGE_PAGES))


def require():
    """SkipTest where Debian's packages are not installed."""
    if not os.access("/usr/bin/dpdk-testpmd", os.X_OK):
        raise unittest.SkipTest("dpdk-testpmd is not installed (tools/install-packages programs)")


def pci_address(number):
    """Of the device mlx5_<number>."""
    return f"7572:00:{number:02x}.0"


class Testpmd:
    """Runs from the beginning, on a device process that runs. Use as a context manager; `quit` ends it well. `ports`: numbers of devices, which become the
    ports 0, 1 and so on; or `virtual`: devices of DPDK's own, each as in --vdev."""
    _count = 0

    def __init__(self, own, *options, ports=(0, 1), virtual=(), buffers=16384, memory=MEMORY):
        Testpmd._count += 1
        self.fabric = own
        # Commands come by a pipe with a name, as programs of a fabric have no standard input.
        path = own.temporary / f"commands-{Testpmd._count}"
        os.mkfifo(path)
        if own.user is not None:
            os.chown(path, own.user, own.user)
        self._commands = os.open(path, os.O_RDWR)
        devices = [word for number in ports for word in ("-a", f"{pci_address(number)},{DEVICE_ARGUMENTS}")]
        devices += [word for device in virtual for word in ("--vdev", device)]
        if not ports:
            devices.append("--no-pci")
        # Threads that go where there is room: these spin, and a machine may have two processors.
        words = ("dpdk-testpmd", *memory, f"--file-prefix=test{os.getpid()}-{Testpmd._count}",
                 f"--lcores=(0,1)@(0-{os.cpu_count() - 1})", *devices, "--", "-i", f"--total-num-mbufs={buffers}", *options)
        script = f'exec stdbuf -oL "$@" < {path}'
        self.program = own.start(own.urnic, "run", "--", "sh", "-c", script, "sh", *words,
                                 environment={"XDG_RUNTIME_DIR": str(own.temporary)})
        self._seen = 0
        self._prompt()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        os.close(self._commands)

    def _prompt(self):
        """Waits for the next prompt; returns what was said before it."""
        fabric.wait_until(lambda: "testpmd> " in self.program.output()[self._seen:] or self.program.status is not None,
                          f"a prompt of {self.program}")
        said = self.program.output()[self._seen:]
        if "testpmd> " not in said:
            raise AssertionError(f"testpmd has ended: {self.program}")
        end = said.index("testpmd> ") + len("testpmd> ")
        self._seen += end
        return said[:end]

    def command(self, text):
        """Gives a command; returns what testpmd says to it."""
        os.write(self._commands, f"{text}\n".encode())
        return self._prompt()

    def quit(self):
        os.write(self._commands, b"quit\n")
        if self.program.wait() != 0:
            raise AssertionError(f"a bad end: {self.program}")
        return self.program.output()

    def statistics(self, port=0):
        """What `show port stats` says, by its words, such as RX-packets."""
        return {name: int(value) for name, value in
                re.findall(r"([RT]X-[a-z]+): +(\d+)", self.command(f"show port stats {port}"))}

    def extended(self, port=0):
        return {name: int(value) for name, value in
                re.findall(r"(?m)^(\w+): (\d+)$", self.command(f"show port xstats {port}"))}

    def received_by_queue(self, port=0):
        """How many packets have been read from each queue since forwarding began."""
        said = self.command("show fwd stats all")
        counts = re.findall(rf"RX Port= *{port}/Queue= *(\d+) .*\n +RX-packets: (\d+)", said)
        return {int(queue): int(count) for queue, count in counts}

    def is_up(self, port=0):
        return re.search(r"Link status: (\w+)", self.command(f"show port info {port}")).group(1) == "up"
