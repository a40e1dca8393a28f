"""Checks of lesson 7."""

import pathlib

from checking import verbs
from checking.not_yet import require

GETS = pathlib.Path(__file__).parent / "gets.c"
COUNT, BATCH = 4000, 8
NUMBERS, BLOCK = 1000, 32


def _require_rate(work, operation, flag):
    """What rate.c posts for one operation."""
    result, log = work.watched(work.build("rate.c", "pair.c", watched=True), operation, COUNT)
    result.require_success(f"run it yourself: urnic run -- ./rate {operation}")
    sends = log.of("send")
    require(len(sends) == COUNT, f"{operation}: {len(sends)} requests were posted instead of {COUNT}", "as many as before")
    calls = len(log.of("post"))
    require(calls <= COUNT // BATCH, f"{operation}: {calls} calls of ibv_post_send for {COUNT} requests",
            "`next` of a request points to the one behind it, and that of the last one is NULL")
    signaled = sum(1 for send in sends if send.flags & verbs.SIGNALED)
    require(signaled <= COUNT // BATCH, f"{operation}: {signaled} of {COUNT} requests asked for a completion",
            "only the last one of a batch needs IBV_SEND_SIGNALED; its wr_id says how many requests it stands for")
    inline = sum(1 for send in sends if send.flags & verbs.INLINE)
    require(inline == (COUNT if flag else 0), f"{operation}: {inline} of {COUNT} requests are inline",
            "IBV_SEND_INLINE for what carries data away from this end, and for nothing else")
    return f"{operation}: {calls} calls, {signaled} completions, {inline} inline"


def exercise_1(work):
    return "\n".join(_require_rate(work, operation, flag)
                     for operation, flag in (("write", True), ("send", True), ("read", False)))


def exercise_2(work):
    result, log = work.watched(work.build(GETS, "table.c", "pair.c", watched=True))
    result.require_success("the table must do what it did before")
    gets = int(result.output)
    reads = [send for send in log.of("send") if send.opcode == verbs.RDMA_READ]
    require(len(reads) == len(log.of("send")), "the client sends other requests than READs", "READs alone")
    require(len(reads) == gets, f"{len(reads)} READs for {gets} gets", "let one READ bring all that a get needs")
    longest = max(read.length for read in reads)
    require(longest <= 128, f"a READ brings {longest} bytes for a value of 48",
            "the key and its value lie side by side: read these, not the table")
    return f"{gets} gets, {len(reads)} READs of {longest} bytes"


def exercise_3(work):
    result, log = work.watched(work.build("sequencer.c", "pair.c", watched=True), NUMBERS)
    result.require_success("run it yourself: urnic run -- ./sequencer 10")
    numbers = [int(line) for line in result.output.split()]
    require(len(numbers) == NUMBERS, f"{len(numbers)} numbers were drawn instead of {NUMBERS}", "as many as before")
    require(len(set(numbers)) == NUMBERS, f"{NUMBERS - len(set(numbers))} numbers were drawn twice",
            "add to the counter as much as the client takes")
    atomics = len([send for send in log.of("send") if send.opcode == verbs.FETCH_AND_ADD])
    require(atomics > 0, "no number came from urnic1's counter", "blocks of numbers, each by one FETCH_AND_ADD")
    require(atomics <= NUMBERS // BLOCK + 2, f"{atomics} atomics for {NUMBERS} numbers",
            "let a client take a block of numbers at a time")
    require(max(numbers) < 2 * NUMBERS, f"the highest of {NUMBERS} numbers is {max(numbers)}",
            "blocks that are too large waste numbers: 64 is enough")
    return f"{NUMBERS} different numbers by {atomics} atomics"
