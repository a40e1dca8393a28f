"""What a check has to work with: the learner's files, a folder for its own, and devices of its own.

Programs run on a device process that no other program uses, with captures and fault plans of the check.
"""

import contextlib
import json
import os
import pathlib
import shutil
import time

from . import packets, verbs
from .not_yet import NotYet, require
from .running_program import PATIENCE, SERVER_PATIENCE, RunningProgram, last_lines, run

# Statuses of `urnic run` when there was no program whose status it could have.
NOT_STARTED = (125, 126, 127)
# An exercise as a whole may take so many seconds.
EXERCISE_PATIENCE = 5 * PATIENCE
MOST_OF_A_FILE = 64 << 20
# A compiler may have so much memory, in KiB, or less if its limit is lower: an endless file is a learner's, too.
COMPILER_KIBIBYTES = 2 << 20
WARNINGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra")


class Work:
    def __init__(self, folder, scratch, urnic):
        self.folder, self.scratch = folder, scratch
        self._urnic = str(urnic.resolve())
        self._run_directory = scratch / "run"
        self._end = time.monotonic() + EXERCISE_PATIENCE

    def file(self, name):
        """The learner's file of that name."""
        path = self.folder / name
        require(path.is_file(), f"there is no file {name} in {self.folder}",
                "'urnic lesson N' puts it there again; --solution shows one")
        require(path.stat().st_size <= MOST_OF_A_FILE, f"{name} has more than {MOST_OF_A_FILE >> 20} MiB",
                "'urnic lesson N' puts it there again when it is gone")
        return path

    def build(self, *sources, libraries=("-libverbs",), watched=False):
        """Compiles a program of the learner's files, or of files by their whole path; returns the program's path.
        `watched`: what the program asks of verbs is written down, for `Work.run(..., program).verbs`."""
        program = self.scratch / pathlib.Path(sources[0]).stem
        files = [source if isinstance(source, pathlib.Path) else self.file(source) for source in sources]
        if watched:
            libraries = (*verbs.LINK_OPTIONS, *libraries)
            files.append(verbs.SOURCE)
        words = ["sh", "-c", f'ulimit -v {COMPILER_KIBIBYTES} 2>/dev/null; exec "$@"', "sh", "cc", *WARNINGS, "-I", self.folder, "-o", program,
                 *files, *libraries]
        compiled = self._call("the compiler", words, PATIENCE, None)
        require(compiled.status == 0, f"{files[0].name} does not compile:\n{first_error(compiled.output)}",
                "correct it, and compile it yourself as the lesson shows")
        return program

    def call(self, *command):
        """Runs a command without devices; returns a Result."""
        return self._call(pathlib.Path(str(command[-1])).name, command, PATIENCE, None)

    def call_with_urnic(self, *command):
        """Runs a command that calls urnic itself; returns a Result."""
        path = f"{pathlib.Path(self._urnic).parent}:{os.environ['PATH']}"
        return self._call(pathlib.Path(str(command[0])).name, command, PATIENCE, {"PATH": path})

    def run(self, *command, capture=None, points=None, faults=None, config=None, status=None, timeout=PATIENCE,
            environment=None):
        """Runs a command with devices; returns a Result. `status`: NotYet for another exit status."""
        words = [self._urnic, "run"]
        for option, value in (("--capture", capture), ("--points", points), ("--faults", faults), ("--config", config)):
            words += [option, str(value)] if value else []
        name = pathlib.Path(str(command[0])).name
        result = self._call(name, [*words, "--", *map(str, command)], timeout, environment)
        require(result.status not in NOT_STARTED, last_lines(result.output), "do what the message says")
        if status is not None:
            require(result.status == status,
                    f"{name} ended with status {result.status}: {last_lines(result.output)}",
                    "run it yourself and look at the first message")
        return result

    @contextlib.contextmanager
    def server(self, *command, ready, capture=None, faults=None):
        """Runs a command with devices in the background, from when it has printed `ready` on. Killed at the end, if it has not
        ended in a while."""
        words = [self._urnic, "run"]
        for option, value in (("--capture", capture), ("--faults", faults)):
            words += [option, str(value)] if value else []
        name = pathlib.Path(str(command[0])).name
        with RunningProgram(f"the server, {name},", [*words, "--", *command], self.scratch, self._environment(None)) as server:
            first = server.wait_for_first_line(self._patience(SERVER_PATIENCE))
            require(first == ready, f"the server does not get ready: it says '{first}'", "run it yourself")
            yield
            with contextlib.suppress(NotYet):
                server.wait(self._patience(SERVER_PATIENCE))

    def captured(self, *command, **options):
        """Runs a command with a capture at all points; returns (Result, list of packets.Packet)."""
        file = self.scratch / "capture.pcapng"
        result = self.run(*command, capture=file, **options)
        return result, packets.read(file)

    def watched(self, program, *arguments, **options):
        """Runs a program that was built with `watched`; returns (Result, verbs.Log)."""
        file = self.scratch / "verbs.log"
        file.unlink(missing_ok=True)
        result = self.run(program, *arguments, environment={"VERBS_LOG": str(file)}, **options)
        return result, verbs.Log(file)

    def urnic(self, *words):
        """Runs another command of urnic's; returns its output."""
        result = self._call(f"urnic {words[0]}", [self._urnic, *map(str, words)], PATIENCE, None)
        require(result.status == 0, f"urnic {words[0]} failed: {last_lines(result.output)}",
                "correct what the message names")
        return result.output

    @contextlib.contextmanager
    def device_process(self, config=None):
        """A device process that stays meanwhile, so that its counters and links can be looked at."""
        self.urnic("up", *(("--config", config) if config else ()))
        try:
            yield
        finally:
            self.urnic("down")

    def counters(self, device):
        return json.loads(self.urnic("counters", "--all", "--json"))[device]

    def write(self, name, text):
        """A file of the check's own."""
        path = self.scratch / name
        path.write_text(text)
        return path

    def copy(self, name):
        """A copy of a learner's file, in a folder in which a program may write."""
        return shutil.copy(self.file(name), self.scratch / name)

    def _environment(self, more):
        return {**os.environ, "URNIC_DIR": str(self._run_directory), **(more or {})}

    def _call(self, name, words, timeout, environment):
        return run(name, words, self.scratch, self._patience(timeout), environment=self._environment(environment))

    def _patience(self, most):
        """The seconds that a program may take: at most `most`, and not more than is left for the exercise."""
        return max(0.0, min(most, PATIENCE, self._end - time.monotonic()))


def first_error(messages):
    lines = [line for line in messages.splitlines() if "error" in line or "undefined reference" in line]
    return "\n".join((lines or messages.splitlines())[:3])
