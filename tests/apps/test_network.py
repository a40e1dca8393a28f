#!/usr/bin/python3
"""Devices with network interfaces: urnic run --network, urnic up --interfaces."""

import contextlib
import json
import os
import pathlib
import re
import signal
import time
import unittest

import fabric
from network_fabric import ADDRESSES, Network, WithNetwork, require_network

# Sends to an address for some seconds; prints how many bytes arrived.
TCP_STREAM = """
import socket, sys, threading, time
source, destination, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
arrived = 0
with socket.create_server((destination, 0)) as server:
    def receive():
        global arrived
        accepted, _ = server.accept()
        while data := accepted.recv(1 << 20):
            arrived += len(data)
    receiver = threading.Thread(target=receive)
    receiver.start()
    with socket.create_connection(server.getsockname(), source_address=(source, 0)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            client.sendall(bytes(1 << 16))
    receiver.join()
print(arrived)
"""

# Sends one frame with each of two source addresses to a group by the first interface; prints what the second one gets.
FORGE = """
import socket, struct, sys
def packet_socket(interface):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
    made.bind((interface, 0x88b5))
    made.settimeout(60)
    return made
sender, receiver = packet_socket("urnic0"), packet_socket("urnic1")
for source in sys.argv[1:]:
    sender.send(b"\\xff" * 6 + bytes.fromhex(source.replace(":", "")) + struct.pack("!H", 0x88b5) + b"x" * 46)
print(receiver.recv(100)[6:12].hex(":"))
"""


# Sends RoCE packets: RDMA WRITE Only with a key that nobody has, for which a responder that takes it ends its connection.
FORGE_ROCE = """
import json, socket, struct, sys, zlib
def ip_header(source, destination, length, tos, ttl, total):
    return struct.pack("!BBHHHBBH4s4s", 0x45, tos, length, 0, 0x4000, ttl, 17, total, socket.inet_aton(source), socket.inet_aton(destination))
def packet(source, destination, qpn, psn):
    body = struct.pack("!BBHIIQII", 0x0A, 0x40, 0xFFFF, qpn, 1 << 31 | psn, 0, 0, 8) + bytes(8)
    udp = struct.pack("!HHH", 0xC000, 4791, 8 + len(body) + 4)
    fields = source, destination, 20 + 8 + len(body) + 4
    masked = ip_header(*fields, 0xFF, 0xFF, 0xFFFF) + udp + bytes(2 * [255]) + body[:4] + bytes([255]) + body[5:]
    icrc = struct.pack("<I", zlib.crc32(bytes(8 * [255]) + masked))
    total = sum(struct.unpack("!10H", ip_header(*fields, 0, 64, 0)))
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return ip_header(*fields, 0, 64, total) + udp + bytes(2) + body + icrc
for each in json.loads(sys.argv[1]):
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind((each["by"], 0))
    macs = b"".join(bytes.fromhex(each[end].replace(":", "")) for end in ("to_mac", "from_mac"))
    sender.send(macs + bytes.fromhex("0800") + packet(each["source"], each["destination"], each["qpn"], each["psn"]))
"""

# Small frames to the other device, as fast as a program can.
FLOOD = """
import contextlib, socket
interface = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
interface.bind(("urnic0", 0x88b5))
frame = bytes.fromhex("0275726e0001" "0275726e0000" "88b5") + bytes(46)
print("floods", flush=True)
while True:
    with contextlib.suppress(OSError):
        interface.send(frame)
"""

