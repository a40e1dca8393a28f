"""Checks of lesson 9."""

import random
import string

from checking import packets
from checking.not_yet import require

PORT, WORD, CONSUMER_DEFINED = 7471, "sesame", 28
NAMES = {packets.REQ: "REQ", packets.MRA: "MRA", packets.REJ: "REJ", packets.REP: "REP", packets.RTU: "RTU",
         packets.DREQ: "DREQ", packets.DREP: "DREP"}


def _greet(work, words, capture, faults=None):
    """Runs the server, and a client for each word. Returns the clients' results."""
    program = work.build("greet.c", libraries=("-lrdmacm", "-libverbs"))
    with work.server(program, "serve", PORT, len(words), ready="listening", capture=capture, faults=faults):
        return [work.run(program, "connect", PORT, word, timeout=30) for word in words]


def exercise_1(work):
    file = work.scratch / "greet.pcap"
    wrong = "".join(random.choices(string.ascii_lowercase, k=6)).replace(WORD, "x")
    clients = _greet(work, (wrong, WORD, WORD + "x"), file)
    fields = ("infiniband.mad.attributeid", "infiniband.cm.rej.reason", "infiniband.cm.rej.private")
    messages = [(int(kind, 0), reason, private) for kind, reason, private in packets.decode(file, fields) if kind]
    answers = [message for message in messages if message[0] in (packets.REP, packets.REJ)]
    require(len(answers) == 3, f"the server gave {len(answers)} answers to three clients", "it serves them one after another")
    for word, (kind, reason, private) in zip((wrong, WORD, WORD + "x"), answers):
        wanted = packets.REP if word == WORD else packets.REJ
        require(kind == wanted, f"a client that says '{word}' gets a {NAMES[kind]}",
                f"rdma_reject for whoever does not say '{WORD}', and rdma_accept for whoever does")
        if kind == packets.REJ:
            require(int(reason, 0) == CONSUMER_DEFINED, f"the reason of the REJ is {reason}",
                    "rdma_reject of the request's identifier: the reason is 28, 'consumer defined'")
            require(private.strip("0:"), "the REJ has no private data", "tell the client why: rdma_reject takes them")
    require([client.status == 0 for client in clients] == [False, True, False],
            f"the clients ended with the statuses {[client.status for client in clients]}",
            "a client that is rejected fails, and one that is accepted is greeted")
    said = bytes.fromhex(answers[0][2].replace(":", "")).split(b"\0")[0].decode(errors="replace")
    require(said and said in clients[0].output, f"the server says '{said}' with its REJ, and the client does not print it",
            "the private data of the event RDMA_CM_EVENT_REJECTED")
    return f"'{wrong}' and '{WORD}x' were rejected: '{said}'; '{WORD}' was greeted"


def exercise_2(work):
    file = work.scratch / "lost.pcapng"
    client, = _greet(work, (WORD, ), file, work.file("lost-reply.toml"))
    seen = packets.read(file)
    lost = packets.dropped(seen)
    require(len(lost) == 1, f"{len(lost)} packets were lost instead of one", "'occurrence = 1' makes a rule act once")
    require(lost[0].mad == packets.REP, f"what was lost is a {NAMES.get(lost[0].mad, 'packet of the connection')}",
            "which device sends the REP? It is that device's first datagram")
    client.require_success("the connection is to come up in the end")
    replies = [packet.time for packet in packets.sent(seen) if packet.mad == packets.REP]
    require(len(replies) == 2, f"{len(replies)} REPs were sent", "the first one is lost, the second one arrives")
    return f"the REP was lost and came again {replies[1] - replies[0]:.1f} s later"


# tshark's fields of the communication ids and queue pairs.
_SENDER = ("infiniband.cm.req", "infiniband.cm.rep", "infiniband.cm.rtu.localcommid", "infiniband.cm.rej.localcommid",
           "infiniband.cm.dreq.localcommid", "infiniband.cm.drsp.localcommid")
_RECEIVER = ("infiniband.cm.rep.remotecommid", "infiniband.cm.rtu.remotecommid", "infiniband.cm.rej.remotecommid",
             "infiniband.cm.dreq.remotecommid", "infiniband.cm.drsp.remotecommid")
_QUEUE_PAIR = ("infiniband.cm.req.localqpn", "infiniband.cm.rep.localqpn")


def _as_tshark_says(file):
    """Name, sender's id, receiver's id, queue pair of each message."""
    def first(texts):
        return next((int(text, 0) for text in texts if text), 0)

    for kind, *texts in packets.decode(file, ("infiniband.mad.attributeid", *_SENDER, *_RECEIVER, *_QUEUE_PAIR)):
        if kind:
            behind = len(_SENDER) + len(_RECEIVER)
            yield NAMES[int(kind, 0)], first(texts[:len(_SENDER)]), first(texts[len(_SENDER):behind]), first(texts[behind:])


def exercise_3(work):
    file = work.scratch / "life.pcap"
    # A port on which nobody listens is a REJ by the connection manager itself, whatever greet.c does.
    _greet(work, (WORD, ), file)
    nobody = work.scratch / "nobody.pcap"
    work.run(work.build("greet.c", libraries=("-lrdmacm", "-libverbs")), "connect", PORT, WORD, capture=nobody)
    count = 0
    for capture in (file, nobody):
        right = list(_as_tshark_says(capture))
        result = work.call("/usr/bin/python3", work.file("life.py"), capture)
        result.require_success("run it yourself: ./life.py FILE")
        said = [(name, *(int(number, 0) for number in numbers)) for name, *numbers in map(str.split, result.output.splitlines())]
        require(len(said) == len(right), f"life.py tells of {len(said)} messages; there are {len(right)}", "all of them")
        for wanted, found in zip(right, said):
            require(wanted[0] == found[0], f"a message is a {wanted[0]}, and life.py says {found[0]}",
                    "the attribute id, in the MAD's header, says which message it is")
            for what, one, other in zip(("sender's id", "receiver's id", "queue pair"), wanted[1:], found[1:]):
                require(one == other, f"{wanted[0]}: the {what} is {one:#x}, and life.py says {other:#x}",
                        "the table of the messages in the lesson: offsets are from the beginning of the MAD")
        count += len(right)
    return f"{count} messages, decoded as tshark decodes them"
