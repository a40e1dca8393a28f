"""Checks of lesson 4."""

import pathlib
import random

from checking import packets
from checking.not_yet import require

IPV6 = pathlib.Path(__file__).parent / "start" / "ipv6.toml"
DAMAGED = 3
DAMAGE = f"""
[[fault]]
device = "urnic0"
action = "corrupt_after_icrc"
bits = [200]
every = 4
count = {DAMAGED}
"""


def _capture(work, points="before", **options):
    """A capture of fresh packets; returns the file's name."""
    file = work.scratch / "frames.pcap"
    program = work.build("frames.c", "pair.c")
    work.run(program, random.randint(20, 40), capture=file, points=points, status=0, **options)
    return file


def _said(work, file):
    """What the learner's packet.py prints for each frame: opcode, pad count, QP, AckReq, PSN, ICRC found, computed."""
    result = work.call("/usr/bin/python3", work.file("packet.py"), file)
    result.require_success("run it yourself: ./packet.py frames.pcap")
    lines = [line.split() for line in result.output.splitlines()]
    require(all(len(line) == 8 for line in lines), "packet.py prints something else than 8 fields in a line",
            "leave what `main` prints as it is")
    return [(*(int(field, 0) for field in line[1:6]), *(int(field, 16) for field in line[6:])) for line in lines]


def exercise_1(work):
    file = _capture(work)
    said = _said(work, file)
    names = ("opcode", "pad count", "destination QP", "AckReq", "PSN")
    for number, (packet, fields) in enumerate(zip(packets.read(file), said), 1):
        right = (packet.opcode, packet.pad_count, packet.qpn, packet.ack_request, packet.psn)
        for name, wanted, found in zip(names, right, fields):
            require(wanted == found, f"frame {number}: the {name} is {wanted:#x}, and packet.py says {found:#x}",
                    "the table of the header in the lesson; all numbers are big-endian")
    return f"{len(said)} headers, decoded as tshark decodes them"


def _require_icrcs(work, file, what, hint):
    said = _said(work, file)
    wrong = [number for number, fields in enumerate(said, 1) if fields[-1] != fields[-2]]
    require(not wrong, f"{len(wrong)} of {len(said)} frames {what} have another ICRC than packet.py computes, "
            f"frame {wrong[0] if wrong else 0} for example", hint)
    return len(said)


def exercise_2(work):
    count = _require_icrcs(work, _capture(work), "over IPv4",
                           "eight bytes 0xff come first; then ones in the place of: type of service, time to live, IP "
                           "checksum, UDP checksum, and the byte of the BTH with FECN and BECN")
    said = _said(work, _capture(work, "after", faults=work.write("damage.toml", DAMAGE)))
    wrong = [fields for fields in said if fields[-1] != fields[-2]]
    require(len(wrong) == DAMAGED, f"{DAMAGED} frames were damaged on their way, and packet.py finds {len(wrong)}",
            "compute it from all bytes of the frame, never from the ICRC that is there")
    return f"{count} right ICRCs, and {DAMAGED} damaged frames were found"


def exercise_3(work):
    count = _require_icrcs(work, _capture(work, config=IPV6), "over IPv6",
                           "traffic class (4 bits of byte 0 and 4 of byte 1), flow label (the other 20 of these 4 "
                           "bytes), hop limit, UDP checksum and that byte of the BTH count as ones")
    return f"{count} right ICRCs over IPv6"
