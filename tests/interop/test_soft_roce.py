#!/usr/bin/python3
"""Programs on urnic's devices with the same programs on Soft-RoCE in a Linux guest, each as server and as client."""

import itertools
import re
import unittest

import fabric
import guest

HERE, THERE = "10.0.0.1", "10.0.0.2"
HERE6, THERE6 = "fd00:cafe::1", "fd00:cafe::2"
LOSSES = (0, 0.01, 0.03)
# An Ethernet MTU of 9000 gives a path MTU of 4096, the largest.
CONFIGURATION = """
[lan]
listen = "{wire}"
mtu = 9000
[[devices]]
mac = "02:00:00:00:00:01"
gids = ["fe80::ff:fe00:1", "::ffff:10.0.0.1", "fd00:cafe::1"]
"""
# UC and UD lose what the receiver is too slow for, and perftest then waits for ever: only programs that wait for each
# other. perftest takes the peer's limit of outstanding reads for its own: -o is the smaller one, urnic's.
PERFTEST = {
    "RC": ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw -o 16", "ib_read_lat -o 16",
           "ib_atomic_bw -o 16 -A FETCH_AND_ADD", "ib_atomic_bw -o 16 -A CMP_AND_SWAP"),
    "UC": ("ib_send_lat", "ib_write_lat"),
    "UD": ("ib_send_lat",),
}


class Urnic:
    """The side of urnic: programs on the host."""

    device, gid = "urnic0", 1
    other_by_tcp = "127.0.0.1"

    def __init__(self, on):
        self.on = on

    def start(self, command):
        return self.on.start_on_urnic(*command.split())

    def free_port(self):
        return fabric.free_port()

    def wait_until_listening(self, port):
        fabric.wait_until(lambda: fabric.is_listening(port), f"a listener on port {port}", guest.PATIENCE)

    def wait_until_cm_listens(self):
        fabric.wait_until(lambda: "LISTEN" in self.on.run_on_urnic("rdma", "resource", "show", "cm_id"), "a listener")


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
        for mtu in fabric.MTUS:
            self.both_ways(f"ibv_rc_pingpong -d {{device}} -g {{gid}} -c -n 100 -m {mtu} -s 20000", r"^\d+ iters in")

    def test_3_perftest(self):
        for service, programs in PERFTEST.items():
            for program in programs:
                size = "" if "atomic" in program else " -s 2048" if service == "UD" else " -s 20000"
                self.both_ways(f"{program} -F -d {{device}} -x {{gid}} -c {service} -n 200{size}", r"^ *\d+ +\d+ +[\d.]+")

    def test_4_loss(self):
        for loss in LOSSES:
            self.lose(loss)
            self.both_ways("ibv_rc_pingpong -d {device} -g {gid} -c -n 200 -s 20000", r"^\d+ iters in", loss=loss)
            for program in ("ib_send_bw", "ib_write_bw", "ib_read_bw -o 16", "ib_atomic_bw -o 16"):
                size = "" if "atomic" in program else " -s 65536"
                # Soft-RoCE never answers a READ again from before where it was asked again last (docs/interop.md).
                self.recover("gbn" if "read" in program else "sack")
                self.both_ways(f"{program} -F -d {{device}} -x {{gid}} -n 200{size}", r"^ *\d+ +\d+ +[\d.]+", loss=loss)

    def rping(self, server, client, address, options):
        first = server.start(f"rping -s -a {address} {options}")
        server.wait_until_cm_listens()
        second = client.start(f"rping -c -a {address} {options}")
        try:
            self.assertEqual((second.wait(), first.wait()), (0, 0), f"{first}\n{second}\n{self.report()}")
        finally:
            first.kill()
            second.kill()

    def test_5_rping(self):
        for name, addresses in (("to Linux", (THERE, THERE6)), ("to urnic", (HERE, HERE6))):
            for address in addresses:
                with self.subTest(name, address=address):
                    self.rping(*self.pairs[name], address, "-C 20 -V -S 5000")
                    print(f"{name}: rping {address}: well", flush=True)


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if re.match(r"^ *\d", line)]
    return " ".join(lines[-1].split()) if lines else ""


if __name__ == "__main__":
    unittest.main(verbosity=2)
