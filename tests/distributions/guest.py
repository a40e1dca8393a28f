"""Programs of another distribution on a device process of this machine."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apps"))
import fabric  # noqa: E402


SKIPPED = 77  # the status of a test that this machine cannot run, as CMake is told


def root_of(release, purpose="programs"):
    """A release's root file system, made if there is none. Where that cannot be, make_chroot has said why, and the test ends."""
    made = subprocess.run([HERE / "make_chroot", release, purpose], stdout=subprocess.PIPE, text=True)
    if made.returncode == SKIPPED:
        sys.exit(SKIPPED)
    made.check_returncode()
    return pathlib.Path(made.stdout.split()[-1])


class Guest(fabric.Fabric):
    """A device process of this machine, and programs of another distribution on it."""

    def __init__(self, root):
        super().__init__()
        self.root = root

    def start_inside(self, *command, environment=None):
        plugins = next(self.prefix.glob("lib*/**/liburnic-kernel.so")).parent
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.home), "LANG": "C.UTF-8",
                     "LD_PRELOAD": str(plugins / "liburnic-kernel.so"), "RDMAV_DRIVERS": str(plugins / "liburnic"),
                     "URNIC_DIR": str(self.run_directory), **(environment or {})}
        words = [HERE / "enter", self.root, f"{self.prefix}:{self.directory}", fabric.ORDINARY_USER, "--",
                 "env", "-i", "-C", self.home, *(f"{name}={value}" for name, value in variables.items()), *command]
        program = fabric.Program(list(map(str, words)), {"PATH": variables["PATH"]}, "/")
        self._programs.append(program)
        return program

    def run_inside(self, *command, environment=None, timeout=fabric.PATIENCE):
        """Runs a command to its end, which must be good; returns its output."""
        program = self.start_inside(*command, environment=environment)
        if program.wait(timeout) != 0:
            raise AssertionError(f"{program}\n{self.log()}")
        return program.output()

    def said_inside(self, *command):
        """The output of a program that may end with any status."""
        program = self.start_inside(*command)
        program.wait()
        return program.output()

    def pair_inside(self, *command, timeout=fabric.PATIENCE):
        """Runs a server and its client; returns what they say."""
        port = fabric.free_port()
        first = self.start_inside(*command, "-p", port)
        fabric.wait_until(lambda: fabric.is_listening(port) or first.status is not None, f"a listening server: {first}")
        second = self.start_inside(*command, "-p", port, "127.0.0.1")
        return fabric.end_pair(first, second, timeout, self.log)
