"""The lessons' folders, and the learner's."""

import dataclasses
import difflib
import importlib.util
import pathlib
import re
import shutil

# Where Debian has programs, also those that an ordinary user's PATH does not name.
SYSTEM_PATH = "/usr/sbin:/usr/bin"
# How to see that a Debian package's part that a lesson needs is there, whoever installed it.
PRESENT = {
    "gcc": lambda: shutil.which("cc"),
    "infiniband-diags": lambda: shutil.which("smpquery", path=SYSTEM_PATH),
    "libibverbs-dev": lambda: pathlib.Path("/usr/include/infiniband/verbs.h").exists(),
    "librdmacm-dev": lambda: pathlib.Path("/usr/include/rdma/rdma_cma.h").exists(),
    "opensm": lambda: shutil.which("opensm", path=SYSTEM_PATH),
    "perftest": lambda: shutil.which("ib_write_bw", path=SYSTEM_PATH),
    "python3-pyverbs": lambda: importlib.util.find_spec("pyverbs"),
    "tshark": lambda: shutil.which("tshark"),
}


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A folder NN-name of docs/lessons."""
    folder: pathlib.Path

    @property
    def number(self):
        return int(self.folder.name[:2])

    @property
    def page(self):
        return self.folder / "README.md"

    @property
    def start(self):
        return self.folder / "start"

    @property
    def solution(self):
        return self.folder / "solution"

    @property
    def checks(self):
        return self.folder / "check.py"

    @property
    def title(self):
        return self._line(r"# Lesson \d+: (.*)")

    @property
    def question(self):
        return self._line(r"\*\*Question\.\*\* (.*)")

    def lacking_packages(self):
        """Those that the page says are needed, and this machine has not."""
        needed = re.findall(r"`([\w-]+)`", self._line(r"\*\*You need\*\* (.*)"))
        return [package for package in needed if not PRESENT[package]()]

    def changes(self):
        """What the solution changes in the files that the lesson begins with, as a diff in a code block."""
        lines = []
        for file in sorted(self.solution.iterdir()):
            before = self.start / file.name
            if before.exists():
                lines += difflib.unified_diff(before.read_text().splitlines(), file.read_text().splitlines(),
                                              f"start/{file.name}", f"solution/{file.name}", lineterm="")
        return "\n".join(["```diff", *lines, "```"]) if lines else ""

    def _line(self, pattern):
        return re.search(f"(?m)^{pattern}$", self.page.read_text(encoding="utf-8"))[1]


def all_lessons(folder):
    return [Lesson(path) for path in sorted(folder.glob("[0-9][0-9]-*"))]


def put(source, folder):
    """Copies the files of `source` to `folder`, but none that is there already. Returns the names of the copies."""
    folder.mkdir(parents=True, exist_ok=True)
    new = [file for file in sorted(source.iterdir()) if file.is_file() and not (folder / file.name).exists()]
    for file in new:
        shutil.copyfile(file, folder / file.name)
        shutil.copymode(file, folder / file.name)
    return [file.name for file in new]
