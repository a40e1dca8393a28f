#!/usr/bin/python3
"""Floods queue pairs with packets of one opcode after the other, from their peer's address, with random PSNs and keys.

Usage: forge.py ADDRESS SOURCE SECONDS RATE QPN...
SECONDS: for each opcode. RATE: datagrams a second at most. Prints one JSON object: how many went out, by opcode.
"""

import itertools
import json
import random
import socket
import struct
import sys
import time

from flood import ROCE, icrc

PREPARED = 2000  # datagrams for each opcode; each time that they leave they have other PSNs
UDP_SEGMENT = 103  # linux/udp.h
MOST_SEGMENTS, MOST_BYTES = 64, 65000  # of a system call
PSN_AT, PSN_BYTES, ICRC_BYTES = 9, 3, 4
MTU = 4096  # of connections over the loopback interface

# By opcode: bytes of headers behind the BTH, and whether the payload is a whole path MTU, shorter, or none.
OPCODES = {0x00: (0, "whole"), 0x01: (0, "whole"), 0x02: (0, "short"), 0x03: (4, "short"), 0x04: (0, "short"), 0x05: (4, "short"),
           0x06: (16, "whole"), 0x07: (0, "whole"), 0x08: (0, "short"), 0x09: (4, "short"), 0x0A: (16, "short"),
           0x0B: (20, "short"), 0x0C: (16, "none"), 0x13: (28, "none"), 0x14: (28, "none"), 0x16: (4, "short"), 0x17: (4, "short"),
           0x0D: (4, "whole"), 0x0E: (0, "whole"), 0x0F: (4, "short"), 0x10: (4, "short"), 0x11: (4, "none"), 0x12: (12, "none")}
RETH = (0x06, 0x0A, 0x0B)
AETH = (0x0D, 0x0F, 0x10, 0x11, 0x12)
SYNDROMES = (0x1F, 0x60, 0x61, 0x62, 0x63, 0x20)  # ACK, the NAKs, RNR NAK


def forged(opcode, qpn):
    header_bytes, kind = OPCODES[opcode]
    length = {"whole": MTU, "short": 4 * random.randrange(1, 17), "none": 0}[kind]
    headers = random.randbytes(header_bytes)
    if opcode in RETH:  # the length that the message has
        headers = headers[:12] + struct.pack(">I", 3 * MTU if kind == "whole" else length) + headers[16:]
    if opcode in AETH:
        headers = bytes([random.choice(SYNDROMES) if opcode == 0x11 else 0x1F]) + headers[1:]
    psn = random.getrandbits(24)
    return struct.pack(">BBHII", opcode, 0x40, 0xFFFF, qpn, random.getrandbits(1) << 31 | psn) + headers + bytes(length)


class Batch:
    """Datagrams of one length, which leave with one system call (udp(7), UDP_SEGMENT)."""

    def __init__(self, packets, check):
        self._check, self._packets = check, packets
        self.count, self.length = len(packets), len(packets[0]) + ICRC_BYTES
        self._bytes = bytearray(b"".join(packet + check(packet) for packet in packets))

    def with_other_psns(self):
        """The bytes of all, with PSNs that they have not had. A check sum is linear: that of a difference is the difference."""
        psns = random.getrandbits(8 * PSN_BYTES)
        first, end = self._packets[0], PSN_AT + PSN_BYTES
        moved = first[:PSN_AT] + _xor(first[PSN_AT:end], psns) + first[end:]
        checks = int.from_bytes(self._check(first), "big") ^ int.from_bytes(self._check(moved), "big")
        for at in range(0, len(self._bytes), self.length):
            for begin, count, difference in ((at + PSN_AT, PSN_BYTES, psns), (at + self.length - ICRC_BYTES, ICRC_BYTES, checks)):
                self._bytes[begin:begin + count] = _xor(self._bytes[begin:begin + count], difference)
        return self._bytes


def _xor(some, number):
    return (int.from_bytes(some, "big") ^ number).to_bytes(len(some), "big")


def batches_of(opcode, qpns, check):
    """Batches with PREPARED datagrams, for each queue pair in turn."""
    found, prepared = [], 0
    while prepared < PREPARED:
        first = forged(opcode, qpns[0])
        count = min(MOST_SEGMENTS, MOST_BYTES // (len(first) + ICRC_BYTES))
        packets = [first]
        while len(packets) < count:
            packet = forged(opcode, random.choice(qpns))
            if len(packet) == len(first):
                packets.append(packet)
        found.append(Batch(packets, check))
        prepared += count
    return found


def main():
    address, source, seconds, rate, *qpns = sys.argv[1:]
    seconds, rate, qpns = float(seconds), float(rate), list(map(int, qpns))
    flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flood.bind((source, 0))
    port, to = flood.getsockname()[1], (address, ROCE)
    sent = {}
    for opcode in OPCODES:
        batches = batches_of(opcode, qpns, lambda packet: icrc(source, address, port, packet))
        begin, count = time.monotonic(), 0
        for batch in itertools.cycle(batches):
            now = time.monotonic()
            if now >= begin + seconds:
                break
            if (early := count / rate - (now - begin)) > 0:
                time.sleep(early)
            segment = (socket.SOL_UDP, UDP_SEGMENT, struct.pack("=H", batch.length))
            flood.sendmsg([batch.with_other_psns()], [segment], 0, to)
            count += batch.count
        sent[f"{opcode:#04x}"] = count
    print(json.dumps(sent))


if __name__ == "__main__":
    main()
