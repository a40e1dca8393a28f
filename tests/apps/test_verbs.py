#!/usr/bin/python3
"""Our own verbs programs, between two devices and on one."""

import contextlib
import os
import pathlib
import re
import signal
import time
import unittest

import fabric

ACROSS = fabric.DEVICES
ALONE = (fabric.DEVICES[0], fabric.DEVICES[0])


class OnOneFabric(unittest.TestCase):
    CONFIGURATION = None

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(cls.CONFIGURATION)
        cls.process = cls.fabric.device_process()

    def tearDown(self):
        self.assertEqual(self.fabric.device_process(), self.process, "the device process has ended")
        # The device process removes an ended program's objects in portions, between other work.
        fabric.wait_until(lambda: not self.fabric.status()["contexts"], "the end of all contexts")

    def check(self, name, *arguments):
        output = self.fabric.run_on_urnic(self.fabric.verbs_program(name), "--log_level=error", "--", *arguments)
        self.assertIn("No errors detected", output)


class Verbs(OnOneFabric):
    def test_transfer_across(self):
        self.check("verbs_transfer", *ACROSS)

    def test_transfer_on_one_device(self):
        self.check("verbs_transfer", *ALONE)

    def test_two_processes(self):
        self.check("verbs_processes", *ACROSS)
        self.check("verbs_processes", *ALONE)

    def test_atomics(self):
        self.check("verbs_atomics", *ACROSS)
        self.check("verbs_atomics", *ALONE)

    @unittest.skipIf(fabric.FACE == "mlx5", "what a child makes there is its parent's, too, as with the kernel")
    def test_import(self):
        self.check("verbs_import", *ACROSS)
        self.check("verbs_import", *ALONE)

    def test_memory(self):
        self.check("verbs_memory", *ACROSS)
        self.check("verbs_memory", *ALONE)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: raw packets")
    def test_counters(self):
        self.check("verbs_counters", *ACROSS)

    def test_order(self):
        self.check("verbs_order", *ACROSS)
        self.check("verbs_order", *ALONE)

    def test_datagrams(self):
        self.check("verbs_datagrams", *ACROSS)
        self.check("verbs_datagrams", *ALONE)

    def test_shared_receive_queues(self):
        self.check("verbs_shared_receive", *ACROSS)
        self.check("verbs_shared_receive", *ALONE)

    @unittest.skipIf(fabric.FACE == "mlx5", "it is not offered there")
    def test_tag_matching(self):
        self.check("verbs_tag_matching", *ACROSS)
        self.check("verbs_tag_matching", *ALONE)

    def test_extended_reliable_connections(self):
        self.check("verbs_xrc", *ACROSS)
        self.check("verbs_xrc", *ALONE)

    def test_errors(self):
        self.check("verbs_errors", *ACROSS)
        self.check("verbs_errors", *ALONE)

    def test_refusals(self):
        self.check("verbs_refusals", *ACROSS)

    def test_events(self):
        self.check("verbs_events", *ACROSS)
        self.check("verbs_events", *ALONE)

    def test_threads(self):
        self.check("verbs_threads", *ACROSS)
        self.check("verbs_threads", *ALONE)

    def test_fork(self):
        self.check("verbs_fork", *ACROSS)

    def test_fork_init(self):
        self.check("verbs_fork", *ACROSS, "fork-init")

    def test_spin(self):
        self.check("verbs_spin", *ACROSS)

    def test_large(self):
        self.check("verbs_large", *ACROSS)

    def test_thousand_queue_pairs(self):
        self.check("verbs_many", *ACROSS)
        self.check("verbs_many", *ALONE)


class TwoEngines(OnOneFabric):
    """An engine for each device: packets between devices cross between two threads of the device process."""

    CONFIGURATION = "[engine]\nengines = 2\n"

    def test_there_are_two(self):
        self.assertEqual(self.fabric.status()["engine"]["threads"], 2)

    def test_transfer(self):
        self.check("verbs_transfer", *ACROSS)

    def test_two_processes(self):
        self.check("verbs_processes", *ACROSS)

    def test_atomics(self):
        self.check("verbs_atomics", *ACROSS)

    def test_order(self):
        self.check("verbs_order", *ACROSS)

    def test_errors(self):
        self.check("verbs_errors", *ACROSS)

    def test_events(self):
        self.check("verbs_events", *ACROSS)

    def test_threads(self):
        self.check("verbs_threads", *ACROSS)

    def test_many(self):
        self.check("verbs_many", *ACROSS)


