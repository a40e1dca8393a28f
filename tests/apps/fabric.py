"""A device process of a test's own, and programs on it.

A Fabric has a private run directory. Programs run from an installed tree (URNIC_TREE, which ctest prepares) as an
ordinary user: as user 65534 if the test itself runs as root. Programs are ended by their own process group or pid,
never by name.
"""

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ORDINARY_USER = 65534
# What the devices of a device process without a configuration of its own are shown as (docs/mlx5-face.md). Scripts that
# name devices by DEVICES run with either.
FACE = os.environ.get("URNIC_FACE", "urnic")
DEVICES = {"urnic": ("urnic0", "urnic1"), "mlx5": ("mlx5_0", "mlx5_1")}[FACE]
MTUS = (256, 512, 1024, 2048, 4096)
# Seconds until what has not happened counts as hanging: more than anything takes on the busiest machine. A test that
# passes never waits so long.
PATIENCE = 300.0


def tree():
    """The real path of the installed tree under test: perhaps only root can follow the link that ctest names."""
    link = os.environ.get("URNIC_TREE")
    if not link:
        raise SystemExit("URNIC_TREE is not set: run these tests by ctest -L apps, or set it to an installed prefix")
    return pathlib.Path(os.path.realpath(link))


def wait_until(condition, what, timeout=PATIENCE):
    """Calls `condition` until it is true; AssertionError with `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout} seconds")
        time.sleep(0.01)


def losses(every=50, directions=("tx",)):
    """A fault plan for 100 messages of ibv_rc_pingpong or more: packets are lost, and acknowledgements, but not the last one.
    When it has that, one end leaves and the other one would ask for it in vain."""
    return "".join(f"""
