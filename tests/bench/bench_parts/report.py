"""The record of a run as text for a terminal."""

from bench_parts.device import NOT_AVAILABLE
from bench_parts.summary import failure, in_words, number, spread, values


def machine_line(record):
    machine = record["machine"]
    return (f"{machine['cores']} cores of {machine['processor']}, of which others took {machine['others']:.0%}, "
            f"Linux {machine['kernel']}, scheduling: {machine['groups']}; medians (least – most) of {record['rounds']} "
            f"round{'s' * (record['rounds'] > 1)}, bandwidth over {record['seconds']} s")


def by_name(record, build):
    return {entry["name"]: entry["builds"][build] for entry in record["measurements"]}


def goal_cells(goal, results):
    """(figure, wanted, verdict)"""
    wanted = f"{'≥' if goal.better == '>=' else '≤'} {goal.wanted:,g}{' ' + goal.unit if goal.unit else ''}"
    found = spread(goal.values(results))
    if not found:
        return failure(results.get(goal.name, [])) or "not measured", wanted, "–"
    return in_words(found, goal.unit), wanted, "yes" if goal.reached(results) else "no"


# Further figures of a run, as medians.
NOTES = (("device_share", 100, "device process {} % of a core"), ("mean", 1, "mean {}"), ("p99.9", 1, "99.9th percentile {}"),
         ("whole_p99.9", 1, "with that wait {} µs"),
         ("p99", 1, "99th percentile {}"), ("least", 1, "least {}"),
         ("slowest", 100, "slowest pair {} % of an even share"), ("create_us", 1, "creating {} µs"),
         ("connect_us", 1, "connecting {} µs"), ("destroy_us", 1, "destroying {} µs"), ("shared", 1, "its rings {} KiB"),
         ("wakeups", 1, "{} wakeups a second"), ("frames", 1e-3, "{} thousand frames"), ("lost", 1, "{} of them lost"),
         ("request", 1, "a request {} µs"), ("worst_request", 1, "the worst {} µs"),
         ("round_trip", 1, "a round trip {} µs"), ("round_trip_p99", 1, "its 99th percentile {} µs"),
         ("worst_round_trip", 1, "the worst {} µs"), ("one_us", 1, "one alone {} µs until established"),
         ("one_by_one_per_second", 1, "one by one {} /s"), ("tcp_per_second", 1, "TCP one by one {} /s"),
         ("tcp_one_us", 1, "TCP one alone {} µs"), ("kernel_drops", 1, "the kernel dropped {}"),
         ("no_buffer", 1, "no room for {}"), ("per_call", 1, "{} packets a system call"),
         ("receiver_seconds", 1, "receiving engine {} s"), ("sender_seconds", 1, "sending engine {} s"), ("ended_per_second", 1, "then ended {} /s"),
         ("cmtime_connect", 1, "connecting {} µs"), ("cmtime_disconnect", 1, "disconnecting {} µs"))


def note(results):
    found = ((words, factor, spread(values(results, key))) for key, factor, words in NOTES)
    return ", ".join(words.format(number(factor * figures[0])) for words, factor, figures in found if figures)


def goals_text(record, goals, build=0):
    results = by_name(record, build)
    lines = []
    for goal in goals:
        if goal.name in results:
            figure, wanted, verdict = goal_cells(goal, results)
            lines.append(f"  {goal.figure.replace('`', ''):<62} {figure:<32} {wanted:<12} {verdict}")
    return lines


def figures_text(record, build=0):
    lines = []
    for entry in record["measurements"]:
        results = entry["builds"][build]
        found = spread(values(results))
        if found:
            words = f"  {entry['what'].replace('`', ''):<62} {in_words(found, entry['unit']):<32} {note(results)}"
            lines.append(words.rstrip())
        elif failure(results):
            lines.append(f"  {entry['what'].replace('`', ''):<62} {failure(results)}")
    return lines


def failures(record):
    """A text for each failed run. A measurement that a build does not support has not failed."""
    for entry in record["measurements"]:
        for build in entry["builds"]:
            for number, result in enumerate(build, 1):
                if result.get("failure", NOT_AVAILABLE) != NOT_AVAILABLE:
                    yield f"round {number}, {entry['name']}: {result['failure']}"


def comparison_text(record):
    """The first build's figures divided by the second's, round by round."""
    lines = []
    for entry in record["measurements"]:
        if entry["of_machine"]:
            continue
        pairs = [(mine["value"], other["value"]) for mine, other in zip(*entry["builds"])
                 if "value" in mine and other.get("value")]
        if not pairs:
            continue
        cells = [number(spread([pair[side] for pair in pairs])[0]) for side in (0, 1)]
        ratio = in_words(spread([mine / other for mine, other in pairs]))
        lines.append(f"  {entry['what'].replace('`', ''):<62} {cells[0]:>9} {cells[1]:>9} {entry['unit']:<5} {ratio}")
    return lines


def text(record, goals):
    parts = [machine_line(record), "", "Goals", *goals_text(record, goals), "", "Figures", *figures_text(record)]
    if len(record["builds"]) > 1:
        head = f"  {'':<62} {'this':>9} {'other':>9} {'':<5} this / other"
        parts += ["", f"Beside the build in {record['builds'][1]}", head, *comparison_text(record)]
    return "\n".join(parts) + "\n"
