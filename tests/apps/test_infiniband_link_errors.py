#!/usr/bin/python3
"""Lines of InfiniBand that err, by a fault plan: Debian's opensm hears the traps, perfquery and ibqueryerrors show the
counters, all unmodified."""

import re
import time
import unittest

import fabric
from test_infiniband import CONFIGURATION, OPENSM, lid_of, start_manager

DAMAGED = 12
MOST = 8  # as opensm writes it to the ports
# The first packets of the connection, when they are sent for the first time.
BAD_CABLE = f"""
[[fault]]
device = "urnic0"
opcode = ["Send First", "Send Middle", "Send Last"]
relative_psn = {list(range(DAMAGED))}
transmission = 1
action = "corrupt_after_icrc"
"""
# Flow control has to come within 0.13 ms at the rate of the link.
SILENCE = """
[[fault]]
device = "urnic0"
opcode = "Send Only"
occurrence = 5
action = "cut_link"
for_us = 200000
"""
# The same for datagrams of subnet management, in a subnet where no program has queue pairs. opensm asks otherwise.
QUESTION = """
[[fault]]
device = "urnic1"
mad = "SubnGet(NodeDescription)"
"""
BAD_QUESTIONS = f'{QUESTION}count = {DAMAGED}\naction = "corrupt_after_icrc"\n'
SILENT_QUESTION = f'{QUESTION}count = 1\naction = "cut_link"\nfor_us = 200000\n'
PINGPONG = ("ibv_rc_pingpong", "-s", "65536", "-n", "5")


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class LinkErrors(unittest.TestCase):
    def up(self, configuration):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(configuration)
        start_manager(self.fabric)
        found = re.search(r"lid (\d+)", self.fabric.run_on_urnic("ibswitches", "-C", "urnic0"))
        self.switch = found.group(1)

    def wait_for_trap(self, number):
        log = self.fabric.directory / "opensm.log"
        fabric.wait_until(lambda: f"num:{number}" in log.read_text(errors="replace"), f"trap {number} in opensm's log")
        return [line for line in log.read_text(errors="replace").splitlines() if f"num:{number}" in line]

    def counters(self, lid):
        shown = self.fabric.run_on_urnic("perfquery", "-C", "urnic1", lid, 1)
        return {name: int(value) for name, value in re.findall(r"(\w+):\.+(\d+)\n", shown)}

    def run_pingpong(self, *words):
        return self.fabric.run_pair((*words, "-d", "urnic0"), (*words, "-d", "urnic1"))

    def test_damaged_packets_are_counted_where_they_arrive(self):
        self.up(CONFIGURATION)
        self.fabric.load_faults(BAD_CABLE)
        self.run_pingpong(*PINGPONG)
        traps = self.wait_for_trap(129)
        self.assertIn("Switch", traps[0])
        counted = self.counters(self.switch)
        self.assertEqual(counted["PortRcvErrors"], DAMAGED)
        self.assertEqual(counted["LocalLinkIntegrityErrors"], DAMAGED // (MOST + 1))
        self.assertEqual(self.counters(lid_of(self.fabric, "urnic1"))["PortRcvErrors"], 0)
        shown = self.fabric.run_on_urnic("ibqueryerrors", "-C", "urnic1", "-s", "PortXmitWait", status=1)
        self.assertIn("LocalLinkIntegrityErrors == 1", shown)

    def test_a_link_without_flow_control_trains_again(self):
        self.up(f"[fabric]\ncredits = true\n{CONFIGURATION}")
        self.fabric.load_faults(SILENCE)
        port = fabric.free_port()
        words = ("ibv_rc_pingpong", "-s", "1024", "-n", "100", "-p", port)
        programs = [self.fabric.start_on_urnic(*words, "-d", "urnic0")]
        fabric.wait_until(lambda: fabric.is_listening(port), "a listening server")
        programs.append(self.fabric.start_on_urnic(*words, "-d", "urnic1", "127.0.0.1"))
        self.wait_for_trap(131)
        for program in programs:  # one of them may have given up
            program.kill()
        fabric.wait_until(lambda: "State: Active" in self.fabric.run_on_urnic("ibstat", "urnic0"), "urnic0 to be active again")
        self.assertGreaterEqual(self.counters(self.switch)["LinkDownedCounter"], 1)
        self.fabric.run(self.fabric.urnic, "fault", "clear")
        self.run_pingpong("ibv_rc_pingpong", "-s", "1024", "-n", "10")

    def ask_without_queue_pairs(self, faults, most):
        """Asks until an answer comes, when counters that nothing changes have not been read for some time."""
        time.sleep(2)
        self.fabric.load_faults(faults)
        for _ in range(most):
            asked = self.fabric.start_on_urnic("smpquery", "-C", "urnic1", "-t", "50", "-D", "nodedesc", "0,1")
            if asked.wait() == 0:
                return
        self.fail("no answer")

    def test_damage_is_told_without_queue_pairs(self):
        self.up(CONFIGURATION)
        self.ask_without_queue_pairs(BAD_QUESTIONS, DAMAGED + 1)
        self.assertIn("Switch", self.wait_for_trap(129)[0])

    def test_silence_is_told_without_queue_pairs(self):
        self.up(f"[fabric]\ncredits = true\n{CONFIGURATION}")
        self.ask_without_queue_pairs(SILENT_QUESTION, 20)
        self.wait_for_trap(131)
        fabric.wait_until(lambda: "State: Active" in self.fabric.run_on_urnic("ibstat", "urnic1"), "urnic1 to be active again")


if __name__ == "__main__":
    unittest.main()
