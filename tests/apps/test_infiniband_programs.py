#!/usr/bin/python3
"""Other people's programs on InfiniBand devices, whose fabric opensm manages: what test_message_passing.py and test_programs.py do on
RoCE devices, and what needs LIDs. docs/programs.md has the results."""

import re
import unittest

import fabric
import test_message_passing as message_passing
import test_programs as programs
from program_pairs import LOSSY
from test_infiniband import MANAGED_BY_OPENSM


class Libfabric(message_passing.Libfabric):
    configuration = MANAGED_BY_OPENSM


class Ucx(message_passing.Ucx):
    configuration = MANAGED_BY_OPENSM


class Mpi(message_passing.Mpi):
    configuration = MANAGED_BY_OPENSM


class MpiWithLoss(message_passing.MpiWithLoss):
    configuration = MANAGED_BY_OPENSM + LOSSY


class Udapl(programs.Udapl):
    configuration = MANAGED_BY_OPENSM

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
        with self.over_urnic(devices=fabric.DEVICES):
            self.run_on_urnic("dtestsrq", "-P", "ucm", "-h", "server", "-l", lid, "-q", qpn, environment=other)
        self.end_well(server)


if __name__ == "__main__":
    unittest.main()
