#!/usr/bin/python3
"""rdma-core's own test suite, as Debian packages it (python3-pyverbs). Every test passes that docs/conformance.md does
not name as skipped: as root, and as an ordinary user who is root in a user namespace; on RoCE devices and on InfiniBand devices. With
URNIC_FACE=mlx5 also its modules for mlx5, and docs/mlx5-face.md."""

import collections
import gzip
import os
import pathlib
import re
import shutil
import unittest

import fabric
import huge_pages
from test_infiniband import MANAGED_BY_OPENSM, OPENSM

SUITE = pathlib.Path("/usr/share/doc/rdma-core/tests")
MODULES = ("addr", "atomic", "cq", "cq_events", "cqex", "device", "flow", "fork", "mr", "odp", "parent_domain", "pd", "qp",
           "qpex", "rdmacm", "relaxed_ordering", "rss_traffic", "shared_pd", "tag_matching")
DOCUMENTS = pathlib.Path(__file__).parents[2] / "docs"
if fabric.FACE == "mlx5":
    # docs/mlx5-face.md says how many tests of a module are skipped, and why.
    MODULES += tuple(sorted(name.name.removeprefix("test_").split(".")[0] for name in SUITE.glob("test_mlx5_*.py*")))
    DOCUMENT = DOCUMENTS / "mlx5-face.md"
else:
    DOCUMENT = DOCUMENTS / "conformance.md"
HUGE_PAGES = 8

Result = collections.namedtuple("Result", "name outcome")  # outcome: ok, FAIL, ERROR or skipped 'why'


def results(said):
    """The outcome of each test in the runner's output. It stands on the line of the test's name, or on a later line,
    after the test's own output."""
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
    """The results that docs/conformance.md promises. `further` is the heading of those that are skipped on other devices than RoCE's."""

    def __init__(self, further=None):
        text = DOCUMENT.read_text(encoding="utf-8")
        sections = dict(section.split("\n", 1) for section in text.split("\n## "))
        self.tests = {module: int(count) for module, count in re.findall(r"(?m)^\| `test_(\w+)` \| (\d+) \|", text)}
        self.skipped = {row for heading in ("Skipped", further) if heading in sections
                        for row in re.findall(r"(?m)^\| `test_(\w+)` \| `(test_\w+)` \|", sections[heading])}
        rows = re.findall(r"(?m)^\| `test_(\w+)` \| \d+ \| (\d+) \|$", text)  # of docs/mlx5-face.md
        self.most_skipped = {module: int(count) for module, count in rows}

    def check(self, module, found, said):
        skipped = [name for name, outcome in found if outcome.startswith("skipped")]
        for name, outcome in found:
            allowed = outcome == "ok" or (name in skipped and ((module, name) in self.skipped or module in self.most_skipped))
            if not allowed:
                raise AssertionError(f"{name}: {outcome}\n{said}")
        if module in self.most_skipped and len(skipped) > self.most_skipped[module]:
            raise AssertionError(f"{len(skipped)} tests are skipped instead of {self.most_skipped[module]}: {skipped}\n{said}")


class Conformance(unittest.TestCase):
    configuration = None
    gid_index = 1  # of IPv4, with RoCE v2
    further_skipped = None

    @classmethod
    def setUpClass(cls):
        # The tests that need huge pages skip themselves where there are none. Root of a user namespace may have no segment of
        # them (shmget(2)), and those of mlx5 fail then.
        if fabric.FACE != "mlx5":
            cls.enterClassContext(huge_pages.reserved(HUGE_PAGES))
        cls.expected = Expected(cls.further_skipped)

    def run_suite(self, own, prefix=()):
        # Debian compresses some of the files, because the package installs them as documentation.
        suite = own.home / "tests"
        shutil.copytree(SUITE, suite)
        for packed in suite.glob("*.gz"):
            packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        self.assertEqual(set(self.expected.tests), set(MODULES), "docs/conformance.md lists other modules")
        # test_mlx5_dr leaves this file behind, which the next run's user may not be allowed to write.
        self.addCleanup(pathlib.Path("/tmp/dump.txt").unlink, missing_ok=True)
        for module in MODULES:
            with self.subTest(module):
                said = own.run_on_urnic(
                    *prefix, "/usr/bin/python3", "-B", suite / "run_tests.py", "--dev", fabric.DEVICES[0], "--port", "1", "--gid",
                    self.gid_index, "--verbose", f"tests.test_{module}")
                found = results(said)
                self.assertEqual(len(found), self.expected.tests[module], f"not every test was understood:\n{said}")
                self.expected.check(module, found, said)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_as_root(self):
        with fabric.Fabric(user=None) as own, huge_pages.reserved(HUGE_PAGES):
            own.up(self.configuration)
            self.run_suite(own)

    def test_as_root_of_a_user_namespace(self):
        with fabric.Fabric() as own:
            try:
                own.run("unshare", "--user", "--map-root-user", "true")
            except AssertionError:
                self.skipTest("the kernel lets no ordinary user make a user namespace")
            own.up(self.configuration)
            self.run_suite(own, ("unshare", "--user", "--map-root-user", "--"))


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
@unittest.skipIf(fabric.FACE == "mlx5", "docs/mlx5-face.md has the suite's results on RoCE devices only")
class OnInfiniband(Conformance):
    configuration = MANAGED_BY_OPENSM
    gid_index = 0  # the port's own
    further_skipped = "On InfiniBand devices"


if __name__ == "__main__":
    unittest.main()
