#!/usr/bin/python3
"""Takes RoCEv2 packets apart, byte by byte, and computes their ICRC.

Usage: packet.py FILE.pcap
A line for each packet: number, opcode, pad count, destination QP, AckReq, PSN, the ICRC in the packet, the one computed.
"""

import struct
import sys
import zlib

ETHERNET, IPV4, IPV6, UDP, BTH, ICRC = 14, 20, 40, 8, 12, 4  # how many bytes each of them has


def frames(name):
    """The frames of a classic pcap file: a header of 24 bytes, then each frame behind a header of 16 bytes."""
    with open(name, "rb") as file:
        file.read(24)
        while header := file.read(16):
            _, _, length, _ = struct.unpack("<IIII", header)
            yield file.read(length)


def is_ipv6(frame):
    return frame[12:14] == b"\x86\xdd"


def begin_of_bth(frame):
    return ETHERNET + (IPV6 if is_ipv6(frame) else IPV4) + UDP


def bth(frame):
    """Fields of the base transport header: opcode, pad count, destination QP, AckReq, PSN."""
    begin = begin_of_bth(frame)
    opcode = frame[begin]
    pad_count, destination_qp, ack_request, psn = 0, 0, 0, 0  # exercise 1
    return opcode, pad_count, destination_qp, ack_request, psn


def icrc_in(frame):
    """The ICRC that the sender put into the frame's last four bytes."""
    return int.from_bytes(frame[-ICRC:], "little")


def icrc_of(frame):
    """The ICRC that the frame should have."""
    covered = bytearray(frame[ETHERNET:-ICRC])
    # Exercise 2 and 3: what a router may change must count as ones. Where does each header begin in `covered`?
    return zlib.crc32(covered)


def main():
    for number, frame in enumerate(frames(sys.argv[1]), 1):
        opcode, pad_count, destination_qp, ack_request, psn = bth(frame)
        print(f"{number:3}  {opcode:#04x} {pad_count} {destination_qp:#08x} {ack_request} {psn:8}  "
              f"{icrc_in(frame):08x} {icrc_of(frame):08x}")


if __name__ == "__main__":
    main()
