#!/usr/bin/python3
"""The guest by itself: it boots, its network card carries frames, its Soft-RoCE device works."""

import os
import pathlib
import shutil
import tempfile
import unittest

import fabric
import frame_peer
import guest


class TheGuest(unittest.TestCase):
    def test_frames_and_soft_roce(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="urnic-guest-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        wire = directory / "wire"
        frame_peer.FramePeer(wire)
        if os.geteuid() == 0:
            shutil.chown(wire, fabric.ORDINARY_USER)
        with guest.Guest(directory, wire) as linux:
            print(f"booted in {linux.boot_seconds:.1f} s: {linux.run('uname -r').strip()}")
            self.assertIn("state ACTIVE", linux.run("rdma link show rxe0/1"))
            self.assertIn("1 packets received", linux.run("busybox ping -c 1 -W 20 10.0.0.1"))
            pingpong = f"ibv_rc_pingpong -d rxe0 -c -g {linux.gid_index('10.0.0.2')}"
            server = linux.start(pingpong)
            linux.wait_until_listening(18515)
            self.assertIn("1000 iters in", linux.run(f"{pingpong} 127.0.0.1"))
            self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
