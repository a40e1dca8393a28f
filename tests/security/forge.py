#!/usr/bin/python3
"""Floods queue pairs with packets of one opcode after the other, from their peer's address, with random PSNs and keys.

Usage: forge.py ADDRESS SOURCE SECONDS RATE QPN...
SECONDS: for each opcode. RATE: datagrams a second at most. Prints one JSON object: how many went out, by opcode.
"""

import json
import random
import socket
import struct
import sys
import time

from flood import ROCE, icrc

PREPARED = 3000  # datagrams for each opcode and queue pair
BURST = 200
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


def main():
    address, source, seconds, rate, *qpns = sys.argv[1:]
    seconds, rate = float(seconds), float(rate)
    flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flood.bind((source, 0))
    port, to = flood.getsockname()[1], (address, ROCE)
    sent = {}
    for opcode in OPCODES:
        packets = [forged(opcode, int(qpn)) for qpn in qpns for _ in range(PREPARED)]
        random.shuffle(packets)
        prepared = [packet + icrc(source, address, port, packet) for packet in packets]
        begin, count = time.monotonic(), 0
        while (now := time.monotonic()) < begin + seconds:
            if count > (now - begin) * rate:
                time.sleep(0.0005)
                continue
            at = count % len(prepared)
            for datagram in prepared[at:at + BURST]:
                flood.sendto(datagram, to)
            count += BURST
        sent[f"{opcode:#04x}"] = count
    print(json.dumps(sent))


if __name__ == "__main__":
    main()
