#!/usr/bin/python3
"""Storms on rdma_cm: requests to a listener that accepts none, and programs that are killed while they connect. Others
are served meanwhile, and nothing is left behind.

A thousand programs, some minutes on two cores: URNIC_STORM_PROGRAMS=1000 ctest --preset release -R apps_rdmacm_storms
"""

import contextlib
import os
import random
import secrets
import signal
import time
import unittest

import fabric

PROGRAMS = int(os.environ.get("URNIC_STORM_PROGRAMS", "60"))
AT_ONCE = 8
LONGEST_LIFE = 0.4
FLOOD = 1000  # requests of each program
FLOODERS = 3


class RdmaCmStorms(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()

    def rdma_cm(self):
        return self.fabric.status()["rdma_cm"]

    def start_server(self, *command):
        server = self.fabric.start_on_urnic(*command)
        fabric.wait_until(lambda: self.rdma_cm()["listeners"] or server.status is not None, f"a listener: {server}")
        return server

    def check_others(self, address):
        """A fresh pair connects and moves data at once."""
        server = self.fabric.start_on_urnic("rping", "-s", "-p", 9999, "-V", "-C", 10)
        fabric.wait_until(lambda: any(listener["address"].endswith(":9999") for listener in self.rdma_cm()["listeners"]), "a listener")
        self.fabric.run_on_urnic("rping", "-c", "-a", address, "-p", 9999, "-V", "-C", 10)
        self.assertEqual(server.wait(), 0)

    def check_nothing_is_left(self):
        def is_empty():
            status = self.fabric.status()
            return (status["rdma_cm"] == {"identifiers": 0, "connections": 0, "listeners": []} and
                    all(limit["used"] == 0 for name, limit in status["limits"].items()
                        if name in ("rdma_cm_ids", "contexts", "queue_pairs", "completion_queues")))
        fabric.wait_until(is_empty, f"nothing left: {self.fabric.status()}")

    def test_requests_that_nobody_accepts(self):
        """The listener's backlog is full, and its program reads no events."""
        program = self.fabric.copy_home("rdma_cm_writes.py")
        listener = self.start_server("python3", "-B", program, "a_listener_that_reads_nothing")
        flooders = [self.fabric.start_on_urnic("cmtime", "-s", "127.0.0.1", "-c", FLOOD) for _ in range(FLOODERS)]
        # A request whose listener has no room is dropped, so no more connections than identifiers of the flooders.
        fabric.wait_until(lambda: self.rdma_cm()["connections"] >= FLOOD, f"a flood: {self.fabric.status()}")
        self.check_others("127.0.0.2")
        self.assertLessEqual(self.rdma_cm()["identifiers"], FLOODERS * (FLOOD + 2) + 1024 + 4)
        self.assertIsNone(listener.status)
        for flooder in flooders:
            flooder.kill()
        self.check_others("127.0.0.1")
        listener.kill()
        self.check_nothing_is_left()

    def test_programs_that_are_killed_while_they_connect(self):
        seed = secrets.randbelow(1 << 32)
        chance = random.Random(seed)
        server = self.start_server("rping", "-s", "-P")
        living = []
        with self.subTest(seed=seed):
            for _ in range(PROGRAMS):
                client = self.fabric.start_on_urnic("rping", "-c", "-a", "127.0.0.1", "-C", 1000000)
                living.append((time.monotonic() + chance.random() * LONGEST_LIFE, client))
                if len(living) >= AT_ONCE:
                    self.kill_the_oldest(living)
                # rping's server ends when the client whose request it accepts is gone.
                if server.status is not None:
                    server = self.start_server("rping", "-s", "-P")
            while living:
                self.kill_the_oldest(living)
            server.kill()
            self.check_others("127.0.0.1")
            self.check_nothing_is_left()

    @staticmethod
    def kill_the_oldest(living):
        end, client = living.pop(0)
        time.sleep(max(0.0, end - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(client.pid, signal.SIGKILL)
        client.wait()


if __name__ == "__main__":
    unittest.main()
