"""Checks of lesson 1."""

from checking import packets
from checking.not_yet import require

LENGTH = 5000
NOTICE = 7


def _requests(work, capture, program_hint):
    """What urnic0 sent while the learner's program ran, and what was answered."""
    result, seen = capture
    result.require_success(program_hint)
    return packets.sent(seen, "urnic0"), packets.sent(seen, "urnic1")


def exercise_1(work):
    requests, _ = _requests(work, work.captured(work.build("first.c")), "run it yourself: urnic run -- ./first")
    writes = [packet for packet in requests if packet.is_write]
    require(writes, "urnic0 sent no RDMA WRITE", "look at the capture: tshark -r first.pcap")
    require(writes[0].length == LENGTH, f"the WRITE is of {writes[0].length} bytes instead of {LENGTH}",
            "the length is in the segment that the request names, and both ends must have registered as much")
    return f"one WRITE of {LENGTH} bytes in {len(writes)} packets"


def exercise_2(work):
    requests, answers = _requests(
        work, work.captured(work.build("first.c")),
        "'remote access error': the owner of the memory must allow READs, in its region and in its queue pair")
    writes = [packet for packet in requests if packet.is_write and packet.address is not None]
    reads = [packet for packet in requests if packet.opcode == packets.READ_REQUEST]
    require(reads, "urnic0 sent no RDMA READ",
            "post a second request with the opcode IBV_WR_RDMA_READ, once the WRITE has completed")
    read, write = reads[0], writes[0] if writes else None
    require(write and (read.address, read.rkey) == (write.address, write.rkey),
            "the READ is not of the memory that the WRITE went to", "the same remote address and key as in the WRITE")
    require(read.psn > write.psn, "the READ comes before the WRITE", "first write, then read")
    require(read.length == write.length, f"{write.length} bytes were written and {read.length} read", "read all of it")
    responses = [packet for packet in answers if packet.opcode in packets.READ_RESPONSES]
    return f"READ of {read.length} bytes from the same address, answered by {len(responses)} packets"


def exercise_3(work):
    requests, answers = _requests(work, work.captured(work.file("first.py")), "run it yourself: urnic run -- ./first.py")
    told = [packet for packet in requests if packet.immediate is not None]
    require(told, "no request of urnic0 carries immediate data",
            "the opcode is IBV_WR_RDMA_WRITE_WITH_IMM, and SendWR takes imm_data")
    require(told[0].is_write, "the immediate data came with a SEND", "an RDMA WRITE can carry them, too")
    require(not any(packet.is_rnr_nak for packet in answers),
            "urnic1 answered with an RNR NAK: it had no receive for the immediate data, and urnic0 sent it again",
            "immediate data consume a receive: post one before the request is sent")
    require(told[0].immediate == NOTICE, f"the immediate data are {told[0].immediate:#x} instead of {NOTICE}",
            "verbs take immediate data in network byte order: socket.htonl")
    return f"a WRITE with the immediate data {NOTICE}, and a receive was there for them"
