#!/usr/bin/python3
"""Programs of Debian that use rdma_cm, unmodified: qperf, fio, uDAPL, ordinary socket programs on rsockets, and verbs
programs under valgrind and strace. docs/programs.md has the results."""

import filecmp
import os
import pathlib
import re
import unittest

import fabric
from program_pairs import ProgramTest, on_rsockets

QPERF_RC = ("rc_bi_bw", "rc_bw", "rc_lat", "rc_rdma_read_bw", "rc_rdma_read_lat", "rc_rdma_write_bw", "rc_rdma_write_lat",
            "rc_rdma_write_poll_lat", "rc_compare_swap_mr", "rc_fetch_add_mr", "ver_rc_compare_swap", "ver_rc_fetch_add")


class Qperf(ProgramTest):
    def test_reliable_connections(self):
        port = fabric.free_port()
        self.serve("qperf", "-lp", port, tcp_port=port)
        for test in QPERF_RC:
            with self.subTest(test=test), self.over_urnic():
                output = self.run_on_urnic("qperf", "-lp", port, "-t", "1", "-cm", "1", "127.0.0.1", test)
                self.assertRegex(output, r"(bw|latency|msg_rate) += +[\d.]+")


class Fio(ProgramTest):
    # The client of verb=send has rnr_retry_count 0, and fio has no flow control: all receives must be posted before.
    def transfer(self, verb, *options, address="127.0.0.1", status=0):
        port = fabric.free_port()
        common = ("--ioengine=rdma", f"--port={port}", "--bs=64k", "--size=16m", "--thread")
        server = self.serve("fio", "--name=server", *common, "--rw=read", "--iodepth=256", *options)
        with self.over_urnic(least=1000):
            self.run_on_urnic("fio", "--name=client", *common, "--rw=write", "--iodepth=16", f"--hostname={address}",
                              f"--verb={verb}", *(options if status == 0 else ()))
        self.assertEqual(server.wait(), status, server)
        return server.output()

    def test_verbs(self):
        for verb in ("write", "read", "send"):
            for address in ("127.0.0.1", "127.0.0.2"):
                with self.subTest(verb=verb, address=address):
                    self.transfer(verb, address=address)

    def test_checked_data(self):
        self.transfer("send", "--verify=crc32c")
        # The server does check: it refuses what the client has not signed.
        self.assertIn("bad magic header", self.transfer("send", "--verify=crc32c", status=1))


class Ibacm(ProgramTest):
    """RoCE is not for ibacm, on any device. It looks at the devices to say so."""

    def test_ports_are_passed_over(self):
        folder = self.scratch_folder("ibacm")
        self.run_on_urnic("ib_acme", "-A", "-O", "-D", folder)
        addresses, options = folder / "ibacm_addr.cfg", folder / "ibacm_opts.cfg"
        for device in fabric.DEVICES:
            self.assertRegex(addresses.read_text(), rf"(?m)^\S+ {device} 1 default$")
        settings = options.read_text().replace("log_level 0", "log_level 1")
        for name, value in (("log_file", "stdout"), ("lock_file", folder / "lock")):
            settings = re.sub(rf"(?m)^{name} .*$", f"{name} {value}", settings)
        chosen = self.fabric.directory / "ibacm_opts.cfg"
        chosen.write_text(settings)
        output = self.fabric.run(*self.fabric.on_urnic("ibacm", "-P", "-A", addresses, "-O", chosen), status=255)
        for device in fabric.DEVICES:
            self.assertIn(f"{device} port 1 is not an InfiniBand port", output)
        self.assertIn("unable to open any devices", output)


PORT_OF_DTEST = 15828  # by TCP: the server tells the client where it listens, and which provider to take


