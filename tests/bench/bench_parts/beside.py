"""Measurements without urnic, and our own verbs programs on urnic."""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time

from lossbench_parts.programs import Failed, free_port, last_line, output_of, server, start, stop


def qperf(test, message_bytes, seconds, timeout):
    """TCP over loopback: bytes per second for tcp_bw, seconds (one way) for tcp_lat."""
    port = free_port()
    with server(["qperf", "-lp", str(port)], port, os.environ, 20):
        text = output_of(qperf_client("127.0.0.1", port, test, message_bytes, seconds), os.environ, timeout)
    return qperf_figure(test, text)


def qperf_client(address, port, test, message_bytes, seconds):
    return ["qperf", address, "-lp", str(port), "-ip", str(free_port()), "-uu", "-e", "6", "-t", str(seconds), "-m",
            str(message_bytes), test]


def qperf_figure(test, text):
    key = "bw" if test == "tcp_bw" else "latency"
    found = re.search(rf"{key}\s*=\s*([\d.]+)", text)
    if not found:
        raise Failed(f"no {key} in qperf's output: {last_line(text)}")
    return float(found.group(1)) / (1 if test == "tcp_bw" else 1e9)  # -uu: nanoseconds


def json_of(command, environment, timeout):
    text = output_of([str(word) for word in command], environment, timeout)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise Failed(f"no JSON in the output: {last_line(text)}") from None


def on_urnic(device, program, options, timeout):
    """The JSON that one of our own programs prints."""
    return json_of([device.urnic, "run", "--", program, *options], device.environment, timeout)


def cmtime(device, connections, timeout):
    """librdmacm's cmtime, between two programs, makes `connections` one step after the other: microseconds a connection,
    by step."""
    output = tempfile.TemporaryFile("w+")
    words = [device.urnic, "run", "--", "cmtime", "-c", str(connections)]
    process = start(words, device.environment, output)
    try:
        deadline = time.monotonic() + timeout
        while not device.rdma_cm_listeners():
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("cmtime's server does not listen")
            time.sleep(0.01)
        text = output_of([*words, "-s", "127.0.0.1"], device.environment, timeout)
    finally:
        stop(process)
        output.close()
    steps = {step.strip(): float(each) for step, each in re.findall(r"^([a-z ]+):.*\s([\d.]+)$", text, re.MULTILINE)}
    if len(steps) != 7:
        raise Failed(f"cmtime printed no seven steps: {last_line(text)}")
    return steps


class IdleQps:
    """Use as a context manager: a program holds `connections` idle connections, of two QPs each."""

    def __init__(self, device, program, connections, timeout):
        self._words = [device.urnic, "run", "--", program, "--connections", str(connections)]
        self._environment, self._timeout = device.environment, timeout

    def __enter__(self):
        self._process = subprocess.Popen(self._words, env=self._environment, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                         start_new_session=True)
        try:
            ready, _, _ = select.select([self._process.stdout], [], [], self._timeout)
            line = self._process.stdout.readline().strip() if ready else "nothing"
            if line != "ready":
                raise Failed(f"idle_qps said: {line}")
        except BaseException:
            stop(self._process)
            raise
        return self

    def __exit__(self, *_):
        # The program ends at the end of its input.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=self._timeout)
        stop(self._process)


class Capture:
    """Use as a context manager: captures every packet in a file in memory, which is removed at the end. There must be
    memory for it. Afterwards `frames` and `lost` are the command's counts, and `found` is the result of `look_at` for
    the file's path. With `links`, the capture shows each packet before and after its link."""

    def __init__(self, device, bytes_expected, options=(), folder="/dev/shm", links=False, look_at=None):
        self._device, self._folder = device, folder
        self._bytes_expected, self._options = bytes_expected, options
        self._name, self._look_at = "bench.pcapng" if links else "bench.pcap", look_at

    def __enter__(self):
        space = os.statvfs(self._folder)
        if space.f_bavail * space.f_frsize < 2 * self._bytes_expected or free_memory() < 2 * self._bytes_expected:
            raise Failed(f"no room in {self._folder} for a capture of {self._bytes_expected >> 20} MiB")
        self._files = tempfile.TemporaryDirectory(prefix="urnic-bench-", dir=self._folder)
        path = os.path.join(self._files.name, self._name)
        self._process = start([self._device.urnic, "capture", "--json", *self._options, path], self._device.environment)
        try:
            self._wait_for(path)
        except BaseException:
            self._end()
            raise
        return self

    def _wait_for(self, path):
        deadline = time.monotonic() + 10
        while not (os.path.exists(path) and os.path.getsize(path)):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the capture does not begin")
            time.sleep(0.01)

    def __exit__(self, kind, *_):
        try:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)
            text, _ = self._process.communicate(timeout=30)
            if kind is None:
                counted = json.loads(text)
                self.frames, self.lost = counted["frames"], counted["dropped"]
                if self._look_at:
                    self.found = self._look_at(os.path.join(self._files.name, self._name))
        except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
            raise Failed("the capture does not end as it should") from None
        finally:
            self._end()

    def _end(self):
        stop(self._process)
        self._files.cleanup()


def free_memory():
    with open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise Failed("/proc/meminfo has no MemAvailable")
