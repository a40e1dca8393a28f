#!/usr/bin/python3
"""Measures urnic beside Linux's Soft-RoCE: both in one guest, the same programs by turns, and again with packets lost. Not a test.

    PYTHONPATH=tests/apps URNIC_TREE=TREE tests/interop/beside_soft_roce.py [ROUNDS] [--loss-only]

TREE must not be in /tmp or /run: the guest has its own.

The guest's processors are emulated, so only the ratios mean something. Prints tables in Markdown: medians of the rounds. What
each round of the second table gave goes to the standard error.
"""

import argparse
import json
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
TRIES = 6
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

LOSS = 0.01  # in each device's sending direction: requests and acknowledgements
LOSSY = (
    ("`ib_write_bw` 64 KiB", "ib_write_bw -s 65536", 3),
    ("`ib_send_bw` 64 KiB", "ib_send_bw -s 65536", 3),
    ("`ib_read_bw` 64 KiB", "ib_read_bw -o 16 -s 65536", 3),
)


class Pair:
    """The server's and the client's device in the guest, each with a GID's index, and what stands before a program that uses them."""

    def __init__(self, linux, server, client, before=""):
        self.linux, self.ends, self.before = linux, (server, client), before

    def measure(self, program, column):
        """Once more while the figure is 0: then perftest has found no speed of the emulated processor's clock."""
        for _ in range(TRIES):
            figure = self.measure_once(program, column)
            if figure > 0:
                return figure
        raise AssertionError(f"{program} on {self.ends}: 0 in {TRIES} runs")

    def measure_once(self, program, column):
        words = [f"{self.before}{program} -F -d {name} -x {gid} -p {PORT}" for name, gid in self.ends]
        server = self.linux.start(words[0])
        try:
            self.linux.wait_until_listening(PORT)
            output = self.linux.run(f"{words[1]} 127.0.0.1", SECONDS)
            if server.wait(SECONDS) != 0:
                raise AssertionError(str(server))
        finally:
            server.kill()
            server.wait(SECONDS)
        rows = [line.split() for line in output.splitlines() if line.strip() and line.split()[0].isdigit()]
        if not rows:
            raise AssertionError(f"{words[1]}: no result\n{output}")
        return float(rows[-1][column])


class SoftRoceCable(Pair):
    """Two Soft-RoCE devices on the ends of a virtual cable, whose queues can lose packets.

    One device's packets to itself pass no queue. Those from one of these devices to the other do, although both addresses are
    the guest's own: rdma_rxe looks for a route by its own interface only. The receiving end drops packets that come from an
    address of its own host, unless it has accept_local and no rp_filter.
    """

    interfaces = {"veth0": "10.1.0.1", "veth1": "10.1.0.2"}
    messages = 1000

    def __init__(self, linux):
        linux.run("ip link add veth0 mtu 9000 type veth peer name veth1 mtu 9000")
        linux.run("for name in all veth0 veth1; do cd /proc/sys/net/ipv4/conf/$name; echo 1 > accept_local; echo 0 > rp_filter; done")
        for interface, address in self.interfaces.items():
            linux.run(f"ip link set {interface} up && ip address add {address}/24 dev {interface}")
        ends = []
        for interface, address in self.interfaces.items():
            name = f"rxe_{interface}"
            linux.run(f"rdma link add {name} type rxe netdev {interface}")
            ends.append((name, linux.gid_index(address, name)))
        super().__init__(linux, *ends)

    def lose(self, share):
        """The queue stays where nothing is lost, so that it costs the same."""
        for interface in self.interfaces:
            self.linux.run(f"tc qdisc replace dev {interface} root netem loss {100 * share}%")

    def counted(self):
        """Packets that were lost, and all, so far."""
        queues = [json.loads(self.linux.run(f"tc -s -j qdisc show dev {interface}"))[0] for interface in self.interfaces]
        lost = sum(queue["drops"] for queue in queues)
        return lost, lost + sum(queue["packets"] for queue in queues)


