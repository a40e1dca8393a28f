#!/usr/bin/python3
"""Hostile programs on devices with the face mlx5 write nonsense into their rings, records and doorbell registers. Programs beside
them, on devices of both faces, notice nothing; in the end nothing is left of them.

URNIC_SCRIBBLER_SECONDS: how long (6). URNIC_SCRIBBLER_SEED: the same decisions again.
"""

import json
import os
import random
import secrets
import sys
import time
import unittest

import fabric

SECONDS = float(os.environ.get("URNIC_SCRIBBLER_SECONDS", "6"))
SEED = int(os.environ.get("URNIC_SCRIBBLER_SEED", secrets.randbelow(1 << 32)))
AT_ONCE = 2
CONFIGURATION = """
[[devices]]
face = "mlx5"
[[devices]]
face = "mlx5"
[[devices]]
[[devices]]
[[devices]]
face = "mlx5"
[[devices]]
face = "mlx5"
"""
# Devices that nobody attacks, of each face.
QUIET = (("urnic0", "urnic1"), ("mlx5_2", "mlx5_3"))


class Scribblers(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        self.chance = random.Random(SEED)
        self.running, self.done, self.killed = [], [], 0

    def start_one(self):
        # Some write into the devices' own programs' neighbourhood: both ends on one device, or one end on each.
        devices = self.chance.choice((("mlx5_0", "mlx5_1"), ("mlx5_0", "mlx5_0"), ("mlx5_1", "mlx5_2")))
        self.running.append(self.fabric.start_on_urnic(
            self.fabric.verbs_program("mlx5_scribbler"), "--devices", *devices, "--seed", self.chance.randrange(1 << 60),
            "--seconds", self.chance.uniform(0.2, 1.5)))

    def look_after(self):
        for program in [each for each in self.running if each.status is not None]:
            self.running.remove(program)
            self.assertEqual(program.status, 0, program)
            self.done.append(json.loads(program.output().splitlines()[-1]))
        while len(self.running) < AT_ONCE:
            self.start_one()
        if self.chance.random() < 0.02:
            self.running.pop().kill()
            self.killed += 1

    def limits(self):
        return {name: limit["used"] for name, limit in self.fabric.status()["limits"].items()}

    def is_at_rest(self, before):
        status = self.fabric.status()
        return (not status["contexts"] and all(pool["at_rest"] for pool in status["engine"]["pools"]) and
                all(self.limits()[name] <= used for name, used in before.items()))

    def test_nobody_else_notices(self):
        before = self.limits()
        bystander = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"), "--devices", *QUIET[0])
        bystander.wait_for_output("running")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.look_after()
            self.assertIsNone(bystander.status, f"seed {SEED}: {bystander}\n{self.fabric.log()}")
            time.sleep(0.02)
        for program in self.running:
            program.kill()
        bystander.process.terminate()
        self.assertEqual(bystander.wait(), 0, f"seed {SEED}: {bystander}\n{self.fabric.log()}")
        total = {name: sum(each[name] for each in self.done) for name in ("posts", "words", "doorbells", "lanes")}
        print(f"seed {SEED}: {len(self.done)} programs, {self.killed} killed: {total}", file=sys.stderr)
        self.assertGreater(min(total.values(), default=0), 0)
        for devices in QUIET:
            with self.subTest(devices=devices):
                fresh = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_alive"), "--", *devices)
                self.assertEqual(fresh.wait(), 0, f"seed {SEED}: {fresh}\n{self.fabric.log()}")
        fabric.wait_until(lambda: self.is_at_rest(before), f"the device process to be at rest, seed {SEED}")


if __name__ == "__main__":
    unittest.main()
