#!/usr/bin/python3
"""Programs on urnic's devices with the same programs on Soft-RoCE in a Linux guest, each as server and as client."""

import copy
import itertools
import pathlib
import re
import shutil
import signal
import unittest

import fabric
import guest
from test_capture import tshark

OPCODES = pathlib.Path(__file__).resolve().parent / "opcodes.py"

HERE, THERE = "10.0.0.1", "10.0.0.2"
HERE6, THERE6 = "fd00:cafe::1", "fd00:cafe::2"
HERE_IN_VLAN, THERE_IN_VLAN = "10.5.0.1", "10.5.0.2"
LOSSES = (0, 0.01, 0.03)
# An Ethernet MTU of 9000 gives a path MTU of 4096, the largest.
CONFIGURATION = """
[lan]
listen = "{wire}"
mtu = 9000
[[devices]]
mac = "02:00:00:00:00:01"
gids = ["fe80::ff:fe00:1", "::ffff:10.0.0.1", "fd00:cafe::1", {{gid = "::ffff:10.5.0.1", vlan = 5}}]
[[devices]]
mac = "02:00:00:00:00:03"
gids = ["fe80::ff:fe00:3", "::ffff:10.0.0.3"]
"""
# UC and UD lose what the receiver is too slow for, and perftest then waits for ever: only programs that wait for each
# other. perftest takes the peer's limit of outstanding reads for its own: -o is the smaller one, urnic's.
PERFTEST = {
    "RC": ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw -o 16", "ib_read_lat -o 16",
           "ib_atomic_bw -o 16 -A FETCH_AND_ADD", "ib_atomic_bw -o 16 -A CMP_AND_SWAP"),
    "UC": ("ib_send_lat", "ib_write_lat"),
    "UD": ("ib_send_lat",),
}
# Each transfers 200 messages (perftest's table of results ends with such a line), also where packets are lost.
UNDER_LOSS = ("ib_send_bw -s 65536", "ib_write_bw -s 65536", "ib_read_bw -o 16 -s 65536", "ib_atomic_bw -o 16")
RESULT = r"^ *\d+ +\d+ +[\d.]+"
RECOVERIES = ("gbn", "selective", "irn", "sack")
# Programs of rdma_cm: the words of both sides, of the server and of the client.
BY_ADDRESS = {
    "rping": ("-C 20 -V -S 5000", "-s -a {}", "-c -a {}"),
    "ucmatose": ("-C 10 -S 20000", "", "-s {}"),
    "udaddy": ("-C 10 -S 1000", "", "-s {}"),
    "rstream": ("-I 5 -C 5 -S 65536 -T v", "", "-s {}"),
}
# The opcodes that programs of ours and Debian's send, by their numbers (IBTA 9.2.1, table 38): RC but RESYNC, UC, UD.
EVERY_OPCODE = {*range(0x15), 0x16, 0x17, *range(0x20, 0x2C), 0x64, 0x65}


class Urnic:
    """The side of urnic: programs on the host."""

    gid = 1
    other_by_tcp = "127.0.0.1"

    def __init__(self, on, device="urnic0"):
        self.on, self.device = on, device

    def start(self, command):
        return self.on.start_on_urnic(*command.split())

    def free_port(self):
        return fabric.free_port()

    def wait_until_listening(self, port):
        fabric.wait_until(lambda: fabric.is_listening(port), f"a listener on port {port}", guest.PATIENCE)

    def place(self, file):
        """The file where programs of this side can read it."""
        return shutil.copy(file, self.on.home)

    def wait_until_cm_listens(self):
        fabric.wait_until(lambda: self.on.status()["rdma_cm"]["listeners"], "a listener")


class Linux:
    """The side of the guest."""

    device = "rxe0"
    other_by_tcp = guest.HOST

    def __init__(self, linux):
        self.linux = linux
        self.gid = linux.gid_index(THERE)
        self.ports = itertools.cycle(linux.ports)

    def start(self, command):
        return self.linux.start(command)

    def free_port(self):
        return next(self.ports)

    def wait_until_listening(self, port):
        self.linux.wait_until_listening(port)

    def place(self, file):
        return self.linux.copy(file)

    def wait_until_cm_listens(self):
        self.linux.run("until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done")


