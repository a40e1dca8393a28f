#!/usr/bin/python3
"""Debian's UCX on devices with the face mlx5: it drives the rings of libmlx5 itself, without a word of configuration."""

import re
import unittest

import fabric

DEVICES = ("mlx5_0", "mlx5_1")
TESTS = ("tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_fadd", "ucp_swap",
         "ucp_cswap", "ucp_add", "stream_lat", "stream_bw", "ucp_am_lat", "ucp_am_bw")
WITH_8_BYTES = ("ucp_fadd", "ucp_swap", "ucp_cswap", "ucp_add")


class Ucx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.run(cls.fabric.urnic, "up", "--face", "mlx5")

    def perftest(self, test, size, rounds, **settings):
        """Runs a test of ucx_perftest between the devices; returns the client's output."""
        common = ("ucx_perftest", "-t", test, "-s", size, "-n", rounds)
        pair = [("env", f"UCX_NET_DEVICES={device}:1", *(f"{name}={value}" for name, value in settings.items()), *common)
                for device in DEVICES]
        _, output = self.fabric.run_pair(*pair)
        self.assertRegex(output, r"Final:\s+\d+")
        self.assertNotRegex(output, r"ERROR|WARN")
        return output

    def test_mlx5_transports_are_there(self):
        output = self.fabric.run_on_urnic("ucx_info", "-d")
        for transport in ("rc_mlx5", "ud_mlx5"):
            self.assertEqual(len(re.findall(rf"Transport: {transport}$", output, re.MULTILINE)), len(DEVICES))
        self.assertNotIn("failed to open", output)

    def test_chooses_rc_mlx5_by_itself(self):
        self.assertRegex(self.perftest("tag_bw", 10000, 200, UCX_LOG_LEVEL="info"), r"rc_mlx5/mlx5_[01]:1")

    def run_every_test(self, rounds):
        for transport in ("rc_x", "ud_mlx5"):
            for test in TESTS:
                for size in (8,) if test in WITH_8_BYTES else (8, 8192, 100000):
                    with self.subTest(transport=transport, test=test, size=size):
                        self.perftest(test, size, rounds, UCX_TLS=f"{transport},self")

    def test_every_test(self):
        self.run_every_test(100)

    def test_over_lossy_links(self):
        for device in DEVICES:
            self.fabric.run(self.fabric.urnic, "link", "set", device, "loss=0.005")
        try:
            self.run_every_test(200)
        finally:
            for device in DEVICES:
                self.fabric.run(self.fabric.urnic, "link", "set", device, "loss=0")


if __name__ == "__main__":
    unittest.main()
