"""A program that a check runs, within bounds: time, output, processes, and the space that it fills.

A learner's program may do anything: never end, print without end, leave children that keep its output open. So nothing here
waits for the end of its output, and all that it has started goes with it (descendants.py).
"""

import dataclasses
import os
import pathlib
import resource
import select
import shutil
import subprocess
import threading
import time

from . import descendants
from .not_yet import NotYet, require

# Seconds after which a program that has not ended counts as hanging: more on a slow machine, less in tests.
PATIENCE = float(os.environ.get("URNIC_LESSON_PATIENCE", "60"))
# A server must be ready after so long, and end so long after its last client.
SERVER_PATIENCE = PATIENCE / 6
MOST_OUTPUT = 8 << 20
MOST_SPACE = int(os.environ.get("URNIC_LESSON_SPACE_MIB", "1024")) << 20
MOST_PROCESSES = 128
# How often is looked whether a bound is passed, in seconds.
_PERIOD = 0.1
_LONGEST_LINE = 200


@dataclasses.dataclass(frozen=True)
class Result:
    """What a program did."""
    status: int
    output: str

    def require_success(self, hint):
        require(self.status == 0, f"the program ended with status {self.status}: {last_lines(self.output)}", hint)


def last_lines(text, count=4):
    lines = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …" for line in text.strip().splitlines()[-count:]]
    return "\n".join(lines) or "it printed nothing"


class RunningProgram:
    """A context manager: at its end nothing of the program runs any more.

    `folder` is where it runs; it may fill MOST_SPACE of it. Its errors are part of its output, unless `errors` is false.
    """

    def __init__(self, name, words, folder, environment=None, most_output=MOST_OUTPUT, errors=True):
        self.name = name
        self._folder = pathlib.Path(folder)
        self._most_output = most_output
        self._process = subprocess.Popen(
            [*_few_processes(), *map(str, words)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL, start_new_session=True)
        self._began = time.monotonic()
        self._bytes = bytearray()
        self._over = threading.Event()
        self._too_much = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._reader.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        descendants.end_session(self._process.pid)
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    @property
    def output(self):
        return bytes(self._bytes).decode(errors="replace")

    def wait(self, patience):
        """Its Result, when it has ended. NotYet if it passes a bound."""
        self._wait_until(self._has_ended, patience, f"{self.name} had not ended", "it waits for something that does not come")
        self._over.set()
        self._reader.join()
        self._require_bounds()
        return Result(self._process.returncode, self.output)

    def wait_for_first_line(self, patience):
        """The first line that it prints; NotYet if there is none in time."""
        self._wait_until(lambda: b"\n" in self._bytes or self._has_ended(), patience, f"{self.name} had printed no line",
                         "is its output written at once? fflush(stdout), or a line that ends with \\n")
        if self._has_ended():
            self._reader.join(_PERIOD)
        return self.output.partition("\n")[0].strip()

    def _has_ended(self):
        return self._process.poll() is not None

    def _wait_until(self, condition, patience, what, hint):
        end = time.monotonic() + patience
        next_look = self._began
        while not condition():
            now = time.monotonic()
            if now >= next_look:
                next_look = now + 5 * _PERIOD
                self._require_bounds()
            if now >= end:
                raise NotYet(f"{what} after {now - self._began:.0f} seconds: {last_lines(self.output)}", hint)
            self._pause(min(_PERIOD, end - now))

    def _pause(self, seconds):
        """Until the program ends, or for so long."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass

    def _require_bounds(self):
        if self._too_much.is_set():
            raise NotYet(f"{self.name} printed more than {self._most_output >> 20} MiB: {last_lines(self.output)}",
                         "it prints in a loop that does not end")
        if _space(self._folder) > MOST_SPACE:
            raise NotYet(f"{self.name} filled more than {MOST_SPACE >> 20} MiB of the check's folder",
                         "it writes, or sends while packets are captured, in a loop that does not end")
        if descendants.count() > MOST_PROCESSES:
            raise NotYet(f"{self.name} made more than {MOST_PROCESSES} processes: {last_lines(self.output)}",
                         "it calls fork in a loop that does not end, or its children do not end")

    def _read(self):
        """In a thread of its own, so that the program never waits for a reader. A child may keep the pipe open for ever."""
        pipe = self._process.stdout.fileno()
        while True:
            is_over = self._over.is_set()
            if not select.select([pipe], [], [], 0 if is_over else _PERIOD)[0]:
                if is_over:
                    return
                continue
            piece = os.read(pipe, 1 << 16)
            if not piece:
                return
            self._bytes += piece[:self._most_output - len(self._bytes)]
            if len(self._bytes) >= self._most_output:
                self._too_much.set()
                return


def _few_processes():
    """The command that lets another one have twice MOST_PROCESSES, beside those that its user has already, if the user's limit
    is not lower anyway: until somebody counts them. Root has no limit."""
    program, most = shutil.which("prlimit"), descendants.tasks_of_user() + 2 * MOST_PROCESSES
    present = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    is_lower = present not in (resource.RLIM_INFINITY, -1) and present <= most
    return [program, f"--nproc={most}", "--"] if program and not is_lower else []


def _space(folder):
    """The bytes that the files of a folder take on the disk."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                pass  # it has gone
    return total


def run(name, words, folder, patience, **options):
    """Runs a program to its end. Options as RunningProgram has."""
    with RunningProgram(name, words, folder, **options) as program:
        return program.wait(patience)
