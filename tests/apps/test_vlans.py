#!/usr/bin/python3
"""GIDs that belong to a VLAN: their packets have its tag, and GIDs of other VLANs are not reached. No interface is needed."""

import json
import os
import signal
import unittest

import fabric
from test_capture import tshark

CONFIGURATION = """
[[devices]]
gids = ["fe80::1", "::ffff:192.0.2.1", {gid = "::ffff:203.0.113.1", vlan = 5}, {gid = "fd00:5::1", vlan = 5}]
[[devices]]
gids = ["fe80::2", "::ffff:192.0.2.2", {gid = "::ffff:203.0.113.2", vlan = 5}, {gid = "fd00:5::2", vlan = 5}]
"""
VLAN_GIDS = ("2", "3")  # the IPv4 and the IPv6 one


class Vlans(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def capture(self):
        """Starts a capture. The returned function ends it and returns VLAN and priority of all its frames, of which each is
        a RoCE packet with a right ICRC."""
        path = str(self.fabric.home / "capture.pcap")
        running = self.fabric.start(self.fabric.urnic, "capture", path)
        running.wait_for_output("capturing")

        def end():
            os.kill(running.pid, signal.SIGINT)
            self.assertEqual(running.wait(), 0, str(running))
            checked = self.fabric.run(self.fabric.verbs_program("check_capture"), path)
            frames = json.loads(checked.splitlines()[-1])["frames"]
            tags = tshark(path, "-Y", "infiniband", "-T", "fields", "-e", "vlan.id", "-e", "vlan.priority").splitlines()
            self.assertEqual(len(tags), frames, "frames that tshark does not take for RoCE packets")
            self.assertGreater(frames, 100)
            return set(tags)

        return end

    def pingpong(self, service, gid, *options):
        common = (f"ibv_{service}_pingpong", "-g", gid, "-n", "300", *options)
        check = ("-c",) if service == "rc" else ()
        for output in self.fabric.run_pair((*common, *check, "-d", "urnic0"), (*common, *check, "-d", "urnic1")):
            self.assertNotIn("invalid data", output)
            self.assertRegex(output, r"(?m)^\d+ iters in ")

    def test_packets_have_the_tag_and_the_service_levels_priority(self):
        for link in ("", "[[link]]\ndelay_us = 20\n", "[engine]\nengines = 2\n"):
            self.fabric.up(CONFIGURATION + link)
            for service, gid in (("rc", "2"), ("rc", "3"), ("uc", "2"), ("ud", "2"), ("ud", "3"), ("srq", "3")):
                with self.subTest(link=link, service=service, gid=gid):
                    end = self.capture()
                    self.pingpong(service, gid, "-s", "1024" if service == "ud" else "8192", "-l", "3")
                    self.assertEqual(end(), {"5\t3"})
            self.fabric.down()

    def test_packets_of_other_gids_have_none(self):
        self.fabric.up(CONFIGURATION)
        end = self.capture()
        self.pingpong("rc", "1", "-l", "3")
        self.assertEqual(end(), {"\t"})

    def test_loss_and_marks_on_the_way(self):
        self.fabric.up(CONFIGURATION + "[[link]]\nloss = 0.01\ncorrupt = 0.01\necn_threshold_packets = 1\nrate_gbps = 10\n")
        # Both ends stay until both are done: a pingpong whose peer has ended misses an acknowledgement that was lost.
        for gid in VLAN_GIDS:
            common = ("ib_send_lat", "-F", "-x", gid, "-s", "16384", "-n", "500")
            self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]
        self.assertGreater(counters["link_tx_lost"], 0)
        self.assertGreater(counters["rx_icrc_encapsulated"], 0)
        self.assertEqual(counters["rx_wrong_address"], 0)

    def test_rdma_cm_stays_in_the_vlan(self):
        self.fabric.up(CONFIGURATION)
        for program in ("ucmatose", "udaddy"):
            for server, client in (("203.0.113.2", "203.0.113.1"), ("fd00:5::2", "fd00:5::1"), ("203.0.113.2", None)):
                self.check_rdma_cm(program, server, ("-b", client) if client else ())

    def check_rdma_cm(self, program, server, source):
        with self.subTest(program=program, server=server, source=source):
            end = self.capture()
            listening = self.fabric.start_on_urnic(program, "-b", server, "-C", "200")
            fabric.wait_until(lambda: self.fabric.status()["rdma_cm"]["listeners"] or listening.status is not None,
                              f"a listener: {listening}")
            self.fabric.run_on_urnic(program, "-s", server, *source, "-C", "200")
            self.assertEqual(listening.wait(), 0, str(listening))
            # Who answers a datagram by ibv_create_ah_from_wc has ibv_wc::sl for its service level: the packet's type.
            self.assertEqual({tag.split("\t")[0] for tag in end()}, {"5"})

    def test_commands(self):
        self.fabric.up()
        for number, device in enumerate(fabric.DEVICES):
            address = f"::ffff:203.0.113.{number + 1}"
            self.fabric.run(self.fabric.urnic, "gid", "add", device, address, "--vlan", "5")
            shown = self.fabric.run(self.fabric.urnic, "gid", "show", device)
            self.assertIn(f"{device}  2  {address}  VLAN 5\n", shown)
            self.assertEqual(shown.count("VLAN"), 1)
        end = self.capture()
        self.pingpong("rc", "2")
        self.assertEqual(end(), {"5\t0"})
        self.fabric.run(self.fabric.urnic, "gid", "remove", "urnic1", "::ffff:203.0.113.2")
        self.fabric.run(self.fabric.urnic, "gid", "add", "urnic1", "::ffff:203.0.113.2", "--vlan", "6")
        server, client = self.fabric.start_pair(("ibv_rc_pingpong", "-g", "2", "-d", "urnic0"),
                                                ("ibv_rc_pingpong", "-g", "2", "-d", "urnic1"))
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("RTR", client.output() + server.output())
        server.kill()
        self.fabric.run(self.fabric.urnic, "gid", "add", "urnic1", "::ffff:203.0.113.3", "--vlan", "4095", status=2)

    def test_interfaces_have_vlans_of_their_own(self):
        file = self.fabric.directory / "network.toml"
        file.write_text("network = true\n" + CONFIGURATION)
        said = self.fabric.run(self.fabric.urnic, "up", "--config", file, status=1)
        self.assertIn("urnic0 has a GID with a VLAN and a network interface", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
