#!/usr/bin/python3
"""Libraries for message passing: libfabric, UCX, and Open MPI and MPICH over them. docs/programs.md has the results."""

import pathlib
import re
import unittest

import fabric
import network
from program_pairs import LOSSY, ProgramTest

# UCX takes shared memory between processes of one machine, unless it is told its transports. `rc` has `ud` to connect by.
UCX_TRANSPORTS = ("rc", "ud")
UCX_TESTS = ("tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_fadd",
             "ucp_swap", "ucp_cswap", "ucp_add", "stream_lat", "stream_bw", "ucp_am_lat", "ucp_am_bw")
# Those of UCX's lower half (UCT) that the transport has.
UCT_TESTS = {"rc_verbs": ("am_lat", "am_bw", "put_lat", "put_bw", "get -D bcopy", "fadd", "cswap", "add_lat", "add_mr"),
             "ud_verbs": ("am_lat", "am_bw")}
OPEN_MPI = ("mpirun.openmpi", "--oversubscribe", "--mca", "btl", "^openib,ofi")
OVER_UCX = ("--mca", "pml", "ucx")


def over_libfabric(provider):
    return "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", provider


# How to start an MPI program so that its messages travel over urnic: implementation, command, environment.
WAYS = {
    "Open MPI, pml ucx, rc": ("openmpi", (*OPEN_MPI, *OVER_UCX), {"UCX_TLS": "rc,self"}),
    "Open MPI, pml ucx, ud": ("openmpi", (*OPEN_MPI, *OVER_UCX), {"UCX_TLS": "ud,self"}),
    "Open MPI, mtl ofi, ofi_rxm": ("openmpi", (*OPEN_MPI, *over_libfabric("verbs;ofi_rxm")), {}),
    "Open MPI, mtl ofi, ofi_rxd": ("openmpi", (*OPEN_MPI, *over_libfabric("verbs;ofi_rxd")), {}),
    "MPICH, rc": ("mpich", ("mpirun.mpich",), {"UCX_TLS": "rc,self"}),
    "MPICH, ud": ("mpich", ("mpirun.mpich",), {"UCX_TLS": "ud,self"}),
}


class Libfabric(ProgramTest):
    def test_fi_info(self):
        output = self.run_on_urnic("fi_info", "-p", "verbs")
        for what in ("provider: verbs\n", "provider: verbs;ofi_rxm", "provider: verbs;ofi_rxd", "FI_EP_MSG", "FI_EP_DGRAM",
                     "domain: urnic0", "domain: urnic1-dgram"):
            self.assertIn(what, output)
        # An address names the device.
        for node, device in (("127.0.0.1", "urnic0"), ("127.0.0.2", "urnic1"), ("192.0.2.2", "urnic1")):
            self.assertIn(f"domain: {device}\n", self.run_on_urnic("fi_info", "-p", "verbs", "-t", "FI_EP_MSG", "-n", node))

    def pingpong(self, provider, endpoint, address):
        port = fabric.free_port()
        command = ("fi_pingpong", "-p", provider, "-e", endpoint, "-c", "-I", "100")
        server = self.serve(*command, "-B", port, tcp_port=port)
        with self.over_urnic(least=800):
            output = self.run_on_urnic(*command, "-P", port, address, timeout=120)
        self.assertEqual(len(re.findall(r"^\d+[km]? +100 +=100 ", output, re.MULTILINE)), 4 if endpoint == "dgram" else 6)
        self.end_well(server)

    def test_pingpong(self):
        for provider, endpoint in (("verbs", "msg"), ("verbs", "dgram"), ("verbs;ofi_rxm", "rdm"), ("verbs;ofi_rxd", "rdm")):
            for address in ("127.0.0.1", "127.0.0.2"):
                with self.subTest(provider=provider, endpoint=endpoint, address=address):
                    self.pingpong(provider, endpoint, address)


class UcxTest(ProgramTest):
    def perftest(self, test, size, *options, server=None, **environment):
        """`server` is the server's environment where it differs."""
        port = fabric.free_port()
        self.serve("ucx_perftest", "-p", port, tcp_port=port, environment={**environment, **(server or {})})
        output = self.run_on_urnic("ucx_perftest", "-p", port, "127.0.0.1", "-t", test, "-n", "200", "-w", "10", "-s", size,
                                   *options, environment=environment)
        self.assertRegex(output, r"Final: +200 ")
        self.assertNotIn("ERROR", output)

    def perftest_between_devices(self, test, size, **environment):
        devices = [{"UCX_NET_DEVICES": f"{device}:1"} for device in fabric.DEVICES]
        self.perftest(test, size, server=devices[0], **environment, **devices[1])


