#!/usr/bin/python3
"""A short run of each kind of program on devices that Debian's libmlx5 drives. The whole scripts: ctest -C mlx5 -L mlx5."""

import re
import unittest

import fabric

DEVICES = ("mlx5_0", "mlx5_1")
# Every service, and a wait for events.
PINGPONGS = (("rc",), ("rc", "-e"), ("uc",), ("ud",), ("srq",), ("rc", "-s", 100000, "-m", 1024))
# Programs that poll on both sides take turns with the device: few rounds.
PERFTESTS = (("ib_write_bw",), ("ib_read_bw",), ("ib_send_bw", "-I", 64, "-s", 32), ("ib_send_bw", "-q", 6),
             ("ib_atomic_bw", "-A", "FETCH_AND_ADD"), ("ib_send_bw", "-c", "UD"), ("ib_send_bw", "-c", "XRC"))


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


if __name__ == "__main__":
    unittest.main()
