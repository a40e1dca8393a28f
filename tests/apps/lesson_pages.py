"""What a lesson's page shows, run as a learner would run it.

Blocks marked `console` have commands behind "$ " and lines that they print. All commands of a page are given to one
shell, in the learner's folder. Each must end with status 0, and each line that the page shows must come, in the order
of the page; lines that the page leaves out may come between them. Numbers, in hexadecimal too, stand for any numbers,
and "..." at the end of a line for the rest of it.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import fabric

# Seconds for which all processes of a background command sleep before it counts as waiting for a client, and the most
# that is waited for that.
QUIET, QUIET_AT_MOST = 0.3, 5.0


@dataclasses.dataclass
class Command:
    line: int
    text: str
    shown: list[str]

    def starts_server_for(self, following):
        """Whether this one goes on in the background and the next one is its client."""
        return self.text.endswith("&") and following is not None and "urnic run" in following.text


def commands(page):
    """The commands of a page, in order."""
    found, in_block = [], False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            in_block = line == "```console"
        elif in_block and line.startswith("$ "):
            found.append(Command(number, line[2:], []))
        elif in_block and found[-1].text.endswith("\\"):
            found[-1].text += "\n" + line
        elif in_block:
            found[-1].shown.append(line)
    return found


def _shape(line):
    """The line with all numbers alike, and all units of time, and all lengths of arrows and bars."""
    line = re.sub(r"([─═#])\1+", r"\1", line)
    line = re.sub(r"\d+\.\d+", "#", " ".join(line.split()))
    line = re.sub(r"\b(0x)?[0-9a-f]+\b", "#", line)
    line = re.sub(r"\d+", "#", line)
    return re.sub(r"^# [mun]?s ", "# s ", line)


def missing(shown, output):
    """The first line of `shown` that `output` does not have behind the earlier ones; None if it has all."""
    lines = iter([_shape(line) for line in output.splitlines()])
    for line in shown:
        wanted = _shape(line.removesuffix("..."))
        if line.strip() == "...":
            continue
        if not any(seen == wanted or (line.endswith("...") and seen.startswith(wanted)) for seen in lines):
            return line
    return None


def _session(leader):
    """The states of the processes of a session, without its leader."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pid, rest = int(entry.name), (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(rest[3]) == leader and pid != leader:
                yield rest[0]


class Shell:
    """A shell in a folder, with urnic in its PATH, as the fabric's user. It ends with the context."""

    def __init__(self, devices, folder):
        self._output = tempfile.TemporaryFile()
        self._markers = 0
        words = ["bash", "--norc"]
        if devices.user is not None:
            words = ["setpriv", "--reuid", str(devices.user), "--regid", str(devices.user), "--clear-groups", "--", *words]
        self._process = subprocess.Popen(words, cwd=folder, env=devices.environment, stdin=subprocess.PIPE, text=True,
                                         stdout=self._output, stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()

    def run(self, text, starts_server=False):
        """Returns (exit status, what was printed meanwhile). Waits until a server, in the background, waits for a client."""
        begin = os.fstat(self._output.fileno()).st_size
        self._markers += 1
        end = re.compile(rf"@{self._markers} (\d+)\n$".encode())
        self._process.stdin.write(f"{text}\necho @{self._markers} $?\n")
        self._process.stdin.flush()
        printed = lambda: os.pread(self._output.fileno(), 1 << 24, begin)
        fabric.wait_until(lambda: end.search(printed()), f"the end of: {text}\n{printed().decode(errors='replace')}")
        found = end.search(printed())
        if starts_server:
            self._wait_until_quiet()
        return int(found[1]), printed()[:found.start()].decode(errors="replace")

    def _wait_until_quiet(self):
        start = quiet_since = time.monotonic()
        while time.monotonic() < min(quiet_since + QUIET, start + QUIET_AT_MOST):
            states = list(_session(self._process.pid))
            if not states or set(states) != {"S"}:
                quiet_since = time.monotonic()
            time.sleep(0.02)
