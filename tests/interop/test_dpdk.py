#!/usr/bin/python3
"""A guest's Linux pings DPDK: dpdk-testpmd on a device of urnic's with the face mlx5, which answers ARP and echo requests, over
the LAN socket."""

import re
import unittest

import fabric
import guest
import network_fabric
import testpmd

CONFIGURATION = """
network = true
[lan]
listen = "{wire}"
[[devices]]
face = "mlx5"
"""
PINGS = 5


class Dpdk(unittest.TestCase):
    def test_a_guest_pings_it(self):
        testpmd.require()
        network_fabric.require_network()
        own = self.enterContext(fabric.Fabric())
        wire = own.home / "lan"
        own.up(CONFIGURATION.format(wire=wire))
        mac = own.status()["devices"][0]["mac"]
        linux = self.enterContext(guest.Guest(own.home, wire))
        with testpmd.Testpmd(own, "--forward-mode=icmpecho", ports=(0,)) as port:
            port.command("start")
            for size in (56, 1472):
                with self.subTest(size=size):
                    said = linux.run(f"busybox ping -c {PINGS} -W 20 -s {size} 10.0.0.1")
                    self.assertIn(f"{PINGS} packets received, 0% packet loss", said)
            self.assertIn(mac, linux.run("ip neighbour show 10.0.0.1").lower())
            port.command("stop")
            sent = int(re.search(r"TX-packets: (\d+)", port.quit().rsplit("Accumulated", 1)[-1]).group(1))
            self.assertGreaterEqual(sent, 2 * PINGS)


if __name__ == "__main__":
    unittest.main()
