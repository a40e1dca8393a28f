"""Checks of lesson 3."""

import pathlib

from checking import packets, verbs
from checking.not_yet import require

INTRUDER = pathlib.Path(__file__).parent / "intruder.c"
PATH_MTU = 1024
# What a visitor may do, and what it may not, by intruder.c's names.
RIGHTS = {
    "mailbox-write": "a visitor cannot write into the mailbox",
    "status-read": "a visitor cannot read the status",
}
CRIMES = {
    "mailbox-read": "a visitor can read the mailbox, others' letters too",
    "status-write": "a visitor can change the status",
    "mailbox-beyond": "a visitor can write beyond the mailbox",
    "secret-read": "a visitor can read the secret",
    "secret-write": "a visitor can write over the secret",
}
LOAN_RIGHTS = {
    "loan-write": "a visitor cannot write into the workspace that was lent to it",
    "loan-read": "a visitor cannot read the workspace that was lent to it",
}
LOAN_CRIMES = {
    "same-key": "two loans have the same key",
    "expired-write": "a visitor can write into the workspace after its loan has ended",
    "expired-read": "a visitor can read the workspace after its loan has ended",
    "expired-while-lent": "with the key of its old loan a visitor can write into another's workspace",
}
MOST_REGIONS = 8


def exercise_1(work):
    result, log = work.watched(work.build("attack.c", "pair.c", watched=True), capture=work.scratch / "attack.pcapng")
    result.require_success("run it yourself: urnic run -- ./attack")
    seen = packets.sent(packets.read(work.scratch / "attack.pcapng"))
    regions = {region.rkey: region for region in log.of("region")}
    for request, answer in zip(seen, [*seen[1:], None]):
        region = regions.get(request.rkey)
        if not (request.is_write and region) or request.address < region.address:
            continue
        inside = region.address + region.length - request.address
        if 0 < inside < request.length and inside >= PATH_MTU:
            answers = [packet for packet in seen if packet.sender == "urnic1" and packet.number > request.number]
            require(answers and answers[0].is_nak, "the WRITE was not refused", "send it with the key of the mailbox")
            return (f"a WRITE of {request.length} bytes, {request.length - inside} of them behind the region: its first "
                    f"packet is refused")
    require(False, "no WRITE begins inside the mailbox and ends behind it, with its first packet all inside",
            "a line in the table: offset 0, and a length that reaches into the secret")


def _statuses(work):
    """What the intruder could do, as a list of (name, status); and the log."""
    result, log = work.watched(work.build(INTRUDER, "owner.c", "pair.c", watched=True))
    result.require_success("a visitor that only does what owner.h offers is hindered by a failure of the owner")
    return [(name, int(status)) for name, status in map(str.split, result.output.splitlines())], log


def _require(statuses, allowed, forbidden, hint):
    for name, status in statuses:
        require(name not in allowed or status == verbs.SUCCESS, allowed.get(name), hint)
        require(name not in forbidden or status == verbs.REMOTE_ACCESS_ERROR, forbidden.get(name), hint)


def exercise_2(work):
    statuses, _ = _statuses(work)
    _require(statuses, RIGHTS, CRIMES,
             "a key opens all of its region with all of the region's rights: a region for each purpose, none for the secret")
    return f"a visitor can do what it may, and was refused {len(CRIMES)} other things"


def exercise_3(work):
    statuses, log = _statuses(work)
    _require(statuses, LOAN_RIGHTS, LOAN_CRIMES,
             "bind a memory window with IBV_WR_BIND_MW, and invalidate it with IBV_WR_LOCAL_INV; ibv_inc_rkey makes the "
             "next key")
    regions = len(log.of("region"))
    require(regions <= MOST_REGIONS, f"{regions} memory regions were registered for 21 loans",
            "registering is slow: open and close windows to one region")
    return "21 loans with 21 keys, and no key opened anything after its loan"
