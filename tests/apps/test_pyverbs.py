#!/usr/bin/python3
"""rdma-core's own test suite, as Debian packages it (python3-pyverbs): what it has for this kind of device passes."""

import gzip
import pathlib
import re
import shutil
import unittest

import fabric

SUITE = pathlib.Path("/usr/share/doc/rdma-core/tests")
MODULES = ("addr", "atomic", "cq", "cq_events", "cqex", "device", "fork", "mr", "odp", "parent_domain", "pd", "qp", "qpex",
           "relaxed_ordering", "shared_pd")


HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HUGE_PAGES_NEEDED = 8


def reserve_huge_pages():
    """Has the kernel set some huge pages aside, if it has none and lets us. Returns what is to be called in the end."""
    try:
        before = HUGE_PAGES.read_text()
        if int(before) >= HUGE_PAGES_NEEDED:
            return lambda: None
        HUGE_PAGES.write_text(str(HUGE_PAGES_NEEDED))
    except OSError:
        return lambda: None  # the tests that want them say that there are none
    return lambda: HUGE_PAGES.write_text(before)


class Pyverbs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(reserve_huge_pages())
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()
        # The package has some of the files compressed, as Debian does with all documentation.
        cls.suite = cls.fabric.home / "tests"
        shutil.copytree(SUITE, cls.suite)
        for packed in cls.suite.glob("*.gz"):
            packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))

    def test_generic_modules(self):
        passed = 0
        for module in MODULES:
            with self.subTest(module):
                said = self.fabric.run_on_urnic(
                    "/usr/bin/python3", "-B", self.suite / "run_tests.py", "--dev", "urnic0", "--port", "1", "--gid", "1",
                    "--verbose", f"tests.test_{module}", timeout=120)
                self.assertNotRegex(said, r"(?m)\.\.\. (ERROR|FAIL)$")
                passed += len(re.findall(r"(?m)(\.\.\. |^)ok$", said))
        # More than half of the suite: skipping must not pass for passing.
        self.assertGreater(passed, 90)


if __name__ == "__main__":
    unittest.main()
