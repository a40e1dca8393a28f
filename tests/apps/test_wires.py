#!/usr/bin/python3
"""Devices on UDP wires: on one host by its loopback addresses, and on two hosts that a cable joins."""

import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import re
import signal
import socket
import struct
import sys
import time
import unittest

import fabric
import flood
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


# Of a ping-pong: enough for a window to fill and for a loss to be repaired.
ROUNDS = ("-n", "300")


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
        common = (f"ibv_{service}_pingpong", "-g", "0", "-c", *ROUNDS, *options)
        check_pingpong(self.fabric.run_pair((*common, "-d", devices[0]), (*common, "-d", devices[1])))

    def test_pingpong(self):
        for service in ("rc", "uc", "ud", "srq"):
            for devices in (("urnic0", "urnic1"), ("urnic1", "urnic0"), ("urnic0", "urnic0")):
                with self.subTest(service=service, devices=devices):
                    self.pingpong(service, devices)

    def test_sizes_and_mtus(self):
        for mtu in fabric.MTUS:
            for size in (1, 4096, 65537, 1 << 20):
                with self.subTest(mtu=mtu, size=size):
                    self.pingpong("rc", ("urnic0", "urnic1"), "-m", mtu, "-s", size, "-n", 30)

    def test_faults_answer_what_comes_by_the_wire(self):
        """The receiver's link takes the requests away, and its answers go back to the sender's host."""
        for action, told in (("rnr_nak", "rnr_nak_retry_err"), ("nak", "packet_seq_err")):
            with self.subTest(action):
                answered, heard = self.counters("urnic1")["link_rx_answered"], self.counters("urnic0")[told]
                self.fabric.load_faults(f"""
                    [[fault]]
                    device = "urnic1"
                    direction = "rx"
                    opcode = ["Send First", "Send Middle", "Send Last"]
                    every = 97
                    action = "{action}"
                """)
                self.pingpong("rc", ("urnic0", "urnic1"), "-s", 4096, "-m", 1024)
                self.assertNotIn("never matched", self.fabric.run(self.fabric.urnic, "fault", "clear"))
                answered = self.counters("urnic1")["link_rx_answered"] - answered
                self.assertGreater(answered, 0)
                self.assertGreaterEqual(self.counters("urnic0")[told] - heard, answered)

    def test_congestion_control_is_on_and_hears_of_congestion_by_the_wire(self):
        devices = json.loads(self.fabric.run(self.fabric.urnic, "status", "--json"))["devices"]
        self.assertEqual([device["congestion"] for device in devices], ["rtt", "rtt"])
        before = self.counters("urnic0")["rp_cnp_handled"]
        self.fabric.load_faults("""
            [[fault]]
            device = "urnic1"
            direction = "rx"
            opcode = ["Send First", "Send Middle", "Send Last"]
            every = 50
            action = "cnp"
        """)
        self.pingpong("rc", ("urnic0", "urnic1"), "-s", 65536)
        self.fabric.run(self.fabric.urnic, "fault", "clear")
        self.assertGreater(self.counters("urnic0")["rp_cnp_handled"], before)
        self.assertEqual(self.counters("urnic0")["rp_cnp_ignored"], 0)

    def test_faults_count_from_the_first_packet_that_comes_by_the_wire(self):
        """What the peer's first PSN is, the receiver's queue pair knows: pingpong's is random."""
        before = self.counters("urnic1")["link_rx_fault_dropped"]
        self.fabric.load_faults("""
            [[fault]]
            device = "urnic1"
            direction = "rx"
            opcode = ["Send First", "Send Middle", "Send Last"]
            relative_psn = [0, 5]
            transmission = 1
            action = "drop"
        """)
        self.pingpong("rc", ("urnic0", "urnic1"), "-s", 4096, "-m", 1024)
        self.fabric.run(self.fabric.urnic, "fault", "clear")
        self.assertEqual(self.counters("urnic1")["link_rx_fault_dropped"] - before, 2)

    def counters(self, device):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))[device]

    def test_what_the_device_is(self):
        shown = json.loads(self.fabric.run(self.fabric.urnic, "link", "show", "--json"))["urnic0"]["wire"]
        self.assertEqual((shown["kind"], shown["interface"], shown["addresses"]), ("udp", "lo", [f"::ffff:{OWN}.1"]))
        self.assertIn("udp", self.fabric.run(self.fabric.urnic, "link", "show"))
        self.assertIn("udp on lo", self.fabric.run(self.fabric.urnic, "status"))
        described = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0")
        self.assertRegex(described, rf"GID\[ *0\]:\s+::ffff:{OWN}\.1")
        self.assertRegex(described, r"active_mtu:\s+4096")

    def test_an_address_is_used_once(self):
        other = self.enterContext(fabric.Fabric())
        refused = other.run(other.urnic, "up", "--udp", f"{OWN}.1", status=1)
        self.assertIn("UDP port 4791", refused)
        self.assertIn("in use", refused)

    def test_an_address_must_be_this_hosts(self):
        other = self.enterContext(fabric.Fabric())
        self.assertIn("no interface of this machine has the address", other.run(
            other.urnic, "up", "--udp", "192.0.2.200", status=1))


