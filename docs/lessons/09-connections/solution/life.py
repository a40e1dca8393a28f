#!/usr/bin/python3
"""Tells the life of a connection from its management datagrams.

Usage: life.py FILE.pcap
A line for each message of the connection manager: its name, the sender's communication id, the receiver's, the sender's
queue pair if the message names it.
"""

import struct
import sys

ETHERNET, IPV4, UDP, BTH, DETH, MAD = 14, 20, 8, 12, 8, 256  # how many bytes each of them has
UD_SEND_ONLY = 0x64
CONNECTION_MANAGER = 0x07
NAMES = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}
QUEUE_PAIR = {"REQ": 56, "REP": 36}  # where the sender's is


def frames(name):
    """The frames of a classic pcap file."""
    with open(name, "rb") as file:
        file.read(24)
        while header := file.read(16):
            _, _, length, _ = struct.unpack("<IIII", header)
            yield file.read(length)


def messages(name):
    """The MADs of the connection manager among the frames."""
    for frame in frames(name):
        bth = ETHERNET + IPV4 + UDP
        mad = frame[bth + BTH + DETH:][:MAD]
        if frame[bth] == UD_SEND_ONLY and len(mad) == MAD and mad[1] == CONNECTION_MANAGER:
            yield mad


def number(mad, offset, length):
    return int.from_bytes(mad[offset:offset + length], "big")


def tell(mad):
    """Name, the sender's communication id, the receiver's (0 in a REQ, which does not know it yet), the sender's queue
    pair (0 in messages that do not name it)."""
    name = NAMES.get(number(mad, 16, 2), "?")
    sender_id = number(mad, 24, 4)  # the first field behind the MAD's header
    receiver_id = 0 if name == "REQ" else number(mad, 28, 4)
    queue_pair = number(mad, QUEUE_PAIR[name], 3) if name in QUEUE_PAIR else 0
    return name, sender_id, receiver_id, queue_pair


if __name__ == "__main__":
    for found in messages(sys.argv[1]):
        print("{:5} {:#010x} {:#010x} {:#08x}".format(*tell(found)))
