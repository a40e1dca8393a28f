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
]
