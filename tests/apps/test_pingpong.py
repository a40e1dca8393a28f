#!/usr/bin/python3
"""The pingpong programs of RC, XRC, UC, UD and shared receive queues: on one device, and between two devices."""

import os
import re
import unittest

import fabric

# Each setting must work; test_many_rounds and test_default do for long what the others do for a short time.
ROUNDS = ("-n", "300")
FIRST, SECOND = fabric.DEVICES
# libmlx5 is shown no device memory (-j).
KINDS = (("-o",), ("-O",), ("-o", "-P"), ("-O", "-P"), ("-N",), ("-t",), ("-N", "-o", "-t"),
         *((("-j",),) if fabric.FACE == "urnic" else ()))
PAIRS = ((FIRST, FIRST), (FIRST, SECOND), (SECOND, FIRST))


def pingpong(on, device, *options, service="rc", gid="1"):
    """One run, in which the program checks every byte (-c). Returns the client's output."""
    common = (f"ibv_{service}_pingpong", "-g", gid, "-c", *ROUNDS)
    server = (*common, "-d", device[0], *options)
    client = (*common, "-d", device[1], *options)
    outputs = on.run_pair(server, client)
    for output in outputs:
        # The program reports wrong data, but its exit status is 0.
        if "invalid data" in output:
            raise AssertionError(output)
        if not re.search(r"^\d+ iters in ", output, re.MULTILINE):
            raise AssertionError(f"no result: {output}")
    return outputs[1]


def xsrq_pingpong(on, device, *options):
    """The pingpong of XRC checks completions only, and prints no more than its success."""
    common = ("ibv_xsrq_pingpong", "-g", "1", *ROUNDS)
    for output in on.run_pair((*common, "-d", device[0], *options), (*common, "-d", device[1], *options)):
        if not re.search(r"^success$", output, re.MULTILINE):
            raise AssertionError(f"no result: {output}")


class Pingpong(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()

    def test_default(self):
        for devices in PAIRS:
            with self.subTest(devices):
                pingpong(self.fabric, devices, "-n", 1000)

    def test_sleeping_on_events(self):
        for devices in PAIRS:
            with self.subTest(devices):
                pingpong(self.fabric, devices, "-e")

    def test_sizes(self):
        sizes = [1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536,
                 65537, 1 << 20, (1 << 20) + 1, 4 << 20]
        for devices in PAIRS[:2]:
            for size in sizes:
                with self.subTest(devices=devices, size=size):
                    pingpong(self.fabric, devices, "-s", size, "-n", 300 if size < 1 << 20 else 50)

    def test_every_mtu(self):
        for devices in PAIRS[:2]:
            for mtu in fabric.MTUS:
                for size in (64, 4096, 100000):
                    with self.subTest(devices=devices, mtu=mtu, size=size):
                        pingpong(self.fabric, devices, "-m", mtu, "-s", size, "-n", 300)

    def test_every_mtu_on_events(self):
        for mtu in fabric.MTUS:
            with self.subTest(mtu):
                pingpong(self.fabric, PAIRS[1], "-m", mtu, "-e", "-n", 300)

    def test_many_rounds(self):
        """More than a counter of 16 bits can tell apart."""
        for devices in PAIRS[:2]:
            with self.subTest(devices):
                self.assertIn("70000 iters in", pingpong(self.fabric, devices, "-n", 70000))

    def test_receive_depths(self):
        for depth in (1, 2, 500):
            with self.subTest(depth):
                pingpong(self.fabric, PAIRS[1], "-r", depth)

    def test_kinds_of_memory_and_of_posting(self):
        """On-demand memory (also implicit, also prefetched), device memory, timestamps, the builders of ibv_qp_ex."""
        for devices in PAIRS[:2]:
            for options in KINDS:
                with self.subTest(devices=devices, options=options):
                    pingpong(self.fabric, devices, *options)

    def test_unreliable_connections(self):
        """No message is lost while a receive is posted for every message."""
        for devices in PAIRS:
            for options in ((), ("-e",), ("-s", "1"), ("-s", "100001", "-n", "200"), ("-m", "256", "-s", "8192")):
                with self.subTest(devices=devices, options=options):
                    pingpong(self.fabric, devices, *options, service="uc")

    def test_datagrams(self):
        """Over IPv4 and IPv6. The program makes the address for its answers from a received datagram."""
        for devices in PAIRS:
            for gid in ("0", "1"):
                for options in (("-s", "1024"), ("-e", "-s", "64"), ("-s", "1"), ("-s", "4096")):
                    with self.subTest(devices=devices, gid=gid, options=options):
                        pingpong(self.fabric, devices, *options, service="ud", gid=gid)

    def test_shared_receive_queue(self):
        for devices in PAIRS:
            for options in ((), ("-e",), ("-q", "1"), ("-q", "100", "-n", "200"), ("-s", "100000"), ("-s", "8", "-r", "16")):
                with self.subTest(devices=devices, options=options):
                    pingpong(self.fabric, devices, *options, service="srq")

    def test_extended_reliable_connections(self):
        for devices in PAIRS:
            for options in ((), ("-e",), ("-s", "100000", "-n", "200"), ("-s", "8", "-n", "2000"), ("-m", "256"), ("-o",)):
                with self.subTest(devices=devices, options=options):
                    xsrq_pingpong(self.fabric, devices, *options)

    def test_eight_pairs_at_once(self):
        pairs = []
        for i in range(8):
            devices = PAIRS[i % len(PAIRS)]
            events = ("-e",) if i % 2 else ()
            pairs.append(self.fabric.start_pair(
                ("ibv_rc_pingpong", "-g", "1", "-c", "-n", "2000", "-d", devices[0], *events),
                ("ibv_rc_pingpong", "-g", "1", "-c", "-n", "2000", "-d", devices[1], *events)))
        for server, client in pairs:
            for program in (client, server):
                self.assertEqual(program.wait(), 0, str(program))
                self.assertNotIn("invalid data", program.output())


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class PingpongAsRoot(unittest.TestCase):
    def test_as_root(self):
        with fabric.Fabric(user=None) as own:
            for devices in PAIRS[:2]:
                pingpong(own, devices)


if __name__ == "__main__":
    unittest.main()
