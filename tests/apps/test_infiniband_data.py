#!/usr/bin/python3
"""Data on InfiniBand devices: unmodified programs find each other by LID, once Debian's opensm has brought the fabric up."""

import os
import shutil
import signal
import subprocess
import unittest

import fabric
from test_infiniband import CONFIGURATION, OPENSM, lid_of, start_manager
from test_pingpong import pingpong
from test_rdmacm import RdmaCmPair

# A path with a GRH has the port's first GID.
WITHOUT_GRH = "-1"
WITH_GRH = "0"
PERFTEST = (
    ("ib_write_bw", "-n", "500"), ("ib_write_bw", "-c", "UC", "-n", "500"), ("ib_write_lat", "-n", "300"),
    ("ib_read_bw", "-n", "500"), ("ib_atomic_bw", "-n", "300"), ("ib_send_bw", "-n", "500"), ("ib_send_bw", "-c", "XRC", "-n", "500"),
    ("ib_send_lat", "-c", "UD", "-n", "300"), ("ib_send_bw", "-c", "UD", "-b", "-n", "500"), ("ib_send_bw", "-e", "-n", "300"),
    ("ib_send_bw", "-a", "-n", "100"),
)
# The first one asks the subnet manager for a path, the second one is its answer.
REQUEST_LOST = """
[[fault]]
qp = 1
opcode = "UD Send Only"
occurrence = 3
count = 1
action = "drop"
"""
TSHARK_FIELDS = ("infiniband.lrh.slid", "infiniband.lrh.dlid", "infiniband.bth.opcode", "infiniband.bth.psn")


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class OnSubnet(unittest.TestCase):
    """Two devices that opensm has brought up."""

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)
        start_manager(cls.fabric)


class Data(OnSubnet):
    def test_pingpongs(self):
        first, second = fabric.DEVICES
        for service in ("rc", "uc", "ud", "srq"):
            for gid in (WITHOUT_GRH, WITH_GRH):
                for devices in ((first, second), (first, first)):
                    with self.subTest(service=service, gid=gid, devices=devices):
                        pingpong(self.fabric, devices, service=service, gid=gid)

    def test_sleeping_on_events(self):
        pingpong(self.fabric, fabric.DEVICES, "-e", gid=WITHOUT_GRH)

    def test_mtus_and_sizes(self):
        for mtu in fabric.MTUS:
            for size in (1, 4097, 1 << 20):
                with self.subTest(mtu=mtu, size=size):
                    pingpong(self.fabric, fabric.DEVICES, "-m", mtu, "-s", size, "-n", 50, gid=WITHOUT_GRH)

    def test_perftest(self):
        for name, *options in PERFTEST:
            with self.subTest(program=name, options=options):
                common = (name, "-F", *options)
                self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))

    def test_qperf(self):
        """Without -cm it exchanges LIDs, so RoCE ports do not have it."""
        port = fabric.free_port()
        server = self.fabric.start_on_urnic("qperf", "-lp", port)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listening server: {server}")
        for test in ("rc_lat", "rc_bw", "rc_bi_bw", "uc_lat", "uc_bw", "ud_lat", "ud_bw", "rc_rdma_read_bw", "rc_rdma_write_lat",
                     "rc_compare_swap_mr", "ver_rc_fetch_add"):
            with self.subTest(test):
                output = self.fabric.run_on_urnic("qperf", "-lp", port, "-t", "1", "-i", fabric.DEVICES[1], "127.0.0.1", test)
                self.assertRegex(output, r"(?:bw|latency|msg_rate|rate) +=")
        server.kill()

    def test_lost_packets_come_again(self):
        self.fabric.load_faults(fabric.losses())
        for gid in (WITHOUT_GRH, WITH_GRH):
            pingpong(self.fabric, fabric.DEVICES, "-n", 1000, gid=gid)
        self.assertGreater(self.fabric.lost_by_faults(), 20)
        self.fabric.run(self.fabric.urnic, "fault", "clear")

    def test_a_slow_link(self):
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "delay_us=20", "loss=0.01")
        try:
            # Both ends stay until both are done: a pingpong whose peer has ended misses an acknowledgement that was lost.
            common = ("ib_send_lat", "-F", "-s", "16384", "-n", 300)
            self.fabric.run_pair((*common, "-d", fabric.DEVICES[0]), (*common, "-d", fabric.DEVICES[1]))
        finally:
            self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "delay_us=0", "loss=0")

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed: tools/install-packages test")
    def test_wireshark_reads_the_packets(self):
        """Every packet is one of InfiniBand, between the two LIDs, whether the file is classic or not."""
        lids = {lid_of(self.fabric, device) for device in fabric.DEVICES}
        for name in ("data.pcapng", "data.pcap"):
            with self.subTest(name):
                path = self.fabric.directory / name
                capture = self.fabric.start(self.fabric.urnic, "capture", path)
                capture.wait_for_output("capturing")
                pingpong(self.fabric, fabric.DEVICES, "-n", 20, gid=WITHOUT_GRH)
                pingpong(self.fabric, fabric.DEVICES, "-n", 20, service="ud", gid=WITH_GRH)
                os.kill(capture.pid, signal.SIGINT)
                self.assertEqual(capture.wait(), 0, str(capture))
                fields = [option for field in TSHARK_FIELDS for option in ("-e", field)]
                read = subprocess.run(["tshark", "-r", path, "-T", "fields", *fields], capture_output=True, text=True,
                                      timeout=300, check=True).stdout.splitlines()
                self.assertGreater(len(read), 100)
                for line in read:
                    source, destination, *rest = line.split("\t")
                    self.assertEqual({int(source), int(destination)}, lids, line)
                    self.assertTrue(all(rest), line)


class Connections(OnSubnet, RdmaCmPair):
    """rdma_cm: a device has an IP address, as if an interface of IPoIB had it."""

    def test_programs(self):
        for server, client in (
                (("rping", "-s", "-V", "-C", 10), ("rping", "-c", "-a", "192.0.2.2", "-I", "192.0.2.1", "-V", "-C", 10)),
                (("rping", "-s", "-V", "-C", 10), ("rping", "-c", "-a", "127.0.0.1", "-V", "-C", 10)),
                (("ucmatose",), ("ucmatose", "-s", "192.0.2.2", "-b", "192.0.2.1")),
                (("udaddy",), ("udaddy", "-s", "192.0.2.2", "-b", "192.0.2.1")),
                (("rstream", "-S", 65536, "-C", 50), ("rstream", "-s", "192.0.2.2", "-S", 65536, "-C", 50)),
                (("rdma_server",), ("rdma_client", "-s", "192.0.2.2")),
                (("rdma_xserver", "-c", "r"), ("rdma_xclient", "-s", "192.0.2.2", "-c", "r")),
                (("ib_send_bw", "-R", "-F", "-n", 300), ("ib_send_bw", "-R", "-F", "-n", 300, "192.0.2.1"))):
            with self.subTest(client):
                self.pair(server, client)

    def test_messages_are_packets(self):
        """A fault plan acts on the connection manager's messages, which come again."""
        self.fabric.load_faults(REQUEST_LOST)
        self.pair(("rping", "-s", "-V", "-C", 3), ("rping", "-c", "-a", "192.0.2.2", "-I", "192.0.2.1", "-V", "-C", 3))
        self.assertEqual(self.fabric.lost_by_faults(), 1)
        self.fabric.run(self.fabric.urnic, "fault", "clear")


if __name__ == "__main__":
    unittest.main()
