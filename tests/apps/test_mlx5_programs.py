#!/usr/bin/python3
"""A short run of each kind of program on devices that Debian's libmlx5 drives. The whole scripts: ctest -C mlx5 -L mlx5."""

import os
import re
import signal
import unittest

import fabric

DEVICES = ("mlx5_0", "mlx5_1")
# Every service, a wait for events, times of completions, device memory.
PINGPONGS = (("rc",), ("rc", "-e"), ("rc", "-t"), ("rc", "-j"), ("uc",), ("ud",), ("srq",), ("rc", "-s", 100000, "-m", 1024))
# Programs that poll on both sides take turns with the device: few rounds.
PERFTESTS = (("ib_write_bw",), ("ib_read_bw",), ("ib_send_bw", "-I", 64, "-s", 32), ("ib_send_bw", "-q", 6),
             ("ib_atomic_bw", "-A", "FETCH_AND_ADD"), ("ib_send_bw", "-c", "UD"), ("ib_send_bw", "-c", "XRC"))

# The raw clock goes on while the device sleeps, and never backwards.
CLOCK = """
import os, time, pyverbs.device as device
context = device.Context(name="mlx5_0")
assert context.query_device_ex().hca_core_clock == 1000000
last = 0
for i in range(3000):
    if i % 100 == 0:
        time.sleep(0.005)
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    _, ticks = context.query_rt_values_ex()
    assert ticks >= last and (i % 100 or ticks - before > -1000000), (i, ticks, last, before)
    last = ticks
child = os.fork()  # it has no clock, and does not stop its parent's
if child == 0:
    os._exit(0 if context.query_rt_values_ex()[1] == 0 else 1)
assert os.waitpid(child, 0)[1] == 0
time.sleep(0.005)
assert context.query_rt_values_ex()[1] > last
print("right")
"""

# A second context on the descriptor of the first, with doorbell pages of its own.
IMPORT = """
import os, pyverbs.device as device, pyverbs.enums as e
from pyverbs.cq import CQ
from pyverbs.mr import MR, DMMR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr
first = device.Context(name="mlx5_0")
pd, memory = PD(first), device.DM(first, device.AllocDmAttr(length=4096))
region = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
second = device.Context(cmd_fd=os.dup(first.cmd_fd))
same_pd = PD(second, handle=pd.handle)
assert MR(same_pd, handle=region.handle).lkey == region.lkey
same_memory = device.DM(second, handle=memory.handle)
memory.copy_to_dm(8, b"dozen of", 8)
assert same_memory.copy_from_dm(8, 8) == b"dozen of"
cq = CQ(second, 16)
for _ in range(30):  # more than there are pages: some share them
    QP(same_pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4)), None)
ticks = [context.query_rt_values_ex()[1] for context in (first, second)]
assert ticks[1] >= ticks[0] > 0, ticks
print("right")
"""


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.run(cls.fabric.urnic, "up", "--face", "mlx5")

    def run_on(self, devices, *words):
        return self.fabric.run_pair((*words, "-d", devices[0]), (*words, "-d", devices[1]))

    def test_pingpongs(self):
        for devices in (DEVICES, (DEVICES[0], DEVICES[0])):
            for service, *options in PINGPONGS:
                with self.subTest(devices=devices, service=service, options=options):
                    for output in self.run_on(devices, f"ibv_{service}_pingpong", "-g", 1, "-c", "-n", 100, *options):
                        self.assertRegex(output, re.compile(r"^100 iters in ", re.MULTILINE))
                        self.assertNotIn("invalid data", output)

    def test_extended_reliable_connections(self):
        for output in self.run_on(DEVICES, "ibv_xsrq_pingpong", "-g", 1, "-n", 100):
            self.assertRegex(output, re.compile(r"^success$", re.MULTILINE))

    def test_clock(self):
        self.assertIn("right", self.fabric.run_on_urnic("/usr/bin/python3", "-c", CLOCK))

    def test_imported_device(self):
        self.assertIn("right", self.fabric.run_on_urnic("/usr/bin/python3", "-c", IMPORT))

    def test_perftest(self):
        for words in PERFTESTS:
            with self.subTest(words):
                _, output = self.run_on(DEVICES, *words, "-F", "-x", 1, "-n", 100)
                self.assertRegex(output, re.compile(r"^ *\d+ +\d+ +[\d.]+", re.MULTILINE))

    def test_resizing_completion_queues(self):
        """Also to less than is in them: then the memory that libmlx5 has made for that goes back."""
        said = self.fabric.run_on_urnic(self.fabric.verbs_program("verbs_events"), "--log_level=error", "--run_test=resizing*",
                                        "--", *DEVICES)
        self.assertIn("No errors detected", said)

    def test_with_a_device_of_the_other_face(self):
        own = self.enterContext(fabric.Fabric())
        own.up("[[devices]]\nface = \"mlx5\"\n[[devices]]\n")
        for devices in (("mlx5_0", "urnic0"), ("urnic0", "mlx5_0")):
            with self.subTest(devices):
                server, client = (("ibv_rc_pingpong", "-g", 1, "-c", "-n", 100, "-d", device) for device in devices)
                for output in own.run_pair(server, client):
                    self.assertRegex(output, re.compile(r"^100 iters in ", re.MULTILINE))

    def test_programs_that_sleep_notice_the_end_of_their_device(self):
        own = self.enterContext(fabric.Fabric())
        own.run(own.urnic, "up", "--face", "mlx5")
        words = ("ibv_rc_pingpong", "-g", 1, "-e", "-n", 100_000_000)
        pair = own.start_pair((*words, "-d", DEVICES[0]), (*words, "-d", DEVICES[1]))
        watcher = own.start_on_urnic("ibv_asyncwatch", "-d", DEVICES[0])
        fabric.wait_until(lambda: sorted(each["objects"]["qp"] for each in own.status()["contexts"]) == [0, 1, 1],
                          "the queue pairs of two programs, and a third program")
        os.kill(own.device_process(), signal.SIGKILL)
        for program in (*pair, watcher):
            self.assertEqual(program.wait(60), 1, str(program))
        for program in pair:
            self.assertIn("Failed to get cq_event", program.output())


if __name__ == "__main__":
    unittest.main()
