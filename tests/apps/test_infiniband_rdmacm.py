#!/usr/bin/python3
"""rdma_cm on InfiniBand devices as on Linux: by GIDs (AF_IB), along paths that opensm gives, multicast groups that opensm
makes, and the port space IPOIB. All programs are Debian's own, unmodified."""

import ipaddress
import os
import re
import signal
import time
import unittest

import fabric
from test_capture import tshark
from test_infiniband import OPENSM, lid_of, start_manager
from test_infiniband_data import OnSubnet
from test_infiniband_manager import BUILT_IN
from test_rdmacm import RdmaCmPair

ADDRESSES = ("192.0.2.1", "192.0.2.2")
GROUP = "239.1.2.3"
# Of that group: Linux's cma_set_mgid, with the signature of rdma_cm and the default partition.
GROUP_GID = "ff12:4001:ffff::f01:203"
IPOIB = ("-p", "0x0002")
# The broadcast group that opensm makes, and its Q_Key there.
BROADCAST_GID = "ff12:401b:ffff::ffff:ffff"
IPOIB_QKEY = 0x0B1B
FIRST_QUERY_LOST = """
[[fault]]
qp = 1
opcode = "UD Send Only"
occurrence = 1
action = "drop"
"""
PING = (("rping", "-s", "-V", "-C", 3), ("rping", "-c", "-a", "192.0.2.2", "-I", "192.0.2.1", "-V", "-C", 3))


def gid_of(on, device):
    return on.run_on_urnic("cat", f"/sys/class/infiniband/{device}/ports/1/gids/0").strip()


class ByGid(OnSubnet, RdmaCmPair):
    def setUp(self):
        self.gids = [gid_of(self.fabric, device) for device in fabric.DEVICES]

    def ways(self):
        """(What the server binds, the client's options): any device or one; from another device, and a device to itself."""
        own, peer = self.gids
        return (((), ("-s", peer)), (("-b", peer), ("-s", peer, "-b", own)), (("-b", own), ("-s", own)))

    def test_programs(self):
        for program in (("ucmatose", "-C", 20), ("ucmatose", "-P", "ib"), ("ucmatose", "-m", "-c", 10), ("udaddy", "-C", 20)):
            for bound, to in self.ways():
                with self.subTest(program=program, to=to):
                    self.pair((*program, "-f", "gid", *bound), (*program, "-f", "gid", *to))

    def test_sockets_with_data_verified(self):
        for program in ("rstream", "riostream"):
            for options in ((), ("-T", "b"), ("-T", "n")):
                sizes = ("-I", 10, "-C", 100, "-S", 4096, "-T", "v", *options)
                for bound, to in self.ways():
                    with self.subTest(program=program, options=options, to=to):
                        self.pair((program, "-f", "gid", *bound, *sizes), (program, "-f", "gid", *to, *sizes))

    def test_packets_go_between_the_devices(self):
        """The client without an address of its own goes by the first device of the subnet."""
        capture = self.fabric.directory / "gid.pcapng"
        running = self.fabric.start(self.fabric.urnic, "capture", capture)
        running.wait_for_output("capturing")
        self.pair(("ucmatose", "-f", "gid"), ("ucmatose", "-f", "gid", "-s", self.gids[1]))
        os.kill(running.pid, signal.SIGINT)
        self.assertEqual(running.wait(), 0, str(running))
        shown = self.fabric.run(self.fabric.urnic, "trace", capture)
        self.assertIn("RC Send", shown)

    def test_gids_of_nobody(self):
        other = self.gids[1][:-1] + "f"
        client = self.fabric.start_on_urnic("ucmatose", "-f", "gid", "-s", other)
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("ROUTE_ERROR", client.output())


class ByOpensm(RdmaCmPair, unittest.TestCase):
    """opensm of the test's own, which it may kill."""

    @unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up('[[devices]]\nlink_layer = "infiniband"\n[[devices]]\nlink_layer = "infiniband"\n')
        self.manager = start_manager(self.fabric)

    def test_a_query_that_is_lost_comes_again(self):
        self.fabric.load_faults(FIRST_QUERY_LOST)
        self.pair(*PING)
        self.assertGreater(self.fabric.lost_by_faults(), 0)

    def test_without_opensm_there_is_no_route(self):
        """Queue pair 1 answers for its port that nobody knows the class: a refusal (EINVAL), as on Linux."""
        self.pair(*PING)
        self.manager.kill()
        client = self.fabric.start_on_urnic(*PING[1])
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("ROUTE_ERROR, error -22", client.output())

    def test_groups_outlive_their_manager(self):
        """The next opensm knows of no group, and tells the ports to register again: both receivers get the data then."""
        receivers = [self.fabric.start_on_urnic("stdbuf", "-oL", "mckey", "-m", GROUP, "-b", address) for address in ADDRESSES]
        for each in receivers:
            each.wait_for_output("receiving data transfers")
        self.manager.kill()
        start_manager(self.fabric)
        while any(each.status is None for each in receivers):
            self.fabric.run_on_urnic("mckey", "-m", GROUP, "-b", ADDRESSES[0], "-s")
            time.sleep(0.2)
        self.assertEqual([each.wait() for each in receivers], [0, 0], receivers)


