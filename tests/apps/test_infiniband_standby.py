#!/usr/bin/python3
"""Several subnet managers on one fabric: Debian's opensm, unmodified. One is the master and the others stand by; and one port
has one manager only (issmN)."""

import contextlib
import os
import pathlib
import re
import signal
import unittest

import fabric
from test_infiniband import OPENSM, lid_of

CONFIGURATION = '[[devices]]\nlink_layer = "infiniband"\n' * 3
# How often a standby asks whether the master lives, in milliseconds, and how many questions may stay without an answer.
OPTIONS = "sminfo_polling_timeout 200\npolling_retry_number 3\nsweep_interval 1\n"
# Opens the issm node and says what has become of it.
OPEN = """
import os, signal, sys
def interrupt(*_):
    raise InterruptedError
signal.signal(signal.SIGUSR1, interrupt)
print("opening", flush=True)
try:
    node = os.open("/dev/infiniband/issm0", os.O_RDWR | eval(sys.argv[1]))
    print("has it", flush=True)
    signal.pause()
except InterruptedError:
    print("interrupted", flush=True)
except OSError as error:
    print(error.strerror, flush=True)
"""


class Managers(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        (self.fabric.home / "options").write_text(OPTIONS)

    def start(self, device, priority):
        """Starts opensm at a device, with a folder of its own."""
        guid = self.fabric.run_on_urnic("ibstat", "-p", device).split()[0]
        folder = self.fabric.directory / f"manager-{device}"
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o777)
        return self.fabric.start_on_urnic("env", f"OSM_TMP_DIR={folder}", f"OSM_CACHE_DIR={folder}", OPENSM, "-F",
                                          self.fabric.home / "options", "-g", guid, "-p", str(priority), "-f", folder / "log")

    def state_of(self, device):
        """What the manager at a device says it is; None: nobody answers."""
        lid = lid_of(self.fabric, device)
        if lid == 0:
            return None
        asked = self.fabric.start_on_urnic("sminfo", "-C", "urnic2", "-t", "100", str(lid))
        asked.wait()
        found = re.search(r"SMINFO_(\w+)", asked.output())
        return found.group(1) if found else None

    def wait_for(self, device, state):
        fabric.wait_until(lambda: self.state_of(device) == state, f"the manager at {device} to be {state}")

    def check_manager(self, device):
        """Whether all ports have this one as their manager."""
        lid = lid_of(self.fabric, device)
        for each in ("urnic0", "urnic1", "urnic2"):
            fabric.wait_until(lambda: f"SM lid: {lid}\n" in self.fabric.run_on_urnic("ibstat", each), f"{each} to follow {device}")
        self.assertIn(f"sm lid {lid} ", self.fabric.run_on_urnic("sminfo", "-C", "urnic2"))
        self.assertIn("NodeRecord dump", self.fabric.run_on_urnic("saquery", "-C", "urnic2"))


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Standby(Managers):
    def test_a_standby_takes_over_and_hands_over(self):
        first = self.start("urnic0", 5)
        self.wait_for("urnic0", "MASTER")
        second = self.start("urnic1", 3)
        self.wait_for("urnic1", "STANDBY")
        self.check_manager("urnic0")
        lids = [lid_of(self.fabric, device) for device in ("urnic0", "urnic1", "urnic2")]

        first.kill()
        self.wait_for("urnic1", "MASTER")
        self.check_manager("urnic1")
        self.assertEqual([lid_of(self.fabric, device) for device in ("urnic0", "urnic1", "urnic2")], lids)

        # One with a higher priority comes: the master hands the fabric over.
        first = self.start("urnic0", 5)
        self.wait_for("urnic0", "MASTER")
        self.wait_for("urnic1", "STANDBY")
        self.check_manager("urnic0")
        self.assertIsNone(first.status)
        self.assertIsNone(second.status)

    def test_the_one_with_the_lower_guid_is_the_master(self):
        self.start("urnic1", 4)
        self.wait_for("urnic1", "MASTER")
        self.start("urnic0", 4)
        self.wait_for("urnic0", "MASTER")
        self.wait_for("urnic1", "STANDBY")

    def test_a_port_has_one_manager(self):
        self.start("urnic0", 1)
        self.wait_for("urnic0", "MASTER")
        second = self.start("urnic0", 1)
        second.wait()
        self.assertIn("another instance of OpenSM is already running", second.output())
        self.assertEqual(self.state_of("urnic0"), "MASTER")


class Node(Managers):
    def open(self, flags="0"):
        opener = self.fabric.start_on_urnic("python3", "-c", OPEN, flags)
        opener.wait_for_output("opening")
        return opener

    def says_that_it_manages(self):
        mask = (self.fabric.run_directory / "sysfs/class/infiniband/urnic0/ports/1/cap_mask").read_text()
        return int(mask, 16) & 2 != 0

    def test_a_second_one_waits_until_the_first_has_gone(self):
        self.assertFalse(self.says_that_it_manages())
        first = self.open()
        first.wait_for_output("has it")
        self.assertTrue(self.says_that_it_manages())
        refused = self.open("os.O_NONBLOCK")
        refused.wait()
        self.assertIn("Resource temporarily unavailable", refused.output())
        second = self.open()
        third = self.open()
        self.assertNotIn("has it", second.output() + third.output())
        first.kill()
        second.wait_for_output("has it")
        self.assertTrue(self.says_that_it_manages())
        self.assertNotIn("has it", third.output())
        third.kill()
        second.kill()
        fabric.wait_until(lambda: not self.says_that_it_manages(), "the port to have no manager")

    def test_a_signal_ends_the_wait(self):
        self.open().wait_for_output("has it")
        second = self.open()
        fabric.wait_until(lambda: (self.opener_of(second) or (0, ""))[1] == "S", "the second one to wait")
        os.kill(self.opener_of(second)[0], signal.SIGUSR1)
        second.wait()
        self.assertIn("interrupted", second.output())

    def test_the_end_of_the_device_process_ends_the_wait(self):
        self.open().wait_for_output("has it")
        second = self.open()
        os.kill(self.fabric.device_process(), signal.SIGKILL)
        second.wait()
        self.assertIn("No such device or address", second.output())

    @staticmethod
    def opener_of(program):
        """The Python program in the group of a program: its pid, and its state as in /proc/PID/stat; None if there is none."""
        for folder in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                name, rest = pathlib.Path(f"/proc/{folder}/stat").read_text().split("(", 1)[1].rsplit(")", 1)
                if int(rest.split()[2]) == program.pid and name.startswith("python"):
                    return int(folder), rest.split()[0]
        return None


if __name__ == "__main__":
    unittest.main()