# Prints the driver and the statistics of an interface; status 1 if it has none.
STATISTICS = """
import array, fcntl, json, socket, struct, sys
SIOCETHTOOL, GDRVINFO, GSTRINGS, GSTATS, STATS = 0x8946, 3, 0x1b, 0x1d, 1
asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def ask(*words, room=0):
    place = array.array("B", struct.pack(f"={len(words)}I", *words) + bytes(room))
    try:
        fcntl.ioctl(asker, SIOCETHTOOL, struct.pack("16sP16x", sys.argv[1].encode(), place.buffer_info()[0]))
    except OSError:
        sys.exit(1)
    return bytes(place)
about = ask(GDRVINFO, room=192)
count = struct.unpack_from("I", about, 180)[0]
names = ask(GSTRINGS, STATS, count, room=32 * count)[12:]
values = ask(GSTATS, count, room=8 * count)[8:]
if count == 0:
    sys.exit(1)
print(json.dumps({"driver": about[4:36].rstrip(bytes(1)).decode(),
                  "values": {names[32 * i:32 * i + 32].rstrip(bytes(1)).decode(): struct.unpack_from("=Q", values, 8 * i)[0]
                             for i in range(count)}}))
"""


class Interfaces(WithNetwork):
    def test_interfaces_have_the_devices_names_and_addresses(self):
        self.up()
        interfaces = {each["ifname"]: each for each in self.fabric.ip("addr")}
        self.assertEqual(set(interfaces), {"lo", "urnic0", "urnic1"})
        for number, name in enumerate(fabric.DEVICES):
            shown = interfaces[name]
            self.assertEqual(shown["address"], f"02:75:72:6e:00:0{number}")
            self.assertIn("LOWER_UP", shown["flags"])
            self.assertEqual({each["local"] for each in shown["addr_info"]},
                             {ADDRESSES[number], f"fe80::75:72ff:fe6e:{number}"})
        self.assertIn("UP", interfaces["lo"]["flags"])

    def test_an_idle_device_sleeps(self):
        """The hosts' own messages at their start wake it now and then; it does not look for them."""
        self.up()
        threads = pathlib.Path(f"/proc/{self.fabric.device_process()}/task")
        engine, = (each for each in threads.iterdir() if (each / "comm").read_text().startswith("urnic-engine"))

        def turns():
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (engine / "status").read_text(), re.MULTILINE)[1])
        before = turns()
        time.sleep(2)
        self.assertLess(turns() - before, 200)

    def test_all_who_are_asked_name_the_interface(self):
        self.up()
        links = self.fabric.run_on_urnic("rdma", "link")
        folder = "/sys/class/infiniband/{0}"
        for name in fabric.DEVICES:
            self.assertIn(f"netdev {name}", links)
            self.assertEqual(self.fabric.run_on_urnic("ls", f"{folder.format(name)}/device/net"), f"{name}\n")
            for index in ("0", "1"):
                path = f"{folder.format(name)}/ports/1/gid_attrs/ndevs/{index}"
                self.assertEqual(self.fabric.run_on_urnic("cat", path), f"{name}\n")
        self.assertEqual([each["interface"] for each in self.fabric.status()["devices"]], list(fabric.DEVICES))

    def test_tcp_crosses_the_links(self):
        self.up()
        one, two = ADDRESSES
        before = self.fabric.counters()
        seen = self.fabric.tcp(200_000, (None, two), (None, one), (one, two), (two, one))
        self.assertEqual(seen, [one, two, one, two])
        after = self.fabric.counters()
        for counter in ("port_xmit_data", "port_rcv_data"):
            self.assertGreater(4 * (after[counter] - before[counter]), 800_000, counter)
        self.assertEqual(self.fabric.tcp(200_000, (one, one)), [one])
        self.assertLess(4 * (self.fabric.counters()["port_xmit_data"] - after["port_xmit_data"]), 20_000)

    def change_addresses(self, word, addresses):
        """Of both devices, and waits until the rules and the GIDs are so."""
        for device, own in zip(fabric.DEVICES, addresses):
            for address in own:
                self.fabric.run_on_urnic("ip", "address", word, f"{address}/{64 if ':' in address else 24}", "dev", device)
        gids = [f"::ffff:{each}".replace("::ffff:fd", "fd") for own in addresses for each in own]
        def is_so():
            shown = "".join(each for each in self.fabric.ways() if "rule: 30:" in each)
            listed = {gid for device in self.fabric.status()["devices"] for gid in device["gids"]}
            there = [f"from {each} " in shown for own in addresses for each in own] + [gid in listed for gid in gids]
            return all(there) if word == "add" else not any(there)
        fabric.wait_until(is_so, f"rules and GIDs after ip address {word}")

    def test_addresses_that_are_added_lead_over_the_links(self):
        self.up()
        first = self.fabric.ways()
        (one, one6), (two, two6) = added = (("10.1.2.1", "fd00::1"), ("10.1.2.2", "fd00::2"))
        self.change_addresses("add", added)
        # IPv6 ones may be used when the kernel has made sure that nobody else has them.
        fabric.wait_until(lambda: sum("table 1000" in each and "fd00::" in each for each in self.fabric.ways()) >= 6, "IPv6 routes")
        pairs = ((one, two), (two, one), (ADDRESSES[0], two), (one, ADDRESSES[1]), (one6, two6), (two6, one6), (None, two), (None, one6))
        peers, carried = self.fabric.crossed(*pairs)
        self.assertEqual(peers, [source or {two: ADDRESSES[0], one6: two6}[destination] for source, destination in pairs])
        for number in carried:
            self.assertGreater(number, len(pairs) * 200_000)
        peers, carried = self.fabric.crossed((one, one), (one, ADDRESSES[0]), (ADDRESSES[0], one), (one6, one6))
        self.assertEqual(peers, [one, one, ADDRESSES[0], one6])
        self.assertLess(max(carried), 20_000)

        writes = ("ib_write_bw", "-F", "-n", "200", "-x", "2")
        fabric.end_pair(*self.fabric.start_pair((*writes, "-d", "urnic0"), (*writes, "-d", "urnic1"), one), fabric.PATIENCE, self.fabric.log)
        server = self.fabric.start_on_urnic("rping", "-s", "-a", one, "-C", "20", "-V")
        fabric.wait_until(lambda: "LISTEN" in self.fabric.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        self.fabric.run_on_urnic("rping", "-c", "-a", one, "-I", two, "-C", "20", "-V")
        self.assertEqual(server.wait(), 0, server)

        self.change_addresses("del", added)
        fabric.wait_until(lambda: self.fabric.ways() == first, "the rules and routes of before")

    def test_the_first_address_may_be_another_one(self):
        """The kernel takes away the routes whose source address is gone."""
        self.up()
        others = ("10.1.2.1", "10.1.2.2")
        self.change_addresses("add", ((others[0],), (others[1],)))
        self.change_addresses("del", ((ADDRESSES[0],), (ADDRESSES[1],)))
        peers, carried = self.fabric.crossed(others, (None, others[1]), (None, others[0]))
        self.assertEqual(peers, [others[0], *others])
        self.assertGreater(min(carried), 600_000)

    def test_an_interface_that_was_down_has_its_routes_again(self):
        self.up()
        first = {each for each in self.fabric.ways() if each.startswith("-4")}
        self.fabric.run_on_urnic("ip", "link", "set", "urnic0", "down")
        self.fabric.run_on_urnic("ip", "link", "set", "urnic0", "up")
        fabric.wait_until(lambda: first <= self.fabric.ways(), "the routes of before")
        peers, carried = self.fabric.crossed(ADDRESSES, ADDRESSES[::-1])
        self.assertEqual(peers, list(ADDRESSES))
        self.assertGreater(min(carried), 400_000)

    def test_programs_find_each_other_by_the_devices_addresses(self):
        self.up()
        for command in (("ibv_rc_pingpong", "-c", "-g", "1"), ("ibv_ud_pingpong", "-c", "-s", "1024", "-g", "1"),
                        ("ib_write_bw", "-F", "-x", "1", "-n", "200"), ("ib_send_lat", "-F", "-x", "1", "-n", "200")):
            with self.subTest(command[0]):
                self.fabric.run_pair((*command, "-d", "urnic0"), (*command, "-d", "urnic1"))
        server = self.fabric.start_on_urnic("rping", "-s", "-a", ADDRESSES[0], "-C", "20", "-V")
        fabric.wait_until(lambda: "LISTEN" in self.fabric.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        self.fabric.run_on_urnic("rping", "-c", "-a", ADDRESSES[0], "-I", ADDRESSES[1], "-C", "20", "-V")
        self.assertEqual(server.wait(), 0, server)

    def test_tcp_and_roce_with_loss(self):
        self.up('[[link]]\nloss = 0.02\ndirection = "tx"\n')
        self.fabric.tcp(2_000_000, ADDRESSES)
        lost = self.fabric.counters()["link_tx_lost"]
        self.assertGreater(lost, 0)
        # Both ends stay until both are done: a pingpong whose peer has ended misses an acknowledgement that was lost.
        common = ("ib_send_lat", "-F", "-x", "1", "-s", "16384", "-n", 300)
        self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))
        self.assertGreater(self.fabric.counters()["link_tx_lost"], lost)

    def test_tcp_and_roce_share_a_line(self):
        """Each gets a sixth of it at least, while both want all of it."""
        gbps, seconds = 0.2, 4
        self.up(f"[[link]]\nrate_gbps = {gbps}\n")
        pair = self.fabric.start_pair(("ib_write_bw", "-F", "-x", "1", "-D", seconds + 4, "-d", "urnic0"),
                                      ("ib_write_bw", "-F", "-x", "1", "-D", seconds + 4, "-d", "urnic1"))
        fabric.wait_until(lambda: self.fabric.counters("urnic1")["port_xmit_data"] > 1 << 18, "writes")
        before = self.fabric.counters("urnic1")["port_xmit_data"]
        tcp = int(self.fabric.run_on_urnic("python3", "-c", TCP_STREAM, ADDRESSES[1], ADDRESSES[0], seconds))
        all_bytes = 4 * (self.fabric.counters("urnic1")["port_xmit_data"] - before)
        fabric.end_pair(*pair, fabric.PATIENCE, self.fabric.log)
        self.assertGreater(tcp, all_bytes / 6)
        self.assertGreater(all_bytes - tcp, all_bytes / 6)

    def test_two_device_processes_have_two_networks(self):
        self.up()
        other = self.enterContext(Network(user=self.user))
        other.up("network = true\n")
        self.fabric.run_on_urnic("ip", "link", "set", "urnic1", "down")
        self.assertNotIn("UP", next(each for each in self.fabric.ip("link") if each["ifname"] == "urnic1")["flags"])
        self.assertEqual(other.tcp(1000, ADDRESSES), [ADDRESSES[0]])

    def test_a_capture_has_all_of_it(self):
        self.up()
        file = self.fabric.home / "all.pcapng"
        pings = ("ibv_rc_pingpong", "-g", "1", "-n", "20", "-p", fabric.free_port())
        self.fabric.run(self.fabric.urnic, "run", "--capture", file, "--", "sh", "-c",
                        f"{' '.join(map(str, pings))} -d urnic0 & sleep 1; {' '.join(map(str, pings))} -d urnic1 {ADDRESSES[0]}; wait")
        shown = self.fabric.run("tshark", "-r", file)
        for protocol in (" ARP ", " TCP ", " RRoCE "):
            self.assertIn(protocol, shown)
        self.assertNotIn("Malformed", shown)

    def test_the_port_follows_the_interface(self):
        self.up()
        self.assertEqual(self.state("urnic0"), "PORT_ACTIVE")
        for word, state in (("down", "PORT_DOWN"), ("up", "PORT_ACTIVE")):
            self.fabric.run_on_urnic("ip", "link", "set", "urnic0", word)
            fabric.wait_until(lambda state=state: self.state("urnic0") == state, f"the port is {state}")
            self.assertEqual(self.state("urnic1"), "PORT_ACTIVE")
        self.fabric.run_on_urnic("ip", "link", "set", "urnic0", "mtu", "1500")
        fabric.wait_until(lambda: "active_mtu:\t\t1024" in self.fabric.run_on_urnic("ibv_devinfo", "-d", "urnic0"), "the MTU")

    def test_an_interface_follows_its_devices_link(self):
        """It has no carrier while a person has cut that."""
        self.up()
        has_carrier = lambda: "LOWER_UP" in self.fabric.ip("link", "show", "dev", "urnic0")[0]["flags"]
        for number in range(3):
            self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "state=down")
            fabric.wait_until(lambda: not has_carrier(), "an interface without a carrier")
            self.assertEqual(self.state("urnic0"), "PORT_DOWN")
            self.assertEqual(self.state("urnic1"), "PORT_ACTIVE")
            self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "state=up")
            # The port works at once, whenever the kernel says it of the interface.
            self.assertEqual(self.state("urnic0"), "PORT_ACTIVE")
            fabric.wait_until(has_carrier, "a carrier")
        one, two = ADDRESSES
        self.assertEqual(self.fabric.tcp(2000, (one, two)), [one])

    def test_statistics_of_a_connectx(self):
        """As ethtool(8) asks for them."""
        self.fabric.up("network = true\n[device]\nface = \"mlx5\"\n")
        shown = json.loads(self.fabric.run_on_urnic("python3", "-c", STATISTICS, "mlx5_0"))
        self.assertEqual(shown["driver"], "mlx5_core")
        self.assertIn("rx_packets_phy", shown["values"])
        self.fabric.run_on_urnic("python3", "-c", STATISTICS, "lo", status=1)  # nobody's
        self.assertEqual(len(shown["values"]), 8)

    def test_gids_follow_the_addresses(self):
        self.up()
        def gids():
            return self.fabric.status()["devices"][0]["gids"]

        first = gids()
        watcher = self.fabric.start_on_urnic("stdbuf", "-oL", "ibv_asyncwatch", "-d", "urnic0")
        watcher.wait_for_output("urnic0")
        for address, gid in (("10.1.2.3/16", "::ffff:10.1.2.3"), ("fd00::7/64", "fd00::7")):
            self.fabric.run_on_urnic("ip", "address", "add", address, "dev", "urnic0")
            fabric.wait_until(lambda gid=gid: gids() == [*first, gid], f"{gid} among the GIDs")
            self.fabric.run_on_urnic("ip", "address", "del", address, "dev", "urnic0")
            fabric.wait_until(lambda: gids() == [*first, "::"], "its place is empty")
        watcher.wait_for_output("GID")
        watcher.kill()
        refused = self.fabric.run(self.fabric.urnic, "gid", "add", "urnic0", "fd00::9", status=1)
        self.assertIn("ip address", refused)

    def test_a_frame_has_its_interfaces_address(self):
        self.up()
        own = "02:75:72:6e:00:00"
        self.assertEqual(self.fabric.run_on_urnic("python3", "-c", FORGE, "02:00:00:00:00:99", "02:75:72:6e:00:01", own), f"{own}\n")
        self.assertEqual(self.fabric.counters()["host_refused_sources"], 2)

    def queue_pairs(self):
        """By device, of a connection at rest."""
        before = None
        while True:
            now = json.loads(self.fabric.run(self.fabric.urnic, "status", "--qps", "--json"))
            if now == before:
                return {each["device"]: each for each in now}
            before = now

    def test_no_connection_takes_a_packet_that_a_program_makes(self):
        """The program is the network's administrator, and knows all that is to know of the connection."""
        self.up(3 * "[[devices]]\n")
        bystander = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"))
        bystander.wait_for_output("running")
        os.killpg(bystander.pid, signal.SIGSTOP)
        ends = self.queue_pairs()
        macs = [f"02:75:72:6e:00:0{number}" for number in range(3)]
        forged = []
        for own, other in ((0, 1), (1, 0)):
            its = ends[fabric.DEVICES[own]]
            packet = {"to_mac": macs[own], "source": ADDRESSES[other], "destination": ADDRESSES[own],
                      "qpn": its["qpn"], "psn": its["responder"]["expected_psn"]}
            # By the interface of the connection's other end; by a third one as itself, and in the other's name.
            forged += [{**packet, "by": f"urnic{by}", "from_mac": macs[name]} for by, name in ((other, other), (2, 2), (2, other))]
        self.fabric.run_on_urnic("python3", "-c", FORGE_ROCE, json.dumps(forged))
        fabric.wait_until(lambda: self.fabric.counters("urnic2")["host_refused_sources"] >= 2, "packets in another's name")
        for device in fabric.DEVICES:
            fabric.wait_until(lambda device=device: self.fabric.counters(device)["rx_wrong_origin"] >= 2, f"packets for {device}")
        self.assertEqual(self.fabric.counters("urnic2")["host_refused_sources"], 2)
        for device in fabric.DEVICES:
            counters = self.fabric.counters(device)
            self.assertEqual((counters["rx_wrong_origin"], counters["rx_icrc_encapsulated"], counters["resp_remote_access_errors"]), (2, 0, 0))
        self.assertEqual(self.queue_pairs(), ends)

        received = self.fabric.counters()["rx_send_requests"]
        os.killpg(bystander.pid, signal.SIGCONT)
        fabric.wait_until(lambda: bystander.status is not None or self.fabric.counters()["rx_send_requests"] > received + 100, "more messages")
        bystander.process.send_signal(signal.SIGTERM)
        self.assertEqual(bystander.wait(), 0, bystander)

    def test_a_flood_leaves_room_for_roce(self):
        self.up()
        flood = self.fabric.start_on_urnic("python3", "-c", FLOOD)
        flood.wait_for_output("floods")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-n", "300", "-c"),
                             ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1", "-n", "300", "-c"))
        self.assertIsNone(flood.status, flood)
        self.assertGreater(self.fabric.counters()["host_received"], 1000)
        flood.kill()
        self.assertEqual(self.fabric.tcp(100_000, ADDRESSES), [ADDRESSES[0]])

    def test_interfaces_end_with_the_device_process(self):
        self.up()
        watcher = self.fabric.start_on_urnic("sh", "-c", "while ip link show urnic0 >/dev/null 2>&1; do echo there; sleep 0.1; done; ip -br link")
        watcher.wait_for_output("there")
        self.fabric.down()
        self.assertEqual(watcher.wait(), 0, watcher)
        self.assertNotIn("urnic", watcher.output())

    def test_ways_in_beside_urnic_run(self):
        self.up()
        network_of = ("readlink", "/proc/self/ns/net")
        wrapper = self.fabric.home / "in the network"
        said = self.fabric.start(self.fabric.urnic, "env", "--wrapper", wrapper)
        self.assertEqual(said.wait(), 0, said)
        inside = self.fabric.run_on_urnic(*network_of)
        self.assertEqual(self.fabric.run("env", "-i", wrapper, *network_of), inside)
        self.assertIn("urnic0", self.fabric.run("env", "-i", wrapper, "/usr/bin/ibv_devices"))
        self.assertIn("'urnic run -- COMMAND' does", self.fabric.run(self.fabric.urnic, "env"))

    def test_commands_share_a_network(self):
        """The option alone, with a device process for the two of them."""
        network_of = ("readlink", "/proc/self/ns/net")
        with_network = (self.fabric.urnic, "run", "--network", "--")
        holder = self.fabric.start(*with_network, "sh", "-c", "readlink /proc/self/ns/net; sleep 100")
        holder.wait_for_output("net:")
        self.assertEqual(self.fabric.run(*with_network, *network_of), holder.output())
        self.assertEqual(self.fabric.run_on_urnic(*with_network, *network_of), holder.output())
        self.assertNotEqual(holder.output(), os.readlink("/proc/self/ns/net") + "\n")

    def test_what_cannot_be(self):
        self.fabric.up()
        for command in (("run", "--network", "--", "true"), ("up", "--network"), ("up", "--interfaces")):
            refused = self.fabric.run(self.fabric.urnic, *command, status=125 if command[0] == "run" else 1)
            self.assertIn("which this command has", refused)
        self.fabric.down()
        file = self.fabric.home / "long.toml"
        for text, problem in (('network = true\n[[devices]]\nname = "urnic_of_a_long_name"\n', "at most 15 characters"),
                              ("network = 1\n", "true or false"), ('network = true\n[lan]\ntap = "tap0"\n', "beside a LAN on one"),
                              ("network = true\ninterfaces = true\n", "one network namespace"),
                              ("outside = true\n", "not true without network = true")):
            file.write_text(text)
            self.assertIn(problem, self.fabric.run(self.fabric.urnic, "up", "--config", file, status=1))


