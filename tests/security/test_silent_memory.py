#!/usr/bin/python3
"""Memory of a FUSE file system that does not answer: only the program that registered it waits."""

import contextlib
import os
import re
import signal
import unittest

import fabric

PINGPONG = ("ibv_rc_pingpong", "-d", "urnic1", "-g", 1, "-n", 100)


def copiers(parent):
    """The number of copier processes whose parent is in `parent`."""
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="ascii") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            count += name == "urnic-copier" and rest.split()[1] in parent and rest.split()[0] != "Z"
    return count


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return file.read().split()


class SilentMemory(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()
        self.process = self.fabric.device_process()
        self.program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_silent_memory"))
        fabric.wait_until(lambda: "waits for" in self.program.output() or self.program.status is not None,
                          "a program that waits")
        if any(word in self.program.output() for word in ("FUSE", "/dev/fuse", "namespace", "mounts of its own")):
            self.skipTest(f"no file system can be mounted here: {self.program.output()}")
        self.server = int(re.search(r"waits for (\d+)", self.program.output())[1])
        self.addCleanup(self.end_server)

    def end_server(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.server, signal.SIGKILL)

    def check_bystander(self):
        self.fabric.run_pair(PINGPONG, PINGPONG)

    def test_waits_alone_and_goes_on(self):
        self.check_bystander()
        status = self.fabric.status()
        self.assertEqual(status["engine"]["stuck"], [])
        waiting = [process for context in status["contexts"] for process in context["processes"]
                   if "waits_for_memory_s" in process]
        self.assertEqual({process["program"] for process in waiting}, {"verbs_silent_memory"})
        self.assertIsNone(self.program.status)
        os.kill(self.server, signal.SIGUSR1)
        self.assertEqual(self.program.wait(), 0, self.program)
        ended = [line for line in self.program.output().splitlines() if ": " in line]
        self.assertEqual(len(ended), 5, self.program)
        for line in ended:
            self.assertTrue(line.endswith(": success, right"), line)
        self.check_rest()

    def test_program_is_killed_while_it_waits(self):
        self.program.kill()
        fabric.wait_until(lambda: not self.fabric.status()["contexts"], "the end of the program's contexts")
        self.check_bystander()
        self.end_server()
        self.check_rest()

    def test_device_process_ends_while_a_program_waits(self):
        self.fabric.down()
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")
        self.end_server()
        self.program.wait()

    def check_rest(self):
        parents = children(self.process)
        fabric.wait_until(lambda: copiers(parents) == 0, "the end of all copiers")
        fabric.wait_until(lambda: all(pools["at_rest"] for pools in self.fabric.status()["engine"]["pools"]),
                          "pools at rest")
        self.check_bystander()


if __name__ == "__main__":
    unittest.main()
