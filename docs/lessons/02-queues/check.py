"""Checks of lesson 2."""

from checking import verbs
from checking.not_yet import require

COUNT, SLOTS, AHEAD = 202, 16, 12
SLOW = '[[link]]\ndelay_us = 5000\n'  # 20 ms for each round trip, so that requests are under way for a while
MESSAGES = 10


def _log(work):
    """What queues.c asks of verbs on a slow link."""
    program = work.build("queues.c", "pair.c", watched=True)
    result, log = work.watched(program, COUNT, config=work.write("slow.toml", SLOW), timeout=20)
    result.require_success(
        "'Cannot allocate memory' from ibv_post_send: the send queue is full. A slot is free again when a completion "
        "has said so, of this request or of a later one")
    sends = log.of("send")
    require(len(sends) == COUNT + 1, f"{len(sends)} requests were posted instead of {COUNT + 1}",
            "each number from 0 to COUNT - 1 is written once")
    require(log.of("queue_pair")[0].send_slots == SLOTS, f"the send queue has another size than {SLOTS}",
            "a larger queue only hides the problem: leave SLOTS as it is")
    return log


def _most_ahead(log):
    """The most requests that were posted and not known to be complete."""
    posted = complete = most = 0
    order = {}
    for entry in log.entries:
        if entry.kind == "send":
            order[entry.id] = posted = posted + 1
            most = max(most, posted - complete)
        elif entry.kind == "completion":
            complete = order[entry.id]
    return most


def exercise_1(work):
    most = _most_ahead(_log(work))
    require(most >= AHEAD, f"at most {most} of {SLOTS} requests were under way at a time",
            "post as long as there is a free slot, and only then wait for a completion")
    return f"up to {most} requests were under way, in a queue of {SLOTS}"


def exercise_2(work):
    log = _log(work)
    asked = sum(1 for send in log.of("send") if send.flags & verbs.SIGNALED)
    require(asked <= COUNT // 4 + 2, f"{asked} of {COUNT + 1} requests asked for a completion",
            "IBV_SEND_SIGNALED in every fourth request, and in the last one")
    require(log.of("send")[-1].flags & verbs.SIGNALED, "the last request asked for no completion",
            "without one nobody knows when the last messages have arrived")
    most = _most_ahead(log)
    require(most >= AHEAD, f"at most {most} requests were under way at a time", "as in exercise 1")
    return f"{asked} completions told of {COUNT + 1} requests"


def exercise_3(work):
    program = work.build("listener.c", "pair.c", watched=True)
    result, log = work.watched(program, timeout=15)
    result.require_success("run it yourself: urnic run -- ./listener")
    received = [entry for entry in log.of("completion") if entry.opcode >= verbs.RECEIVED]
    require(len(received) == MESSAGES, f"{len(received)} of {MESSAGES} messages were received", "wait for all of them")
    require(log.empty_polls < 20 * MESSAGES, f"the completion queue was polled {log.empty_polls} times in vain",
            "ask for an event with ibv_req_notify_cq, and sleep in ibv_get_cq_event until it comes")
    require(log.of("event"), "no event was waited for", "sleeping by the clock is late for each message: wait for events")
    armed = False
    for entry in log.entries:
        require(not (entry.kind == "event" and armed),
                "the program slept without another look behind ibv_req_notify_cq",
                "a message that came just before the request gives no event: poll once more, then sleep")
        armed = entry.kind == "arm" or (armed and entry.kind in ("send", "post", "receive"))
    return f"{log.empty_polls} polls in vain, {len(log.of('event'))} events"
