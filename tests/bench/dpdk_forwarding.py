#!/usr/bin/python3
"""Frames a second of 64 bytes that dpdk-testpmd forwards between two ports (--forward-mode=io), by one thread: on devices
with the face mlx5, and on DPDK's own virtual devices, by turns, as an ordinary user.

Usage: URNIC_TREE=/tmp/tree tests/bench/dpdk_forwarding.py [--rounds N] [--seconds S]. Prints a table."""

import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "apps"))
import fabric  # noqa: E402
import testpmd  # noqa: E402

BURSTS = 4  # of 32 frames, which go round each way

# The kernel joins the two ends: a veth pair, and a bridge between two TAP interfaces.
VETH = "ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up"
BRIDGE = ("ip link add bridge0 type bridge && ip link set bridge0 up && "
          "for each in dtap0 dtap1; do ip link set $each master bridge0 up; done")


class Ways:
    """How testpmd's ports are made, and what the kernel is told before and behind that."""

    def __init__(self, own):
        socket = own.temporary / "memif"
        self.ways = {
            "mlx5 ports of urnic": {},
            "`net_memif`, two ends in one process": {
                "virtual": (f"net_memif0,role=server,id=0,socket-abstract=no,socket={socket}",
                            f"net_memif1,role=client,id=0,socket-abstract=no,socket={socket}")},
            "`net_af_packet` on a veth pair": {
                "virtual": ("net_af_packet0,iface=veth0", "net_af_packet1,iface=veth1"), "before": VETH},
            "`net_pcap` on a veth pair": {
                "virtual": ("net_pcap0,iface=veth0", "net_pcap1,iface=veth1"), "before": VETH},
            "`net_tap`, a bridge between them": {
                "virtual": ("net_tap0,iface=dtap0", "net_tap1,iface=dtap1"), "behind": BRIDGE},
        }

    @staticmethod
    def run(own, script):
        if script:
            own.run_on_urnic("sh", "-c", script)


def measure(own, way, seconds):
    """Frames a second that both ports have received."""
    Ways.run(own, way.get("before"))
    places = {"virtual": way["virtual"], "ports": ()} if "virtual" in way else {}
    try:
        with testpmd.Testpmd(own, "--forward-mode=io", "--rxd=512", "--txd=512", **places) as ports:
            Ways.run(own, way.get("behind"))
            ports.command(f"start tx_first {BURSTS}")
            time.sleep(1)
            counts = [counted(ports)]
            begin = time.monotonic()
            time.sleep(seconds)
            counts.append(counted(ports))
            passed = time.monotonic() - begin
            ports.quit()
            return (counts[1] - counts[0]) / passed
    finally:
        if way.get("before"):
            Ways.run(own, "ip link del veth0")
        if way.get("behind"):
            Ways.run(own, "ip link del bridge0")


def counted(ports):
    return sum(ports.statistics(port)["RX-packets"] for port in (0, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    chosen = parser.parse_args()
    with fabric.Fabric() as own:
        own.run(own.urnic, "up", "--face", "mlx5", "--network")
        ways = Ways(own).ways
        figures = {name: [] for name in ways}
        for _ in range(chosen.rounds):
            for name, way in ways.items():
                figures[name].append(measure(own, way, chosen.seconds) / 1e6)
        print("| ports | million frames a second, median (least – most) |\n|---|---|")
        for name, seen in figures.items():
            print(f"| {name} | {statistics.median(seen):.2f} ({min(seen):.2f} – {max(seen):.2f}) |")


if __name__ == "__main__":
    main()
