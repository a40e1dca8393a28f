"""Run in the devices' network: sends UDP flows by an interface, each with frames of a length of its own.

Usage: send_flows.py INTERFACE DESTINATION_MAC FLOWS FRAMES. Flow N (from 1 on) has frames of 100 + N bytes, from 198.18.0.N
and port 1024 + N to 198.18.1.1 and port 9."""

import socket
import struct
import sys

HEADERS = 14 + 20 + 8


def checksum(words):
    words += b"\0" * (len(words) % 2)
    total = sum(struct.unpack(f"!{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(source, destination, flow):
    body = bytes(100 + flow - HEADERS)
    ports = struct.pack("!HH", 1024 + flow, 9)
    length = struct.pack("!H", 8 + len(body))
    addresses = bytes((198, 18, 0, flow, 198, 18, 1, 1))
    udp = ports + length + struct.pack("!H", checksum(addresses + b"\0\x11" + length + ports + length + body)) + body
    head = struct.pack("!BBHHHBB", 0x45, 0, 20 + len(udp), flow, 0, 64, 17)
    head += struct.pack("!H", checksum(head + b"\0\0" + addresses)) + addresses
    return destination + source + b"\x08\x00" + head + udp


def to_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def main():
    interface, destination, flows, frames = sys.argv[1], to_bytes(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((interface, 0))
        source = sender.getsockname()[4]
        for _ in range(frames):
            for flow in range(1, flows + 1):
                sender.send(frame(source, destination, flow))


if __name__ == "__main__":
    main()
