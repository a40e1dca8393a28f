"""What a program asked of verbs, as verbs_log.c has written it down."""

import collections
import pathlib

from .not_yet import require

SOURCE = pathlib.Path(__file__).parent / "verbs_log.c"
_WRAPPED = ("ibv_open_device", "ibv_create_qp", "ibv_reg_mr", "ibv_reg_mr_iova2", "ibv_get_cq_event",
            "ibv_get_async_event")
LINK_OPTIONS = (*(f"-Wl,--wrap={name}" for name in _WRAPPED), "-pthread")

# The values of ibv_send_flags, ibv_wr_opcode, ibv_wc_opcode, ibv_wc_status, ibv_access_flags and ibv_event_type.
SIGNALED, INLINE = 2, 8
RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, SEND, SEND_WITH_IMMEDIATE, RDMA_READ, FETCH_AND_ADD = 0, 1, 2, 3, 4, 6
SUCCESS, REMOTE_ACCESS_ERROR, RETRY_EXCEEDED = 0, 10, 12
REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = 2, 4, 8
RECEIVED = 128  # and what is greater: a receive's completion
SRQ_LIMIT_REACHED = 15

_KINDS = {
    "post": "qpn error",
    "send": "qpn opcode flags length id",
    "receive": "qpn length id",
    "shared": "srq length id",
    "post_shared": "srq error",
    "completion": "qpn opcode status id",
    "queue_pair": "qpn type send_slots receive_slots shared",
    "region": "address length rights lkey rkey",
    "event": "error",
    "device_event": "type",
    "empty": "count",
    "arm": "cq",
}
_TYPES = {kind: collections.namedtuple(kind, ["kind", *fields.split()]) for kind, fields in _KINDS.items()}


MOST_LOG = 32 << 20  # bytes: hundreds of thousands of requests


class Log:
    """`entries` has all that happened, in order."""

    def __init__(self, file):
        require(not file.exists() or file.stat().st_size <= MOST_LOG, "the program asks too much of verbs to be looked at",
                "it posts or polls in a loop that does not end")
        text = file.read_text() if file.exists() else ""
        self.entries = [_TYPES[line.split()[0]](line.split()[0], *map(int, line.split()[1:]))
                        for line in text.splitlines()]

    def of(self, kind):
        return [entry for entry in self.entries if entry.kind == kind]

    @property
    def empty_polls(self):
        return sum(entry.count for entry in self.of("empty"))
