"""Another distribution's root file system, with a layer of the test's own above it, which is thrown away."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

import fabric

DISTRIBUTIONS = pathlib.Path(__file__).resolve().parents[1] / "distributions"
ROOT, USER = 0, fabric.ORDINARY_USER
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class RootFileSystem:
    """Use as a context manager. `home` is a folder of the ordinary user, at the same path inside and outside."""

    def __init__(self, release):
        made = subprocess.run([DISTRIBUTIONS / "make_chroot", release], check=True, stdout=subprocess.PIPE, text=True)
        self.lower = made.stdout.split()[-1]
        # An overlay's upper folder cannot be on an overlay, as a container's /tmp may be; /dev/shm is none.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="urnic-packages-", dir="/dev/shm"))
        self.root, self.home = self.folder / "root", self.folder / "home"

    def __enter__(self):
        for name in ("upper", "work", "root", "home"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        shutil.chown(self.home, USER, USER)
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                        f"lowerdir={self.lower},upperdir={self.folder}/upper,workdir={self.folder}/work", self.root], check=True)
        return self

    def __exit__(self, *_):
        self.end_programs()
        subprocess.run(["umount", self.root], check=True)
        shutil.rmtree(self.folder)

    def end_programs(self):
        """Those that a test has left, such as a device process: their environment names this file system."""
        for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if bytes(self.folder) in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)

    def start(self, *command, user=USER, environment=None):
        """Starts a command inside, in `home`."""
        variables = {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "URNIC_DIR": f"{self.home}/run", **(environment or {})}
        words = [DISTRIBUTIONS / "enter", self.root, self.home, user, "--", "env", "-i", "-C", self.home,
                 *(f"{name}={value}" for name, value in variables.items()), *command]
        return fabric.Program([str(word) for word in words], {"PATH": PATH}, "/")

    def run(self, *command, user=USER, environment=None, status=0, patience=fabric.PATIENCE):
        """Runs a command inside to its end and returns what it said."""
        program = self.start(*command, user=user, environment=environment)
        if program.wait(patience) != status:
            raise AssertionError(f"status {program.status} instead of {status}: {program}")
        return program.output()

    def pingpong(self, urnic, *options):
        """Two programs send each other messages, and check them."""
        port = fabric.free_port()
        words = (urnic, "run", *options, "--", "ibv_rc_pingpong", "-g", "1", "-c", "-p", port)
        server = self.start(*words, "-d", "urnic0")
        with contextlib.ExitStack() as stack:
            stack.callback(server.kill)
            fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listening server: {server}")
            self.run(*words, "-d", "urnic1", "127.0.0.1")
            if server.wait() != 0:
                raise AssertionError(server)

    def live_page(self, urnic):
        """The page of `urnic web`, as a browser gets it."""
        server = self.start(urnic, "web")
        with contextlib.ExitStack() as stack:
            stack.callback(server.kill)
            server.wait_for_output("#token=")
            address = re.search(r"http://[^#]+", server.output())[0]
            return urllib.request.urlopen(address, timeout=fabric.PATIENCE).read().decode()

    def files(self, pattern):
        """The files of the root file system whose name is like `pattern`, but those of the test."""
        found = subprocess.run(["find", self.root, "-xdev", "-name", pattern], check=True, capture_output=True, text=True)
        return {line.removeprefix(str(self.root)) for line in found.stdout.splitlines()}