class LinkCut(unittest.TestCase):
    def test_retries_end_and_a_reset_queue_pair_works_again(self):
        for recovery in ("gbn", "selective", "irn", "sack"):
            with self.subTest(recovery), fabric.Fabric() as own:
                own.up()
                own.run(own.urnic, "set", "recovery", recovery)
                program = own.start_on_urnic(own.verbs_program("verbs_link_cut"), "--log_level=error",
                                             "--", *ACROSS)
                program.wait_for_output("connected")
                own.run(own.urnic, "link", "set", fabric.DEVICES[1], "state=down")
                program.wait_for_output("ended")
                own.run(own.urnic, "link", "set", fabric.DEVICES[1], "state=up")
                self.assertEqual(program.wait(), 0, str(program))
                self.assertIn("No errors detected", program.output())


@unittest.skipIf(fabric.FACE == "mlx5", "these lies are of the plugin's queues and messages")
class Hostile(unittest.TestCase):
    """Programs that lie to the device, beside a well-behaved program, which notices nothing."""

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()
        cls.process = cls.fabric.device_process()

    def check(self, name):
        neighbour = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_neighbour"), *ACROSS)
        neighbour.wait_for_output("running")
        output = self.fabric.run_on_urnic(self.fabric.verbs_program(name), "--log_level=error")
        self.assertIn("No errors detected", output)
        self.assertIsNone(neighbour.status, f"the neighbour has ended: {neighbour}\n{self.fabric.log()}")
        os.kill(neighbour.pid, signal.SIGTERM)
        self.assertEqual(neighbour.wait(), 0, str(neighbour))
        self.assertRegex(neighbour.output(), r"\d+ rounds")
        self.assertEqual(self.fabric.device_process(), self.process, "the device process has ended")
        fabric.wait_until(lambda: self.fabric.status()["contexts"] == [], "all contexts gone")

    def test_control_messages(self):
        self.check("verbs_hostile")
        log = (self.fabric.run_directory / "urnicd.log").read_text()
        self.assertIn("verbs_hostile", log, "the log does not say whose connection was closed")

    def test_queues(self):
        self.check("verbs_hostile_queues")


class Idle(unittest.TestCase):
    def test_no_processor_time_when_nothing_happens(self):
        """With a connected program that waits: two looks a second at most, and no thread that spins."""
        with fabric.Fabric() as own:
            own.up()
            waiting = own.start_on_urnic(own.verbs_program("verbs_device_death"), "sleep", *ACROSS)
            waiting.wait_for_output("waiting")
            # What the program's start left to do may last for a while on a busy machine: several windows.
            windows = []
            while len(windows) < 8 and not (windows and self.is_idle(*windows[-1])):
                windows.append(self.window(own.device_process()))
            self.assertTrue(self.is_idle(*windows[-1]),
                            f"an idle device process uses the processor (seconds, sleeps, busy seconds): {windows}")
            waiting.kill()

    @staticmethod
    def is_idle(seconds, sleeps, busy):
        return sleeps <= 3 * seconds and busy <= 0.05 * seconds

    @classmethod
    def window(cls, process):
        """Of two seconds: how long they were, how often a thread went to sleep, how long threads used a processor."""
        start, (sleeps, busy) = time.monotonic(), cls.use(process)
        time.sleep(2)
        sleeps_after, busy_after = cls.use(process)
        return time.monotonic() - start, sleeps_after - sleeps, busy_after - busy

    @staticmethod
    def use(process):
        sleeps, busy = 0, 0.0
        for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
                sleeps += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (thread / "status").read_text(), re.M)[1])
                busy += int((thread / "schedstat").read_text().split()[0]) / 1e9
        return sleeps, busy


if __name__ == "__main__":
    unittest.main()
