#!/usr/bin/python3
"""Other people's programs on InfiniBand devices, whose fabric opensm manages: what test_message_passing.py, test_programs.py and
test_storage.py do on RoCE devices, and what needs LIDs. docs/programs.md has the results."""

import contextlib
import os
import re
import signal
import unittest

import fabric
import test_message_passing as message_passing
import test_programs as programs
import test_storage as storage
from program_pairs import LOSSY, ProgramTest
from test_infiniband import MANAGED_BY_OPENSM, lid_of

IBA_LOCAL = 2  # LNH of a packet that has a BTH, and no GRH (IBTA 7.7)


@contextlib.contextmanager
def packets_by_lid(on, least, path_bits=0):
    """What runs inside sends at least so many packets but management's, all of them between the two devices, with these path bits
    and without a GRH."""
    path = on.directory / "by_lid.pcapng"
    capture = on.start(on.urnic, "capture", path)
    capture.wait_for_output("capturing")
    yield
    os.kill(capture.pid, signal.SIGINT)
    if capture.wait() != 0:
        raise AssertionError(str(capture))
    fields = [word for field in ("slid", "dlid", "lnh") for word in ("-e", f"infiniband.lrh.{field}")]
    packets = on.run("tshark", "-r", path, "-Y", "infiniband.bth.destqp > 1", "-T", "fields", "-E", "separator=,", *fields).splitlines()
    lids = sorted(lid_of(on, device) | path_bits for device in fabric.DEVICES)
    for packet in packets:
        source, destination, next_header = (int(field, 0) for field in packet.split(","))
        if (sorted((source, destination)), next_header) != (lids, IBA_LOCAL):
            raise AssertionError(f"from LID {source} to LID {destination}, LNH {next_header}")
    if len(packets) < least:
        raise AssertionError(f"{len(packets)} packets only")


class OnInfiniband:
    """Turns a test of programs on RoCE devices into one on InfiniBand devices."""
    configuration = MANAGED_BY_OPENSM
    gid_index = 0  # the port's own


class Libfabric(OnInfiniband, message_passing.Libfabric):
    pass


class Ucx(OnInfiniband, message_passing.Ucx):
    def test_by_lid(self):
        with packets_by_lid(self.fabric, least=1000):
            self.test_between_the_devices()


class UcxOnFurtherPaths(OnInfiniband, message_passing.UcxTest):
    """A port has four LIDs (LMC 2), and both ends are told which one to take."""
    configuration = f'opensm_options = ["-l", "2"]\n{MANAGED_BY_OPENSM}'

    def test_path_bits(self):
        for transport in message_passing.UCX_TRANSPORTS:
            for bits in (0, 1, 3):
                with self.subTest(transport=transport, bits=bits), packets_by_lid(self.fabric, least=200, path_bits=bits):
                    self.perftest_between_devices("tag_bw", "3000", UCX_TLS=f"{transport},self", UCX_IB_LID_PATH_BITS=str(bits))


class Mpi(OnInfiniband, message_passing.Mpi):
    pass


class MpiWithLoss(OnInfiniband, message_passing.MpiWithLoss):
    configuration = MANAGED_BY_OPENSM + LOSSY


class Hpcc(OnInfiniband, message_passing.Hpcc):
    pass


class Qperf(OnInfiniband, programs.Qperf):
    pass


class Fio(OnInfiniband, programs.Fio):
    pass


class Rsockets(OnInfiniband, programs.Rsockets):
    pass


class UnderTools(OnInfiniband, programs.UnderTools):
    pass


class Ceph(OnInfiniband, storage.Ceph):
    pass


class Iser(OnInfiniband, storage.Iser):
    pass


class Qemu(OnInfiniband, storage.Qemu):
    pass


class Librpma(OnInfiniband, storage.Librpma):
    pass


class Udapl(OnInfiniband, programs.Udapl):
    def test_by_lid(self):
        """Over libdaploucm, whose own datagrams go to the peer's LID."""
        for program, options, said in (("dtest", (), "DAPL Test Complete. PASSED"), ("dtestx", (), "immed/atomic test PASSED"),
                                       ("dtestcm", ("-c", 100), "ALL 100 CONNECTED")):
            with self.subTest(program):
                self.assertIn(said, self.run_pair(program, "ucm", *options))

    def test_shared_receives_by_lid(self):
        """dtestsrq is told the server's address."""
        one, other = self.environments
        server = self.start("stdbuf", "-oL", "dtestsrq", "-P", "ucm", environment=one)
        server.wait_for_output("port(LID)")
        qpn, lid = re.search(r"flowinfo\(QPN\)=(\w+), port\(LID\)=(\w+)", server.output()).groups()
        with packets_by_lid(self.fabric, least=10):
            self.run_on_urnic("dtestsrq", "-P", "ucm", "-h", "server", "-l", lid, "-q", qpn, environment=other)
        self.end_well(server)


PORT_OF_IBACM = 6125  # where ib_acme looks for it
NODES = (("node1", "192.0.2.1"), ("node2", "192.0.2.2"))


class Ibacm(OnInfiniband, ProgramTest):
    """One ibacm for both devices. A peer's name or address it asks a multicast group for, and a path opensm."""

    def configure(self):
        """Returns ibacm's options: files that an ordinary user may write, and a TCP socket, since the other one is in /run."""
        folder = self.scratch_folder("ibacm")
        self.run_on_urnic("ib_acme", "-O", "-D", folder)
        settings = (folder / "ibacm_opts.cfg").read_text()
        for name, value in (("log_file", "stdout"), ("lock_file", folder / "lock"), ("server_mode", "loop")):
            settings, found = re.subn(rf"(?m)^{name} .*$", f"{name} {value}", settings)
            self.assertEqual(found, 1, name)
        options, addresses = self.fabric.directory / "ibacm_opts.cfg", self.fabric.directory / "ibacm_addr.cfg"
        options.write_text(f"{settings}\nsupport_ips_in_addr_cfg 1\n")
        addresses.write_text("".join(f"{name} {device} 1 default\n" for device, names in zip(fabric.DEVICES, NODES) for name in names))
        return "-A", addresses, "-O", options

    def test_paths(self):
        service = self.serve("ibacm", "-P", *self.configure(), tcp_port=PORT_OF_IBACM)
        lids = [lid_of(self.fabric, device) for device in fabric.DEVICES]
        names, addresses = zip(*NODES)
        for form, (one, other) in (("n", names), ("i", addresses), ("l", lids)):
            for source, destination in ((one, other), (other, one), (one, one)):
                with self.subTest(source=source, destination=destination):
                    output = self.fabric.run("ib_acme", "-S", "127.0.0.1", "-v", "-f", form, "-s", source, "-d", destination)
                    self.assertIn("SA verification: success", output)
                    self.assertIn(f"slid: {lids[(one, other).index(source)]}\n", output)
                    self.assertIn(f"dlid: {lids[(one, other).index(destination)]}\n", output)
        service.kill()


if __name__ == "__main__":
    unittest.main()
