#!/usr/bin/python3
"""DPDK's driver of mlx5, in Debian's dpdk-testpmd, as an ordinary user: ports that forward, send and receive; receive side
scaling, flow rules, statistics, link state; with programs of the other face, in captures, over a LAN."""

import collections
import json
import re
import socket
import unittest

import fabric
import huge_pages
import network_fabric
import ping_over_lan
import testpmd

CONFIGURATION = """
network = true
[[devices]]
face = "mlx5"
[[devices]]
face = "mlx5"
[[devices]]
"""
# The interface's own devices of the kernel send something now and then.
OTHER_FRAMES = 40
FLOWS = 16
FRAMES = 3  # of each flow


def queues(count, descriptors=512):
    """With as many send queues: testpmd reads no receive queue that has none of its own."""
    return (f"--rxq={count}", f"--txq={count}", f"--rxd={descriptors}", f"--txd={descriptors}")


class Dpdk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        testpmd.require()
        network_fabric.require_network()
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)
        cls.macs = [device["mac"] for device in cls.fabric.status()["devices"]]

    def begin(self, *options, **places):
        return self.enterContext(testpmd.Testpmd(self.fabric, *options, **places))

    def send_flows(self, to, flows=FLOWS, frames=FRAMES):
        """The host sends by urnic0's interface."""
        self.fabric.run_on_urnic("python3", "-B", self.fabric.copy_home("send_flows.py"), "urnic0", to, flows, frames)

    def test_two_ports_forward_to_each_other(self):
        ports = self.begin("--forward-mode=io")
        ports.command("start tx_first")
        # Each of these goes round, and does not become two at a port that hears itself.
        self.send_flows("ff:ff:ff:ff:ff:ff", flows=1)
        fabric.wait_until(lambda: ports.statistics(0)["RX-packets"] > 2000, "frames that go round")
        ports.command("stop")
        one, two = ports.statistics(0), ports.statistics(1)
        for sent, received in ((one, two), (two, one)):
            arrived = received["RX-packets"] + received["RX-missed"]
            self.assertLessEqual(abs(arrived - sent["TX-packets"]), OTHER_FRAMES)
            self.assertEqual((sent["TX-errors"], received["RX-errors"]), (0, 0))
        self.assertGreater(one["RX-bytes"], 60 * one["RX-packets"])
        ports.quit()

    def test_queues_and_buffers_in_huge_pages(self):
        with huge_pages.reserved(testpmd.HUGE_PAGES + 8) as are_there:
            if not are_there:
                self.skipTest("no huge pages are free, and this user may not reserve any")
            ports = self.begin("--forward-mode=io", memory=testpmd.IN_HUGE_PAGES)
            ports.command("start tx_first")
            fabric.wait_until(lambda: ports.statistics(0)["RX-packets"] > 2000, "frames that go round")
            ports.quit()

    def test_one_process_sends_and_another_receives(self):
        receiving = self.begin("--forward-mode=rxonly", *queues(1), ports=(1,))
        receiving.command("start")
        sending = self.begin("--forward-mode=txonly", *queues(1), ports=(0,))
        sending.command(f"set eth-peer 0 {self.macs[1]}")
        sending.command("start")
        fabric.wait_until(lambda: receiving.statistics()["RX-packets"] > 2000, "received frames")
        sending.command("stop")
        sent = sending.statistics()["TX-packets"]

        def arrived():
            now = receiving.statistics()
            return now["RX-packets"] + now["RX-missed"]
        fabric.wait_until(lambda: arrived() >= sent, "all frames")
        self.assertLessEqual(arrived() - sent, OTHER_FRAMES)
        for each in (sending, receiving):
            each.quit()

    def packets_of_flows(self, port, action=lambda: None):
        """What testpmd says of each frame of `send_flows`: {flow: {(queue, hash, type), ...}}. All have come."""
        before = len(port.program.output())
        self.send_flows(self.macs[0])

        def said():
            found = re.findall(r"length=(\d+) .*?(?:RSS hash=(0x[0-9a-f]+) .*?)?hw ptype: ([A-Z0-9_ ]+?)  - .*Receive queue=(0x[0-9a-f]+)",
                               port.program.output()[before:])
            return [(int(length) - 100, int(queue, 16), int(flow_hash or "0", 16), kind)
                    for length, flow_hash, kind, queue in found if 100 < int(length) <= 100 + FLOWS]
        return said

    def test_receive_side_scaling(self):
        for count in (2, 4):
            with self.subTest(queues=count):
                with testpmd.Testpmd(self.fabric, "--forward-mode=rxonly", *queues(count), ports=(0,)) as port:
                    port.command("port config all rss udp")
                    port.command("set verbose 1")
                    port.command("start")
                    said = self.packets_of_flows(port)
                    fabric.wait_until(lambda: len(said()) == FLOWS * FRAMES, "all frames of all flows")
                    of_flow = collections.defaultdict(set)
                    for flow, *facts in said():
                        of_flow[flow].add(tuple(facts))
                    self.assertEqual(len(of_flow), FLOWS)
                    for facts in of_flow.values():
                        self.assertEqual(len(facts), 1, "a flow is in one queue")
                        ((queue, flow_hash, kind),) = facts
                        self.assertNotEqual(flow_hash, 0)
                        self.assertEqual(queue, flow_hash % count)
                        self.assertEqual(kind, "L2_ETHER L3_IPV4_EXT_UNKNOWN L4_UDP")
                    self.assertEqual({queue for facts in of_flow.values() for queue, *_ in facts}, set(range(count)))
                    port.quit()

    def test_flow_rules(self):
        port = self.begin("--forward-mode=rxonly", *queues(4), ports=(0,))
        port.command("set verbose 1")
        port.command("start")
        # Two of them say more than others of the same flow, which say something else.
        rules = {
            1: ("ipv4 src is 198.18.0.1 / udp", "queue index 3", {3}),
            2: ("ipv4 src is 198.18.0.2 / udp src is 1026 dst is 9", "queue index 2", {2}),
            3: ("ipv4 src is 198.18.0.3", "rss queues 1 end", {1}),
            4: ("ipv4 src is 198.18.0.4 / udp", "drop", set()),
            5: ("ipv4 src is 198.18.0.5 / tcp", "drop", None),  # of another protocol
            6: ("ipv4 src is 198.18.0.6 / udp", "count / queue index 2", {2}),
        }
        for number, (pattern, action, _) in enumerate(rules.values()):
            said = port.command(f"flow create 0 ingress pattern eth / {pattern} / end actions {action} / end")
            self.assertIn(f"Flow rule #{number} created", said)
        said = port.command("flow create 0 ingress pattern eth / ipv4 / end actions mark id 7 / queue index 1 / end")
        self.assertIn("Operation not supported", said)
        self.assertEqual(len(re.findall(r"(?m)=> \w+", port.command("flow list 0"))), len(rules))
        said = self.packets_of_flows(port)
        fabric.wait_until(lambda: len(said()) == (FLOWS - 1) * FRAMES, "the frames that are not dropped")
        self.assertRegex(port.command(f"flow query 0 {list(rules).index(6)} count"), rf"hits: {FRAMES}\b")
        of_flow = collections.defaultdict(set)
        for flow, queue, *_ in said():
            of_flow[flow].add(queue)
        for flow, (_, _, expected) in rules.items():
            if expected is not None:
                self.assertEqual(of_flow[flow], expected, f"flow {flow}")
        self.assertEqual(len(of_flow[5]), 1)
        for number in (3, 0):
            self.assertIn("destroyed", port.command(f"flow destroy 0 rule {number}"))
        said = self.packets_of_flows(port)
        fabric.wait_until(lambda: len(said()) == FLOWS * FRAMES, "all frames")
        port.command("flow flush 0")
        self.assertNotIn("=>", port.command("flow list 0"))
        port.quit()

    def test_checksums(self):
        """Looked at as frames come, and made as they leave."""
        file = self.fabric.home / "checksums.pcapng"
        port = self.begin("--forward-mode=csum", "--enable-rx-cksum", *queues(1), ports=(0,))
        for command in ("port stop 0", "csum set ip hw 0", "csum set udp hw 0", "port start 0", "set verbose 1",
                        f"set eth-peer 0 {self.macs[1]}"):
            port.command(command)
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        capture.wait_for_output("apturing")
        port.command("start")
        self.send_flows(self.macs[0])

        def of_flows(direction):
            flags = re.findall(rf"{direction}: (?!tunnel).*flags=(.*)", port.program.output())
            return [set(each.split()) for each in flags if "UDP_CKSUM" in each or "L4_CKSUM_GOOD" in each]
        fabric.wait_until(lambda: len(of_flows("tx")) == FLOWS * FRAMES, "all frames")
        for flags in of_flows("rx"):
            self.assertLessEqual({"RTE_MBUF_F_RX_IP_CKSUM_GOOD", "RTE_MBUF_F_RX_L4_CKSUM_GOOD"}, flags)
        self.assertEqual(len(of_flows("rx")), FLOWS * FRAMES)
        for flags in of_flows("tx"):
            self.assertLessEqual({"RTE_MBUF_F_TX_IP_CKSUM", "RTE_MBUF_F_TX_UDP_CKSUM"}, flags)
        port.command("stop")
        capture.process.send_signal(2)
        capture.wait()
        shown = self.fabric.run("tshark", "-r", file, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
                                "-Y", f"eth.dst == {self.macs[1]} && udp.dstport == 9", "-T", "fields", "-e", "ip.checksum.status",
                                "-e", "udp.checksum.status")
        lines = [line for line in shown.splitlines() if "\t" in line]
        self.assertGreaterEqual(len(lines), FLOWS * FRAMES)
        self.assertEqual(set(lines), {"1\t1"})
        port.quit()

    def test_statistics(self):
        ports = self.begin("--forward-mode=io")
        ports.command("start tx_first")
        fabric.wait_until(lambda: ports.statistics(0)["RX-packets"] > 500, "frames that go round")
        ports.command("stop")
        plain = ports.statistics(0)
        # The device's counters lag a little (docs/counters.md).
        fabric.wait_until(lambda: ports.extended(0)["tx_phy_packets"] >= plain["TX-packets"], "counters of the device")
        extended = ports.extended(0)
        self.assertEqual(extended["rx_good_packets"], plain["RX-packets"])
        self.assertEqual(extended["tx_good_bytes"], plain["TX-bytes"])
        self.assertEqual(extended["rx_missed_errors"], plain["RX-missed"])
        # What the device has counted.
        counted = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["mlx5_0"]
        self.assertLessEqual(extended["tx_phy_packets"], counted["port_xmit_packets"])
        self.assertGreaterEqual(extended["rx_phy_bytes"], plain["RX-bytes"])
        ports.command("clear port stats all")
        self.assertEqual(ports.statistics(0)["RX-packets"], 0)
        ports.command("clear port xstats all")
        self.assertLess(ports.extended(0)["tx_phy_packets"], OTHER_FRAMES)
        ports.quit()

    def test_link_state(self):
        ports = self.begin()
        self.assertTrue(ports.is_up(0))
        self.fabric.run(self.fabric.urnic, "link", "set", "mlx5_0", "state=down")
        try:
            fabric.wait_until(lambda: not ports.is_up(0), "a link that is down")
            self.assertTrue(ports.is_up(1))
        finally:
            self.fabric.run(self.fabric.urnic, "link", "set", "mlx5_0", "state=up")
        fabric.wait_until(lambda: ports.is_up(0), "a link that is up")
        ports.quit()

    def test_programs_of_the_other_face(self):
        common = ("raw_ethernet_bw", "-F", "-d", "urnic0", "-B", self.macs[2], "-E", self.macs[0], "-s", 200, "-n", 1000)
        port = self.begin("--forward-mode=rxonly", *queues(1), ports=(0,))
        port.command("start")
        self.fabric.run_on_urnic(*common, "--client")

        def arrived():
            now = port.statistics()
            return now["RX-packets"] + now["RX-missed"]
        fabric.wait_until(lambda: arrived() >= 1000, "what the program has sent")
        self.assertLessEqual(arrived(), 1000 + OTHER_FRAMES)
        port.command("stop")
        receiver = self.fabric.start_on_urnic("stdbuf", "-oL", *common, "--server")
        receiver.wait_for_output("#bytes")
        for command in ("set fwd txonly", "set txpkts 200", f"set eth-peer 0 {self.macs[2]}", "start"):
            port.command(command)
        self.assertEqual(receiver.wait(), 0, receiver)
        port.command("stop")
        port.quit()

    def test_a_capture(self):
        file = self.fabric.home / "dpdk.pcapng"
        port = self.begin("--forward-mode=txonly", "--txpkts=128", *queues(1), ports=(0,))
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        capture.wait_for_output("apturing")
        port.command(f"set eth-peer 0 {self.macs[1]}")
        port.command("start")
        fabric.wait_until(lambda: file.stat().st_size > 100_000, "captured frames")
        port.command("stop")
        capture.process.send_signal(2)
        capture.wait()
        shown = self.fabric.run("tshark", "-r", file, "-c", "200", "-o", "ip.check_checksum:TRUE", "-Y", "udp.dstport == 9",
                                "-T", "fields", "-e", "eth.dst", "-e", "ip.src", "-e", "ip.dst", "-e", "frame.len",
                                "-e", "ip.checksum.status")
        lines = [line for line in shown.splitlines() if "\t" in line]
        self.assertGreater(len(lines), 100)
        self.assertEqual(set(lines), {f"{self.macs[1]}\t198.18.0.1\t198.18.0.2\t128\t1"})
        port.quit()


class OverALan(unittest.TestCase):
    """testpmd answers ARP and ping for whoever is on the LAN."""

    def test_answers_ping(self):
        testpmd.require()
        network_fabric.require_network()
        own = self.enterContext(fabric.Fabric())
        path = own.home / "lan"
        own.up(f'network = true\n[lan]\nlisten = "{path}"\n[[devices]]\nface = "mlx5"\n')
        mac = own.status()["devices"][0]["mac"]
        with testpmd.Testpmd(own, "--forward-mode=icmpecho", *queues(1), ports=(0,)) as port:
            port.command("start")
            with ping_over_lan.Station(path) as station:
                self.assertEqual(station.find("198.18.5.1"), mac)
                for length in (8, 56, 1400):
                    station.ping("198.18.5.1", length)
            port.quit()


if __name__ == "__main__":
    unittest.main()
