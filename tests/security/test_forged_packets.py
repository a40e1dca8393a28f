#!/usr/bin/python3
"""Packets of every opcode, with random PSNs, from the address of the peer: transfers go on, with right data.

URNIC_FORGED_SECONDS: for each opcode (0.2).
"""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import unittest

import fabric

SECONDS = float(os.environ.get("URNIC_FORGED_SECONDS", "0.2"))
RATE = 200_000
# All of 127/8 is this host: each run has addresses of its own.
OWN = f"127.{16 + os.getpid() // 256 % 200}.{os.getpid() % 256}"
TWO_DEVICES = f"""
[[devices]]
wire = "udp"
addresses = ["{OWN}.1", "{OWN}.11"]
[[devices]]
wire = "udp"
addresses = ["{OWN}.2", "{OWN}.12"]
"""
PATIENT = 120 + 60 * SECONDS


class Forged(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(TWO_DEVICES)
        here = pathlib.Path(__file__).parent
        for name in (here / "forge.py", here.parent / "apps" / "flood.py"):
            shutil.copy(name, self.fabric.home)

    def queue_pairs(self):
        text = self.fabric.run(self.fabric.urnic, "status", "--json", "--qps")
        return sorted(set(map(int, re.findall(r'"qpn": *(\d+)', text))))

    def counters(self, device):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))[device]

    def moved(self):
        text = self.fabric.run(self.fabric.urnic, "counters", "--json")
        return {device: {name: value for name, value in counters.items() if value} for device, counters in json.loads(text).items()}

    def forge(self, address, source, qpns):
        return self.fabric.start(sys.executable, self.fabric.home / "forge.py", address, source, SECONDS, RATE, *qpns)

    def check_flood(self, flood):
        self.assertEqual(flood.wait(PATIENT), 0, flood)
        sent = json.loads(flood.output().splitlines()[-1])
        print(sum(sent.values()) / len(sent) / SECONDS, "datagrams a second", file=sys.stderr)
        self.assertGreater(min(sent.values()), 1000, sent)

    def test_messages_with_data(self):
        """Every byte is compared. Programs of ours use the second GID."""
        bystander = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"))
        bystander.wait_for_output("running")
        qpns = self.queue_pairs()
        self.assertEqual(len(qpns), 2)
        self.check_flood(self.forge(f"{OWN}.12", f"{OWN}.11", qpns))
        bystander.process.send_signal(signal.SIGTERM)
        self.assertEqual(bystander.wait(), 0, bystander)
        found = json.loads(bystander.output().splitlines()[-1])
        self.assertGreater(found["round_trips"]["count"], 10)
        self.assertGreater(self.counters("urnic1")["rx_other_port_discards"], 1000)

    def test_a_stream_of_writes(self):
        common = ("ib_write_bw", "-F", "-x", 0, "-D", int(25 * (SECONDS + 0.3)) + 2)
        pair = self.fabric.start_pair((*common, "-d", "urnic1"), (*common, "-d", "urnic0"))
        fabric.wait_until(lambda: len(self.queue_pairs()) >= 2, "two queue pairs")
        fabric.wait_until(lambda: self.counters("urnic1")["rx_write_requests"] > 100, "a stream of writes")
        floods = [self.forge(f"{OWN}.{to}", f"{OWN}.{3 - to}", self.queue_pairs()) for to in (1, 2)]
        for flood in floods:
            self.check_flood(flood)
        for program in reversed(pair):  # the client says what went wrong
            self.assertEqual(program.wait(PATIENT), 0, f"{program}\n{self.moved()}")
        for device in ("urnic0", "urnic1"):
            self.assertGreater(self.counters(device)["rx_other_port_discards"], 1000)


if __name__ == "__main__":
    unittest.main()
