#!/usr/bin/python3
"""Counts for each sender how often the network and the receiver have told it of congestion.

Usage: marks.py FILE.pcapng
Prints a line for each sender, by its address: packets of the data sent, those of them that were marked on their way,
congestion notifications that came back.
"""

import collections
import json
import subprocess
import sys


def packets(name):
    """The packets of a capture of ./incast, in the order of sending."""
    lines = subprocess.run(["urnic", "trace", "--json", name], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in lines.splitlines():
        packet = json.loads(line)
        yield packet["source"], packet["destination"], packet["opcode"], packet["verdicts"]


def count(seen):
    """(sent, marked, notifications) by sender's address. A verdict of a marked packet is "congestion"; an opcode is
    "RC RDMA Write Middle", for example, or "CNP"."""
    senders = collections.defaultdict(lambda: [0, 0, 0])
    for source, destination, opcode, verdicts in seen:
        if "Write" in opcode:
            senders[source][0] += 1
            senders[source][1] += "congestion" in verdicts
        elif opcode == "CNP":
            senders[destination][2] += 1
    return senders


if __name__ == "__main__":
    for sender, numbers in sorted(count(packets(sys.argv[1])).items()):
        print(sender, *numbers)
