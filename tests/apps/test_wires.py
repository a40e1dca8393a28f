#!/usr/bin/python3
"""Devices on UDP wires: on one host by its loopback addresses, and on two hosts that a cable joins."""

import concurrent.futures
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import fabric
import network
from test_capture import tshark

# All of 127/8 is this host: each run has addresses of its own.
OWN = f"127.{16 + os.getpid() // 256 % 200}.{os.getpid() % 256}"
TWO_DEVICES = f"""
[[devices]]
wire = "udp"
addresses = ["{OWN}.1"]
[[devices]]
wire = "udp"
addresses = ["{OWN}.2"]
"""


# Short datagrams, long ones, and packets to a QP with a wrong ICRC, as fast as one process sends them.
FLOOD = """
import os, socket, sys
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams = [b"", os.urandom(7), os.urandom(9000), bytes([4, 0x40, 255, 255, 0, 0, 0, 17]) + os.urandom(1024 + 8)]
while True:
    for datagram in datagrams:
        flood.sendto(datagram, (sys.argv[1], 4791))
"""


def check_pingpong(outputs):
    for output in outputs:
        # The program reports wrong data, but its exit status is 0.
        if "invalid data" in output or not re.search(r"^\d+ iters in ", output, re.MULTILINE):
            raise AssertionError(output)


class Loopback(unittest.TestCase):
    """The simplest case: no namespace, no second host."""

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(TWO_DEVICES)

    def pingpong(self, service, devices, *options):
        common = (f"ibv_{service}_pingpong", "-g", "0", "-c", *options)
        check_pingpong(self.fabric.run_pair((*common, "-d", devices[0]), (*common, "-d", devices[1]), timeout=120))

    def test_pingpong(self):
        for service in ("rc", "uc", "ud", "srq"):
            for devices in (("urnic0", "urnic1"), ("urnic1", "urnic0"), ("urnic0", "urnic0")):
                with self.subTest(service=service, devices=devices):
                    self.pingpong(service, devices)

    def test_sizes_and_mtus(self):
        for mtu in fabric.MTUS:
            for size in (1, 4096, 65537, 1 << 20):
                with self.subTest(mtu=mtu, size=size):
                    self.pingpong("rc", ("urnic0", "urnic1"), "-m", mtu, "-s", size, "-n", 100)

    def test_what_the_device_is(self):
        shown = json.loads(self.fabric.run(self.fabric.urnic, "link", "show", "--json"))["urnic0"]["wire"]
        self.assertEqual((shown["kind"], shown["interface"], shown["addresses"]), ("udp", "lo", [f"::ffff:{OWN}.1"]))
        self.assertIn("udp", self.fabric.run(self.fabric.urnic, "link", "show"))
        self.assertIn("udp on lo", self.fabric.run(self.fabric.urnic, "status"))
        described = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0")
        self.assertRegex(described, rf"GID\[ *0\]:\s+::ffff:{OWN}\.1")
        self.assertRegex(described, r"active_mtu:\s+4096")

    def test_a_flood_from_a_stranger_stops_nobody(self):
        """Reliable connections only: what the flood crowds out of the socket's buffer is lost."""
        flood = subprocess.Popen([sys.executable, "-c", FLOOD, f"{OWN}.1"])
        try:
            self.pingpong("rc", ("urnic0", "urnic1"))
            self.pingpong("srq", ("urnic1", "urnic0"))
        finally:
            flood.kill()
            flood.wait()
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]
        self.assertGreater(counters["udp_malformed"], 1000)
        self.assertGreater(counters["rx_icrc_encapsulated"], 1000)

    def test_an_address_is_used_once(self):
        other = self.enterContext(fabric.Fabric())
        refused = other.run(other.urnic, "up", "--udp", f"{OWN}.1", status=1)
        self.assertIn("UDP port 4791", refused)
        self.assertIn("in use", refused)

    def test_an_address_must_be_this_hosts(self):
        other = self.enterContext(fabric.Fabric())
        self.assertIn("no interface of this machine has the address", other.run(
            other.urnic, "up", "--udp", "192.0.2.200", status=1))


class TwoHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = cls.enterClassContext(network.TwoHosts())
        for host in cls.network.hosts:
            host.up_on_udp()

    def pingpong(self, service, *options):
        common = (f"ibv_{service}_pingpong", "-g", "0", "-c", "-d", "urnic0", *options)
        check_pingpong(self.network.run_pair(common, common, timeout=120))

    def test_pingpong(self):
        for service in ("rc", "uc", "ud", "srq"):
            with self.subTest(service):
                self.pingpong(service)

    def test_sizes(self):
        for size in (1, 1023, 1024, 1025, 65536, 1 << 20):
            with self.subTest(size):
                self.pingpong("rc", "-s", size, "-n", 200)

    def test_events(self):
        self.pingpong("rc", "-e")

    def test_the_active_mtu_is_the_interfaces(self):
        one = self.network.hosts[0]
        self.assertRegex(one.run_on_urnic("ibv_devinfo", "-d", "urnic0"), r"active_mtu:\s+1024")
        with self.assertRaises(AssertionError):
            self.pingpong("rc", "-m", 2048)
        log = (one.run_directory / "urnicd.log").read_text()
        self.assertIn("asked for a path MTU of 2048 bytes; on interface eth0, whose MTU is 1500, it is 1024 at most", log)

    def test_perftest(self):
        for program, *options in (("ib_write_bw", "-n", "1000"), ("ib_send_lat", "-n", "1000"), ("ib_read_bw", "-n", "500"),
                                  ("ib_send_bw", "-n", "1000", "-c", "UD"), ("ib_atomic_lat", "-n", "500")):
            with self.subTest(program):
                common = (program, "-d", "urnic0", "-x", "0", *options)
                self.network.run_pair(common, common, timeout=120)

    def test_rdma_cm(self):
        one, two = self.network.hosts
        for address in (one.address,):
            server = one.start_on_urnic("rping", "-s", "-a", address, "-v", "-C", "20")
            fabric.wait_until(lambda: one.status()["rdma_cm"]["listeners"] or server.status is not None, f"{server}")
            client = two.start_on_urnic("rping", "-c", "-a", address, "-v", "-C", "20")
            self.assertEqual(client.wait(), 0, f"{client}\n{server}")
            server.wait(20.0)

    def test_lost_packets_are_sent_again(self):
        for host in self.network.hosts:
            host.run(host.urnic, "link", "set", "urnic0", "loss=0.02")
        try:
            self.pingpong("rc", "-s", 100000, "-n", 300)
        finally:
            for host in self.network.hosts:
                host.run(host.urnic, "link", "set", "urnic0", "loss=0")

    def test_a_capture_on_the_cable_agrees_with_urnics(self):
        one = self.network.hosts[0]
        ours, theirs = (str(one.home / name) for name in ("ours.pcap", "theirs.pcap"))
        dump = one.start("dumpcap", "-i", "eth0", "-P", "-B", "16", "-w", theirs, "-f", "udp port 4791")
        dump.wait_for_output("File:")
        capture = one.start(one.urnic, "capture", ours)
        fabric.wait_until(lambda: one.status()["captures"] == 1, "a capture")
        self.pingpong("rc", "-s", 5000, "-n", 50)
        capture.process.send_signal(signal.SIGINT)
        capture.wait()
        time.sleep(1)  # dumpcap takes packets from the kernel in blocks
        dump.process.send_signal(signal.SIGINT)
        dump.wait()
        self.assertGreater(len(self.packets(ours)), 500)
        self.assertEqual(sorted(self.packets(ours)), sorted(self.packets(theirs)))
        self.assertEqual(tshark(theirs, "-Y", "!infiniband || _ws.malformed"), "")
        # ICRCs too: they are among the fields that agree.
        checked = json.loads(one.run(one.verbs_program("check_capture"), ours).splitlines()[-1])
        self.assertEqual(checked["frames"], len(self.packets(theirs)))

    def test_the_port_follows_the_interface(self):
        one, two = self.network.hosts

        def port(host):
            device = host.status()["devices"][0]
            return device["link"], device["mtu"]
        self.assertEqual(port(one), ("up", 1024))
        two.namespace.run("ip", "link", "set", "eth0", "down")
        for host in (one, two):  # the cable has no carrier
            fabric.wait_until(lambda host=host: port(host)[0] == "down", "a link that is down", 10)
        self.assertIn("PORT_DOWN", one.run_on_urnic("ibv_devinfo", "-d", "urnic0"))
        two.namespace.run("ip", "link", "set", "eth0", "up")
        for host in (one, two):
            fabric.wait_until(lambda host=host: port(host)[0] == "up", "a link that is up", 10)
            host.namespace.run("ip", "link", "set", "eth0", "mtu", 9000)
            fabric.wait_until(lambda host=host: port(host) == ("up", 4096), "a larger MTU", 10)
        self.pingpong("rc", "-m", 4096, "-s", 100000, "-n", 50)
        for host in (one, two):
            host.namespace.run("ip", "link", "set", "eth0", "mtu", 1500)
            fabric.wait_until(lambda host=host: port(host) == ("up", 1024), "a smaller MTU", 10)
        self.pingpong("rc")

    @staticmethod
    def packets(path):
        """What the ICRC covers of each packet, and ECN; both captures have their own Ethernet headers."""
        fields = ("ip.src", "ip.dst", "ip.id", "ip.dsfield", "ip.ttl", "udp.srcport", "udp.length",
                  "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.invariant.crc")
        return tshark(path, "-T", "fields", *(word for field in fields for word in ("-e", field))).splitlines()


