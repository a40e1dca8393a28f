#!/usr/bin/python3
"""rdma-core's own test suite, as Debian packages it (python3-pyverbs): all that docs/conformance.md does not name as
skipped passes, as root and as an ordinary user who is root in a user namespace of its own."""

import collections
import gzip
import os
import pathlib
import re
import shutil
import unittest

import fabric

SUITE = pathlib.Path("/usr/share/doc/rdma-core/tests")
MODULES = ("addr", "atomic", "cq", "cq_events", "cqex", "device", "flow", "fork", "mr", "odp", "parent_domain", "pd", "qp",
           "qpex", "rdmacm", "relaxed_ordering", "rss_traffic", "shared_pd", "tag_matching")
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "conformance.md"
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HUGE_PAGES_NEEDED = 8

Result = collections.namedtuple("Result", "name outcome")  # outcome: ok, FAIL, ERROR or skipped 'why'


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


def results(said):
    """What the runner's output says of each test. Its outcome is on the line of its name, or, behind what the test
    says of itself, on a later one."""
    found, name = [], None
    for line in said.splitlines():
        started = re.match(r"(test_\w+) \((tests\.\w+\.\w+)", line)
        if started:
            name = started[1]
        ended = re.search(r"(?:\.\.\. |^)(ok|FAIL|ERROR|skipped '.*'|skipped \".*\")$", line)
        if ended and name:
            found.append(Result(name, ended[1]))
            name = None
    return found


class Expected:
    """What docs/conformance.md promises."""

    def __init__(self):
        text = DOCUMENT.read_text(encoding="utf-8")
        self.tests = {module: int(count) for module, count in re.findall(r"(?m)^\| `test_(\w+)` \| (\d+) \|", text)}
        self.skipped = set(re.findall(r"(?m)^\| `test_(\w+)` \| `(test_\w+)` \|", text))


class Conformance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(reserve_huge_pages())
        cls.expected = Expected()

    def run_suite(self, own, prefix=()):
        # The package has some of the files compressed, as Debian does with all documentation.
        suite = own.home / "tests"
        shutil.copytree(SUITE, suite)
        for packed in suite.glob("*.gz"):
            packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        self.assertEqual(set(self.expected.tests), set(MODULES), "docs/conformance.md lists other modules")
        for module in MODULES:
            with self.subTest(module):
                said = own.run_on_urnic(
                    *prefix, "/usr/bin/python3", "-B", suite / "run_tests.py", "--dev", "urnic0", "--port", "1", "--gid",
                    "1", "--verbose", f"tests.test_{module}", timeout=180)
                found = results(said)
                self.assertEqual(len(found), self.expected.tests[module], f"not every test was understood:\n{said}")
                for name, outcome in found:
                    allowed = outcome == "ok" or (outcome.startswith("skipped") and (module, name) in self.expected.skipped)
                    self.assertTrue(allowed, f"{name}: {outcome}\n{said}")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_root(self):
        with fabric.Fabric(user=None) as own:
            own.up()
            self.run_suite(own)

    def test_as_root_of_a_user_namespace(self):
        with fabric.Fabric() as own:
            try:
                own.run("unshare", "--user", "--map-root-user", "true")
            except AssertionError:
                self.skipTest("the kernel lets no ordinary user make a user namespace")
            own.up()
            self.run_suite(own, ("unshare", "--user", "--map-root-user", "--"))


if __name__ == "__main__":
    unittest.main()
