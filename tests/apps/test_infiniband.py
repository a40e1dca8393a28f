#!/usr/bin/python3
"""InfiniBand devices: Debian's opensm brings the fabric up, and infiniband-diags show it, all unmodified."""

import re
import shutil
import unittest

import fabric

CONFIGURATION = """
[[devices]]
link_layer = "infiniband"
[[devices]]
link_layer = "infiniband"
"""
# The same, brought up by opensm as long as the device process lives.
MANAGED_BY_OPENSM = f'subnet_manager = "opensm"\n{CONFIGURATION}'
OPENSM = shutil.which("opensm", path="/usr/sbin:/usr/bin")


def start_manager(on):
    """Starts opensm at the first device of `on` and waits until it has brought the devices up; returns it. Its files are where
    it may write; without them it knows nothing of sweeps before."""
    guid = on.run_on_urnic("ibstat", "-p", "urnic0").split()[0]
    logs = on.directory
    manager = on.start_on_urnic("env", f"OSM_TMP_DIR={logs}", f"OSM_CACHE_DIR={logs}", OPENSM, "-g", guid, "-f",
                                str(logs / "opensm.log"))
    for device in fabric.DEVICES:
        fabric.wait_until(lambda: "State: Active" in on.run_on_urnic("ibstat", device), f"{device} to be active")
    return manager


def lid_of(on, device):
    return int(re.search(r"Base lid: (\d+)", on.run_on_urnic("ibstat", device)).group(1))


class BeforeTheSweep(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)

    def test_ports_wait_for_a_manager(self):
        shown = self.fabric.run_on_urnic("ibstat", "urnic0")
        self.assertIn("State: Initializing", shown)
        self.assertIn("Physical state: LinkUp", shown)
        self.assertIn("Base lid: 0", shown)
        self.assertIn("Link layer: InfiniBand", shown)
        described = self.fabric.run_on_urnic("ibv_devinfo", "-d", "urnic0")
        self.assertIn("PORT_INIT", described)
        self.assertRegex(described, r"link_layer:\s+InfiniBand")

    def test_programs_for_administrators_are_found(self):
        """Debian has infiniband-diags in /usr/sbin, where an ordinary user's PATH does not lead."""
        shown = self.fabric.run(*self.fabric.on_urnic("ibstat", "-l"), environment={"PATH": "/usr/bin:/bin"})
        self.assertEqual(shown.split(), list(fabric.DEVICES))

    def test_directed_routes_need_no_manager(self):
        own = self.fabric.run_on_urnic("smpquery", "-C", "urnic0", "-D", "nodeinfo", "0")
        self.assertRegex(own, r"NodeType:\.+Channel Adapter")
        switch = self.fabric.run_on_urnic("smpquery", "-C", "urnic0", "-D", "nodeinfo", "0,1")
        self.assertRegex(switch, r"NodeType:\.+Switch")
        other = self.fabric.run_on_urnic("smpquery", "-C", "urnic0", "-D", "nodedesc", "0,1,2")
        self.assertIn("urnic1", other)
        self.fabric.run_on_urnic("smpquery", "-C", "urnic0", "-t", "50", "-D", "nodeinfo", "0,1,7", status=255)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class AfterTheSweep(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        self.manager = start_manager(self.fabric)

    def show(self, *command):
        return self.fabric.run_on_urnic(*command)

    def lid(self, device):
        return lid_of(self.fabric, device)

    def test_the_manager_has_given_out_lids(self):
        lids = {self.lid(device) for device in fabric.DEVICES}
        self.assertEqual(len(lids), 2)
        self.assertNotIn(0, lids)
        manager = self.lid("urnic0")
        for device in fabric.DEVICES:
            self.assertIn(f"SM lid: {manager}", self.show("ibstat", device))
            described = self.show("ibv_devinfo", "-d", device)
            self.assertRegex(described, rf"port_lid:\s+{self.lid(device)}\n")
            self.assertRegex(described, rf"sm_lid:\s+{manager}\n")
            self.assertIn("PORT_ACTIVE", described)
        self.assertIn("SMINFO_MASTER", self.show("sminfo", "-C", "urnic1"))

    def test_the_topology(self):
        links = self.show("iblinkinfo", "-C", "urnic0")
        self.assertEqual(len(re.findall(r"4X +25\.78125 Gbps Active/ +LinkUp", links)), 4, links)
        self.assertEqual(len(re.findall("Down/ Polling", links)), 6, links)
        found = self.show("ibnetdiscover", "-C", "urnic0")
        self.assertEqual(len(re.findall("^Ca\t", found, re.MULTILINE)), 2, found)
        self.assertEqual(len(re.findall("^Switch\t8", found, re.MULTILINE)), 1, found)
        self.assertEqual(len(self.show("ibhosts", "-C", "urnic0").splitlines()), 2)
        self.assertEqual(len(self.show("ibswitches", "-C", "urnic0").splitlines()), 1)

    def test_routes(self):
        one, other = (self.lid(device) for device in fabric.DEVICES)
        found = self.show("ibswitches", "-C", "urnic0")
        switch = re.search(r"lid (\d+)", found).group(1)
        routes = self.show("ibroute", "-C", "urnic0", switch)
        self.assertRegex(routes, rf"0x{one:04x} 001 :")
        self.assertRegex(routes, rf"0x{other:04x} 002 :")
        way = self.show("ibtracert", "-C", "urnic0", str(one), str(other))
        self.assertIn("urnic switch", way)
        self.assertIn(f"lid {other}", way)
        tables = self.show("dump_fts", "-C", "urnic0")
        self.assertRegex(tables, rf"0x{one:04x} 001 : .*urnic0")
        self.assertRegex(tables, rf"0x{other:04x} 002 : .*urnic1")

    def test_datagrams_by_lid(self):
        other = str(self.lid("urnic1"))
        self.assertRegex(self.show("smpquery", "-C", "urnic0", "portinfo", other, "1"), r"LinkState:\.+Active")
        # Bytes 0 to 3 of NodeInfo: versions 1, a channel adapter, one port (IBTA 14.2.5.3).
        self.assertIn("0101 0101", self.show("smpdump", "-C", "urnic0", other, "0x11"))
        self.assertIn("PortXmitData", self.show("perfquery", "-C", "urnic0", other, "1"))
        self.fabric.start_on_urnic("ibping", "-S", "-C", "urnic1")
        fabric.wait_until(lambda: "1 received" in self.show("ibping", "-C", "urnic0", "-c", "1", "-t", "200", other), "a pong")

    def test_the_manager_goes(self):
        self.assertIn("IsSM", self.show("smpquery", "-C", "urnic1", "portinfo", str(self.lid("urnic0")), "1"))
        self.manager.kill()
        fabric.wait_until(lambda: "IsSM\n" not in self.show("smpquery", "-C", "urnic1", "portinfo", str(self.lid("urnic0")),
                                                             "1"), "the port to have no manager")


if __name__ == "__main__":
    unittest.main()
