#!/usr/bin/python3
"""rdma_cm goes where sockets go: by the routes of the devices' network."""

import contextlib
import json
import unittest

import fabric
import network_fabric

THREE_DEVICES = "[[devices]]\n" * 3
ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3")


class Routes(network_fabric.WithNetwork):
    def setUp(self):
        super().setUp()
        self.up(THREE_DEVICES)

    def ip(self, *words):
        self.fabric.run_on_urnic("ip", *words)

    def add_address(self, address, device):
        self.ip("address", "add", f"{address}/24", "dev", device)
        gid = f"::ffff:{address}"
        fabric.wait_until(lambda: any(gid in each["gids"] for each in self.fabric.status()["devices"]), f"the GID {gid}")

    def connections(self):
        return json.loads(self.fabric.run_on_urnic("rdma", "-j", "resource", "show", "cm_id"))

    @contextlib.contextmanager
    def running(self, *command):
        program = self.fabric.start_on_urnic(*command)
        try:
            yield program
        finally:
            program.kill()

    @contextlib.contextmanager
    def listening(self, address):
        with self.running("rping", "-s", "-P", "-a", address) as server:
            fabric.wait_until(lambda: any(each["state"] == "LISTEN" for each in self.connections()), f"a listener: {server}")
            yield

    def way(self, address, *options):
        """The device and the source by which a client goes whose identifier is not bound, and the packets that this device has
        sent during 20 exchanges."""
        before = {device: self.fabric.counters(device)["port_xmit_packets"] for device in ("urnic0", "urnic1", "urnic2")}
        self.fabric.run_on_urnic("rping", "-c", "-a", address, "-C", "20", "-V", *options)
        sent = {device: self.fabric.counters(device)["port_xmit_packets"] - before[device] for device in before}
        with self.running("rping", "-c", "-a", address, *options) as client:
            def found():
                return [each for each in self.connections() if each["state"] == "CONNECT" and each["dst-addr"] == f"{address}:7174"]
            fabric.wait_until(found, f"a connection: {client}")
            ends = found()[0]
        return ends["ifname"], ends["src-addr"].rsplit(":", 1)[0], sent

    def check_way(self, address, device, source):
        seen_device, seen_source, sent = self.way(address)
        self.assertEqual((seen_device, seen_source), (device, source))
        self.assertEqual(self.fabric.tcp(1000, (None, address)), [source])
        self.assertGreater(sent[device], 60)
        return sent

    def test_to_another_device(self):
        one, two, three = ADDRESSES
        with self.listening(one):
            sent = self.check_way(one, "urnic1", two)
            self.assertLess(sent["urnic2"], 20)
            self.ip("rule", "add", "pref", "20", "to", one, "lookup", "77")
            self.ip("route", "add", one, "dev", "urnic2", "table", "77", "src", three)
            sent = self.check_way(one, "urnic2", three)
            self.assertLess(sent["urnic1"], 20)

    def test_the_host_finds_the_peers_ethernet_address(self):
        """As after Linux's rdma_resolve_addr: programs read it in the kernel's table of neighbours."""
        one, two, _ = ADDRESSES

        def neighbours():
            return {(each["dev"], each["dst"], each.get("lladdr")) for each in self.fabric.ip("neigh")}
        peer = ("urnic1", one, self.fabric.status()["devices"][0]["mac"])
        self.assertNotIn(peer, neighbours())
        with self.listening(one):
            self.fabric.run_on_urnic("rping", "-c", "-a", one, "-I", two, "-C", "1")
        fabric.wait_until(lambda: peer in neighbours(), "the peer among the neighbours")

    def test_the_preferred_source(self):
        self.add_address("10.1.2.2", "urnic1")
        self.add_address("198.51.100.1", "urnic0")
        with self.listening("198.51.100.1"):
            self.check_way("198.51.100.1", "urnic1", ADDRESSES[1])
            self.ip("route", "replace", "198.51.100.1", "dev", "urnic1", "table", "10000", "src", "10.1.2.2")
            self.check_way("198.51.100.1", "urnic1", "10.1.2.2")
            # Who names a source keeps it.
            device, source, sent = self.way("198.51.100.1", "-I", ADDRESSES[2])
            self.assertEqual((device, source), ("urnic2", ADDRESSES[2]))
            self.assertGreater(sent["urnic2"], 60)

    def test_a_cut_interface_leaves_the_destination_to_itself(self):
        """The kernel hands over locally then; both go that way."""
        self.ip("link", "set", "urnic1", "down")
        self.ip("link", "set", "urnic2", "down")
        fabric.wait_until(lambda: not any(f"table 10000: {ADDRESSES[0]}" in each for each in self.fabric.ways()), "no route to the first device")
        with self.listening(ADDRESSES[0]):
            self.check_way(ADDRESSES[0], "urnic0", ADDRESSES[0])

    def test_where_no_way_leads(self):
        def refused(to="203.0.113.9"):
            return self.fabric.run_on_urnic("rping", "-c", "-a", to, status=255)
        self.assertIn("rdma_resolve_addr: Network is unreachable", refused())
        self.ip("route", "add", "prohibit", "203.0.113.0/24")
        self.assertIn("rdma_resolve_addr: Permission denied", refused())
        self.ip("route", "replace", "203.0.113.0/24", "dev", "lo")
        self.assertIn("RDMA_CM_EVENT_ADDR_ERROR, error -19", refused())
        # Nobody on this switch has the address, whatever the gateway is.
        self.ip("route", "replace", "203.0.113.0/24", "via", ADDRESSES[1])
        self.assertIn("RDMA_CM_EVENT_ADDR_ERROR, error -110", refused())
        self.assertIn("RDMA_CM_EVENT_ADDR_ERROR, error -110", refused("192.0.2.77"))


# In a network of the host's own kind, where each address is local: what goes from the second device to itself.
BESIDE_THE_HOSTS = """
set -e
{urnic} up --interfaces > /dev/null
{urnic} run -- rping -s -P -a 192.0.2.2 &
until {urnic} run -- rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
{urnic} run -- rping -c -a 192.0.2.2 -C 20 -V
{urnic} counters --json
{urnic} down > /dev/null
"""


class BesideTheHosts(unittest.TestCase):
    def test_a_local_destination_is_its_devices(self):
        network_fabric.require_network()
        with fabric.Fabric() as own:
            said = own.run("unshare", "-Urn", "sh", "-c", BESIDE_THE_HOSTS.format(urnic=own.urnic))
        counters = json.loads(said[said.index("{"):said.rindex("}") + 1])
        sent = [counters[device]["port_xmit_packets"] for device in fabric.DEVICES]
        self.assertLess(sent[0], 20)
        self.assertGreater(sent[1], 120)


if __name__ == "__main__":
    unittest.main()
