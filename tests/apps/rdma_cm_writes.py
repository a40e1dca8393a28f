"""Commands of /dev/infiniband/rdma_cm that no library sends, as Linux's ucma takes them (run by test_rdmacm.py).

Each of CHECKS is run under its name; ends with status 0 if all is as it should be.
"""

import ctypes
import errno
import os
import pathlib
import platform
import select
import signal
import socket
import struct
import sys
import threading
import time

CREATE_ID, DESTROY_ID, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, CONNECT, LISTEN, ACCEPT = 0, 1, 2, 3, 4, 6, 7, 8
INIT_QP_ATTR, GET_EVENT = 11, 12
SET_OPTION, QUERY = 14, 19
ADDRESS, PATH, GID = 0, 1, 2  # what QUERY asks
INIT, RTR, RTS = 1, 2, 3  # what INIT_QP_ATTR asks
ADDRESS_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE = 0, 2, 4, 5
REJECTED, ESTABLISHED, DISCONNECTED = 8, 9, 10
TYPE_OF_SERVICE = 0  # of level 0
TCP, RC = 0x0106, 2
NODE = "/dev/infiniband/rdma_cm"
BAD_ADDRESS = 8


def write(node, number, body, room=440):
    """0 or the errno."""
    try:
        os.write(node, struct.pack("=IHH", number, len(body), room) + body)
    except OSError as error:
        return error.errno
    return 0


def create(node, response):
    return write(node, CREATE_ID, struct.pack("=QQHBxxxxx", 1, response, TCP, RC))


def create_id(node):
    """The identifier's number."""
    answer = ctypes.c_uint32(0xFFFFFFFF)
    assert create(node, ctypes.addressof(answer)) == 0
    return answer.value


def destroy(node, number):
    answer = ctypes.c_uint32()
    return write(node, DESTROY_ID, struct.pack("=QII", ctypes.addressof(answer), number, 0))


def an_identifier_whose_number_cannot_be_told_goes():
    node = os.open(NODE, os.O_RDWR)
    for _ in range(5):
        assert create(node, BAD_ADDRESS) == errno.EFAULT
    number = create_id(node)
    assert number == 0, number
    assert destroy(node, number) == 0
    assert destroy(node, number) == errno.ENOENT


def memory_that_cannot_be_read():
    node = os.open(NODE, os.O_RDWR)
    library = ctypes.CDLL(None, use_errno=True)
    library.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    assert library.write(node, BAD_ADDRESS, 32) == -1 and ctypes.get_errno() == errno.EFAULT
    # The header is at the end of a page behind which there is nothing.
    pages = library.mmap(None, 8192, 3, 0x22, -1, 0)
    assert library.munmap(ctypes.c_void_p(pages + 4096), ctypes.c_size_t(4096)) == 0
    place = pages + 4096 - 8
    ctypes.memmove(place, struct.pack("=IHH", CREATE_ID, 24, 4), 8)
    assert library.write(node, place, 32) == -1 and ctypes.get_errno() == errno.EFAULT
    assert library.write(node, place, 8) == -1 and ctypes.get_errno() == errno.EINVAL


def another_user_than_the_opener():
    """Needs root."""
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    os.seteuid(65533)
    assert destroy(node, number) == errno.EACCES
    os.seteuid(0)
    assert destroy(node, number) == 0


def a_channel_that_is_closed_while_a_thread_takes_an_event():
    """The thread's write keeps the channel; its other descriptor makes the event."""
    node = os.open(NODE, os.O_RDWR)
    other = os.dup(node)
    os.fstat(other)  # makes the duplicate known to `write`
    number = create_id(node)
    answer = (ctypes.c_uint32 * 110)()
    result = []
    request = struct.pack("=Q", ctypes.addressof(answer))
    thread = threading.Thread(target=lambda: result.append(write(node, GET_EVENT, request)))
    thread.start()
    # Until it waits in the kernel.
    state = f"/proc/self/task/{thread.native_id}/stat"
    deadline = time.monotonic() + 30
    while pathlib.Path(state).read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "S":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1)
    os.close(node)
    loopback = struct.pack("=HH4s20x", socket.AF_INET, 0, socket.inet_aton("127.0.0.1"))
    resolve = bytes(28) + loopback + struct.pack("=II", number, 2000)
    assert write(other, RESOLVE_IP, resolve) == 0
    thread.join(30)
    assert result == [0], result
    event, status = answer[3], answer[4]
    assert (event, status) == (ADDRESS_RESOLVED, 0), (event, status)


def take_event_and_number(node):
    """The type of the next event, and its identifier."""
    answer = (ctypes.c_uint32 * 84)()
    assert write(node, GET_EVENT, struct.pack("=Q", ctypes.addressof(answer)), ctypes.sizeof(answer)) == 0
    return answer[3], answer[2]


