"""What a lesson's page shows, run as a learner would run it.

Blocks marked `console` have commands behind "$ " and lines that they print. All commands of a page are given to one
shell, in the learner's folder. Each must end with status 0, and each line that the page shows must come, in the order
of the page; lines that the page leaves out may come between them. A command in the background must print what the page
shows before the next one begins. Numbers, in hexadecimal too, stand for any numbers, and "..." at the end of a line for
the rest of it.
"""

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import tempfile

import fabric


@dataclasses.dataclass
class Command:
    line: int
    text: str
    shown: list[str]


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

    def run(self, command):
        """Returns (exit status, what was printed meanwhile)."""
        begin = os.fstat(self._output.fileno()).st_size
        self._markers += 1
        end = re.compile(rf"@{self._markers} (\d+)\n")
        self._process.stdin.write(f"{command.text}\necho @{self._markers} $?\n")
        self._process.stdin.flush()
        printed = lambda: os.pread(self._output.fileno(), 1 << 24, begin).decode(errors="replace")
        fabric.wait_until(lambda: end.search(printed()), f"the end of: {command.text}\n{printed()}")
        if command.text.endswith("&"):
            fabric.wait_until(lambda: missing(command.shown, printed()) is None, f"{command.shown} from: {command.text}")
        text, status, more = end.split(printed())
        return int(status), text + more
