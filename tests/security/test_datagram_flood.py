#!/usr/bin/python3
"""Floods of management datagrams on an InfiniBand fabric: who moves data beside them loses nothing and keeps a share of the time, the
device process takes no more memory than a umad file may have, and the manager goes on.

URNIC_FLOOD_SECONDS: of each measurement (1).
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
from test_infiniband import OPENSM, lid_of

SECONDS = float(os.environ.get("URNIC_FLOOD_SECONDS", "1"))
# opensm manages from the first InfiniBand device.
BYSTANDERS, MANAGER, FLOODER, LISTENER = ("urnic0", "urnic1"), "urnic2", "urnic3", "urnic4"
CONFIGURATION = """
subnet_manager = "opensm"
opensm_options = ["-F", "{options}"]
[[fabric.switches]]
name = "one"
ports = 8
[[fabric.switches]]
name = "other"
ports = 8
[[fabric.links]]
from = "one:8"
to = "other:8"
[[devices]]
[[devices]]
[[devices]]
link_layer = "infiniband"
[[devices]]
link_layer = "infiniband"
[[devices]]
link_layer = "infiniband"
"""
OPENSM_OPTIONS = "m_key 0x0000000000001234\n"  # or no key were wrong
# Each with the device that it is about, and whether an answer comes.
KINDS = (("directed", MANAGER, True), ("keys", LISTENER, False), ("counters", MANAGER, True), ("records", MANAGER, True),
         ("messages", LISTENER, False))
# How many times as many round trips a bystander may have alone as beside a flood. The flooder takes one processor of two, and the
# device process's control thread a part of the other. A busy machine changes its speed several times as much: if it is too slow at
# first, it is measured again.
BOUND = 20
MOST_TURNS = 4
# Of all umad files: their backlogs, requests and long messages, of which a file has 32 MiB in each direction and to be read.
MOST_KIB = 128 << 10
PATIENT = 120 + 10 * SECONDS


def node_of(device):
    return int(device.removeprefix("urnic"))


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class DatagramFlood(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        options = self.fabric.home / "opensm.conf"
        options.write_text(OPENSM_OPTIONS, encoding="ascii")
        self.fabric.up(CONFIGURATION.format(options=options))
        shutil.copy(pathlib.Path(__file__).parent / "flood_datagrams.py", self.fabric.home)
        fabric.wait_until(self.all_are_active, "all ports to be active")

    def all_are_active(self):
        return all(port["state"] == "active" for port in self.fabric.status()["subnet"]["ports"])

    def is_at_rest(self):
        status = self.fabric.status()
        return not status["contexts"] and all(pools["at_rest"] for pools in status["engine"]["pools"])

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.fabric.device_process()}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def received(self, device):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))[device]["port_rcv_packets"]

    def key_violations(self, device):
        shown = self.fabric.run_on_urnic("smpquery", "-C", MANAGER, "portinfo", lid_of(self.fabric, device), "1")
        return int(re.search(r"MkeyViolations:\.+(\d+)", shown).group(1))

    def start(self, kind, device, about):
        program = self.fabric.start_on_urnic("python3", "-B", self.fabric.home / "flood_datagrams.py", kind, node_of(device),
                                             lid_of(self.fabric, about))
        program.wait_for_output("listening" if kind == "listen" else "flooding")
        return program

    def end(self, program):
        program.process.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(PATIENT), 0, program)

    def round_trips(self):
        """All its data are compared: it fails if one byte is wrong."""
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_bystander"), "--devices", *BYSTANDERS,
                                             "--seconds", SECONDS)
        self.assertEqual(program.wait(PATIENT), 0, program)
        return json.loads(program.output().splitlines()[-1])["round_trips"]["count"]

    def beside_a_flood(self, kind, about, is_answered):
        violations, received = self.key_violations(LISTENER), self.received(about)
        program = self.start(kind, FLOODER, about)
        count = self.round_trips()
        self.end(program)
        told = json.loads(program.output().splitlines()[-1])
        self.assertGreater(told["taken"], 100, program)
        self.assertEqual(told["answers"] > 0, is_answered, program)
        self.assertEqual(self.key_violations(LISTENER) > violations, kind == "keys")
        if kind == "messages":
            self.assertGreater(self.received(about), received + 100)
        return count, told

    def in_turns(self, kind, about, is_answered):
        """Round trips alone and beside that flood, until there are enough of the latter or it has been tried often enough."""
        alone, beside = [], []
        while len(beside) < MOST_TURNS and BOUND * sum(beside) <= sum(alone):
            alone.append(self.round_trips())
            count, told = self.beside_a_flood(kind, about, is_answered)
            beside.append(count)
            print(f"{kind}: {told['taken'] / told['seconds']:.0f} a second taken, {told['refused'] / told['seconds']:.0f} refused; "
                  f"round trips {alone} alone, {beside} beside it", file=sys.stderr)
        return sum(alone), sum(beside)

    def test_bystanders_memory_and_manager(self):
        listener = self.start("listen", LISTENER, LISTENER)
        self.round_trips()  # so that its pools are not taken for growth
        before = self.resident_kib()
        for kind, about, is_answered in KINDS:
            with self.subTest(kind):
                alone, beside = self.in_turns(kind, about, is_answered)
                self.assertGreater(BOUND * beside, alone)
                self.assertLess(self.resident_kib() - before, MOST_KIB)
        self.end(listener)
        self.the_fabric_is_alive()

    def the_fabric_is_alive(self):
        """The manager answers, acts on a link that goes and comes, and data move."""
        self.assertIn("SMINFO_MASTER", self.fabric.run_on_urnic("sminfo", "-C", FLOODER))
        self.fabric.run(self.fabric.urnic, "link", "set", LISTENER, "state=down")
        self.fabric.run(self.fabric.urnic, "link", "set", LISTENER, "state=up")
        fabric.wait_until(self.all_are_active, "all ports to be active again")
        self.fabric.run_pair(("ibv_rc_pingpong", "-c", "-d", FLOODER), ("ibv_rc_pingpong", "-c", "-d", LISTENER))
        fabric.wait_until(self.is_at_rest, "an engine at rest")


if __name__ == "__main__":
    unittest.main()
