"""Checks of lesson 8."""

from checking import packets, verbs
from checking.not_yet import require

MESSAGES, RECEIVES = 100, 8
CLINIC_MESSAGES, PLACES, PER_CALL = 640, 32, 8


def exercise_1(work):
    file = work.scratch / "mail.pcapng"
    result, log = work.watched(work.build("mail.c", "pair.c", watched=True), MESSAGES, capture=file, timeout=20)
    result.require_success("run it yourself: urnic run -- ./mail 10")
    seen = packets.sent(packets.read(file))
    naks = sum(packet.is_rnr_nak for packet in seen)
    require(naks == 0, f"{naks} messages came when there was no receive, and were answered with an RNR NAK",
            "the sender may send as many messages as receives were ever posted, and it learns that number from the receiver")
    received = [entry for entry in log.of("completion") if entry.opcode >= verbs.RECEIVED]
    require(len(received) == MESSAGES, f"{len(received)} of {MESSAGES} messages were received", "all of them")
    posted = most = 0
    for entry in log.entries:
        posted += (entry.kind == "receive") - (entry.kind == "completion" and entry.opcode >= verbs.RECEIVED)
        most = max(most, posted)
    require(most <= RECEIVES, f"up to {most} receives were posted", f"the receiver has room for {RECEIVES}: leave RECEIVES")
    credits = [packet for packet in seen if packet.sender == "urnic1" and packet.is_request]
    require(credits, "the receiver tells the sender nothing by RDMA", "an RDMA WRITE into the sender's memory")
    return f"{MESSAGES} messages, {len(credits)} messages about credit, no RNR NAK"


def _clinic(work):
    """What clinic.c asked of verbs."""
    result, log = work.watched(work.build("clinic.c", "pair.c", watched=True), timeout=20)
    result.require_success("run it yourself: urnic run -- ./clinic")
    received = [entry for entry in log.of("completion") if entry.opcode >= verbs.RECEIVED]
    require(len(received) == CLINIC_MESSAGES, f"{len(received)} of {CLINIC_MESSAGES} messages were received", "all of them")
    require(log.of("shared"), "no receive was posted to a shared receive queue",
            "ibv_create_srq with the server's protection domain; pair_add takes it; ibv_post_srq_recv")
    require(not log.of("receive"), "receives were posted to single queue pairs", "to the shared receive queue only")
    return log


def exercise_2(work):
    log = _clinic(work)
    posted = most = 0
    for entry in log.entries:
        posted += (entry.kind == "shared") - (entry.kind == "completion" and entry.opcode >= verbs.RECEIVED)
        most = max(most, posted)
    require(most <= PLACES, f"up to {most} receives were posted", f"{PLACES} places are enough for all clients")
    return f"{CLINIC_MESSAGES} messages from 16 clients into {most} places"


def exercise_3(work):
    log = _clinic(work)
    events = sum(1 for entry in log.of("device_event") if entry.type == verbs.SRQ_LIMIT_REACHED)
    require(events > 0, "the event IBV_EVENT_SRQ_LIMIT_REACHED was never taken",
            "ibv_modify_srq with IBV_SRQ_LIMIT asks for it, once; ibv_get_async_event takes it")
    calls = len(log.of("post_shared"))
    require(calls <= CLINIC_MESSAGES // PER_CALL, f"{calls} calls of ibv_post_srq_recv for {CLINIC_MESSAGES} messages",
            "post only when the event has come, all free places by one call")
    return f"{events} events, and {calls} calls that post receives"