class Strangers(unittest.TestCase):
    """What comes to the port from others than the devices' peers. Programs of ours use the second GID."""
    own, peer, stranger = (f"{OWN}.{last}" for last in (11, 12, 9))

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(TWO_DEVICES.replace('.1"', f'.1", "{self.own}"').replace('.2"', f'.2", "{self.peer}"'))

    def counters(self):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]

    def queue_pairs(self):
        """The numbers of all queue pairs."""
        text = self.fabric.run(self.fabric.urnic, "status", "--json", "--qps")
        return sorted(set(map(int, re.findall(r'"qpn": *(\d+)', text))))

    def test_a_million_datagrams(self):
        """Garbage, packets to nobody, and packets to the queue pairs with wrong PSNs, also from the peer's address: the
        bystander checks every byte, and its connection lives on."""
        bystander = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"))
        bystander.wait_for_output("running")
        qpns = self.queue_pairs()
        self.assertGreaterEqual(len(qpns), 2)
        flooding = self.fabric.start(sys.executable, self.fabric.copy_home("flood.py"), self.own, 1_000_000, "--source",
                                     self.stranger, "--source", self.peer, *(word for qpn in qpns for word in ("--qpn", qpn)))
        self.assertEqual(flooding.wait(), 0, flooding)
        counters = self.counters()
        bystander.process.send_signal(signal.SIGTERM)
        self.assertEqual(bystander.wait(), 0, bystander)
        found = json.loads(bystander.output().splitlines()[-1])
        self.assertGreater(found["round_trips"]["count"], 10)
        for name in ("udp_malformed", "rx_icrc_encapsulated", "rx_unknown_qp", "rx_wrong_address"):
            self.assertGreater(counters[name], 1000, name)
        self.assertEqual(self.fabric.status()["devices"][0]["link"], "up")

    def test_no_answer_is_larger_than_what_asked(self):
        """Every opcode, to all queue pairs and to nobody, and management datagrams of every class and attribute."""
        bystander = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"))
        bystander.wait_for_output("running")
        stranger = self.enterContext(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        stranger.bind((self.stranger, 4791))  # where answers go
        stranger.settimeout(0.05)
        asked = answered = answers = 0
        for datagram in self.questions([*self.queue_pairs(), 1, 0x123456]):
            stranger.sendto(datagram, (self.own, 4791))
            asked += 1
            with contextlib.suppress(TimeoutError):
                while True:
                    answer = stranger.recv(65536)
                    self.assertLessEqual(len(answer), len(datagram), (datagram, answer))
                    answers += 1
        with contextlib.suppress(TimeoutError):
            stranger.settimeout(5)  # longer than the connection manager waits before it says something again
            while True:
                late = stranger.recv(65536)
                self.fail(f"a stranger hears something without asking: {late}")
        self.assertGreater(answers, 5)  # of queue pair 1
        self.assertLessEqual(answers, asked)
        bystander.process.send_signal(signal.SIGTERM)
        self.assertEqual(bystander.wait(), 0, bystander)

    def questions(self, qpns):
        for opcode in range(256):
            for qpn in qpns:
                if qpn != 1:
                    yield self.packet(opcode, qpn, random.randbytes(64))
        for management_class in (1, 3, 4, 6, 7, 9, 0x32, 0x81):
            for method in (1, 2, 3, 0x81):
                for attribute in (0, 1, 2, *range(0x10, 0x1E)):
                    if management_class not in (4, 7) and attribute > 2:
                        continue
                    mad = struct.pack(">BBBBHHQHHI", 1, management_class, 2 if management_class == 7 else 1, method, 0, 0,
                                      random.getrandbits(64), attribute, 0, 0) + random.randbytes(232)
                    yield self.packet(0x64, 1, struct.pack(">II", 0x80010000, 1) + mad)

    def packet(self, opcode, qpn, behind):
        packet = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, qpn, 1 << 31 | random.getrandbits(24)) + behind
        return packet + flood.icrc(self.stranger, self.own, 4791, packet)


class TwoHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = cls.enterClassContext(network.TwoHosts())
        for host in cls.network.hosts:
            host.up_on_udp()

    def pingpong(self, service, *options):
        common = (f"ibv_{service}_pingpong", "-g", "0", "-c", "-d", "urnic0", *ROUNDS, *options)
        check_pingpong(self.network.run_pair(common, common))

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
                self.network.run_pair(common, common)

    def test_rdma_cm(self):
        one, two = self.network.hosts
        for address in (one.address,):
            server = one.start_on_urnic("rping", "-s", "-a", address, "-v", "-C", "20")
            fabric.wait_until(lambda: one.status()["rdma_cm"]["listeners"] or server.status is not None, f"{server}")
            client = two.start_on_urnic("rping", "-c", "-a", address, "-v", "-C", "20")
            self.assertEqual(client.wait(), 0, f"{client}\n{server}")
            server.wait()

    def test_lost_packets_are_sent_again(self):
        for host in self.network.hosts:
            host.run(host.urnic, "link", "set", "urnic0", "loss=0.02")
        try:
            common = ("ib_send_bw", "-F", "-d", "urnic0", "-x", "0", "-s", "65536", "-n", "200")
            self.network.run_pair(common, common)
        finally:
            for host in self.network.hosts:
                host.run(host.urnic, "link", "set", "urnic0", "loss=0")

    def test_what_is_sent_again_is_right(self):
        for host in self.network.hosts:
            host.load_faults(fabric.losses())
        try:
            self.pingpong("rc", "-s", 100000, "-n", 100)
        finally:
            for host in self.network.hosts:
                host.run(host.urnic, "fault", "clear")
        for host in self.network.hosts:
            self.assertGreater(host.lost_by_faults(), 100)

    def test_the_port_follows_the_interface(self):
        one, two = self.network.hosts

        def port(host):
            device = host.status()["devices"][0]
            return device["link"], device["mtu"]
        self.assertEqual(port(one), ("up", 1024))
        two.namespace.run("ip", "link", "set", "eth0", "down")
        for host in (one, two):  # the cable has no carrier
            fabric.wait_until(lambda host=host: port(host)[0] == "down", "a link that is down")
        self.assertIn("PORT_DOWN", one.run_on_urnic("ibv_devinfo", "-d", "urnic0"))
        two.namespace.run("ip", "link", "set", "eth0", "up")
        for host in (one, two):
            fabric.wait_until(lambda host=host: port(host)[0] == "up", "a link that is up")
            host.namespace.run("ip", "link", "set", "eth0", "mtu", 9000)
            fabric.wait_until(lambda host=host: port(host) == ("up", 4096), "a larger MTU")
        self.pingpong("rc", "-m", 4096, "-s", 100000, "-n", 50)
        for host in (one, two):
            host.namespace.run("ip", "link", "set", "eth0", "mtu", 1500)
            fabric.wait_until(lambda host=host: port(host) == ("up", 1024), "a smaller MTU")
        self.pingpong("rc")


