#!/usr/bin/python3
"""Captures of an InfiniBand fabric: opensm's first sweep, what infiniband-diags ask, and data, as Debian's tshark and a check of
the CRCs of the test's own read them. Management datagrams between devices are packets that faults act on."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import fabric
from infiniband_packets import Packet, packets_of
from test_infiniband import CONFIGURATION, OPENSM, lid_of, start_manager
from test_pingpong import pingpong

# A sample of the specification's: RC RDMA WRITE, LRH and BTH to VCRC; its ICRC is published. And the same with a GRH.
SAMPLES = {
    "7012375c000e17d20a2024870087b1b3000dec2a01710a1c015d400238f27a050000000ebb884d85fd5cfba4728bc0690ed400009625b75a45fa": "9625b75a",
    "7013375c001817d2600000000032001000000000000001250000000000000026000000000000011700000000000000960a2024870087b1b3000dec2a01710a1c"
    "015d400238f27a050000000ebb884d85fd5cfba4728bc0690ed400001493ec467c44": "1493ec46",
}
ANSWER_LOST = """
[[fault]]
device = "urnic0"
direction = "tx"
qp = 1
opcode = "UD Send Only"
count = 1
action = "drop"
"""
# Of the manager's first datagrams to the other device, and of what that answers.
SWEEP_LOST = "".join(f"""
[[fault]]
name = "{mad}"
device = "urnic1"
direction = "{direction}"
mad = "{mad}"
count = 1
action = "drop"
""" for mad, direction in (("SubnGet(NodeInfo)", "rx"), ("SubnSet(PortInfo)", "rx"), ("SubnGetResp(PortInfo)", "tx")))
QUESTION_LOST = """
[[fault]]
device = "urnic1"
direction = "rx"
mad = "SubnGet(NodeInfo)"
occurrence = 1
action = "drop"
"""
ADMINISTRATION, PERFORMANCE, PING, BY_LID, DIRECTED = 0x03, 0x04, 0x32, 0x01, 0x81
CLASSES = {ADMINISTRATION, PERFORMANCE, PING, BY_LID, DIRECTED}
GET, SET, ANSWER = 0x01, 0x02, 0x81
NODE_INFO, SWITCH_INFO, PORT_INFO, FORWARDING = 0x11, 0x12, 0x15, 0x19
NAMES = ("SubnGet(NodeInfo)", "SubnGet(SwitchInfo)", "SubnSet(PortInfo)", "SubnGetResp(PortInfo)", "SubnSet(LinearForwardingTable)",
         "SubnAdmGetTable(NodeRecord)")


class CheckSums(unittest.TestCase):
    def test_samples_of_the_specification(self):
        for sample, icrc in SAMPLES.items():
            packet = Packet(bytes.fromhex(sample))
            self.assertEqual(packet.complaint(), "")
            self.assertEqual(packet.right_icrc().hex(), icrc)

    def test_another_bit_is_another_sum(self):
        for sample in SAMPLES:
            for byte in range(len(sample) // 2):
                changed = bytearray.fromhex(sample)
                changed[byte] ^= 0x08
                with self.subTest(byte=byte):
                    self.assertIn("VCRC", Packet(bytes(changed)).complaint())


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Management(unittest.TestCase):
    """All that passes the links of two devices from before opensm starts."""

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)
        cls.paths = [cls.fabric.directory / name for name in ("sweep.pcapng", "sweep.pcap")]
        captures = [cls.fabric.start(cls.fabric.urnic, "capture", path) for path in cls.paths]
        cls.without_erf = cls.fabric.directory / "lrh.pcap"
        captures.append(cls.fabric.start(cls.fabric.urnic, "capture", "--lrh", cls.without_erf))
        for capture in captures:
            capture.wait_for_output("capturing")
        start_manager(cls.fabric)
        cls.make_traffic()
        for capture in captures:
            os.kill(capture.pid, signal.SIGINT)
            if capture.wait() != 0:
                raise AssertionError(str(capture))
        cls.packets = [packets_of(path) for path in cls.paths]

    @classmethod
    def make_traffic(cls):
        show = cls.fabric.run_on_urnic
        cls.lids = [lid_of(cls.fabric, device) for device in fabric.DEVICES]
        other = cls.lids[1]
        cls.switch = int(re.search(r"lid (\d+)", show("ibswitches", "-C", "urnic0")).group(1))
        show("iblinkinfo", "-C", "urnic0")
        show("smpquery", "-C", "urnic0", "portinfo", other, 1)
        show("saquery", "-C", "urnic1", "NodeRecord")
        for lid in (other, cls.switch):
            show("perfquery", "-C", "urnic0", lid, 1)
        server = cls.fabric.start_on_urnic("ibping", "-S", "-C", "urnic1")
        fabric.wait_until(lambda: "1 received" in show("ibping", "-C", "urnic0", "-c", 1, "-t", 200, other), "a pong")
        server.kill()
        for gid in ("-1", "0"):
            pingpong(cls.fabric, fabric.DEVICES, "-n", 20, gid=gid)

    def test_every_check_sum_is_right(self):
        for path, packets in zip(self.paths, self.packets):
            with self.subTest(path.name):
                self.assertEqual([packet.complaint() for packet in packets if packet.complaint()], [])
                self.assertEqual({packet.management_class for packet in packets if packet.management_class}, CLASSES)
                data = [packet for packet in packets if packet.management_class is None]
                self.assertEqual({packet.has_grh for packet in data}, {False, True})

    def test_headers(self):
        """IBTA 7.6.4, 14.2.2: subnet management has the virtual lane 15, and directed no LIDs; other classes have neither."""
        for packet in (packet for packets in self.packets for packet in packets):
            kind = packet.management_class
            is_subnet_management = kind in (BY_LID, DIRECTED)
            self.assertEqual(packet.lane == 15, is_subnet_management, packet.data.hex())
            self.assertEqual((packet.source, packet.destination) == (0xFFFF, 0xFFFF), kind == DIRECTED, packet.data.hex())
            if kind is not None:
                self.assertEqual(packet.queue_pair, 0 if is_subnet_management else 1)
                self.assertEqual(packet.level, 0)
                self.assertFalse(packet.has_grh)
                self.assertEqual(packet.end, 288)
                self.assertLessEqual({packet.source, packet.destination}, {*self.lids, self.switch, 0xFFFF})

    def test_a_sweep_is_whole(self):
        """Of the classic file, which has each packet once: opensm's questions are there, and each has its answer."""
        asked, answered = set(), set()
        for packet in self.packets[1]:
            if packet.management_class != DIRECTED:
                continue
            mad = packet.payload[8:]
            method, transaction, attribute = mad[3], mad[8:16], int.from_bytes(mad[16:18], "big")
            if method in (GET, SET):
                asked.add((transaction, attribute))
            elif method == ANSWER:
                answered.add((transaction, attribute))
        self.assertEqual(asked, answered)
        self.assertLessEqual({NODE_INFO, SWITCH_INFO, PORT_INFO, FORWARDING}, {attribute for _, attribute in asked})

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed: tools/install-packages test")
    def test_wireshark_reads_them(self):
        for path in self.paths:
            with self.subTest(path.name):
                self.assertEqual(self.tshark(path, "-Y", "_ws.malformed"), "")
                shown = self.tshark(path)
                for name in NAMES:
                    self.assertIn(name, shown)

    def tshark(self, path, *options):
        return subprocess.run(["tshark", "-r", path, *options], capture_output=True, text=True, timeout=300, check=True).stdout

    def test_packets_may_begin_with_their_lrh(self):
        written = self.without_erf.read_bytes()
        self.assertEqual(int.from_bytes(written[20:24], "little"), 247)
        length = int.from_bytes(written[32:36], "little")
        first = Packet(written[40:40 + length])
        self.assertEqual(first.complaint(), "")
        self.assertEqual(first.management_class, DIRECTED)

    def test_urnic_trace_names_them(self):
        for path in (*self.paths, self.without_erf):
            with self.subTest(path.name):
                shown = self.fabric.run(self.fabric.urnic, "trace", path)
                for name in (*NAMES, "PerformanceGet(PortCounters)", "VendorGet(0x0) OUI=0x001405", "RMPP=DATA,1", "RMPP=ACK,1"):
                    self.assertIn(name, shown)
                self.assertRegex(shown, r"LID 65535 > LID 65535 .*SubnGet\(NodeInfo\) Path=1,2 Hop=1/2 TID=0x")
                self.assertRegex(shown, rf"LID {self.switch} > LID {self.lids[0]} .*PerformanceGetResp\(PortCounters\)")
                self.assertNotIn("never arrives", shown)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class FromTheStart(unittest.TestCase):
    def test_a_capture_of_run_has_the_sweep(self):
        """urnic run waits for the manager when the capture has begun."""
        on = self.enterContext(fabric.Fabric())
        path = on.home / "sweep.pcap"
        on.run(on.urnic, "run", "--infiniband", "--capture", path, "--", "true")
        packets = packets_of(path)
        self.assertEqual([packet.complaint() for packet in packets if packet.complaint()], [])
        shown = on.run(on.urnic, "trace", path)
        # The manager makes each port armed, then active.
        self.assertGreaterEqual(shown.count("SubnSet(PortInfo)"), 4)
        self.assertIn("SubnGet(NodeInfo) Path=1 Hop=1/1", shown)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Losses(unittest.TestCase):
    """The first datagram that queue pair 1 of opensm's device sends is lost."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        start_manager(self.fabric)
        self.fabric.load_faults(ANSWER_LOST)

    def test_an_answer_is_asked_for_again(self):
        lid = lid_of(self.fabric, "urnic0")
        self.assertIn("PortXmitData", self.fabric.run_on_urnic("perfquery", "-C", "urnic1", lid, 1))
        self.assertEqual(self.fabric.lost_by_faults(), 1)

    def test_a_segment_of_the_managers_answer_comes_again(self):
        said = self.fabric.run_on_urnic("saquery", "-t", 20000, "-C", "urnic1", "NodeRecord")
        self.assertEqual(said.count("NodeRecord dump"), 3)
        self.assertEqual(self.fabric.lost_by_faults(), 1)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class LostManagement(unittest.TestCase):
    """Subnet management that a device's link loses is repeated, as on Linux (umad)."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)

    def matches(self):
        return [rule["matches"] for rule in json.loads(self.fabric.run(self.fabric.urnic, "fault", "list", "--json"))["rules"]]

    def ask(self):
        return self.fabric.start_on_urnic("smpquery", "-C", "urnic0", "-t", "100", "-D", "nodeinfo", "0,1,2")

    def capture(self, name, *options):
        path = self.fabric.directory / name
        capture = self.fabric.start(self.fabric.urnic, "capture", *options, path)
        capture.wait_for_output("capturing")
        return path, capture

    def end(self, capture):
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, capture)

    def test_opensm_brings_the_fabric_up_all_the_same(self):
        self.fabric.load_faults(SWEEP_LOST)
        path, capture = self.capture("lost.pcap", "--points", "dropped")
        start_manager(self.fabric)
        self.end(capture)
        self.assertEqual(self.matches(), [1, 1, 1])
        shown = self.fabric.run(self.fabric.urnic, "trace", path)
        for name in ("SubnGet(NodeInfo)", "SubnSet(PortInfo)", "SubnGetResp(PortInfo)"):
            self.assertEqual(shown.count(name), 1, shown)

    def test_smpquery_asks_again(self):
        """Its library does, unless its own patience has ended before the device process says that nobody answers."""
        self.fabric.load_faults(QUESTION_LOST)
        captures = [self.capture(f"{point}.pcap", "--points", point, "--device", "urnic1") for point in ("before", "after")]
        fabric.wait_until(lambda: self.ask().wait() == 0, "an answer")
        for _, capture in captures:
            self.end(capture)
        before, after = ([packet.payload[8 + 3] for packet in packets_of(path)] for path, _ in captures)
        self.assertEqual(before.count(GET), after.count(GET) + 1)
        self.assertEqual(after.count(GET), 1)

    def test_what_is_lost_each_time_times_out(self):
        self.fabric.load_faults(QUESTION_LOST.replace("occurrence = 1\n", ""))
        program = self.ask()
        self.assertEqual(program.wait(), 255, program)
        self.assertGreater(self.matches()[0], 0)


if __name__ == "__main__":
    unittest.main()
