#!/usr/bin/python3
"""libvma, which takes a program's sockets to the device's queues, under sockperf: UDP and TCP from device to device beside
the kernel, and with a program that has the kernel's sockets. Debian has no libvma: URNIC_LIBVMA names the library."""

import json
import os
import re
import unittest

import fabric
import test_network
from test_network import ADDRESSES

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
MESSAGES = 20  # that a run has at the least, however busy the machine is


class Vma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not LIBVMA:
            raise unittest.SkipTest("URNIC_LIBVMA does not name a libvma.so (docs/mlx5-face.md)")
        if not os.access("/usr/bin/sockperf", os.X_OK):
            raise unittest.SkipTest("sockperf is not installed (tools/install-packages programs)")
        test_network.require_network()

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        self.port = fabric.free_port()

    def start(self, *words, offloaded=True):
        preload = f"{LIBVMA} " if offloaded else ""
        script = f'LD_PRELOAD="{preload}$LD_PRELOAD" exec stdbuf -oL "$@"'
        return self.fabric.start(self.fabric.urnic, "run", "--", "sh", "-c", script, "sh", "sockperf", *words, "-p", self.port,
                                 environment=ENVIRONMENT)

    def ping_pong(self, *words, server_is_offloaded=True):
        """Some seconds of it, and how many messages came back."""
        server = self.start("server", "-i", ADDRESSES[0], *words, offloaded=server_is_offloaded)
        server.wait_for_output("to block on socket")
        client = self.start("ping-pong", "-i", ADDRESSES[0], "--client_ip", ADDRESSES[1], "-t", 3, "--data-integrity", *words)
        self.assertEqual(client.wait(), 0, f"{client}\n{server}")
        server.kill()
        self.assertIn("Data integrity test succeeded", client.output())
        self.assertIn("dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0", client.output())
        received = int(re.search(r"Total Run.*ReceivedMessages=(\d+)", client.output())[1])
        self.assertGreater(received, MESSAGES)
        return received

    def counted(self, name):
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        return [counters[device][name] for device in DEVICES]

    def check_offloaded(self, *words):
        received = self.ping_pong(*words)
        # Every message crosses both links and no interface.
        for device in (0, 1):
            fabric.wait_until(lambda: self.counted("port_xmit_packets")[device] >= received, "the counters of packets")
            self.assertLess(self.counted("host_received")[device], OTHER_FRAMES)
            self.assertLess(self.counted("host_sent")[device], OTHER_FRAMES)

    def test_udp(self):
        self.check_offloaded("-m", 64)

    def test_tcp(self):
        self.check_offloaded("--tcp", "-m", 64)

    def test_messages_of_several_packets(self):
        for words in ((), ("--tcp",)):
            with self.subTest(words=words):
                self.check_offloaded(*words, "-m", 9000)

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
            self.assertEqual(set(lines), {"1\t1"})


if __name__ == "__main__":
    unittest.main()
