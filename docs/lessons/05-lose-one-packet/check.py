"""Checks of lesson 5."""

import collections
import pathlib

from checking import packets, verbs
from checking.not_yet import NotYet, require

GO_BACK_N = pathlib.Path(__file__).parent / "start" / "gbn.toml"
PACKETS, RETRIES = 8, 7


class Run:
    """What happened while transfer.c ran with the learner's fault plan."""

    def __init__(self, work, plan, messages=1, status=0):
        program = work.build("transfer.c", "pair.c", watched=True)
        capture = work.scratch / "capture.pcapng"
        with work.device_process(GO_BACK_N):
            result, self.log = work.watched(program, messages, PACKETS * 1024, faults=work.file(plan), capture=capture)
            self.counters = work.counters("urnic0")
        seen = packets.read(capture)
        self.requests, self.answers = packets.sent(seen, "urnic0"), packets.sent(seen, "urnic1")
        self.lost = packets.dropped(seen)
        self.first_psn = self.requests[0].psn
        require(self.lost, f"{plan} loses nothing", "'urnic run --faults' prints the rules that never matched")
        require(result.status == status, f"transfer ended with status {result.status}: {result.output.strip()}",
                "the transfer is to succeed" if status == 0 else "the transfer is to fail")

    def place(self, packet):
        """In words, where the packet is in the connection."""
        what = "an acknowledgement" if packet.opcode == packets.ACKNOWLEDGE else "a packet of the data"
        return f"{what} with PSN {packet.psn}, which is relative PSN {packet.psn - self.first_psn}"

    def require_one_loss_of(self, wanted, hint):
        """NotYet unless exactly one packet was lost, for which `wanted` is true. Returns it."""
        require(len(self.lost) == 1, f"{len(self.lost)} packets were lost instead of one",
                "'occurrence = 1' or 'transmission = 1' makes a rule act once")
        require(wanted(self.lost[0]), f"what was lost is {self.place(self.lost[0])}", hint)
        return self.lost[0]

    def times(self):
        """How often each PSN of a request was sent."""
        return collections.Counter(packet.psn for packet in self.requests)


def exercise_1(work):
    run = Run(work, "ack.toml", messages=2)
    lost = run.require_one_loss_of(lambda packet: packet.is_acknowledge,
                                   "the acknowledgement is a packet of urnic1: device, and opcode = \"Acknowledge\"")
    require(lost.psn == run.first_psn + PACKETS - 1, f"what was lost is {run.place(lost)}",
            "the first acknowledgement is that of the first message")
    again = sorted(psn for psn, count in run.times().items() if count > 1)
    require(again, "nothing was sent again", "the sender must miss the acknowledgement")
    return (f"the ACK of PSN {lost.psn} was lost; {len(again)} packets came twice, and the second ACK arrived")


def exercise_2(work):
    run = Run(work, "tail.toml")
    lost = run.require_one_loss_of(lambda packet: packet.is_write, "it is to be a packet of the data")
    naks = [packet for packet in run.answers if packet.is_nak]
    require(not naks, f"{run.place(lost)} was lost, and the NAK of PSN {naks[0].psn if naks else 0} told of it",
            "a receiver sees a hole when a later packet comes: lose one that no other follows")
    require(run.counters["local_ack_timeout_err"] > 0, "the sender's timer did not expire", "lose the last packet")
    return f"PSN {lost.psn} was lost, no NAK told of it, and the sender's timer expired"


def _transmissions_of_the_lost(run):
    """How often the one PSN that was lost was sent, and how often it was lost."""
    psns = {packet.psn for packet in run.lost}
    if len(psns) != 1 or not all(packet.is_write for packet in run.lost):
        raise NotYet(f"packets with {len(psns)} different PSNs were lost", "it is always the same packet of the data that "
                     "is lost: name it by relative_psn")
    return run.times()[run.lost[0].psn], len(run.lost)


def exercise_3(work):
    run = Run(work, "twice.toml")
    sent, lost = _transmissions_of_the_lost(run)
    psn = run.lost[0].psn
    require(lost == 2, f"PSN {psn} was sent {sent} times and lost {lost} times", "lost twice: transmission 1 and 2")
    require(psn < run.first_psn + PACKETS - 1, f"PSN {psn} is the last of the message", "a packet in the middle")
    naks = [packet.psn for packet in run.answers if packet.is_nak]
    require(naks == [psn], f"the NAKs were of the PSNs {naks}", "one packet is lost, again and again: one hole")
    return f"PSN {psn} was lost twice; one NAK asked for it, and a timeout sent it the third time"


def exercise_4(work):
    run = Run(work, "never.toml", status=1)
    sent, lost = _transmissions_of_the_lost(run)
    statuses = [entry.status for entry in run.log.of("completion")]
    require(statuses == [verbs.RETRY_EXCEEDED], f"the statuses of the completions are {statuses}",
            "the sender is to give up: IBV_WC_RETRY_EXC_ERR")
    require(lost == sent, f"PSN {run.lost[0].psn} was sent {sent} times and lost {lost} times", "never let it arrive")
    timeouts = run.counters["local_ack_timeout_err"] + run.counters["req_transport_retries_exceeded"]
    return f"PSN {run.lost[0].psn} was sent {sent} times and never arrived; {timeouts} timeouts, and the sender gave up"
