#!/usr/bin/python3
"""Two device processes on one LAN, each with a switch of its own: one listens on a socket of frames, the other connects."""

import json
import socket
import unittest

import fabric

CONFIGURATION = """
[lan]
{way} = "{path}"
mtu = 9000
[[devices]]
mac = "02:00:00:00:00:0{number}"
gids = ["fe80::ff:fe00:{number}", "::ffff:10.9.0.{number}", {{gid = "::ffff:10.5.0.{number}", vlan = 5}},
        {{gid = "fd00:5::{number}", vlan = 5}}, {{gid = "::ffff:10.6.0.{number}", vlan = {number}}}]
"""


class Lan(unittest.TestCase):
    def setUp(self):
        self.one = self.enterContext(fabric.Fabric())
        self.path = self.one.home / "lan"
        self.one.up(CONFIGURATION.format(way="listen", path=self.path, number=1))
        self.two = self.connected()

    def connected(self):
        """A second device process, connected to the first one's LAN."""
        other = self.enterContext(fabric.Fabric())
        other.up(CONFIGURATION.format(way="connect", path=self.path, number=2))
        return other

    def lan(self, on):
        return json.loads(on.run(on.urnic, "link", "show", "--json"))["lan"]

    def run_pair(self, server_on, client_on, *command, gid="1"):
        port = fabric.free_port()
        words = (*command, "-d", "urnic0", "-g", gid, "-p", port)
        server = server_on.start_on_urnic(*words)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listener: {server}")
        client = client_on.start_on_urnic(*words, "127.0.0.1")
        statuses = (client.wait(), server.wait())
        self.assertEqual(statuses, (0, 0), f"{server}\n{client}\n{server_on.log()}\n{client_on.log()}")
        return client.output()

    def test_pingpongs_both_ways(self):
        for server, client in ((self.one, self.two), (self.two, self.one)):
            for service in ("rc", "uc", "ud"):
                with self.subTest(service):
                    self.run_pair(server, client, f"ibv_{service}_pingpong", "-c", "-s", "2048")
            self.run_pair(server, client, "ibv_rc_pingpong", "-c", "-s", "100000", "-n", "300")
        lan = self.lan(self.one)
        self.assertEqual((lan["peer"], lan["counters"]["connections"]), ("connected", 1))
        self.assertEqual(lan["neighbours"]["::ffff:10.9.0.2"]["mac"], "02:00:00:00:00:02")
        self.assertEqual(lan["counters"]["tx_peer_does_not_read"], 0)

    def test_vlans(self):
        for service in ("rc", "ud"):
            for gid in ("2", "3"):
                with self.subTest(service=service, gid=gid):
                    self.run_pair(self.one, self.two, f"ibv_{service}_pingpong", "-c", "-s", "2048", gid=gid)
        lan = self.lan(self.one)
        self.assertEqual(lan["neighbours"]["::ffff:10.5.0.2"], {"state": "reachable", "mac": "02:00:00:00:00:02", "vlan": 5})
        self.assertEqual(lan["counters"]["rx_other_vlan"], 0)
        server = self.one.start_on_urnic("rping", "-s", "-a", "10.5.0.1", "-C", "20", "-V")
        fabric.wait_until(lambda: "LISTEN" in self.one.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        self.two.run_on_urnic("rping", "-c", "-a", "10.5.0.1", "-I", "10.5.0.2", "-C", "20", "-V")
        self.assertEqual(server.wait(), 0, server)
        # The GIDs at place 4 are in the VLANs 1 and 2.
        words = ("ibv_rc_pingpong", "-d", "urnic0", "-g", "4", "-p", fabric.free_port())
        server = self.one.start_on_urnic(*words)
        fabric.wait_until(lambda: fabric.is_listening(words[-1]) or server.status is not None, f"a listener: {server}")
        client = self.two.start_on_urnic(*words, "127.0.0.1")
        self.assertNotEqual(client.wait(), 0, client)
        server.kill()

    def test_loss(self):
        for on in (self.one, self.two):
            on.load_faults(fabric.losses())
        self.run_pair(self.one, self.two, "ibv_rc_pingpong", "-c", "-s", "50000", "-n", "200")
        for on in (self.one, self.two):
            self.assertGreater(on.lost_by_faults(), 50)

    def test_connections_by_address(self):
        server = self.one.start_on_urnic("rping", "-s", "-a", "10.9.0.1", "-C", "20", "-V")
        fabric.wait_until(lambda: "LISTEN" in self.one.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        self.two.run_on_urnic("rping", "-c", "-a", "10.9.0.1", "-C", "20", "-V")
        self.assertEqual(server.wait(), 0, server)
        nobody = self.two.start_on_urnic("rping", "-c", "-a", "10.9.0.77", "-C", "1")
        self.assertNotEqual(nobody.wait(), 0, nobody)
        self.assertIn("RDMA_CM_EVENT_ADDR_ERROR", nobody.output())

    def test_a_peer_that_sends_an_impossible_length(self):
        """It is left at once, and the next one is taken."""
        self.two.stop()
        fabric.wait_until(lambda: self.lan(self.one)["peer"] == "none", "the loss of the peer")
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.settimeout(fabric.PATIENCE)
            stranger.connect(str(self.path))
            stranger.sendall(b"\xff\xff\xff\xff")
            while stranger.recv(65536):  # to its end
                pass
        self.assertIn("NO PEER", self.one.run(self.one.urnic, "status"))
        self.two = self.connected()
        self.run_pair(self.one, self.two, "ibv_rc_pingpong", "-c")
        self.assertEqual(self.lan(self.one)["counters"]["rx_broken_streams"], 1)
        self.assertIn("peer connected", self.one.run(self.one.urnic, "status"))

    def test_a_peer_that_ends_and_comes_back(self):
        self.two.stop()
        fabric.wait_until(lambda: self.lan(self.one)["peer"] == "none", "the loss of the peer")
        self.two = self.connected()
        self.run_pair(self.one, self.two, "ibv_rc_pingpong", "-c")
        self.assertEqual(self.lan(self.one)["counters"]["connections"], 2)


if __name__ == "__main__":
    unittest.main()
