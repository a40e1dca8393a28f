#!/usr/bin/python3
"""A flood of forged congestion notifications on UDP, from the peer's address: it slows down one queue pair, to the least rate at most, and
costs others no more than a flood of packets to nobody does.

URNIC_FLOOD_SECONDS: of each measurement (2). URNIC_FLOOD_RATE: notifications a second at most (1000000).
"""

import json
import os
import pathlib
import shutil
import signal
import sys
import unittest

import fabric

SECONDS = float(os.environ.get("URNIC_FLOOD_SECONDS", "2"))
RATE = int(os.environ.get("URNIC_FLOOD_RATE", "1000000"))
LEAST_MBPS, LINE_GBPS = 50, 10
# All of 127/8 is this host: each run has addresses of its own.
OWN = f"127.{16 + os.getpid() // 256 % 200}.{os.getpid() % 256}"
# Programs of ours use the second GID.
OURS, PEERS = f"{OWN}.11", f"{OWN}.12"
TWO_DEVICES = f"""
[device]
congestion = "dcqcn"
[congestion]
line_rate_gbps = {LINE_GBPS}
least_rate_mbps = {LEAST_MBPS}
[[devices]]
wire = "udp"
addresses = ["{OWN}.1", "{OURS}"]
[[devices]]
wire = "udp"
addresses = ["{OWN}.2", "{PEERS}"]
"""
NOBODY = 0x123456
# How many times as many round trips a bystander may have beside packets to nobody as beside notifications. A busy machine changes its speed
# several times as much: if it is too slow at first, it is measured again.
BOUND = 4
LEAST_TURNS, MOST_TURNS = 2, 6
PATIENT = 120 + 10 * SECONDS


class NotificationFlood(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(TWO_DEVICES)
        here = pathlib.Path(__file__).parent
        for name in (here / "notify.py", here / "forge.py", here.parent / "apps" / "flood.py"):
            shutil.copy(name, self.fabric.home)

    def queue_pairs(self):
        """Of the device that is attacked, by number."""
        text = self.fabric.run(self.fabric.urnic, "status", "--json", "--qps")
        return {pair["qpn"]: pair["requester"]["congestion"] for pair in json.loads(text) if pair["device"] == "urnic0"}

    def counters(self):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]

    def stand_by(self, *options):
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"), *options)
        program.wait_for_output("running")
        return program

    def round_trips(self, program):
        """All its data are compared: it fails if one byte is wrong."""
        self.assertEqual(program.wait(PATIENT), 0, program)
        return json.loads(program.output().splitlines()[-1])["round_trips"]["count"]

    def beside_a_flood(self, qpn):
        """What a bystander does meanwhile, what the queue pair's rates were, and what the flood and the device say."""
        before = self.counters()["rp_cnp_handled"]
        flood = self.fabric.start(sys.executable, self.fabric.home / "notify.py", OURS, PEERS, RATE, qpn)
        flood.wait_for_output("flooding")
        bystander = self.stand_by("--seconds", SECONDS)
        rates = []
        while bystander.status is None:
            rates += [each["rate_gbps"] for number, each in self.queue_pairs().items() if number == qpn]
        round_trips = self.round_trips(bystander)
        flood.process.send_signal(signal.SIGTERM)
        self.assertEqual(flood.wait(PATIENT), 0, flood)
        sent = json.loads(flood.output().splitlines()[-1])
        return round_trips, rates, sent["sent"] / sent["seconds"], self.counters()["rp_cnp_handled"] - before

    def test_a_bystander_loses_nothing_and_the_victim_keeps_the_least_rate(self):
        victim = self.stand_by("--bytes", 65536)
        [qpn] = self.queue_pairs()
        alone, to_nobody, to_victim, rates, told = [], [], [], [], []
        while len(told) < LEAST_TURNS or len(told) < MOST_TURNS and BOUND * sum(to_victim) <= sum(to_nobody):
            alone.append(self.round_trips(self.stand_by("--seconds", SECONDS)))
            round_trips, _, _, handled = self.beside_a_flood(NOBODY)
            self.assertEqual(handled, 0)
            to_nobody.append(round_trips)
            round_trips, seen, rate, handled = self.beside_a_flood(qpn)
            to_victim.append(round_trips)
            rates += seen
            told.append((round(rate), handled))
        print(f"sent a second, and handled: {told}; round trips without a flood {alone}, beside packets to nobody {to_nobody}, "
              f"beside notifications {to_victim}; the victim's rates: {min(rates)} to {max(rates)} Gbit/s", file=sys.stderr)
        self.assertGreater(min(handled for _, handled in told), 1000)
        self.assertGreater(BOUND * sum(to_victim), sum(to_nobody))
        self.assertGreaterEqual(min(rates), LEAST_MBPS / 1000)
        self.assertLess(min(rates), LINE_GBPS / 2)
        victim.process.send_signal(signal.SIGTERM)
        self.assertGreater(self.round_trips(victim), 10)


if __name__ == "__main__":
    unittest.main()