# A host with a server on one of its addresses, and a command in the devices' network of urnic that asks it.
OUTSIDE_HOST = """
set -e
ip link set lo up
ip addr add 10.77.1.1/32 dev lo
python3 -c 'import socket; server = socket.create_server(("10.77.1.1", 7000)); print("listens", flush=True)
while True: connection, _ = server.accept(); connection.sendall(b"from outside"); connection.close()' > server.log &
trap "kill $!" EXIT
while ! grep -qs listens server.log; do sleep 0.05; done
{prefix} {urnic} run --network --outside -- python3 -c '
import socket
print(socket.create_connection(("10.77.1.1", 7000), 60, ("10.0.2.100", 0)).makefile().read(), open("/etc/resolv.conf").read())'
"""


def way_outside_processes():
    found = set()
    for process in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and b"slirp4netns" in (process / "cmdline").read_bytes():
                found.add(process.name)
    return found


class Outside(WithNetwork):
    def test_to_a_host_and_its_name_server(self):
        # As that namespace's root, whose network needs no user namespace, and as a user.
        for prefix in ("", "unshare -U --map-user=1000 --map-group=1000 --"):
            with self.subTest(prefix), Network(user=self.user) as own:
                said = own.run("unshare", "-Urn", "sh", "-c", OUTSIDE_HOST.format(prefix=prefix, urnic=own.urnic))
                self.assertEqual(said.split("\n")[0], "from outside nameserver 10.0.2.3")

    def test_it_ends_with_the_device_process(self):
        before = way_outside_processes()
        for end in (self.fabric.down, lambda: os.kill(self.fabric.device_process(), signal.SIGKILL)):
            self.fabric.up("network = true\noutside = true\n")
            self.assertIn("outside", self.fabric.run_on_urnic("ip", "-br", "addr"))
            its = way_outside_processes() - before
            self.assertTrue(its)
            end()
            fabric.wait_until(lambda: not its & way_outside_processes(), "the end of the way outside")

    def test_without_the_program_for_it(self):
        said = self.fabric.run("env", "PATH=/nonexistent", self.fabric.urnic, "up", "--network", "--outside", status=1)
        self.assertIn("slirp4netns: it is not installed", said)
        self.assertIn("--network", self.fabric.run(self.fabric.urnic, "up", "--outside", status=2))


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class InterfacesAsRoot(WithNetwork):
    """In a network namespace without a user namespace."""
    user = None
    test_interfaces = Interfaces.test_interfaces_have_the_devices_names_and_addresses
    test_tcp = Interfaces.test_tcp_crosses_the_links
    test_programs = Interfaces.test_programs_find_each_other_by_the_devices_addresses
    test_the_port = Interfaces.test_the_port_follows_the_interface
    change_addresses = Interfaces.change_addresses
    test_added_addresses = Interfaces.test_addresses_that_are_added_lead_over_the_links


class BesideTheHosts(unittest.TestCase):
    """Interfaces in the namespace of the device process: here one that an ordinary user has made."""

    def test_interfaces_of_this_network(self):
        require_network()
        with fabric.Fabric() as own:
            refused = own.run(own.urnic, "up", "--interfaces", status=1)
            self.assertIn("CAP_NET_ADMIN", refused)
            shown = own.run("unshare", "-Urn", "sh", "-c", f"{own.urnic} up --interfaces >/dev/null && {own.urnic} run -- ip -br addr && {own.urnic} down")
            for name, address in zip(fabric.DEVICES, ADDRESSES):
                self.assertRegex(shown, f"{name} .*{address}/24")


if __name__ == "__main__":
    unittest.main()
