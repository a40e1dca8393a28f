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
    opcode, flags = frame[begin], frame[begin + 1]
    pad_count = flags >> 4 & 3  # solicited event 1 bit, MigReq 1, pad count 2, version 4
    destination_qp = int.from_bytes(frame[begin + 5:begin + 8], "big")
    ack_request = frame[begin + 8] >> 7
    psn = int.from_bytes(frame[begin + 9:begin + 12], "big")
    return opcode, pad_count, destination_qp, ack_request, psn


def icrc_in(frame):
    """The ICRC that the sender put into the frame's last four bytes."""
    return int.from_bytes(frame[-ICRC:], "little")


def icrc_of(frame):
    """The ICRC that the frame should have."""
    covered = bytearray(frame[ETHERNET:-ICRC])
    if is_ipv6(frame):
        covered[0] |= 0x0F  # traffic class, behind the 4 bits of the version
        covered[1:4] = b"\xff" * 3  # the rest of it, and the flow label
        covered[7] = 0xFF  # hop limit
    else:
        covered[1] = 0xFF  # type of service
        covered[8] = 0xFF  # time to live
        covered[10:12] = b"\xff" * 2  # header checksum
    transport = begin_of_bth(frame) - ETHERNET
    covered[transport - 2:transport] = b"\xff" * 2  # UDP checksum
    covered[transport + 4] = 0xFF  # FECN, BECN and reserved bits
    return zlib.crc32(b"\xff" * 8 + covered)


def main():
    for number, frame in enumerate(frames(sys.argv[1]), 1):
        opcode, pad_count, destination_qp, ack_request, psn = bth(frame)
        print(f"{number:3}  {opcode:#04x} {pad_count} {destination_qp:#08x} {ack_request} {psn:8}  "
              f"{icrc_in(frame):08x} {icrc_of(frame):08x}")


if __name__ == "__main__":
    main()
