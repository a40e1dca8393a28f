#!/usr/bin/python3
"""A fabric in which packets take time and wait for credits: unmodified programs see its rates, its counters and its deadlocks."""

import re
import unittest

import fabric
from test_infiniband import OPENSM
from test_infiniband_fabric import OnFabric, devices, link, managed_by_opensm, switch

CREDITS = "[fabric]\ncredits = true\n"
# 2 Gbit/s of data. Headers and checksums take some of it.
SDR_1X = 'width = "1x"\nspeed = "SDR"\n'
SDR_1X_MB = 250.0
# A packet for each buffer, and a long way for its credits: links are full also on a slow machine.
SLOW_CREDITS = "buffer_bytes = 8192\nhop_delay_us = 100\n"
RING = 5


def two_switches(settings=""):
    return (devices(3) + switch("one", 4) + switch("other", 4) + link("one:4", "other:4") + link("urnic0", "one:1") +
            link("urnic1", "other:1") + link("urnic2", "one:2", settings))


def ring():
    """Each switch has a host; port 3 leads on, port 4 back."""
    text = devices(RING) + "".join(switch(f"ring{place}", 4) for place in range(RING))
    for place in range(RING):
        text += link(f"urnic{place}", f"ring{place}:1") + link(f"ring{place}:3", f"ring{(place + 1) % RING}:4")
    return text