[[fault]]
direction = "{direction}"
opcode = ["RC Send First", "RC Send Middle", "RC Send Last"]
every = {every}
action = "drop"
[[fault]]
direction = "{direction}"
opcode = "Acknowledge"
every = 3
count = 20
action = "drop"
""" for direction in directions)


def is_listening(port, process="self"):
    """Whether a program in the network of this process listens on the TCP port. Does not connect, because servers take one
    connection only."""
    wanted = f":{port:04X}"
    for table in (f"/proc/{process}/net/tcp", f"/proc/{process}/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
    return False


def _own_ports():
    """A range of TCP ports that no other test uses while this one runs, below those that the kernel takes for outgoing
    connections. The name of a Unix socket, which the kernel frees with the process, holds the range."""
    for first in range(20000, 32000, 500):
        _own_ports.held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.suppress(OSError):
            _own_ports.held.bind(f"\0urnic-tests-ports-{first}")
            return range(first, first + 500)
    raise SystemExit("all ranges of ports are in use by other tests")


_ports = itertools.cycle(_own_ports())


def free_port():
    """A TCP port on which no program listens; a different one each time."""
    for port in _ports:
        with socket.socket() as probe:
            with contextlib.suppress(OSError):
                probe.bind(("", port))
                return port


class Program:
    """A started program. Its output goes to a file, so that the program never waits for a reader."""

    def __init__(self, command, environment, directory):
        self.command = command
        self._output = tempfile.TemporaryFile()
        self._text = None  # the whole output, once the program has ended
        self.process = subprocess.Popen(command, env=environment, cwd=directory, stdin=subprocess.DEVNULL,
                                        stdout=self._output, stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def pid(self):
        return self.process.pid

    @property
    def status(self):
        """The exit status; None while the program runs."""
        return self.process.poll()

    def output(self):
        if self._text is None:
            text = os.pread(self._output.fileno(), 1 << 24, 0).decode(errors="replace")
            if self.status is None:
                return text
            self._text = text
            self._output.close()
        return self._text

    def wait(self, timeout=PATIENCE):
        """Waits for the exit status. If the program does not end in time, kills it and raises AssertionError."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self} did not end within {timeout} seconds") from None
        self.output()
        return self.status

    def wait_for_output(self, text, timeout=PATIENCE):
        wait_until(lambda: text in self.output() or self.status is not None, f"'{text}' from {self}", timeout)
        if text not in self.output():
            raise AssertionError(f"{self} ended without saying '{text}'")

    def kill(self):
        """Kills the program's process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self.output()

    def __str__(self):
        return f"{' '.join(map(str, self.command))} [status {self.status}]\n{self.output()[-6000:]}"


def end_pair(first, second, timeout, log):
    """Waits until a server and its client have ended with status 0; returns (server's output, client's output).
    Kills both otherwise; the AssertionError ends with what `log` returns."""
    try:
        statuses = (second.wait(timeout), first.wait(timeout))
    except AssertionError as hung:
        raise AssertionError(f"{hung}\nthe server: {first}\nthe client: {second}\n{log()}") from None
    finally:
        first.kill()
        second.kill()
    if statuses != (0, 0):
        raise AssertionError(f"the server: {first}\nthe client: {second}\n{log()}")
    return first.output(), second.output()


class Fabric:
    """Use as a context manager; `stop` ends all programs and the device process."""

    def __init__(self, user=ORDINARY_USER, prefix=None):
        self.prefix = pathlib.Path(prefix) if prefix else tree()
        self.user = user if os.geteuid() == 0 else None
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="urnic-apps-"))
        self.run_directory = self.directory / "run"
        self.home = self.directory / "home"
        self.temporary = self.directory / "tmp"
        self.home.mkdir()
        self.temporary.mkdir()
        self._programs = []
        self._has_configuration = False  # of the device process, which other commands may not contradict
        if self.user is not None:
            for folder in (self.directory, self.home, self.temporary):
                shutil.chown(folder, self.user, self.user)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def urnic(self):
        return str(self.prefix / "bin" / "urnic")

    def verbs_program(self, name):
        return str(self.prefix / "libexec" / "urnic" / "apps" / name)

    @property
    def environment(self):
        return {"PATH": f"{self.prefix}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.home),
                "LANG": "C.UTF-8", "URNIC_DIR": str(self.run_directory),
                # What a killed program leaves there goes with the fabric.
                "TMPDIR": str(self.temporary),
                # A signal must end a program as it is; Boost.Test must not catch it.
                "BOOST_TEST_CATCH_SYSTEM_ERRORS": "no", "BOOST_TEST_COLOR_OUTPUT": "no"}

    def start(self, *command, environment=None):
        """Starts a command as the ordinary user, in that user's home directory."""
        words = list(map(str, command))
        if self.user is not None:
            words = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups", "--", *words]
        program = Program(words, {**self.environment, **(environment or {})}, self.home)
        ended = [other for other in self._programs if other.status is not None]
        for other in ended:
            other.output()
        self._programs = [other for other in self._programs if other not in ended] + [program]
        return program

    def run(self, *command, timeout=PATIENCE, status=0, environment=None):
        """Runs a command to its end and returns its output. AssertionError if its exit status is not `status`."""
        program = self.start(*command, environment=environment)
        ended = program.wait(timeout)
        if ended != status:
            raise AssertionError(f"status {ended} instead of {status}: {program}\n{self.log()}")
        return program.output()

    def copy_home(self, *path):
        """Copies a file of tests/apps, which programs may not be allowed to read, to their home; returns the copy."""
        copy = self.home / path[-1]
        shutil.copyfile(pathlib.Path(__file__).parent.joinpath(*path), copy)
        return copy

    def on_urnic(self, *command):
        """The command line that runs `command` with urnic's devices."""
        face = ("--face", FACE) if FACE != "urnic" and not self._has_configuration else ()
        return (self.urnic, "run", *face, "--", *map(str, command))

    def start_on_urnic(self, *command):
        return self.start(*self.on_urnic(*command))

    def run_on_urnic(self, *command, timeout=PATIENCE, status=0):
        return self.run(*self.on_urnic(*command), timeout=timeout, status=status)

    def start_pair(self, server, client):
        """Starts a server and, once the server listens, its client. Both take the TCP port with -p, and the client the
        server's address as its last argument."""
        port = free_port()
        first = self.start_on_urnic(*server, "-p", port)
        wait_until(lambda: is_listening(port) or first.status is not None, f"a listening server: {first}")
        return first, self.start_on_urnic(*client, "-p", port, "127.0.0.1")

    def run_pair(self, server, client, timeout=PATIENCE):
        """Runs both until they end with status 0; returns (server's output, client's output)."""
        return end_pair(*self.start_pair(server, client), timeout, self.log)

    def up(self, configuration=None):
        """Starts a device process that runs until `down`, also while no program uses it. `configuration` is the text
        of a configuration file. Devices have the face FACE."""
        if configuration is None:
            self.run(self.urnic, "up", "--face", FACE)
            return
        self._has_configuration = True
        if FACE != "urnic":
            setting = f'[device]\nface = "{FACE}"\n'
            configuration = (configuration.replace("[device]\n", setting) if "[device]\n" in configuration
                             else f"{configuration}\n{setting}")
        file = self.directory / "configuration.toml"
        file.write_text(configuration)
        self.run(self.urnic, "up", "--config", file)

    def load_faults(self, plan):
        """Loads the text of a fault plan; `urnic fault clear` ends it."""
        file = self.home / "plan.toml"
        file.write_text(plan)
        self.run(self.urnic, "fault", "load", file)

    def lost_by_faults(self):
        """How many packets fault plans have dropped on the first device's link."""
        return json.loads(self.run(self.urnic, "counters", "--json"))[DEVICES[0]]["link_tx_fault_dropped"]

    def down(self):
        self.run(self.urnic, "down")

    def status(self):
        return json.loads(self.run(self.urnic, "status", "--json"))

    def device_process(self):
        """The pid of the device process; None if none runs."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid = int((self.run_directory / "urnicd.pid").read_text())
            # A zombie has ended, although its exit status was not taken yet.
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX":
                return pid
        return None

    def log(self):
        """The last lines of the device process's log, for the report of a failure."""
        try:
            return "the device process's log ends:\n" + (self.run_directory / "urnicd.log").read_text(errors="replace")[-3000:]
        except OSError:
            return "the device process has left no log"

    def stop(self):
        try:
            for program in self._programs:
                if program.status is None:
                    program.kill()
            self._end_device_process()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _end_device_process(self):
        pid = self.device_process()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            try:
                wait_until(lambda: self.device_process() is None, "the end of the device process")
            except AssertionError:
                os.kill(pid, signal.SIGKILL)
                raise