class Ucx(UcxTest):
    def test_every_test(self):
        for transport in UCX_TRANSPORTS:
            for test in UCX_TESTS:
                with self.subTest(transport=transport, test=test), self.over_urnic(least=100):
                    self.perftest(test, "8", UCX_TLS=f"{transport},self", UCX_NET_DEVICES="urnic0:1")

    def test_lower_half(self):
        for transport, tests in UCT_TESTS.items():
            for test in tests:
                with self.subTest(transport=transport, test=test), self.over_urnic(least=100):
                    self.perftest(*test.split()[:1], "8", *test.split()[1:], "-x", transport, "-d", "urnic0:1")

    def test_large_messages_and_both_devices(self):
        for transport in UCX_TRANSPORTS:
            for device in ("urnic0:1", "urnic1:1"):
                with self.subTest(transport=transport, device=device), self.over_urnic(least=1000):
                    self.perftest("tag_bw", "1000000", UCX_TLS=f"{transport},self", UCX_NET_DEVICES=device)

    def test_between_the_devices(self):
        for transport in UCX_TRANSPORTS:
            for test in ("tag_bw", "ucp_put_bw", "ucp_fadd"):
                with self.subTest(transport=transport, test=test), self.over_urnic(least=100, devices=fabric.DEVICES):
                    self.perftest_between_devices(test, "8", UCX_TLS=f"{transport},self")

    def test_nothing_set_but_the_devices(self):
        for test in UCX_TESTS:
            with self.subTest(test=test):
                self.perftest(test, "8", UCX_NET_DEVICES="urnic0:1,urnic1:1")
        self.perftest("tag_bw", "1000000", UCX_NET_DEVICES="urnic0:1,urnic1:1")

    def test_connecting_by_rdma_cm(self):
        environment = {"UCX_TLS": "rc", "UCX_SOCKADDR_TLS_PRIORITY": "rdmacm"}
        port = fabric.free_port()
        self.serve("io_demo", "-p", port, "-q", environment=environment)
        with self.over_urnic(least=100):
            output = self.run_on_urnic("io_demo", "-p", port, "-q", "-i", "200", "-o", "read,write", "127.0.0.1",
                                       environment=environment)
        self.assertIn("Client exit with status 'OK'", output)