class SoftRoce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        wire = cls.fabric.home / "lan"
        cls.fabric.up(CONFIGURATION.format(wire=wire))
        cls.guest = cls.enterClassContext(guest.Guest(cls.fabric.home, wire, f"{THERE}/24", mtu=9000))
        cls.guest.run(f"ip address add {THERE6}/64 dev eth0")
        print(f"the guest has booted in {cls.guest.boot_seconds:.1f} s: Linux {cls.guest.run('uname -r').strip()}", flush=True)
        here, there = Urnic(cls.fabric), Linux(cls.guest)
        cls.pairs = {"to Linux": (there, here), "to urnic": (here, there)}  # server, client
        cls.beside = (Urnic(cls.fabric, "urnic1"), here)  # urnic in the place of Linux

    def tearDown(self):
        self.lose(0)
        self.recover("sack")

    def lose(self, loss):
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", f"loss={loss}")

    def recover(self, mode):
        self.fabric.run(self.fabric.urnic, "set", "recovery", mode)

    def run_pair(self, server, client, command, good):
        """One run of `command`, which says {device} and {gid}, on both sides. The client's output, which contains `good`."""
        port = server.free_port()
        words = [f"{command} -p {port}".format(device=side.device, gid=side.gid) for side in (server, client)]
        first = server.start(words[0])
        try:
            server.wait_until_listening(port)
            second = client.start(f"{words[1]} {client.other_by_tcp}")
            try:
                statuses = (second.wait(guest.PATIENCE), first.wait(guest.PATIENCE))
            except AssertionError as hung:
                raise AssertionError(f"{hung}\nthe server: {first}\nthe client: {second}\n{self.report()}") from None
            finally:
                second.kill()
        finally:
            first.kill()
        wrong_data = "invalid data" in first.output() + second.output()
        if statuses != (0, 0) or wrong_data or not re.search(good, second.output(), re.MULTILINE):
            raise AssertionError(f"the server: {first}\nthe client: {second}\n{self.report()}")
        return second.output()

    def report(self):
        return self.fabric.run(self.fabric.urnic, "link", "show") + self.fabric.log() + self.guest.console()

    def both_ways(self, command, good, **subtest):
        for name, (server, client) in self.pairs.items():
            with self.subTest(name, command=command, **subtest):
                output = self.run_pair(server, client, command, good)
                print(f"{name}: {command} {subtest or ''}: {last_line(output)}", flush=True)

    def test_1_pingpong(self):
        for service in ("rc", "uc", "ud"):
            self.both_ways(f"ibv_{service}_pingpong -d {{device}} -g {{gid}} -c -n 200 -s 1024", r"^\d+ iters in")

    def test_2_mtus(self):
        """Soft-RoCE pauses behind 64 packets, and when it sends a message again it may pause for ever: shorter ones."""
        for mtu in fabric.MTUS:
            size = min(20000, 60 * mtu)
            self.both_ways(f"ibv_rc_pingpong -d {{device}} -g {{gid}} -c -n 100 -m {mtu} -s {size}", r"^\d+ iters in")

    def test_3_perftest(self):
        for service, programs in PERFTEST.items():
            for program in programs:
                size = "" if "atomic" in program else " -s 2048" if service == "UD" else " -s 20000"
                timeout = " -u 19" if service == "RC" else ""  # 2 s: a guest that has no processor for a while loses nothing
                self.both_ways(f"{program} -F -d {{device}} -x {{gid}} -c {service} -n 200{size}{timeout}", RESULT)

    def under_loss(self, server, client, program):
        """MB/s, and a word for it."""
        output = self.run_pair(server, client, f"{program} -F -d {{device}} -x {{gid}} -n 200", RESULT)
        return float(last_line(output).split()[3])

    def test_4_loss(self):
        """With the same loss, urnic beside Linux as the receiver of the same sender."""
        pairs = {**self.pairs, "urnic to urnic": self.beside}
        for program in UNDER_LOSS:
            for name, pair in pairs.items():
                rates = []
                for loss in LOSSES:
                    self.lose(loss)
                    with self.subTest(name, program=program, loss=loss):
                        rates.append(self.under_loss(*pair, program))
                print(f"{name}: {program}, loss {LOSSES}: {rates} MB/s", flush=True)
        self.lose(0)
        for loss in LOSSES[1:]:
            self.fabric.load_faults(fabric.losses(round(1 / loss), ("tx", "rx")))
            self.both_ways("ibv_rc_pingpong -d {device} -g {gid} -c -n 200 -s 20000", r"^\d+ iters in", loss=loss)
        self.fabric.run(self.fabric.urnic, "fault", "clear")

    def test_5_recoveries(self):
        """Linux forgets what is before a repeated READ, drops what is behind a hole, and answers every repeat."""
        for recovery, program in itertools.product(RECOVERIES[:-1], UNDER_LOSS[1:3]):
            self.recover(recovery)
            self.lose(LOSSES[-1])
            with self.subTest(recovery, program=program):
                rate = self.under_loss(*self.pairs["to Linux"], program)
                print(f"to Linux: {program}, {recovery}, loss {LOSSES[-1]}: {rate} MB/s", flush=True)

    def by_address(self, name, program, address):
        server, client = self.pairs[name]
        words, of_server, of_client = BY_ADDRESS[program]
        first = server.start(" ".join((program, words, of_server.format(address))))
        try:
            server.wait_until_cm_listens()
            second = client.start(" ".join((program, words, of_client.format(address))))
            try:
                self.assertEqual((second.wait(), first.wait()), (0, 0), f"{first}\n{second}\n{self.report()}")
            finally:
                second.kill()
        finally:
            first.kill()
        print(f"{name}: {program} {words} {address}: well", flush=True)

    def test_6_rdma_cm(self):
        for name, addresses in (("to Linux", (THERE, THERE6)), ("to urnic", (HERE, HERE6))):
            for program in BY_ADDRESS:
                for address in addresses if program == "rping" else addresses[:1]:
                    with self.subTest(name, program=program, address=address):
                        self.by_address(name, program, address)

    def test_7_every_opcode(self):
        file = self.fabric.home / "opcodes.pcap"
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        fabric.wait_until(lambda: self.fabric.status()["captures"] == 1, "a capture")
        for name, (server, client) in self.pairs.items():
            with self.subTest(name):
                port = server.free_port()
                words = [f"/usr/bin/python3 -B {side.place(OPCODES)} {side.device} {side.gid} {port}" for side in (server, client)]
                first = server.start(words[0])
                server.wait_until_listening(port)
                second = client.start(f"{words[1]} {client.other_by_tcp}")
                try:
                    self.assertEqual((second.wait(), first.wait()), (0, 0), f"{first}\n{second}\n{self.report()}")
                finally:
                    first.kill()
                    second.kill()
                print(f"{name}: {last_line(second.output())}", flush=True)
        capture.process.send_signal(signal.SIGINT)
        capture.wait()
        for source in (HERE, THERE):
            seen = tshark(str(file), "-Y", f"ip.src == {source}", "-T", "fields", "-e", "infiniband.bth.opcode").split()
            self.assertEqual(EVERY_OPCODE - set(map(int, seen)), set(), f"opcodes that {source} has not sent")

    def test_8_the_guests_own_queue(self):
        """Loss, delay and another order on the guest's side of the wire."""
        try:
            self.guest.run("tc qdisc add dev eth0 root netem loss 1% delay 2ms 1ms reorder 25%")
            self.both_ways("ibv_rc_pingpong -d {device} -g {gid} -c -n 50 -s 20000", r"^\d+ iters in")
            self.both_ways("ib_read_bw -o 16 -F -d {device} -x {gid} -n 100 -s 65536", RESULT)
            self.both_ways("ib_write_bw -F -d {device} -x {gid} -n 100 -s 65536", RESULT)
        finally:
            self.guest.run("tc qdisc del dev eth0 root")

    def test_9_vlan(self):
        """GIDs of a VLAN at both ends: each finds the other there, takes its packets, and sends its own with the tag."""
        self.guest.run(f"ip link add link eth0 name eth0.5 type vlan id 5; ip address add {THERE_IN_VLAN}/24 dev eth0.5; "
                       "ip link set eth0.5 up")
        here, there = (copy.copy(side) for side in self.pairs["to urnic"])
        here.gid, there.gid = 3, self.guest.gid_index(THERE_IN_VLAN)
        file = self.fabric.home / "vlan.pcap"
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        fabric.wait_until(lambda: self.fabric.status()["captures"] == 1, "a capture")
        for name, pair in (("to urnic", (here, there)), ("to Linux", (there, here))):
            for service in ("rc", "uc", "ud"):
                with self.subTest(name, service=service):
                    self.run_pair(*pair, f"ibv_{service}_pingpong -d {{device}} -g {{gid}} -c -n 100 -s 1024", r"^\d+ iters in")
        for name, address in (("to Linux", THERE_IN_VLAN), ("to urnic", HERE_IN_VLAN)):
            with self.subTest(name, address=address):
                self.by_address(name, "rping", address)
        capture.process.send_signal(signal.SIGINT)
        capture.wait()
        for source in (HERE_IN_VLAN, THERE_IN_VLAN):
            seen = tshark(str(file), "-Y", f"ip.src == {source} && infiniband", "-T", "fields", "-e", "vlan.id").splitlines()
            self.assertGreater(len(seen), 600)
            self.assertEqual(set(seen), {"5"}, f"VLANs of packets that {source} has sent")


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if re.match(r"^ *\d", line)]
    return " ".join(lines[-1].split()) if lines else ""


if __name__ == "__main__":
    unittest.main(verbosity=2)
