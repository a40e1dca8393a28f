"""What the tests of other people's programs share: servers that have begun to listen, and proof that urnic carried the
data."""

import contextlib
import json
import unittest

import fabric

# Debian's package librdmacm1. Programs under it talk TCP's calls over rsockets.
RSOCKETS = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"
LOSSY = '[[link]]\ndevice = "all"\nloss = 0.005\n'


class ProgramTest(unittest.TestCase):
    """A device process for all tests of the class."""
    configuration = None
    gid_index = 1  # for programs that have to be told: of IPv4, with RoCE v2

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(cls.configuration)

    def start(self, *command, environment=None):
        """Starts a command on urnic and ends it, if it still runs, after the test."""
        program = self.fabric.start(*self.fabric.on_urnic(*command), environment=environment)
        self.addCleanup(program.kill)
        return program

    def run_on_urnic(self, *command, environment=None, timeout=fabric.PATIENCE):
        """Runs a command on urnic to its end, which must be good; returns its output."""
        return self.fabric.run(*self.fabric.on_urnic(*command), environment=environment, timeout=timeout)

    def serve(self, *command, environment=None, tcp_port=None):
        """Starts a server. Returns once it listens: at the TCP port, or else by rdma_cm."""
        before = self.listeners()
        server = self.start(*command, environment=environment)

        def listens():
            return fabric.is_listening(tcp_port) if tcp_port else self.listeners() > before

        fabric.wait_until(lambda: listens() or server.status is not None, f"a listening server: {server}")
        if server.status is not None:
            raise AssertionError(f"the server has ended: {server}")
        return server

    def end_well(self, server, timeout=fabric.PATIENCE):
        """Waits for a server that ends after its client."""
        self.assertEqual(server.wait(timeout), 0, server)

    def listeners(self):
        return len(self.fabric.status()["rdma_cm"]["listeners"])

    def packets(self):
        """Packets that each device has sent until now."""
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        return {device: counters[device]["unicast_xmit_packets"] for device in fabric.DEVICES}

    @contextlib.contextmanager
    def over_urnic(self, least=10, devices=()):
        """What runs inside must send at least so many packets, and some from each of `devices`: no program may quietly take another
        way."""
        before = self.packets()
        yield
        sent = {device: now - before[device] for device, now in self.packets().items()}
        self.assertGreaterEqual(sum(sent.values()), least, "packets over urnic")
        for device in devices:
            self.assertGreater(sent[device], 0, f"packets of {device}")

    def random_file(self, name, size):
        """A file of random bytes that programs can read."""
        file = self.fabric.directory / name
        with open("/dev/urandom", "rb") as source:
            file.write_bytes(source.read(size))
        return file

    def scratch_folder(self, name):
        """A folder in which programs can write."""
        folder = self.fabric.home / name
        self.fabric.run("mkdir", folder)
        return folder


def on_rsockets(*command):
    """The command under librspreload, which must come before urnic's library."""
    return "sh", "-c", f'LD_PRELOAD="{RSOCKETS} $LD_PRELOAD" exec "$@"', "sh", *command
