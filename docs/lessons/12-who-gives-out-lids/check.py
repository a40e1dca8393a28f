"""Checks of lesson 12."""

import collections
import os
import pathlib
import random
import re
import time

from checking.not_yet import NotYet, require
from checking.running_program import PATIENCE, last_lines

START = pathlib.Path(__file__).parent / "start"
REACH = START / "reach.sh"
TOOLS = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}  # where Debian has smpquery and its like
HOSTS = ("host0", "host1", "host2", "host3")
SERVICE = 0x0009
FULL = 0x8000  # the bit of a P_Key that says "full member"


class RandomFabric:
    """A ring of switches with a link across it, hosts, and urnic0. `cables` has both directions: {(node, port): (node, port)}."""

    def __init__(self, switches=5, hosts=3):
        self.cables = {}
        self._switches = [f"switch {letter}" for letter in random.sample("ABCDEFGHIJ", switches)]
        self._hosts = [f"host {number}" for number in random.sample(range(100), hosts)]
        self._radix = {name: random.randint(5, 7) for name in self._switches}
        self._free = {name: random.sample(range(1, ports + 1), ports) for name, ports in self._radix.items()}
        for ports in self._free.values():  # the last one has a cable
            ports.append(ports.pop(ports.index(len(ports))))
        self.guids = {name: f"0x{random.getrandbits(63):016x}" for name in ["urnic0", *self._switches, *self._hosts]}
        for one, other in zip(self._switches, self._switches[1:] + self._switches[:1]):
            self._connect(one, other)
        self._connect(self._switches[0], self._switches[switches // 2])
        for number, node in enumerate(["urnic0", *self._hosts]):
            self._connect(node, self._switches[number % switches])

    def _connect(self, one, other):
        ends = [(node, self._free[node].pop() if node in self._free else 1) for node in (one, other)]
        self.cables.update({ends[0]: ends[1], ends[1]: ends[0]})

    def text(self):
        """The configuration file."""
        lines = ['[[devices]]', 'link_layer = "infiniband"', 'description = "urnic0"', f'node_guid = "{self.guids["urnic0"]}"']
        for name, ports in self._radix.items():
            lines += ["[[fabric.switches]]", f'name = "{name}"', f"ports = {ports}", f'node_guid = "{self.guids[name]}"']
        for name in self._hosts:
            lines += ["[[fabric.hosts]]", f'name = "{name}"', f'node_guid = "{self.guids[name]}"']
        for ends in self.cables.items():
            if ends[0] < ends[1]:
                names = [f"{node}:{port}" if node in self._radix else node for node, port in ends]
                lines += ["[[fabric.links]]", f'from = "{names[0]}"', f'to = "{names[1]}"']
        return "\n".join(lines) + "\n"

    def end_of(self, route):
        """The node at the end of a directed route; None if there is none."""
        node = "urnic0"
        for port in route.split(",")[1:]:
            node = self.cables.get((node, int(port)), (None, 0))[0]
        return node

    def hops(self):
        """How many hops each node is away from urnic0."""
        found, waiting = {"urnic0": 0}, collections.deque(["urnic0"])
        while waiting:
            node = waiting.popleft()
            for (one, _), (other, _) in self.cables.items():
                if one == node and other not in found:
                    found[other] = found[node] + 1
                    waiting.append(other)
        return found


def exercise_1(work):
    fabric = RandomFabric()
    with work.device_process(work.write("random.toml", fabric.text())):
        result = work.run("/usr/bin/python3", work.file("discover.py"), environment=TOOLS)
    result.require_success("make a fabric of your own, and run it there: urnic run -- ./discover.py")
    lines = re.findall(r"(?m)^(0x[0-9a-f]{16}) (0(?:,\d+)*) (.*)$", result.output)
    names = {guid: name for name, guid in fabric.guids.items()}
    routes = {}
    for guid, route, _ in lines:
        require(guid in names, f"there is no node {guid}", "leave what is printed as it is")
        require(guid not in routes, f"{names[guid]} comes twice", "a node is known by its GUID, whichever way leads to it")
        routes[guid] = route
    for name, hops in fabric.hops().items():
        route = routes.get(fabric.guids[name])
        require(route is not None, f"{name} is missing, which is {hops} hops away: {len(routes)} of {len(names)} nodes were found",
                "a switch leads on by each port that has a link, from 1 to NumPorts; so does what is behind it")
        require(fabric.end_of(route) == name, f"the route {route} does not lead to {name}", "a port's number follows its node's route")
        require(route.count(",") == hops, f"{name} is {hops} hops away, and the route {route} has {route.count(',')}",
                "look at all nodes that are one hop away before those that are two hops away")
    return f"{len(routes)} nodes were found, each by a shortest route"


def _links_of_switches(work):
    """(switch, port) at both ends of each link between two switches, and each host's (switch, port), as ibnetdiscover sees them."""
    links, hosts, node = set(), {}, None
    for line in work.run("ibnetdiscover", "-C", "urnic0", status=0, environment=TOOLS).output.splitlines():
        if found := re.match(r'Switch\s.*# "(\w+)"', line):
            node = found[1]
        elif line.startswith("Ca"):
            node = None
        elif node and (found := re.match(r'\[(\d+)\]\s+"([SH])-\w+"\[(\d+)\](?:\(\w+\))?\s+# "(\w+)"', line)):
            if found[2] == "S":
                links.add(tuple(sorted(((node, int(found[1])), (found[4], int(found[3]))))))
            else:
                hosts[found[4]] = node, int(found[1])
    return sorted(links), hosts


def _wait_for_active_links(work, count):
    """Until both ends of so many links carry data: a cable that is put in again has to be seen by the manager first."""
    end = time.monotonic() + PATIENCE / 2
    while True:
        seen = work.run("iblinkinfo", "-C", "urnic0", status=0, environment=TOOLS).output
        if len(re.findall(r"Active/ +LinkUp", seen)) == 2 * count:
            return
        require(time.monotonic() < end, f"some of the {count} links are not active:\n{last_lines(seen, 20)}", "look at urnic status")


def _reach(work, one, other, index=0):
    """Whether data crosses from one device to another with the P_Key of that index."""
    result = work.run(REACH, one, other, index, environment=TOOLS)
    if "data has crossed" in result.output:
        return True
    require("nothing crosses" in result.output, f"reach.sh says: {last_lines(result.output)}", "is perftest installed?")
    return False


def exercise_2(work):
    config = work.write("managed.toml", 'subnet_manager = "built_in"\n' + work.file("line.toml").read_text())
    with work.device_process(config):
        links, hosts = _links_of_switches(work)
        wanted = dict(zip(HOSTS, [(name, 1) for name in ("north", "east", "south", "west")]))
        require(hosts == wanted, f"the hosts are at {', '.join(f'{node}:{port}' for node, port in hosts.values())}",
                "leave each at port 1 of its switch")
        require(len(links) == 4, f"there are {len(links)} links between switches", "add exactly one to the three")
        for (one, port), (other, _) in links:
            work.urnic("link", "set", f"{one}:{port}", "state=down")
            for device in ("urnic1", "urnic2", "urnic3"):
                require(_reach(work, "urnic0", device),
                        f"without the link from {one} to {other}, {device} is not reached from urnic0",
                        "there must be a second way between any two switches, which does not use that link")
            work.urnic("link", "set", f"{one}:{port}", "state=up")
            _wait_for_active_links(work, len(links) + len(hosts))
    return "each of the 4 links was cut, and all hosts were reached by the other ones"


def _keys(work, device):
    """The P_Keys of a port, by index."""
    said = work.run("smpquery", "-C", device, "-D", "pkeys", "0", status=0, environment=TOOLS).output
    return [int(key, 16) for key in re.findall(r" 0x([0-9a-f]{4})\b", said)]


def exercise_3(work):
    options = f'subnet_manager = "opensm"\nopensm_options = ["-P", "{work.file("partitions.conf")}"]\n'
    with work.device_process(work.write("partitioned.toml", options + (START / "ring.toml").read_text())):
        members = {}
        for device in ("urnic0", "urnic1", "urnic2", "urnic3"):
            found = [index for index, key in enumerate(_keys(work, device)) if key & ~FULL == SERVICE]
            require(bool(found) == (device != "urnic0"), f"{device} is {'a' if found else 'no'} member of the partition {SERVICE:#06x}",
                    "its members are urnic1, urnic2 and urnic3, by their GUIDs 0xa1, 0xa2 and 0xa3")
            members[device] = found[0] if found else None
        if len({index for index in members.values() if index is not None}) != 1:
            raise NotYet(f"the P_Key has several indices: {members}", "give each port the same partitions")
        for one, other, both, wanted in (("urnic1", "urnic2", members["urnic2"], True), ("urnic3", "urnic2", members["urnic2"], True),
                                         ("urnic1", "urnic3", members["urnic1"], False), ("urnic1", "urnic2", 0, False),
                                         ("urnic3", "urnic2", 0, False)):
            crosses = _reach(work, one, other, both)
            require(crosses == wanted, f"{one} and {other}, P_Key of index {both}: {'data crosses' if crosses else 'nothing crosses'}",
                    "of two members one must be a full one; two limited ones do not reach each other. The default partition stays as it is")
    return "urnic1 and urnic3 reach urnic2 in the partition 0x0009, and not each other"