class Multicast(OnSubnet):
    def groups(self):
        """The multicast LIDs that the switch forwards."""
        found = self.fabric.run_on_urnic("ibswitches", "-C", "urnic0")
        switch = re.search(r"lid (\d+)", found).group(1)
        routes = self.fabric.run_on_urnic("ibroute", "-C", "urnic0", "-M", switch)
        return set(re.findall(r"0x(c[0-9a-f]{3}) +.*x", routes, re.IGNORECASE))

    def start_receivers(self, group, addresses=ADDRESSES):
        receivers = [self.fabric.start_on_urnic("stdbuf", "-oL", "mckey", *group, "-b", address) for address in addresses]
        for each in receivers:
            each.wait_for_output("receiving data transfers")
        return receivers

    def check_data(self, group, addresses, *options):
        """Returns what a receiver has said. A sender destroys its queue pair without waiting for its sends, and opensm writes the
        group's routes after it has answered, so some of them arrive nowhere."""
        receivers = self.start_receivers(group, addresses)
        while any(each.status is None for each in receivers):
            self.fabric.run_on_urnic("mckey", *group, "-b", addresses[0], "-s", *options)
            time.sleep(0.2)
        self.assertEqual([each.wait() for each in receivers], [0, 0], receivers)
        return receivers[0].output()

    def test_data(self):
        """The receivers on both devices get what a sender sends: a full member, and one that only sends."""
        ip6 = [gid_of(self.fabric, device) for device in fabric.DEVICES]
        for group, addresses, gid in ((("-m", GROUP), ADDRESSES, GROUP_GID), (("-m", "ff0e::77"), ip6, "ff12:6001:ffff::77"),
                                      (("-M", "ff12:4001:ffff::1234"), ADDRESSES, "ff12:4001:ffff::1234")):
            for options in ((), ("-o",)):
                with self.subTest(group=group, options=options):
                    self.assertIn(f"joined dgid: {gid} mlid 0xc0", self.check_data(group, addresses, *options))

    def test_groups_of_ip_over_infiniband(self):
        self.assertIn("joined dgid: ff12:401b:ffff::f01:203 mlid 0xc0", self.check_data(("-m", GROUP, *IPOIB), ADDRESSES))

    def test_members_leave(self):
        """Also when they are killed: then the switch forwards nothing to the group any more."""
        before = self.groups()
        receivers = self.start_receivers(("-m", "239.9.9.9"))
        fabric.wait_until(lambda: self.groups() > before, "a group's routes")
        for each in receivers:
            os.killpg(each.pid, signal.SIGKILL)
        fabric.wait_until(lambda: self.groups() == before, "no routes of the group")


class OverInfiniband(OnSubnet, RdmaCmPair):
    """The port space IPOIB: datagrams have the Q_Key of the broadcast group, which the devices join."""

    def test_datagrams(self):
        capture = str(self.fabric.directory / "ipoib.pcapng")
        running = self.fabric.start(self.fabric.urnic, "capture", capture)
        running.wait_for_output("capturing")
        for bound in ((), ("-b", ADDRESSES[1])):
            with self.subTest(bound=bound):
                self.pair(("udaddy", *IPOIB, *bound), ("udaddy", *IPOIB, "-s", ADDRESSES[1], "-b", ADDRESSES[0]))
        os.kill(running.pid, signal.SIGINT)
        self.assertEqual(running.wait(), 0, str(running))
        keys = tshark(capture, "-Y", "infiniband.bth.destqp > 1", "-T", "fields", "-e", "infiniband.deth.q_key")
        self.assertEqual({int(key, 0) for key in keys.split()}, {IPOIB_QKEY})
        members = self.fabric.run_on_urnic("saquery", "-C", "urnic1", "--smkey", "1", "-m")
        ports = re.findall(rf"{BROADCAST_GID}.*?PortGid\.+(\S+)", members, re.DOTALL)
        self.assertEqual({ipaddress.ip_address(port) for port in ports},
                         {ipaddress.ip_address(gid_of(self.fabric, device)) for device in fabric.DEVICES}, members)


class BuiltIn(RdmaCmPair, unittest.TestCase):
    """No subnet administration: paths are what the built-in manager has written, and nobody joins a group."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(BUILT_IN)

    def test_connections(self):
        self.pair(*PING)
        own, peer = (gid_of(self.fabric, device) for device in fabric.DEVICES)
        self.pair(("ucmatose", "-f", "gid"), ("ucmatose", "-f", "gid", "-s", peer, "-b", own))

    def test_no_groups(self):
        client = self.fabric.start_on_urnic("mckey", "-m", GROUP, "-b", "192.0.2.1")
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("failure joining", client.output())
        self.assertNotEqual(lid_of(self.fabric, "urnic0"), 0)
        client = self.fabric.start_on_urnic("mckey", "-m", GROUP, "-b", "192.0.2.1", *IPOIB)
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("Cannot assign requested address", client.output())


if __name__ == "__main__":
    unittest.main()
