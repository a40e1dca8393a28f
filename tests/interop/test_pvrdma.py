#!/usr/bin/python3
"""Two guests with QEMU's pvrdma devices, each on a device of urnic: programs between them, and between a guest and the host."""

import json
import sys
import unittest

import fabric
import guest
from pvrdma_guest import PvrdmaGuest

CONFIGURATION = """
[device]
max_qp = 1024
connection_manager = false
[[devices]]
[[devices]]
[[devices]]
connection_manager = true
gids = ["fe80::ff:fe00:3", "::ffff:10.0.0.3"]
"""
# Asks for an address as QEMU does, and stays.
THIRD_GUEST = """
import socket, struct, sys, time
mux = socket.socket(socket.AF_UNIX)
mux.connect(sys.argv[1])
mux.sendall(struct.pack("=II16s336x", 0, 0, bytes.fromhex("fe800000000000000000000000000077")))
time.sleep(600)
"""
# What QEMU's device can: messages. Their words for a server and a client, which has the server's address at its end.
PINGPONGS = ("ibv_rc_pingpong -c -n 100", "ibv_ud_pingpong -c -n 50", "ibv_srq_pingpong -c -n 100")


class Pvrdma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)
        home, cable = cls.fabric.home, cls.fabric.home / "cable"
        cls.guests = []
        for number in (1, 2):
            mux = home / f"mux{number}"
            cls.fabric.start(cls.fabric.urnic, "pvrdma-mux", "--device", f"urnic{number - 1}", "--socket", mux)
            fabric.wait_until(mux.is_socket, "the mux", 30)
            folder = home / f"guest{number}"
            folder.mkdir()
            cls.guests.append(cls.enterClassContext(PvrdmaGuest(cls.fabric, folder, f"urnic{number - 1}", mux, cable, number)))
            print(f"guest {number} has booted in {cls.guests[-1].boot_seconds:.1f} s", flush=True)

    def gids(self, device):
        return json.loads(self.fabric.run(self.fabric.urnic, "gid", "show", device, "--json"))[device]

    def state(self):
        """Of the guests, for the report of a failure."""
        ask = "ping -c 2 -W 2 10.0.0.1; ping -c 2 -W 2 10.0.0.2; ip -s link show eth0; ip neigh; grep eth0 /proc/interrupts; dmesg | tail -5"
        return "\n".join(f"guest {one.number}: {one.run(ask)}" for one in self.guests)

    def on_guest(self, number, command):
        """The command with the guest's device and its GID of IPv4."""
        linux = self.guests[number - 1]
        word = "-x" if command.startswith("ib_") else "-g"
        return f"{command} -d vmw_pvrdma0 {word} {linux.gid_index(f'10.0.0.{number}', 'vmw_pvrdma0')}"

    def run_pair(self, server, client, until):
        """Programs in the first and the second guest, which gets the first one's address; `until` waits until the server listens."""
        first = self.guests[0].start(server)
        try:
            until()
            second = self.guests[1].start(f"{client} 10.0.0.1")
            self.assertEqual((second.wait(), first.wait()), (0, 0), f"{first}\n{second}")
            self.assertNotIn("invalid data", first.output() + second.output())
        except AssertionError:
            print(self.state(), flush=True)
            raise
        finally:
            first.kill()
        return first.output(), second.output()

    def run_by_tcp(self, command):
        words = [self.on_guest(number, command) for number in (1, 2)]
        return self.run_pair(*words, lambda: self.guests[0].wait_until_listening(18515))

    def wait_until_cm_listens(self):
        self.guests[0].run("until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done")

    def test_guests_addresses_are_the_devices(self):
        for number, name in ((1, "urnic0"), (2, "urnic1")):
            listed = self.gids(name).values()
            self.assertIn(f"::ffff:10.0.0.{number}", listed)
            self.assertIn(f"fe80::5054:ff:fe00:{number}", listed)

    def test_pingpongs_check_every_byte(self):
        for command in PINGPONGS:
            with self.subTest(command):
                self.run_by_tcp(command)

    def test_perftest(self):
        with self.subTest("bandwidth"):
            _, client = self.run_by_tcp("ib_send_bw -n 500 -s 65536")
            self.assertRegex(client, r"(?m)^ *65536 +500 +[\d.]+")
        with self.subTest("latency"):
            self.run_by_tcp("ib_send_lat -n 200")

    def test_packets_are_lost_and_sent_again(self):
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "loss=0.02")
        try:
            self.run_by_tcp("ibv_rc_pingpong -c -n 200")
        finally:
            self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", "loss=0")
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        self.assertGreater(counters["urnic0"]["link_tx_lost"], 0)

    def test_rdma_cm_between_guests(self):
        """By programs that poll. QEMU takes a program's wish to hear of the next completion for the wish to hear of none, so
        rdma_server and rdma_client may wait for ever (docs/guests.md)."""
        self.run_pair("ib_send_lat -R -n 50", "ib_send_lat -R -n 50", self.wait_until_cm_listens)

    def test_rdma_cm_between_a_guest_and_the_host(self):
        # The guest asks by ARP who the host's device is, which nobody on its cable knows.
        self.guests[0].run("ip neigh replace 10.0.0.3 lladdr 02:75:72:6e:00:02 dev eth0")
        with self.subTest("the guest serves"):
            server = self.guests[0].start("ib_send_lat -R -n 50")
            self.wait_until_cm_listens()
            self.fabric.run_on_urnic("ib_send_lat", "-R", "-n", "50", "10.0.0.1", timeout=guest.PATIENCE)
            self.assertEqual(server.wait(), 0, str(server))
        for command in ("ib_send_lat -R -n 50", "udaddy -C 10 -S 1000 -s"):
            with self.subTest(f"{command}, the host serves"):
                server = self.fabric.start_on_urnic(*command.removesuffix(" -s").split())
                fabric.wait_until(lambda: self.fabric.status()["rdma_cm"]["listeners"], "a listener", guest.PATIENCE)
                self.guests[0].run(f"{command} 10.0.0.3")
                self.assertEqual(server.wait(guest.PATIENCE), 0, str(server))

    def test_queue_pairs_that_end_leave_the_guests_memory_alone(self):
        """The driver clears a queue pair's place in its table, by its number, and does not look whether there is such a place."""
        first = self.guests[0]
        # The server is the guest itself, where nobody listens: a queue pair is made, and ends.
        pingpong = self.on_guest(1, "ibv_rc_pingpong -p 7")
        first.run(f"for i in $(seq 100); do {pingpong} 127.0.0.1; done; true")
        first.run("head -c 600M /dev/zero | tail -c 1 > /dev/null")  # takes pages, whose contents the kernel looks at
        self.assertEqual(first.run("dmesg | grep -E 'memory corruption|Oops|segfault|general protection'; true").strip(), "")

    def test_qemu_offers_no_read(self):
        """Its device says of itself that it takes none, so rdma_cm refuses programs that ask for some."""
        said = self.guests[0].run("ibv_devinfo -v | grep max_qp_rd_atom")
        self.assertRegex(said, r"max_qp_rd_atom:\s+0")
        server = self.guests[0].start("rping -s -a 10.0.0.1 -C 1")
        try:
            self.wait_until_cm_listens()
            client = self.guests[1].start("timeout 60 rping -c -a 10.0.0.1 -C 1")
            client.wait_for_output("rdma_connect: Invalid argument")
            client.kill()
        finally:
            server.kill()

    def test_the_guests_addresses_go_with_it(self):
        """Of what asks as QEMU does, and ends; the others go on."""
        before = self.gids("urnic0")
        third = self.fabric.start(sys.executable, "-c", THIRD_GUEST, self.fabric.home / "mux1")
        fabric.wait_until(lambda: "fe80::77" in self.gids("urnic0").values(), "the third guest's address", guest.PATIENCE)
        third.kill()
        fabric.wait_until(lambda: self.gids("urnic0") == before, "the addresses as before", guest.PATIENCE)
        self.run_by_tcp("ibv_rc_pingpong -c -n 20")


if __name__ == "__main__":
    unittest.main()
