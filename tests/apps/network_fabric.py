"""Fabrics whose devices have network interfaces, and programs that run in their network: for tests."""

import json
import pathlib
import unittest

import fabric
import network

ADDRESSES = ("192.0.2.1", "192.0.2.2")

# Connects to an address from each source, exchanges data both ways, and prints who the peers were.
TCP_EXCHANGE = """
import json, socket, sys
size, pairs, seen = int(sys.argv[1]), json.loads(sys.argv[2]), []
for source, destination in pairs:
    family = socket.AF_INET6 if ":" in destination else socket.AF_INET
    with socket.create_server((destination, 0), family=family) as server:
        client = socket.create_connection(server.getsockname()[:2], source_address=(source, 0) if source else None)
        accepted, peer = server.accept()
        for one, other in ((client, accepted), (accepted, client)):
            one.setblocking(False)
            left, arrived = bytes(size), 0
            while arrived < size:
                try:
                    left = left[one.send(left):] if left else left
                except BlockingIOError:
                    pass
                arrived += len(other.recv(1 << 16))
            one.setblocking(True)
        seen.append(peer[0])
        client.close(), accepted.close()
print(json.dumps(seen))
"""


def require_network():
    """SkipTest, with the reason, where an ordinary user may not have TAP interfaces and rules in a namespace."""
    network.require_namespaces("ip tuntap add dev try0 mode tap && ip rule add pref 77 lookup main")


class Network(fabric.Fabric):
    """A fabric whose programs run in the devices' network."""

    def start_pair(self, server, client, address=ADDRESSES[0]):
        port = fabric.free_port()
        first = self.start_on_urnic(*server, "-p", port)
        fabric.wait_until(lambda: self.listens(first, port) or first.status is not None, f"a listening server: {first}")
        return first, self.start_on_urnic(*client, "-p", port, address)

    @staticmethod
    def listens(program, port):
        """The program is a child of the command that was started."""
        try:
            children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        except OSError:
            return False
        return any(fabric.is_listening(port, child) for child in children)

    def ip(self, *words):
        return json.loads(self.run_on_urnic("ip", "-j", *words) or "[]")

    def counters(self, device="urnic0"):
        return json.loads(self.run(self.urnic, "counters", "--json"))[device]

    def ways(self):
        """Rules, and routes of the tables for packets between devices."""
        tables = [str(10000 + number) for number in range(len(fabric.DEVICES) + 1)]
        asked = [(family, "rule") for family in ("-4", "-6")]
        asked += [(family, "route", "show", "table", table) for family in ("-4", "-6") for table in tables]
        # A table without a route is none to ip: an error then.
        script = "; ".join(f"ip {' '.join(words)} 2>/dev/null | sed 's/^/{' '.join(words)}: /'" for words in asked)
        return set(self.run_on_urnic("sh", "-c", script).splitlines())

    def crossed(self, *pairs):
        """How many bytes more have crossed the first device's link each way after an exchange of 200,000 by each pair of addresses."""
        before = self.counters()
        peers = self.tcp(200_000, *pairs)
        after = self.counters()
        return peers, [4 * (after[each] - before[each]) for each in ("port_xmit_data", "port_rcv_data")]

    def tcp(self, size, *pairs):
        return json.loads(self.run_on_urnic("python3", "-c", TCP_EXCHANGE, size, json.dumps(pairs)))


class WithNetwork(unittest.TestCase):
    user = fabric.ORDINARY_USER

    def setUp(self):
        require_network()
        self.fabric = self.enterContext(Network(user=self.user))

    def up(self, configuration=""):
        self.fabric.up("network = true\n" + configuration)

    def state(self, device):
        for line in self.fabric.run_on_urnic("ibv_devinfo", "-d", device).splitlines():
            if "state:" in line:
                return line.split()[1]
        raise AssertionError("ibv_devinfo shows no state")
