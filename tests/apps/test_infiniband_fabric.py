#!/usr/bin/python3
"""Fabrics of several switches, as the configuration or a file in ibsim's format has them: Debian's opensm brings them up with
its routing engines, infiniband-diags show them, and data crosses them, all unmodified."""

import re
import unittest

import fabric
from test_infiniband import OPENSM

LEAVES = SPINES = HOSTS = 4
RING = 4
# The example of ibsim's own documentation, and a host with two ports.
NET = """# two switches
Switch 8 "SW1"
[1] "H1"[1]
[2] "H2"[1]
[7] "SW2"[3]
[8] "SW2"[4]

Switch 4 "SW2"
[1] "H3"[1]
[3] "SW1"[7] w=1 s=1
[4] "SW1"[8]

Hca 1 "H1"
[1] "SW1"[1]

Hca 1 "H2"
[1] "SW1"[2]

caguid=0x2c90300001234
Ca 2 "H3" # "storage mlx4_0"
[1] "SW2"[1]
"""


def managed_by_opensm(*options):
    words = ", ".join(f'"{word}"' for word in options)
    return f'subnet_manager = "opensm"\nopensm_options = [{words}]\n'


def devices(count):
    return '[[devices]]\nlink_layer = "infiniband"\n' * count


def switch(name, ports):
    return f'[[fabric.switches]]\nname = "{name}"\nports = {ports}\n'


def link(one, other, settings=""):
    return f'[[fabric.links]]\nfrom = "{one}"\nto = "{other}"\n{settings}\n'


def fat_tree():
    """Each leaf has hosts at its first ports and a link to each spine."""
    text = devices(LEAVES * HOSTS)
    text += "".join(switch(f"leaf{leaf}", HOSTS + SPINES) for leaf in range(LEAVES))
    text += "".join(switch(f"spine{spine}", LEAVES) for spine in range(SPINES))
    for leaf in range(LEAVES):
        for host in range(HOSTS):
            text += link(f"urnic{leaf * HOSTS + host}", f"leaf{leaf}:{host + 1}")
        for spine in range(SPINES):
            text += link(f"leaf{leaf}:{HOSTS + spine + 1}", f"spine{spine}:{leaf + 1}")
    return text


def ring():
    text = devices(RING) + "".join(switch(f"ring{place}", 4) for place in range(RING))
    for place in range(RING):
        text += link(f"urnic{place}", f"ring{place}:1") + link(f"ring{place}:3", f"ring{(place + 1) % RING}:4")
    return text