class TwoInterfaces(unittest.TestCase):
    """Hosts with a device on two interfaces each. Interfaces of the first one fail, and addresses move."""

    def setUp(self):
        self.network = self.enterContext(network.TwoHosts())
        self.host = self.network.hosts[0]
        self.others = self.network.add_cable()
        for host, other in zip(self.network.hosts, self.others):
            host.up_on_udp(address=f"{host.address},{other}")

    def ip(self, *words):
        self.host.namespace.run("ip", *words)

    def link(self):
        return self.host.status()["devices"][0]["link"]

    def wait_for_link(self, state):
        fabric.wait_until(lambda: self.link() == state, f"a link that is {state}", 30)

    def wait_for_log(self, text):
        log = self.host.run_directory / "urnicd.log"
        fabric.wait_until(lambda: text in log.read_text(), f"'{text}' in the log", 30)

    def pingpong(self, gid_index):
        common = ("ibv_rc_pingpong", "-g", gid_index, "-c", "-d", "urnic0", *ROUNDS)
        check_pingpong(self.network.run_pair(common, common, address=(self.host.address, self.others[0])[gid_index]))

    def test_one_interface_is_enough(self):
        self.ip("link", "set", "eth0", "down")
        self.pingpong(1)
        self.ip("link", "set", "eth1", "down")
        self.wait_for_link("down")
        self.ip("link", "set", "eth1", "up")
        self.wait_for_link("up")
        self.pingpong(1)

    def test_what_a_person_has_cut_stays_cut(self):
        self.host.run(self.host.urnic, "link", "set", "urnic0", "state=down", "loss=0.5")
        for interface in ("eth0", "eth1"):
            self.ip("link", "set", interface, "down")
        self.wait_for_log("its wire is down")
        for interface in ("eth0", "eth1"):
            self.ip("link", "set", interface, "up")
        self.wait_for_log("its wire works")
        self.assertEqual(self.link(), "down")
        shown = json.loads(self.host.run(self.host.urnic, "link", "show", "--json"))["urnic0"]
        self.assertEqual([shown[direction]["settings"]["loss"] for direction in ("tx", "rx")], [0.5, 0.5])
        self.host.run(self.host.urnic, "link", "set", "urnic0", "state=up", "loss=0")
        self.assertEqual(self.link(), "up")
        self.pingpong(0)

    def test_a_person_does_not_restore_an_interface(self):
        for interface in ("eth0", "eth1"):
            self.ip("link", "set", interface, "down")
        self.wait_for_link("down")
        self.host.run(self.host.urnic, "link", "set", "urnic0", "state=up")
        self.assertEqual(self.link(), "down")

    def test_an_address_moves_to_the_other_interface(self):
        self.ip("address", "del", f"{self.host.address}/24", "dev", "eth0")
        self.wait_for_log(f"the address ::ffff:{self.host.address} is gone")
        self.ip("address", "add", f"{self.host.address}/24", "dev", "eth1")
        self.wait_for_log(f"the address ::ffff:{self.host.address} is back")
        self.ip("address", "del", f"{self.others[0]}/24", "dev", "eth1")
        self.wait_for_log(f"the address ::ffff:{self.others[0]} is gone")
        self.ip("link", "set", "eth0", "down")
        time.sleep(0.5)  # nothing that one could wait for happens
        self.assertEqual(self.link(), "up")
        self.assertEqual(json.loads(self.host.run(self.host.urnic, "link", "show", "--json"))["urnic0"]["wire"]["interface"], "eth1")
        self.ip("link", "set", "eth1", "down")
        self.wait_for_link("down")

    def test_an_address_is_on_both_interfaces_for_a_while(self):
        self.ip("address", "add", f"{self.host.address}/32", "dev", "eth1")
        self.ip("address", "del", f"{self.host.address}/24", "dev", "eth0")
        self.ip("address", "del", f"{self.others[0]}/24", "dev", "eth1")
        self.wait_for_log(f"the address ::ffff:{self.others[0]} is gone")
        self.assertNotIn(f"the address ::ffff:{self.host.address} is gone", (self.host.run_directory / "urnicd.log").read_text())
        self.assertEqual(self.link(), "up")

    def test_messages_of_the_kernel_that_had_no_room(self):
        """More changes than the netlink socket holds, while nobody reads; then the one that counts."""
        batch = self.host.home / "changes"
        batch.write_text("".join(f"address add 10.79.{number // 250}.{number % 250}/32 dev lo\n" for number in range(2000)))
        os.kill(self.host.device_process(), signal.SIGSTOP)
        self.ip("-batch", batch)
        self.ip("address", "del", f"{self.host.address}/24", "dev", "eth0")
        os.kill(self.host.device_process(), signal.SIGCONT)
        self.wait_for_log(f"the address ::ffff:{self.host.address} is gone")

    def test_an_interface_that_is_made_again(self):
        for interface in ("eth0", "eth1"):
            self.ip("link", "del", interface)
        self.wait_for_link("down")
        for host, other in zip(self.network.hosts, self.network.add_cable()):
            self.assertIn(other, self.others, host)
        self.wait_for_link("up")
        self.pingpong(1)


