#!/usr/bin/python3
"""The lists of packages: each file that cmake installs is in one Debian package and in one rpm package."""

import fnmatch
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import fabric

SOURCES = pathlib.Path(__file__).resolve().parents[2]
# The packagers' tools put these where their distribution has them.
LEFT_OUT = {"usr/share/doc/urnic/CHANGELOG.md", "usr/share/doc/urnic/LICENSE"}
# Of the specification's own commands, not of cmake.
MADE_BY_RPM = {"usr/lib/libibverbs/liburnic-rdmav*.so"}
MACROS = {"_bindir": "usr/bin", "_libdir": "usr/lib", "_libexecdir": "usr/libexec", "_datadir": "usr/share",
          "_mandir": "usr/share/man", "_prefix": "usr"}


def installed():
    """All files of the tree but those of the test programs, as they are below the root directory."""
    tree = fabric.tree()
    names = {f"usr/{path.relative_to(tree)}" for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()}
    return {name for name in names if not name.startswith("usr/libexec/urnic/apps/")} - LEFT_OUT


def debian_packages():
    """For each package, patterns of what it has."""
    return {path.stem: path.read_text().split() for path in (SOURCES / "debian").glob("*.install")}


def rpm_packages():
    packages, name = {}, None
    for line in (SOURCES / "packaging" / "rpm" / "urnic.spec").read_text().splitlines():
        section = re.match(r"%(\w+)(?: (\w+))?$", line)
        if section and section[1] in ("files", "changelog"):
            name = f"urnic-{section[2] or 'itself'}" if section[1] == "files" else None
        elif name and line and not line.startswith(("%license", "%dir")):
            pattern = re.sub(r"%\{(\w+)\}", lambda macro: MACROS[macro[1]], line)
            packages.setdefault(name, []).append(pattern)
    return packages


def has(pattern, file):
    """A pattern is of a file, or of a folder with all that is in it."""
    return any(fnmatch.fnmatchcase(name, pattern) for name in (file, *map(str, pathlib.PurePath(file).parents)))


class PackageLists(unittest.TestCase):
    def check(self, packages, made_otherwise=()):
        files = installed()
        for file in sorted(files):
            owners = [name for name, patterns in packages.items() if any(has(pattern, file) for pattern in patterns)]
            self.assertEqual(len(owners), 1, f"{file} is in {owners}")
        for name, patterns in packages.items():
            for pattern in set(patterns) - set(made_otherwise):
                self.assertTrue(any(has(pattern, file) for file in files), f"{name}: nothing is like {pattern}")

    def test_debian(self):
        self.check(debian_packages())

    def test_rpm(self):
        self.check(rpm_packages(), MADE_BY_RPM)


class InstallPackages(unittest.TestCase):
    """What tools/install-packages would install on a machine that lacks everything."""

    TASKS = ("build", "demo", "test", "distributions", "interop", "programs", "web", "package")

    def asked_for(self, *tasks):
        with tempfile.TemporaryDirectory() as folder:
            for name, script in {"dpkg-query": "exit 1", "apt-get": "exit 0", "sudo": "exit 0"}.items():
                stub = pathlib.Path(folder, name)
                stub.write_text(f"#!/bin/sh\n{script}\n")
                stub.chmod(0o755)
            ended = subprocess.run([SOURCES / "tools" / "install-packages", *tasks], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        line, = [line for line in ended.stdout.splitlines() if line.startswith("== Installing: ")]
        return set(line.split()[2:])

    def test_several_tasks_ask_for_what_each_asks_for(self):
        alone = [self.asked_for(task) for task in self.TASKS]
        self.assertEqual(self.asked_for(*self.TASKS), set().union(*alone))
        self.assertIn("debhelper", alone[-1])


if __name__ == "__main__":
    unittest.main()