def take_event(node):
    return take_event_and_number(node)[0]


def resolve(node, number, port=0):
    """To the address, whose event is taken; answers to questions have come with it."""
    loopback = struct.pack("=HH4s20x", socket.AF_INET, socket.htons(port), socket.inet_aton("127.0.0.1"))
    assert write(node, RESOLVE_IP, bytes(28) + loopback + struct.pack("=II", number, 2000)) == 0
    assert take_event(node) == ADDRESS_RESOLVED


def resolve_route(node, number):
    assert write(node, RESOLVE_ROUTE, struct.pack("=II", number, 2000)) == 0
    assert take_event(node) == ROUTE_RESOLVED


def ask(node, command, number, selector, room=440):
    """The errno and the bytes of the answer."""
    answer = (ctypes.c_uint8 * 440)()
    error = write(node, command, struct.pack("=QII", ctypes.addressof(answer), number, selector), room)
    return error, bytes(answer)


def change_something(node, number):
    value = ctypes.c_uint8(0)
    body = struct.pack("=QIIII", ctypes.addressof(value), number, 0, TYPE_OF_SERVICE, 1)
    assert write(node, SET_OPTION, body) == 0


def answers_that_came_with_an_event():
    """As those that the device process gives, which is asked after a change."""
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    for step, questions in ((resolve, ((QUERY, ADDRESS), (QUERY, GID))),
                            (resolve_route, ((QUERY, PATH), (INIT_QP_ATTR, INIT)))):
        step(node, number)
        came = [ask(node, command, number, selector) for command, selector in questions]
        change_something(node, number)
        assert came == [ask(node, command, number, selector) for command, selector in questions]
        assert all(error == 0 for error, _ in came)


def answers_that_came_with_an_event_need_no_device_process():
    device = int((pathlib.Path(os.environ["URNIC_DIR"]) / "urnicd.pid").read_text(encoding="ascii"))
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    resolve(node, number)
    os.kill(device, signal.SIGSTOP)
    try:
        signal.alarm(20)
        for what in ADDRESS, GID:
            assert ask(node, QUERY, number, what)[0] == 0
        signal.alarm(0)
    finally:
        os.kill(device, signal.SIGCONT)


def answers_that_came_with_an_event_are_written_as_others_are():
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    resolve(node, number)
    assert write(node, QUERY, struct.pack("=QII", BAD_ADDRESS, number, ADDRESS)) == errno.EFAULT
    assert ask(node, QUERY, number, ADDRESS, 8) == (errno.ENOSPC, bytes(440))
    assert ask(node, QUERY, number, ADDRESS, 272)[1][272:] == bytes(168)
    assert write(node, QUERY, struct.pack("=QI", BAD_ADDRESS, number)) == errno.EINVAL
    assert ask(node, QUERY, number, 0x10000)[0] == errno.ENOSYS
    other = os.open(NODE, os.O_RDWR)
    assert ask(other, QUERY, number, ADDRESS)[0] == errno.EINVAL


def answers_that_came_with_an_event_end_with_the_identifier():
    """Also if another process destroys it, and if its number is taken again."""
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    resolve(node, number)
    assert ask(node, QUERY, number, ADDRESS)[0] == 0
    child = os.fork()
    if child == 0:
        os._exit(destroy(node, number))
    assert os.waitpid(child, 0)[1] == 0
    assert ask(node, QUERY, number, ADDRESS)[0] == errno.ENOENT
    assert create_id(node) == number
    error, answer = ask(node, QUERY, number, ADDRESS)
    assert (error, answer[:8]) == (0, bytes(8)), "a new identifier has no device"


def ask_for_resolution(node, number):
    """The event is there when this returns."""
    loopback = struct.pack("=HH4s20x", socket.AF_INET, 0, socket.inet_aton("127.0.0.1"))
    assert write(node, RESOLVE_IP, bytes(28) + loopback + struct.pack("=II", number, 2000)) == 0


def is_readable(node):
    return bool(select.select([node], [], [], 0)[0])


def events_reported_by_destroying(node, number):
    answer = ctypes.c_uint32(0xFFFFFFFF)
    assert write(node, DESTROY_ID, struct.pack("=QII", ctypes.addressof(answer), number, 0)) == 0
    return answer.value


def an_event_needs_no_device_process():
    device = int((pathlib.Path(os.environ["URNIC_DIR"]) / "urnicd.pid").read_text(encoding="ascii"))
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    ask_for_resolution(node, number)
    assert is_readable(node)
    os.kill(device, signal.SIGSTOP)
    try:
        signal.alarm(20)
        assert take_event(node) == ADDRESS_RESOLVED
        signal.alarm(0)
    finally:
        os.kill(device, signal.SIGCONT)
    assert not is_readable(node)
    assert events_reported_by_destroying(node, number) == 1


