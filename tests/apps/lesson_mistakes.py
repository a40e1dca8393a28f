"""Plausible wrong solutions: a text of a lesson's solution and what a learner may have written instead.

The check must say "not yet" for the exercise, and what it says must have the last text in it.
"""

import collections

Mistake = collections.namedtuple("Mistake", "lesson exercise name file old new said")

MISTAKES = [
    Mistake(1, 1, "half of the memory is registered and written", "first.c", "SIZE = 5000", "SIZE = 2500", "2500"),
    Mistake(1, 2, "no right to READ", "first.c", " | IBV_ACCESS_REMOTE_READ};", "};", "remote access error"),
    Mistake(1, 2, "a second WRITE", "first.c", "copy(&writer, &target, IBV_WR_RDMA_READ)",
            "copy(&writer, &target, IBV_WR_RDMA_WRITE)", "no RDMA READ"),
    Mistake(1, 3, "no receive was posted in time", "first.py", "    target.expect_notice()\n    writer.write_to(target, NOTICE)",
            "    import threading\n    threading.Timer(0.5, target.expect_notice).start()\n    writer.write_to(target, NOTICE)",
            "RNR NAK"),
    Mistake(1, 3, "the host's byte order", "first.py", "socket.htonl(notice)", "notice", "0x7000000"),
    Mistake(2, 1, "no limit to what is posted", "queues.c", "posted - finished < SLOTS", "posted - finished <= SLOTS",
            "Cannot allocate memory"),
    Mistake(2, 1, "a larger queue", "queues.c", "options.send_slots = SLOTS", "options.send_slots = 4096", "another size"),
    Mistake(2, 1, "four at a time", "queues.c", "posted - finished < SLOTS", "posted - finished < 4", "at most 4 of 16"),
    Mistake(2, 2, "no completion for the last", "queues.c", " || posted + 1 == count", "", "had not ended"),
    Mistake(2, 2, "all signaled", "queues.c", "is_told ? IBV_SEND_SIGNALED : 0", "IBV_SEND_SIGNALED", "203 of 203"),
    Mistake(2, 3, "no second look", "listener.c", "    if (poll_once(end, &completion) > 0) break;\n", "",
            "slept without another look"),
    Mistake(2, 3, "events are not acknowledged", "listener.c", "  ibv_ack_cq_events(cq, 1);\n", "", "had not ended"),
    Mistake(2, 3, "sleeping by the clock", "listener.c", "    sleep_until_event(end);\n",
            "    thrd_sleep(&kPause, NULL);\n", "no event"),
    Mistake(3, 1, "a packet that begins behind the region", "attack.c",
            "IBV_WR_RDMA_WRITE, 0, MAILBOX + SECRET, GIVEN", "IBV_WR_RDMA_WRITE, MAILBOX, 2 * SECRET, GIVEN", "no WRITE begins inside"),
    Mistake(3, 2, "the mailbox can be read", "owner.c", "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)",
            "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)", "can read the mailbox"),
    Mistake(3, 2, "the secret is in a region", "owner.c", "memory.status, sizeof memory.status, IBV_ACCESS_REMOTE_READ",
            "memory.secret, sizeof memory.secret + sizeof memory.status, IBV_ACCESS_REMOTE_READ", "can read the secret"),
    Mistake(3, 2, "the status cannot be read", "owner.c", "sizeof memory.status, IBV_ACCESS_REMOTE_READ)",
            "sizeof memory.status, 0)", "cannot read the status"),
    Mistake(3, 3, "nothing is taken back", "owner.c", "void owner_take_back(void) {",
            "void owner_take_back(void) {\n  return;", "failure of the owner"),
    Mistake(3, 3, "the region's own key", "owner.c", ".length = sizeof memory.workspace, .key = key}",
            ".length = sizeof memory.workspace, .key = workspace->rkey}", "cannot write into the workspace"),
    Mistake(3, 3, "a window that can only be read", "owner.c", "IBV_ACCESS_REMOTE_WRITE |\n", "IBV_ACCESS_REMOTE_READ |\n",
            "cannot write into the workspace"),
    Mistake(4, 1, "the PSN has 31 bits", "packet.py", "frame[begin + 9:begin + 12]", "frame[begin + 8:begin + 12]", "the PSN is 0x3e8"),
    Mistake(4, 1, "the pad count with MigReq", "packet.py", "flags >> 4 & 3", "flags >> 4", "the pad count"),
    Mistake(4, 2, "without the eight bytes", "packet.py", 'b"\\xff" * 8 + covered', "covered", "another ICRC"),
    Mistake(4, 2, "the reserved byte is not masked", "packet.py", "    covered[transport + 4] = 0xFF", "    covered[transport + 4] = 0",
            "another ICRC"),
    Mistake(4, 2, "what is there is taken for right", "packet.py", 'return zlib.crc32(b"\\xff" * 8 + covered)',
            "return icrc_in(frame)", "3 frames were damaged on their way, and packet.py finds 0"),
    Mistake(4, 3, "the flow label is not masked", "packet.py", "covered[1:4] =", "covered[1:2] =", "over IPv6"),
    Mistake(4, 3, "the version is masked, too", "packet.py", "covered[0] |= 0x0F", "covered[0] = 0xFF", "over IPv6"),
]
