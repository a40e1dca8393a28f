"""The packets of a capture, as tshark decodes them."""

# Python 3.9, which Debian 11 and RHEL 9 have, cannot evaluate `int | None`.
from __future__ import annotations

import dataclasses
import pathlib

from .not_yet import require
from .running_program import PATIENCE, last_lines, run

SELECTIVE_ACKNOWLEDGE = 0xF1
MOST_DECODED = 64 << 20  # bytes of tshark's output
_FIELDS = {
    "point": "frame.interface_name",
    "time": "frame.time_epoch",
    "comment": "frame.comment",
    "source": "eth.src",
    "opcode": "infiniband.bth.opcode",
    "pad_count": "infiniband.bth.padcnt",
    "qpn": "infiniband.bth.destqp",
    "ack_request": "infiniband.bth.a",
    "psn": "infiniband.bth.psn",
    "address": "infiniband.reth.va",
    "rkey": "infiniband.reth.r_key",
    "length": "infiniband.reth.dmalen",
    "syndrome": "infiniband.aeth.syndrome",
    "immediate": "infiniband.immdt",
    "mad": "infiniband.mad.attributeid",
}
# Attributes of the connection manager's MADs (IBTA 12.6).
REQ, MRA, REJ, REP, RTU, DREQ, DREP = range(0x10, 0x17)
# Opcodes of reliable connections (IBTA 9.2.1, table 38).
SENDS, WRITES, READ_REQUEST, READ_RESPONSES = range(0x00, 0x06), range(0x06, 0x0C), 0x0C, range(0x0D, 0x11)
SEND_AND_INVALIDATE = (0x16, 0x17)
ACKNOWLEDGE = 0x11


@dataclasses.dataclass(frozen=True)
class Packet:
    """Numbers are None where the packet has no such field. `point` is before, after or dropped; `device` is whose
    link it was seen on, `sender` the device that sent it."""
    number: int
    point: str
    device: str
    sender: str
    time: float
    comment: str
    opcode: int | None
    pad_count: int | None
    qpn: int | None
    ack_request: int | None
    psn: int | None
    address: int | None
    rkey: int | None
    length: int | None
    syndrome: int | None
    immediate: int | None
    mad: int | None

    @property
    def is_request(self):
        return self.opcode in SENDS or self.opcode in WRITES or self.opcode in SEND_AND_INVALIDATE or self.opcode in (
            READ_REQUEST, 0x13, 0x14)

    @property
    def is_write(self):
        return self.opcode in WRITES

    @property
    def is_send(self):
        return self.opcode in SENDS or self.opcode in SEND_AND_INVALIDATE

    @property
    def is_acknowledge(self):
        return self.opcode == ACKNOWLEDGE and self.syndrome >> 5 == 0

    @property
    def is_rnr_nak(self):
        return self.opcode == ACKNOWLEDGE and self.syndrome >> 5 == 1

    @property
    def is_nak(self):
        return self.opcode == ACKNOWLEDGE and self.syndrome >> 5 == 3

    @property
    def nak_code(self):
        return self.syndrome & 0x1F


def _number(name, text):
    return int(text.split(",")[0], 16 if name == "immediate" else 0) if text else None


def decode(file, fields):
    """What tshark says of each frame: a list of texts, one for each of tshark's fields, empty where a frame has none."""
    words = ["tshark", "-r", str(file), "-T", "fields", "-E", "separator=\t", "--disable-heuristic",
             "rpcrdma_infiniband", "--disable-heuristic", "smb_direct_infiniband"]
    for field in fields:
        words += ["-e", field]
    decoded = run("tshark", words, pathlib.Path(file).parent, PATIENCE, most_output=MOST_DECODED, errors=False)
    require(decoded.status == 0, f"tshark cannot read the capture: it ended with status {decoded.status}",
            "does the program end before its packets are captured?")
    return [line.split("\t") for line in decoded.output.splitlines()]


def read(file):
    """The packets of a capture file of urnic's. The default devices' MAC addresses end with their number."""
    packets = []
    for number, texts in enumerate(decode(file, _FIELDS.values()), 1):
        values = dict(zip(_FIELDS, texts))
        device, _, point = values.pop("point").partition("/")
        sender = f"urnic{int(values.pop('source')[-2:], 16)}"
        packets.append(Packet(number=number, point=point or "before", device=device or sender, sender=sender,
                              time=float(values.pop("time")), comment=values.pop("comment"),
                              **{name: _number(name, value) for name, value in values.items()}))
    return packets


def sent(packets, sender=None):
    """Each packet once, as its sender put it on the wire."""
    return [packet for packet in packets if packet.point == "before" and sender in (None, packet.sender)]


def dropped(packets):
    return [packet for packet in packets if packet.point == "dropped"]


def arrived(packets):
    return [packet for packet in packets if packet.point == "after"]