def an_event_that_nobody_has_taken_goes_with_its_identifier():
    node = os.open(NODE, os.O_RDWR | os.O_NONBLOCK)
    for _ in range(3):
        number = create_id(node)
        ask_for_resolution(node, number)
        assert is_readable(node)
        assert events_reported_by_destroying(node, number) == 0
        assert not is_readable(node)
        answer = (ctypes.c_uint32 * 84)()
        request = struct.pack("=Q", ctypes.addressof(answer))
        assert write(node, GET_EVENT, request, ctypes.sizeof(answer)) == errno.EAGAIN
    resolve(node, create_id(node))


def events_are_reported_as_often_as_they_are_taken():
    """While another thread destroys their identifiers."""
    outcomes = set()
    for turn in range(400):
        node = os.open(NODE, os.O_RDWR | os.O_NONBLOCK)
        number = create_id(node)
        taken = []
        ended = threading.Event()

        def take_events(node=node, taken=taken, ended=ended):
            answer = (ctypes.c_uint32 * 84)()
            request = struct.pack("=Q", ctypes.addressof(answer))
            while True:
                last = ended.is_set()
                error = write(node, GET_EVENT, request, ctypes.sizeof(answer))
                assert error in (0, errno.EAGAIN), error
                taken += [answer[3]] * (error == 0)
                if last and error != 0:
                    return

        thread = threading.Thread(target=take_events)
        thread.start()
        ask_for_resolution(node, number)
        if turn % 2 == 0:
            time.sleep(0)
        reported = events_reported_by_destroying(node, number)
        ended.set()
        thread.join()
        assert len(taken) == reported, (turn, taken, reported)
        outcomes.add(reported)
        os.close(node)
    assert outcomes <= {0, 1}


# poll and ppoll.
POLLS = {"x86_64": {"7", "271"}, "aarch64": {"73"}}[platform.machine()]


def is_asleep_in_poll(thread):
    call = pathlib.Path(f"/proc/self/task/{thread.native_id}/syscall").read_text(encoding="ascii")
    return call.split()[0] in POLLS


def start_to_wait(node, events, name):
    """A thread that waits for an event, asleep; `events` gets the type under the name."""
    thread = threading.Thread(target=lambda: events.append((name, take_event(node))))
    thread.start()
    deadline = time.monotonic() + 30
    while not is_asleep_in_poll(thread):
        assert time.monotonic() < deadline, name
        time.sleep(0.001)
    return thread


def all_who_wait_wake_and_one_has_the_event():
    """
    ucma wakes all who wait, the last to come first: so does poll, and recv wakes one only. Which of them is
    the first to run is the scheduler's matter.
    """
    for _ in range(30):
        node = os.open(NODE, os.O_RDWR)
        number = create_id(node)
        events = []
        threads = [start_to_wait(node, events, name) for name in range(3)]
        ask_for_resolution(node, number)
        deadline = time.monotonic() + 30
        while not events:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        assert len(events) == 1
        # Who has lost waits on.
        for _ in range(2):
            ask_for_resolution(node, create_id(node))
        for thread in threads:
            thread.join(30)
        assert sorted(name for name, event in events) == [0, 1, 2], events
        assert all(event == ADDRESS_RESOLVED for name, event in events), events
        os.close(node)


def everybody_who_waits_has_an_event():
    """Also if all events come at once, and if parent and child wait together."""
    node = os.open(NODE, os.O_RDWR)
    events = []
    child = os.fork()
    if child == 0:
        assert [take_event(node) for _ in range(3)] == [ADDRESS_RESOLVED] * 3
        os._exit(0)
    threads = [start_to_wait(node, events, name) for name in range(9)]
    numbers = [create_id(node) for _ in range(12)]
    for number in numbers:
        ask_for_resolution(node, number)
    for thread in threads:
        thread.join(30)
    assert len(events) == 9, events
    assert os.waitpid(child, 0)[1] == 0
    assert not is_readable(node)


