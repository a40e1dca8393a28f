"""Run on urnic's devices: a message of several datagrams from the second device's umad node to the first's, read into buffers of
several sizes as by a program that does not know how long it is. Says what each read has returned.

With an argument, something else: "whole", just the message, which is repeated until it has come; "old", a program whose headers have no P_Key index;
"processes", several readers of one node; "small", a program that may write small files only."""

import errno
import fcntl
import os
import resource
import select
import signal
import struct
import sys

REGISTER_AGENT, REGISTER_AGENT2 = 0xC01C1B01, 0xC0281B04
HEADER, OLD_HEADER = 64, 56
OFFSET = 56  # of the data of subnet administration
GET_TABLE, TABLE = 0x12, 0x92
RECORDS = bytes(range(250)) * 4
# Longer than any message of a socket; longer than there may be.
MANY_RECORDS, TOO_MANY_RECORDS = RECORDS * 3000, bytes(32 << 20)


def open_node(number, methods, flags=os.O_NONBLOCK):
    node = os.open(f"/dev/infiniband/umad{number}", os.O_RDWR | flags)
    request = struct.pack("=IIBBHIQQIB3x", 0, 1, 3, 2, 0, 0, methods, 0, 0, 1)
    return node, struct.unpack_from("=I", fcntl.ioctl(node, REGISTER_AGENT2, request))[0]


def open_old_node(number):
    node = os.open(f"/dev/infiniband/umad{number}", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("=IIIIIBBB3xBx", 0, 0, 0, 0, 0, 1, 3, 2, 1)
    return node, struct.unpack_from("=I", fcntl.ioctl(node, REGISTER_AGENT, request))[0]


def packet(agent, lid, method, transaction, active, data, timeout=0, retries=0):
    header = struct.pack("=IIIII", agent, 0, timeout, retries, 0) + struct.pack(">IIH", 1, 0, lid)
    mad = struct.pack(">BBBBHHQHHI", 1, 3, 2, method, 0, 0, transaction, 0x11, 0, 0)
    return header.ljust(HEADER, b"\0") + (mad + bytes([0, 0, active])).ljust(OFFSET, b"\0") + data


def wait_for(node):
    poll = select.poll()
    poll.register(node, select.POLLIN)
    poll.poll()


def say(what, node, size, records=RECORDS):
    try:
        read = os.read(node, size)
        print(what, len(read), read[HEADER + OFFSET:] == records)
    except OSError as error:
        print(what, errno.errorcode[error.errno])


def ask(client, asking, server, number):
    """The question's transaction, as the server sees it. The client's port remembers the answers of the last seconds by it."""
    os.write(client, packet(asking, 2, GET_TABLE, number, 0, bytes(200), 60000))
    wait_for(server)
    return struct.unpack_from(">Q", os.read(server, 1000), HEADER + 8)[0]


def main():
    client, asking = open_node(0, 0)
    server, answering = open_node(1, 1 << GET_TABLE)
    os.write(client, packet(asking, 2, GET_TABLE, 1, 0, bytes(200), 5000))
    wait_for(server)
    say("too small for a header", server, 50)
    say("too small for a datagram", server, 319)
    asked = os.read(server, 1000)
    print("a datagram", len(asked))
    transaction, = struct.unpack_from(">Q", asked, HEADER + 8)
    os.write(server, packet(answering, 1, TABLE, transaction, 1, RECORDS))
    wait_for(client)
    say("too small for the first datagram", client, 300)
    say("too small for the message", client, HEADER + 256)
    say("large enough", client, 4096)
    say("nothing left", client, 4096)
    transaction = ask(client, asking, server, 2)
    try:
        os.write(server, packet(answering, 1, TABLE, transaction, 1, TOO_MANY_RECORDS))
    except OSError as error:
        print("more than 32 MiB", errno.errorcode[error.errno])
    os.write(server, packet(answering, 1, TABLE, transaction, 1, MANY_RECORDS))
    wait_for(client)
    say("too small for 3 MB", client, 2 << 20, MANY_RECORDS)
    say("large enough for 3 MB", client, 4 << 20, MANY_RECORDS)


def send_whole():
    client, asking = open_node(0, 0)
    server, answering = open_node(1, 1 << GET_TABLE)
    os.write(client, packet(asking, 2, GET_TABLE, 1, 0, bytes(200), 300, 100))
    wait_for(server)
    transaction, = struct.unpack_from(">Q", os.read(server, 1000), HEADER + 8)
    os.write(server, packet(answering, 1, TABLE, transaction, 1, RECORDS, 50, 100))
    wait_for(client)
    say("whole", client, 4096)


# A message of 264 bytes, behind 56 of the header, is as long as a datagram behind 64.
def read_with_old_header():
    client, asking = open_old_node(0)
    server, answering = open_node(1, 1 << GET_TABLE)
    question = packet(asking, 2, GET_TABLE, 1, 0, bytes(200), 60000)
    os.write(client, question[:OLD_HEADER] + question[HEADER:])
    wait_for(server)
    transaction, = struct.unpack_from(">Q", os.read(server, 1000), HEADER + 8)
    records = RECORDS[:264 - OFFSET]
    os.write(server, packet(answering, 1, TABLE, transaction, 1, records))
    wait_for(client)
    for size in 311, 312, 319, 320:
        try:
            read = os.read(client, size)
            print(size, len(read), read[OLD_HEADER + OFFSET:] == records)
        except OSError as error:
            print(size, errno.errorcode[error.errno])


def read_with_processes():
    """Readers of one node: a packet that one of them takes first is nothing to the others, which wait."""
    client, asking = open_node(0, 0)
    server, _ = open_node(1, 1 << GET_TABLE, 0)
    failed, failures = os.pipe()
    children = []
    for _ in range(4):
        if child := os.fork():
            children.append(child)
            continue
        try:
            while True:
                os.read(server, 1000)
        except OSError as error:
            os.write(failures, errno.errorcode[error.errno].encode() + b" ")
        os._exit(0)
    for number in range(4000):
        os.write(client, packet(asking, 2, GET_TABLE, number, 0, bytes(200)))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(failures)
    print("failures", os.read(failed, 1000).decode())


def write_with_small_files():
    client, asking = open_node(0, 0)
    server, answering = open_node(1, 1 << GET_TABLE)
    transaction = ask(client, asking, server, 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    for size in 200_000, 100_000:
        try:
            os.write(server, packet(answering, 1, TABLE, transaction, 1, bytes(size)))
            wait_for(client)
            say(size, client, 4 << 20, bytes(size))
        except OSError as error:
            print(size, errno.errorcode[error.errno])


{"whole": send_whole, "old": read_with_old_header, "processes": read_with_processes, "small": write_with_small_files}.get(
    "".join(sys.argv[1:]), main)()