class Captures(unittest.TestCase):
    """The kernel's captures show a train that it divides as one packet: here urnic divides."""

    def setUp(self):
        self.network = self.enterContext(network.TwoHosts())
        for host in self.network.hosts:
            host.up(f'[[devices]]\nwire = "udp"\naddresses = ["{host.address}"]\nsegmentation = "none"\n')

    def test_a_capture_on_the_cable_agrees_with_urnics(self):
        one = self.network.hosts[0]
        common = ("ibv_rc_pingpong", "-g", "0", "-c", "-d", "urnic0", "-s", "5000", "-n", "50")
        ours, theirs = (str(one.home / name) for name in ("ours.pcap", "theirs.pcap"))
        dump = one.start("dumpcap", "-i", "eth0", "-P", "-B", "16", "-w", theirs, "-f", "udp port 4791")
        dump.wait_for_output("File:")
        capture = one.start(one.urnic, "capture", ours)
        fabric.wait_until(lambda: one.status()["captures"] == 1, "a capture")
        check_pingpong(self.network.run_pair(common, common))
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
        stays, goes = self.network.hosts
        # A client that always has requests under way: a queue pair that waits for a message never hears of its peer's end.
        common = ("ib_write_bw", "-F", "-x", "0", "-d", "urnic0", "-D", "60")
        port = fabric.free_port()
        server = goes.start_on_urnic(*common, "-p", port)
        fabric.wait_until(lambda: goes.is_listening(port) or server.status is not None, f"{server}")
        client = stays.start_on_urnic(*common, "-p", port, goes.address)

        def received():
            return stays.status()["devices"][0]["wire"]["counters"]["received"]
        fabric.wait_until(lambda: received() > 1000 or client.status is not None, f"packets: {client}")
        os.kill(goes.device_process(), signal.SIGKILL)
        self.assertNotEqual(client.wait(), 0)
        self.assertRegex(client.output(), r"(?i)status 12\b|transport retry counter exceeded")
        self.assertNotEqual(server.wait(), 0)
        goes.up_on_udp()
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
                                             (*self.COMMON, "-s", 100000, "-n", 100)))


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
                common = (f"ibv_{service}_pingpong", "-g", "0", "-c", "-d", "urnic0", *ROUNDS)
                check_pingpong(hosts.run_pair(common, common))


if __name__ == "__main__":
    unittest.main()
