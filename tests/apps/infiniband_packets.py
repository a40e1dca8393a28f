"""Packets of InfiniBand in capture files, and their check sums by the specification's text alone: nothing of urnic's is used."""

import struct
import zlib

ERF = 197  # the link type
INFINIBAND = 21  # ERF's type of such a record
CLASSIC_MAGICS = {0xA1B2C3D4, 0xA1B23C4D}  # micro- and nanoseconds
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6  # blocks of pcapng

# IBTA 7.8.2: x^16 + x^12 + x^3 + x + 1, the least significant bit of each byte first.
VCRC_POLYNOMIAL = int(f"{0x100B:016b}"[::-1], 2)


def _vcrc_of_byte(value):
    for _ in range(8):
        value = value >> 1 ^ (VCRC_POLYNOMIAL if value & 1 else 0)
    return value


VCRC_TABLE = [_vcrc_of_byte(value) for value in range(256)]


class Packet:
    """From the LRH to the VCRC."""

    def __init__(self, data):
        self.data = data
        self.lane, self.level = data[0] >> 4, data[1] >> 4
        self.has_grh = data[1] & 3 == 3
        self.destination, words, self.source = struct.unpack(">HHH", data[2:8])
        self.end = (words & 0x7FF) * 4  # behind the ICRC
        self.bth = 48 if self.has_grh else 8
        self.opcode = data[self.bth]
        self.queue_pair = int.from_bytes(data[self.bth + 5:self.bth + 8], "big")
        self.payload = data[self.bth + 12:self.end - 4]  # with extended headers and pad

    @property
    def management_class(self):
        """None: no management datagram."""
        return self.payload[8 + 1] if self.opcode == 0x64 and self.queue_pair < 2 else None

    def right_icrc(self):
        """IBTA 7.8.1: CRC-32 from the LRH on, with ones in the place of what may change on the way: the lane, or with a GRH the
        whole LRH, traffic class, flow label and hop limit; and the byte of the BTH behind the P_Key."""
        covered = bytearray(self.data[:self.end - 4])
        if self.has_grh:
            covered[0:8] = b"\xFF" * 8
            covered[8] |= 0x0F
            covered[9:12] = b"\xFF" * 3
            covered[15] = 0xFF
        else:
            covered[0] |= 0xF0
        covered[self.bth + 4] = 0xFF
        return struct.pack("<I", zlib.crc32(covered))

    def right_vcrc(self):
        """IBTA 7.8.2: from the LRH to the ICRC."""
        crc = 0xFFFF
        for byte in self.data[:self.end]:
            crc = crc >> 8 ^ VCRC_TABLE[(crc ^ byte) & 0xFF]
        return struct.pack("<H", crc ^ 0xFFFF)

    def complaint(self):
        """What is wrong with it; empty: nothing."""
        icrc, vcrc = self.data[self.end - 4:self.end], self.data[self.end:self.end + 2]
        wrong = [] if len(self.data) == self.end + 2 else [f"{len(self.data)} bytes instead of {self.end + 2}"]
        wrong += [] if icrc == self.right_icrc() else [f"ICRC {icrc.hex()} instead of {self.right_icrc().hex()}"]
        wrong += [] if vcrc == self.right_vcrc() else [f"VCRC {vcrc.hex()} instead of {self.right_vcrc().hex()}"]
        return f"{'; '.join(wrong)}: {self.data.hex()}" if wrong else ""


def _of_record(record):
    """The packet in a record of ERF: a header of 16 bytes, whose last two say how long the packet is."""
    kind, = struct.unpack(">B", record[8:9])
    length, = struct.unpack(">H", record[14:16])
    if kind != INFINIBAND:
        raise AssertionError(f"a record of type {kind}")
    return Packet(record[16:16 + length])


def _of_classic(data):
    if struct.unpack("<I", data[20:24])[0] != ERF:
        raise AssertionError("a file of another link type")
    at = 24
    while at < len(data):
        kept, = struct.unpack("<I", data[at + 8:at + 12])
        yield _of_record(data[at + 16:at + 16 + kept])
        at += 16 + kept


def _of_pcapng(data):
    links = []
    at = 0
    while at < len(data):
        kind, length = struct.unpack("<II", data[at:at + 8])
        if kind == INTERFACE:
            links.append(struct.unpack("<H", data[at + 8:at + 10])[0])
        elif kind == PACKET:
            interface, _, _, kept = struct.unpack("<IIII", data[at + 8:at + 24])
            if links[interface] == ERF:
                yield _of_record(data[at + 28:at + 28 + kept])
        at += length


def packets_of(path):
    """Those of a pcap or pcapng file of a little-endian machine."""
    data = path.read_bytes()
    magic, = struct.unpack("<I", data[:4])
    if magic not in CLASSIC_MAGICS and magic != SECTION:
        raise AssertionError(f"{path} is no capture")
    return list(_of_pcapng(data) if magic == SECTION else _of_classic(data))
