#!/usr/bin/python3
"""Measures how fast ./stream is with each loss recovery, on a link that loses more and more packets.

Usage: curve.py [MESSAGES]
"""

import re
import subprocess
import sys

RECOVERIES = ("gbn", "selective", "irn", "sack")
LOSSES = (0, 0.001, 0.01, 0.05)
WIDTH, FULL = 50, 40  # how many characters a bar has at most, and for how many Mbit/s


def urnic(*words):
    """Runs a command of urnic's and returns what it prints."""
    return subprocess.run(["urnic", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True).stdout


def goodput(recovery, loss, messages):
    """Mbit/s of ./stream."""
    urnic("set", "recovery", recovery)
    urnic("link", "set", "urnic0", "--direction", "tx", f"loss={loss}")
    return float(re.search(r"([\d.]+) Mbit/s", urnic("run", "--", "./stream", messages))[1])


def main():
    messages = sys.argv[1] if len(sys.argv) > 1 else "50"
    urnic("up", "--config", "link.toml")
    try:
        for loss in LOSSES:
            print(f"{loss:.1%} of the packets are lost")
            for recovery in RECOVERIES:
                rate = goodput(recovery, loss, messages)
                print(f"  {recovery:<10} {rate:5.1f} Mbit/s  {'#' * round(rate / FULL * WIDTH)}", flush=True)
    finally:
        urnic("down")


if __name__ == "__main__":
    main()
