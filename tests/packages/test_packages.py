#!/usr/bin/python3
"""The packages of tools/package: built, installed, used by an ordinary user with data checked, and removed.

URNIC_PACKAGES names a folder with packages that are there already. Needs root.
"""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "apps"))
import fabric  # noqa: E402
from root_file_system import ROOT, RootFileSystem  # noqa: E402

LIBRARIES = "/usr/lib/x86_64-linux-gnu"


@functools.cache
def packages(kind):
    """The packages of a kind, built if URNIC_PACKAGES does not name them."""
    folder = os.environ.get("URNIC_PACKAGES")
    if not folder:
        subprocess.run([SOURCES / "tools" / "package", kind], check=True)
    found = pathlib.Path(folder or SOURCES / "build" / "package").glob(f"urnic*.{kind}")
    return sorted(path.resolve() for path in found if "dbgsym" not in path.name)


def said_by(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout + ("" if done.returncode == 0 else f"status {done.returncode}")


class Deb(unittest.TestCase):
    def test_lintian(self):
        said = said_by("lintian", "--allow-root", "--fail-on", "error,warning", *packages("deb"))
        self.assertNotRegex(said, r"(?m)^[EW]: |^status")

    def test_installed_used_and_removed(self):
        with RootFileSystem("bookworm") as system:
            # It fails on a machine without RDMA devices, and says so.
            plain = ("sh", "-c", "ibv_devices 2>&1; ibv_devinfo 2>&1; true")
            before, without = system.files("*urnic*"), system.run(*plain)
            for package in packages("deb"):
                shutil.copy(package, system.home)
            names = [f"./{package.name}" for package in packages("deb")]
            system.run("apt-get", "install", "--yes", "--no-install-recommends", *names, user=ROOT)

            self.assertIn("urnic0", system.run("urnic", "run", "--", "ibv_devinfo"))
            system.pingpong("urnic")
            self.check_plugin_by_name(system)
            # A program that is not started by urnic sees and says what it did before.
            self.assertEqual(system.run(*plain), without)

            system.run("apt-get", "purge", "--yes", "urnic", "urnic-lessons", "urnic-doc", user=ROOT)
            self.assertEqual(system.files("*urnic*") - before, set())

    def check_plugin_by_name(self, system):
        """libibverbs finds the plugin in its own folder."""
        system.run("urnic", "up")
        environment = {"LD_PRELOAD": f"{LIBRARIES}/urnic/liburnic-kernel.so", "RDMAV_DRIVERS": "urnic"}
        self.assertIn("urnic0", system.run("ibv_devices", environment=environment))
        system.run("urnic", "down")


if __name__ == "__main__":
    unittest.main()
