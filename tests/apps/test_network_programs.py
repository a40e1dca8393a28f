#!/usr/bin/python3
"""Other people's programs by the devices' network interfaces (docs/network.md): those of IP beside those of verbs, which
find their way from the one to the other. docs/programs.md has the results."""

import json
import re
import unittest

import fabric
from network_fabric import ADDRESSES, Network, require_network
from program_pairs import ProgramTest
from test_message_passing import OPEN_MPI, OVER_UCX, Mpi

MTU = 4217
IP_HEADERS = 28  # IPv4's and ICMP's


class NetworkTest(ProgramTest):
    """A device process with interfaces for all tests of the class."""
    configuration = "network = true\n"

    @classmethod
    def setUpClass(cls):
        require_network()
        cls.fabric = cls.enterClassContext(Network())
        cls.fabric.up(cls.configuration)

    def serve(self, *command, environment=None, tcp_port=None):
        server = self.start(*command, environment=environment)
        fabric.wait_until(lambda: Network.listens(server, tcp_port) or server.status is not None,
                          f"a listening server: {server}")
        return server

    def by_interfaces(self):
        """Frames that programs have sent by the interfaces until now."""
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        return sum(counters[device].get("host_received", 0) for device in fabric.DEVICES)


class NetworkTools(NetworkTest):
    def test_ping_up_to_the_mtu(self):
        ping = ("ping", "-c", 2, "-M", "do", "-I", "urnic0", ADDRESSES[1])
        self.assertIn("2 received", self.run_on_urnic(*ping, "-s", MTU - IP_HEADERS))
        refused = self.fabric.run(*self.fabric.on_urnic(*ping, "-s", MTU - IP_HEADERS + 1), status=1)
        self.assertIn(f"mtu={MTU}", refused)

    def test_arping_hears_the_devices_address(self):
        mac = self.fabric.status()["devices"][1]["mac"]
        said = self.run_on_urnic("arping", "-c", 2, "-I", "urnic0", ADDRESSES[1])
        self.assertEqual(said.lower().count(mac), 2, said)

    def test_ethtool_and_counters(self):
        self.assertIn("Link detected: yes", self.run_on_urnic("ethtool", "urnic0"))
        before = json.loads(self.run_on_urnic("ip", "-j", "-s", "link", "show", "urnic1"))[0]["stats64"]["rx"]["packets"]
        self.run_on_urnic("ping", "-c", 3, "-I", "urnic0", ADDRESSES[1])
        after = json.loads(self.run_on_urnic("ip", "-j", "-s", "link", "show", "urnic1"))[0]["stats64"]["rx"]["packets"]
        self.assertGreaterEqual(after - before, 3)

    def test_tcpdump_sees_ip_and_no_roce(self):
        dump = self.start("tcpdump", "-n", "-l", "-i", "urnic1")
        dump.wait_for_output("listening on urnic1")
        self.run_on_urnic("ping", "-c", 1, "-I", "urnic0", ADDRESSES[1])
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))
        self.run_on_urnic("ping", "-c", 1, "-I", "urnic0", ADDRESSES[1])
        fabric.wait_until(lambda: dump.output().count("ICMP echo reply") >= 2, f"two answers: {dump}")
        self.assertNotIn(".4791:", dump.output())

    def test_iperf3_between_devices(self):
        before = self.by_interfaces()
        port = fabric.free_port()
        server = self.serve("iperf3", "-s", "-1", "-B", ADDRESSES[0], "-p", port, tcp_port=port)
        said = json.loads(self.run_on_urnic("iperf3", "-J", "-c", ADDRESSES[0], "-B", ADDRESSES[1], "-p", port, "-n", "64M"))
        self.assertGreaterEqual(said["end"]["sum_sent"]["bytes"], 64 << 20)
        self.end_well(server)
        self.assertGreater(self.by_interfaces() - before, (64 << 20) // MTU)

    def test_qperf_by_the_devices_address(self):
        port = fabric.free_port()
        self.serve("qperf", "-lp", port, tcp_port=port)
        for words, test in ((("-cm", 1), "rc_bw"), (("-cm", 1), "rc_lat"), (("-cm", 1), "rc_rdma_write_bw"),
                            ((), "tcp_bw"), ((), "tcp_lat")):
            self.assertRegex(self.qperf("-lp", port, *words, "-t", 1, ADDRESSES[0], test), r"(?:bw|latency) +=")

    def qperf(self, *words):
        """qperf 0.4.11 tells its port to the client before it listens there (rdma_listen): a fast client is rejected."""
        for _ in range(5):
            program = self.start("qperf", *words)
            if program.wait() == 0 or "Event rejected" not in program.output():
                break
        self.assertEqual(program.status, 0, program)
        return program.output()


class NetworkUcx(NetworkTest):
    def perftest(self, environment, client=None):
        port = fabric.free_port()
        self.serve("ucx_perftest", "-p", port, tcp_port=port, environment=environment)
        said = self.run_on_urnic("ucx_perftest", "-p", port, ADDRESSES[0], "-t", "tag_bw", "-s", 65536, "-n", 2000,
                                 environment=client or environment)
        self.assertRegex(said, r"Final: +2000 ")

    def test_its_transports_have_one_name(self):
        said = self.run_on_urnic("ucx_info", "-d")
        for transport, device in (("tcp", "urnic0"), ("tcp", "urnic1"), ("rc_verbs", "urnic0:1"), ("rc_verbs", "urnic1:1")):
            self.assertRegex(said, rf"Transport: {transport}\n# +Device: {device}\n")

    def test_nothing_set(self):
        self.perftest({})

    def test_each_kind_of_device(self):
        with self.over_urnic(least=1000):
            self.perftest({"UCX_NET_DEVICES": "urnic0:1", "UCX_TLS": "rc,self"})
        before = self.by_interfaces()
        self.perftest({"UCX_NET_DEVICES": "urnic0", "UCX_TLS": "tcp,self"},
                      client={"UCX_NET_DEVICES": "urnic1", "UCX_TLS": "tcp,self"})
        self.assertGreater(self.by_interfaces() - before, 2000 * 65536 // MTU)


class NetworkMpi(Mpi):
    """Programs that MPI starts talk over the interfaces or by UCX."""
    configuration = NetworkTest.configuration
    test_two_ranks = test_four_ranks = None

    @classmethod
    def setUpClass(cls):
        require_network()
        super().setUpClass()

    def run_check(self, *command, environment=None):
        said = self.run_on_urnic(*command, environment=environment, timeout=300)
        self.assertIn("2 ranks: all data was right", said)

    def test_open_mpi_by_an_interface(self):
        self.run_check(*OPEN_MPI[:2], "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                       "urnic0", "-n", 2, self.program["openmpi"])

    def test_open_mpi_by_ucx(self):
        with self.over_urnic(least=1000):
            self.run_check(*OPEN_MPI, *OVER_UCX, "-n", 2, self.program["openmpi"],
                           environment={"UCX_NET_DEVICES": "urnic0:1", "UCX_TLS": "rc,self"})

    def test_mpich(self):
        with self.over_urnic(least=1000):
            self.run_check("mpirun.mpich", "-iface", "urnic0", "-n", 2, self.program["mpich"],
                           environment={"UCX_NET_DEVICES": "urnic0:1", "UCX_TLS": "rc,self"})


del Mpi, NetworkTest, ProgramTest  # else their tests would run here, too

if __name__ == "__main__":
    unittest.main()
