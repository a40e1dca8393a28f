#!/usr/bin/python3
"""Interfaces of VLANs on the devices' own ones, with urnic in the guest: its kernel has VLANs, which not every host's has."""

import os
import pathlib
import shutil
import tempfile
import unittest

import fabric
import frame_peer
import guest

ADDRESS = "203.0.113.1"
GID = "0000:0000:0000:0000:0000:ffff:cb00:7101"
FOLDER = "/sys/class/infiniband/urnic0/ports/1"

# Behind: a place with the device's GID of that address, and its interface. Waits until there is one, or none.
PLACE = f"cd {FOLDER}/gids; grep -lx {GID} * | while read place; do echo $place $(cat ../gid_attrs/ndevs/$place); done"
UNTIL = f"cd {FOLDER}/gids; until {{}} grep -qx {GID} *; do sleep 0.2; done"

# The second device's interface of the VLAN is in a network of its own, so that frames cross the links; TCP with segments of any
# length, and each frame with its tag.
ACROSS = """
set -e
ip link add link urnic0 name urnic0.5 type vlan id 5
ip address add 203.0.113.1/24 dev urnic0.5
ip link set urnic0.5 up
unshare -n sleep 1000 &
other=$!
trap "kill $other" EXIT
until [ $(readlink /proc/$other/ns/net) != $(readlink /proc/self/ns/net) ]; do sleep 0.1; done
ip link add link urnic1 name urnic1.5 type vlan id 5
ip link set urnic1.5 netns $other
inside="nsenter -t $other -n"
$inside ip address add 203.0.113.2/24 dev urnic1.5
$inside ip link set urnic1.5 up
$inside python3 -c '
import socket
server = socket.create_server(("203.0.113.2", 7000))
print("listens", flush=True)
accepted, peer = server.accept()
arrived = 0
while data := accepted.recv(1 << 16):
    arrived += len(data)
print(arrived, "bytes from", peer[0], flush=True)' > /run/server.log &
server=$!
until grep -q listens /run/server.log; do sleep 0.1; done
python3 -c '
import socket
client = socket.create_connection(("203.0.113.2", 7000))
client.sendall(bytes(2_000_000))'
wait $server
cat /run/server.log
"""

# Both devices have an interface of the VLAN; their queue pairs take the GIDs of these, with service level 3.
PINGPONG = """
set -e
for number in 0 1; do
    ip link add link urnic$number name urnic$number.5 type vlan id 5
    ip address add 203.0.113.$((number + 1))/24 dev urnic$number.5
    ip link set urnic$number.5 up
done
place() {
    cd /sys/class/infiniband/urnic$1/ports/1/gids
    until grep -lx 0000:0000:0000:0000:0000:ffff:cb00:710$(($1 + 1)) *; do sleep 0.2; done
}
ibv_rc_pingpong -d urnic0 -g $(place 0) -l 3 -c > /run/server.log &
server=$!
until ss -ltn | grep -q :18515; do sleep 0.1; done
ibv_rc_pingpong -d urnic1 -g $(place 1) -l 3 -c 127.0.0.1
wait $server
cat /run/server.log
"""


class VlanInterfaces(unittest.TestCase):
    def setUp(self):
        self.directory = directory = pathlib.Path(tempfile.mkdtemp(prefix="urnic-guest-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        # Not in /tmp, which is the guest's own.
        tree = pathlib.Path(tempfile.mkdtemp(prefix="urnic-tree-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, tree, ignore_errors=True)
        shutil.copytree(fabric.tree(), tree, dirs_exist_ok=True)
        tree.chmod(0o755)
        self.urnic = f"{tree}/bin/urnic"
        wire = directory / "wire"
        frame_peer.FramePeer(wire)
        if os.geteuid() == 0:
            shutil.chown(wire, fabric.ORDINARY_USER)
        self.guest = self.enterContext(guest.Guest(directory, wire, processors=2))
        print(f"booted in {self.guest.boot_seconds:.1f} s")

    def add_vlan(self, number):
        name = f"urnic0.{number}"
        self.ip(f"link add link urnic0 name {name} type vlan id {number}", f"address add {ADDRESS}/24 dev {name}", f"link set {name} up")
        self.run_lines(UNTIL.format(""))

    def ip(self, *commands):
        self.run_lines(*(f"ip {each}" for each in commands))

    def wait_for_event(self, text):
        self.guest.run(f"until grep -q {text} /run/events; do sleep 0.2; done")

    def run_lines(self, *lines):
        return self.guest.run(f"{self.urnic} run -- sh -ec '{'; '.join(lines)}'")

    def test_gids_follow_them(self):
        self.guest.run(f"{self.urnic} up --network")
        self.guest.start(f"{self.urnic} run -- stdbuf -oL ibv_asyncwatch -d urnic0 > /run/events")
        self.wait_for_event("urnic0")
        self.add_vlan(5)
        self.assertRegex(self.run_lines(PLACE), r"(?m)^\d+ urnic0\.5$")
        self.ip("link set urnic0.5 down", "link set urnic0.5 name storage", "link set storage up")
        self.run_lines(f"until {PLACE} | grep -q storage; do sleep 0.2; done")
        self.wait_for_event("GID")

        server = self.guest.start(f"{self.urnic} run -- rping -s -a {ADDRESS} -C 5 -V")
        self.run_lines("until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done")
        self.run_lines(f"rping -c -a {ADDRESS} -I {ADDRESS} -C 5 -V")
        self.assertEqual(server.wait(), 0, server)

        self.ip("link del storage")
        self.run_lines(UNTIL.format("!"))
        self.add_vlan(7)
        self.assertRegex(self.run_lines(PLACE), r"(?m)^\d+ urnic0\.7$")

    def test_frames_with_tags_cross_the_links(self):
        script = self.directory / "across"
        script.write_text(ACROSS)
        place = self.guest.copy(script)
        for delay in ("", "delay_us = 100\n"):
            with self.subTest(delay):
                file = self.directory / "link.toml"
                file.write_text(f"network = true\n[[link]]\n{delay}")
                self.guest.run(f"{self.urnic} up --config {self.guest.copy(file)}")
                said = self.guest.run(f"{self.urnic} run --capture /run/all.pcap -- sh {place}")
                self.assertIn("2000000 bytes from 203.0.113.1", said)
                self.guest.run(f"{self.urnic} down")
                packets = self.guest.run("tcpdump -nn -e -r /run/all.pcap vlan 5 and tcp 2>/dev/null").splitlines()
                self.assertGreater(len(packets), 2_000_000 // 4217)

    def test_roce_packets_have_the_tag(self):
        script = self.directory / "pingpong"
        script.write_text(PINGPONG)
        self.guest.run(f"{self.urnic} up --network")
        said = self.guest.run(f"{self.urnic} run --capture /run/roce.pcap -- sh {self.guest.copy(script)}")
        self.assertEqual(said.count("1000 iters in"), 2, said)
        self.assertNotIn("invalid data", said)
        packets = self.guest.run("tcpdump -nn -e -r /run/roce.pcap vlan 5 and udp port 4791 2>/dev/null").splitlines()
        self.assertGreater(len(packets), 2 * 1000)
        for packet in packets:
            self.assertIn("vlan 5, p 3,", packet)
        self.assertEqual(self.guest.run("tcpdump -nn -e -r /run/roce.pcap udp port 4791 2>/dev/null").strip(), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
