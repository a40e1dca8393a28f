#!/usr/bin/python3
"""Open MPI and MPICH on devices that Debian's libmlx5 drives (URNIC_FACE=mlx5), with all data checked: nothing tells UCX of
mlx5's transports. docs/mlx5-face.md has the results."""

import re
import unittest

import fabric
from program_pairs import ProgramTest

# Debian's configuration of Open MPI turns UCX off.
OPEN_MPI = ("mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ucx")
MPICH = ("mpirun.mpich",)
NO_SHARED_MEMORY = {"UCX_TLS": "ib,self"}
# Command, environment, the transport that UCX must have taken.
WAYS = {
    "Open MPI": (OPEN_MPI, {}, "rc_mlx5"),
    "Open MPI, no shared memory": (OPEN_MPI, NO_SHARED_MEMORY, "rc_mlx5"),
    "Open MPI, ud": (OPEN_MPI, {"UCX_TLS": "ud_mlx5,self"}, "ud_mlx5"),
    "MPICH": (MPICH, {}, "rc_mlx5"),
    "MPICH, no shared memory": (MPICH, NO_SHARED_MEMORY, "rc_mlx5"),
    "MPICH, ud": (MPICH, {"UCX_TLS": "ud_mlx5,self"}, "ud_mlx5"),
}


class Mpi(ProgramTest):
    largest = {}
    loss = 0

    @classmethod
    def setUpClass(cls):
        if fabric.FACE != "mlx5":
            raise SystemExit("URNIC_FACE is not mlx5")
        super().setUpClass()
        for device in fabric.DEVICES:
            cls.fabric.run(cls.fabric.urnic, "link", "set", device, f"loss={cls.loss}")
        source = cls.fabric.copy_home("programs", "mpi_check.c")
        cls.programs = {}
        for start, implementation in ((OPEN_MPI, "openmpi"), (MPICH, "mpich")):
            cls.programs[start] = cls.fabric.home / f"mpi_check_{implementation}"
            cls.fabric.run(f"mpicc.{implementation}", "-O2", "-Wall", "-Wextra", "-Werror", "-o", cls.programs[start], source)

    def test_all_ways(self):
        for way, (start, environment, transport) in WAYS.items():
            for ranks in (2, 4):
                with self.subTest(way=way, ranks=ranks), self.over_urnic(least=1000):
                    output = self.run_on_urnic(*start, "-n", ranks, self.programs[start], *self.largest.get(way, ()),
                                               environment={**environment, "UCX_LOG_LEVEL": "info"}, timeout=300)
                    self.assertIn(f"{ranks} ranks: all data was right", output)
                    self.assertRegex(output, rf"{transport}/mlx5_[01]:1")
                    self.assertNotRegex(output, r"ERROR|_verbs/")


class MpiWithLoss(Mpi):
    loss = 0.005
    # UCX's ud waits for its timers at each lost packet.
    largest = {way: (1 << 20,) for way in WAYS if way.endswith("ud")}

    def test_all_ways(self):
        super().test_all_ways()
        lost = re.search(r'"link_tx_lost": (\d+)', self.fabric.run(self.fabric.urnic, "counters", "--json"))
        self.assertGreater(int(lost[1]), 0)


if __name__ == "__main__":
    unittest.main()
