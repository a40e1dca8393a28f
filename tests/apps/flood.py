#!/usr/bin/python3
"""Floods a device on UDP with datagrams of a stranger: garbage, packets to nobody, and right packets of wrong senders.

Usage: flood.py ADDRESS COUNT [--qpn N]... [--source ADDRESS]...
--qpn: a queue pair to which packets with a right ICRC go, too. --source: a local address from which they come, which may be
that of a peer. Prints one JSON object.
"""

import argparse
import json
import os
import random
import socket
import struct
import zlib

ROCE = 4791
FIRST_PSN = 0xFFFFF0  # EndpointOptions in tests/apps/programs
VARIANTS = 64  # of each kind, made beforehand
LENGTHS = (0, 7, 9000)  # of garbage, beside random ones: nothing, less than a header, more than a packet


def icrc(source, destination, port, packet):
    """Of a packet, from its BTH on (IBTA A17.3.3)."""
    udp_bytes = 8 + len(packet) + 4
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xFF, 20 + udp_bytes, 0, 0x4000, 0xFF, 17, 0xFFFF, socket.inet_aton(source),
                     socket.inet_aton(destination))
    udp = struct.pack(">HHHH", port, ROCE, udp_bytes, 0xFFFF)
    masked = b"\xff" * 8 + ip + udp + packet[:4] + b"\xff" + packet[5:]
    return struct.pack("<I", zlib.crc32(masked))


def packet_to(qpn, source, destination, port):
    """An RC packet of a random kind. Its PSN is millions away from those that a connection of our own programs begins with:
    before them, as a packet that has come already, or behind."""
    opcode = random.choice((0x00, 0x02, 0x04, 0x06, 0x0A, 0x0C, 0x0D, 0x10, 0x11, 0x13))
    bth = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, qpn, 1 << 31 | FIRST_PSN + random.choice((1, 3)) * (1 << 22) +
                      random.getrandbits(21) & 0xFFFFFF)
    packet = bth + random.randbytes(28 + 4 * random.randrange(64))
    return packet + icrc(source, destination, port, packet)


def datagrams(options, source, port):
    yield from map(random.randbytes, LENGTHS)
    for _ in range(VARIANTS):
        yield random.randbytes(random.randrange(1400))
        yield packet_to(random.getrandbits(24), source, options.address, port)
        for qpn in options.qpn:
            yield packet_to(qpn, source, options.address, port)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("count", type=int)
    parser.add_argument("--qpn", type=int, action="append", default=[])
    parser.add_argument("--source", action="append", default=[])
    options = parser.parse_args()
    random.seed(os.environ.get("URNIC_FLOOD_SEED", "1"))
    prepared = []
    for source in options.source or ["127.0.0.1"]:
        flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flood.bind((source, 0))
        prepared += [(flood, datagram) for datagram in datagrams(options, source, flood.getsockname()[1])]
    random.shuffle(prepared)
    sent, to = 0, (options.address, ROCE)
    while sent < options.count:
        for flood, datagram in prepared:
            flood.sendto(datagram, to)
        sent += len(prepared)
    print(json.dumps({"sent": sent}))


if __name__ == "__main__":
    main()
