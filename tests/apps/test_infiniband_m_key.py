#!/usr/bin/python3
"""A port's M_Key: Debian's opensm gives it out, smpquery does not know it, and gets in when the lease is over."""

import re
import unittest

import fabric
from test_infiniband import CONFIGURATION, OPENSM

KEY = "0x1234abcd"
LEASE = 4  # seconds: longer than the interval of sweeps, which opensm insists on, and than a question without a key
OPTIONS = f"m_key {KEY}\nm_key_protection_level 2\nm_key_lease_period {LEASE}\nsweep_interval 1\n"


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Lease(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)

    def ask(self, *words):
        """What smpquery shows of the port of urnic1; None: it has no answer."""
        asked = self.fabric.start_on_urnic("smpquery", "-C", "urnic1", "-t", "20", *words, "-K", "-D", "portinfo", "0")
        return asked.output() if asked.wait() == 0 else None

    def test_protection_ends_when_the_manager_is_gone(self):
        options = self.fabric.home / "options"
        options.write_text(OPTIONS)
        guid = self.fabric.run_on_urnic("ibstat", "-p", "urnic0").split()[0]
        folder = self.fabric.directory
        manager = self.fabric.start_on_urnic("env", f"OSM_TMP_DIR={folder}", f"OSM_CACHE_DIR={folder}", OPENSM, "-F", options,
                                             "-g", guid, "-f", folder / "opensm.log")
        for device in fabric.DEVICES:
            fabric.wait_until(lambda: "State: Active" in self.fabric.run_on_urnic("ibstat", device), f"{device} to be active")
        manager.kill()
        # With the key no lease begins, so there is time.
        shown = self.ask("-y", KEY)
        self.assertRegex(shown, rf"MkeyLeasePeriod:\.+{LEASE}\n")
        self.assertRegex(shown, r"ProtectBits:\.+2\n")
        self.assertIsNone(self.ask())  # the lease begins
        fabric.wait_until(lambda: self.ask() is not None, "the lease to end")
        shown = self.ask()
        self.assertRegex(shown, r"ProtectBits:\.+0\n")
        self.assertEqual(int(re.search(r"Mkey:\.+(0x\w+)", shown).group(1), 16), int(KEY, 16))
        self.assertGreaterEqual(int(re.search(r"MkeyViolations:\.+(\d+)", shown).group(1)), 2)


if __name__ == "__main__":
    unittest.main()