class Accidents(unittest.TestCase):
    COMMON = ("ibv_rc_pingpong", "-g", "0", "-c", "-d", "urnic0")

    def setUp(self):
        self.network = self.enterContext(network.TwoHosts())
        for host in self.network.hosts:
            host.up_on_udp()

    def test_a_host_that_goes_away_and_comes_back(self):
        one, two = self.network.hosts
        port = fabric.free_port()
        server = one.start_on_urnic(*self.COMMON, "-n", 100_000_000, "-p", port)
        fabric.wait_until(lambda: one.is_listening(port) or server.status is not None, f"{server}")
        client = two.start_on_urnic(*self.COMMON, "-n", 100_000_000, "-p", port, one.address)

        def received():
            return one.status()["devices"][0]["wire"]["counters"]["received"]
        fabric.wait_until(lambda: received() > 1000 or server.status is not None, f"packets: {server}")
        os.kill(two.device_process(), signal.SIGKILL)
        self.assertNotEqual(client.wait(), 0)
        self.assertNotEqual(server.wait(), 0)
        self.assertIn("transport retry counter exceeded", server.output())
        two.up_on_udp()
        check_pingpong(self.network.run_pair(self.COMMON, self.COMMON))

    def test_an_interface_that_drops(self):
        try:
            for host in self.network.hosts:
                host.namespace.run("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "200mbit", "burst", "16k",
                                   "limit", "30k")
        except AssertionError as refused:
            if "kind is unknown" not in str(refused):
                raise
            self.skipTest("this kernel has no queue that drops (sch_tbf)")
        check_pingpong(self.network.run_pair((*self.COMMON, "-s", 100000, "-n", 100),
                                             (*self.COMMON, "-s", 100000, "-n", 100), timeout=120))


class FourHosts(unittest.TestCase):
    def test_all_pairs_at_once(self):
        with network.Lan(4) as lan:
            for host in lan.hosts:
                host.up_on_udp()
            common = ("ibv_rc_pingpong", "-g", "0", "-c", "-d", "urnic0", "-n", "300")
            pairs = list(itertools.combinations(range(4), 2))
            with concurrent.futures.ThreadPoolExecutor(len(pairs)) as pool:
                runs = [pool.submit(lan.run_pair, common, common, 120, pair) for pair in pairs]
            for run in runs:
                check_pingpong(run.result())


class JumboFrames(unittest.TestCase):
    def test_a_path_mtu_of_4096(self):
        with network.TwoHosts(mtu=9000) as hosts:
            for host in hosts.hosts:
                host.up_on_udp()
            common = ("ibv_rc_pingpong", "-g", "0", "-c", "-d", "urnic0", "-m", "4096", "-s", "1000000", "-n", "50")
            check_pingpong(hosts.run_pair(common, common))


class OverIpv6(unittest.TestCase):
    def test_pingpong(self):
        with network.TwoHosts() as hosts:
            for host in hosts.hosts:
                host.up_on_udp(address=host.address6)
            for service in ("rc", "ud"):
                common = (f"ibv_{service}_pingpong", "-g", "0", "-c", "-d", "urnic0")
                check_pingpong(hosts.run_pair(common, common))


if __name__ == "__main__":
    unittest.main()