class UrnicCable(Pair):
    """Two of urnic's devices, on one switch."""

    command = f"{fabric.tree()}/bin/urnic"
    messages = 6000  # to take about as long

    def __init__(self, linux):
        super().__init__(linux, ("urnic0", 1), ("urnic1", 1), f"{self.command} run -- ")

    def lose(self, share):
        self.linux.run(f"{self.command} link set all --direction tx loss={share}")

    def counted(self):
        """Packets that were lost, and all, so far."""
        links = json.loads(self.linux.run(f"{self.command} link show --json")).values()
        counters = [link["tx"]["counters"] for link in links]
        return tuple(sum(each[name] for each in counters) for name in ("lost", "packets"))


def compare(linux, rounds):
    """Without loss: each side on one device, from it to itself."""
    soft_roce = ("rxe0", linux.gid_index("10.0.0.2"))
    pairs = (Pair(linux, soft_roce, soft_roce), Pair(linux, ("urnic0", 1), ("urnic0", 1), f"{UrnicCable.command} run -- "))
    print("| | Soft-RoCE | urnic | ratio |\n|---|---|---|---|", flush=True)
    for title, program, column in FIGURES:
        figures = [[pair.measure(program, column) for pair in pairs] for _ in range(rounds)]
        ratio = statistics.median(urnic / soft for soft, urnic in figures)
        middle = [statistics.median(each) for each in zip(*figures)]
        print(f"| {title} | {middle[0]:.4g} | {middle[1]:.4g} | {ratio:.3g} |", flush=True)


def measure_despite_failures(pair, program, column):
    """The figure of the first run that succeeds, and how many failed before it: Soft-RoCE's connections over the cable break at
    times."""
    for failures in range(TRIES):
        try:
            return pair.measure(program, column), failures
        except AssertionError as error:
            print(error, file=sys.stderr, flush=True)
    raise AssertionError(f"{program} on {pair.ends}: {TRIES} runs failed")


def measure_with_and_without_loss(pair, program, column):
    """The figure without loss, the figure with it, the share of packets that were then lost, and how many runs failed: without loss,
    and with it."""
    program = f"{program} -n {pair.messages}"
    pair.lose(0)
    whole, failures = measure_despite_failures(pair, program, column)
    pair.lose(LOSS)
    before = pair.counted()
    left, more_failures = measure_despite_failures(pair, program, column)
    lost, packets = (after - earlier for after, earlier in zip(pair.counted(), before))
    print(f"{program}, {pair.ends[0][0]}: {whole} MB/s, {left} with {lost} of {packets} packets lost", file=sys.stderr, flush=True)
    return whole, left, lost / packets, failures, more_failures


def compare_with_loss(linux, rounds):
    """Each side on two devices, from one to the other."""
    pairs = {"Soft-RoCE": SoftRoceCable(linux), "urnic": UrnicCable(linux)}
    print(f"| | | no loss, MB/s | {100 * LOSS:g} % lost, MB/s | what is left | packets lost | failed runs, no loss | with loss |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for title, program, column in LOSSY:
        results = [[measure_with_and_without_loss(pair, program, column) for pair in pairs.values()] for _ in range(rounds)]
        for name, figures in zip(pairs, zip(*results)):
            whole, left, lost = map(statistics.median, list(zip(*figures))[:3])
            share = statistics.median(figure[1] / figure[0] for figure in figures)
            failures = [sum(each) for each in list(zip(*figures))[3:]]
            print(f"| {title} | {name} | {whole:.4g} | {left:.4g} | {share:.3g} | {100 * lost:.2f} % "
                  f"| {failures[0]} of {failures[0] + rounds} | {failures[1]} of {failures[1] + rounds} |", flush=True)
        ratio = statistics.median(urnic[1] / soft[1] for soft, urnic in results)
        print(f"| {title} | urnic / Soft-RoCE | | {ratio:.3g} | | | | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Measures urnic beside Linux's Soft-RoCE.")
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--loss-only", action="store_true", help="only the table with loss")
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="urnic-guest-"))
    wire = directory / "wire"
    frame_peer.FramePeer(wire)
    if os.geteuid() == 0:
        shutil.chown(wire, fabric.ORDINARY_USER)
    try:
        with guest.Guest(directory, wire, mtu=9000, processors=2) as linux:
            linux.run(f"{UrnicCable.command} up", SECONDS)
            print(f"Linux {linux.run('uname -r').strip()}, 2 emulated processors, {options.rounds} rounds\n", flush=True)
            if not options.loss_only:
                compare(linux, options.rounds)
                print()
            compare_with_loss(linux, options.rounds)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
