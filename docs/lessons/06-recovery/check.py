"""Checks of lesson 6."""

import ast
import collections
import pathlib
import random
import re
import statistics

from checking import packets
from checking.not_yet import require

LINK = (pathlib.Path(__file__).parent / "start" / "link.toml").read_text()
TOLERANCE = 0.04
# Of the link in irn.toml: packets of 1106 bytes and 24 more on the line, and a round trip of 400 ms.
PACKETS_UNDER_WAY = 0.001e9 * 400e-3 / (1130 * 8)


def _stream(work, recovery, loss, messages):
    """What urnic0 sent while stream.c ran; the capture is work.scratch / "capture.pcapng"."""
    program = work.build("stream.c", "pair.c")
    with work.device_process(work.write("lossy.toml", LINK)):
        work.urnic("set", "recovery", recovery)
        work.urnic("link", "set", "urnic0", "--direction", "tx", f"loss={loss}")
        _, seen = work.captured(program, messages, status=0)
    return _transmissions(seen)


def _transmissions(seen):
    """The packets of the data in the order of sending, as [PSN, whether this transmission was lost]."""
    sent, under_way = [], collections.defaultdict(collections.deque)
    for packet in seen:
        if packet.sender == "urnic0" and packet.is_write:
            if packet.point == "before":
                sent.append([packet.psn, False])
                under_way[packet.psn].append(sent[-1])
            else:  # packets do not overtake each other on this link: it is the oldest one
                under_way[packet.psn].popleft()[1] = packet.point == "dropped"
    return sent


def _waste(sent):
    """What waste.py should say."""
    arrived, in_vain = set(), 0
    for psn, is_lost in sent:
        in_vain += psn in arrived
        if not is_lost:
            arrived.add(psn)
    return len(sent), sum(is_lost for _, is_lost in sent), in_vain


def exercise_1(work):
    told = []
    for recovery in ("gbn", "sack"):
        right = _waste(_stream(work, recovery, random.choice((0.01, 0.02)), 10))
        result = work.call_with_urnic(work.file("waste.py"), work.scratch / "capture.pcapng")
        result.require_success("run it yourself: ./waste.py FILE")
        said = tuple(map(int, result.output.split()))
        for name, wanted, found in zip(("sent", "lost", "sent in vain"), right, said):
            require(wanted == found, f"{recovery}: {wanted} packets were {name}, and waste.py says {found}",
                    "a packet is in vain if an earlier one with the same PSN was not lost")
        told.append(f"{recovery}: {right[0]} sent, {right[1]} lost, {right[2]} in vain")
    return "\n".join(told)


def _losses(sent):
    """(which part of the packets was lost in its turn, how many were sent behind such a one until it was sent again)"""
    psns = [psn for psn, _ in sent]
    expected, behind = psns[0], []
    for place, (psn, is_lost) in enumerate(sent):
        if psn == expected and is_lost:
            behind.append(psns.index(psn, place + 1) - place - 1)
        expected += psn == expected and not is_lost
    return len(behind) / (len(behind) + len(set(psns))), statistics.mean(behind)


def exercise_2(work):
    told = []
    for loss in (0.01, 0.03):
        sent = _stream(work, "gbn", loss, 40)
        seen = len({psn for psn, _ in sent}) / len(sent)
        measured_loss, behind = _losses(sent)
        result = work.call("/usr/bin/python3", work.file("model.py"), measured_loss, behind)
        result.require_success("run it yourself: ./model.py 0.01 90")
        said = float(result.output)
        require(abs(said - seen) < TOLERANCE * seen,
                f"{measured_loss:.1%} lost, {behind:.0f} sent behind each: {seen:.0%} of what was sent was useful, and "
                f"model.py says {said:.0%}", "how many packets are sent for one that arrives in its turn? Each loss costs "
                "the lost one and all behind it")
        told.append(f"{measured_loss:.1%} lost, {behind:.0f} behind each: model {said:.0%}, seen {seen:.0%}")
    return "\n".join(told)


def _idle_share(seen):
    """Which part of the time until the first acknowledgement the sender waited for it, with nothing that it might send."""
    answer = next(packet for packet in seen
                  if packet.sender == "urnic1" and packet.point == "after" and packet.is_acknowledge)
    before = [packet.time for packet in seen
              if packet.sender == "urnic0" and packet.point == "before" and packet.number < answer.number]
    return (answer.time - before[-1]) / (answer.time - before[0])


def _settings(file):
    """The values in a file of settings, by their keys, each of which is there once. Python 3.9 and 3.10 have no tomllib."""
    return {key: ast.literal_eval(value) for key, value in re.findall(r'(?m)^\s*(\w+)\s*=\s*("[^"]*"|[\d._]+)', file.read_text())}


def exercise_3(work):
    settings = _settings(work.file("irn.toml"))
    require(settings["recovery"] == "irn", "the recovery is not irn", "the exercise is about IRN")
    require((settings["rate_gbps"], settings["delay_us"]) == (0.001, 200000), "the link is another one",
            "leave the link as it is")
    with work.device_process(work.file("irn.toml")):
        _, seen = work.captured(work.build("stream.c", "pair.c"), 2, status=0)
    number, _, in_vain = _waste(_transmissions(seen))
    require(in_vain == 0, f"nothing was lost, and {in_vain} of {number} packets were sent again",
            "a timeout shorter than a round trip expires before the answer can be there")
    window = settings["irn_window_packets"]
    idle = _idle_share(seen)
    require(idle < 0.2, f"with {window} packets under way the sender waits, for {idle:.0%} of the time until the first answer",
            "rate times round trip, divided by a packet's length on the line, about 1130 bytes, are under way on a full line")
    require(window <= 2 * PACKETS_UNDER_WAY, f"a window of {window} packets is more than twice what is under way",
            "what is more only stands in a queue")
    return f"{window} packets keep the line busy, and none of {number} was sent in vain"
