#!/usr/bin/python3
"""The subnet's administration: Debian's saquery asks Debian's opensm, both unmodified, and what it says is what the fabric is.
The tables of 40 devices are messages of many datagrams, which are cut and joined as the kernel does it (RMPP)."""

import re
import unittest

import fabric
from test_infiniband import OPENSM, start_manager

COUNT = 40
NAMES = [f"urnic{number}" for number in range(COUNT)]
CONFIGURATION = '[[devices]]\nlink_layer = "infiniband"\n' * COUNT


def records(output, kind):
    """The records of a dump, each as a dictionary of its lines such as "lid.....................1"."""
    found = []
    for line in output.splitlines():
        if line.strip().startswith(kind):
            found.append({})
        elif field := re.match(r"\s*(\w[\w ]*?):?\.{2,}(.*)", line):
            found[-1].setdefault(field.group(1), field.group(2))
    return found


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Administration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)
        start_manager(cls.fabric)
        fabric.wait_until(cls.all_are_active, "all ports to be active")
        cls.lids = {name: int(cls.of_port(name, "lid"), 16) for name in NAMES}
        cls.guids = {name: cls.of_port(name, "gids/0").split(":", 4)[4].replace(":", "") for name in NAMES}
        switches = cls.fabric.run_on_urnic("ibswitches", "-C", "urnic0")
        cls.switch = int(re.search(r"lid (\d+)", switches).group(1))

    @classmethod
    def all_are_active(cls):
        return all(port["state"] == "active" for port in cls.fabric.status()["subnet"]["ports"])

    @classmethod
    def of_port(cls, device, file):
        return (cls.fabric.run_directory / "sysfs/class/infiniband" / device / "ports/1" / file).read_text().strip()

    def ask(self, *words, status=0):
        return self.fabric.run_on_urnic("saquery", "-C", NAMES[-1], *words, status=status)

    def test_all_nodes(self):
        nodes = records(self.ask("NodeRecord"), "NodeRecord dump")
        adapters = {node["NodeDescription"].split()[-1]: node for node in nodes if node["node_type"] == "Channel Adapter"}
        self.assertEqual(len(nodes), COUNT + 1)
        self.assertEqual({name: int(node["lid"]) for name, node in adapters.items()}, self.lids)
        self.assertEqual({name: node["port_guid"] for name, node in adapters.items()},
                         {name: "0x" + guid for name, guid in self.guids.items()})
        self.assertEqual([int(node["lid"]) for node in nodes if node["node_type"] == "Switch"], [self.switch])

    def test_every_path(self):
        # 41 * 41 records of 64 bytes, 537 datagrams.
        paths = records(self.ask("PathRecord"), "PathRecord dump")
        ends = sorted([*self.lids.values(), self.switch])
        self.assertEqual(sorted((int(path["slid"]), int(path["dlid"])) for path in paths), [(one, other) for one in ends for other in ends])

    def test_one_path(self):
        one, other = NAMES[3], NAMES[30]
        path, = records(self.ask("PathRecord", "--slid", self.lids[one], "--dlid", self.lids[other]), "PathRecord dump")
        self.assertEqual(path["pkey"], "0xFFFF")
        self.assertEqual((path["mtu"], path["rate"]), ("0x85", "0x90"))  # exactly 4096 bytes, 100 Gb/s
        self.assertEqual(int(path["dgid"].rsplit(":", 1)[1], 16), int(self.guids[other][-4:], 16))

    def test_ports(self):
        ports = records(self.ask("PortInfoRecord"), "PortInfoRecord dump")
        found = {(int(port["EndPortLid"]), int(port["PortNum"])): port for port in ports}
        expected = {(lid, 1) for lid in self.lids.values()} | {(self.switch, number) for number in range(COUNT + 1)}
        self.assertEqual(set(found), expected)
        for lid in self.lids.values():
            self.assertEqual(found[lid, 1]["LinkState"], "Active")

    def test_links(self):
        links = records(self.ask("LinkRecord"), "LinkRecord dump")
        found = {tuple(int(link[word]) for word in ("FromLID", "FromPort", "ToPort", "ToLID")) for link in links}
        expected = set()
        for number, name in enumerate(NAMES, start=1):
            expected |= {(self.lids[name], 1, number, self.switch), (self.switch, number, 1, self.lids[name])}
        self.assertEqual(found, expected)

    def test_routes(self):
        table = self.ask("LFTR")
        routes = {int(lid): int(port) for lid, port in re.findall(r"^\s+(\d+)\t(\d+)$", table, re.MULTILINE) if port != "255"}
        expected = {lid: number for number, lid in enumerate(self.lids.values(), start=1)}
        self.assertEqual(routes, {**expected, self.switch: 0})

    def test_the_manager(self):
        said = self.ask("SMInfoRecord")
        self.assertIn(f"LID...................{self.lids['urnic0']}\n", said)
        self.assertIn("SMState...............3\n", said)  # the master
        ports = records(self.ask("-s"), "PortInfoRecord dump")
        self.assertEqual([int(port["EndPortLid"]) for port in ports], [self.lids["urnic0"]])

    def test_groups(self):
        # The broadcast group of IPoIB, which opensm makes of itself.
        groups = self.ask("-g")
        self.assertIn("ff12:401b:ffff::ffff:ffff", groups)
        self.assertRegex(groups, r"Mlid\.+0xC000")
        self.assertIn("ff12:401b:ffff::ffff:ffff", self.ask("-m"))

    def test_names_and_numbers(self):
        hosts = self.ask("--list")
        self.assertEqual({line.split()[0] for line in hosts.splitlines()[2:]}, {str(lid) for lid in self.lids.values()})
        name = records(self.ask("NodeRecord", self.lids["urnic7"]), "NodeRecord dump")[0]["NodeDescription"]
        self.assertEqual(self.ask("-L", name).split(), [str(self.lids["urnic7"])])
        self.assertEqual(self.ask("-G", name).split(), ["0x" + self.guids["urnic7"]])
        self.assertEqual(self.ask("-O", self.lids["urnic7"]).strip(), name)

    def test_an_answer_without_records(self):
        self.assertEqual(records(self.ask("NodeRecord", "4000"), "NodeRecord dump"), [])

    def test_programs_that_are_told_a_guid_ask_for_its_lid(self):
        guid = "0x" + self.guids["urnic9"]
        self.assertIn(f"Lid {self.lids['urnic9']}", self.fabric.run_on_urnic("smpquery", "-C", "urnic0", "-G", "nodeinfo", guid))
        self.assertIn(guid[2:], self.fabric.run_on_urnic("ibtracert", "-C", "urnic0", "-G", "0x" + self.guids["urnic0"], guid))
        self.fabric.start_on_urnic("ibsysstat", "-S", "-C", "urnic9")
        fabric.wait_until(lambda: "succeeded" in self.system_of("ping", guid), "an answer of ibsysstat")
        self.assertIn("cpu 0:", self.system_of("cpu", guid))

    def system_of(self, what, guid):
        asked = self.fabric.start_on_urnic("ibsysstat", "-C", "urnic0", "-G", guid, what)
        asked.wait()
        return asked.output()


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class AllPathsOfALargeFabric(unittest.TestCase):
    """An answer that is longer than any message of a socket: opensm writes it, saquery reads it, both without privileges."""

    HOSTS = 120
    CONFIGURATION = '[[devices]]\nlink_layer = "infiniband"\n' * 2 + "".join(
        f'[[fabric.hosts]]\nname = "host{number}"\n' for number in range(HOSTS))

    def ask(self, on, what):
        return on.run_on_urnic("saquery", "-t", 60000, "-C", "urnic1", what)

    def answers(self, on):
        """While it makes its first sweep it drops what it is asked."""
        return on.start_on_urnic("saquery", "-t", 200, "-C", "urnic1", "-s").wait() == 0

    def test_every_path(self):
        on = self.enterContext(fabric.Fabric())
        on.up(self.CONFIGURATION)
        start_manager(on)
        self.assertEqual(len(on.run_on_urnic("ibhosts", "-C", "urnic1").splitlines()), self.HOSTS + 2)
        fabric.wait_until(lambda: self.answers(on), "an answer of opensm")
        nodes = records(self.ask(on, "NodeRecord"), "NodeRecord dump")
        lids = sorted(int(node["lid"]) for node in nodes)
        self.assertEqual(len(lids), self.HOSTS + 3)
        paths = records(self.ask(on, "-p"), "PathRecord dump")
        self.assertEqual(sorted((int(path["slid"]), int(path["dlid"])) for path in paths),
                         [(one, other) for one in lids for other in lids])


if __name__ == "__main__":
    unittest.main()
