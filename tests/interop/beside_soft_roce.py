#!/usr/bin/python3
"""Measures urnic beside Linux's Soft-RoCE: both in one guest, the same programs by turns. Not a test.

    PYTHONPATH=tests/apps URNIC_TREE=TREE tests/interop/beside_soft_roce.py [ROUNDS]

TREE must not be in /tmp or /run: the guest has its own.

The guest's processors are emulated, so only the ratios mean something. Prints a table in Markdown: medians of the rounds.
"""

import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import fabric
import frame_peer
import guest

PORT = 18600
SECONDS = 180  # for a program: each takes a few, and the emulated machine is slow
# What it is called, the program, the column of its table of results.
FIGURES = (
    ("64 KiB, `ib_write_bw`, MB/s", "ib_write_bw -s 65536 -n 1000", 3),
    ("64 KiB, `ib_send_bw`, MB/s", "ib_send_bw -s 65536 -n 1000", 3),
    ("64 KiB, `ib_read_bw`, MB/s", "ib_read_bw -o 16 -s 65536 -n 1000", 3),
    ("8 B, `ib_write_bw`, million messages a second", "ib_write_bw -s 8 -n 5000", 4),
    ("8 B, `ib_send_bw`, million messages a second", "ib_send_bw -s 8 -n 5000", 4),
    ("2 B, `ib_write_lat`, us", "ib_write_lat -s 2 -n 1000", 4),
    ("2 B, `ib_send_lat`, us", "ib_send_lat -s 2 -n 1000", 4),
)


class Device:
    """A device in the guest, and what stands before a program that uses it."""

    def __init__(self, linux, name, gid, before=""):
        self.linux, self.name, self.gid, self.before = linux, name, gid, before

    def measure(self, program, column):
        words = f"{self.before}{program} -F -d {self.name} -x {self.gid} -p {PORT}"
        server = self.linux.start(words)
        try:
            self.linux.wait_until_listening(PORT)
            output = self.linux.run(f"{words} 127.0.0.1", SECONDS)
            if server.wait(SECONDS) != 0:
                raise AssertionError(str(server))
        finally:
            server.kill()
        rows = [line.split() for line in output.splitlines() if line.strip() and line.split()[0].isdigit()]
        if not rows:
            raise AssertionError(f"{words}: no result\n{output}")
        return float(rows[-1][column])


def urnic_in(linux):
    command = f"{fabric.tree()}/bin/urnic"
    linux.run(f"{command} up", SECONDS)
    return Device(linux, "urnic0", 1, f"{command} run -- ")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    directory = pathlib.Path(tempfile.mkdtemp(prefix="urnic-guest-"))
    wire = directory / "wire"
    frame_peer.FramePeer(wire)
    if os.geteuid() == 0:
        shutil.chown(wire, fabric.ORDINARY_USER)
    try:
        with guest.Guest(directory, wire, mtu=9000, processors=2) as linux:
            print(f"Linux {linux.run('uname -r').strip()}, 2 emulated processors, {rounds} rounds\n", flush=True)
            devices = (Device(linux, "rxe0", linux.gid_index("10.0.0.2")), urnic_in(linux))
            print("| | Soft-RoCE | urnic | ratio |\n|---|---|---|---|", flush=True)
            for title, program, column in FIGURES:
                pairs = [[device.measure(program, column) for device in devices] for _ in range(rounds)]
                ratio = statistics.median(urnic / linux for linux, urnic in pairs)
                middle = [statistics.median(each) for each in zip(*pairs)]
                print(f"| {title} | {middle[0]:.4g} | {middle[1]:.4g} | {ratio:.3g} |", flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
