"""Run on urnic's devices: writes management datagrams of one kind into a umad node as fast as it can, until SIGTERM, and reads no answer.
At last it says as JSON how many the node has taken and refused, in how many seconds, and how many answers wait to be read.

Arguments: the kind, the node's number, the LID that it is about. With "listen" in the place of the kind: registers the agent that
`messages` are for, and reads nothing until SIGTERM."""

import fcntl
import json
import os
import signal
import struct
import sys
import time

REGISTER_AGENT2 = 0xC0281B04
SUBNET, DIRECTED, ADMINISTRATION, PERFORMANCE, VENDOR = 0x01, 0x81, 0x03, 0x04, 0x09
GET, SET, SEND = 1, 2, 3
NODE_INFO, PORT_INFO, PORT_COUNTERS = 0x11, 0x15, 0x12
WILD_KEY = 0x123456789ABCDEF0
HOPS, TRUNK = 63, 8  # the port of each switch that leads to the other one
RMPP_DATA = 0x01
RMPP_OFFSET, SA_OFFSET, VENDOR_OFFSET = 24, 56, 36
LONG = 200_000
TIMEOUT_MS, RETRIES = 20, 1
TRANSACTION = 64 + 12  # of its 64 bits those that are the program's

stopped = False


def stop(*_):
    global stopped
    stopped = True


def register(node, queue_pair, management_class, version, methods=0, rmpp=0):
    request = struct.pack("=IIBBHIQQIB3x", 0, queue_pair, management_class, version, 0, 0, methods, 0, 0, rmpp)
    return struct.unpack_from("=I", fcntl.ioctl(node, REGISTER_AGENT2, request))[0]


def datagram(agent, lid, queue_pair, mad):
    key = 0x80010000 if queue_pair else 0
    header = struct.pack("=IIIII", agent, 0, TIMEOUT_MS, RETRIES, 0) + struct.pack(">IIH", queue_pair, key, lid)
    return header.ljust(64, b"\0") + mad


def header(management_class, version, method, attribute, modifier=0, middle=0):
    return struct.pack(">BBBBHHQHHI", 1, management_class, version, method, 0, middle, 1, attribute, 0, modifier)


def directed(node, _lid):
    """A way to and fro between two switches: as many hops as there may be."""
    agent = register(node, 0, DIRECTED, 1)
    path = bytes([0, 1] + [TRUNK] * (HOPS - 1))
    mad = header(DIRECTED, 1, GET, NODE_INFO, middle=HOPS) + struct.pack(">QHH", 0, 0xFFFF, 0xFFFF)
    return datagram(agent, 0xFFFF, 0, mad.ljust(128, b"\0") + path + bytes(64))


def keys(node, lid):
    """Sets with a wrong M_Key, which the port counts, and tells the manager by a trap."""
    agent = register(node, 0, SUBNET, 1)
    mad = header(SUBNET, 1, SET, PORT_INFO, modifier=1) + struct.pack(">Q", WILD_KEY)
    return datagram(agent, lid, 0, mad.ljust(256, b"\0"))


def counters(node, lid):
    agent = register(node, 1, PERFORMANCE, 1)
    mad = header(PERFORMANCE, 1, GET, PORT_COUNTERS).ljust(64, b"\0") + bytes([0, 1])
    return datagram(agent, lid, 1, mad.ljust(256, b"\0"))


def records(node, lid):
    """Questions for the manager's program."""
    agent = register(node, 1, ADMINISTRATION, 2, rmpp=1)
    return datagram(agent, lid, 1, header(ADMINISTRATION, 2, GET, NODE_INFO).ljust(256, b"\0"))


def messages(node, lid):
    """Long ones, to an agent that reads nothing."""
    agent = register(node, 1, ADMINISTRATION, 2, rmpp=1)
    mad = (header(ADMINISTRATION, 2, GET, NODE_INFO) + bytes([1, RMPP_DATA, 1])).ljust(SA_OFFSET, b"\0")
    return datagram(agent, lid, 1, mad + bytes(LONG))


KINDS = {kind.__name__: kind for kind in (directed, keys, counters, records, messages)}


def answers(node):
    """Those that came by themselves, and not a request that nobody has answered."""
    count = 0
    while True:
        try:
            read = os.read(node, 1 << 19)
        except BlockingIOError:
            return count
        count += struct.unpack_from("=I", read, 4)[0] == 0


def flood(node, packet):
    packet = bytearray(packet)
    print("flooding", flush=True)
    taken, refused, begin = 0, 0, time.monotonic()
    while not stopped:
        # Each has a transaction of its own: two like each other may not be under way.
        struct.pack_into(">I", packet, TRANSACTION, taken & 0xFFFFFFFF)
        try:
            os.write(node, packet)
            taken += 1
        except OSError:
            refused += 1
    seconds = time.monotonic() - begin
    time.sleep(2 * RETRIES * TIMEOUT_MS / 1000)  # until the last one has its answer
    print(json.dumps({"taken": taken, "refused": refused, "seconds": seconds, "answers": answers(node)}))


def main():
    kind, number, lid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGTERM, stop)
    node = os.open(f"/dev/infiniband/umad{number}", os.O_RDWR | os.O_NONBLOCK)
    if kind != "listen":
        flood(node, KINDS[kind](node, lid))
        return
    register(node, 1, ADMINISTRATION, 2, 1 << GET, rmpp=1)
    print("listening", flush=True)
    while not stopped:
        time.sleep(0.05)


if __name__ == "__main__":
    main()
