#!/usr/bin/python3
"""A newcomer's first minutes: the development container's own commands, which are tools/quickstart, on a fresh clone; and
the first packets from an installed tree. Needs root."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "apps"))
from made_packages import packages  # noqa: E402
from root_file_system import ROOT, USER, RootFileSystem  # noqa: E402

DECODED = "RC Send First"


class FirstMinutes(unittest.TestCase):
    def test_fresh_clone(self):
        with RootFileSystem("bookworm") as system:
            clone = system.home / "urnic"
            subprocess.run(["git", "clone", "--quiet", "--no-local", SOURCES, clone], check=True)
            subprocess.run(["chown", "-R", f"{USER}:{USER}", clone], check=True)
            container = json.loads((SOURCES / ".devcontainer" / "devcontainer.json").read_text())
            # The container's user may use sudo; this one may not.
            system.run("sh", "-ec", f"cd {clone}; {container['onCreateCommand']}", user=ROOT, patience=1200)
            said = system.run("sh", "-ec", f"cd {clone}; {container['updateContentCommand']}", patience=3600)
            self.assertIn(DECODED, said)
            # Each step says what it does and how long it may take.
            steps = [line for line in said.splitlines() if line.startswith("== ")]
            self.assertEqual(len(steps), 6, said)
            for step in steps:
                self.assertRegex(step, r"\(.*(second|minute)", step)

    def test_from_a_package(self):
        with RootFileSystem("bookworm") as system:
            system.run("apt-get", "install", "--yes", "--no-install-recommends", "tshark", user=ROOT)
            shutil.copy(packages("tar")[0], system.home / "urnic.tar.gz")
            system.run("tar", "-xzf", "urnic.tar.gz")
            said = system.run(next(system.home.glob("urnic-*/share/urnic/first-packets")))
            self.assertIn(DECODED, said)
            self.assertTrue((system.home / "first-packets.pcap").stat().st_size > 0)

    def test_from_a_package_without_what_it_needs(self):
        with RootFileSystem("bookworm") as system:
            shutil.copy(packages("tar")[0], system.home / "urnic.tar.gz")
            system.run("tar", "-xzf", "urnic.tar.gz")
            said = system.run(next(system.home.glob("urnic-*/share/urnic/first-packets")), status=1)
            self.assertEqual(said, "first-packets: there is no tshark: install tshark (Debian, Ubuntu) or wireshark-cli "
                                   "(Fedora, RHEL)\n")


if __name__ == "__main__":
    unittest.main()
