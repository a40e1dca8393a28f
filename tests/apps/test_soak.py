#!/usr/bin/python3
"""A soak: verbs_soak's mixed traffic for a minute, from a fresh seed.

For longer, or the same again: URNIC_SOAK_SECONDS=600 URNIC_SOAK_SEED=123 ctest --preset release -R apps_soak
"""

import os
import secrets
import unittest

import fabric

SECONDS = int(os.environ.get("URNIC_SOAK_SECONDS", "60"))
# What was under way when the time is over is finished, each QP within verbs_soak's patience.
END_SECONDS = 120


class Soak(unittest.TestCase):
    def test_mixed_traffic(self):
        seed = int(os.environ.get("URNIC_SOAK_SEED", str(secrets.randbelow(1 << 32))))
        print(f"\nseed {seed}, {SECONDS} seconds", flush=True)
        with fabric.Fabric() as own:
            said = own.run(own.urnic, "run", "--", own.verbs_program("verbs_soak"), "--seconds", SECONDS, "--seed", seed,
                           timeout=SECONDS + END_SECONDS)
        print(said, flush=True)
        self.assertIn("every byte right, every completion once and in order", said)


if __name__ == "__main__":
    unittest.main()
