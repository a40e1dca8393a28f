#!/usr/bin/python3
"""Counts what a sender has sent in vain.

Usage: waste.py FILE.pcapng
Prints three numbers: packets of the data sent, those of them that were lost, those that were sent although an earlier
transmission of the same packet had arrived.
"""

import json
import subprocess
import sys


def packets(name):
    """The packets of the data in a capture of ./stream: (PSN, whether this one was lost), in the order of sending."""
    lines = subprocess.run(["urnic", "trace", "--json", name], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in lines.splitlines():
        packet = json.loads(line)
        if "Write" in packet["opcode"]:
            yield packet["psn"], "lost" in packet["verdicts"]


def count(sent):
    """(how many were sent, how many were lost, how many were sent in vain)"""
    sent = list(sent)
    return len(sent), 0, 0  # exercise 1


if __name__ == "__main__":
    print(*count(packets(sys.argv[1])))
