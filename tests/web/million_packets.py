"""Writes a capture of as many packets as wanted: WRITEs of one connection and their acknowledgements, some lost and
sent again."""

import struct
import sys
import zlib

ETHERNET = bytes.fromhex("02756e000001" "02756e000000" "0800")


def frame(to_second, opcode, psn, extra, payload):
    addresses = (b"\xc0\x00\x02\x01", b"\xc0\x00\x02\x02")
    source, destination = addresses if to_second else addresses[::-1]
    bth = struct.pack("!BBHII", opcode, 0x40, 0xFFFF, 0x12 if to_second else 0x11, psn | (0x80000000 if to_second else 0))
    body = bth + extra + payload
    udp = struct.pack("!HHHH", 49152, 4791, 12 + len(body), 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 2, 32 + len(body), 0, 0x4000, 64, 17, 0) + source + destination
    words = sum(struct.unpack("!10H", ip))
    words = (words & 0xFFFF) + (words >> 16)
    ip = ip[:10] + struct.pack("!H", ~words & 0xFFFF) + ip[12:]
    # Of what may change on the way, ones are counted (IBTA A17.3.3).
    still = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:]
    icrc = zlib.crc32(extra + payload, zlib.crc32(b"\xff" * 8 + still))
    return ETHERNET + ip + udp + body + struct.pack("<I", icrc)


def main():
    path, wanted = sys.argv[1], int(sys.argv[2])
    reth = struct.pack("!QII", 0x7F0000000000, 0x1234, 64)
    time, psn, written = 1_700_000_000_000_000_000, 0, 0
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))

        def write(bytes_):
            nonlocal time, written
            time += 900
            file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(bytes_), len(bytes_)) + bytes_)
            written += 1

        while written < wanted:
            write(frame(True, 0x0A, psn, reth, b"\x5a" * 64))
            if psn % 1000 == 999:
                write(frame(False, 0x11, psn, struct.pack("!I", 0x60 << 24 | psn & 0xFFFFFF), b""))
                write(frame(True, 0x0A, psn, reth, b"\x5a" * 64))
            write(frame(False, 0x11, psn, struct.pack("!I", 0x1F << 24 | psn & 0xFFFFFF), b""))
            psn = psn + 1 & 0xFFFFFF


main()
