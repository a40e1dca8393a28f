#!/usr/bin/python3
"""Management datagrams: Debian's infiniband-diags, unmodified, on urnic's devices, and what they put on the wire."""

import os
import re
import signal
import socket
import time
import unittest

import fabric
from test_capture import tshark


def counters(output):
    """perfquery's lines, such as "PortXmitPkts:....................1234", as a dictionary."""
    return {name: int(value) for name, value in re.findall(r"^(\w+):\.+(\d+)$", output, re.MULTILINE)}


class Umad(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()

    def ping_server(self, device="urnic1"):
        server = self.fabric.start_on_urnic("ibping", "-S", "-C", device)
        # It says nothing when it is ready: the first requests may find nobody.
        fabric.wait_until(lambda: "received, 0% packet loss" in self.ping("-c", "1", "-t", "100", "2"),
                          f"an answer from {server}")
        return server

    def ping(self, *options):
        return self.fabric.run_on_urnic("ibping", "-C", "urnic0", *options)

    def test_ports_say_where_they_are(self):
        for number, device in enumerate(fabric.DEVICES, start=1):
            shown = self.fabric.run_on_urnic("ibstat", device)
            self.assertIn("State: Active", shown)
            self.assertRegex(shown, rf"Base lid: {number}\n")
            self.assertIn("Link layer: Ethernet", shown)
        self.assertIn("base lid:", self.fabric.run_on_urnic("ibstatus"))
        self.assertEqual(set(self.fabric.run_on_urnic("ibstat", "-l").split()), set(fabric.DEVICES))

    def test_verbs_see_no_lid(self):
        self.assertRegex(self.fabric.run_on_urnic("ibv_devinfo", "-d", "urnic0"), r"port_lid:\s+0\n")

    def test_ping(self):
        server = self.ping_server()
        output = self.ping("-c", "3", "2")
        self.assertEqual(len(re.findall(rf"^Pong from {socket.gethostname()}.* \(Lid 2\)", output, re.MULTILINE)), 3,
                         output)
        self.assertIn("3 packets transmitted, 3 received, 0% packet loss", output)
        flood = self.ping("-f", "-c", "500", "2")
        self.assertIn("500 packets transmitted, 500 received, 0% packet loss", flood)
        self.assertIsNone(server.status)

    def test_ping_to_oneself(self):
        self.fabric.start_on_urnic("ibping", "-S", "-C", "urnic0")
        fabric.wait_until(lambda: "1 received" in self.ping("-c", "1", "-t", "100", "1"), "an answer")

    def test_ping_without_a_server(self):
        output = self.ping("-c", "1", "-t", "100", "2")
        self.assertIn("1 packets transmitted, 0 received, 100% packet loss", output)

    def test_a_second_server_is_refused(self):
        self.ping_server()
        second = self.fabric.start_on_urnic("ibping", "-S", "-C", "urnic1")
        self.assertNotEqual(second.wait(), 0)
        self.assertIn("can't serve class", second.output())

    def test_server_ends_with_the_device_process(self):
        server = self.ping_server()
        self.fabric.run(self.fabric.urnic, "down")
        server.wait()

    def test_a_packet_that_a_read_has_no_room_for_stays(self):
        said = self.fabric.run_on_urnic("python3", self.fabric.copy_home("umad_reads.py")).splitlines()
        self.assertEqual(said, ["too small for a header EINVAL", "too small for a datagram EINVAL", "a datagram 320",
                                "too small for the first datagram EINVAL", "too small for the message ENOSPC",
                                "large enough 1120 True", "nothing left EAGAIN", "more than 32 MiB ENOMEM",
                                "too small for 3 MB ENOSPC", "large enough for 3 MB 3000120 True"])

    def reads(self, what):
        return self.fabric.run_on_urnic("python3", self.fabric.copy_home("umad_reads.py"), what)

    def test_a_header_without_pkey_index(self):
        self.assertEqual(self.reads("old").splitlines(), ["311 EINVAL", "312 ENOSPC", "319 ENOSPC", "320 320 True"])

    def test_processes_that_read_one_node_wait_for_their_packets(self):
        self.assertEqual(self.reads("processes"), "failures \n")

    def test_a_long_message_needs_no_larger_files_than_the_program_may_write(self):
        self.assertEqual(self.reads("small").splitlines(), ["200000 ENOMEM", "100000 100120 True"])

    def test_a_long_message_over_a_bad_link(self):
        self.fabric.load_faults('[[fault]]\ndirection = "tx"\nopcode = "UD Send Only"\nevery = 3\naction = "drop"\n')
        self.assertEqual(self.reads("whole"), "whole 1120 True\n")
        self.assertGreater(self.fabric.lost_by_faults(), 0)

    def test_counters(self):
        before = counters(self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "2", "1"))
        self.assertEqual(before["PortSelect"], 1)
        common = ("ibv_rc_pingpong", "-g", "1", "-n", "1000", "-s", "1024")
        self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))
        after = counters(self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "2", "1"))
        self.assertGreaterEqual(after["PortRcvPkts"] - before["PortRcvPkts"], 1000)
        self.assertGreaterEqual(after["PortXmitPkts"] - before["PortXmitPkts"], 1000)
        self.assertGreaterEqual((after["PortXmitData"] - before["PortXmitData"]) * 4, 1000 * 1024)
        # As in sysfs, but for perfquery's own packets.
        time.sleep(0.5)
        folder = self.fabric.run_directory / "sysfs/class/infiniband/urnic1/ports/1/counters"
        extended = counters(self.fabric.run_on_urnic("perfquery", "-x", "-C", "urnic0", "2", "1"))
        in_sysfs = int((folder / "port_rcv_packets").read_text())
        self.assertLessEqual(abs(extended["PortRcvPkts"] - in_sysfs), 10)
        self.assertEqual(extended["PortUnicastRcvPkts"], extended["PortRcvPkts"])

    def test_own_counters_and_reset(self):
        self.assertIn("PortXmitPkts", counters(self.fabric.run_on_urnic("perfquery", "-C", "urnic0")))
        self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "-R", "1", "1")
        shown = counters(self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "1", "1"))
        self.assertLess(shown["PortXmitPkts"], 20)

    def test_wireshark_reads_what_is_sent(self):
        path = str(self.fabric.home / "mads.pcap")
        capture = self.fabric.start(self.fabric.urnic, "capture", path)
        capture.wait_for_output("capturing")
        self.ping_server()
        self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "2", "1")
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        self.assertEqual(tshark(path, "-Y", "!infiniband.mad || _ws.malformed"), "", "packets that are no MADs")
        fields = ("infiniband.deth.q_key", "infiniband.deth.srcqp", "infiniband.bth.destqp", "infiniband.mad.mgmtclass",
                  "infiniband.mad.method", "udp.length")
        mads = [line.split("\t") for line in tshark(path, "-T", "fields", *(word for field in fields
                                                                         for word in ("-e", field))).splitlines()]
        self.assertTrue(mads)
        self.assertEqual({int(mad[0], 0) for mad in mads}, {0x80010000})
        self.assertEqual({(int(mad[1], 0), int(mad[2], 0)) for mad in mads}, {(1, 1)})
        self.assertEqual({(int(mad[3], 0), int(mad[4], 0)) for mad in mads},
                         {(0x32, 1), (0x32, 0x81), (4, 1), (4, 0x81)})
        self.assertEqual({mad[5] for mad in mads}, {"288"})


    def test_wireshark_reads_a_long_message(self):
        path = str(self.fabric.home / "long.pcap")
        capture = self.fabric.start(self.fabric.urnic, "capture", path)
        capture.wait_for_output("capturing")
        self.reads("whole")
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        fields = ("method", "rmpptype", "segmentnumber", "payloadlength", "newwindowlast")
        words = [word for field in fields for word in ("-e", "infiniband." + ("mad." if field == "method" else "rmpp.") + field)]
        seen = [line.split("\t") for line in tshark(path, "-Y", "infiniband.rmpp.rmpptype > 0", "-T", "fields", *words).splitlines()]
        data = [line for line in seen if int(line[1], 0) == 1]
        # 1000 bytes, 200 in each segment, behind 20 of the class's header.
        self.assertEqual([(int(line[0], 0), int(line[2], 0), int(line[3], 0)) for line in data],
                         [(0x92, 1, 1100), (0x92, 2, 0), (0x92, 3, 0), (0x92, 4, 0), (0x92, 5, 220)])
        replies = [(int(line[0], 0), int(line[2], 0), int(line[4], 0)) for line in seen if int(line[1], 0) == 2]
        self.assertEqual(replies[:2], [(0x12, 1, 65), (0x12, 5, 65)])


if __name__ == "__main__":
    unittest.main()
