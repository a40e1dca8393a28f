#!/usr/bin/python3
"""A soak: verbs_soak's mixed traffic over a bad link for 20 seconds, from a fresh seed.

To run longer, to repeat a run, or to use another recovery:

    URNIC_SOAK_SECONDS=600 URNIC_SOAK_SEED=123 URNIC_SOAK_RECOVERY=gbn ctest --preset release -R apps_soak
"""

import json
import os
import secrets
import unittest

import fabric

SECONDS = int(os.environ.get("URNIC_SOAK_SECONDS", "20"))
RECOVERY = os.environ.get("URNIC_SOAK_RECOVERY", "sack")
# A QP without a completion for this long is stuck. Where others compile, 1 MiB at MTU 256 was seen to take more than 30 s.
PATIENCE_SECONDS = 100
# At the end each QP finishes its outstanding requests, within verbs_soak's time limit.
END_SECONDS = PATIENCE_SECONDS + 20

# Every packet passes two links; one of them is bad, in both directions.
WEATHER = """[device]
recovery = "{recovery}"

[[link]]
device = "urnic1"
loss = 0.05
duplicate = 0.02
reorder = 0.05
corrupt = 0.01
seed = {seed}
"""


class Soak(unittest.TestCase):
    def test_mixed_traffic(self):
        seed = int(os.environ.get("URNIC_SOAK_SEED", str(secrets.randbelow(1 << 32))))
        print(f"\nseed {seed}, {RECOVERY}, {SECONDS} seconds", flush=True)
        with fabric.Fabric() as own:
            weather = own.directory / "weather.toml"
            weather.write_text(WEATHER.format(recovery=RECOVERY, seed=seed), encoding="utf-8")
            own.run(own.urnic, "up", "--config", weather)
            said = own.run_on_urnic(own.verbs_program("verbs_soak"), "--seconds", SECONDS, "--seed", seed,
                                    "--patience", PATIENCE_SECONDS, timeout=SECONDS + END_SECONDS)
            counters = json.loads(own.run(own.urnic, "counters", "--json"))["urnic1"]
        print(said, flush=True)
        self.assertIn("every byte right, every completion once and in order", said)
        for name in (f"link_{direction}_{what}" for direction in ("tx", "rx")
                     for what in ("lost", "duplicated", "reordered", "corrupted")):
            self.assertGreater(counters[name], 0, f"{name}: the weather was not there")


if __name__ == "__main__":
    unittest.main()