class WithCredits(OnFabric):
    def bandwidth(self, name, *options, server="urnic0", client="urnic1"):
        """In 10^6 bytes a second, on average."""
        common = (name, "-F", "--report_gbits", *options)
        _, output = self.fabric.run_pair((*common, "-d", server), (*common, "-d", client))
        return float(re.findall(r"^ *\d+ +\d+ +[\d.]+ +([\d.]+)", output, re.MULTILINE)[-1]) * 1000 / 8

    def wait_of(self, switch_name, port):
        lid = re.search(rf'"{switch_name}".* lid (\d+)', self.show("ibswitches")).group(1)
        shown = self.show("perfquery", "-C", "urnic0", lid, str(port))
        return int(re.search(r"PortXmitWait:\.+(\d+)", shown).group(1))


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Rates(WithCredits):
    def setUp(self):
        super().setUp()
        self.fabric.up(managed_by_opensm() + two_switches() + CREDITS + SDR_1X)

    def test_bandwidth_is_the_links(self):
        """However fast the machine is, no more passes than the line carries."""
        for name, *options in (("ib_write_bw", "-s", "65536", "-n", "2000"), ("ib_send_bw", "-s", "65536", "-n", "2000"),
                               ("ib_read_bw", "-s", "65536", "-n", "1000")):
            with self.subTest(name):
                reached = self.bandwidth(name, *options)
                self.assertLess(reached, SDR_1X_MB)
                self.assertGreater(reached, SDR_1X_MB / 10)

    def test_many_services(self):
        for name, *options in (("ib_send_lat", "-n", "300"), ("ib_send_bw", "-c", "UD", "-n", "300"),
                               ("ib_write_bw", "-c", "UC", "-n", "300"), ("ib_atomic_bw", "-n", "200"), ("ib_send_bw", "-a", "-n", "50")):
            with self.subTest(name, options=options):
                common = (name, "-F", *options)
                self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))

    def test_two_senders_wait_for_one_line(self):
        """Both send to urnic1: its switch's port has data and credits, and those before it have to wait."""
        pairs = [self.fabric.start_pair(("ib_write_bw", "-F", "-n", "3000", "-d", "urnic1"),
                                        ("ib_write_bw", "-F", "-n", "3000", "-d", sender)) for sender in ("urnic0", "urnic2")]
        for server, client in pairs:
            fabric.end_pair(server, client, fabric.PATIENCE, self.fabric.log)
        waits = [int(self.show("cat", f"/sys/class/infiniband/{device}/ports/1/counters/port_xmit_wait"))
                 for device in ("urnic0", "urnic2")]
        self.assertGreater(max(waits), 0)
        discards = self.show("cat", "/sys/class/infiniband/urnic0/ports/1/counters/port_xmit_discards")
        self.assertEqual(int(discards), 0)

    def test_a_slow_receiver_stops_its_sender(self):
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic1", "--direction", "rx", "rate_gbps=0.2")
        reached = self.bandwidth("ib_write_bw", "-s", "65536", "-n", "200", server="urnic1", client="urnic0")
        self.assertLess(reached, 26)
        self.assertGreater(self.wait_of("other", 1), 0)
        self.assertGreater(self.wait_of("one", 4), 0)
        counters = self.fabric.run(self.fabric.urnic, "link", "show", "--json")
        self.assertNotRegex(counters, r'"queue_full": *[1-9]')


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class FileOfIbsim(WithCredits):
    def test_its_links_have_their_rates(self):
        """The file says how fast the links are, and the configuration that this takes time."""
        (self.fabric.directory / "slow.net").write_text(
            'Switch 4 "one"\n[1] "H1"[1]\n[2] "other"[2] w=1 s=1\n\nSwitch 4 "other"\n[1] "H2"[1]\n\nHca 1 "H1"\n\nHca 1 "H2"\n')
        self.fabric.up(managed_by_opensm() + 'ibsim_net = "slow.net"\n' + CREDITS + SLOW_CREDITS)
        self.assertLess(self.bandwidth("ib_write_bw", "-s", "65536", "-n", "200"), SDR_1X_MB)
        self.assertGreater(int(self.show("cat", "/sys/class/infiniband/urnic1/ports/1/counters/port_xmit_wait")), 0)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Deadlocks(WithCredits):
    """Each host sends to the one two further on: every shortest way goes round in the same direction."""

    def service_level(self, place, peer):
        """As opensm has it for the path. perftest does not ask."""
        path = self.show("saquery", "-C", "urnic0", "--src-to-dst", f"{self.lid(f'urnic{place}')}:{self.lid(f'urnic{peer}')}")
        return int(re.search(r"\bsl\.+(\w+)", path).group(1), 0)

    def start_flows(self, iterations):
        common = ("ib_write_bw", "-F", "-s", "65536", "-n", iterations)
        pairs, levels = [], set()
        for place in range(RING):
            peer = (place + 2) % RING
            there, back = self.service_level(place, peer), self.service_level(peer, place)
            levels |= {there, back}
            pairs.append(self.fabric.start_pair((*common, "-S", back, "-d", f"urnic{peer}"), (*common, "-S", there, "-d", f"urnic{place}")))
        return pairs, levels

    def test_a_ring_with_one_lane_stands_still(self):
        self.fabric.up(managed_by_opensm("-R", "minhop") + ring() + CREDITS + SLOW_CREDITS + "vls = 1\n" + SDR_1X)
        pairs, levels = self.start_flows(5000)
        self.assertEqual(levels, {0})
        fabric.wait_until(lambda: "a deadlock in the InfiniBand fabric: " in self.fabric.log(), "a deadlock in the log")
        line = re.search(r"a deadlock in the InfiniBand fabric: (.*)", self.fabric.log()).group(1)
        for place in range(RING):
            self.assertIn(f"switch ring{place} port 3 VL 0 waits for switch ring{(place + 1) % RING} port 4", line)
        # HOQLife ends it by a drop; then there is another one.
        fabric.wait_until(lambda: "; a deadlock: switch ring" in self.fabric.run(self.fabric.urnic, "status"), "a deadlock in the status")
        for program in (program for pair in pairs for program in pair):
            program.kill()

    def test_the_lanes_of_lash_go_on(self):
        self.fabric.up(managed_by_opensm("-R", "lash") + ring() + CREDITS + SLOW_CREDITS + SDR_1X)
        pairs, levels = self.start_flows(200)
        self.assertEqual(levels, {0, 1})
        for server, client in pairs:
            fabric.end_pair(server, client, fabric.PATIENCE, self.fabric.log)
        self.assertNotIn("deadlock", self.fabric.log())
        self.assertNotIn("deadlock", self.fabric.run(self.fabric.urnic, "status"))


if __name__ == "__main__":
    unittest.main()
