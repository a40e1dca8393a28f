#!/usr/bin/python3
"""libvma, which takes a program's sockets to the device's queues, under sockperf: UDP and TCP from device to device beside
the kernel, and with a program that has the kernel's sockets. Debian has no libvma: URNIC_LIBVMA names the library."""

import json
import os
import re
import unittest

import fabric
from network_fabric import ADDRESSES, require_network

LIBVMA = os.environ.get("URNIC_LIBVMA")
CONFIGURATION = """
network = true
[[devices]]
face = "mlx5"
[[devices]]
face = "mlx5"
"""
DEVICES = ("mlx5_0", "mlx5_1")
# Without these it makes 400,000 buffers of the MTU.
ENVIRONMENT = {"VMA_RX_BUFS": "8000", "VMA_TX_BUFS": "8000", "VMA_RX_WRE": "1024", "VMA_TX_WRE": "512", "VMA_MEM_ALLOC_TYPE": "0"}
# The kernel's own on the interfaces: ARP, neighbour discovery, group memberships.
OTHER_FRAMES = 40
MTU = 4217
MESSAGES = 20  # that a run has at the least, however busy the machine is

# Gives back what it gets, until its first peer has closed the connection.
ECHO = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as server:
    print("listens", flush=True)
    connection, _ = server.accept()
    with connection:
        while part := connection.recv(1 << 16):
            connection.sendall(part)
"""
# Sends random bytes there, and compares what comes back.
COMPARE = """
import random, socket, sys
to, source, port, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = random.Random(1).randbytes(size)
with socket.create_connection((to, port), source_address=(source, 0)) as connection:
    back = bytearray()
    for at in range(0, size, 50_000):
        part = data[at:at + 50_000]
        connection.sendall(part)
        while len(back) < at + len(part):
            got = connection.recv(1 << 16)
            if not got:
                sys.exit("the connection has ended")
            back += got
print("same" if bytes(back) == data else "other bytes")
"""


class Vma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not LIBVMA:
            raise unittest.SkipTest("URNIC_LIBVMA does not name a libvma.so (docs/mlx5-face.md)")
        if not os.access("/usr/bin/sockperf", os.X_OK):
            raise unittest.SkipTest("sockperf is not installed (tools/install-packages programs)")
        require_network()

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        self.port = fabric.free_port()

    def start(self, *command, offloaded=True):
        """libvma comes before urnic's library, which then has what libvma leaves to the system."""
        preload = f"{LIBVMA} " if offloaded else ""
        script = f'LD_PRELOAD="{preload}$LD_PRELOAD" exec "$@"'
        return self.fabric.start(self.fabric.urnic, "run", "--", "stdbuf", "-oL", "sh", "-c", script, "sh", *command,
                                 environment=ENVIRONMENT)

    def ping_pong(self, *words, server_is_offloaded=True):
        """Some seconds of it, and how many messages came back."""
        words = ("-p", self.port, *words)
        server = self.start("sockperf", "server", "-i", ADDRESSES[0], *words, offloaded=server_is_offloaded)
        server.wait_for_output("to block on socket")
        client = self.start("sockperf", "ping-pong", "-i", ADDRESSES[0], "--client_ip", ADDRESSES[1], "-t", 3, *words)
        self.assertEqual(client.wait(), 0, f"{client}\n{server}")
        server.kill()
        self.assertIn("dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0", client.output())
        received = int(re.search(r"Total Run.*ReceivedMessages=(\d+)", client.output())[1])
        self.assertGreater(received, MESSAGES)
        return received

    def counted(self, name):
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        return [counters[device][name] for device in DEVICES]

    def check_offloaded(self, packets):
        """So many have crossed both links each way, and no interface."""
        for device in (0, 1):
            fabric.wait_until(lambda: self.counted("port_xmit_packets")[device] >= packets, "the counters of packets")
            self.assertLess(self.counted("host_received")[device], OTHER_FRAMES)
            self.assertLess(self.counted("host_sent")[device], OTHER_FRAMES)

    def test_udp(self):
        self.check_offloaded(self.ping_pong("-m", 64))

    def test_tcp(self):
        self.check_offloaded(self.ping_pong("--tcp", "-m", 64))

    def test_tcp_brings_the_right_bytes(self):
        size = 500_000
        server = self.start("python3", "-c", ECHO, ADDRESSES[0], self.port)
        server.wait_for_output("listens")
        client = self.start("python3", "-c", COMPARE, *ADDRESSES, self.port, size)
        self.assertEqual(client.wait(), 0, f"{client}\n{server}")
        self.assertIn("same", client.output())
        self.check_offloaded(size // MTU)

    def test_with_the_kernels_sockets(self):
        """Which look at the checksums."""
        for words in ((), ("--tcp",)):
            with self.subTest(words=words):
                received = self.ping_pong(*words, "-m", 1000, server_is_offloaded=False)
                to_host, from_host = self.counted("host_sent"), self.counted("host_received")
                self.assertGreaterEqual(to_host[0], received)
                self.assertGreaterEqual(from_host[0], received)
                self.assertLess(from_host[1], OTHER_FRAMES)

    def test_a_capture_has_right_checksums(self):
        file = self.fabric.home / "vma.pcapng"
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        capture.wait_for_output("apturing")
        received = {"udp": self.ping_pong("-m", 200), "tcp": self.ping_pong("--tcp", "-m", 200)}
        capture.process.send_signal(2)
        capture.wait()
        for protocol, messages in received.items():
            shown = self.fabric.run("tshark", "-r", file, "-o", "ip.check_checksum:TRUE", "-o", f"{protocol}.check_checksum:TRUE",
                                    "-Y", f"{protocol}.port == {self.port}", "-T", "fields", "-e", "ip.checksum.status",
                                    "-e", f"{protocol}.checksum.status")
            lines = [line for line in shown.splitlines() if "\t" in line]
            self.assertGreater(len(lines), 2 * messages)
            # libvma leaves UDP's out in what has waited for the peer's Ethernet address.
            without = lines.count("1\t3") if protocol == "udp" else 0
            self.assertLess(without, 5)
            self.assertEqual(lines.count("1\t1"), len(lines) - without)


if __name__ == "__main__":
    unittest.main()
