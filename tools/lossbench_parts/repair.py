"""repair_lab's figures (the repair of one loss, needless retransmissions) as Markdown, written into a document."""

import statistics

from lossbench_parts.programs import Failed
from lossbench_parts.table import RECOVERIES, in_order, markdown, percent

BEGIN = "<!-- what follows is made by tools/lossbench --part repair --write: edit above or below -->"
END = "<!-- end of what is made -->"

PLACES = {
    "first": "the first packet of 10",
    "middle": "any between the first and the last",
    "last": "the last",
    "only": "the only packet of a message",
    "retransmission": "any of 10, and its retransmission",
    "acknowledgement": "the acknowledgement (READ, atomic: the request)",
}
# The case that the first table shows.
MTU, DELAY, PACKETS = 4096, 5, 10


def times(entries, place, recovery, chosen):
    return [time for entry in entries if (entry["place"], entry["recovery"]) == (place, recovery) and chosen(entry)
            for time in entry["times_us"]]


def shown(entry):
    length = 1 if entry["place"] == "only" else PACKETS
    return (entry["mtu"], entry["one_way_delay_us"], entry["packets"]) == (MTU, DELAY, length)


def largest_ratio(entries, place):
    """The largest ratio of `sack`'s median to the best other median, over all operations, MTUs, delays and lengths."""
    medians = {}
    for entry in entries:
        if entry["place"] == place:
            case = tuple(entry[key] for key in ("operation", "mtu", "one_way_delay_us", "packets"))
            medians.setdefault(case, {})[entry["recovery"]] = statistics.median_high(entry["times_us"])
    return max(median["sack"] / min(median[other] for other in RECOVERIES if other != "sack") for median in medians.values())


def repair(entries):
    if any(entry["gave_up"] for entry in entries):
        raise Failed("repair_lab: a queue pair gave up")
    rows = [["lost"] + [f"`{recovery}`" for recovery in RECOVERIES] + ["`sack` / best of the others, at most"]]
    for place, words in PLACES.items():
        cells = []
        for recovery in RECOVERIES:
            found = times(entries, place, recovery, shown)
            cells.append(f"{statistics.median_high(found):.1f} ({max(found):.1f})")
        rows.append([words] + cells + [f"{largest_ratio(entries, place):.2f}"])
    return markdown(rows)


def messages(entry):
    words = f"of {entry['message_packets']} packets, "
    return words + ("one at a time" if entry["one_at_a_time"] else "all posted at once")


def needless(entries):
    distances = len(entries[0]["arrived_twice"])
    rows = [["operation", "messages", "loss"] + [str(distance + 1) for distance in range(distances)] + ["answers lost"]]
    for entry in entries:
        rows.append([entry["operation"], messages(entry), percent(entry["loss"])]
                    + [str(count) for count in entry["arrived_twice"]]
                    + [f"{min(entry['lost_answers'])} – {max(entry['lost_answers'])}" if entry["loss"] else "0"])
    return markdown(rows)


def section(found):
    packets = in_order(entry["packets"] for entry in found["needless"])
    return "\n".join([
        f"**How much later a message is complete for one loss**, µs, median (most): a link of {found['link_gbps']:g} Gbit/s and "
        f"{DELAY} µs each way, MTU {MTU}, round trips measured before; WRITE, READ and SEND, and atomics where there is one "
        "packet. The last column: the largest ratio of medians over each of them, MTU 1024 and 4096, 1, 5 and 50 µs each way, "
        "1 to 64 packets.",
        "",
        repair(found["repair"]),
        f"**Packets that arrive twice under `sack`** of {min(packets)} to {max(packets)}, if {percent(found['held_back'])} of the "
        "packets, each way, are held back until 1 to 8 others have overtaken them. A lost ACK costs a WRITE or SEND one in any "
        "case.",
        "",
        needless(found["needless"]),
    ])


def write(found, document):
    """Replaces the text between the two marks."""
    text = document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Failed(f"{document}: the marks of what is made are not there")
    document.write_text(f"{before}{BEGIN}\n\n{section(found)}\n{END}{after}", encoding="utf-8")
