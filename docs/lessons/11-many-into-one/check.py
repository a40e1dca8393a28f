"""Checks of lesson 11."""

import ast
import collections
import json
import pathlib
import random
import re

from checking import packets
from checking.not_yet import require

START = pathlib.Path(__file__).parent / "start"
MESSAGES = 30
RATE, QUEUE_PACKETS = 0.05, 640  # of the line to urnic0
PACKET_US = 1130 * 8 / (RATE * 1e3)  # of a packet of 1106 bytes on that line, with 24 more
CNP = 0x81
EXPERIENCED = 3  # the ECN bits of a marked packet
_FIELDS = ("frame.interface_name", "ip.src", "ip.dst", "infiniband.bth.opcode", "ip.dsfield.ecn")


def _incast(work):
    return work.build(START / "incast.c", work.file("pair.c"))


def _told(file):
    """[packets of data, marked ones, notifications] of each sender, by its address."""
    senders = collections.defaultdict(lambda: [0, 0, 0])
    for point, source, destination, opcode, ecn in packets.decode(file, _FIELDS):
        opcode = int(opcode or "0", 0)
        if opcode in packets.WRITES:
            senders[source][0] += point.endswith("before")
            senders[source][1] += point.endswith("after") and int(ecn, 0) == EXPERIENCED
        elif opcode == CNP:
            senders[destination][2] += point.endswith("before")
    return senders


def exercise_1(work):
    capture = work.scratch / "capture.pcapng"
    flows = ["urnic1:urnic0", "urnic2:urnic0", "urnic3:urnic0"][:random.choice((2, 3))]
    with work.device_process(START / "network.toml"):
        work.urnic("set", "congestion", "dcqcn")
        work.urnic("link", "set", "urnic0", "--direction", "rx", "ecn_min_bytes=5000", "ecn_max_bytes=50000",
                   f"ecn_probability={random.choice((0.1, 0.3))}")
        work.run(_incast(work), MESSAGES, *flows, capture=capture, status=0)
    result = work.call_with_urnic(work.file("marks.py"), capture)
    result.require_success("run it yourself: ./marks.py FILE")
    said = {words[0]: words[1:] for words in map(str.split, result.output.splitlines()) if words}
    report = []
    for sender, right in sorted(_told(capture).items()):
        require(sender in said, f"marks.py says nothing of {sender}", "data come from each sender")
        for name, wanted, found in zip(("packets were sent", "packets were marked", "notifications came back"), right,
                                       map(int, said[sender])):
            require(wanted == found, f"{sender}: {wanted} {name}, and marks.py says {found}",
                    "a marked packet has the verdict \"congestion\"; a CNP goes to the sender that it is for")
        report.append(f"{sender}: {right[0]} sent, {right[1]} marked, {right[2]} notifications")
    return "\n".join(report)


def _settings(file):
    """Numbers and texts in a file of settings by their keys, all that a key has. Python 3.9 and 3.10 have no tomllib."""
    settings = collections.defaultdict(list)
    for key, value in re.findall(r'(?m)^\s*(\w+)\s*=\s*("[^"]*"|[\d._]+)', file.read_text()):
        settings[key].append(ast.literal_eval(value))
    return settings


def _require_network(work, algorithm):
    """The device process that runs has the network of the lesson, and this congestion control."""
    links = json.loads(work.urnic("link", "show", "--json"))
    into = links["urnic0"]["rx"]["settings"]
    require((into["rate_gbps"], into["queue_packets"]) == (RATE, QUEUE_PACKETS), "the line to urnic0 is another one",
            "leave its rate, and the packets that may wait for it, as they are")
    for sender in ("urnic1", "urnic2"):
        rate = links[sender]["tx"]["settings"]["rate_gbps"]
        require(rate == 0, f"the line from {sender} has a rate", "leave it without one")
    for device in json.loads(work.urnic("status", "--json"))["devices"]:
        require(device["congestion"] == algorithm, f"the congestion control of {device['name']} is {device['congestion']}",
                f"the exercise is about {algorithm}")


def _two_into_one(work, file, algorithm, line_rate=0.2):
    """The counters of all devices after two senders have sent to urnic0 with the learner's settings, and lost nothing."""
    require(_settings(file)["line_rate_gbps"] == [line_rate], "line_rate_gbps is another one", "leave it as it is")
    with work.device_process(file):
        _require_network(work, algorithm)
        work.run(_incast(work), MESSAGES, "urnic1:urnic0", "urnic2:urnic0", status=0)
        return {device: work.counters(device) for device in ("urnic0", "urnic1", "urnic2")}


def _require_no_loss(counters, hint):
    dropped = counters["urnic0"]["link_rx_queue_full"]
    require(dropped == 0, f"{dropped} packets found the queue to urnic0 full and were dropped", hint)


def exercise_2(work):
    counters = _two_into_one(work, work.file("red.toml"), "dcqcn")
    _require_no_loss(counters, "the senders must be told while there is room in the queue: it takes 640 packets of 1106 bytes")
    told = [counters[sender]["rp_cnp_handled"] for sender in ("urnic1", "urnic2")]
    require(min(told) > 0, "a sender has got no notification", "the queue must mark packets of both")
    return (f"{counters['urnic0']['link_rx_ecn_marked']} packets were marked, urnic1 and urnic2 have got {told[0]} and {told[1]} "
            "notifications, and nothing was dropped")


def exercise_3(work):
    file = work.file("rtt.toml")
    headroom = _settings(file).get("rtt_headroom_us", [25])[-1]
    counters = _two_into_one(work, file, "rtt", line_rate=10)
    _require_no_loss(counters, f"a full queue lasts {QUEUE_PACKETS * PACKET_US / 1e3:.0f} ms: no round trip is much longer")
    require(headroom >= 4 * PACKET_US, f"{headroom} us are the time of {headroom / PACKET_US:.1f} packets on the line",
            "two senders need room for two packets each, or the line is idle while one of them is late")
    return f"a queue of {headroom / PACKET_US:.0f} packets is the target, and nothing was dropped"


def exercise_4(work):
    counters = _two_into_one(work, work.file("pfc.toml"), "off")
    _require_no_loss(counters, "the queue must ask (rx), the senders must obey (tx), and what is under way when they do needs room: "
                     "up to 256 KiB of each")
    pauses = [counters[sender]["link_rx_prio3_pause"] for sender in ("urnic1", "urnic2")]
    require(min(pauses) > 0, "a sender was never paused", "pfc = true on the lines from the senders, too")
    return f"urnic1 and urnic2 were paused {pauses[0]} and {pauses[1]} times, and nothing was dropped"