class OnFabric(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def show(self, *command):
        return self.fabric.run_on_urnic(*command)

    def lid(self, device):
        return int(re.search(r"Base lid: (\d+)", self.show("ibstat", device)).group(1))

    def check_pair(self, one, other):
        """Data crosses from one device to the other and is as it was sent."""
        server, client = self.fabric.run_pair(("ibv_rc_pingpong", "-c", "-d", one, "-n", 100),
                                              ("ibv_rc_pingpong", "-c", "-d", other, "-n", 100))
        for output in (server, client):
            self.assertIn("819200 bytes in", output)
            self.assertNotIn("invalid", output)

    def switches_between(self, one, other):
        """The names of the switches on the way, by the routes that are in force."""
        way = self.show("ibtracert", "-C", one, str(self.lid(one)), str(self.lid(other)))
        return re.findall(r'-> switch port .* "(.*)"', way)

    def manager_log(self):
        return (self.fabric.run_directory / "opensm" / "opensm.log").read_text()

    def check_manager(self, engine):
        """opensm has made its routes by this engine, and nothing has gone wrong."""
        log = self.manager_log()
        self.assertIn(f"{engine} tables configured on all switches", log)
        self.assertNotIn("ERR", log)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class FatTree(OnFabric):
    def test_ftree(self):
        self.fabric.up(managed_by_opensm("-R", "ftree") + fat_tree())
        self.check_manager("ftree")
        hosts, links = LEAVES * HOSTS, LEAVES * (HOSTS + SPINES)
        self.assertEqual(len(self.show("ibhosts").splitlines()), hosts)
        self.assertEqual(len(self.show("ibswitches").splitlines()), LEAVES + SPINES)
        self.assertEqual(len(re.findall(r"Active/ +LinkUp", self.show("iblinkinfo"))), 2 * links)
        found = self.show("ibnetdiscover")
        self.assertEqual(len(re.findall("^Ca\t1", found, re.MULTILINE)), hosts)
        self.assertEqual(len(re.findall(r'^\[[5-8]\]\t"S-.*"\[1\]\t\t# "spine\d"', found, re.MULTILINE)), SPINES, found)
        # Neighbours meet at their leaf; others at a spine, and each host of a leaf is reached by another one.
        self.assertEqual(self.switches_between("urnic0", "urnic1"), ["leaf0"])
        ways = [self.switches_between("urnic0", f"urnic{(LEAVES - 1) * HOSTS + host}") for host in range(HOSTS)]
        for way in ways:
            self.assertEqual((way[0], way[2:]), ("leaf0", [f"leaf{LEAVES - 1}"]), ways)
        self.assertEqual({way[1] for way in ways}, {f"spine{spine}" for spine in range(SPINES)})
        leaf = re.search(r'"leaf0".* lid (\d+)', self.show("ibswitches")).group(1)
        self.assertIn(f"{hosts + LEAVES + SPINES} valid lids", self.show("ibroute", leaf))
        tables = self.show("dump_fts")
        self.assertEqual(tables.count("Unicast lids"), LEAVES + SPINES)
        self.check_pair("urnic0", f"urnic{hosts - 1}")
        self.fabric.run_pair(("ib_write_bw", "-d", "urnic1", "-n", "300", "-F"), ("ib_write_bw", "-d", f"urnic{hosts - 2}", "-n", "300", "-F"))


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Ring(OnFabric):
    def check_ring(self):
        self.assertEqual(len(self.switches_between("urnic0", "urnic1")), 2)
        self.assertEqual(len(self.switches_between("urnic0", f"urnic{RING // 2}")), 1 + RING // 2)
        self.check_pair("urnic0", f"urnic{RING // 2}")

    def test_lash(self):
        # With -Q it writes SLtoVL and VLArbitration to all ports.
        self.fabric.up(managed_by_opensm("-R", "lash", "-Q") + ring())
        self.check_manager("lash")
        self.assertRegex(self.manager_log(), r"min operational vl\(8\)")
        self.assertIn("Lanes needed: 2", self.manager_log())
        switch_lid = re.search(r'"ring0".* lid (\d+)', self.show("ibswitches")).group(1)
        lanes = self.show("smpquery", "sl2vl", switch_lid, "3")
        self.assertRegex(lanes, r"in  1, out  3: \| 0\| 1\| 2\| 3\| 4\| 5\| 6\| 7\|")
        self.check_ring()

    def test_dor(self):
        self.fabric.up(managed_by_opensm("-R", "dor") + ring())
        self.check_manager("dor")
        self.check_ring()

    def test_the_built_in_manager(self):
        self.fabric.up('subnet_manager = "built_in"\n' + ring())
        self.check_ring()


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Links(OnFabric):
    def test_what_a_link_can_do(self):
        self.fabric.up(managed_by_opensm() + devices(2) + switch("one", 4) + switch("other", 4) +
                       link("one:4", "other:4", 'width = "1x"\nspeed = "HDR"\n') +
                       link("urnic0", "one:1", 'speed = "QDR"\nmtu = 1024\nvls = 2\n') +
                       link("urnic1", "other:1", 'width = "12x"\nspeed = "FDR"\n'))
        links = self.show("iblinkinfo")
        self.assertEqual(len(re.findall(r"1X +53\.125 Gbps Active", links)), 2, links)
        self.assertEqual(len(re.findall(r"4X +10\.0 Gbps Active", links)), 2, links)
        self.assertEqual(len(re.findall(r"12X +14\.0625 Gbps Active", links)), 2, links)
        near = self.show("ibv_devinfo", "-v", "-d", "urnic0")
        self.assertRegex(near, r"max_mtu:\s+1024")
        self.assertRegex(near, r"active_mtu:\s+1024")
        self.assertRegex(near, r"active_width:\s+4X")
        self.assertRegex(near, r"active_speed:\s+10\.0 Gbps")
        self.assertIn("40 Gb/sec (4X QDR)", self.show("cat", "/sys/class/infiniband/urnic0/ports/1/rate"))
        self.assertIn("168 Gb/sec (12X FDR)", self.show("cat", "/sys/class/infiniband/urnic1/ports/1/rate"))
        self.assertIn("Rate: 40", self.show("ibstat", "urnic0"))
        port = self.show("smpquery", "portinfo", str(self.lid("urnic0")), "1")
        self.assertRegex(port, r"VLCap:\.+VL0-1\n")
        self.assertRegex(port, r"OperVLs:\.+VL0-1\n")
        self.assertRegex(port, r"NeighborMTU:\.+1024\n")
        self.check_pair("urnic0", "urnic1")

    def test_a_device_and_a_switch_are_added(self):
        """The manager hears of them by a trap, and does not wait for its sweep."""
        later = 'state = "down"'
        self.fabric.up(managed_by_opensm() + devices(3) + switch("old", 4) + switch("new", 4) +
                       link("urnic0", "old:1") + link("urnic1", "old:2", later) +
                       link("old:4", "new:4", later) + link("urnic2", "new:1", later))
        known = self.show("ibnetdiscover", "-l")
        self.assertIn('"old"', known)
        self.assertNotIn('"new"', known)
        # All cables of the switch: those to the fabric and to its device.
        for device, added in (("urnic1", "urnic1"), ("urnic2", "new")):
            self.assertIn("Base lid: 0\n", self.show("ibstat", device))
            self.fabric.run(self.fabric.urnic, "link", "set", added, "state=up")
            fabric.wait_until(lambda: "State: Active" in self.show("ibstat", device), f"{device} to be active")
            self.check_pair("urnic0", device)

    def test_a_manager_changes_the_width(self):
        self.fabric.up(managed_by_opensm() + devices(2))
        place = re.search(r"lid (\d+)", self.show("ibswitches")).group(1)
        self.show("ibportstate", place, "2", "width", "1")
        self.show("ibportstate", place, "2", "reset")
        fabric.wait_until(lambda: "25 Gb/sec (1X EDR)" in self.show("cat", "/sys/class/infiniband/urnic1/ports/1/rate"), "a link of one lane")

    def test_errors_name_line_and_cure(self):
        file = self.fabric.home / "lab.toml"
        file.write_text(devices(1) + switch("leaf", 2) + link("urnic0", "leaf:3"))
        said = self.fabric.run(self.fabric.urnic, "up", "--config", file, status=1)
        self.assertIn(f'{file}:6: the link from urnic0 to leaf:3 cannot be: "leaf" has ports 1 to 2, and no port 3', said)


class IbsimNet(OnFabric):
    def up(self, net):
        self.file = self.fabric.home / "lab.net"
        self.file.write_text(net)
        return self.fabric.run(self.fabric.urnic, "up", "--ibsim-net", self.file)

    def test_the_same_topology(self):
        self.up(NET)
        found = self.show("ibnetdiscover")
        self.assertRegex(found, r'Switch\t8 "S-[0-9a-f]+"\t\t# "SW1"')
        self.assertRegex(found, r'Ca\t2 "H-0002c90300001234"\t\t# "storage mlx4_0"')
        self.assertEqual(len(re.findall(r'^\[[78]\]\t"S-[0-9a-f]+"\[[34]\]\t\t# "SW2"', found, re.MULTILINE)), 2, found)
        self.assertRegex(found, r'\[7\]\t"S-[0-9a-f]+"\[3\]\t\t# "SW2" lid \d+ 1xSDR')
        self.check_pair("urnic0", "urnic2")
        # The same file joins, and what ibnetdiscover has written is such a file, too: the same fabric.
        self.fabric.run(self.fabric.urnic, "run", "--ibsim-net", self.file, "--", "true")
        self.fabric.down()
        self.up(found)
        again = self.show("ibnetdiscover")
        without_places = lambda text: sorted(re.sub(r" lid \d+", "", line) for line in text.splitlines() if line.startswith(("Switch", "Ca", "[")))
        self.assertEqual(without_places(found), without_places(again))

    def test_an_adapter_whose_cable_is_at_its_second_port(self):
        """As real ones have it. The device is down; opensm manages from another one, and shows the cable."""
        self.up('Hca 2 "H1"\n[2] "SW"[1]\n\nSwitch 8 "SW"\n[2] "H2"[1]\n[3] "H3"[1]\n\nHca 1 "H2"\n\nHca 1 "H3"\n')
        found = self.show("ibnetdiscover", "-C", "urnic1")
        self.assertEqual(len(re.findall(r'^\[\d\].*"H-', found, re.MULTILINE)), 3, found)
        self.assertRegex(found, r'(?m)^\[1\]\t"H-[0-9a-f]+"\[2\].*# "H1"')
        self.check_pair("urnic1", "urnic2")

    def test_errors_name_the_line(self):
        file = self.fabric.home / "lab.net"
        file.write_text(NET.replace('"H3"[1]', '"H4"[1]'))
        said = self.fabric.run(self.fabric.urnic, "up", "--ibsim-net", file, status=1)
        self.assertIn('lab.net:9: there is no "H4" in the file', said)


if __name__ == "__main__":
    unittest.main()