class Udapl(ProgramTest):
    """A registry for each device, with the same names: dtest's client takes the name that its server has."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environments = [cls.environment_of(device, f"127.0.0.{place}") for place, device in enumerate(fabric.DEVICES, 1)]

    @classmethod
    def environment_of(cls, device, address):
        registry = cls.fabric.directory / f"{device}.dat.conf"
        registry.write_text("".join(
            f'{name} u2.0 nonthreadsafe default libdapl{library}.so.2 dapl.2.0 "{parameters}" ""\n' for name, library, parameters in (
                ("cma", "ofa", f"{address} 0"), ("scm", "oscm", f"{device} 1"), ("ucm", "oucm", f"{device} 1"))))
        # Without the interface, scm wants one that is not lo.
        return {"DAT_OVERRIDE": str(registry), "DAPL_SCM_NETDEV": "lo"}

    def run_pair(self, program, provider, *options, devices=(0, 1)):
        server, client = (self.environments[device] for device in devices)
        tcp_port = None if program == "dtestsrq" else PORT_OF_DTEST
        first = self.serve(program, "-P", provider, *options, environment=server, tcp_port=tcp_port)
        try:
            with self.over_urnic(devices={fabric.DEVICES[device] for device in devices}):
                self.run_on_urnic(program, "-P", provider, "-h", "127.0.0.1", *options, environment=client)
            self.end_well(first)
        finally:
            first.kill()
        return first.output()

    def test_dtest(self):
        for provider, devices in (("cma", (0, 0)), ("cma", (0, 1)), ("scm", (0, 1))):
            with self.subTest(provider=provider, devices=devices):
                self.assertIn("PASSED", self.run_pair("dtest", provider, devices=devices))

    def run_dtestx(self, provider):
        """Its server says where it listens before it does, and rdma_cm rejects a client that is faster. Then both begin anew."""
        for _ in range(20):
            try:
                return self.run_pair("dtestx", provider)
            except AssertionError as failed:
                if "non-consumer REJ, reason=8" not in str(failed):
                    raise
        raise AssertionError("dtestx's client was rejected every time")

    def test_other_tests(self):
        self.assertIn("PASSED", self.run_dtestx("cma"))
        self.run_pair("dtestsrq", "cma")
        self.run_pair("dtestcm", "cma", "-c", "100")


# A folder with librspreload.so, librdmacm.so.1 and libibverbs.so.1 of a later rdma-core, for a person who has built it.
LATER_RDMA_CORE = os.environ.get("URNIC_RDMA_CORE_FOLDER")
GRPC_SETTINGS = {"GRPC_POLL_STRATEGY": "poll"}


def on_later_rsockets(*command):
    return "sh", "-c", (f'export LD_LIBRARY_PATH={LATER_RDMA_CORE}; '
                        f'LD_PRELOAD="{LATER_RDMA_CORE}/librspreload.so $LD_PRELOAD" exec "$@"'), "sh", *command


class Rsockets(ProgramTest):
    """Programs that know only sockets, under librspreload."""

    def test_netcat(self):
        data, received = self.random_file("data", 3_000_000), self.fabric.home / "received"
        port = fabric.free_port()
        server = self.serve("sh", "-c", f"exec {' '.join(quoted(on_rsockets('nc.traditional', '-l', '-p', port)))} > {received}")
        with self.over_urnic(least=700):
            self.run_on_urnic("sh", "-c",
                              f"exec {' '.join(quoted(on_rsockets('nc.traditional', '-q', '1', '127.0.0.1', port)))} < {data}")
        self.end_well(server)
        self.assertTrue(filecmp.cmp(data, received, shallow=False))

    def test_iperf(self):
        port = fabric.free_port()
        self.serve(*on_rsockets("iperf", "-s", "-p", port))
        with self.over_urnic(least=1000):
            output = self.run_on_urnic(*on_rsockets("iperf", "-c", "127.0.0.1", "-t", "2", "-p", port))
        self.assertRegex(output, r"[1-9][\d.]* +[KMG]bits/sec")

    def test_http(self):
        data, fetched = self.random_file("page", 3_000_000), self.fabric.home / "fetched"
        port = fabric.free_port()
        server = pathlib.Path(__file__).with_name("rsocket_http_server.py").read_text()
        self.serve(*on_rsockets("/usr/bin/python3", "-c", server, port, self.fabric.directory))
        with self.over_urnic(least=700):
            self.run_on_urnic(*on_rsockets("curl", "-sS", "-o", fetched, f"http://127.0.0.1:{port}/page"))
        self.assertTrue(filecmp.cmp(data, fetched, shallow=False))

    def test_grpc(self):
        """gRPC asks each socket for calls that rsockets of 44.0 refuse (docs/programs.md)."""
        server = self.start(*on_rsockets(self.grpc_echo(), "serve", f"[::1]:{fabric.free_port()}"), environment=GRPC_SETTINGS)
        self.assertEqual(server.wait(), 1, server)
        self.assertIn("No address added", server.output())
        self.assertRegex(server.output(), r'os_error:"Operation not supported"[^}]*syscall:"fcntl"|'
                                          r'syscall:"fcntl"[^}]*os_error:"Operation not supported"')

    @unittest.skipUnless(LATER_RDMA_CORE, "URNIC_RDMA_CORE_FOLDER names no folder with rdma-core 65's libraries")
    def test_grpc_on_later_rsockets(self):
        program = self.grpc_echo()
        for size in (1, 1000, 3_000_000):
            with self.subTest(size=size), self.over_urnic(least=40 + size // 500):
                address = f"[::1]:{fabric.free_port()}"
                server = self.start(*on_later_rsockets(program, "serve", address), environment=GRPC_SETTINGS)
                server.wait_for_output("listening")
                output = self.run_on_urnic(*on_later_rsockets(program, "call", address, size), environment=GRPC_SETTINGS)
                self.assertIn("all answers were right", output)
                server.kill()

    def grpc_echo(self):
        program = self.fabric.home / "grpc_echo"
        if not program.exists():
            source = self.fabric.copy_home("programs", "grpc_echo.cpp")
            libraries = self.fabric.run("pkg-config", "--cflags", "--libs", "grpc++").split()
            self.fabric.run("c++", "-std=c++20", "-O1", "-o", program, source, *libraries)
        return program


def quoted(words):
    return [f"'{word}'" for word in words]


# Uninitialised bytes are not looked for: valgrind cannot see what a device writes into a program's memory. perftest
# leaks memory of its own.
VALGRIND = ("valgrind", "-q", "--undef-value-errors=no", "--error-exitcode=9")
FOR_LEAKS = ("--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite")


class UnderTools(ProgramTest):
    def strace(self):
        return "strace", "-f", "-o", self.fabric.home / "trace"

    def test_rping(self):
        for tool in ((*VALGRIND, *FOR_LEAKS), self.strace()):
            with self.subTest(tool=tool[0]), self.over_urnic():
                server = self.serve(*tool, "rping", "-s", "-C", "10", "-S", "4096", "-V")
                self.run_on_urnic(*tool, "rping", "-c", "-a", "127.0.0.1", "-C", "10", "-S", "4096", "-V")
                self.end_well(server)

    def run_verbs_program(self, tool, *program):
        with self.subTest(tool=tool[0], program=program[0]), self.over_urnic():
            port = fabric.free_port()
            server = self.serve(*tool, *program, "-d", "urnic0", "-p", port, tcp_port=port)
            self.run_on_urnic(*tool, *program, "-d", "urnic1", "-p", port, "127.0.0.1")
            self.end_well(server)

    def test_pingpong(self):
        for tool in ((*VALGRIND, *FOR_LEAKS), self.strace()):
            self.run_verbs_program(tool, "ibv_rc_pingpong", "-g", self.gid_index, "-n", "100", "-c")

    def test_perftest(self):
        for tool in (VALGRIND, self.strace()):
            for name in ("ib_send_lat", "ib_write_bw"):
                self.run_verbs_program(tool, name, "-F", "-x", self.gid_index, "-n", "100")


if __name__ == "__main__":
    unittest.main()