class Mpi(ProgramTest):
    """16 MiB at most, checked: ping-pong, allreduce, all-to-all, put, get, fetch-and-op (programs/mpi_check.c)."""
    largest = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = {implementation: cls.compile(implementation) for implementation in ("openmpi", "mpich")}

    @classmethod
    def compile(cls, implementation):
        source, binary = cls.fabric.copy_home("programs", "mpi_check.c"), cls.fabric.home / f"mpi_check_{implementation}"
        cls.fabric.run(f"mpicc.{implementation}", "-O2", "-Wall", "-Wextra", "-Werror", "-o", binary, source)
        return binary

    def check(self, way, ranks):
        implementation, command, environment = WAYS[way]
        with self.over_urnic(least=1000):
            output = self.run_on_urnic(*command, "-n", ranks, self.program[implementation], *self.largest.get(way, ()),
                                       environment=environment, timeout=300)
        self.assertIn(f"{ranks} ranks: all data was right", output)

    def test_two_ranks(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.check(way, 2)

    def test_four_ranks(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.check(way, 4)

    def test_nothing_set(self):
        # MPICH uses urnic beside shared memory; Open MPI, which knows no such device, only if it is told to.
        for command, program in ((("mpirun.mpich",), "mpich"), ((*OPEN_MPI[:2], *OVER_UCX), "openmpi")):
            with self.subTest(program=program):
                output = self.run_on_urnic(*command, "-n", 2, self.program[program], timeout=300)
                self.assertIn("2 ranks: all data was right", output)


class MpiWithLoss(Mpi):
    configuration = LOSSY
    # UCX's ud waits for its timers at each lost packet: 16 MiB took 70 to 105 s.
    largest = {way: (1 << 20,) for way in WAYS if way.endswith("ud")}


class Hpcc(ProgramTest):
    EXAMPLE = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

    def test_benchmark(self):
        folder = self.scratch_folder("hpcc")
        lines = self.EXAMPLE.read_text().splitlines()
        for wanted, value in (("Ns", 400), ("Ps", 1), ("Qs", 2)):
            place = next(i for i, line in enumerate(lines) if line.split()[-1:] == [wanted])
            lines[place] = f"{value}  {wanted}"
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
        with self.over_urnic(least=1000):
            self.run_on_urnic(*OPEN_MPI, *OVER_UCX, "-wdir", folder, "-n", 2, "hpcc", environment={"UCX_TLS": "rc,self"},
                              timeout=900)
        results = (folder / "hpccoutf.txt").read_text()
        self.assertIn("Success=1\n", results)
        self.assertNotRegex(results, r"\.\.\. FAILED")


class HpccWithLoss(Hpcc):
    configuration = LOSSY


# What mpirun starts instead of ssh: the command, on the host that the first argument names.
REMOTE_SHELL = """#!/bin/sh
while case "$1" in -*) true;; *) false;; esac; do shift; done
host=$1
shift
case "$host" in
%s
*) echo "no host $host" >&2; exit 1;;
esac
exec nsenter -t "$pid" -n -- env -u LD_PRELOAD URNIC_DIR="$directory" %s run -- sh -c "$*"
"""


class TwoHosts(unittest.TestCase):
    """Programs on two hosts that a cable joins, each with a device on UDP."""

    @classmethod
    def setUpClass(cls):
        cls.network = cls.enterClassContext(network.TwoHosts())
        for host in cls.network.hosts:
            host.up_on_udp()

    def received(self):
        return [host.status()["devices"][0]["wire"]["counters"]["received"] for host in self.network.hosts]

    def test_ucx(self):
        for transport in UCX_TRANSPORTS:
            for test, size in (("tag_lat", 8), ("tag_bw", 1000000), ("ucp_put_bw", 100000), ("ucp_get", 100000),
                               ("ucp_fadd", 8), ("ucp_am_bw", 8)):
                with self.subTest(transport=transport, test=test):
                    common = ("env", f"UCX_TLS={transport},self", "UCX_NET_DEVICES=urnic0:1", "ucx_perftest")
                    before = self.received()
                    _, output = self.network.run_pair(common, (*common, "-t", test, "-n", 200, "-w", 10, "-s", size),
                                                      timeout=120)
                    self.assertRegex(output, r"Final: +200 ")
                    self.assertNotIn("ERROR", output)
                    self.assertTrue(all(now > then for now, then in zip(self.received(), before)))

    def remote_shell(self):
        one = self.network.hosts[0]
        hosts = "\n".join(f"{host.address}) pid={host.namespace.pid} directory={host.run_directory};;"
                          for host in self.network.hosts)
        script = one.home / "remote_shell"
        script.write_text(REMOTE_SHELL % (hosts, one.urnic))
        script.chmod(0o755)
        return script

    def check_mpi(self, implementation, *command):
        one = self.network.hosts[0]
        source, binary = one.copy_home("programs", "mpi_check.c"), one.home / f"mpi_check_{implementation}"
        one.run(f"mpicc.{implementation}", "-O2", "-o", binary, source)
        before = self.received()
        output = one.run_on_urnic(*command, "-n", 2, binary, timeout=300)
        self.assertIn("2 ranks: all data was right", output)
        self.assertTrue(all(now > then + 1000 for now, then in zip(self.received(), before)), (before, self.received()))

    def addresses(self):
        return ",".join(host.address for host in self.network.hosts)

    def test_open_mpi(self):
        for transport in UCX_TRANSPORTS:
            with self.subTest(transport):
                self.check_mpi("openmpi", *OPEN_MPI, *OVER_UCX, "--mca", "osc", "ucx", "--allow-run-as-root", "--mca",
                               "plm_rsh_agent", self.remote_shell(), "--host", self.addresses(), "-x", f"UCX_TLS={transport},self", "-x",
                               "UCX_NET_DEVICES=urnic0:1")

    def test_mpich(self):
        for transport in UCX_TRANSPORTS:
            with self.subTest(transport):
                self.check_mpi("mpich", "mpirun.mpich", "-ppn", 1, "-genvnone", "-launcher", "ssh", "-launcher-exec", self.remote_shell(), "-hosts",
                               self.addresses(), "-genv", "UCX_TLS", f"{transport},self", "-genv", "UCX_NET_DEVICES",
                               "urnic0:1")


if __name__ == "__main__":
    unittest.main()