def a_signal_while_a_thread_waits():
    """A handler with SA_RESTART does not end the wait; one without does. (Python's own write would begin anew.)"""
    library = ctypes.CDLL(None, use_errno=True)
    node = os.open(NODE, os.O_RDWR)
    number = create_id(node)
    answer = (ctypes.c_uint32 * 84)()
    request = struct.pack("=IHHQ", GET_EVENT, 8, ctypes.sizeof(answer), ctypes.addressof(answer))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    handled = []
    signal.signal(signal.SIGUSR1, lambda *_: handled.append(1))

    def disturb(ends):
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        time.sleep(0.1)
        if not ends:
            ask_for_resolution(node, number)

    for ends in (True, False):
        signal.siginterrupt(signal.SIGUSR1, ends)
        thread = threading.Thread(target=disturb, args=(ends,))
        thread.start()
        written = library.write(node, request, ctypes.c_size_t(len(request)))
        outcome = ctypes.get_errno() if written < 0 else (written, answer[3])
        thread.join()
        assert outcome == (errno.EINTR if ends else (len(request), ADDRESS_RESOLVED)), (ends, outcome)
    assert len(handled) == 2, handled


def connection_parameters(qp_number):
    return struct.pack("=II256x7xB", qp_number, 0, 1)


def listen(node, port):
    number = create_id(node)
    address = struct.pack("=HHIIIII", socket.AF_INET, socket.htons(port), 0, 0, 0, 0, 0) + bytes(4)
    assert write(node, BIND_IP, struct.pack("=Q", 0) + address + struct.pack("=I", number)) == 0
    assert write(node, LISTEN, struct.pack("=II", number, 1024)) == 0


class Handshake:
    """As far as the event of the peer's reply, which the active side has taken; `active` and `passive` are the
    identifiers."""

    def __init__(self, port):
        self.server, self.client = os.open(NODE, os.O_RDWR), os.open(NODE, os.O_RDWR)
        listen(self.server, port)
        self.active = create_id(self.client)
        resolve(self.client, self.active, port)
        resolve_route(self.client, self.active)
        assert write(self.client, CONNECT, connection_parameters(2 * port) + struct.pack("=II8x", self.active, 0)) == 0
        event, self.passive = take_event_and_number(self.server)
        assert event == CONNECT_REQUEST
        assert write(self.server, ACCEPT, struct.pack("=Q", 1) + connection_parameters(2 * port + 1)
                     + struct.pack("=II8x", self.passive, 0)) == 0
        assert take_event(self.client) == CONNECT_RESPONSE

    def accept(self):
        """The active side's, which has no parameters."""
        return write(self.client, ACCEPT, bytes(8 + 272) + struct.pack("=II8x", self.active, 0))


def the_active_sides_accept_needs_no_device_process():
    device = int((pathlib.Path(os.environ["URNIC_DIR"]) / "urnicd.pid").read_text(encoding="ascii"))
    one = Handshake(7501)
    os.kill(device, signal.SIGSTOP)
    try:
        signal.alarm(20)
        assert one.accept() == 0
        signal.alarm(0)
    finally:
        os.kill(device, signal.SIGCONT)
    assert take_event(one.server) == ESTABLISHED
    assert one.accept() == errno.EINVAL


def an_accept_is_refused_when_the_peer_is_gone():
    one = Handshake(7502)
    assert destroy(one.server, one.passive) == 0
    assert one.accept() == errno.EINVAL
    assert take_event(one.client) == REJECTED


def an_accept_that_the_peers_end_overtakes():
    """The program learns it by an event."""
    device = int((pathlib.Path(os.environ["URNIC_DIR"]) / "urnicd.pid").read_text(encoding="ascii"))
    one = Handshake(7503)
    ends = threading.Thread(target=lambda: destroy(one.server, one.passive))
    os.kill(device, signal.SIGSTOP)
    try:
        ends.start()
        time.sleep(0.2)
        assert one.accept() == 0
    finally:
        os.kill(device, signal.SIGCONT)
    ends.join()
    assert take_event(one.client) in (REJECTED, DISCONNECTED)


def a_listener_that_reads_nothing():
    """Runs until it is killed."""
    listen(os.open(NODE, os.O_RDWR), 7471)
    signal.pause()


CHECKS = {check.__name__: check for check in (
    an_identifier_whose_number_cannot_be_told_goes, memory_that_cannot_be_read, another_user_than_the_opener,
    a_channel_that_is_closed_while_a_thread_takes_an_event, answers_that_came_with_an_event,
    answers_that_came_with_an_event_need_no_device_process, answers_that_came_with_an_event_are_written_as_others_are,
    answers_that_came_with_an_event_end_with_the_identifier, an_event_needs_no_device_process,
    an_event_that_nobody_has_taken_goes_with_its_identifier, events_are_reported_as_often_as_they_are_taken,
    all_who_wait_wake_and_one_has_the_event, everybody_who_waits_has_an_event, a_signal_while_a_thread_waits,
    the_active_sides_accept_needs_no_device_process, an_accept_is_refused_when_the_peer_is_gone,
    an_accept_that_the_peers_end_overtakes, a_listener_that_reads_nothing)}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
