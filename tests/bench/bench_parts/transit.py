"""Transit times of packets, from a capture that shows each packet before and after its link (docs/captures.md)."""

import struct
from pathlib import Path

from lossbench_parts.programs import Failed

INTERFACE_DESCRIPTION, ENHANCED_PACKET = 1, 6
NAME_OPTION = 2
ETHERNET_BYTES, HEADER_BYTES = 14, 66  # Ethernet to the RETH or AETH


def blocks(data):
    """The blocks of a pcapng file, as (type, body)."""
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            raise Failed(f"the capture is not whole: a block of {length} bytes at {at}")
        yield kind, memoryview(data)[at + 8:at + length - 4]
        at += length


def interface_name(body):
    at = 8  # link type, reserved, snap length
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == NAME_OPTION:
            return bytes(body[at + 4:at + 4 + length]).decode()
        at += 4 + (length + 3) // 4 * 4
    raise Failed("an interface of the capture has no name")


def transit_times(path):
    """For every packet, the seconds from before the sender's link to after the receiver's: one list for each sender."""
    names, sent, times = [], {}, {}
    for kind, body in blocks(Path(path).read_bytes()):
        if kind == INTERFACE_DESCRIPTION:
            names.append(interface_name(body))
        if kind != ENHANCED_PACKET:
            continue
        interface, high, low = struct.unpack_from("<III", body)
        device, place = names[interface].split("/")
        # Links do not change the IP header; the transport headers hold QP, opcode and PSN.
        packet = bytes(body[20 + ETHERNET_BYTES:20 + HEADER_BYTES])
        when = high << 32 | low
        if place == "before":
            sent.setdefault(packet, []).append((device, when))
        elif place == "after" and sent.get(packet):
            sender, since = sent[packet].pop(0)
            times.setdefault(sender, []).append((when - since) / 1e9)
    return times
