#!/usr/bin/python3
"""Floods a queue pair with congestion notifications (CNP, IBTA A17.9.3) until it is told to end (SIGTERM), for a minute at most.

Usage: notify.py ADDRESS SOURCE RATE QPN
SOURCE: a local address from which they come, which may be that of the peer. RATE: notifications a second at most. Says "flooding" once
it does; prints one JSON object at its end: how many went out, in which time.
"""

import json
import signal
import socket
import struct
import sys
import time

from flood import ROCE, icrc
from forge import MOST_SEGMENTS, UDP_SEGMENT

CNP, BECN = 0x81, 0x40000000
MOST_SECONDS = 60


def main():
    address, source, rate, qpn = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    told_to_end = []
    signal.signal(signal.SIGTERM, lambda *_: told_to_end.append(True))
    flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flood.bind((source, 0))
    packet = struct.pack(">BBHII", CNP, 0, 0xFFFF, BECN | qpn, 0) + bytes(16)
    packet += icrc(source, address, flood.getsockname()[1], packet)
    train, to = packet * MOST_SEGMENTS, (address, ROCE)
    segment = [(socket.SOL_UDP, UDP_SEGMENT, struct.pack("=H", len(packet)))]
    print("flooding", flush=True)
    begin, sent, passed = time.monotonic(), 0, 0.0
    while not told_to_end and passed < MOST_SECONDS:
        flood.sendmsg([train], segment, 0, to)
        sent += MOST_SEGMENTS
        passed = time.monotonic() - begin
        if (early := sent / rate - passed) > 0:
            time.sleep(early)
    print(json.dumps({"sent": sent, "seconds": passed}))


if __name__ == "__main__":
    main()
