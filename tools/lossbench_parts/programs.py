"""Starts programs so that none is left running, however a measurement ends."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time


class Failed(Exception):
    """A measurement that did not yield a number; the text says why."""


def start(command, environment, output=subprocess.PIPE):
    """Starts `command` in a process group of its own; stop() ends the whole group."""
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True)


def stop(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=2)
            return


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip(" -")]
    return lines[-1] if lines else "no output"


def program_of(command):
    words = command[command.index("--") + 1:] if "--" in command else command
    return pathlib.Path(words[0]).name


def output_of(command, environment, timeout):
    process = start(command, environment)
    try:
        text, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{program_of(command)} did not end within {timeout} s") from None
    finally:
        stop(process)
    if process.returncode != 0:
        raise Failed(f"{program_of(command)}: exit status {process.returncode}: {last_line(text)}")
    return text


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port, tables=pathlib.Path("/proc/net")):
    """Reads the kernel's tables: a connection would use up the only one that the server accepts."""
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(tables / table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[1].endswith(f":{port:04X}") and fields[3] == "0A":
                    return True
    return False


@contextlib.contextmanager
def server(command, port, environment, timeout, tables=pathlib.Path("/proc/net")):
    """Runs a server; yields once it listens, as the kernel's `tables` of its host say. Its output goes to a file, because a
    pipe that nobody reads would stop it."""
    output = tempfile.TemporaryFile("w+")
    process = start(command, environment, output)
    try:
        deadline = time.monotonic() + timeout
        while not is_listening(port, tables):
            if process.poll() is not None:
                output.seek(0)
                raise Failed(f"{program_of(command)} (server): {last_line(output.read())}")
            if time.monotonic() > deadline:
                raise Failed(f"{program_of(command)} (server) does not listen after {timeout} s")
            time.sleep(0.01)
        yield
    finally:
        stop(process)
        output.close()
